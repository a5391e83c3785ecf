package runstore

import (
	"time"

	"tollgate/gate"
)

type storedActor struct {
	ID     string `cbor:"1,keyasint,omitempty"`
	Name   string `cbor:"2,keyasint,omitempty"`
	Source string `cbor:"3,keyasint,omitempty"`
}

func storeActor(v gate.Actor) storedActor { return storedActor(v) }

func (s storedActor) load() gate.Actor { return gate.Actor(s) }

type storedBudget struct {
	MaxAttempts    int64          `cbor:"1,keyasint,omitempty"`
	MaxSideEffects int64          `cbor:"2,keyasint,omitempty"`
	MaxRetryTokens int64          `cbor:"3,keyasint,omitempty"`
	TokensLimited  bool           `cbor:"4,keyasint,omitempty"`
	Started        instant        `cbor:"5,keyasint,omitempty"`
	Deadline       instant        `cbor:"6,keyasint,omitempty"`
	Reserve        time.Duration  `cbor:"7,keyasint,omitempty"`
	Spent          storedCounters `cbor:"8,keyasint,omitzero"`
}

func storeBudget(v gate.Budget) storedBudget {
	return storedBudget{
		MaxAttempts: v.MaxAttempts, MaxSideEffects: v.MaxSideEffects, MaxRetryTokens: v.MaxRetryTokens,
		TokensLimited: v.TokensLimited, Started: instantOf(v.Started), Deadline: instantOf(v.Deadline), Reserve: v.Reserve,
		Spent: storeCounters(v.Spent),
	}
}

func (s storedBudget) load() gate.Budget {
	return gate.Budget{
		MaxAttempts: s.MaxAttempts, MaxSideEffects: s.MaxSideEffects, MaxRetryTokens: s.MaxRetryTokens,
		TokensLimited: s.TokensLimited, Started: s.Started.time(), Deadline: s.Deadline.time(), Reserve: s.Reserve,
		Spent: s.Spent.load(),
	}
}

type storedCounters struct {
	Attempts    int64 `cbor:"1,keyasint,omitempty"`
	SideEffects int64 `cbor:"2,keyasint,omitempty"`
	RetryTokens int64 `cbor:"3,keyasint,omitempty"`
}

func storeCounters(v gate.Counters) storedCounters { return storedCounters(v) }

func (s storedCounters) load() gate.Counters { return gate.Counters(s) }

type storedFailure struct {
	Code       gate.Code     `cbor:"1,keyasint,omitempty"`
	Message    string        `cbor:"2,keyasint,omitempty"`
	Cut        bool          `cbor:"3,keyasint,omitempty"`
	Status     string        `cbor:"4,keyasint,omitempty"`
	Field      string        `cbor:"5,keyasint,omitempty"`
	Suggest    string        `cbor:"6,keyasint,omitempty"`
	RetryAfter time.Duration `cbor:"7,keyasint,omitempty"`
}

func storeFailure(v gate.Failure) storedFailure { return storedFailure(v) }

func (s storedFailure) load() gate.Failure { return gate.Failure(s) }

type storedHold struct {
	State     gate.HoldState `cbor:"1,keyasint,omitempty"`
	Kind      gate.Kind      `cbor:"2,keyasint,omitempty"`
	Version   int64          `cbor:"3,keyasint,omitempty"`
	Opened    uint64         `cbor:"4,keyasint,omitempty"`
	Cause     uint64         `cbor:"5,keyasint,omitempty"`
	Since     instant        `cbor:"6,keyasint,omitempty"`
	Back      gate.HoldState `cbor:"7,keyasint,omitempty"`
	Duplicate bool           `cbor:"8,keyasint,omitempty"`
	Claim     storedClaim    `cbor:"9,keyasint,omitzero"`
	Snoozed   instant        `cbor:"10,keyasint,omitempty"`
	Approvals []storedGrant  `cbor:"11,keyasint,omitempty"`
	Notes     int64          `cbor:"12,keyasint,omitempty"`
	LastNote  string         `cbor:"13,keyasint,omitempty"`
	Changed   storedChanged  `cbor:"14,keyasint,omitzero"`
	Noted     uint64         `cbor:"15,keyasint,omitempty"`
}

func storeHold(v gate.Hold) storedHold {
	return storedHold{
		State: v.State, Kind: v.Kind, Version: v.Version, Opened: v.Opened, Cause: v.Cause, Since: instantOf(v.Since), Back: v.Back,
		Duplicate: v.Duplicate, Claim: storeClaim(v.Claim), Snoozed: instantOf(v.Snoozed), Approvals: each(v.Approvals, storeGrant),
		Notes: v.Notes, LastNote: v.LastNote, Noted: v.Noted, Changed: storeChanged(v.Changed),
	}
}

