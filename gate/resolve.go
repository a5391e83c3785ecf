package gate

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// stepVerb answers a person's act on an item (R-P3). A person supplies facts
// and authority; the verdict is the gate's.
func stepVerb(s *State, c Verb, in Inputs) (Transition, error) {
	run, op := s.Run(c.Run), s.Op(c.Run, c.Op)
	if run == nil || op == nil || op.Hold.State == HoldNone {
		return Transition{}, about(ErrNoItem, "item", string(ItemIDOf(c.Run, c.Op)))
	}
	if c.ID != "" {
		if t, known, err := s.repeat(op, verbMemo(c.ID), c.body()); known {
			return t, err
		}
	}
	d := decisionOf(c, in, run)
	d.Op, d.Agent, d.Path, d.Digest, d.Key, d.Cause = op.ID, op.Agent, PathManual, op.Digest, op.Key, op.Hold.Cause
	d.Tool, d.Dependency, d.Effect, d.Safety = op.LastTool, op.Dependency, op.Effect, op.Safety
	if last := op.lastFailed(); last != nil {
		d.Code, d.Class = last.Failure.Code, last.Class
	}
	d.Outcome = op.outcome()
	reads := []Read{{Run: run.ID, Rev: run.Rev}}

	h := op.Hold
	switch {
	case c.Version != h.Version, h.State == HoldResolved:
		// What was shown is what is decided on (R-P5); the first wins (R-P6).
		d.Verdict, d.Changed = Stale, &h.Changed
		return d.seal(reads), nil
	case h.Claim.heldAgainst(c, in):
		d.Verdict, d.RetryAt = StopClaimed, h.Claim.Until
		return d.seal(reads), nil
	}

	var err error
	switch c.Do {
	case ActClaim:
		h.Claim = Claim{By: c.Actor, Until: in.Now.Add(in.Contract.ClaimLease)}
		d.Verdict, d.Hold = Recorded, &h
	case ActRelease:
		h.Claim = Claim{}
		d.Verdict, d.Hold = Recorded, &h
	case ActSnooze:
		err = d.putOff(c, &h)
	case ActNote:
		h.Notes, h.LastNote = h.Notes+1, c.Reason
		d.Verdict, d.Hold = Recorded, &h
	case ActReconcile:
		err = d.reconcile(c, op)
	case ActReject:
		d.close(SettledRejected, op)
	case ActApprove:
		var more []Read
		more, err = d.approve(s, c, op, run)
		reads = append(reads, more...)
	case ActNewRun:
		if s.Run(c.NewRun) != nil {
			return Transition{}, about(ErrReused, "run", string(c.NewRun))
		}
		reads = append(reads, Read{Run: c.NewRun})
		d.goOn(c, op, run)
	default:
		err = &InputError{Field: "verb", Want: "a verb of a person", Got: c.Do.String()}
	}
	if err != nil {
		return Transition{}, err
	}
	return d.seal(reads), nil
}

// heldAgainst reports whether another person's lease stands in the way. To
// note and to put off needs no lease (R-P7).
func (k Claim) heldAgainst(c Verb, in Inputs) bool {
	switch {
	case k.By.ID == "" || k.By.ID == c.Actor.ID || !in.Now.Before(k.Until):
		return false
	case c.Do == ActNote || c.Do == ActSnooze:
		return false
	default:
		return !c.TakeOver
	}
}

// putOff hides an item until an instant that is still ahead (R-P3). One that
// has passed brings back an item that is put off now, and says nothing about
// any other.
func (d *Decision) putOff(c Verb, h *Hold) error {
	until, now := Truncated(c.Until), d.Inputs.Now
	if !until.After(now) && !h.Snoozed.After(now) {
		return &InputError{
			Field: "until", Want: "an instant after the gate's time " + now.Format(time.RFC3339Nano),
			Got: c.Until.UTC().Format(time.RFC3339Nano),
		}
	}
	h.Snoozed = until
	d.Verdict, d.Hold = Recorded, h
	return nil
}

