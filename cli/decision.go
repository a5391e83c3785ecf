package cli

import (
	"strconv"

	"tollgate/gate"
)

// printDecision prints one decision, as an answer or as a record.
func (a *app) printDecision(d *gate.DecisionRow) error {
	if a.json {
		return a.object(d)
	}
	f := new(fields)
	f.add("verdict", d.Verdict.String())
	f.add("seq", seq(d.Seq))
	f.add("at", instant(d.At.Time))
	f.add("act", d.Act.String())
	f.add("run", string(d.Run))
	f.add("operation", string(d.Op))
	f.add("attempt", number(d.Ordinal))
	if d.Op != "" {
		f.add("path", d.Path.String())
	}
	f.add("agent", d.Agent)
	f.add("actor", actor(d.Actor))
	f.add("trace", d.Trace)
	f.add("tool", d.Tool)
	f.add("dependency", d.Dependency)
	if d.Effect != 0 {
		f.add("effect", d.Effect.String())
	}
	f.add("code", string(d.Code))
	f.add("class", class(d.Class))
	f.add("outcome", outcome(d.Outcome))
	if p := d.Permit; p != nil {
		f.add("permitted operation", string(p.Op))
		f.add("permit", strconv.FormatInt(p.Ordinal, 10))
		f.add("key", p.Key)
		f.add("not before", instant(p.NotBefore.Time))
		f.add("not after", instant(p.NotAfter.Time))
		f.add("inner attempts", number(p.Inner))
	} else {
		f.add("key", d.Key)
	}
	f.add("key ignored", yes(d.KeyIgnored, "the caller's own key differs and does not count"))
	f.add("delay", millis(d.DelayMS))
	f.add("can succeed from", instant(d.RetryAt.Time))
	f.budgets(d.Before, d.After)
	if d.Route != nil {
		f.add("route", d.Route.String())
	}
	f.add("item", string(d.Item))
	f.add("cause", seq(d.Cause))
	f.terminal(d.Terminal)
	f.add("result", d.Result)
	f.add("reason", d.Reason)
	f.add("evidence", d.Evidence)
	f.add("finding", d.Finding.String())
	f.add("ruling", d.Ruling.String())
	f.add("new operation", string(d.NewOp))
	f.add("new run", string(d.NewRun))
	if c := d.Changed; c != nil {
		f.add("changed by", actor(c.By))
		f.add("changed at", instant(c.At.Time))
		f.add("change", c.Act.String()+" "+c.Verdict.String()+", seq "+seq(c.Seq))
	}
	if b := d.Breaker; b != nil {
		f.add("breaker", b.State.String())
		f.add("breaker until", instant(b.Until.Time))
	}
	f.add("jitter", strconv.FormatFloat(d.Jitter, 'g', -1, 64))
	f.add("contract", d.Contract)
	f.add("rules", strconv.Itoa(d.Rules))
	f.add("ledger", d.Hash)
	return a.printFields(f)
}

// budgets adds what a decision did to the run's budget.
func (f *fields) budgets(before, after *gate.BudgetRow) {
	if after == nil {
		return
	}
	if before == nil {
		before = after
	}
	move := func(name string, from, to gate.Spent) {
		if from == to {
			f.add(name, spent(to))
			return
		}
		f.add(name, spent(from)+" → "+spent(to))
	}
	move("attempts", before.Attempts, after.Attempts)
	move("side effects", before.SideEffects, after.SideEffects)
	if before.RetryTokens != nil && after.RetryTokens != nil {
		move("retry tokens", *before.RetryTokens, *after.RetryTokens)
	}
	f.add("deadline", instant(after.Deadline.Time))
	f.add("time left", millis(after.LeftMS))
	f.add("overdrawn", yes(after.Overdrawn, "a client reported more attempts than were left"))
}

// terminal adds a typed outcome.
func (f *fields) terminal(t *gate.Terminal) {
	if t == nil {
		return
	}
	f.add("typed outcome", t.Type)
	f.add("why", t.Reason)
	f.add("last failure", t.LastFailure.Message)
	f.add("next action", t.NextAction.String())
}
