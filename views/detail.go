package views

import (
	"strings"
	"time"

	"tollgate/gate"
)

// detail appends the selected node in full.
func (b *block) detail(v RunScreen, now time.Time) {
	i := v.Tree.Find(v.Selected)
	if i < 0 {
		b.put(dim, "nothing is selected")
		b.end()
		return
	}
	n := &v.Tree.Nodes[i]
	switch {
	case n.Attempt != nil:
		b.wrapped(0, strong, string(n.Op.Op))
		b.field("tool", text, n.Op.Tool, 1)
		b.blank(1)
		b.attempt(n.Attempt, now)
		b.charges(v.Decisions, n.Attempt.Ordinal, now)
	case n.Op != nil:
		b.operation(n.Op, now)
		for k := range n.Op.Attempts {
			b.blank(1)
			b.attempt(&n.Op.Attempts[k], now)
			b.charges(v.Decisions, n.Op.Attempts[k].Ordinal, now)
		}
	default:
		b.agent(n, v.Run)
	}
}

// agent appends what an agent and those below it have spent.
func (b *block) agent(n *Node, r *gate.RunView) {
	b.put(strong, n.Agent)
	b.end()
	b.field("spent", text, plural(n.Spent, "attempt", "attempts")+" of "+spent(r.Budget.Attempts)+" of the run", 2)
	for _, c := range r.Caps {
		if c.Agent == n.Agent {
			b.field("cap", spentStyle(c.Attempts), spent(c.Attempts)+" set aside for this path", 2)
		}
	}
	counts, total := map[string]int64{}, int64(0)
	var order []string
	for i := range r.Ops {
		o := &r.Ops[i]
		agent := o.Agent
		if agent == "" {
			agent = r.Agent
		}
		if agent != n.Agent && !strings.HasPrefix(agent, n.Agent+"/") {
			continue
		}
		_, word, _ := b.th.stateLook(o)
		if counts[word] == 0 {
			order = append(order, word)
		}
		counts[word]++
		total++
	}
	b.field("asked for", text, plural(total, "operation", "operations"), 1)
	for _, word := range order {
		b.field("", text, plural(counts[word], word, word), 1)
	}
}

// operation appends an operation but for its attempts.
func (b *block) operation(o *gate.OpRow, now time.Time) {
	b.wrapped(0, strong, string(o.Op))
	glyph, word, look := b.th.stateLook(o)
	b.cell(dim, "state", labelWidth)
	b.glyph(look, glyph)
	b.gap(1)
	b.put(look, word)
	b.end()
	if o.Stop.IsStop() {
		b.field("gate", verdictStyle(o.Stop), o.Stop.String(), 1)
	}
	if t := o.Terminal; t != nil {
		b.field("route", text, t.NextAction.String(), 1)
	}
	if o.Item != "" {
		b.field("item", text, string(o.Item)+", "+o.ItemState.String(), 1)
	}
	b.field("tool", text, o.Tool, 2)
	b.field("", dim, EffectWord(o.Effect, o.RetrySafety, b.th.g.dot), 2)
	b.field("depends on", text, o.Dependency, 1)
	b.field("asked by", text, o.Agent, 2)
	if o.Path != gate.PathModel {
		b.field("path", text, o.Path.String(), 1)
	}
	b.field("serves", text, string(o.Parent), 1)
	b.field("key", text, o.Key, 2)
	b.field("request", dim, o.Digest, 2)
	b.field("result", live, o.Result, 3)
	if t := o.Terminal; t != nil {
		b.field("returned", text, t.Type+", "+t.Reason, 2)
	}
	if s := o.Successor; s != nil {
		b.field("goes on", text, string(s.Op)+" in "+string(s.Run), 2)
	}
	if p := o.Permit; p != nil {
		b.field("permit", live, "dispatch from "+moment(p.NotBefore.Time, now)+" to "+moment(p.NotAfter.Time, now), 2)
	}
	if older := o.Permits - int64(len(o.Attempts)); older > 0 {
		b.field("", dim, plural(older, "older attempt is", "older attempts are")+" in the ledger only", 2)
	}
}

