package views

import (
	"slices"
	"strings"
	"time"

	"tollgate/escalation"
	"tollgate/gate"
)

// Preview is a verb, and what the gate would answer if it were decided now:
// the gate's own decision on a copy, not committed.
type Preview struct {
	Key     string // that opens its form; empty where there are no keys
	Do      gate.Act
	AsNew   bool   // approve as a new action
	Name    string // in place of the verb's own; empty for that
	Off     string // why it can't be pressed; empty when it can
	Verdict gate.Verdict
	Says    string       // what follows, or what stands against it; empty for the usual words
	Warns   string       // of what a person should think before; empty for nothing
	Never   bool         // it could not succeed as things stand
	Checks  []gate.Check // of an approve, in their order; nil when the gate has none to show
	Before  *gate.BudgetRow
	After   *gate.BudgetRow
}

// PreviewOf returns what the gate would answer to a verb on an item as it was
// read, under one of the names of its previews.
func PreviewOf(it *escalation.Item, do gate.Act, asNew bool, name string) Preview {
	p := Preview{Do: do, AsNew: asNew}
	would, ok := it.Preview[name]
	if !ok {
		return p
	}
	p.Says, p.Checks, p.Never = would.Says, would.Checks, !would.Possible
	if do == gate.ActApprove {
		p.Verdict = would.Verdict
	}
	if would.Verdict.Permits() {
		p.Before, p.After = &would.Before, &would.After
	}
	return p
}

// The verbs that decide, in the order in which a review shows them, with the
// names of their previews.
var reviewVerbs = []struct {
	do      gate.Act
	asNew   bool
	preview string
}{
	{gate.ActReconcile, false, ""},
	{gate.ActApprove, false, "approve"},
	{gate.ActApprove, true, "approve as-new-action"},
	{gate.ActReject, false, "reject"},
	{gate.ActNewRun, false, "new-run"},
}

// verbWords says what a verb does, and what its form asks for.
func verbWords(do gate.Act, asNew bool) (name, says, needs string) {
	switch do {
	case gate.ActReconcile:
		return "reconcile", "it happened, it did not, or nobody can tell", "evidence, reason"
	case gate.ActApprove:
		if asNew {
			return "as new action", "a new operation with a new key; the risk of a duplicate is yours", "reason, typed"
		}
		return "approve", "the same operation again, under the same key, if the gate lets it", "reason"
	case gate.ActReject:
		return "reject", "closes it and returns the typed outcome to the agent", "reason"
	case gate.ActNewRun:
		return "new run", "limits of its own, linked to this decision; this run's counters stay", "limits, reason"
	case gate.ActClaim:
		return "claim", "a lease on deciding", ""
	case gate.ActRelease:
		return "release", "gives the claim back", ""
	case gate.ActSnooze:
		return "snooze", "hides it for an hour", ""
	case gate.ActNote:
		return "note", "for whoever comes next", ""
	case gate.ActAdopt, gate.ActStart, gate.ActAsk, gate.ActReport, gate.ActSweep, gate.ActEnd:
	}
	return do.String(), "", ""
}

func (p *Preview) words() (name, says, needs string) {
	name, says, needs = verbWords(p.Do, p.AsNew)
	if p.Name != "" {
		name = p.Name
	}
	return name, says, needs
}

// VerbName names a verb as the screens do.
func VerbName(do gate.Act, asNew bool) string {
	name, _, _ := verbWords(do, asNew)
	return name
}

// verbs appends what each verb would do.
func (b *block) verbs(v ReviewView, now time.Time) {
	b.gap(1)
	if off, why := allOff(v.Verbs); off {
		b.put(waits, "verbs are off: ")
		b.put(dim, why)
		b.end()
		return
	}
	late := now.After(v.Item.Deadline.Time)
	if late {
		b.put(waits, "deadline passed "+ago(now.Sub(v.Item.Deadline.Time))+" ago")
		b.put(dim, " "+b.th.g.dot+" nothing can be dispatched any more")
	} else {
		b.put(dim, "what each verb would do")
		b.asOf(v.AsOf)
	}
	b.end()
	var above []gate.Check // that have been shown
	var plain, marks []Preview
	for _, p := range v.Verbs {
		switch {
		case p.Do.Decides():
			if late && p.Verdict.Permits() {
				p = Preview{Key: p.Key, Do: p.Do, AsNew: p.AsNew, Off: p.Off, Never: true, Says: "the deadline has passed since this was read"}
			}
			b.verb(&p, above)
			above = append(above, p.Checks...)
		case p.Off == "" && p.Says == "":
			plain = append(plain, p)
		default:
			marks = append(marks, p)
		}
	}
	for i := range plain {
		name, _, _ := plain[i].words()
		if b.x > 0 && b.rest() < 3+len(plain[i].Key)+1+len(name) {
			b.end()
		}
		b.gap(1 + 2*min(b.x, 1))
		b.put(press, plain[i].Key)
		b.gap(1)
		b.put(strong, name)
	}
	if len(plain) > 0 {
		b.end()
	}
	for i := range marks {
		b.verb(&marks[i], nil)
	}
}

// asOf says when a preview was made: the clocks beside it run on.
func (b *block) asOf(t time.Time) {
	if t.IsZero() {
		b.put(dim, " now")
		return
	}
	b.put(dim, ", as of ")
	b.put(text, t.UTC().Format("15:04:05Z"))
}

// allOff reports whether no verb can be pressed, all for one reason.
func allOff(verbs []Preview) (off bool, why string) {
	for i, p := range verbs {
		if p.Off == "" || i > 0 && p.Off != why {
			return false, ""
		}
		why = p.Off
	}
	return why != "", why
}

