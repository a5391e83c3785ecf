package runstore

import (
	"time"

	"tollgate/gate"
)

type storedDecision struct {
	Verdict gate.Verdict  `cbor:"1,keyasint,omitempty"`
	Run     gate.RunID    `cbor:"2,keyasint,omitempty"`
	Op      gate.OpID     `cbor:"3,keyasint,omitempty"`
	Ordinal int64         `cbor:"4,keyasint,omitempty"`
	Command storedCommand `cbor:"5,keyasint,omitzero"`

	Now      instant       `cbor:"6,keyasint,omitempty"`
	Jitter   float64       `cbor:"7,keyasint,omitempty"`
	Behind   bool          `cbor:"8,keyasint,omitempty"`
	Contract gate.Digest   `cbor:"9,keyasint,omitzero"`
	Rules    int           `cbor:"10,keyasint,omitempty"`
	Reading  storedReading `cbor:"11,keyasint,omitzero"`

	Agent      string           `cbor:"12,keyasint,omitempty"`
	Path       gate.Path        `cbor:"13,keyasint,omitempty"`
	Tool       string           `cbor:"14,keyasint,omitempty"`
	Dependency string           `cbor:"15,keyasint,omitempty"`
	Effect     gate.Effect      `cbor:"16,keyasint,omitempty"`
	Safety     gate.RetrySafety `cbor:"17,keyasint,omitempty"`
	Approval   gate.Approval    `cbor:"18,keyasint,omitempty"`
	Digest     gate.Digest      `cbor:"19,keyasint,omitzero"`
	Key        string           `cbor:"20,keyasint,omitempty"`
	KeyIgnored bool             `cbor:"21,keyasint,omitempty"`

	Before   storedBudget    `cbor:"22,keyasint,omitzero"`
	Charge   storedCounters  `cbor:"23,keyasint,omitzero"`
	Permit   storedPermit    `cbor:"24,keyasint,omitzero"`
	Delay    time.Duration   `cbor:"25,keyasint,omitempty"`
	RetryAt  instant         `cbor:"26,keyasint,omitempty"`
	Code     gate.Code       `cbor:"27,keyasint,omitempty"`
	Class    gate.Class      `cbor:"28,keyasint,omitempty"`
	Refused  bool            `cbor:"29,keyasint,omitempty"`
	Outcome  gate.Outcome    `cbor:"30,keyasint,omitempty"`
	Result   string          `cbor:"31,keyasint,omitempty"`
	Route    gate.Route      `cbor:"32,keyasint,omitempty"`
	Terminal *storedTerminal `cbor:"33,keyasint,omitempty"`
	Cause    uint64          `cbor:"34,keyasint,omitempty"`
	Changed  *storedChanged  `cbor:"35,keyasint,omitempty"`

	Opens      bool            `cbor:"36,keyasint,omitempty"`
	Admission  bool            `cbor:"37,keyasint,omitempty"`
	StoresStop bool            `cbor:"38,keyasint,omitempty"`
	Settles    gate.Settlement `cbor:"39,keyasint,omitempty"`
	Hold       *storedHold     `cbor:"40,keyasint,omitempty"`
	NotesLost  bool            `cbor:"41,keyasint,omitempty"`
	Head       gate.RunID      `cbor:"42,keyasint,omitempty"`
	NewOp      gate.OpID       `cbor:"43,keyasint,omitempty"`
	NewRun     *storedRun      `cbor:"44,keyasint,omitempty"`
	Depends    storedDepends   `cbor:"45,keyasint,omitzero"`
	Waits      bool            `cbor:"46,keyasint,omitempty"`
}

