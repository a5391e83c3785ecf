package gate

import (
	"context"
	"time"
)

// Reader is what screens and the API read. Every call is a window: its cost
// grows with what it returns, never with the store. A read that follows a
// Commit sees it. Instants are UTC; rows that say how much time is left say so
// as of the query's Now.
//
// Safe for concurrent use.
type Reader interface {
	// Runs returns a window of runs.
	Runs(ctx context.Context, q RunsQuery) (RunsPage, error)

	// Run returns one run with its operations, or ErrNoRun.
	Run(ctx context.Context, id RunID, now time.Time) (RunView, error)

	// Operation returns one operation, or ErrNoRun for a run that does not
	// exist, or ErrNoOperation.
	Operation(ctx context.Context, ref Ref, now time.Time) (OpRow, error)

	// Items returns a window of the queue, in its order (R-P2).
	Items(ctx context.Context, q ItemsQuery) (ItemsPage, error)

	// Find returns the operation that an item is about, or ErrNoItem.
	Find(ctx context.Context, id ItemID) (Ref, error)

	// Ledger returns a window of decisions.
	Ledger(ctx context.Context, q LedgerQuery) (LedgerPage, error)

	// Dependencies returns what is known of every dependency, by name.
	Dependencies(ctx context.Context, now time.Time) ([]DependencyRow, error)

	// Counts returns the counters of the header.
	Counts(ctx context.Context) (Counts, error)

	// Watch returns a channel that holds the newest seq whenever it has
	// grown since the last receive. It is closed when ctx ends, or the
	// engine is closed. A slow reader misses numbers and never decisions: it reads on from its cursor.
	Watch(ctx context.Context) <-chan uint64
}

// Spent is a counter beside its limit.
type Spent struct {
	Spent int64 `json:"spent"`
	Limit int64 `json:"limit"`
}

// BudgetRow is a budget as it is shown.
type BudgetRow struct {
	Attempts    Spent   `json:"attempts"`
	SideEffects Spent   `json:"side_effects"`
	RetryTokens *Spent  `json:"retry_tokens,omitempty"` // nil when repeats are not limited by tokens
	Started     Instant `json:"started,omitzero"`
	Deadline    Instant `json:"deadline,omitzero"`
	ReserveMS   int64   `json:"reserve_ms"`
	LeftMS      int64   `json:"left_ms"` // until the deadline less the reserve
	Overdrawn   bool    `json:"overdrawn,omitempty"`
}

// RunRow is a run as a list shows it.
type RunRow struct {
	Run         RunID     `json:"run"`
	Agent       string    `json:"agent,omitempty"`
	Policy      string    `json:"policy,omitempty"`
	State       RunState  `json:"state"`
	Ending      bool      `json:"ending,omitempty"`
	Budget      BudgetRow `json:"budget"`
	Caps        []CapRow  `json:"caps,omitempty"`
	Operations  int64     `json:"operations"`
	InFlight    int64     `json:"in_flight"`
	OpenItems   int64     `json:"open_items"`
	DeadLetters int64     `json:"dead_letters,omitempty"`
	LastCode    Code      `json:"last_code,omitempty"`
	LastAt      Instant   `json:"last_at,omitzero"`
	Ended       Instant   `json:"ended,omitzero"`
	Parent      RunID     `json:"parent,omitempty"`
	Next        RunID     `json:"next,omitempty"`
	Cause       uint64    `json:"cause,omitempty"`
	Opened      uint64    `json:"opened"` // seq; orders and anchors windows
}

// CapRow is a cap as it is shown.
type CapRow struct {
	Agent    string `json:"agent"`
	Attempts Spent  `json:"attempts"`
}

// RunView is one run with its operations in the order of their opening.
type RunView struct {
	RunRow
	Ops []OpRow `json:"ops"`
}

