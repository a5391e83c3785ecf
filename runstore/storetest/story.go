package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"tollgate/gate"
)

// Noon is when every story begins.
var Noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Realm is the store id of the engines under test.
const Realm = "000102030405060708090a0b0c0d0e0f"

// Contract has a tool of each kind, a breaker on every dependency, a ratio and
// a route to dead-letter, all with small numbers, so that a short story meets
// each of them.
func Contract() *gate.Contract {
	c := gate.NewContract()
	p := c.Policies[gate.StarterName]
	p.Breaker = &gate.BreakerRule{Window: 20 * time.Second, Failures: 4, Share: 0.5, CoolDown: 5 * time.Second}
	p.RetryRatio = &gate.RatioRule{Share: 0.7, Window: 20 * time.Second, Min: 8}
	p.Routes.Permanent = gate.RouteDeadLetter
	c.Tools = map[string]*gate.Tool{
		"search": {Effect: gate.EffectRead, Safety: gate.SafetyIdempotent, Dependency: "index"},
		"peek":   {Effect: gate.EffectRead, Safety: gate.SafetyIdempotent, Dependency: "index", Approval: gate.ApprovalRequired},
		"charge": {Effect: gate.EffectWrite, Safety: gate.SafetyNever, Dependency: "payments"},
		"pay":    {Effect: gate.EffectWrite, Safety: gate.SafetyKey, Dependency: "payments"},
		"put":    {Effect: gate.EffectWrite, Safety: gate.SafetyIdempotent, Dependency: "files"},
		"wire":   {Effect: gate.EffectWrite, Safety: gate.SafetyKey, Dependency: "bank", Approval: gate.ApprovalTwoPerson},
	}
	for _, t := range c.Tools {
		t.Timeout = time.Second
	}
	return c
}

var (
	tools = []string{"search", "search", "peek", "charge", "pay", "pay", "put", "wire"}
	codes = []gate.Code{"timeout", "timeout", "rate_limit", "connection_reset", "parse_error", "invalid_input", "odd_code"}
	verbs = []gate.Act{
		gate.ActReconcile, gate.ActReconcile, gate.ActApprove, gate.ActApprove, gate.ActApprove, gate.ActReject,
		gate.ActNewRun, gate.ActClaim, gate.ActRelease, gate.ActSnooze, gate.ActNote,
	}
	people = []gate.Actor{{ID: "uid:1001", Name: "dana"}, {ID: "uid:1002", Name: "eli"}, {ID: "uid:900", Name: "runner"}}
)

// Story sends commands to engines, each one through Load, Step and Commit, and
// makes up what comes next from a seed: the same seed, the same story. Not
// safe for concurrent use.
type Story struct {
	Now      time.Time
	Contract *gate.Contract

	r        *rand.Rand
	document gate.Digest
	refs     []gate.Ref // operations that came to be
	runs     []gate.RunID
	seen     map[gate.Ref]bool
}

// NewStory begins a story.
func NewStory(seed uint64) *Story {
	return &Story{Now: Noon, Contract: Contract(), r: rand.New(rand.NewPCG(seed, 1)), seen: map[gate.Ref]bool{}}
}

// Adopt puts the story's contract into force: its first command.
func (s *Story) Adopt() (gate.Command, error) {
	doc, err := s.Contract.Document()
	if err != nil {
		return nil, err
	}
	s.document = gate.DocumentDigest(doc)
	return gate.Adopt{Actor: gate.Itself, Document: doc}, nil
}

// Inputs are those of the next decision.
func (s *Story) Inputs() gate.Inputs {
	return gate.Inputs{Now: s.Now, Jitter: s.r.Float64(), Contract: s.Contract, Document: s.document, Realm: Realm}
}

// Next makes up a command from what the engine holds. Time passes with it.
func (s *Story) Next(ctx context.Context, e gate.Engine) (gate.Command, error) {
	s.Now = s.Now.Add(time.Duration(s.r.IntN(800)) * time.Millisecond)
	due, _, err := e.Due(ctx, s.Now, 4)
	if err != nil {
		return nil, err
	}
	switch p := s.r.IntN(100); {
	case len(due) > 0 && p < 50:
		ref := due[s.r.IntN(len(due))]
		return gate.Sweep(ref), nil
	case len(s.runs) == 0 || p < 8:
		return s.start(), nil
	case p < 48 || len(s.refs) == 0:
		return s.ask(), nil
	case p < 78:
		return s.report(ctx, e)
	case p < 80:
		return gate.End{Actor: people[2], Run: s.run(), Reason: "done"}, nil
	default:
		return s.verb(ctx, e)
	}
}