func (s storedHold) load() gate.Hold {
	return gate.Hold{
		State: s.State, Kind: s.Kind, Version: s.Version, Opened: s.Opened, Cause: s.Cause, Since: s.Since.time(), Back: s.Back,
		Duplicate: s.Duplicate, Claim: s.Claim.load(), Snoozed: s.Snoozed.time(), Approvals: each(s.Approvals, storedGrant.load),
		Notes: s.Notes, LastNote: s.LastNote, Noted: s.Noted, Changed: s.Changed.load(),
	}
}

type storedClaim struct {
	By    storedActor `cbor:"1,keyasint,omitzero"`
	Until instant     `cbor:"2,keyasint,omitempty"`
}

func storeClaim(v gate.Claim) storedClaim {
	return storedClaim{
		By: storeActor(v.By), Until: instantOf(v.Until),
	}
}

func (s storedClaim) load() gate.Claim {
	return gate.Claim{
		By: s.By.load(), Until: s.Until.time(),
	}
}

type storedGrant struct {
	By          storedActor `cbor:"1,keyasint,omitzero"`
	Seq         uint64      `cbor:"2,keyasint,omitempty"`
	At          instant     `cbor:"3,keyasint,omitempty"`
	AsNewAction bool        `cbor:"4,keyasint,omitempty"`
	Ruling      gate.Ruling `cbor:"5,keyasint,omitempty"`
}

func storeGrant(v gate.Grant) storedGrant {
	return storedGrant{
		By: storeActor(v.By), Seq: v.Seq, At: instantOf(v.At), AsNewAction: v.AsNewAction, Ruling: v.Ruling,
	}
}

func (s storedGrant) load() gate.Grant {
	return gate.Grant{
		By: s.By.load(), Seq: s.Seq, At: s.At.time(), AsNewAction: s.AsNewAction, Ruling: s.Ruling,
	}
}

type storedBreaker struct {
	State   gate.BreakerState `cbor:"1,keyasint,omitempty"`
	Since   instant           `cbor:"2,keyasint,omitempty"`
	Until   instant           `cbor:"3,keyasint,omitempty"`
	Probe   storedRef         `cbor:"4,keyasint,omitzero"`
	Ordinal int64             `cbor:"5,keyasint,omitempty"`
}

func storeBreaker(v gate.Breaker) storedBreaker {
	return storedBreaker{
		State: v.State, Since: instantOf(v.Since), Until: instantOf(v.Until), Probe: storeRef(v.Probe), Ordinal: v.Ordinal,
	}
}

func (s storedBreaker) load() gate.Breaker {
	return gate.Breaker{
		State: s.State, Since: s.Since.time(), Until: s.Until.time(), Probe: s.Probe.load(), Ordinal: s.Ordinal,
	}
}

type storedRef struct {
	Run gate.RunID `cbor:"1,keyasint,omitempty"`
	Op  gate.OpID  `cbor:"2,keyasint,omitempty"`
}

func storeRef(v gate.Ref) storedRef { return storedRef(v) }

func (s storedRef) load() gate.Ref { return gate.Ref(s) }

type storedRun struct {
	ID          gate.RunID   `cbor:"1,keyasint,omitempty"`
	Root        gate.RunID   `cbor:"2,keyasint,omitempty"`
	Parent      gate.RunID   `cbor:"3,keyasint,omitempty"`
	Next        gate.RunID   `cbor:"4,keyasint,omitempty"`
	Rev         uint64       `cbor:"5,keyasint,omitempty"`
	Opened      uint64       `cbor:"6,keyasint,omitempty"`
	Last        uint64       `cbor:"7,keyasint,omitempty"`
	Cause       uint64       `cbor:"8,keyasint,omitempty"`
	Agent       string       `cbor:"9,keyasint,omitempty"`
	Policy      string       `cbor:"10,keyasint,omitempty"`
	Limits      gate.Digest  `cbor:"11,keyasint,omitzero"`
	Budget      storedBudget `cbor:"12,keyasint,omitzero"`
	Caps        []storedCap  `cbor:"13,keyasint,omitempty"`
	Refused     bool         `cbor:"14,keyasint,omitempty"`
	Overdrawn   bool         `cbor:"15,keyasint,omitempty"`
	Ending      bool         `cbor:"16,keyasint,omitempty"`
	Ended       instant      `cbor:"17,keyasint,omitempty"`
	InFlight    int64        `cbor:"18,keyasint,omitempty"`
	Operations  int64        `cbor:"19,keyasint,omitempty"`
	OpenItems   int64        `cbor:"20,keyasint,omitempty"`
	DeadLetters int64        `cbor:"21,keyasint,omitempty"`
	LastCode    gate.Code    `cbor:"22,keyasint,omitempty"`
	LastAt      instant      `cbor:"23,keyasint,omitempty"`
}

