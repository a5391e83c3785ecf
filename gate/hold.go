package gate

import "time"

// Hold is what waits for a person about an operation: its item, in the part
// that a verb must be compared with. An operation has one at most; it may be
// opened again, never doubled (R-P1). The zero Hold is no item.
type Hold struct {
	State   HoldState
	Kind    Kind
	Version int64  // raised by findings, resolutions, counted approvals and changes of outcome (R-P5)
	Opened  uint64 // seq of the decision that first opened it
	Cause   uint64 // seq of the decision that it answers: the newest stop
	Since   time.Time
	Back    HoldState // the state it returns to when it is opened again

	Duplicate bool // the write succeeded although it may have been done twice (R-C6)

	Claim     Claim
	Snoozed   time.Time // hidden from the queue until then; zero for not
	Approvals []Grant   // counted so far toward the next dispatch (R-P8)
	Notes     int64
	LastNote  string
	Noted     uint64 // seq of the newest note

	// The newest change of the version: what, by whom, when (R-P5, R-P6).
	Changed Changed
}

// Changed says what moved an item.
type Changed struct {
	Seq     uint64
	At      time.Time
	By      Actor
	Act     Act
	Verdict Verdict
}

// Waits reports whether the item is open or in dead-letter.
func (h *Hold) Waits() bool { return h.State == HoldOpen || h.State == HoldDeadLetter }

// Claim is a lease on deciding (R-P7). It holds until Until.
type Claim struct {
	By    Actor
	Until time.Time
}

// Grant is one approval that has been counted (R-P8): of what AsNewAction and
// Ruling say, and of nothing else.
type Grant struct {
	By          Actor
	Seq         uint64 // the decision that counted it
	At          time.Time
	AsNewAction bool
	Ruling      Ruling
}

// like reports whether the approval is of the same thing as a verb's.
func (g Grant) like(c Verb) bool { return g.AsNewAction == c.AsNewAction && g.Ruling == c.Ruling }

// Kind says why an item waits (R-P2). The zero value is no item.
type Kind uint8

// The kinds, in the order of the queue.
const (
	KindOutcomeUnknown Kind = iota + 1 // nobody knows whether the write happened
	KindApproval                       // the tool asks for a person's yes
	KindExhausted                      // a RetryBudgetExhausted
	KindStopped                        // any other stop
)

var kindNames = [...]string{KindOutcomeUnknown: "outcome-unknown", KindApproval: "approval", KindExhausted: "exhausted", KindStopped: "stopped"}

// String returns the name.
func (k Kind) String() string { return nameOf(kindNames[:], k, "Kind") }

// MarshalText writes the name.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a name.
func (k *Kind) UnmarshalText(b []byte) error { return parseName(kindNames[:], k, "kind", string(b)) }

// HoldState is the state of an item. The zero value is no item.
type HoldState uint8

// The states of an item.
const (
	HoldNone       HoldState = iota
	HoldOpen                 // waits
	HoldDeadLetter           // waits, set aside (R-T5)
	HoldResolved             // nothing waits
)

var holdStateNames = [...]string{HoldNone: "", HoldOpen: "open", HoldDeadLetter: "dead-letter", HoldResolved: "resolved"}

// String returns the name, empty for none.
func (s HoldState) String() string { return nameOf(holdStateNames[:], s, "HoldState") }

// MarshalText writes the name.
func (s HoldState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a name.
func (s *HoldState) UnmarshalText(b []byte) error {
	return parseName(holdStateNames[:], s, "state", string(b))
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

// stateFor is the state in which a route opens an item (R-T5).
func stateFor(r Route) HoldState {
	if r == RouteDeadLetter {
		return HoldDeadLetter
	}
	return HoldOpen
}