// run picks a run, most often one of the newest.
func (s *Story) run() gate.RunID {
	if n := len(s.runs); s.r.IntN(4) > 0 {
		return s.runs[max(0, n-1-s.r.IntN(4))]
	}
	return s.runs[s.r.IntN(len(s.runs))]
}

func (s *Story) limits() gate.Limits {
	attempts, effects, deadline := 2+s.r.Int64N(12), s.r.Int64N(6), time.Duration(5+s.r.IntN(60))*time.Second
	l := gate.Limits{Attempts: &attempts, SideEffects: &effects, Deadline: &deadline}
	if s.r.IntN(3) == 0 {
		tokens := s.r.Int64N(3000)
		l.RetryTokens = &tokens
	}
	return l
}

func (s *Story) start() gate.Command {
	id := gate.RunID(fmt.Sprintf("r%d", len(s.runs)))
	if len(s.runs) > 0 && s.r.IntN(8) == 0 {
		id = s.run() // found, or another limit: ErrReused
	} else {
		s.runs = append(s.runs, id)
	}
	c := gate.Start{Actor: people[2], Run: id, Agent: "planner", Limits: s.limits()}
	if s.r.IntN(3) == 0 {
		c.Caps = []gate.Cap{{Agent: "planner/a", Attempts: s.r.Int64N(4)}}
	}
	return c
}

func (s *Story) ask() gate.Command {
	run := s.run()
	op := gate.OpID(fmt.Sprintf("op%d", s.r.IntN(6)))
	tool := tools[(int(op[2])+int(run[len(run)-1]))%len(tools)]
	if s.r.IntN(12) == 0 {
		tool = tools[s.r.IntN(len(tools))]
	}
	ref := gate.Ref{Run: run, Op: op}
	if !s.seen[ref] {
		s.seen[ref] = true
		s.refs = append(s.refs, ref)
	}
	var parent gate.OpID
	if s.r.IntN(6) == 0 {
		parent = gate.OpID(fmt.Sprintf("op%d", s.r.IntN(6))) // or bad input
	}
	return gate.Ask{
		Actor: people[2], Run: run, ID: fmt.Sprintf("a%d", s.r.IntN(5000)), Op: op, Tool: tool, Parent: parent,
		Agent: []string{"", "planner/a", "planner/a/b", "planner/c"}[s.r.IntN(4)], Path: gate.Path(s.r.IntN(5)),
		Input:  fmt.Appendf(nil, `{"order":%d}`, s.r.IntN(8)/7),
		Tokens: s.r.Int64N(900),
	}
}

// pick returns an operation that exists, most often of a late run.
func (s *Story) pick(ctx context.Context, e gate.Engine) (*gate.Operation, error) {
	for range 20 {
		ref := s.refs[s.r.IntN(len(s.refs))]
		if s.r.IntN(3) > 0 {
			ref = s.refs[max(0, len(s.refs)-1-s.r.IntN(12))]
		}
		state, err := e.Load(ctx, gate.Want{Run: ref.Run, Op: ref.Op, Line: true})
		if err != nil {
			return nil, err
		}
		for i := range state.Ops { // what it became is known from here on
			next := gate.Ref{Run: state.Ops[i].Run, Op: state.Ops[i].ID}
			if !s.seen[next] {
				s.seen[next] = true
				s.refs = append(s.refs, next)
			}
		}
		if op := state.Op(ref.Run, ref.Op); op != nil {
			return op, nil
		}
	}
	return nil, nil
}