func storeRun(v gate.Run) storedRun {
	return storedRun{
		ID: v.ID, Root: v.Root, Parent: v.Parent, Next: v.Next, Rev: v.Rev, Opened: v.Opened, Last: v.Last, Cause: v.Cause,
		Agent: v.Agent, Policy: v.Policy, Limits: v.Limits, Budget: storeBudget(v.Budget), Caps: each(v.Caps, storeCap),
		Refused: v.Refused, Overdrawn: v.Overdrawn, Ending: v.Ending, Ended: instantOf(v.Ended), InFlight: v.InFlight,
		Operations: v.Operations, OpenItems: v.OpenItems, DeadLetters: v.DeadLetters, LastCode: v.LastCode,
		LastAt: instantOf(v.LastAt),
	}
}

func (s storedRun) load() gate.Run {
	return gate.Run{
		ID: s.ID, Root: s.Root, Parent: s.Parent, Next: s.Next, Rev: s.Rev, Opened: s.Opened, Last: s.Last, Cause: s.Cause,
		Agent: s.Agent, Policy: s.Policy, Limits: s.Limits, Budget: s.Budget.load(), Caps: each(s.Caps, storedCap.load),
		Refused: s.Refused, Overdrawn: s.Overdrawn, Ending: s.Ending, Ended: s.Ended.time(), InFlight: s.InFlight,
		Operations: s.Operations, OpenItems: s.OpenItems, DeadLetters: s.DeadLetters, LastCode: s.LastCode, LastAt: s.LastAt.time(),
	}
}

type storedCap struct {
	Agent    string `cbor:"1,keyasint,omitempty"`
	Attempts int64  `cbor:"2,keyasint,omitempty"`
	Spent    int64  `cbor:"3,keyasint,omitempty"`
}

func storeCap(v gate.Cap) storedCap { return storedCap(v) }

func (s storedCap) load() gate.Cap { return gate.Cap(s) }

type storedOperation struct {
	ID         gate.OpID        `cbor:"1,keyasint,omitempty"`
	Run        gate.RunID       `cbor:"2,keyasint,omitempty"`
	Opened     uint64           `cbor:"3,keyasint,omitempty"`
	Last       uint64           `cbor:"4,keyasint,omitempty"`
	Agent      string           `cbor:"5,keyasint,omitempty"`
	Path       gate.Path        `cbor:"6,keyasint,omitempty"`
	Parent     gate.OpID        `cbor:"7,keyasint,omitempty"`
	Tool       string           `cbor:"8,keyasint,omitempty"`
	Dependency string           `cbor:"9,keyasint,omitempty"`
	Effect     gate.Effect      `cbor:"10,keyasint,omitempty"`
	Safety     gate.RetrySafety `cbor:"11,keyasint,omitempty"`
	Approval   gate.Approval    `cbor:"12,keyasint,omitempty"`
	Digest     gate.Digest      `cbor:"13,keyasint,omitzero"`
	Input      []byte           `cbor:"14,keyasint,omitempty"`
	Key        string           `cbor:"15,keyasint,omitempty"`
	KeyGiven   bool             `cbor:"16,keyasint,omitempty"`
	Asker      storedActor      `cbor:"17,keyasint,omitzero"`
	Tokens     int64            `cbor:"18,keyasint,omitempty"`
	Attempts   []storedAttempt  `cbor:"19,keyasint,omitempty"`
	Permits    int64            `cbor:"20,keyasint,omitempty"`
	Series     int64            `cbor:"21,keyasint,omitempty"`
	Fresh      int64            `cbor:"22,keyasint,omitempty"`
	Repairs    int64            `cbor:"23,keyasint,omitempty"`
	Mixed      bool             `cbor:"24,keyasint,omitempty"`
	Unknowns   int64            `cbor:"25,keyasint,omitempty"`
	Settled    gate.Settlement  `cbor:"26,keyasint,omitempty"`
	Result     string           `cbor:"27,keyasint,omitempty"`
	Stop       gate.Verdict     `cbor:"28,keyasint,omitempty"`
	StopSeq    uint64           `cbor:"29,keyasint,omitempty"`
	Terminal   *storedTerminal  `cbor:"30,keyasint,omitempty"`
	Evidence   gate.Finding     `cbor:"31,keyasint,omitempty"`
	Hold       storedHold       `cbor:"32,keyasint,omitzero"`
	Asks       []storedMemo     `cbor:"33,keyasint,omitempty"`
	Successor  storedRef        `cbor:"34,keyasint,omitzero"`
	Before     storedRef        `cbor:"35,keyasint,omitzero"`
	Actions    int64            `cbor:"36,keyasint,omitempty"`
	NotedLost  bool             `cbor:"37,keyasint,omitempty"`
	LastTool   string           `cbor:"38,keyasint,omitempty"`
	FirstError storedFailure    `cbor:"39,keyasint,omitzero"`
	LastError  storedFailure    `cbor:"40,keyasint,omitzero"`
	PrevRun    gate.RunID       `cbor:"41,keyasint,omitempty"`
	NextRun    gate.RunID       `cbor:"42,keyasint,omitempty"`
	Carried    bool             `cbor:"43,keyasint,omitempty"`
	Askers     []string         `cbor:"44,keyasint,omitempty"`
}

