package runstore

import (
	"time"

	"tollgate/gate"
)

// storedCommand is a map of one entry: the act, and the command of that act.
type storedCommand struct {
	Adopt     *storedAdopt  `cbor:"1,keyasint,omitempty"`
	Start     *storedStart  `cbor:"2,keyasint,omitempty"`
	Ask       *storedAsk    `cbor:"3,keyasint,omitempty"`
	Report    *storedReport `cbor:"4,keyasint,omitempty"`
	Sweep     *storedSweep  `cbor:"5,keyasint,omitempty"`
	End       *storedEnd    `cbor:"6,keyasint,omitempty"`
	Reconcile *storedVerb   `cbor:"7,keyasint,omitempty"`
	Approve   *storedVerb   `cbor:"8,keyasint,omitempty"`
	Reject    *storedVerb   `cbor:"9,keyasint,omitempty"`
	NewRun    *storedVerb   `cbor:"10,keyasint,omitempty"`
	Claim     *storedVerb   `cbor:"11,keyasint,omitempty"`
	Release   *storedVerb   `cbor:"12,keyasint,omitempty"`
	Snooze    *storedVerb   `cbor:"13,keyasint,omitempty"`
	Note      *storedVerb   `cbor:"14,keyasint,omitempty"`
}

func storeCommand(c gate.Command) (s storedCommand) {
	switch c := c.(type) {
	case gate.Adopt:
		s.Adopt = maybe(&c, storeAdopt)
	case gate.Start:
		s.Start = maybe(&c, storeStart)
	case gate.Ask:
		s.Ask = maybe(&c, storeAsk)
	case gate.Report:
		s.Report = maybe(&c, storeReport)
	case gate.Sweep:
		s.Sweep = maybe(&c, storeSweep)
	case gate.End:
		s.End = maybe(&c, storeEnd)
	case gate.Verb:
		if at := s.verbs()[c.Do]; at != nil {
			*at = maybe(&c, storeVerb)
		}
	}
	return s
}

// verbs returns where the command of each verb stands.
func (s *storedCommand) verbs() map[gate.Act]**storedVerb {
	return map[gate.Act]**storedVerb{
		gate.ActReconcile: &s.Reconcile, gate.ActApprove: &s.Approve, gate.ActReject: &s.Reject, gate.ActNewRun: &s.NewRun,
		gate.ActClaim: &s.Claim, gate.ActRelease: &s.Release, gate.ActSnooze: &s.Snooze, gate.ActNote: &s.Note,
	}
}

// load returns the command, nil if it is of an act of a later version.
func (s storedCommand) load() gate.Command {
	switch {
	case s.Adopt != nil:
		return s.Adopt.load()
	case s.Start != nil:
		return s.Start.load()
	case s.Ask != nil:
		return s.Ask.load()
	case s.Report != nil:
		return s.Report.load()
	case s.Sweep != nil:
		return s.Sweep.load()
	case s.End != nil:
		return s.End.load()
	}
	for act, v := range s.verbs() {
		if *v != nil {
			c := (*v).load()
			c.Do = act
			return c
		}
	}
	return nil
}

type storedAdopt struct {
	Actor    storedActor `cbor:"1,keyasint,omitzero"`
	Document []byte      `cbor:"2,keyasint,omitempty"`
}

func storeAdopt(v gate.Adopt) storedAdopt {
	return storedAdopt{
		Actor: storeActor(v.Actor), Document: v.Document,
	}
}

func (s storedAdopt) load() gate.Adopt {
	return gate.Adopt{
		Actor: s.Actor.load(), Document: s.Document,
	}
}

type storedStart struct {
	Actor  storedActor  `cbor:"1,keyasint,omitzero"`
	Run    gate.RunID   `cbor:"2,keyasint,omitempty"`
	Agent  string       `cbor:"3,keyasint,omitempty"`
	Policy string       `cbor:"4,keyasint,omitempty"`
	Limits storedLimits `cbor:"5,keyasint,omitzero"`
	Caps   []storedCap  `cbor:"6,keyasint,omitempty"`
}

func storeStart(v gate.Start) storedStart {
	return storedStart{
		Actor: storeActor(v.Actor), Run: v.Run, Agent: v.Agent, Policy: v.Policy, Limits: storeLimits(v.Limits),
		Caps: each(v.Caps, storeCap),
	}
}

func (s storedStart) load() gate.Start {
	return gate.Start{
		Actor: s.Actor.load(), Run: s.Run, Agent: s.Agent, Policy: s.Policy, Limits: s.Limits.load(),
		Caps: each(s.Caps, storedCap.load),
	}
}

type storedAsk struct {
	Actor       storedActor `cbor:"1,keyasint,omitzero"`
	Run         gate.RunID  `cbor:"2,keyasint,omitempty"`
	ID          string      `cbor:"3,keyasint,omitempty"`
	Op          gate.OpID   `cbor:"4,keyasint,omitempty"`
	Agent       string      `cbor:"5,keyasint,omitempty"`
	Path        gate.Path   `cbor:"6,keyasint,omitempty"`
	Tool        string      `cbor:"7,keyasint,omitempty"`
	Parent      gate.OpID   `cbor:"8,keyasint,omitempty"`
	Input       []byte      `cbor:"9,keyasint,omitempty"`
	InputDigest gate.Digest `cbor:"10,keyasint,omitzero"`
	Tokens      int64       `cbor:"11,keyasint,omitempty"`
	Key         string      `cbor:"12,keyasint,omitempty"`
	Trace       string      `cbor:"13,keyasint,omitempty"`
}

