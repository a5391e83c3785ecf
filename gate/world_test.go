package gate

import (
	"errors"
	"fmt"
	"time"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// The people of the stories. The agent is who asks.
var (
	agent = Actor{ID: "uid:900", Name: "runner", Source: "peer-uid"}
	dana  = Actor{ID: "uid:1001", Name: "dana", Source: "peer-uid"}
	eli   = Actor{ID: "uid:1002", Name: "eli", Source: "peer-uid"}
)

// paths are the ways an agent's ask can come.
var paths = []Path{PathModel, PathSubagent, PathQueue, PathResume, PathFallback}

// tester is what the stories need of a test: *testing.T and *rapid.T are both.
type tester interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Failed() bool
	Cleanup(func())
}

// world is a ledger with its live state, a clock that a test moves, and the
// short forms by which a test reads as a story. Every command goes the way of
// a store: Wants, Load, Step, Apply; so a Want that names too little shows.
//
// After each command the counters must equal a fold of all decisions (I3), be
// within their limits unless the run is overdrawn (I4), and each operation has
// at most one attempt in flight, the newest. At the end of the test every
// decision is decided again, on the whole state before it (R-L2).
type world struct {
	t        tester
	live     Live
	ledger   []Decision
	contract *Contract
	document Digest
	now      time.Time
	jitter   float64
	behind   bool // the wall clock is behind the ledger
	run      RunID
	ids      int
}

// newWorld has a contract with a tool of each kind, the starter policy, and
// the run r1, which may spend 10 attempts and 5 side effects in a minute.
func newWorld(t tester) *world {
	w := emptyWorld(t)
	w.start("r1", limits(10, 5, time.Minute))
	return w
}

// emptyWorld is newWorld without the run.
func emptyWorld(t tester) *world {
	k := NewContract()
	k.Tools = map[string]*Tool{
		"search": {Effect: EffectRead, Safety: SafetyIdempotent, Dependency: "index"},
		"crawl":  {Effect: EffectRead, Safety: SafetyIdempotent, Dependency: "web"},
		"peek":   {Effect: EffectRead, Safety: SafetyIdempotent, Dependency: "index", Approval: ApprovalRequired},
		"audit":  {Effect: EffectRead, Safety: SafetyIdempotent, Dependency: "index", Approval: ApprovalTwoPerson},
		"charge": {Effect: EffectWrite, Safety: SafetyNever, Dependency: "payments"},
		"pay":    {Effect: EffectWrite, Safety: SafetyKey, Dependency: "payments"},
		"put":    {Effect: EffectWrite, Safety: SafetyIdempotent, Dependency: "files"},
		"store":  {Effect: EffectWrite, Safety: SafetyIdempotent, Dependency: "files"},
		"refund": {Effect: EffectWrite, Safety: SafetyKey, Dependency: "payments", Approval: ApprovalRequired},
		"wire":   {Effect: EffectWrite, Safety: SafetyKey, Dependency: "bank", Approval: ApprovalTwoPerson},
	}
	for _, tool := range k.Tools {
		tool.Timeout = time.Second
	}
	w := &world{t: t, now: noon}
	w.adopt(k)
	t.Cleanup(w.decideAgain)
	return w
}

// limits are explicit limits without tokens or a reserve.
func limits(attempts, sideEffects int64, deadline time.Duration) Limits {
	return Limits{Attempts: &attempts, SideEffects: &sideEffects, Deadline: &deadline}
}

func (w *world) adopt(k *Contract) {
	w.t.Helper()
	doc, err := k.Document()
	if err != nil {
		w.t.Fatal(err)
	}
	w.contract, w.document = k, DocumentDigest(doc)
}

// change puts an edited copy of the contract into force: old decisions keep
// the one that they were decided by.
func (w *world) change(edit func(k *Contract)) {
	w.t.Helper()
	doc, err := w.contract.Document()
	if err != nil {
		w.t.Fatal(err)
	}
	k, err := ParseContract(doc)
	if err != nil {
		w.t.Fatal(err)
	}
	edit(k)
	w.adopt(k)
}

