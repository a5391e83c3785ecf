package views

import (
	"strconv"
	"time"

	"tollgate/gate"
)

// RecordView is one decision in full.
type RecordView struct {
	Row      *gate.DecisionRow // nil if it is not there
	Selected RecordLink        // zero for none; one that the record has not is none
	Verified Verified
	Me       string // id of the operator
	Top      int    // the first row shown
}

// RecordLink is a place that a record leads to.
type RecordLink uint8

// The links, in the order in which a record shows them. The zero value is
// none.
const (
	LinkItem   RecordLink = iota + 1 // the item that it is about
	LinkRun                          // its run
	LinkMoved                        // the decision that moved the item
	LinkCause                        // the decision that it answers
	LinkNewRun                       // the run that goes on from it
)

// RecordLinks returns the places that a decision leads to, in their order.
func RecordLinks(d *gate.DecisionRow) []RecordLink {
	var links []RecordLink
	for _, l := range []struct {
		link RecordLink
		has  bool
	}{
		{LinkItem, d.Item != ""},
		{LinkRun, d.Run != ""},
		{LinkMoved, d.Changed != nil && d.Changed.Seq != 0},
		{LinkCause, d.Cause != 0},
		{LinkNewRun, d.NewRun != ""},
	} {
		if l.has {
			links = append(links, l.link)
		}
	}
	return links
}

// Record draws one decision in full.
func Record(p Page, v RecordView) string {
	head, body := p.record(v)
	return p.scrolled(v.Top, head, body)
}

// RecordScroll returns how many rows a record has below its head, and how many
// of them are seen at once.
func RecordScroll(p Page, v RecordView) (rows, seen int) {
	head, body := p.record(v)
	return len(body.rows), p.Body() - len(head.rows)
}

func (p Page) record(v RecordView) (head, body *block) {
	const panes = 120
	head, body = newBlock(p.Theme, p.Width, 2), newBlock(p.Theme, p.Width, p.Height)
	if v.Row == nil {
		body.say("This decision is not here.")
		return head, body
	}
	head.recordLine(v, p.Now)
	if !p.low() {
		head.rule()
	}
	if p.Width < panes {
		body.recordAnswer(v, p.Now)
		body.recordInputs(v, p.Now)
		return head, body
	}
	l := newBlock(p.Theme, p.Width*54/100, p.Height)
	l.recordAnswer(v, p.Now)
	r := newBlock(p.Theme, p.Width-l.width-3, p.Height)
	r.recordInputs(v, p.Now)
	body.beside(l, r, p.Body()-len(head.rows))
	return head, body
}

// recordLine says which decision it is, and whether its record stands in the
// part of the chain that has been verified.
func (b *block) recordLine(v RecordView, now time.Time) {
	d := v.Row
	b.ends(3,
		func(o *block, level int) {
			if level < 3 {
				o.put(dim, "decision ")
			}
			o.put(strong, seq(d.Seq))
			o.gap(3 - level/2)
			glyph, mark := o.th.decisionLook(d)
			o.glyph(mark, glyph)
			o.gap(1)
			o.put(dim, d.Act.String())
			o.gap(2)
			o.put(verdictStyle(d.Verdict), d.Verdict.String())
		},
		func(o *block, level int) {
			switch {
			case v.Verified.At.IsZero() && v.Verified.Broken == "" || level > 2:
			case v.Verified.Broken != "", level < 2:
				o.verified(v.Verified, now, level)
			case d.Seq > v.Verified.Seq:
				o.put(dim, "not yet verified")
			default:
				o.glyph(live, o.th.g.ok)
				o.put(dim, " verified")
			}
		},
	)
}

// link begins a row of a record that leads somewhere.
func (b *block) link(name string, of, selected RecordLink) {
	look := dim
	b.gap(1)
	if of == selected {
		b.glyph(press, b.th.g.mark)
		look = here
	}
	b.to(3)
	b.cell(look, name, reviewAt-3)
	b.to(reviewAt)
}