func storeOperation(v gate.Operation) storedOperation {
	return storedOperation{
		ID: v.ID, Run: v.Run, Opened: v.Opened, Last: v.Last, Agent: v.Agent, Path: v.Path, Parent: v.Parent, Tool: v.Tool,
		Dependency: v.Dependency, Effect: v.Effect, Safety: v.Safety, Approval: v.Approval, Digest: v.Digest, Input: v.Input,
		Key: v.Key, KeyGiven: v.KeyGiven, Asker: storeActor(v.Asker), Tokens: v.Tokens, Attempts: each(v.Attempts, storeAttempt),
		Permits: v.Permits, Series: v.Series, Fresh: v.Fresh, Repairs: v.Repairs, Mixed: v.Mixed, Unknowns: v.Unknowns,
		Settled: v.Settled, Result: v.Result, Stop: v.Stop, StopSeq: v.StopSeq, Terminal: maybe(v.Terminal, storeTerminal),
		Evidence: v.Evidence, Hold: storeHold(v.Hold), Asks: each(v.Asks, storeMemo), Successor: storeRef(v.Successor),
		Before: storeRef(v.Before), Actions: v.Actions, NotedLost: v.NotedLost, LastTool: v.LastTool,
		FirstError: storeFailure(v.FirstError), LastError: storeFailure(v.LastError),
		PrevRun: v.PrevRun, NextRun: v.NextRun, Carried: v.Carried, Askers: v.Askers,
	}
}

func (s storedOperation) load() gate.Operation {
	return gate.Operation{
		ID: s.ID, Run: s.Run, Opened: s.Opened, Last: s.Last, Agent: s.Agent, Path: s.Path, Parent: s.Parent, Tool: s.Tool,
		Dependency: s.Dependency, Effect: s.Effect, Safety: s.Safety, Approval: s.Approval, Digest: s.Digest, Input: s.Input,
		Key: s.Key, KeyGiven: s.KeyGiven, Asker: s.Asker.load(), Tokens: s.Tokens, Attempts: each(s.Attempts, storedAttempt.load),
		Permits: s.Permits, Series: s.Series, Fresh: s.Fresh, Repairs: s.Repairs, Mixed: s.Mixed, Unknowns: s.Unknowns,
		Settled: s.Settled, Result: s.Result, Stop: s.Stop, StopSeq: s.StopSeq, Terminal: maybe(s.Terminal, storedTerminal.load),
		Evidence: s.Evidence, Hold: s.Hold.load(), Asks: each(s.Asks, storedMemo.load), Successor: s.Successor.load(),
		Before: s.Before.load(), Actions: s.Actions, NotedLost: s.NotedLost, LastTool: s.LastTool, FirstError: s.FirstError.load(),
		LastError: s.LastError.load(), PrevRun: s.PrevRun, NextRun: s.NextRun, Carried: s.Carried, Askers: s.Askers,
	}
}

type storedMemo struct {
	ID   string      `cbor:"1,keyasint,omitempty"`
	Body gate.Digest `cbor:"2,keyasint,omitzero"`
	Seq  uint64      `cbor:"3,keyasint,omitempty"`
}

func storeMemo(v gate.Memo) storedMemo { return storedMemo(v) }

func (s storedMemo) load() gate.Memo { return gate.Memo(s) }