// withoutVerbs returns the keys that do not decide: the verbs have a row of
// their own.
func withoutVerbs(keys []Key, verbs []Preview) []Key {
	return slices.DeleteFunc(slices.Clone(keys), func(k Key) bool {
		return slices.ContainsFunc(verbs, func(p Preview) bool { return p.Key == k.Key && p.Do.Decides() })
	})
}

// verbsLine appends the verbs that can be pressed in one row, each with the
// gate's answer in a glyph; where their names have no room, their keys.
func (b *block) verbsLine(verbs []Preview) {
	const apart = 3
	need := 1
	for i := range verbs {
		if p := &verbs[i]; p.pressed() {
			name, _, _ := p.words()
			need += Width(p.Key) + 1 + Width(name) + len(" v") + apart
		}
	}
	brief := need-apart > b.width
	b.gap(1)
	if brief {
		b.put(dim, "verbs")
		b.gap(2)
	}
	for i := range verbs {
		p := &verbs[i]
		if !p.pressed() {
			continue
		}
		b.put(press, p.Key)
		no := p.Verdict.IsStop() || p.Never
		if !brief {
			look := text
			if no {
				look = dim
			}
			name, _, _ := p.words()
			b.gap(1)
			b.put(look, name)
		}
		switch {
		case no:
			b.gap(1)
			b.glyph(waits, b.th.g.fail)
		case p.Verdict.Permits():
			b.gap(1)
			b.glyph(live, b.th.g.ok)
		}
		b.gap(apart)
	}
	b.end()
}

// pressed reports whether a verb decides and its key opens a form now.
func (p *Preview) pressed() bool { return p.Off == "" && p.Do.Decides() }

// Where the name of a verb and its words begin.
const (
	verbAt = 3
	saysAt = 18
)

// verb appends a verb; of its checks those that stand above are only named.
func (b *block) verb(p *Preview, above []gate.Check) {
	name, says, needs := p.words()
	key, label := press, strong
	if p.Off != "" {
		key, label = faint, dim
	}
	b.gap(1)
	b.put(key, p.Key)
	b.to(verbAt)
	b.cell(label, name, saysAt-verbAt)
	switch {
	case p.Off != "":
		b.wrapped(saysAt, dim, p.Off)
		return
	case p.Verdict.IsStop(), p.Verdict == gate.Stale:
		b.verdict(waits, b.th.g.fail, p.Verdict)
		if p.Never {
			b.put(dim, "  not possible")
		}
		b.end()
		if len(p.Checks) == 0 {
			b.wrapped(saysAt, dim, p.Says)
		}
	case p.Verdict.Permits():
		b.verdict(live, b.th.g.ok, p.Verdict)
		b.end()
		b.wrapped(saysAt, text, p.Says)
	default:
		if p.Says != "" {
			says = p.Says
		}
		if p.Never {
			b.put(waits, "not possible: ")
			needs = ""
		}
		at := b.x
		if b.rest() < 24 && at > saysAt {
			b.end()
			at = saysAt
		}
		if rows := wrap(says, b.width-at, 6, b.th.ascii); needs != "" && len(rows) > 0 {
			needs = "needs " + needs
			if last := rows[len(rows)-1]; Width(last)+len("; ")+len(needs) <= b.width-at {
				says, needs = says+"; "+needs, ""
			}
		}
		b.wrapped(at, dim, says)
		if needs != "" { // together, in a row of its own
			b.wrapped(saysAt, dim, needs)
		}
	}
	if p.Warns != "" && !p.Never {
		b.wrapped(saysAt, waits, p.Warns)
	}
	b.checks(p, above)
}

func (b *block) verdict(s style, glyph string, v gate.Verdict) {
	b.glyph(s, glyph)
	b.gap(1)
	for i, line := range wrap(v.String(), b.width-saysAt-2, 2, b.th.ascii) {
		if i > 0 {
			b.end()
			b.to(saysAt + 2)
		}
		b.put(s, line)
	}
}

// checks appends the steps of a preview with their numbers, or else what would
// be charged. Those that stand above, well and with the same numbers, share a
// row.
func (b *block) checks(p *Preview, above []gate.Check) {
	const step, signAt, stepAt = 18, verbAt, verbAt + 2
	same := ""
	flush := func() {
		if same != "" {
			b.gap(signAt)
			b.glyph(live, b.th.g.ok)
			b.wrapped(stepAt, dim, same+": as above")
		}
		same = ""
	}
	for _, c := range p.Checks {
		if c.OK && slices.Contains(above, c) {
			if same != "" {
				same += ", "
			}
			same += c.Step
			continue
		}
		flush()
		if b.th.ascii { // the gate's own signs
			c.Says = asciiSigns.Replace(c.Says)
		}
		b.gap(signAt)
		look := text
		if c.OK {
			look = dim
			b.glyph(live, b.th.g.ok)
		} else {
			b.glyph(waits, b.th.g.fail)
		}
		b.to(stepAt)
		if b.width >= stepAt+step+24 {
			b.cell(look, c.Step, step)
			b.wrapped(stepAt+step, look, c.Says)
		} else {
			b.wrapped(stepAt, look, c.Step+": "+c.Says)
		}
	}
	flush()
	if len(p.Checks) == 0 { // they hold the numbers
		b.beforeAfter(saysAt, p.Before, p.After)
	}
}

var asciiSigns = strings.NewReplacer("→", "->", "−", "-", "≥", ">=", "≤", "<=")