// recordAnswer appends what was asked, by whom, and the answer.
func (b *block) recordAnswer(v RecordView, now time.Time) {
	d := v.Row
	if d.Op != "" {
		b.recordLabel("operation")
		b.idPiece(strong, string(d.Op))
		if d.Ordinal > 0 {
			b.piece(text, "attempt "+itoa(d.Ordinal))
		}
		b.end()
		if d.Tool != "" {
			b.recordLabel("tool")
			b.piece(text, d.Tool)
			if d.Effect != 0 {
				b.piece(dim, d.Effect.String())
			}
			b.end()
		}
		b.recordField("depends on", text, d.Dependency, 1)
	}
	if d.Item != "" {
		b.link("item", LinkItem, v.Selected)
		b.idPiece(press, string(d.Item))
		b.end()
	}
	if d.Run != "" {
		b.link("run", LinkRun, v.Selected)
		b.idPiece(press, string(d.Run))
		if d.Agent != "" {
			b.piece(dim, d.Agent)
		}
		b.end()
	}
	b.recordLabel("by")
	who := text
	if d.Act.IsVerb() {
		who = strong
	}
	b.piece(who, actorName(d.Actor, v.Me))
	if name := actorName(d.Actor, v.Me); d.Actor.ID != name {
		b.piece(dim, d.Actor.ID)
	}
	if d.Actor.Source != "" {
		b.piece(dim, "known by "+d.Actor.Source)
	}
	if d.Path != gate.PathModel {
		b.piece(dim, "path "+d.Path.String())
	}
	b.end()
	b.blank(1)

	b.recordLabel("answer")
	b.piece(verdictStyle(d.Verdict), d.Verdict.String())
	b.end()
	if d.Code != "" {
		b.recordLabel("failure")
		b.piece(text, string(d.Code))
		if d.Class != nil {
			b.piece(dim, ClassWord(*d.Class))
		}
		b.end()
	}
	if d.Outcome != gate.OutcomePending {
		look := text
		if d.Outcome == gate.OutcomeUnknown {
			look = waits
		}
		b.recordField("outcome", look, OutcomeWord(d.Outcome), 1)
	}
	b.recordField("result", live, d.Result, 2)
	if d.Route != nil {
		b.recordField("route", text, d.Route.String(), 1)
	}
	if !d.RetryAt.IsZero() {
		b.recordField("not before", text, moment(d.RetryAt.Time, now), 1)
	}
	if t := d.Terminal; t != nil {
		b.recordLabel("returned")
		b.piece(text, t.Type)
		b.piece(dim, t.Reason)
		b.piece(dim, "next action "+t.NextAction.String())
		b.end()
	}
	if k := d.Breaker; k != nil {
		b.recordLabel("breaker")
		b.piece(breakerStyle(k.State), "left "+k.State.String())
		if !k.Until.IsZero() {
			b.piece(dim, "until "+moment(k.Until.Time, now))
		}
		b.end()
	}
	if c := d.Changed; c != nil {
		b.link("moved by", LinkMoved, v.Selected)
		b.piece(press, "decision "+seq(c.Seq))
		b.piece(text, actorName(c.By, v.Me))
		b.piece(dim, c.Act.String()+" got "+c.Verdict.String())
		b.piece(dim, moment(c.At.Time, now))
		b.end()
	}
	if d.Cause != 0 {
		b.link("caused by", LinkCause, v.Selected)
		b.piece(press, "decision "+seq(d.Cause))
		b.end()
	}
	b.recordPerson(v)
}

// recordPerson appends what a person said with the decision.
func (b *block) recordPerson(v RecordView) {
	d := v.Row
	if d.Finding != gate.FindingNone {
		glyph, look := b.th.findingLook(d.Finding)
		b.recordLabel("finding")
		b.flow(func(o *block) {
			o.glyph(look, glyph)
			o.gap(1)
			o.put(look, FindingWord(d.Finding))
		})
		b.end()
	}
	if d.Ruling != gate.RulingNone {
		b.recordField("ruling", text, d.Ruling.String(), 1)
	}
	b.recordField("because", text, d.Reason, 6)
	b.recordField("evidence", text, d.Evidence, 6)
	b.recordField("new action", text, string(d.NewOp), 1)
	if d.NewRun != "" {
		b.link("goes on in", LinkNewRun, v.Selected)
		b.idPiece(press, string(d.NewRun))
		b.end()
	}
}