func storeDecision(v gate.Decision) storedDecision {
	return storedDecision{
		Verdict: v.Verdict, Run: v.Run, Op: v.Op, Ordinal: v.Ordinal, Command: storeCommand(v.Command),
		Now: instantOf(v.Inputs.Now), Jitter: v.Inputs.Jitter, Behind: v.Inputs.Behind, Contract: v.Contract, Rules: v.Rules,
		Reading: storeReading(v.Reading), Agent: v.Agent, Path: v.Path, Tool: v.Tool, Dependency: v.Dependency, Effect: v.Effect,
		Safety: v.Safety, Approval: v.Approval, Digest: v.Digest, Key: v.Key, KeyIgnored: v.KeyIgnored,
		Before: storeBudget(v.Before), Charge: storeCounters(v.Charge), Permit: storePermit(v.Permit), Delay: v.Delay,
		RetryAt: instantOf(v.RetryAt), Code: v.Code, Class: v.Class, Refused: v.Refused, Outcome: v.Outcome, Result: v.Result,
		Route: v.Route, Terminal: maybe(v.Terminal, storeTerminal), Cause: v.Cause, Changed: maybe(v.Changed, storeChanged),
		Opens: v.Opens, Admission: v.Admission, StoresStop: v.StoresStop, Settles: v.Settles, Hold: maybe(v.Hold, storeHold),
		NotesLost: v.NotesLost, Head: v.Head, NewOp: v.NewOp, NewRun: maybe(v.NewRun, storeRun), Depends: storeDepends(v.Depends),
		Waits: v.Waits,
	}
}

func (s storedDecision) load() gate.Decision {
	return gate.Decision{
		Inputs: gate.Inputs{Now: s.Now.time(), Jitter: s.Jitter, Behind: s.Behind}, Verdict: s.Verdict, Run: s.Run, Op: s.Op,
		Ordinal: s.Ordinal, Command: s.Command.load(), Contract: s.Contract, Rules: s.Rules, Reading: s.Reading.load(),
		Agent: s.Agent, Path: s.Path, Tool: s.Tool, Dependency: s.Dependency, Effect: s.Effect, Safety: s.Safety,
		Approval: s.Approval, Digest: s.Digest, Key: s.Key, KeyIgnored: s.KeyIgnored, Before: s.Before.load(),
		Charge: s.Charge.load(), Permit: s.Permit.load(), Delay: s.Delay, RetryAt: s.RetryAt.time(), Code: s.Code, Class: s.Class,
		Refused: s.Refused, Outcome: s.Outcome, Result: s.Result, Route: s.Route, Terminal: maybe(s.Terminal, storedTerminal.load),
		Cause: s.Cause, Changed: maybe(s.Changed, storedChanged.load), Opens: s.Opens, Admission: s.Admission,
		StoresStop: s.StoresStop, Settles: s.Settles, Hold: maybe(s.Hold, storedHold.load), NotesLost: s.NotesLost, Head: s.Head,
		NewOp: s.NewOp, NewRun: maybe(s.NewRun, storedRun.load), Depends: s.Depends.load(), Waits: s.Waits,
	}
}

type storedPermit struct {
	Op        gate.OpID `cbor:"1,keyasint,omitempty"`
	Ordinal   int64     `cbor:"2,keyasint,omitempty"`
	Key       string    `cbor:"3,keyasint,omitempty"`
	NotBefore instant   `cbor:"4,keyasint,omitempty"`
	NotAfter  instant   `cbor:"5,keyasint,omitempty"`
	Inner     int64     `cbor:"6,keyasint,omitempty"`
	Expires   instant   `cbor:"7,keyasint,omitempty"`
}

func storePermit(v gate.Permit) storedPermit {
	return storedPermit{
		Op: v.Op, Ordinal: v.Ordinal, Key: v.Key, NotBefore: instantOf(v.NotBefore), NotAfter: instantOf(v.NotAfter),
		Inner: v.Inner, Expires: instantOf(v.Expires),
	}
}

func (s storedPermit) load() gate.Permit {
	return gate.Permit{
		Op: s.Op, Ordinal: s.Ordinal, Key: s.Key, NotBefore: s.NotBefore.time(), NotAfter: s.NotAfter.time(), Inner: s.Inner,
		Expires: s.Expires.time(),
	}
}

type storedReading struct {
	Guarded  bool              `cbor:"1,keyasint,omitempty"`
	Breaker  gate.BreakerState `cbor:"2,keyasint,omitempty"`
	Probing  bool              `cbor:"3,keyasint,omitempty"`
	Until    instant           `cbor:"4,keyasint,omitempty"`
	Requests int64             `cbor:"5,keyasint,omitempty"`
	Failures int64             `cbor:"6,keyasint,omitempty"`
	Permits  int64             `cbor:"7,keyasint,omitempty"`
	Repeats  int64             `cbor:"8,keyasint,omitempty"`
}

func storeReading(v gate.Reading) storedReading {
	return storedReading{
		Guarded: v.Guarded, Breaker: v.Breaker, Probing: v.Probing, Until: instantOf(v.Until), Requests: v.Requests,
		Failures: v.Failures, Permits: v.Permits, Repeats: v.Repeats,
	}
}