func (s *Story) report(ctx context.Context, e gate.Engine) (gate.Command, error) {
	op, err := s.pick(ctx, e)
	if err != nil || op == nil || op.Newest() == nil {
		return s.ask(), err
	}
	c := gate.Report{Actor: people[2], Run: op.Run, Op: op.ID, Ordinal: op.Newest().Ordinal}
	if s.r.IntN(8) == 0 {
		c.Ordinal = 1 + s.r.Int64N(c.Ordinal)
	}
	if s.r.IntN(6) == 0 {
		c.Inner = 1 + s.r.Int64N(3)
	}
	if s.r.IntN(3) == 0 {
		c.OK, c.Result = true, fmt.Sprintf("result-%d", s.r.IntN(3))
		return c, nil
	}
	c.Failure = gate.Failure{Code: codes[s.r.IntN(len(codes))], Message: "it said no", Status: "503"}
	if s.r.IntN(5) == 0 {
		c.Failure.RetryAfter = time.Duration(s.r.IntN(4000)) * time.Millisecond
	}
	return c, nil
}

func (s *Story) verb(ctx context.Context, e gate.Engine) (gate.Command, error) {
	var op *gate.Operation
	for range 12 {
		var err error
		if op, err = s.pick(ctx, e); err != nil {
			return nil, err
		}
		if op != nil && op.Hold.State != gate.HoldNone && (op.Hold.Waits() || s.r.IntN(6) == 0) {
			break
		}
	}
	if op == nil || op.Hold.State == gate.HoldNone {
		return s.ask(), nil
	}
	v := gate.Verb{
		Actor: people[s.r.IntN(len(people))], Do: verbs[s.r.IntN(len(verbs))], ID: fmt.Sprintf("v%d", s.r.IntN(100_000)),
		Run: op.Run, Op: op.ID, Version: op.Hold.Version, Reason: "looked at the provider's log", Evidence: "line 812",
		Finding: gate.Finding(1 + s.r.IntN(3)), TakeOver: s.r.IntN(4) == 0,
		AsNewAction: s.r.IntN(5) == 0, Ruling: gate.Ruling(s.r.IntN(2)),
	}
	if s.r.IntN(12) == 0 {
		v.Version--
	}
	switch v.Do {
	default:
	case gate.ActSnooze:
		v.Until = s.Now.Add(time.Duration(s.r.IntN(20)) * time.Second)
	case gate.ActNewRun:
		v.NewRun, v.Limits = gate.RunID(fmt.Sprintf("r%d", len(s.runs))), s.limits()
		s.runs = append(s.runs, v.NewRun)
	}
	return v, nil
}

// Decide sends a command the whole way of the door: Wants, Load, Step, Commit.
func Decide(ctx context.Context, e gate.Engine, c gate.Command, in gate.Inputs) (gate.Decision, error) {
	if err := c.Check(); err != nil {
		return gate.Decision{}, err
	}
	want, err := c.Wants(in.Contract)
	if err != nil {
		return gate.Decision{}, err
	}
	state, err := e.Load(ctx, want)
	if err != nil {
		return gate.Decision{}, err
	}
	t, err := gate.Step(state, c, in)
	if err != nil {
		return gate.Decision{}, err
	}
	out, err := e.Commit(ctx, t)
	if err != nil {
		return gate.Decision{}, err
	}
	return out[0], nil
}

// IsRefusal reports whether an error is one that a command may meet: it was no
// decision, and nothing was written.
func IsRefusal(err error) bool {
	var input *gate.InputError
	for _, e := range []error{
		gate.ErrNoRun, gate.ErrNoOperation, gate.ErrNoAttempt, gate.ErrNoItem, gate.ErrReused, gate.ErrUnknownTool, gate.ErrNoPolicy,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return errors.As(err, &input)
}

// Tell tells n commands to an engine, after the adoption of the contract.
func (s *Story) Tell(ctx context.Context, e gate.Engine, n int) error {
	if s.document.IsZero() {
		c, err := s.Adopt()
		if err != nil {
			return err
		}
		if _, err := Decide(ctx, e, c, s.Inputs()); err != nil {
			return err
		}
	}
	for range n {
		c, err := s.Next(ctx, e)
		if err != nil {
			return err
		}
		if _, err := Decide(ctx, e, c, s.Inputs()); err != nil && !IsRefusal(err) {
			return fmt.Errorf("%s: %w", c.Act(), err)
		}
	}
	return nil
}
