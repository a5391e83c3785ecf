package gate

import "time"

// Operation is one logical action and all of its attempts. The zero Operation
// is none.
type Operation struct {
	ID     OpID
	Run    RunID
	Opened uint64 // seq of the first decision that names it
	Last   uint64 // seq of its newest decision

	// The action, from its first ask.
	Agent      string
	Path       Path
	Parent     OpID // the operation that it serves in the retry tree
	Tool       string
	Dependency string
	Effect     Effect
	Safety     RetrySafety
	Approval   Approval
	Digest     Digest   // of the input without volatile fields
	Input      []byte   // canonical JSON; nil when only a digest was given
	Key        string   // idempotency key
	KeyGiven   bool     // the key is the caller's own
	Asker      Actor    // who asked first (R-P8)
	Askers     []string // the ids of others who have asked, at most maxAskers
	Tokens     int64    // what one repeat costs, from the newest ask

	Attempts []Attempt // oldest first: the newest KeptAttempts, and older ones in flight or of unknown outcome; the rest are only counted
	Permits  int64     // attempts permitted in all, here and in the runs before
	Series   int64     // ordinal of the latest admission, from which repeats count (R-A7)
	Fresh    int64     // ordinal from which the call limit counts: Series, or later after a new-run
	Repairs  int64     // conditional failures in this series (R-R2)
	Mixed    bool      // attempts went through different tools (R-A9)
	Unknowns int64     // attempts whose outcome is unknown

	Settled  Settlement // how it was closed; zero while it is not
	Result   string     // reference of the stored result
	Stop     Verdict    // the stored stop (R-D0); zero for none
	StopSeq  uint64     // the decision that stored it
	Terminal *Terminal  // its typed outcome
	Evidence Finding    // the newest finding of a person
	Hold     Hold       // what waits for a person about it

	Asks       []Memo // the newest MaxMemos ask ids and as many request ids, oldest first (R-A8, R-P6)
	Successor  Ref    // the operation that supersedes it: a new action, or itself in the next run
	Before     Ref    // the operation that it supersedes
	PrevRun    RunID  // the run in which it stood before a new-run; empty otherwise
	NextRun    RunID  // the run in which it goes on; empty otherwise
	Carried    bool   // it was closed in an earlier run, and is here so that its end is not forgotten (R-T3)
	Actions    int64  // the n of a new action OP~n; 0 for any other
	NotedLost  bool   // its unknown outcome is known to a person, or on record where no item may be opened (R-T6)
	LastTool   string // of the newest attempt, or of a newer ask that waits for approval
	FirstError Failure
	LastError  Failure // of the highest reported ordinal (R-C8)
}

// Bounds on what an operation remembers.
const (
	KeptAttempts = 64
	MaxMemos     = 32
	maxAskers    = 32
)

// Ref names an operation of any run.
type Ref struct {
	Run RunID `json:"run"`
	Op  OpID  `json:"op"`
}

// IsZero reports whether it names none.
func (r Ref) IsZero() bool { return r == Ref{} }

// Path is the way by which a question came. Every path asks the same one
// (R-A1). The zero value is the model.
type Path uint8

// The paths.
const (
	PathModel Path = iota
	PathSubagent
	PathQueue
	PathResume
	PathFallback
	PathManual
)

var pathNames = [...]string{PathModel: "model", PathSubagent: "subagent", PathQueue: "queue", PathResume: "resume", PathFallback: "fallback", PathManual: "manual"}

// String returns the name.
func (p Path) String() string { return nameOf(pathNames[:], p, "Path") }

// MarshalText writes the name.
func (p Path) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads a name.
func (p *Path) UnmarshalText(b []byte) error { return parseName(pathNames[:], p, "path", string(b)) }

// Settlement says how an operation was closed. The zero value is not closed.
type Settlement uint8

// The settlements.
const (
	NotSettled Settlement = iota
	SettledSucceeded
	SettledRejected
	SettledUnresolved
	SettledSuperseded
)

// Finding is what a person found out about a write. The zero value is none.
type Finding uint8

// The findings.
const (
	FindingNone Finding = iota
	FindingHappened
	FindingDidNotHappen
	FindingCannotTell
)

var findingNames = [...]string{FindingNone: "", FindingHappened: "happened", FindingDidNotHappen: "did-not-happen", FindingCannotTell: "cannot-tell"}

// String returns the name, empty for none.
func (f Finding) String() string { return nameOf(findingNames[:], f, "Finding") }

// MarshalText writes the name.
func (f Finding) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText reads a name.
func (f *Finding) UnmarshalText(b []byte) error {
	return parseName(findingNames[:], f, "finding", string(b))
}

// OpState is what an operation looks like from outside.
type OpState uint8

// The states of an operation.
const (
	OpWaiting  OpState = iota + 1 // has a permit whose not_before is still ahead
	OpInFlight                    // dispatched, not reported
	OpHeld                        // has an open item
	OpSucceeded
	OpFailed // the last attempt failed, or it was stopped and returned, or never let through
	OpRejected
	OpUnresolved
	OpSuperseded
)

var opStateNames = [...]string{
	OpWaiting: "waiting", OpInFlight: "in-flight", OpHeld: "held", OpSucceeded: "succeeded", OpFailed: "failed",
	OpRejected: "rejected", OpUnresolved: "unresolved", OpSuperseded: "superseded",
}

// String returns the name.
func (s OpState) String() string { return nameOf(opStateNames[:], s, "OpState") }

// MarshalText writes the name.
func (s OpState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a name.
func (s *OpState) UnmarshalText(b []byte) error {
	return parseName(opStateNames[:], s, "state", string(b))
}

// State returns the operation's state at now.
func (o *Operation) State(now time.Time) OpState {
	switch last := o.Newest(); {
	case o.Settled == SettledSucceeded && (o.Effect == EffectWrite || last == nil || !last.InFlight()):
		return OpSucceeded
	case o.Settled == SettledRejected:
		return OpRejected
	case o.Settled == SettledUnresolved:
		return OpUnresolved
	case o.Settled == SettledSuperseded:
		return OpSuperseded
	case last != nil && last.InFlight() && now.Before(last.NotBefore):
		return OpWaiting
	case last != nil && last.InFlight():
		return OpInFlight
	case o.Hold.Waits():
		return OpHeld
	default:
		return OpFailed
	}
}

// KnownEffect is what the gate knows of a write's effect. The zero value is
// none: it was never dispatched, or is a read.
type KnownEffect uint8

// What is known of an effect.
const (
	KnownNone KnownEffect = iota
	KnownHappened
	KnownNotHappened
	KnownUnknown // nobody knows whether it happened: outcome unknown
)

var knownEffectNames = [...]string{KnownNone: "none", KnownHappened: "happened", KnownNotHappened: "did-not-happen", KnownUnknown: "unknown"}

// String returns the name.
func (k KnownEffect) String() string { return nameOf(knownEffectNames[:], k, "KnownEffect") }

// MarshalText writes the name.
func (k KnownEffect) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a name.
func (k *KnownEffect) UnmarshalText(b []byte) error {
	return parseName(knownEffectNames[:], k, "known effect", string(b))
}

// KnownEffect says what the gate knows of the operation's effect.
func (o *Operation) KnownEffect() KnownEffect {
	switch {
	case o.Effect != EffectWrite || o.Permits == 0:
		return KnownNone
	case o.Settled == SettledSucceeded:
		return KnownHappened
	case o.Unknowns > 0:
		return KnownUnknown
	case o.Newest() != nil && o.Newest().InFlight():
		return KnownUnknown
	default:
		return KnownNotHappened
	}
}
