package gate

import "time"

// RulesVersion is the version of these rules, stored with each decision
// (R-L1). It is raised when the same inputs would be answered otherwise.
const RulesVersion = 2

// Decision is the recorded answer to one command: a record of the ledger. It
// holds what was asked, every input that was used, and all that follows, so
// that it can be decided again, and folded without deciding.
//
// The zero Decision permits nothing. A seq of 0 inside a decision's own parts
// (Hold.Opened, Hold.Cause, Changed.Seq, a Grant) means this decision.
//
// Source: R-L1, and the list at the end of [A9].
type Decision struct {
	Seq  uint64 // given by Commit: from 1, without gaps
	Prev uint64 // the decision of the same run before this one; 0 for none
	Hash Digest // of its record, where the engine keeps bytes; given by Commit, and no part of the record

	// What was asked, and every input that was used.
	Command  Command
	Inputs   Inputs  // the contract is stored by its digest
	Reading  Reading // of the dependency
	Contract Digest  // of the contract's document
	Rules    int     // RulesVersion of the gate that decided

	// About what.
	Run        RunID
	Op         OpID
	Ordinal    int64 // of the attempt that is permitted or reported; 0 for none
	Agent      string
	Path       Path
	Tool       string
	Dependency string
	Effect     Effect
	Safety     RetrySafety
	Approval   Approval
	Digest     Digest // of the request, without volatile fields
	Key        string // idempotency key of the operation
	Waits      bool   // an item about the operation waits as it is asked
	KeyIgnored bool   // the caller's own key differs and does not count (R-A3)

	// The answer.
	Verdict  Verdict
	Before   Budget   // as it stood
	Charge   Counters // what this decision adds to it
	Permit   Permit   // zero unless the verdict permits
	Delay    time.Duration
	RetryAt  time.Time // when a passing stop can first succeed, where that is known (R-D10)
	Code     Code      // of the failure that it is about
	Class    Class
	Refused  bool // the code is documented as refused before execution (R-C4)
	Outcome  Outcome
	Result   string // reference of the stored result
	Route    Route
	Terminal *Terminal // the typed outcome of a terminal stop, or the stored one
	Cause    uint64    // the decision that a person's act answers
	Changed  *Changed  // on STALE: what moved the item

	// What else it changes. Fold applies these and decides nothing.
	Opens      bool             // the operation is new
	Admission  bool             // the permit is an admission: a new series begins (R-A7)
	StoresStop bool             // Verdict becomes the operation's stored stop
	Settles    Settlement       // how the operation is closed
	Hold       *Hold            // the item as it stands after
	NotesLost  bool             // an unknown outcome that no item may tell of is on record (R-T6 with queue off)
	Head       RunID            // where the operation has gone on in a later run: the one that takes stop and item
	NewOp      OpID             // the new action that supersedes this one
	NewRun     *Run             // the new run that goes on from this one, before its operations come
	Depends    DependencyChange // what the dependency's window and breaker take from it
}

// Permit lets one dispatch go (R-D8). The caller waits until NotBefore, checks
// NotAfter, and dispatches with the key.
type Permit struct {
	Op        OpID // differs from the decision's for a new action
	Ordinal   int64
	Key       string
	NotBefore time.Time
	NotAfter  time.Time
	Inner     int64     // attempts its client may make inside, the charged one included (R-B8)
	Expires   time.Time // when the sweep calls it unreported
}

// IsZero reports whether there is no permit.
func (p Permit) IsZero() bool { return p.Ordinal == 0 }

// After returns the budget as it stands after the charge.
func (d *Decision) After() Budget {
	b := d.Before
	b.Spent = b.Spent.Plus(d.Charge)
	return b
}

// Item returns the id of the item that the decision is about, empty for none.
func (d *Decision) Item() ItemID {
	if d.Hold == nil && !d.Waits && !d.Command.Act().IsVerb() {
		return ""
	}
	if d.Head != "" {
		return ItemIDOf(d.Head, d.Op)
	}
	return ItemIDOf(d.Run, d.Op)
}

// Inputs are what a decision takes from outside, stamped by the Door.
type Inputs struct {
	Now      time.Time // UTC, whole milliseconds; never behind the ledger (R-B10)
	Jitter   float64   // in [0, 1)
	Behind   bool      // the wall clock is more than 2 s behind the ledger (R-B10)
	Contract *Contract
	Document Digest // of the contract
	Realm    string // the store's id; salts the keys
}

// Check is one line of a preview: a step, whether it lets the action pass, and
// its numbers.
type Check struct {
	Step string `json:"step"` // "1 class", "2 safe to repeat", …
	OK   bool   `json:"ok"`
	Says string `json:"says"`
}

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

// seal makes the decision a transition. What it read comes with it.
func (d Decision) seal(reads []Read) Transition {
	return Transition{decision: d, reads: reads, sealed: true}
}
