package gate

import "time"

// Actor is who acts. ID comes from the operating system or the transport,
// never from a free-text field; Source says from which (R-P10).
type Actor struct {
	ID     string `json:"id"`               // such as "uid:1001"; the identity that rules compare
	Name   string `json:"name,omitempty"`   // for people
	Source string `json:"source,omitempty"` // such as "peer-uid", "fixture", "gate"
}

// Itself is the gate as an actor: its sweeps, its adoption of a contract.
var Itself = Actor{ID: "gate", Name: "gate", Source: "gate"}

// Act names what a command asks for. The zero value is no act.
type Act uint8

// The acts. The last nine are the verbs of a person, each on one item (R-P3).
const (
	ActAdopt  Act = iota + 1 // a contract comes into force
	ActStart                 // a run starts, or is found
	ActAsk                   // may this operation be dispatched now?
	ActReport                // what became of an attempt
	ActSweep                 // the gate's own look at what nobody reported or would be lost
	ActEnd                   // a run is closed by its owner
	ActReconcile
	ActApprove
	ActReject
	ActNewRun
	ActClaim
	ActRelease
	ActSnooze
	ActNote
)

var actNames = [...]string{
	ActAdopt: "adopt", ActStart: "start", ActAsk: "ask", ActReport: "report", ActSweep: "sweep", ActEnd: "end",
	ActReconcile: "reconcile", ActApprove: "approve", ActReject: "reject", ActNewRun: "new-run",
	ActClaim: "claim", ActRelease: "release", ActSnooze: "snooze", ActNote: "note",
}

// String returns the name.
func (a Act) String() string { return nameOf(actNames[:], a, "Act") }

// MarshalText writes the name.
func (a Act) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads a name.
func (a *Act) UnmarshalText(b []byte) error { return parseName(actNames[:], a, "act", string(b)) }

// IsVerb reports whether the act is a person's, on an item.
func (a Act) IsVerb() bool { return a >= ActReconcile }

// Decides reports whether the verb settles something, rather than marking it.
func (a Act) Decides() bool { return a >= ActReconcile && a <= ActNewRun }

// Command is what callers send: one of Adopt, Start, Ask, Report, Sweep, End
// and Verb. Agents and people send the same kind of thing, and the ledger
// keeps it whole, so that it can be decided again.
type Command interface {
	// Act says what is asked for.
	Act() Act
	// Who says who asks.
	Who() Actor
	// Wants names what the command is decided on. It needs the contract, for
	// the dependency behind a tool and the volatile fields of its input.
	Wants(c *Contract) (Want, error)
	// Check says what is wrong with the command by itself, as an InputError.
	Check() error
}

// Adopt puts a contract into force: a ledger record (R-L1).
type Adopt struct {
	Actor    Actor
	Document []byte // Contract.Document
}

// Start starts a run, or finds the one that exists (R-B1, R-B2).
type Start struct {
	Actor  Actor
	Run    RunID
	Agent  string
	Policy string // may hold the limits; empty is the starter policy, which holds none
	Limits Limits // over the policy's; may be empty when the policy holds them
	Caps   []Cap  // Spent is not looked at
}

// Ask asks whether an operation may be dispatched now (R-A1).
type Ask struct {
	Actor       Actor
	Run         RunID
	ID          string // the ask's own id: the same id gets the same answer (R-A8)
	Op          OpID   // the logical action; empty: derived from run, tool and input (R-A2)
	Agent       string // who asks, as a path in the tree; empty: the run's agent
	Path        Path
	Tool        string
	Parent      OpID   // what it serves in the retry tree: an operation of the run that has asked before; empty: nothing
	Input       []byte // JSON; nil when only InputDigest is given
	InputDigest Digest
	Tokens      int64  // what one repeat costs
	Key         string // the caller's own idempotency key; counts at the first ask only (R-A3)
	Trace       string // W3C trace id
}

// Report says what became of an attempt (R-C7).
type Report struct {
	Actor   Actor
	Run     RunID
	Op      OpID
	Ordinal int64
	OK      bool
	Failure Failure // not on OK
	Inner   int64   // attempts really made, the charged one included; 0 means 1 (R-B8)
	Result  string  // reference of the stored result, on OK
}

// Sweep is the gate's own look at one operation (R-C5, R-T6).
type Sweep struct {
	Run RunID
	Op  OpID
}

// End closes a run. What is in flight is waited for (R-T6).
type End struct {
	Actor  Actor
	Run    RunID
	Reason string
}

// Ruling is what a person rules about a cause. The zero value is none.
type Ruling uint8

// The rulings.
const (
	RulingNone         Ruling = iota
	RulingCauseCleared        // this one failure counts as transient, for this approve (R-P4)
)

var rulingNames = [...]string{RulingNone: "", RulingCauseCleared: "cause-cleared"}

// String returns the name, empty for none.
func (r Ruling) String() string { return nameOf(rulingNames[:], r, "Ruling") }

// MarshalText writes the name.
func (r Ruling) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads a name.
func (r *Ruling) UnmarshalText(b []byte) error {
	return parseName(rulingNames[:], r, "ruling", string(b))
}

// Verb is one act of a person on one item, as it was shown (R-P3, R-P5).
type Verb struct {
	Actor       Actor
	Do          Act
	ID          string // request id: the same id gets the same answer (R-P6)
	Run         RunID
	Op          OpID
	Version     int64 // of the item, as it was shown
	Reason      string
	Evidence    string    // reconcile
	Finding     Finding   // reconcile
	Ruling      Ruling    // approve
	AsNewAction bool      // approve: a new operation, with the risk of a duplicate accepted
	TakeOver    bool      // although another holds the claim (R-P7)
	Until       time.Time // snooze; one that has passed brings back what is put off
	NewRun      RunID     // new-run
	Limits      Limits    // new-run: explicit
	Caps        []Cap     // new-run
}

// MaxReason bounds reason, evidence and note, in bytes.
const MaxReason = 4 << 10

// Act implements Command, as do the six below.
func (Adopt) Act() Act  { return ActAdopt }
func (Start) Act() Act  { return ActStart }
func (Ask) Act() Act    { return ActAsk }
func (Report) Act() Act { return ActReport }
func (Sweep) Act() Act  { return ActSweep }
func (End) Act() Act    { return ActEnd }
func (c Verb) Act() Act { return c.Do }

// Who implements Command, as do the six below.
func (c Adopt) Who() Actor  { return c.Actor }
func (c Start) Who() Actor  { return c.Actor }
func (c Ask) Who() Actor    { return c.Actor }
func (c Report) Who() Actor { return c.Actor }
func (Sweep) Who() Actor    { return Itself }
func (c End) Who() Actor    { return c.Actor }
func (c Verb) Who() Actor   { return c.Actor }
