package cli

import (
	"strconv"
	"strings"
	"time"

	"tollgate/gate"
	"tollgate/views"
)

// fields collects the parts of one thing, each with its name. An empty value
// is left out.
type fields []struct{ name, value string }

func (f *fields) add(name, value string) {
	if value != "" {
		*f = append(*f, struct{ name, value string }{name, value})
	}
}

// printFields prints one thing: a line for each of its parts, and more for one
// that is too long for a line of the terminal.
func (a *app) printFields(f *fields) error {
	var b strings.Builder
	if !a.terminal {
		for _, part := range *f {
			b.WriteString(views.Escape(part.name) + "\t" + views.Escape(part.value) + "\n")
		}
	} else {
		names := 0
		for _, part := range *f {
			names = max(names, views.Width(part.name))
		}
		for _, part := range *f {
			name := views.Fit(part.name, names)
			for _, line := range a.wrapped(part.value, names+2) {
				b.WriteString(strings.TrimRight(name+"  "+line, " ") + "\n")
				name = strings.Repeat(" ", names)
			}
		}
	}
	_, err := a.out.Write([]byte(b.String()))
	return err
}

// wrapped breaks a text into lines that begin at a column of the terminal.
func (a *app) wrapped(s string, from int) []string {
	const most = 400 // lines: any text that is kept, on the narrowest terminal
	width := a.cells - from
	if a.cells < 1 || views.Width(s) <= width {
		return []string{views.Escape(s)}
	}
	return views.Wrap(s, max(width, 8), most)
}

// instant prints a time in UTC, empty for none.
func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(gate.InstantForm)
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
	return gate.Span(time.Duration(ms) * time.Millisecond)
}

// left prints the time left to a deadline, or since when there is none, in
// units that tell at a glance.
func left(deadline, now time.Time) string {
	if deadline.IsZero() {
		return ""
	}
	d, word := deadline.Sub(now).Truncate(100*time.Millisecond), " left"
	if d <= 0 {
		d, word = now.Sub(deadline).Truncate(time.Second), " past"
	}
	switch {
	case d >= time.Hour:
		d = d.Truncate(time.Minute)
	case d >= time.Minute:
		d = d.Truncate(time.Second)
	}
	return gate.Span(d) + word
}

func actor(a gate.Actor) string {
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
