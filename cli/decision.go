package cli

import (
	"strconv"
	"strings"

	"tollgate/gate"
)

// printAnswer prints what the gate answered to a command: what its caller goes
// on by. A mere RECORDED is one line. The record as a whole is ledger show's.
func (a *app) printAnswer(d *gate.DecisionRow) error {
	if a.json {
		return a.object(d)
	}
	if line := recorded(d); line != "" {
		return a.say("%s", line)
	}
	f := new(fields)
	f.add("verdict", d.Verdict.String())
	f.answer(d)
	f.add("seq", seq(d.Seq))
	return a.printFields(f)
}

// answered prints an answer and says by the exit code what it was.
func (a *app) answered(d gate.DecisionRow, err error) error {
	if err != nil {
		return err
	}
	if err := a.printAnswer(&d); err != nil {
		return err
	}
	return exitOfVerdict(d.Verdict)
}

// recorded returns the one line that a RECORDED is worth; empty for what has
// more to say.
func recorded(d *gate.DecisionRow) string {
	if d.Verdict != gate.Recorded {
		return ""
	}
	parts := []string{d.Act.String()}
	switch d.Act {
	case gate.ActClaim, gate.ActRelease, gate.ActSnooze, gate.ActNote:
		parts = append(parts, "item "+string(d.Item))
	case gate.ActReport:
		parts = append(parts, "operation "+string(d.Op), "attempt "+number(d.Ordinal))
		if d.Code != "" {
			parts = append(parts, string(d.Code)+" is "+class(d.Class))
		}
		if d.Outcome == gate.OutcomeUnknown {
			parts = append(parts, outcome(d.Outcome))
		}
	case gate.ActEnd:
		parts = append(parts, "run "+string(d.Run))
	default:
		return ""
	}
	return d.Verdict.String() + ": " + strings.Join(append(parts, "seq "+seq(d.Seq)), ", ")
}

// printDecision prints one decision as the ledger has it.
func (a *app) printDecision(d *gate.DecisionRow) error {
	if a.json {
		return a.object(d)
	}
	f := new(fields)
	f.add("verdict", d.Verdict.String())
	f.add("seq", seq(d.Seq))
	f.add("at", instant(d.At.Time))
	f.add("act", d.Act.String())
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
	f.answer(d)
	f.add("cause", seq(d.Cause))
	f.add("reason", d.Reason)
	f.add("evidence", d.Evidence)
	f.add("jitter", strconv.FormatFloat(d.Jitter, 'g', -1, 64))
	f.add("contract", d.Contract)
	f.add("rules", strconv.Itoa(d.Rules))
	f.add("ledger", d.Hash)
	return a.printFields(f)
}

// answer adds what a decision says of its operation, and its numbers.
func (f *fields) answer(d *gate.DecisionRow) {
	f.add("run", string(d.Run))
	f.add("operation", string(d.Op))
	f.add("attempt", number(d.Ordinal))
	f.add("item", string(d.Item))
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
	f.terminal(d.Verdict, d.Terminal)
	f.add("result", d.Result)
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
func (f *fields) terminal(verdict gate.Verdict, t *gate.Terminal) {
	if t == nil {
		return
	}
	f.add("typed outcome", t.Type)
	if t.Reason != verdict.String() {
		f.add("why", t.Reason)
	}
	f.add("last failure", t.LastFailure.Message)
	f.add("next action", t.NextAction.String())
}
