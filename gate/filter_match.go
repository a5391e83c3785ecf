package gate

import (
	"strings"
	"time"
	"unicode"
)

// MatchesRun reports whether a run matches a filter of FilterRuns as of now. A
// run matches dep, tool, code, key, op and ref when one of its operations
// matches all of those terms, and none of it those that are negated. ops
// returns its operations; it is called only when one of those terms is there,
// and the error is its own.
func (f Filter) MatchesRun(r *Run, now time.Time, ops func() ([]Operation, error)) (bool, error) {
	looks, wanted := false, false
	for i := range f.terms {
		t := &f.terms[i]
		switch {
		case !ofOperation(t.name):
			if t.ofRun(r, now) == t.not {
				return false, nil
			}
		case t.name == "code" && !t.not && !t.text.is() && r.spotless():
			return false, nil // nothing has failed, and nothing has to be read to know
		default:
			looks, wanted = true, wanted || !t.not
		}
	}
	if !looks {
		return true, nil
	}
	all, err := ops()
	if err != nil {
		return false, err
	}
	found := !wanted
	for i := range all {
		if all[i].Carried {
			continue // no screen shows it in this run
		}
		has, barred := f.ofOperation(&all[i])
		if barred {
			return false, nil
		}
		found = found || has
	}
	return found, nil
}

// spotless reports whether no operation of the run has a failed attempt, as far
// as the run itself can tell: one of a line has those of the others.
func (r *Run) spotless() bool { return r.LastCode == "" && r.Parent == "" && r.Next == "" }

// ofOperation reports whether an operation has all that a run's filter looks
// for in its operations, and whether it has anything that none may have.
func (f Filter) ofOperation(o *Operation) (has, barred bool) {
	has = true
	for i := range f.terms {
		switch t := &f.terms[i]; {
		case !ofOperation(t.name):
		case t.not:
			barred = barred || t.ofOp(o)
		default:
			has = has && t.ofOp(o)
		}
	}
	return has, barred
}

// MatchesItem reports whether an item matches a filter of FilterQueue as of
// now. A claim that has run out is none.
func (f Filter) MatchesItem(row *ItemRow, now time.Time) bool {
	for i := range f.terms {
		if t := &f.terms[i]; t.ofItem(row, now) == t.not {
			return false
		}
	}
	return true
}

// MatchesDecision reports whether a decision matches a filter of FilterLedger
// as of now.
func (f Filter) MatchesDecision(d *Decision, now time.Time) bool {
	for i := range f.terms {
		if t := &f.terms[i]; t.ofDecision(d, now) == t.not {
			return false
		}
	}
	return true
}

func (t *filterTerm) ofRun(r *Run, now time.Time) bool {
	switch t.name {
	case "":
		return t.text.in(string(r.ID), r.Agent)
	case "state":
		return t.text.is(r.State().String())
	case "agent":
		return t.text.is(r.Agent)
	case "run":
		return t.text.is(string(r.ID))
	case "since":
		return t.since(r.LastAt, now)
	default:
		return false
	}
}

func (t *filterTerm) ofOp(o *Operation) bool {
	switch t.name {
	case "op":
		return t.text.is(string(o.ID))
	case "dep":
		return t.text.is(o.Dependency)
	case "key":
		return t.text.is(o.Key)
	}
	var values []string
	switch t.name {
	case "tool":
		values = append(values, o.Tool, o.LastTool)
	case "code":
		values = append(values, string(o.FirstError.Code), string(o.LastError.Code))
	case "ref":
		values = append(values, o.Result)
	}
	for i := range o.Attempts {
		a := &o.Attempts[i]
		switch t.name {
		case "tool":
			values = append(values, a.Tool)
		case "code":
			values = append(values, string(a.Failure.Code))
		case "ref":
			values = append(values, a.Result)
		}
	}
	return t.text.is(values...)
}

