package gate

import (
	"fmt"
	"strings"
	"time"
)

// decisionOf begins a decision: what was asked, the inputs, the run as it
// stands.
func decisionOf(c Command, in Inputs, run *Run) Decision {
	d := Decision{Command: c, Inputs: in, Contract: in.Document, Rules: RulesVersion}
	if run != nil {
		d.Run, d.Before, d.Agent = run.ID, run.Budget, run.Agent
	}
	return d
}

// about fills in what the decision is about.
func (d *Decision) about(op *Operation, name string, tool *Tool) {
	d.Tool, d.Dependency, d.Effect, d.Safety, d.Approval = name, tool.Dependency, tool.Effect, tool.Safety, tool.Approval
	d.Key, d.Waits = op.Key, op.Hold.Waits()
}

// refuse takes over a stop, with what is known of the operation.
func (d *Decision) refuse(v Verdict, op *Operation) {
	d.Verdict = v
	if d.Code == "" && op.Permits > 0 {
		if last := op.Newest(); last != nil {
			d.Code, d.Class, d.Outcome = last.Failure.Code, last.Class, op.outcome()
		}
	}
	if v == StopTerminal && op.Terminal != nil {
		t := *op.Terminal
		if !op.Hold.Waits() {
			t.NextAction = RouteReturn // nobody has it any more, or nobody yet
		}
		d.Terminal, d.Route = &t, t.NextAction
	}
}

// end makes a stop terminal: its route, its typed outcome and, where people
// take it up, its item (R-T1, R-T4, R-D10).
func (d *Decision) end(op *Operation, policy *Policy) {
	d.StoresStop = true
	d.Route = policy.route(d.Verdict, d.Class, op.Unknowns > 0)
	switch {
	case op.Permits == 0:
		d.Route = RouteReturn // never dispatched: no item is claimed to exist
	case d.Path == PathManual && d.Route == RouteReturn && !policy.QueueOff:
		d.Route = RouteEscalate // what a person let go comes back to a person (R-P3)
	}
	d.Terminal = terminalOf(d, op, d.Route)
	kind := op.kind(d.Verdict)
	switch {
	case d.Route != RouteReturn:
		d.Hold = op.Hold.opened(d, stateFor(d.Route), kind)
	case op.Hold.Waits() && op.Hold.Kind != kind:
		d.Hold = op.Hold.opened(d, op.Hold.State, kind)
	}
}

// stateFor is the state in which a route opens an item (R-T5).
func stateFor(r Route) HoldState {
	if r == RouteDeadLetter {
		return HoldDeadLetter
	}
	return HoldOpen
}

// route is the policy's, by why it stopped. An unknown outcome wins over every
// other; where no person waits the typed failure is returned (R-T4).
func (p *Policy) route(v Verdict, class Class, outcomeUnknown bool) Route {
	switch {
	case p.QueueOff:
		return RouteReturn
	case outcomeUnknown:
		return p.Routes.OutcomeUnknown
	}
	switch v {
	case StopPermanentOrUnknown:
		if class == ClassPermanent {
			return p.Routes.Permanent
		}
		return p.Routes.Unlisted
	case StopUnsafeToRepeat:
		return p.Routes.Unsafe
	case StopRepeatedRefusal:
		return p.Routes.Repeated
	case StopAttemptBudget:
		return p.Routes.Attempts
	case StopTimeBudget:
		return p.Routes.ElapsedTime
	case StopSideEffectBudget:
		return p.Routes.SideEffects
	case StopTokenBudget:
		return p.Routes.RetryTokens
	case StopCallLimit:
		return p.Routes.CallLimit
	default:
		return RouteReturn
	}
}

// terminalOf is the typed outcome of a stop (R-T1).
func terminalOf(d *Decision, op *Operation, next Route) *Terminal {
	t := &Terminal{
		Type: TypeStopped, Operation: op.ID, Reason: d.Verdict.String(), FailureClass: d.Class,
		AttemptsUsed:           d.Before.Spent.Attempts + d.Charge.Attempts,
		SideEffectAttemptsUsed: d.Before.Spent.SideEffects + d.Charge.SideEffects,
		ElapsedTimeUsed:        d.Inputs.Now.Sub(d.Before.Started).Milliseconds(),
		LastFailure:            op.LastError, IdempotencyReference: op.Key, NextAction: next,
	}
	if limit := d.Verdict.Exhausts(); limit != "" {
		t.Type, t.Reason = TypeExhausted, limit
	}
	return t
}

// kind says why an item of the operation waits, when stop is its newest one
// (R-P2).
func (o *Operation) kind(stop Verdict) Kind {
	switch {
	case o.Unknowns > 0 || o.Hold.Duplicate:
		return KindOutcomeUnknown
	case stop.Exhausts() != "":
		return KindExhausted
	case stop == StopApprovalRequired, stop == 0 && o.Approval != ApprovalNone:
		return KindApproval
	default:
		return KindStopped
	}
}