// OpRow is an operation as it is shown, with every attempt that is kept.
type OpRow struct {
	Run         RunID        `json:"run"`
	Op          OpID         `json:"op"`
	State       OpState      `json:"state"`
	Agent       string       `json:"agent,omitempty"`
	Path        Path         `json:"path"`
	Parent      OpID         `json:"parent,omitempty"`
	Tool        string       `json:"tool"`
	Dependency  string       `json:"dependency"`
	Effect      Effect       `json:"effect"`
	RetrySafety RetrySafety  `json:"retry_safety"`
	KnownEffect KnownEffect  `json:"effect_known"`
	Key         string       `json:"key"` // idempotency key
	Digest      string       `json:"input_digest,omitempty"`
	Permits     int64        `json:"attempts_permitted"`
	Attempts    []AttemptRow `json:"attempts"` // oldest first; older known ones are only in the ledger
	Stop        Verdict      `json:"stop,omitempty"`
	Terminal    *Terminal    `json:"terminal,omitempty"`
	Item        ItemID       `json:"item,omitempty"`
	ItemState   HoldState    `json:"item_state,omitempty"`
	Kind        Kind         `json:"kind,omitempty"`
	Version     int64        `json:"version,omitempty"`
	Result      string       `json:"result_ref,omitempty"`
	Permit      *PermitRow   `json:"permit,omitempty"` // of the attempt in flight
	Successor   *Ref         `json:"successor,omitempty"`
	Last        uint64       `json:"last"` // seq of its newest decision
}

// AttemptRow is one attempt as it is shown.
type AttemptRow struct {
	Ordinal    int64    `json:"ordinal"`
	Seq        uint64   `json:"seq"`
	PaidBy     RunID    `json:"paid_by,omitempty"` // the earlier run of the line whose budget paid; empty: the operation's own
	Tool       string   `json:"tool"`
	Agent      string   `json:"agent,omitempty"`
	Path       Path     `json:"path"`
	Permitted  Instant  `json:"permitted"`
	NotBefore  Instant  `json:"not_before"`
	NotAfter   Instant  `json:"not_after"`
	ReportedAt Instant  `json:"reported,omitzero"`
	Inner      int64    `json:"inner_attempts,omitempty"`
	Outcome    Outcome  `json:"outcome,omitempty"`
	Class      *Class   `json:"class,omitempty"` // nil on success and in flight
	Refused    bool     `json:"refused,omitempty"`
	Finding    Finding  `json:"finding,omitempty"`
	Failure    *Failure `json:"failure,omitempty"`
	Result     string   `json:"result_ref,omitempty"`
}

// PermitRow is a permit as it is shown.
type PermitRow struct {
	Op        OpID    `json:"op,omitempty"` // of a new action
	Ordinal   int64   `json:"ordinal"`
	Key       string  `json:"key"` // idempotency key
	NotBefore Instant `json:"not_before"`
	NotAfter  Instant `json:"not_after"`
	Inner     int64   `json:"inner_attempts"`
}

// DecisionRow is a decision as it is shown and sent.
type DecisionRow struct {
	Seq        uint64      `json:"seq"`
	At         Instant     `json:"at"`
	Act        Act         `json:"act"`
	Verdict    Verdict     `json:"verdict"`
	Run        RunID       `json:"run,omitempty"`
	Op         OpID        `json:"op,omitempty"`
	Ordinal    int64       `json:"ordinal,omitempty"`
	Path       Path        `json:"path"`
	Agent      string      `json:"agent,omitempty"`
	Actor      Actor       `json:"actor"`
	Trace      string      `json:"trace,omitempty"`
	Tool       string      `json:"tool,omitempty"`
	Dependency string      `json:"dependency,omitempty"`
	Effect     Effect      `json:"effect,omitempty"`
	Before     *BudgetRow  `json:"before,omitempty"`
	After      *BudgetRow  `json:"after,omitempty"`
	Permit     *PermitRow  `json:"permit,omitempty"`
	DelayMS    int64       `json:"delay_ms,omitempty"`
	RetryAt    Instant     `json:"retry_at,omitzero"`
	Key        string      `json:"key,omitempty"`
	KeyIgnored bool        `json:"key_ignored,omitempty"`
	Code       Code        `json:"code,omitempty"`
	Class      *Class      `json:"class,omitempty"`
	Outcome    Outcome     `json:"outcome,omitempty"`
	Route      *Route      `json:"route,omitempty"`
	Item       ItemID      `json:"item,omitempty"`
	Cause      uint64      `json:"cause,omitempty"`
	Terminal   *Terminal   `json:"terminal,omitempty"`
	Result     string      `json:"result_ref,omitempty"`
	Reason     string      `json:"reason,omitempty"`
	Evidence   string      `json:"evidence,omitempty"`
	Finding    Finding     `json:"finding,omitempty"`
	Ruling     Ruling      `json:"ruling,omitempty"`
	NewOp      OpID        `json:"new_op,omitempty"`
	NewRun     RunID       `json:"new_run,omitempty"`
	Changed    *ChangedRow `json:"changed,omitempty"`
	Breaker    *BreakerRow `json:"breaker,omitempty"`
	Jitter     float64     `json:"jitter"`
	Contract   string      `json:"contract"`
	Rules      int         `json:"rules"`
	Hash       string      `json:"ledger,omitempty"`
}