func (t *filterTerm) ofItem(r *ItemRow, now time.Time) bool {
	switch t.name {
	case "":
		return t.text.in(string(r.Op), r.Tool, string(r.Code), r.Dependency, string(r.Run), string(r.ID))
	case "kind":
		return t.text.is(r.Kind.String())
	case "state":
		return t.text.is(r.State.String())
	case "agent":
		return t.text.is(r.Agent)
	case "run":
		return t.text.is(string(r.Run))
	case "op":
		return t.text.is(string(r.Op))
	case "tool":
		return t.text.is(r.Tool)
	case "dep":
		return t.text.is(r.Dependency)
	case "code":
		return t.text.is(string(r.Code))
	case "class":
		return r.Code != "" && t.text.is(r.Class.String())
	case "key":
		return t.text.is(r.Key)
	case "claim":
		if !r.Claim.Holds(now) {
			return t.text.is()
		}
		return t.text.is(r.Claim.By, r.Claim.ID)
	case "since":
		return t.since(r.Opened.Time, now)
	default:
		return false
	}
}

func (t *filterTerm) ofDecision(d *Decision, now time.Time) bool {
	act, who := d.Command.Act(), d.Command.Who()
	switch t.name {
	case "":
		return t.text.in(string(d.Run), string(d.Op), d.Agent, d.Tool, d.Dependency, string(d.Code),
			act.String(), d.Verdict.String(), who.Name, who.ID) || t.text.in(string(d.Item()))
	case "act":
		return t.text.is(act.String())
	case "verdict":
		return t.text.is(d.Verdict.String())
	case "actor":
		return t.text.is(who.Name, who.ID)
	case "run":
		return t.text.is(string(d.Run))
	case "op":
		return t.text.is(string(d.Op))
	case "tool":
		return t.text.is(d.Tool)
	case "dep":
		return t.text.is(d.Dependency)
	case "code":
		return t.text.is(string(d.Code))
	case "since":
		return t.since(d.Inputs.Now, now)
	case "manual":
		if act.IsVerb() {
			return t.text.is("yes")
		}
		return t.text.is("no")
	default:
		return false
	}
}

// since reports whether an instant is not longer ago than the term says.
func (t *filterTerm) since(at, now time.Time) bool { return !at.Before(now.Add(-t.span)) }

// pattern is a text in which a star, between its parts, stands for any text.
type pattern struct {
	parts []string
	lower []string // the parts in lower case
}

func patternOf(parts ...string) pattern {
	p := pattern{parts: parts, lower: make([]string, len(parts))}
	for i, part := range parts {
		p.lower[i] = strings.ToLower(part)
	}
	return p
}

// is reports whether one of the values is what the pattern says. A value that
// is empty is not there: when none is, only the empty pattern matches.
func (p pattern) is(values ...string) bool {
	none := true
	for _, v := range values {
		if v == "" {
			continue
		}
		none = false
		if p.whole(strings.ToLower(v)) {
			return true
		}
	}
	return none && len(p.lower) == 1 && p.lower[0] == ""
}

// whole reports whether all of a text in lower case matches.
func (p pattern) whole(s string) bool {
	last := len(p.lower) - 1
	if last == 0 {
		return s == p.lower[0]
	}
	s, ok := strings.CutPrefix(s, p.lower[0])
	if !ok {
		return false
	}
	if s, ok = strings.CutSuffix(s, p.lower[last]); !ok {
		return false
	}
	return within(s, p.lower[1:last])
}

// in reports whether a part of one of the values matches.
func (p pattern) in(values ...string) bool {
	for _, v := range values {
		if within(strings.ToLower(v), p.lower) {
			return true
		}
	}
	return false
}

// within reports whether the parts are in a text, in their order.
func within(s string, parts []string) bool {
	for _, part := range parts {
		_, after, ok := strings.Cut(s, part)
		if !ok {
			return false
		}
		s = after
	}
	return true
}

// quoted returns the pattern as the text of a value, in quotes where it needs
// them: bare when no name stands before it.
func (p pattern) quoted(bare bool) string {
	plain := strings.Join(p.parts, "*")
	needs := plain == "" || strings.HasPrefix(plain, "!") || strings.Contains(plain, `"`) ||
		strings.ContainsFunc(plain, unicode.IsSpace) || bare && strings.Contains(plain, ":")
	for _, part := range p.parts {
		needs = needs || strings.Contains(part, "*")
	}
	if !needs {
		return plain
	}
	var b strings.Builder
	b.WriteByte('"')
	for i, part := range p.parts {
		if i > 0 {
			b.WriteByte('*')
		}
		for _, c := range []byte(part) {
			if strings.IndexByte(escapable, c) >= 0 {
				b.WriteByte('\\')
			}
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// escapable are the characters that stand for themselves after a backslash, in
// quotes.
const escapable = `"\*`
