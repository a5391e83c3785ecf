package gate

import (
	"fmt"
	"slices"
)

// WantOf names the aggregates that Fold changes for a decision.
func WantOf(d *Decision) Want {
	w := Want{Run: d.Run, Op: d.Op}
	switch d.Command.Act() {
	case ActReport, ActSweep:
		w.Line = true
	case ActApprove:
		w.Actions = d.NewOp != ""
	case ActNewRun:
		w.Whole = true
	default:
	}
	if d.Depends.On != "" {
		w.Depends = []string{d.Depends.On}
	}
	return w
}

// Fold applies a decision to the state that it was decided on and returns the
// state after it: what WantOf names, as it stands then. It decides nothing.
// The error is ErrDamaged: the state lacks what the decision changes.
//
// Slices of s are not changed; what changes is copied.
func Fold(s State, d Decision) (State, error) {
	s.Runs, s.Ops, s.Deps = slices.Clone(s.Runs), slices.Clone(s.Ops), slices.Clone(s.Deps)
	err := s.fold(&d)
	return s, err
}

// fold is Fold in place. What the elements of s hold is not changed but
// replaced, so that a copy of an element stays as it was.
func (s *State) fold(d *Decision) error {
	act := d.Command.Act()
	if act == ActAdopt {
		return nil
	}
	if act == ActStart {
		s.Runs = append(s.Runs, *d.NewRun)
	}
	run := s.Run(d.Run)
	if run == nil {
		return fmt.Errorf("decision %d: run %q is not there: %w", d.Seq, d.Run, ErrDamaged)
	}
	if d.Op != "" && !d.Opens && s.Op(d.Run, d.Op) == nil {
		return fmt.Errorf("decision %d: operation %q is not there: %w", d.Seq, d.Op, ErrDamaged)
	}

	// Take the operations' shares out of their runs' counters, change them,
	// and put them in again: so the counters cannot drift.
	s.count(-1)
	if d.Opens {
		s.Ops = append(s.Ops, d.opens(run))
	}
	switch act {
	case ActReport, ActSweep:
		s.foldReport(d)
	case ActStart, ActEnd:
	default:
		s.foldOperation(d)
	}
	s.count(+1)
	s.foldRuns(d)
	s.foldDependency(d)
	return nil
}

// opens is the operation that an ask brought (R-A2, R-A3).
func (d *Decision) opens(run *Run) Operation {
	c := d.Command.(Ask) //nolint:forcetypeassert // only an ask opens one
	op := newOperation(c, d.Op, &Tool{Dependency: d.Dependency, Effect: d.Effect, Safety: d.Safety, Approval: d.Approval}, d.Digest, run, "")
	op.Key, op.Opened = d.Key, d.Seq
	return *op
}

// count adds every loaded operation's share to its run's counters, or takes it
// out.
func (s *State) count(sign int64) {
	for i := range s.Ops {
		op := &s.Ops[i]
		run := s.Run(op.Run)
		if run == nil {
			continue
		}
		if !op.Carried {
			run.Operations += sign
		}
		if last := op.Newest(); last != nil && last.InFlight() && op.NextRun == "" {
			run.InFlight += sign
		}
		if op.Hold.Waits() {
			run.OpenItems += sign
		}
		if op.Hold.State == HoldDeadLetter {
			run.DeadLetters += sign
		}
	}
}