// recordInputs appends the budget before and after, the permit, every input
// that was used, and the place in the chain.
func (b *block) recordInputs(v RecordView, now time.Time) {
	d := v.Row
	if b.x == 0 && len(b.rows) > 0 {
		b.blank(1)
	}
	if x, y := d.Before, d.After; x != nil && y != nil {
		b.budgetChange("attempts", x.Attempts, y.Attempts)
		b.budgetChange("side effects", x.SideEffects, y.SideEffects)
		if x.RetryTokens != nil && y.RetryTokens != nil {
			b.budgetChange("retry tokens", *x.RetryTokens, *y.RetryTokens)
		}
		b.recordLabel("time")
		b.piece(text, timeSays(x.Deadline.Sub(d.At.Time)))
		if x.ReserveMS > 0 {
			b.piece(dim, "reserve "+took(time.Duration(x.ReserveMS)*time.Millisecond))
		}
		b.end()
		b.blank(1)
	}
	if k := d.Permit; k != nil {
		b.recordLabel("permit")
		b.piece(live, "attempt "+itoa(k.Ordinal))
		if k.Op != "" && k.Op != d.Op {
			b.piece(text, "of "+string(k.Op))
		}
		b.piece(dim, "its client may make "+plural(max(1, k.Inner), "attempt", "attempts"))
		b.end()
		b.recordField("dispatch", text, moment(k.NotBefore.Time, now)+" to "+moment(k.NotAfter.Time, now), 2)
		b.blank(1)
	}
	b.recordField("at", text, instant(d.At.Time), 1)
	b.recordLabel("jitter")
	b.piece(text, strconv.FormatFloat(d.Jitter, 'f', -1, 64))
	if d.DelayMS > 0 {
		b.piece(dim, "delay "+took(time.Duration(d.DelayMS)*time.Millisecond))
	}
	b.end()
	b.recordField("key", text, d.Key, 2)
	if d.KeyIgnored {
		b.recordField("", waits, "the caller's own differs and does not count", 2)
	}
	b.recordField("trace", dim, d.Trace, 2)
	b.recordField("contract", dim, d.Contract, 2)
	b.recordField("rules", text, "version "+itoa(int64(d.Rules)), 1)
	b.recordField("hash", dim, d.Hash, 2)
}

// budgetChange appends a counter before and after, and as it stands now: a bar
// that is full only when it is spent.
func (b *block) budgetChange(name string, x, y gate.Spent) {
	const numbers, bar = 11, 24
	if y.Limit == 0 {
		y.Limit = x.Limit
	}
	b.recordLabel(name)
	b.tmp = appendSpent(b.tmp[:0], x)
	if x.Spent == y.Spent {
		b.rightNumber(dim, numbers)
		b.gap(numbers + 4)
	} else {
		b.rightNumber(text, numbers)
		b.gap(1)
		b.own(dim, b.th.g.arrow, len([]rune(b.th.g.arrow)))
		b.gap(1)
		b.tmp = appendSpent(b.tmp[:0], y)
		b.number(spentStyle(y))
		b.to(reviewAt + 2*numbers + 4)
	}
	if room := b.rest() - 2; room >= 8 && y.Limit > 0 {
		b.gap(1)
		b.spentBar(y, min(room, bar))
	}
	b.end()
}

// recordLabel begins a row of a record; recordField is a row of one value.
func (b *block) recordLabel(s string) {
	b.gap(3)
	b.cell(dim, s, reviewAt-3)
}

func (b *block) recordField(label string, s style, value string, rows int) {
	b.fieldAt(3, reviewAt-3, label, s, value, rows)
}

// breakerStyle colours the state of a breaker.
func breakerStyle(s gate.BreakerState) style {
	switch s {
	case gate.BreakerOpen:
		return alarm
	case gate.BreakerHalfOpen:
		return waits
	case gate.BreakerClosed:
	}
	return dim
}