// policy puts an edited starter policy into force.
func (w *world) policy(edit func(p *Policy)) {
	w.t.Helper()
	w.change(func(k *Contract) { edit(k.Policies[StarterName]) })
}

func (w *world) after(d time.Duration) { w.now = w.now.Add(d) }

func (w *world) inputs() Inputs {
	return Inputs{Now: w.now, Jitter: w.jitter, Behind: w.behind, Contract: w.contract, Document: w.document, Realm: "realm"}
}

// load is what a command is decided on.
func (w *world) load(c Command) (State, error) {
	want, err := c.Wants(w.contract)
	if err != nil {
		return State{}, err
	}
	return w.live.Load(w.said, want)
}

func (w *world) said(seq uint64) (Decision, error) {
	if seq == 0 || seq > uint64(len(w.ledger)) {
		return Decision{}, ErrNoDecision
	}
	return w.ledger[seq-1], nil
}

// try sends a command the whole way.
func (w *world) try(c Command) (Decision, error) {
	w.t.Helper()
	if err := c.Check(); err != nil {
		return Decision{}, err
	}
	s, err := w.load(c)
	if err != nil {
		return Decision{}, err
	}
	t, err := Step(s, c, w.inputs())
	if err != nil {
		return Decision{}, err
	}
	if t.Repeats() {
		return t.Decision(), nil
	}
	written, _, err := w.live.Advance(uint64(len(w.ledger))+1, t)
	if err != nil {
		w.t.Fatalf("apply of %s: %v", c.Act(), err)
	}
	w.ledger = append(w.ledger, written...)
	w.invariants()
	return written[0], nil
}

// do is try for a command that is a decision.
func (w *world) do(c Command) Decision {
	w.t.Helper()
	d, err := w.try(c)
	if err != nil {
		w.t.Fatalf("%s: %v", c.Act(), err)
	}
	return d
}

// id returns an id that was not used before.
func (w *world) id() string {
	w.ids++
	return fmt.Sprint("id-", w.ids)
}

// start starts a run; the short forms below are about the newest one.
func (w *world) start(run RunID, l Limits, caps ...Cap) Decision {
	w.t.Helper()
	w.run = run
	return w.do(Start{Actor: agent, Run: run, Agent: "main", Limits: l, Caps: caps})
}

func (w *world) asks(op OpID, tool string, with ...func(*Ask)) Ask {
	c := Ask{Actor: agent, Run: w.run, ID: w.id(), Op: op, Tool: tool, Input: []byte(`{"n":1}`)}
	for _, f := range with {
		f(&c)
	}
	return c
}

func (w *world) ask(op OpID, tool string, with ...func(*Ask)) Decision {
	w.t.Helper()
	return w.do(w.asks(op, tool, with...))
}

func input(json string) func(*Ask)    { return func(c *Ask) { c.Input = []byte(json) } }
func path(p Path) func(*Ask)          { return func(c *Ask) { c.Path = p } }
func by(name string) func(*Ask)       { return func(c *Ask) { c.Agent = name } }
func tokens(n int64) func(*Ask)       { return func(c *Ask) { c.Tokens = n } }
func askID(id string) func(*Ask)      { return func(c *Ask) { c.ID = id } }
func inner(n int64) func(*Report)     { return func(c *Report) { c.Inner = n } }
func ordinal(n int64) func(*Report)   { return func(c *Report) { c.Ordinal = n } }
func result(ref string) func(*Report) { return func(c *Report) { c.Result = ref } }

// reports is about the newest attempt.
func (w *world) reports(op OpID, with ...func(*Report)) Report {
	w.t.Helper()
	c := Report{Actor: agent, Run: w.run, Op: op}
	if last := w.op(op).Newest(); last != nil {
		c.Ordinal = last.Ordinal
	}
	for _, f := range with {
		f(&c)
	}
	return c
}

