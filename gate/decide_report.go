package gate

import "fmt"

// news is what became of an attempt, from its caller or from the sweep.
type news struct {
	OK      bool
	Failure Failure
	Inner   int64
	Result  string
}

// stepReport answers a report (R-C7, R-C8).
func stepReport(s *State, c Report, in Inputs) (Transition, error) {
	c.Failure = c.Failure.cut()
	op, at, err := s.attempt(c.Run, c.Op, c.Ordinal)
	if err != nil {
		return Transition{}, err
	}
	if !at.Body.IsZero() {
		if at.Body == c.body() {
			t, _, err := s.again(at.Reported)
			return t, err
		}
		return Transition{}, About(ErrReused, "report of attempt", fmt.Sprintf("%s %d", c.Op, c.Ordinal))
	}
	return s.settle(c, in, op, at, news{OK: c.OK, Failure: c.Failure, Inner: max(1, c.Inner), Result: c.Result})
}

// attempt finds what a report is about.
func (s *State) attempt(run RunID, id OpID, ordinal int64) (*Operation, *Attempt, error) {
	if s.Run(run) == nil {
		return nil, nil, About(ErrNoRun, "run", run)
	}
	op := s.Op(run, id)
	if op == nil {
		return nil, nil, About(ErrNoOperation, "op", id)
	}
	at := op.Attempt(ordinal)
	if at == nil && 0 < ordinal && ordinal < op.nextOrdinal() {
		// Only what its caller has reported is ever dropped (KeptAttempts).
		return nil, nil, About(ErrReused, "report of attempt", fmt.Sprintf("%s %d, settled long ago", id, ordinal))
	}
	if at == nil {
		return nil, nil, About(ErrNoAttempt, "attempt", fmt.Sprintf("%s %d", id, ordinal))
	}
	return op, at, nil
}

// stepSweep is the gate's own look at one operation: an attempt that nobody
// reported in time becomes no_report (R-C5), and an unknown outcome that would
// be lost gets its item (R-T6). With nothing to do it writes nothing.
func stepSweep(s *State, c Sweep, in Inputs) (Transition, error) {
	run, op := s.Run(c.Run), s.Op(c.Run, c.Op)
	switch {
	case run == nil:
		return Transition{}, About(ErrNoRun, "run", c.Run)
	case op == nil:
		return Transition{}, About(ErrNoOperation, "op", c.Op)
	}
	due := op.Due(run)
	if due.IsZero() || in.Now.Before(due) {
		return Transition{repeats: true, sealed: true}, nil
	}
	if last := op.Newest(); last.InFlight() {
		return s.settle(c, in, op, last, news{Failure: Failure{Code: NoReport}, Inner: 1})
	}
	d := decisionOf(c, in, run)
	d.Op, d.Agent, d.Verdict = op.ID, op.Agent, Recorded
	d.Tool, d.Dependency, d.Effect, d.Safety, d.Key = op.LastTool, op.Dependency, op.Effect, op.Safety, op.Key
	last := op.Newest()
	d.Ordinal, d.Code, d.Class, d.Outcome = last.Ordinal, op.LastError.Code, last.Class, OutcomeUnknown
	policy := policyOf(in.Contract, run)
	if policy.QueueOff {
		d.NotesLost = true
	} else {
		d.Route = RouteReconcile
		if policy.Routes.OutcomeUnknown == RouteDeadLetter {
			d.Route = RouteDeadLetter
		}
		d.Hold = op.Hold.opened(&d, stateFor(d.Route), KindOutcomeUnknown)
	}
	return d.seal([]Read{{Run: run.ID, Rev: run.Rev}}), nil
}

// policyOf returns the run's policy, or the starter when the contract has
// dropped it: a report is never refused for that.
func policyOf(k *Contract, run *Run) *Policy {
	if p, err := k.Policy(run.Policy); err == nil {
		return p
	}
	return Starter()
}

// settle decides what an attempt's end means: it settles the attempt in its
// whole line of runs, and says at once what can be said (R-C4 to R-C8).
func (s *State) settle(c Command, in Inputs, op *Operation, at *Attempt, n news) (Transition, error) {
	line := s.line(op)
	head := line[len(line)-1]
	payer, run := s.Run(at.Run), s.Run(head.Run)
	if payer == nil || run == nil {
		return Transition{}, fmt.Errorf("line of %s in %s: %w", op.ID, op.Run, ErrDamaged)
	}
	policy, tool := policyOf(in.Contract, run), toolOf(in.Contract, at)
	d := decisionOf(c, in, payer)
	d.Op, d.Ordinal, d.Agent, d.Path, d.Digest, d.Key = op.ID, at.Ordinal, at.Agent, at.Path, at.Digest, op.Key
	d.Tool, d.Dependency, d.Effect, d.Safety = at.Tool, at.Dependency, op.Effect, op.Safety
	if head.Run != payer.ID {
		d.Head = head.Run
	}
	d.Verdict, d.Result = Recorded, n.Result

	// What the client really sent is charged, even past the limit (R-B8).
	if n.Inner > 1 {
		d.Charge.Attempts = n.Inner - 1
		if op.Effect == EffectWrite {
			d.Charge.SideEffects = n.Inner - 1
		}
	}

	// The cause gives the class; whether it happened is another question.
	if n.OK {
		d.Outcome = OutcomeSucceeded
	} else {
		rule, _ := in.Contract.Classify(policy, tool, n.Failure.Code)
		d.Code, d.Class, d.Refused = n.Failure.Code, rule.Class, rule.Refused
		d.Outcome = OutcomeFailed
		if op.Effect == EffectWrite && !rule.Refused {
			d.Outcome = OutcomeUnknown
		}
	}

	late := !at.InFlight() // the sweep has been here: this is evidence (R-C6)
	reads := make([]Read, 0, len(line)+1)
	for _, o := range line {
		r := s.Run(o.Run)
		if r == nil {
			return Transition{}, fmt.Errorf("line of %s in %s: %w", op.ID, op.Run, ErrDamaged)
		}
		reads = append(reads, Read{Run: r.ID, Rev: r.Rev})
	}
	if !late {
		reads = append(reads, d.counts(s, in, policy, at)...)
	}

	after := head.reported(&d)
	switch {
	case n.OK:
		d.succeed(&after, at, tool, policy)
	case late && !d.Refused:
		// Recorded; it changes nothing.
	case head.Settled != NotSettled || after.Newest().Ordinal != at.Ordinal:
		if after.Hold.Waits() {
			d.Hold = d.itemMoved(&after)
		}
	default:
		d.fail(&after, at, tool, policy, late)
	}
	return d.seal(reads), nil
}