// reconcile takes a finding about a write (R-P3).
func (d *Decision) reconcile(c Verb, op *Operation) error {
	if op.Effect != EffectWrite || op.Permits == 0 {
		return &InputError{Field: "finding", Want: "a write that was dispatched", Got: "an operation that has no effect to find"}
	}
	d.Verdict = Resolved
	switch {
	case op.Hold.Duplicate:
		// The write has succeeded, and nothing unsettles that (R-C6).
		d.Outcome, d.Hold = OutcomeSucceeded, op.Hold.resolved(d)
	case c.Finding == FindingHappened:
		d.Outcome, d.Result, d.Settles = OutcomeSucceeded, c.Evidence, SettledSucceeded
		d.Hold = op.Hold.resolved(d)
	case c.Finding == FindingCannotTell:
		d.close(SettledUnresolved, op)
	default:
		// Nothing is given back, and the item stays open (R-B5).
		d.Outcome = OutcomeFailed
		known := *op
		known.Unknowns = 0
		d.Hold = op.Hold.moved(d, known.kind(op.Stop))
	}
	return nil
}

// close closes an operation with its typed outcome, to which every later ask
// is referred.
func (d *Decision) close(as Settlement, op *Operation) {
	d.Verdict = Resolved
	d.Hold = op.Hold.resolved(d)
	if op.Hold.Duplicate {
		return // it stays succeeded; only the item goes (R-C6)
	}
	d.Settles, d.Route = as, RouteReturn
	if op.Terminal != nil {
		t := *op.Terminal
		t.NextAction = RouteReturn
		d.Terminal = &t
		return
	}
	d.Terminal = terminalOf(d, op, RouteReturn)
	d.Terminal.Reason = StopTerminal.String()
	if op.Hold.Kind == KindApproval {
		d.Terminal.Reason = StopApprovalRequired.String()
	}
}

// approve lets a person's yes meet the gate: a repeat of the same operation on
// the path manual, the admission that an approval waits for, or with
// AsNewAction a new operation (R-P3, R-P4, R-P8, R-A6). Only a yes of the gate
// changes anything about the operation.
func (d *Decision) approve(s *State, c Verb, op *Operation, run *Run) ([]Read, error) {
	in := d.Inputs
	tool, err := in.Contract.Tool(op.LastTool)
	if err != nil {
		return nil, err
	}
	policy, err := in.Contract.Policy(run.Policy)
	if err != nil {
		return nil, err
	}
	q := &Question{
		Now: in.Now, Jitter: in.Jitter, Op: op, Name: op.LastTool, Tool: tool, Policy: policy, Budget: run.Budget,
		Caps: run.Caps, Agent: op.Agent, Path: PathManual, Digest: op.Digest, Tokens: op.Tokens,
		Cleared: c.Ruling == RulingCauseCleared,
	}
	reads := q.readings(s, in)
	d.Reading = q.Reading
	d.Dependency, d.Effect, d.Safety, d.Approval = tool.Dependency, tool.Effect, tool.Safety, tool.Approval

	switch last := op.Newest(); {
	case op.closedToApprove(c.AsNewAction), run.closed():
		d.Verdict, d.Terminal = StopTerminal, op.Terminal
	case last != nil && last.InFlight():
		d.Verdict, d.RetryAt = StopInFlight, last.Expires
	case in.Behind:
		d.Verdict = StopClock
	case tool.Approval == ApprovalTwoPerson && op.mayNotApprove(c):
		d.Verdict = StopSamePerson
	case tool.Approval == ApprovalTwoPerson && op.approvals(c) == 0:
		h := op.Hold
		h.Approvals = append(slices.Clone(h.Approvals), Grant{By: c.Actor, At: in.Now, AsNewAction: c.AsNewAction, Ruling: c.Ruling})
		d.Verdict = Recorded
		d.Hold = h.changed(d, h.Kind)
	default:
		d.approved(s, c, q, op, run)
	}
	return reads, nil
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

// goOn starts the new run that goes on from this one (R-P3). Its operations
// follow in Fold: what is unfinished here is superseded and goes on there.
func (d *Decision) goOn(c Verb, op *Operation, run *Run) {
	d.Verdict = Resolved
	d.NewRun = &Run{
		ID: c.NewRun, Root: run.Root, Parent: run.ID, Agent: run.Agent, Policy: run.Policy,
		Budget: c.Limits.Budget(d.Inputs.Now), Caps: sortedCaps(c.Caps), Limits: limitsDigest(c.Limits, c.Caps),
	}
	d.Hold = op.Hold.resolved(d)
}