// foldOperation applies an ask or a verb to its operation.
func (s *State) foldOperation(d *Decision) {
	op := s.Op(d.Run, d.Op)
	op.Last = d.Seq
	switch c := d.Command.(type) {
	case Ask:
		op.remember(c.ID, c.body(), d.Seq)
		op.askedBy(c.Actor)
		if d.Verdict == StopApprovalRequired {
			op.waitsFor(d)
		}
		// What an approve would dispatch is what was let go or shown last: a
		// refused ask does not move it under an open item (R-P5).
		if d.Verdict.Permits() || d.Verdict == StopApprovalRequired || (d.Verdict != StopTerminal && !op.Hold.Waits()) {
			op.Tokens = c.Tokens
			if op.Effect == EffectRead && d.Effect == EffectRead {
				op.Digest, op.Input = d.Digest, c.Input
			}
		}
	case Verb:
		op.remember(verbMemo(c.ID), c.body(), d.Seq)
		if c.Do == ActReconcile && d.Verdict == Resolved {
			op.found(c.Finding, d.Seq)
		}
	}
	target := op
	if d.NewOp != "" {
		next := op.newAction(s.actions(op) + 1)
		next.Key, next.Opened, next.Last = d.Permit.Key, d.Seq, d.Seq
		op.Successor = Ref{d.Run, next.ID}
		s.Ops = append(s.Ops, next)
		op, target = s.Op(d.Run, d.Op), &s.Ops[len(s.Ops)-1]
	}
	if !d.Permit.IsZero() {
		target.permitted(d)
	}
	op.outcomeOf(d)
	if d.NewRun != nil {
		s.goOn(d)
	}
}

// waitsFor takes in what an approve would dispatch: the tool that was asked for
// last (R-A6).
func (o *Operation) waitsFor(d *Decision) { o.LastTool, o.Dependency = d.Tool, d.Dependency }

// askedBy remembers who has asked: none of them may be one of two who approve
// (R-P8).
func (o *Operation) askedBy(a Actor) {
	if a.ID == "" || a.ID == o.Asker.ID || slices.Contains(o.Askers, a.ID) || len(o.Askers) == maxAskers {
		return
	}
	o.Askers = append(slices.Clone(o.Askers), a.ID)
}

// foldReport settles an attempt in its whole line; stop and item go to the
// operation that the line has come to.
func (s *State) foldReport(d *Decision) {
	head := d.Head
	if head == "" {
		head = d.Run
	}
	for _, op := range s.line(s.Op(d.Run, d.Op)) {
		*op = op.reported(d)
		op.Last = d.Seq
		switch {
		case op.Run == head:
			op.outcomeOf(d)
		case d.Settles == SettledSucceeded:
			op.closeAs(d)
		}
	}
}

// outcomeOf applies what a decision says of an operation as a whole.
func (o *Operation) outcomeOf(d *Decision) {
	if d.StoresStop {
		o.Stop, o.StopSeq, o.Terminal = d.Verdict, d.Seq, d.Terminal
	}
	if d.Settles != NotSettled {
		o.closeAs(d)
	}
	if d.NotesLost {
		o.NotedLost = true
	}
	if d.Hold != nil {
		o.Hold = d.Hold.at(d)
	}
}

// closeAs closes an operation as a decision says. A success clears the stored
// stop (R-D0); any other way keeps a typed outcome for later asks.
func (o *Operation) closeAs(d *Decision) {
	o.Settled = d.Settles
	if d.Settles == SettledSucceeded {
		o.Stop, o.StopSeq, o.Terminal, o.Result = 0, 0, nil, d.Result
		return
	}
	o.NotedLost = true // who closed it knew what is unknown
	if d.Terminal != nil {
		o.Terminal = d.Terminal
	}
}

// at returns the hold with this decision's seq where it stands for itself.
func (h Hold) at(d *Decision) Hold {
	for _, seq := range []*uint64{&h.Opened, &h.Cause, &h.Changed.Seq} {
		if *seq == 0 {
			*seq = d.Seq
		}
	}
	if h.Notes > 0 && h.Noted == 0 {
		h.Noted = d.Seq
	}
	if n := len(h.Approvals); n > 0 && h.Approvals[n-1].Seq == 0 {
		h.Approvals = slices.Clone(h.Approvals)
		h.Approvals[n-1].Seq = d.Seq
	}
	return h
}

