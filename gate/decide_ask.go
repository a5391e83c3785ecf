package gate

import "fmt"

// stepAsk answers an agent's question (R-A1). The looks stand in the order of
// the list of verdicts, and the steps come after them.
func stepAsk(s *State, c Ask, in Inputs) (Transition, error) {
	run := s.Run(c.Run)
	if run == nil {
		return Transition{}, About(ErrNoRun, "run", c.Run)
	}
	// What was answered before is answered so again, whatever the contract
	// says by now (R-A8).
	op := s.Op(c.Run, c.Op)
	if op != nil {
		if t, known, err := s.repeat(op, c.ID, c.body()); known {
			return t, err
		}
	}
	tool, err := in.Contract.Tool(c.Tool)
	if err != nil {
		return Transition{}, err
	}
	policy, err := in.Contract.Policy(run.Policy)
	if err != nil {
		return Transition{}, err
	}
	digest, err := c.request(tool)
	if err != nil {
		return Transition{}, err
	}
	id := c.Op
	if id == "" {
		id = Derived{c.Tool, digest}.id(run.Root)
		if op = s.Op(c.Run, id); op != nil {
			if t, known, err := s.repeat(op, c.ID, c.body()); known {
				return t, err
			}
		}
	}
	if err := s.checkParent(c, id); err != nil {
		return Transition{}, err
	}

	d := decisionOf(c, in, run)
	d.Op, d.Agent, d.Path, d.Digest = id, c.agent(run), c.Path, digest
	if op == nil {
		// Only the gate makes names like OP~2 (R-P3).
		if err := CheckID("op", string(id)); err != nil {
			return Transition{}, err
		}
		op = newOperation(c, id, tool, digest, run, in.Realm)
		d.Opens = true
	}
	d.about(op, c.Tool, tool)
	d.KeyIgnored = c.Key != "" && c.Key != op.Key

	q := &Question{
		Now: in.Now, Jitter: in.Jitter, Op: op, Name: c.Tool, Tool: tool, Policy: policy, Budget: run.Budget,
		Caps: run.Caps, Agent: d.Agent, Path: c.Path, Digest: digest, Tokens: c.Tokens,
	}
	reads := q.readings(s, in)
	d.Reading = q.Reading

	switch last := op.Newest(); {
	case refusedForGood(op, run):
		d.refuse(StopTerminal, op)
		if d.Terminal == nil { // nothing was stored: the run has ended
			d.Terminal = terminalOf(&d, op, RouteReturn)
		}
	case q.writes() && !d.Opens && digest != op.Digest:
		d.refuse(StopKeyConflict, op)
	case op.Settled == SettledSucceeded && op.Effect == EffectWrite:
		d.Verdict, d.Outcome, d.Result = AlreadyDone, OutcomeSucceeded, op.Result
	case last != nil && last.InFlight():
		d.refuse(StopInFlight, op)
		d.RetryAt = last.Expires
	case in.Behind:
		d.refuse(StopClock, op)
	case tool.Approval != ApprovalNone:
		d.refuse(StopApprovalRequired, op)
		d.Hold = d.holdForApproval(op)
	default:
		d.decide(q, op, policy)
	}
	return d.seal(append(reads, Read{Run: run.ID, Rev: run.Rev})), nil
}

// checkParent refuses a parent that is no operation of the run, as it stands
// there after a new-run too. One that has asked before is older, so that the
// parents of a run are trees.
func (s *State) checkParent(c Ask, id OpID) error {
	if c.Parent == "" || (c.Parent != id && s.Op(c.Run, c.Parent) != nil) {
		return nil
	}
	got := fmt.Sprintf("%q", c.Parent)
	if c.Parent == id {
		got += ", the operation itself"
	}
	return &InputError{Field: "parent", Want: fmt.Sprintf("an operation of run %q that has asked before", c.Run), Got: got}
}

// refusedForGood is R-D0 for every path but manual: the operation has a stored
// stop or has been closed otherwise than by success, or the run has ended. A
// success clears the stop, and is found in an ended run too when it is a
// write's.
func refusedForGood(op *Operation, run *Run) bool {
	switch op.Settled {
	case SettledSucceeded:
		return op.Effect == EffectRead && run.closed()
	case SettledRejected, SettledUnresolved, SettledSuperseded:
		return true
	case NotSettled:
	}
	return op.Stop != 0 || run.closed()
}

// closed reports whether new asks are refused: the run has ended, or is asked
// to and waits for what is in flight (R-T6).
func (r *Run) closed() bool { return r.Ending || !r.Ended.IsZero() }

// decide runs the steps and takes over their answer.
func (d *Decision) decide(q *Question, op *Operation, policy *Policy) {
	var a Answer
	if admission(op) {
		d.Admission = true
		a = DecideAdmit(q)
	} else {
		q.lastFailure(d.Inputs.Contract)
		d.Code, d.Class, d.Outcome = q.Failure.Code, q.Class, op.outcome()
		a = DecideRetry(q)
	}
	d.Delay, d.RetryAt = a.Delay, a.RetryAt
	if a.Verdict.Permits() {
		d.grant(q, a)
		return
	}
	d.Admission = false
	d.refuse(a.Verdict, op)
	if a.Verdict.Ends() {
		if op.Settled == SettledSucceeded {
			d.Terminal = terminalOf(d, op, RouteReturn) // a stop never changes a succeeded operation
			return
		}
		d.end(op, policy)
	}
}