// fail decides the failure of the highest ordinal as far as it can be decided
// without another ask: R-D1, R-D2, R-R2 and R-R3 (R-C7). after is the
// operation with the attempt settled.
func (d *Decision) fail(after *Operation, at *Attempt, tool *Tool, policy *Policy, late bool) {
	q := &Question{
		Op: after, Name: at.Tool, Tool: tool, Policy: policy, Path: PathModel, Digest: at.Digest,
		Class: d.Class,
	}
	switch {
	case d.Class != ClassTransient && d.Class != ClassConditional:
		d.Verdict = StopPermanentOrUnknown
	case q.writes() && !q.safeToRepeat():
		d.Verdict = StopUnsafeToRepeat
	case d.Class == ClassConditional && after.Repairs >= 2:
		d.Verdict = StopRepeatedRefusal
	}
	h := after.Hold
	switch {
	case d.Verdict.IsStop():
		d.end(after, policy)
		switch {
		case !h.Waits():
		case late && d.Route == RouteReturn: // routed by its own code: nobody needs to wait
			d.Hold = h.resolved(d)
		default:
			if late { // and stands where that code's are
				h.State = stateFor(d.Route)
			}
			kind := after.kind(d.Verdict)
			d.Hold = h.opened(d, h.State, kind).moved(d, kind)
		}
	case h.Waits():
		d.Hold = d.itemMoved(after)
	case at.Path == PathManual && !policy.QueueOff:
		// Whatever a person let go and failed comes back to a person (R-P3).
		d.Hold = h.opened(d, HoldOpen, after.kind(after.Stop))
	}
}

// itemMoved returns a waiting item as it stands when the outcome of an attempt
// has changed (R-P5). One that nothing but an unknown outcome had opened (R-T6)
// is resolved when there is none any more.
func (d *Decision) itemMoved(after *Operation) *Hold {
	h := after.Hold
	if h.Kind == KindOutcomeUnknown && !h.Duplicate && after.Unknowns == 0 && after.Stop == 0 && after.Newest().Path != PathManual {
		return h.resolved(d)
	}
	return h.moved(d, after.kind(after.Stop))
}

// succeed settles the operation. A write that may have been done twice says so
// to a person; otherwise nothing waits any more (R-C6, R-C8).
func (d *Decision) succeed(after *Operation, at *Attempt, tool *Tool, policy *Policy) {
	h := after.Hold
	switch {
	case after.Effect == EffectRead && after.Newest().InFlight():
		return // the last attempt of a read counts (R-A7)
	case after.Effect == EffectWrite && tool.Effect == EffectRead:
		return // a read that went before says nothing of the write
	}
	d.Settles = SettledSucceeded
	twice := after.Effect == EffectWrite &&
		(after.Newest().Ordinal > at.Ordinal || (!after.Successor.IsZero() && after.Successor.Run == after.Run))
	switch {
	case h.Duplicate && h.Waits(): // it says so already
		d.Hold = h.changed(d, KindOutcomeUnknown)
	case twice && !policy.QueueOff:
		h.Duplicate = true
		d.Hold = h.opened(d, HoldOpen, KindOutcomeUnknown)
		if h.Waits() {
			d.Hold = d.Hold.changed(d, KindOutcomeUnknown)
		}
	case h.Waits():
		d.Hold = h.resolved(d)
	}
}

// counts is what a dependency's window and breaker take from a report. Each
// attempt counts once, so a late report adds nothing (R-K1).
func (d *Decision) counts(s *State, in Inputs, policy *Policy, at *Attempt) []Read {
	breaker, ratio := in.Contract.Breaker(policy, at.Dependency), policy.RetryRatio
	dep := s.Dep(at.Dependency)
	d.Reading = dep.Reading(in.Now, breaker, ratio)
	probe := at.Probe && dep != nil && dep.Breaker.State == BreakerHalfOpen && dep.Breaker.Ordinal == at.Ordinal &&
		dep.Breaker.Probe == Ref{at.Run, d.Op}
	if !d.Reading.Guarded && !probe {
		return nil
	}
	transient := d.Outcome != OutcomeSucceeded && d.Class == ClassTransient
	d.Depends = DependencyChange{On: at.Dependency, Window: window(breaker, ratio), Request: true, Failure: transient}
	switch {
	case breaker != nil:
		d.Depends.Breaker = dep.afterReport(in.Now, breaker, probe, transient, d.Reading)
	case probe: // nothing guards it any more
		d.Depends.Breaker = &Breaker{State: BreakerClosed, Since: in.Now}
	}
	d.Depends.Empties = d.Depends.Breaker != nil && d.Depends.Breaker.State == BreakerClosed
	read := Read{Dep: at.Dependency}
	if dep != nil {
		read.Rev = dep.Rev
	}
	return []Read{read}
}