// permitted appends the attempt that a decision lets go.
func (o *Operation) permitted(d *Decision) {
	p := d.Permit
	at := Attempt{
		Ordinal: p.Ordinal, Seq: d.Seq, Run: d.Run, Tool: d.Tool, Dependency: d.Dependency, Agent: d.Agent, Path: d.Path, Digest: d.Digest,
		Permitted: d.Inputs.Now, NotBefore: p.NotBefore, NotAfter: p.NotAfter, Expires: p.Expires,
		Probe: d.Depends.Breaker != nil,
	}
	if last := o.Newest(); last != nil && last.Tool != d.Tool {
		o.Mixed = true
	}
	o.LastTool, o.Dependency = d.Tool, d.Dependency
	if d.Effect == EffectWrite {
		o.Effect = EffectWrite
	}
	o.Permits++
	if d.Admission {
		o.Series, o.Fresh, o.Repairs, o.Settled, o.Carried = p.Ordinal, p.Ordinal, 0, NotSettled, false
	}
	o.Attempts = append(o.kept(), at)
}

// kept returns a copy of the attempts, with room for one more: the oldest one
// that its caller has reported and whose outcome is known is dropped when there
// are KeptAttempts.
func (o *Operation) kept() []Attempt {
	out := make([]Attempt, 0, len(o.Attempts)+1)
	drop := len(o.Attempts) >= KeptAttempts
	for _, a := range o.Attempts {
		if drop && !a.Body.IsZero() && (a.Outcome == OutcomeSucceeded || a.Outcome == OutcomeFailed) {
			drop = false
			continue
		}
		out = append(out, a)
	}
	return out
}

// reported returns the operation with an attempt settled as the decision says.
// Evidence that came after the sweep and does not settle the outcome is only
// remembered (R-C6).
func (o Operation) reported(d *Decision) Operation {
	o.Attempts = slices.Clone(o.Attempts)
	at := o.Attempt(d.Ordinal)
	if at == nil {
		return o
	}
	report, isReport := d.Command.(Report)
	if _, swept := d.Command.(Sweep); swept && !at.InFlight() {
		return o // R-T6: nothing about the attempt
	}
	was, repair := at.Outcome, at.Class == ClassConditional
	at.Reported = d.Seq
	failure := Failure{Code: NoReport}
	if isReport {
		at.Body, at.Inner, failure = report.body(), max(1, report.Inner), report.Failure
	}
	if was != OutcomePending && d.Outcome != OutcomeSucceeded && !d.Refused {
		return o
	}
	if was == OutcomePending {
		at.ReportedAt = d.Inputs.Now
	}
	at.Swept = !isReport
	at.Outcome, at.Class, at.Refused, at.Failure, at.Result = d.Outcome, d.Class, d.Refused, failure, d.Result
	if d.Outcome == OutcomeSucceeded {
		at.Failure, at.Class = Failure{}, ClassUnknown
	}
	switch {
	case was == OutcomeUnknown && at.Outcome != OutcomeUnknown:
		o.Unknowns--
	case was != OutcomeUnknown && at.Outcome == OutcomeUnknown:
		o.Unknowns++
		o.NotedLost = false
	}
	if now := at.Class == ClassConditional; now && !repair && at.Ordinal >= o.Series {
		o.Repairs++
	}
	if d.Outcome != OutcomeSucceeded {
		if o.FirstError.Code == "" {
			o.FirstError = failure
		}
		if at.Ordinal == o.lastReported().Ordinal {
			o.LastError = failure
		}
	}
	return o
}

// found applies a person's finding, which the decision seq brought, to what was
// unknown; where nothing is, it corrects the newest one (R-P3).
func (o *Operation) found(f Finding, seq uint64) {
	o.Evidence = f
	if o.Settled == SettledSucceeded || f == FindingCannotTell {
		return
	}
	var newest uint64
	for i := range o.Attempts {
		newest = max(newest, o.Attempts[i].Found)
	}
	o.Attempts = slices.Clone(o.Attempts)
	for i := range o.Attempts {
		a := &o.Attempts[i]
		corrects := o.Unknowns == 0 && newest > 0 && a.Found == newest && a.Finding != f
		if a.Outcome == OutcomeUnknown || corrects {
			a.Finding, a.Found, a.Outcome = f, seq, OutcomeFailed
			if f == FindingHappened {
				a.Outcome = OutcomeSucceeded
			}
		}
	}
	o.Unknowns = 0
}
