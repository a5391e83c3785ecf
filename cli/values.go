package cli

import (
	"encoding"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tollgate/gate"
)

// countValue is a whole number in digits and in a range. It stays nil until it
// is given, so that a limit that was not given can be told from one of 0.
type countValue struct {
	n     **int64
	least int64
	most  int64
}

func (v *countValue) Set(s string) error {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < v.least || n > v.most || s != strconv.FormatInt(n, 10) {
		return fmt.Errorf("want a whole number from %d to %d", v.least, v.most)
	}
	*v.n = &n
	return nil
}

func (v *countValue) String() string { return "" }
func (v *countValue) Type() string   { return "N" }

// spanValue is a duration with its unit and in a range, nil until it is given.
type spanValue struct {
	d     **time.Duration
	least time.Duration
	most  time.Duration
}

func (v *spanValue) Set(s string) error {
	d, err := time.ParseDuration(s)
	if err != nil || d < v.least || d > v.most || strings.TrimLeft(s, "0123456789.") == "" {
		return fmt.Errorf("want a duration with its unit from %s to %s, such as 30s", gate.Span(v.least), gate.Span(v.most))
	}
	*v.d = &d
	return nil
}

func (v *spanValue) String() string { return "" }
func (v *spanValue) Type() string   { return "DURATION" }

// wordValue is one of some names of an enumeration of the gate.
type wordValue struct {
	into  encoding.TextUnmarshaler
	kind  string
	words []string
}

func (v *wordValue) Set(s string) error {
	if !slices.Contains(v.words, s) {
		return fmt.Errorf("want one of %s", strings.Join(v.words, ", "))
	}
	return v.into.UnmarshalText([]byte(s))
}

func (v *wordValue) String() string { return "" }
func (v *wordValue) Type() string   { return v.kind }

// instantValue is an instant in RFC 3339.
type instantValue struct{ t *time.Time }

func (v *instantValue) Set(s string) error {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return fmt.Errorf("want an instant such as 2026-01-05T09:00:00Z")
	}
	*v.t = t.UTC()
	return nil
}

func (v *instantValue) String() string { return "" }
func (v *instantValue) Type() string   { return "INSTANT" }

// capsValue collects AGENT=N (R-B9).
type capsValue struct{ caps *[]gate.Cap }

func (v *capsValue) Set(s string) error {
	agent, count, ok := cutLast(s, "=")
	var n *int64
	if !ok || gate.CheckID("agent", agent) != nil || (&countValue{n: &n, most: gate.MaxCount}).Set(count) != nil {
		return fmt.Errorf("want AGENT=N with N from 0 to %d", gate.MaxCount)
	}
	*v.caps = append(*v.caps, gate.Cap{Agent: agent, Attempts: *n})
	return nil
}

func (v *capsValue) String() string { return "" }
func (v *capsValue) Type() string   { return "AGENT=N" }

// cutLast cuts at the last sep: an agent's name may hold one itself.
func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// limitFlags adds the flags of a run's limits.
func limitFlags(cmd *cobra.Command, l *gate.Limits, caps *[]gate.Cap) {
	f := cmd.Flags()
	f.Var(&countValue{n: &l.Attempts, least: 1, most: gate.MaxCount}, "attempts", "dispatches of the whole run, the first of each operation included")
	f.Var(&spanValue{d: &l.Deadline, least: time.Millisecond, most: gate.MaxDeadline}, "deadline", "time from the start by which the run must have answered")
	f.Var(&spanValue{d: &l.Reserve, most: gate.MaxDeadline}, "reserve", "part of the deadline kept for answering")
	f.Var(&countValue{n: &l.SideEffects, most: gate.MaxCount}, "side-effects", "dispatches of writes")
	f.Var(&countValue{n: &l.RetryTokens, most: gate.MaxTokens}, "retry-tokens", "tokens that repeats may cost; not limited unless given")
	f.Var(&capsValue{caps}, "cap", "attempts set aside for an agent and those below it; may be given again")
}