// ChangedRow says what moved an item (R-P5).
type ChangedRow struct {
	Seq     uint64  `json:"seq"`
	At      Instant `json:"at"`
	By      Actor   `json:"by"`
	Act     Act     `json:"act"`
	Verdict Verdict `json:"verdict"`

	// What a person wrote with it, and found. An item has it, an answer of
	// STALE has not: the state does not keep it.
	Reason   string  `json:"reason,omitempty"`
	Evidence string  `json:"evidence,omitempty"`
	Finding  Finding `json:"finding,omitempty"`
}

// BreakerRow is a breaker's state as a decision left it.
type BreakerRow struct {
	State BreakerState `json:"state"`
	Until Instant      `json:"until,omitzero"`
}

// ItemRow is an item as the queue shows it.
type ItemRow struct {
	ID          ItemID      `json:"id"`
	Version     int64       `json:"version"`
	Kind        Kind        `json:"kind"`
	State       HoldState   `json:"state"`
	Run         RunID       `json:"run"`
	Op          OpID        `json:"op"`
	Agent       string      `json:"agent,omitempty"`
	Tool        string      `json:"tool"`
	Dependency  string      `json:"dependency"`
	Effect      Effect      `json:"effect"`
	RetrySafety RetrySafety `json:"retry_safety"`
	Key         string      `json:"key"` // idempotency key
	Code        Code        `json:"code,omitempty"`
	Class       Class       `json:"class"`
	Outcome     Outcome     `json:"outcome,omitempty"`
	Verdict     Verdict     `json:"verdict,omitempty"`
	Attempts    Spent       `json:"budget_attempts"` // of the run
	Permits     int64       `json:"attempts"`        // of the operation
	Opened      Instant     `json:"opened"`
	Deadline    Instant     `json:"deadline"`
	Claim       *ClaimRow   `json:"claim,omitempty"` // nil for nobody's; it may have run out, see ClaimRow.Holds
	Snoozed     Instant     `json:"snoozed,omitzero"`
	Approvals   []GrantRow  `json:"approvals"` // counted so far (R-P8); never nil
	NeedsTwo    bool        `json:"needs_two,omitempty"`
	Duplicate   bool        `json:"duplicate,omitempty"`

	// How a resolved item ended: when, by which act, by whom (name, or id), and
	// after a reconcile with what finding. Zero while it waits.
	Resolved Instant `json:"resolved,omitzero"`
	Ended    Act     `json:"ended,omitempty"`
	EndedBy  string  `json:"ended_by,omitempty"`
	EndedID  string  `json:"ended_id,omitempty"`
	Finding  Finding `json:"finding,omitempty"`
}

// ClaimRow is a lease on deciding an item (R-P7). Its zero value, like nil, is
// one that has run out.
type ClaimRow struct {
	By    string  `json:"by"` // the holder's name, or id
	ID    string  `json:"id"` // the holder's id
	Until Instant `json:"until"`
}

// Holds reports whether there is a lease at an instant. It holds up to Until,
// that instant left out.
func (c *ClaimRow) Holds(now time.Time) bool { return c != nil && now.Before(c.Until.Time) }

// HeldAgainst reports whether somebody else's lease holds at an instant: it
// stands between who and a decision, unless they take over.
func (c *ClaimRow) HeldAgainst(who Actor, now time.Time) bool { return c.Holds(now) && c.ID != who.ID }

// GrantRow is an approval that has been counted: whose, by which decision, and
// when.
type GrantRow struct {
	By  Actor   `json:"by"`
	Seq uint64  `json:"seq"`
	At  Instant `json:"at"`
}

// DependencyRow is what is known of one dependency.
type DependencyRow struct {
	Name     string       `json:"name"`
	Breaker  BreakerState `json:"breaker"` // as of now: an open one whose cool-down has ended is half-open
	Since    Instant      `json:"since,omitzero"`
	Until    Instant      `json:"until,omitzero"`
	Probe    *Ref         `json:"probe,omitempty"`
	Requests int64        `json:"requests"`
	Failures int64        `json:"failures"`
	Permits  int64        `json:"permits"`
	Repeats  int64        `json:"repeats"`
	WindowMS int64        `json:"window_ms"`
	Items    int64        `json:"open_items"` // that wait on it
}