// attempt appends one attempt in full.
func (b *block) attempt(a *gate.AttemptRow, now time.Time) {
	glyph, word, look := b.th.attemptLook(a)
	b.put(strong, "attempt ")
	b.integer(strong, a.Ordinal)
	b.gap(2)
	b.glyph(look, glyph)
	b.gap(1)
	b.put(look, word)
	b.end()

	begun := a.NotBefore
	if begun.Before(a.Permitted.Time) {
		begun = a.Permitted
	}
	when := moment(begun.Time, now)
	if d := attemptTook(a, now); d >= 0 {
		when += " for " + took(d)
	}
	b.field("at", text, when, 2)
	if d := a.NotBefore.Sub(a.Permitted.Time); d > 0 {
		b.field("waited", text, took(d)+" before it", 1)
	}
	if a.Class != nil && a.Failure != nil {
		what := string(a.Failure.Code) + ", " + ClassWord(*a.Class)
		if a.Refused {
			what += ", refused before it ran"
		}
		b.field("code", text, what, 2)
	}
	if a.Finding != gate.FindingNone {
		b.field("reported", dim, OutcomeWord(a.Outcome), 1)
	}
	if f := a.Failure; f != nil {
		b.field("status", text, f.Status, 1)
		b.field("field", text, f.Field, 2)
		b.field("suggests", text, f.Suggest, 3)
		b.field("said", text, f.Message, 8)
		if f.Cut {
			b.field("", dim, "the message was longer and was cut", 2)
		}
	}
	if a.Inner > 1 {
		b.field("inside", waits, plural(a.Inner, "attempt", "attempts")+" made by its client", 2)
	}
	b.field("result", live, a.Result, 3)
}

// charges appends the decisions that permitted and settled an attempt, with
// the counters before and after.
func (b *block) charges(ds []gate.DecisionRow, ordinal int64, now time.Time) {
	for i := range ds {
		d := &ds[i]
		if d.Ordinal != ordinal && (d.Permit == nil || d.Permit.Ordinal != ordinal) {
			continue
		}
		b.cell(dim, d.Act.String(), labelWidth)
		b.put(verdictStyle(d.Verdict), d.Verdict.String())
		b.gap(1)
		b.put(dim, moment(d.At.Time, now))
		b.end()
		b.beforeAfter(labelWidth, d.Before, d.After)
		if d.Route != nil && d.Verdict.IsStop() {
			b.gap(labelWidth)
			b.put(dim, "route ")
			b.put(text, d.Route.String())
			b.end()
		}
		if d.Verdict.IsStop() && !d.RetryAt.IsZero() {
			b.gap(labelWidth)
			b.put(dim, "not before ")
			b.put(text, moment(d.RetryAt.Time, now))
			b.end()
		}
	}
}

// beforeAfter appends the counters that a decision changed, a row each.
func (b *block) beforeAfter(margin int, before, after *gate.BudgetRow) {
	if before == nil || after == nil {
		return
	}
	line := func(label string, x, y gate.Spent) {
		if x.Spent == y.Spent {
			return
		}
		b.gap(margin)
		b.put(dim, label)
		b.gap(1)
		b.change(x, y)
		b.end()
	}
	line("attempts", before.Attempts, after.Attempts)
	line("effects", before.SideEffects, after.SideEffects)
	if before.RetryTokens != nil && after.RetryTokens != nil {
		line("tokens", *before.RetryTokens, *after.RetryTokens)
	}
}

// change appends a counter before and after.
func (b *block) change(x, y gate.Spent) {
	b.tmp = appendSpent(b.tmp[:0], x)
	b.number(text)
	b.gap(1)
	b.own(dim, b.th.g.arrow, len([]rune(b.th.g.arrow)))
	b.gap(1)
	if y.Limit == 0 {
		y.Limit = x.Limit // an answer's "after" may leave the limit away
	}
	b.tmp = appendSpent(b.tmp[:0], y)
	b.number(spentStyle(y))
}