func (s storedReading) load() gate.Reading {
	return gate.Reading{
		Guarded: s.Guarded, Breaker: s.Breaker, Probing: s.Probing, Until: s.Until.time(), Requests: s.Requests,
		Failures: s.Failures, Permits: s.Permits, Repeats: s.Repeats,
	}
}

type storedTerminal struct {
	Type                   string        `cbor:"1,keyasint,omitempty"`
	Operation              gate.OpID     `cbor:"2,keyasint,omitempty"`
	Reason                 string        `cbor:"3,keyasint,omitempty"`
	FailureClass           gate.Class    `cbor:"4,keyasint,omitempty"`
	AttemptsUsed           int64         `cbor:"5,keyasint,omitempty"`
	ElapsedTimeUsed        int64         `cbor:"6,keyasint,omitempty"`
	SideEffectAttemptsUsed int64         `cbor:"7,keyasint,omitempty"`
	LastFailure            storedFailure `cbor:"8,keyasint,omitzero"`
	IdempotencyReference   string        `cbor:"9,keyasint,omitempty"`
	NextAction             gate.Route    `cbor:"10,keyasint,omitempty"`
}

func storeTerminal(v gate.Terminal) storedTerminal {
	return storedTerminal{
		Type: v.Type, Operation: v.Operation, Reason: v.Reason, FailureClass: v.FailureClass, AttemptsUsed: v.AttemptsUsed,
		ElapsedTimeUsed: v.ElapsedTimeUsed, SideEffectAttemptsUsed: v.SideEffectAttemptsUsed,
		LastFailure: storeFailure(v.LastFailure), IdempotencyReference: v.IdempotencyReference, NextAction: v.NextAction,
	}
}

func (s storedTerminal) load() gate.Terminal {
	return gate.Terminal{
		Type: s.Type, Operation: s.Operation, Reason: s.Reason, FailureClass: s.FailureClass, AttemptsUsed: s.AttemptsUsed,
		ElapsedTimeUsed: s.ElapsedTimeUsed, SideEffectAttemptsUsed: s.SideEffectAttemptsUsed, LastFailure: s.LastFailure.load(),
		IdempotencyReference: s.IdempotencyReference, NextAction: s.NextAction,
	}
}

type storedChanged struct {
	Seq     uint64       `cbor:"1,keyasint,omitempty"`
	At      instant      `cbor:"2,keyasint,omitempty"`
	By      storedActor  `cbor:"3,keyasint,omitzero"`
	Act     gate.Act     `cbor:"4,keyasint,omitempty"`
	Verdict gate.Verdict `cbor:"5,keyasint,omitempty"`
}

func storeChanged(v gate.Changed) storedChanged {
	return storedChanged{
		Seq: v.Seq, At: instantOf(v.At), By: storeActor(v.By), Act: v.Act, Verdict: v.Verdict,
	}
}

func (s storedChanged) load() gate.Changed {
	return gate.Changed{
		Seq: s.Seq, At: s.At.time(), By: s.By.load(), Act: s.Act, Verdict: s.Verdict,
	}
}

type storedDepends struct {
	On      string         `cbor:"1,keyasint,omitempty"`
	Window  time.Duration  `cbor:"2,keyasint,omitempty"`
	Permit  bool           `cbor:"3,keyasint,omitempty"`
	Repeat  bool           `cbor:"4,keyasint,omitempty"`
	Request bool           `cbor:"5,keyasint,omitempty"`
	Failure bool           `cbor:"6,keyasint,omitempty"`
	Breaker *storedBreaker `cbor:"7,keyasint,omitempty"`
	Empties bool           `cbor:"8,keyasint,omitempty"`
}

func storeDepends(v gate.DependencyChange) storedDepends {
	return storedDepends{
		On: v.On, Window: v.Window, Permit: v.Permit, Repeat: v.Repeat, Request: v.Request, Failure: v.Failure,
		Breaker: maybe(v.Breaker, storeBreaker), Empties: v.Empties,
	}
}

func (s storedDepends) load() gate.DependencyChange {
	return gate.DependencyChange{
		On: s.On, Window: s.Window, Permit: s.Permit, Repeat: s.Repeat, Request: s.Request, Failure: s.Failure,
		Breaker: maybe(s.Breaker, storedBreaker.load), Empties: s.Empties,
	}
}