// Counts are the counters of the header.
type Counts struct {
	Seq            uint64  `json:"seq"`
	Runs           int64   `json:"runs"`
	ActiveRuns     int64   `json:"active_runs"`
	OutcomeUnknown int64   `json:"outcome_unknown"`
	Approval       int64   `json:"approval"`
	Exhausted      int64   `json:"exhausted"`
	Stopped        int64   `json:"stopped"`
	DeadLetters    int64   `json:"dead_letters"`
	Oldest         Instant `json:"oldest,omitzero"` // when the oldest open item was opened
	BreakersOpen   int64   `json:"breakers_open"`   // not closed
}

// Open returns how many items are open, dead-letters left aside.
func (c Counts) Open() int64 { return c.OutcomeUnknown + c.Approval + c.Exhausted + c.Stopped }

// Add counts an item in, or with sign -1 out. The oldest is only ever set.
func (c *Counts) Add(row ItemRow, sign int64) {
	switch row.State {
	case HoldDeadLetter:
		c.DeadLetters += sign
		return
	case HoldOpen:
	default:
		return
	}
	switch row.Kind {
	case KindOutcomeUnknown:
		c.OutcomeUnknown += sign
	case KindApproval:
		c.Approval += sign
	case KindExhausted:
		c.Exhausted += sign
	case KindStopped:
		c.Stopped += sign
	}
	if sign > 0 && (c.Oldest.IsZero() || row.Opened.Before(c.Oldest.Time)) {
		c.Oldest = row.Opened
	}
}

// Window says which rows of an ordered list are wanted: Before rows before the
// anchor and After from it on, the anchor included; After 0 is as many as may
// be. An anchor that is not in the list, the empty one among them, is its top.
// At most MaxWindow rows come back; see Bounds.
type Window struct {
	Anchor string
	Before int
	After  int
}

// MaxWindow bounds the rows of one window.
const MaxWindow = 1000

// Bounds returns how many rows a window asks for before the anchor and from it
// on: together at most MaxWindow, with room for the anchor. After gives way to
// Before.
func (w Window) Bounds() (before, after int) {
	before = min(max(0, w.Before), MaxWindow-1)
	after = MaxWindow - before
	if w.After > 0 {
		after = min(w.After, after)
	}
	return before, after
}

// RunsQuery asks for runs: those with open items first, then the newest first.
// Anchors are run ids. A filter looks at runs until the window is full, and at
// their operations where it asks for what is in them.
type RunsQuery struct {
	Window
	Now    time.Time
	State  RunState // zero: any
	Filter Filter   // of FilterRuns
}

// RunsPage is a window of runs.
type RunsPage struct {
	Rows  []RunRow `json:"rows"`
	Above int      `json:"above"` // rows of the list before the first of these, where cheap to know; -1 otherwise
	Total int64    `json:"total"` // of all runs, filter left aside
	More  bool     `json:"more"`  // there are rows after the last
}

// ItemsQuery asks for items in queue order (R-P2). Anchors are item ids. Open
// items that somebody has put off are a list of their own, with Snoozed: the
// first to come back is its first. With a filter every item of the list is
// looked at, to count those that match.
type ItemsQuery struct {
	Window
	Now     time.Time
	State   HoldState // HoldOpen, HoldDeadLetter or HoldResolved; zero: open
	Snoozed bool      // those open items that are put off, in place of the others
	Kind    Kind      // zero: any
	Run     RunID     // empty: any
	Filter  Filter    // of FilterQueue
}

// ItemsPage is a window of items.
type ItemsPage struct {
	Rows  []ItemRow `json:"rows"`
	Above int       `json:"above"`
	Total int64     `json:"total"` // that match
	More  bool      `json:"more"`
}

// LedgerQuery asks for decisions from a seq on, upwards, or downwards with
// Back (From 0 is then the newest). Run keeps to one run.
type LedgerQuery struct {
	From   uint64
	Back   bool
	Limit  int // 1 to MaxWindow; 0 is MaxWindow
	Run    RunID
	Op     OpID // with Run: of one operation
	Filter Filter
	Now    time.Time // from which the filter's spans count
}

// MaxScan is how many decisions one window of the ledger looks at for a filter.
const MaxScan = 10 * MaxWindow

// LedgerPage is a window of decisions. Next is where the following window
// begins: 0 when, downwards, there is none, and upwards the seq that is to come
// when there is none yet. With a filter a page can have fewer rows than asked
// for, or none, and others follow all the same: MaxScan has been reached.
type LedgerPage struct {
	Rows []DecisionRow `json:"rows"`
	Next uint64        `json:"next"`
}