// opened returns the item as it stands when it is opened, or opened again in
// the state that it had. One that waits already keeps its state and its
// version, and takes the new cause (R-P1, R-P2, R-P5, R-T5).
func (h Hold) opened(d *Decision, state HoldState, kind Kind) *Hold {
	if h.Waits() {
		h.Kind, h.Cause = kind, 0
		return &h
	}
	if h.State == HoldResolved && h.Back != HoldNone {
		state = h.Back
	}
	h.State, h.Cause, h.Since = state, 0, d.Inputs.Now
	h.Approvals, h.Snoozed = nil, time.Time{}
	return h.changed(d, kind)
}

// resolved returns the item as it stands when nothing waits any more.
func (h Hold) resolved(d *Decision) *Hold {
	h.Back, h.State = h.State, HoldResolved
	h.Claim, h.Approvals, h.Snoozed, h.Duplicate = Claim{}, nil, time.Time{}, false
	return h.changed(d, h.Kind)
}

// moved returns the item with its version raised since its outcome has
// changed: what was approved so far was approved of something else (R-P8).
func (h Hold) moved(d *Decision, kind Kind) *Hold {
	h.Approvals = nil
	return h.changed(d, kind)
}

// changed returns the item with its version raised: what was shown has moved
// (R-P5).
func (h Hold) changed(d *Decision, kind Kind) *Hold {
	h.Kind = kind
	h.Version++
	h.Changed = Changed{At: d.Inputs.Now, By: d.Command.Who(), Act: d.Command.Act(), Verdict: d.Verdict}
	return &h
}

// holdForApproval is the item that a tool's approval opens (R-A6). On a write
// the ask that opens it fixes the digest. Another tool, or on a read another
// digest, voids what was approved so far. It returns nil when nothing about
// the item moves.
func (d *Decision) holdForApproval(op *Operation) *Hold {
	kind := op.kind(StopApprovalRequired)
	switch {
	case op.Hold.Waits() && (d.Tool != op.LastTool || d.Digest != op.Digest):
		h := op.Hold.opened(d, op.Hold.State, kind)
		h.Approvals = nil
		return h.changed(d, kind)
	case !op.Hold.Waits(), op.Hold.Kind != kind:
		return op.Hold.opened(d, HoldOpen, kind)
	default:
		return nil
	}
}

// seal makes the decision a transition. What it read comes with it.
func (d Decision) seal(reads []Read) Transition {
	return Transition{decision: d, reads: reads, sealed: true}
}

// repeat answers an id that was answered before: the same decision, and no
// other charge; or ErrReused when the body differs (R-A8, R-P6).
func (s *State) repeat(op *Operation, id string, body Digest) (t Transition, known bool, err error) {
	memo, known := op.Memo(id)
	if !known {
		return Transition{}, false, nil
	}
	if memo.Body != body {
		if of, isVerb := strings.CutPrefix(id, verbMemo("")); isVerb {
			return Transition{}, true, about(ErrReused, "request_id", of)
		}
		return Transition{}, true, about(ErrReused, "ask_id", id)
	}
	return s.again(memo.Seq)
}

// again is a transition that says what the ledger holds.
func (s *State) again(seq uint64) (Transition, bool, error) {
	said := s.said(seq)
	if said == nil {
		return Transition{}, true, fmt.Errorf("decision %d: %w", seq, ErrDamaged)
	}
	return Transition{decision: *said, repeats: true, sealed: true}, true, nil
}

// about says which one an error is about.
func about(err error, what, id string) error { return fmt.Errorf("%s %q: %w", what, id, err) }

// body is the digest by which the same ask is known again.
func (c Ask) body() Digest {
	return hashParts("ask", string(c.Run), string(c.Op), c.Agent, c.Path.String(), c.Tool, string(c.Parent),
		string(c.Input), string(c.InputDigest[:]), fmt.Sprint(c.Tokens), c.Key)
}

// body is the digest by which the same report is known again.
func (c Report) body() Digest {
	f := c.Failure
	return hashParts("report", fmt.Sprint(c.OK, max(1, c.Inner), f.RetryAfter.Milliseconds(), f.Cut),
		string(f.Code), f.Message, f.Status, f.Field, f.Suggest, c.Result)
}

// body is the digest by which the same act of the same person is known again.
func (c Verb) body() Digest {
	limits := ""
	if !c.Limits.IsZero() && c.Limits.Check() == nil {
		limits = fmt.Sprint(c.Limits.Budget(time.Time{}))
	}
	return hashParts("verb", c.Actor.ID, c.Do.String(), fmt.Sprint(c.Version, c.AsNewAction, c.TakeOver),
		c.Reason, c.Evidence, c.Finding.String(), c.Ruling.String(), c.Until.UTC().String(), string(c.NewRun), limits, fmt.Sprint(sortedCaps(c.Caps)))
}
