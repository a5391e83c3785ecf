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