// admission reports whether the next dispatch is an admission: nothing has
// been dispatched, or the last attempt of a read succeeded (R-A1, R-A7).
func admission(op *Operation) bool {
	return op.Permits == 0 || op.Settled == SettledSucceeded
}

// lastFailure fills in what the steps look at of the last failed attempt. Its
// code is looked up again under the contract that is in force, and a person's
// ruling counts as transient (R-P4).
func (q *Question) lastFailure(k *Contract) {
	last := q.Op.Newest()
	if last == nil {
		return
	}
	q.Failure, q.FailedAt = last.Failure, last.ReportedAt
	rule, _ := k.Classify(q.Policy, toolOf(k, last), last.Failure.Code)
	q.Class = rule.Class
	if q.Cleared && last.Failure.Code != "policy_block" {
		q.Class = ClassTransient
	} else {
		q.Cleared = false
	}
}

// toolOf returns the catalog's entry for the tool of an attempt, or what the
// attempt knows of it when the catalog has dropped it.
func toolOf(k *Contract, a *Attempt) *Tool {
	if t, ok := k.Tools[a.Tool]; ok {
		return t
	}
	return &Tool{Dependency: a.Dependency}
}

// readings fills in what the steps look at of the dependency, and returns what
// they were read from, where that matters.
func (q *Question) readings(s *State, in Inputs) []Read {
	name := q.Tool.Dependency
	q.Breaker, q.Ratio = in.Contract.Breaker(q.Policy, name), q.Policy.RetryRatio
	dep := s.Dep(name)
	q.Reading = dep.Reading(in.Now, q.Breaker, q.Ratio)
	if !q.Reading.Guarded {
		return make([]Read, 0, 1)
	}
	var rev uint64
	if dep != nil {
		rev = dep.Rev
	}
	return append(make([]Read, 0, 2), Read{Dep: name, Rev: rev})
}

// grant takes over a yes: the charge, the permit, and what the dependency
// counts (R-D8, R-C5).
func (d *Decision) grant(q *Question, a Answer) {
	d.Verdict, d.Charge = a.Verdict, a.Charge
	op, timeout := q.Op, q.Tool.Timeout
	notAfter := a.NotBefore.Add(q.Policy.PermitTTL)
	if limit := q.Budget.Deadline.Add(-q.Budget.Reserve - timeout); limit.Before(notAfter) {
		notAfter = limit
	}
	d.Ordinal = op.nextOrdinal()
	d.Permit = Permit{
		Op: op.ID, Ordinal: d.Ordinal, Key: op.Key, NotBefore: a.NotBefore, NotAfter: notAfter,
		Inner: q.inner(), Expires: notAfter.Add(timeout + q.Policy.ReportGrace),
	}
	if !q.Reading.Guarded {
		return
	}
	d.Depends = DependencyChange{On: q.Tool.Dependency, Window: window(q.Breaker, q.Ratio), Permit: true, Repeat: a.Verdict == Retry}
	if a.Probes {
		d.Depends.Breaker = &Breaker{
			State: BreakerHalfOpen, Since: d.Inputs.Now, Until: d.Permit.Expires,
			Probe: Ref{d.Run, op.ID}, Ordinal: d.Ordinal,
		}
	}
}

// inner is how many attempts the caller's client may make inside this
// dispatch: what is left, the one that is charged included (R-B8).
func (q *Question) inner() int64 {
	n := q.Budget.AttemptsLeft()
	if q.writes() {
		n = min(n, q.Budget.SideEffectsLeft())
	}
	for i := range q.Caps {
		if q.Caps[i].covers(q.Agent) {
			n = min(n, q.Caps[i].Attempts-q.Caps[i].Spent)
		}
	}
	return n
}

// nextOrdinal returns the ordinal of the next attempt.
func (o *Operation) nextOrdinal() int64 {
	if last := o.Newest(); last != nil {
		return last.Ordinal + 1
	}
	return 1
}

// outcome is what is known of the operation's effect, as a failed attempt
// leaves it.
func (o *Operation) outcome() Outcome {
	switch last := o.Newest(); {
	case o.Unknowns > 0:
		return OutcomeUnknown
	case last != nil:
		return last.Outcome
	default:
		return OutcomePending
	}
}

// agent is who asks: the run's own agent unless said.
func (c Ask) agent(run *Run) string {
	if c.Agent != "" {
		return c.Agent
	}
	return run.Agent
}

// newOperation is the logical action as its first ask describes it (R-A2,
// R-A3).
func newOperation(c Ask, id OpID, tool *Tool, digest Digest, run *Run, realm string) *Operation {
	op := &Operation{
		ID: id, Run: run.ID, Agent: c.agent(run), Path: c.Path, Parent: c.Parent,
		Tool: c.Tool, LastTool: c.Tool, Dependency: tool.Dependency, Effect: tool.Effect, Safety: tool.Safety,
		Approval: tool.Approval, Digest: digest, Input: c.Input, Key: c.Key, KeyGiven: c.Key != "", Asker: c.Actor, Tokens: c.Tokens,
	}
	if op.Key == "" {
		op.Key = newKey(realm, run.Root, id)
	}
	return op
}
