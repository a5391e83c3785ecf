package gate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// approve lets a person's yes meet the gate: a repeat of the same operation on
// the path manual, the admission that an approval waits for, or with
// AsNewAction a new operation (R-P3, R-P4, R-P8, R-A6). Only a yes of the gate
// changes anything about the operation.
func (d *Decision) approve(s *State, c Verb, op *Operation, run *Run) ([]Read, error) {
	q, reads, err := approveQuestion(s, c, op, run, d.Inputs)
	if err != nil {
		return nil, err
	}
	d.Reading = q.Reading
	d.Dependency, d.Effect, d.Safety, d.Approval = q.Tool.Dependency, q.Tool.Effect, q.Tool.Safety, q.Tool.Approval

	_, d.Verdict = q.look(run, c, d.Inputs.Behind)
	switch d.Verdict {
	case 0:
		d.approved(s, c, q, op, run)
	case Recorded: // and counted: the next one decides
		h := op.Hold
		h.Approvals = append(slices.Clone(h.Approvals), Grant{By: c.Actor, At: d.Inputs.Now, AsNewAction: c.AsNewAction, Ruling: c.Ruling})
		d.Hold = h.changed(d, h.Kind)
	case StopTerminal:
		d.Terminal = op.Terminal
	case StopInFlight:
		d.RetryAt = op.Newest().Expires
	default:
	}
	return reads, nil
}

// approveQuestion is what an approve asks the gate, with what it reads.
func approveQuestion(s *State, c Verb, op *Operation, run *Run, in Inputs) (*Question, []Read, error) {
	tool, err := in.Contract.Tool(op.LastTool)
	if err != nil {
		return nil, nil, err
	}
	policy, err := in.Contract.Policy(run.Policy)
	if err != nil {
		return nil, nil, err
	}
	q := &Question{
		Now: in.Now, Jitter: in.Jitter, Op: op, Name: op.LastTool, Tool: tool, Policy: policy, Budget: run.Budget,
		Caps: run.Caps, Agent: op.Agent, Path: PathManual, Digest: op.Digest, Tokens: op.Tokens,
		Cleared: c.Ruling == RulingCauseCleared,
	}
	return q, q.readings(s, in), nil
}

// look is what comes before the steps of an approve, in the order of the
// verdicts: the first thing that answers it, with that answer. The verdict 0
// goes on to the steps; a check without a name says nothing.
func (q *Question) look(run *Run, c Verb, behind bool) (Check, Verdict) {
	op, two := q.Op, q.Tool.Approval == ApprovalTwoPerson
	switch last := op.Newest(); {
	case op.closedToApprove(c.AsNewAction):
		return Check{"operation", false, "closed: " + op.State(q.Now).String()}, StopTerminal
	case run.closed():
		return Check{"run", false, "has ended"}, StopTerminal
	case last != nil && last.InFlight():
		return Check{stepInFlight, false, fmt.Sprintf("attempt %d is not reported yet", last.Ordinal)}, StopInFlight
	case behind:
		return Check{stepClock, false, "the wall clock is behind the ledger"}, StopClock
	case two && op.mayNotApprove(c):
		return Check{stepTwoPeople, false, "you asked for it or have approved it"}, StopSamePerson
	case two && op.approvals(c) == 0:
		return Check{stepTwoPeople, true, "approval 1 of 2"}, Recorded
	case two:
		return Check{stepTwoPeople, true, fmt.Sprintf("approval %d of 2", op.approvals(c)+1)}, 0
	default:
		return Check{}, 0
	}
}

// closedToApprove is R-D0 on the path manual: the operation has been closed. A
// read that succeeded has nothing to approve, unless it has been asked for
// again and waits for that (R-A6, R-A7).
func (o *Operation) closedToApprove(asNewAction bool) bool {
	switch o.Settled {
	case NotSettled:
		return false
	case SettledSucceeded:
		return asNewAction || o.Effect == EffectWrite || !o.Hold.Waits() || o.Hold.Kind != KindApproval
	default:
		return true
	}
}

// mayNotApprove reports whether the identity has asked, or has approved the
// same already (R-P8).
func (o *Operation) mayNotApprove(c Verb) bool {
	return c.Actor.ID == o.Asker.ID || slices.Contains(o.Askers, c.Actor.ID) ||
		slices.ContainsFunc(o.Hold.Approvals, func(g Grant) bool { return g.By.ID == c.Actor.ID && g.like(c) })
}

// approvals counts the approvals of what a verb would approve.
func (o *Operation) approvals(c Verb) int {
	n := 0
	for _, g := range o.Hold.Approvals {
		if g.like(c) {
			n++
		}
	}
	return n
}

// approved runs the steps for a person's approve.
func (d *Decision) approved(s *State, c Verb, q *Question, op *Operation, run *Run) {
	var a Answer
	switch {
	case c.AsNewAction:
		next := op.newAction(s.actions(op) + 1)
		// Not of the root: a name may come again in a later run of the line.
		next.Key = newKey(d.Inputs.Realm, run.ID, next.ID)
		q.Op = &next
		d.Admission = true
		a = DecideAdmit(q)
	case admission(op):
		d.Admission = true
		a = DecideAdmit(q)
	default:
		q.lastFailure(d.Inputs.Contract)
		d.Class = q.Class
		a = DecideRetry(q)
	}
	d.Verdict, d.Delay, d.RetryAt = a.Verdict, a.Delay, a.RetryAt
	if !a.Verdict.Permits() {
		// Recorded only: neither the stored stop nor the item changes (R-D0).
		d.Admission = false
		if a.Verdict.Ends() {
			d.Route = q.Policy.route(a.Verdict, d.Class, op.Unknowns > 0)
			d.Terminal = terminalOf(d, op, d.Route)
		}
		return
	}
	d.grant(q, a)
	d.Hold = op.Hold.resolved(d)
	if c.AsNewAction {
		d.NewOp, d.Settles = q.Op.ID, SettledSuperseded
	}
}

// newAction is the operation that supersedes o when a person accepts that it
// may happen twice: OP~2, OP~3, …. It has no key yet.
func (o *Operation) newAction(n int64) Operation {
	return Operation{
		ID: OpID(o.base() + "~" + strconv.FormatInt(n, 10)), Run: o.Run, Agent: o.Agent, Path: PathManual, Parent: o.Parent,
		Tool: o.LastTool, LastTool: o.LastTool, Dependency: o.Dependency, Effect: o.Effect, Safety: o.Safety, Approval: o.Approval,
		Digest: o.Digest, Input: o.Input, Asker: o.Asker, Askers: o.Askers, Tokens: o.Tokens, Before: Ref{o.Run, o.ID}, Actions: n,
	}
}

// base is the name that an operation and its new actions share.
func (o *Operation) base() string {
	base, _, _ := strings.Cut(string(o.ID), "~")
	return base
}

// actions returns how many names are taken: the highest n of the OP~n that
// exist beside op, 1 for none.
func (s *State) actions(op *Operation) int64 {
	n := int64(1)
	for i := range s.Ops {
		if o := &s.Ops[i]; o.Run == op.Run && o.base() == op.base() {
			n = max(n, o.Actions)
		}
	}
	return n
}
