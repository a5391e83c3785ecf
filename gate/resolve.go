package gate

import "time"

// stepVerb answers a person's act on an item (R-P3). A person supplies facts
// and authority; the verdict is the gate's.
func stepVerb(s *State, c Verb, in Inputs) (Transition, error) {
	run, op := s.Run(c.Run), s.Op(c.Run, c.Op)
	if run == nil || op == nil || op.Hold.State == HoldNone {
		return Transition{}, About(ErrNoItem, "item", string(ItemIDOf(c.Run, c.Op)))
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
		h.Notes, h.LastNote, h.Noted = h.Notes+1, c.Reason, 0
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
			return Transition{}, About(ErrReused, "run", c.NewRun)
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
	if c.Do == ActNote || c.Do == ActSnooze {
		return false
	}
	return !c.TakeOver && k.row().HeldAgainst(c.Actor, in.Now)
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