func storeAsk(v gate.Ask) storedAsk {
	return storedAsk{
		Actor: storeActor(v.Actor), Run: v.Run, ID: v.ID, Op: v.Op, Agent: v.Agent, Path: v.Path, Tool: v.Tool, Parent: v.Parent,
		Input: v.Input, InputDigest: v.InputDigest, Tokens: v.Tokens, Key: v.Key, Trace: v.Trace,
	}
}

func (s storedAsk) load() gate.Ask {
	return gate.Ask{
		Actor: s.Actor.load(), Run: s.Run, ID: s.ID, Op: s.Op, Agent: s.Agent, Path: s.Path, Tool: s.Tool, Parent: s.Parent,
		Input: s.Input, InputDigest: s.InputDigest, Tokens: s.Tokens, Key: s.Key, Trace: s.Trace,
	}
}

type storedReport struct {
	Actor   storedActor   `cbor:"1,keyasint,omitzero"`
	Run     gate.RunID    `cbor:"2,keyasint,omitempty"`
	Op      gate.OpID     `cbor:"3,keyasint,omitempty"`
	Ordinal int64         `cbor:"4,keyasint,omitempty"`
	OK      bool          `cbor:"5,keyasint,omitempty"`
	Failure storedFailure `cbor:"6,keyasint,omitzero"`
	Inner   int64         `cbor:"7,keyasint,omitempty"`
	Result  string        `cbor:"8,keyasint,omitempty"`
}

func storeReport(v gate.Report) storedReport {
	return storedReport{
		Actor: storeActor(v.Actor), Run: v.Run, Op: v.Op, Ordinal: v.Ordinal, OK: v.OK, Failure: storeFailure(v.Failure),
		Inner: v.Inner, Result: v.Result,
	}
}

func (s storedReport) load() gate.Report {
	return gate.Report{
		Actor: s.Actor.load(), Run: s.Run, Op: s.Op, Ordinal: s.Ordinal, OK: s.OK, Failure: s.Failure.load(), Inner: s.Inner,
		Result: s.Result,
	}
}

type storedSweep struct {
	Run gate.RunID `cbor:"1,keyasint,omitempty"`
	Op  gate.OpID  `cbor:"2,keyasint,omitempty"`
}

func storeSweep(v gate.Sweep) storedSweep { return storedSweep(v) }

func (s storedSweep) load() gate.Sweep { return gate.Sweep(s) }

type storedEnd struct {
	Actor  storedActor `cbor:"1,keyasint,omitzero"`
	Run    gate.RunID  `cbor:"2,keyasint,omitempty"`
	Reason string      `cbor:"3,keyasint,omitempty"`
}

func storeEnd(v gate.End) storedEnd {
	return storedEnd{
		Actor: storeActor(v.Actor), Run: v.Run, Reason: v.Reason,
	}
}

func (s storedEnd) load() gate.End {
	return gate.End{
		Actor: s.Actor.load(), Run: s.Run, Reason: s.Reason,
	}
}

type storedVerb struct {
	Actor       storedActor  `cbor:"1,keyasint,omitzero"`
	ID          string       `cbor:"2,keyasint,omitempty"`
	Run         gate.RunID   `cbor:"3,keyasint,omitempty"`
	Op          gate.OpID    `cbor:"4,keyasint,omitempty"`
	Version     int64        `cbor:"5,keyasint,omitempty"`
	Reason      string       `cbor:"6,keyasint,omitempty"`
	Evidence    string       `cbor:"7,keyasint,omitempty"`
	Finding     gate.Finding `cbor:"8,keyasint,omitempty"`
	Ruling      gate.Ruling  `cbor:"9,keyasint,omitempty"`
	AsNewAction bool         `cbor:"10,keyasint,omitempty"`
	TakeOver    bool         `cbor:"11,keyasint,omitempty"`
	Until       string       `cbor:"12,keyasint,omitempty"`
	NewRun      gate.RunID   `cbor:"13,keyasint,omitempty"`
	Limits      storedLimits `cbor:"14,keyasint,omitzero"`
	Caps        []storedCap  `cbor:"15,keyasint,omitempty"`
}

func storeVerb(v gate.Verb) storedVerb {
	return storedVerb{
		Actor: storeActor(v.Actor), ID: v.ID, Run: v.Run, Op: v.Op, Version: v.Version, Reason: v.Reason, Evidence: v.Evidence,
		Finding: v.Finding, Ruling: v.Ruling, AsNewAction: v.AsNewAction, TakeOver: v.TakeOver, Until: untilText(v.Until),
		NewRun: v.NewRun, Limits: storeLimits(v.Limits), Caps: each(v.Caps, storeCap),
	}
}

func (s storedVerb) load() gate.Verb {
	return gate.Verb{
		Actor: s.Actor.load(), ID: s.ID, Run: s.Run, Op: s.Op, Version: s.Version, Reason: s.Reason, Evidence: s.Evidence,
		Finding: s.Finding, Ruling: s.Ruling, AsNewAction: s.AsNewAction, TakeOver: s.TakeOver, Until: untilOf(s.Until),
		NewRun: s.NewRun, Limits: s.Limits.load(), Caps: each(s.Caps, storedCap.load),
	}
}

type storedLimits struct {
	Attempts    *int64         `cbor:"1,keyasint,omitempty"`
	Deadline    *time.Duration `cbor:"2,keyasint,omitempty"`
	Reserve     *time.Duration `cbor:"3,keyasint,omitempty"`
	SideEffects *int64         `cbor:"4,keyasint,omitempty"`
	RetryTokens *int64         `cbor:"5,keyasint,omitempty"`
}

func storeLimits(v gate.Limits) storedLimits { return storedLimits(v) }

func (s storedLimits) load() gate.Limits { return gate.Limits(s) }