type storedAttempt struct {
	Ordinal    int64         `cbor:"1,keyasint,omitempty"`
	Seq        uint64        `cbor:"2,keyasint,omitempty"`
	Run        gate.RunID    `cbor:"3,keyasint,omitempty"`
	Tool       string        `cbor:"4,keyasint,omitempty"`
	Dependency string        `cbor:"5,keyasint,omitempty"`
	Agent      string        `cbor:"6,keyasint,omitempty"`
	Path       gate.Path     `cbor:"7,keyasint,omitempty"`
	Digest     gate.Digest   `cbor:"8,keyasint,omitzero"`
	Permitted  instant       `cbor:"9,keyasint,omitempty"`
	NotBefore  instant       `cbor:"10,keyasint,omitempty"`
	NotAfter   instant       `cbor:"11,keyasint,omitempty"`
	Expires    instant       `cbor:"12,keyasint,omitempty"`
	Probe      bool          `cbor:"13,keyasint,omitempty"`
	Reported   uint64        `cbor:"14,keyasint,omitempty"`
	ReportedAt instant       `cbor:"15,keyasint,omitempty"`
	Swept      bool          `cbor:"16,keyasint,omitempty"`
	Body       gate.Digest   `cbor:"17,keyasint,omitzero"`
	Inner      int64         `cbor:"18,keyasint,omitempty"`
	Outcome    gate.Outcome  `cbor:"19,keyasint,omitempty"`
	Class      gate.Class    `cbor:"20,keyasint,omitempty"`
	Refused    bool          `cbor:"21,keyasint,omitempty"`
	Finding    gate.Finding  `cbor:"22,keyasint,omitempty"`
	Failure    storedFailure `cbor:"23,keyasint,omitzero"`
	Result     string        `cbor:"24,keyasint,omitempty"`
	Found      uint64        `cbor:"25,keyasint,omitempty"`
}

func storeAttempt(v gate.Attempt) storedAttempt {
	return storedAttempt{
		Ordinal: v.Ordinal, Seq: v.Seq, Run: v.Run, Tool: v.Tool, Dependency: v.Dependency, Agent: v.Agent, Path: v.Path,
		Digest: v.Digest, Permitted: instantOf(v.Permitted), NotBefore: instantOf(v.NotBefore), NotAfter: instantOf(v.NotAfter),
		Expires: instantOf(v.Expires), Probe: v.Probe, Reported: v.Reported, ReportedAt: instantOf(v.ReportedAt), Swept: v.Swept,
		Body: v.Body, Inner: v.Inner, Outcome: v.Outcome, Class: v.Class, Refused: v.Refused, Finding: v.Finding,
		Failure: storeFailure(v.Failure), Result: v.Result, Found: v.Found,
	}
}

func (s storedAttempt) load() gate.Attempt {
	return gate.Attempt{
		Ordinal: s.Ordinal, Seq: s.Seq, Run: s.Run, Tool: s.Tool, Dependency: s.Dependency, Agent: s.Agent, Path: s.Path,
		Digest: s.Digest, Permitted: s.Permitted.time(), NotBefore: s.NotBefore.time(), NotAfter: s.NotAfter.time(),
		Expires: s.Expires.time(), Probe: s.Probe, Reported: s.Reported, ReportedAt: s.ReportedAt.time(), Swept: s.Swept,
		Body: s.Body, Inner: s.Inner, Outcome: s.Outcome, Class: s.Class, Refused: s.Refused, Finding: s.Finding,
		Failure: s.Failure.load(), Result: s.Result, Found: s.Found,
	}
}

type storedDependency struct {
	Name    string         `cbor:"1,keyasint,omitempty"`
	Rev     uint64         `cbor:"2,keyasint,omitempty"`
	Breaker storedBreaker  `cbor:"3,keyasint,omitzero"`
	Window  time.Duration  `cbor:"4,keyasint,omitempty"`
	Buckets []storedBucket `cbor:"5,keyasint,omitempty"`
}

func storeDependency(v gate.Dependency) storedDependency {
	return storedDependency{
		Name: v.Name, Rev: v.Rev, Breaker: storeBreaker(v.Breaker), Window: v.Window, Buckets: each(v.Buckets, storeBucket),
	}
}

func (s storedDependency) load() gate.Dependency {
	return gate.Dependency{
		Name: s.Name, Rev: s.Rev, Breaker: s.Breaker.load(), Window: s.Window, Buckets: each(s.Buckets, storedBucket.load),
	}
}

type storedBucket struct {
	Start    int64 `cbor:"1,keyasint,omitempty"`
	Permits  int64 `cbor:"2,keyasint,omitempty"`
	Repeats  int64 `cbor:"3,keyasint,omitempty"`
	Requests int64 `cbor:"4,keyasint,omitempty"`
	Failures int64 `cbor:"5,keyasint,omitempty"`
}

func storeBucket(v gate.Bucket) storedBucket { return storedBucket(v) }

func (s storedBucket) load() gate.Bucket { return gate.Bucket(s) }