func (w *world) ok(op OpID, with ...func(*Report)) Decision {
	w.t.Helper()
	return w.do(w.reports(op, append(with, func(c *Report) { c.OK = true })...))
}

func (w *world) fail(op OpID, code Code, with ...func(*Report)) Decision {
	w.t.Helper()
	return w.do(w.reports(op, append(with, func(c *Report) { c.Failure.Code = code })...))
}

// lose lets the newest attempt's lease end, and the gate sweep it.
func (w *world) lose(op OpID) Decision {
	w.t.Helper()
	w.now = w.op(op).Newest().Expires
	return w.sweep(op)
}

func (w *world) sweep(op OpID) Decision {
	w.t.Helper()
	return w.do(Sweep{Run: w.run, Op: op})
}

func (w *world) end() Decision {
	w.t.Helper()
	return w.do(End{Actor: agent, Run: w.run, Reason: "done"})
}

// verb is dana's act on an item as it stands.
func (w *world) verb(do Act, op OpID, with ...func(*Verb)) Verb {
	w.t.Helper()
	c := Verb{
		Actor: dana, Do: do, ID: w.id(), Run: w.run, Op: op, Version: w.op(op).Hold.Version,
		Reason: "because", Evidence: "seen", Until: w.now.Add(time.Hour),
	}
	for _, f := range with {
		f(&c)
	}
	return c
}

func as(who Actor) func(*Verb)    { return func(c *Verb) { c.Actor = who } }
func version(n int64) func(*Verb) { return func(c *Verb) { c.Version = n } }
func cleared(c *Verb)             { c.Ruling = RulingCauseCleared }
func asNew(c *Verb)               { c.AsNewAction = true }
func takeOver(c *Verb)            { c.TakeOver = true }

func (w *world) act(do Act, op OpID, with ...func(*Verb)) Decision {
	w.t.Helper()
	return w.do(w.verb(do, op, with...))
}

func (w *world) approve(op OpID, with ...func(*Verb)) Decision {
	w.t.Helper()
	return w.act(ActApprove, op, with...)
}

func (w *world) reconcile(op OpID, f Finding, with ...func(*Verb)) Decision {
	w.t.Helper()
	return w.act(ActReconcile, op, append(with, func(c *Verb) { c.Finding = f })...)
}

// goOn goes on in a new run, which the short forms are about from then on.
func (w *world) goOn(op OpID, run RunID, l Limits) Decision {
	w.t.Helper()
	d := w.act(ActNewRun, op, func(c *Verb) { c.NewRun, c.Limits = run, l })
	w.run = run
	return d
}

// op returns an operation of the current run; the zero one if there is none.
func (w *world) op(id OpID) *Operation {
	op, _ := w.live.Op(Ref{w.run, id})
	return &op
}

// header returns the current run.
func (w *world) header() Run {
	run, _ := w.live.Run(w.run)
	return run
}

func (w *world) spent() Counters { r := w.header(); return r.Budget.Spent }

// is fails the test unless a decision has the verdict.
func (w *world) is(d Decision, want Verdict) Decision {
	w.t.Helper()
	if d.Command == nil {
		w.t.Fatalf("a sweep of nothing that is due, want %v", want)
	}
	if d.Verdict != want {
		w.t.Fatalf("%s of %s at %s: verdict = %v, want %v", d.Command.Act(), d.Op, d.Inputs.Now.Format(time.TimeOnly), d.Verdict, want)
	}
	return d
}

// equal fails the test unless got is want.
func equal[V comparable](t tester, what string, got, want V) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// fails fails the test unless err is want.
func fails(t tester, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: error = %v, want %v", what, err, want)
	}
}

// names fails the test unless err is an InputError of a field.
func names(t tester, err error, field string) {
	t.Helper()
	var e *InputError
	if !errors.As(err, &e) || e.Field != field {
		t.Errorf("error = %v, want one about %s", err, field)
	}
}

func ptr[V any](v V) *V { return &v }
