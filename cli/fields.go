package cli

import (
	"strconv"
	"time"

	"tollgate/gate"
	"tollgate/views"
)

// fields collects the parts of one thing, each with its name. An empty value
// is left out.
type fields struct{ table }

func (f *fields) add(name, value string) {
	if value != "" {
		f.row(name, value)
	}
}

// printFields prints one thing: a line for each of its parts.
func (a *app) printFields(f *fields) error {
	f.right = []bool{false, false}
	return a.print(&f.table)
}

// instant prints a time in UTC, empty for none.
func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}

// seq prints a sequence number, empty for none.
func seq(n uint64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatUint(n, 10)
}

// number prints a count, empty for none.
func number[N int | int64](n N) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(int64(n), 10)
}

// yes prints a flag: its name where it is set, nothing else.
func yes(set bool, name string) string {
	if set {
		return name
	}
	return ""
}

func spent(s gate.Spent) string {
	return strconv.FormatInt(s.Spent, 10) + "/" + strconv.FormatInt(s.Limit, 10)
}

func tokens(s *gate.Spent) string {
	if s == nil {
		return ""
	}
	return spent(*s)
}

func millis(ms int64) string {
	if ms == 0 {
		return ""
	}
	return span(time.Duration(ms) * time.Millisecond)
}

// left prints the time left to a deadline, or since when there is none.
func left(deadline, now time.Time) string {
	if deadline.IsZero() {
		return ""
	}
	if d := deadline.Sub(now).Truncate(100 * time.Millisecond); d > 0 {
		return span(d) + " left"
	}
	return span(now.Sub(deadline).Truncate(time.Second)) + " past"
}

func actor(a gate.ActorRow) string {
	switch {
	case a.Name == "" || a.Name == a.ID:
		return a.ID
	case a.Source == "":
		return a.Name + " (" + a.ID + ")"
	}
	return a.Name + " (" + a.ID + ", " + a.Source + ")"
}

func class(c *gate.Class) string {
	if c == nil {
		return ""
	}
	return views.ClassWord(*c)
}

// outcome prints what is known of an attempt, empty for nothing yet.
func outcome(o gate.Outcome) string {
	if o == gate.OutcomePending {
		return ""
	}
	return views.OutcomeWord(o)
}
