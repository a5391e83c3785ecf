package gate

import (
	"flag"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Flags on the command line come later and win over these.
func init() {
	for name, value := range map[string]string{"rapid.checks": "200", "rapid.nofailfile": "true", "rapid.shrinktime": "10s"} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
}

// TestModelOfARun plays random histories against the gate and compares them
// with plain counters, with what a provider really did, and with themselves.
//
// The world's own invariants hold after every command; here come the model's:
//
//   - no permit but where every limit allows it, and none refused for a new
//     operation that all of them allow (I2, I4);
//   - counters equal plain sums of what was permitted and reported (I3);
//   - what a terminal answer closed gets no permit, save by a person (R-T3);
//   - a provider whose tool must not be repeated has applied at most one
//     effect, if people find the truth (I7);
//   - a parent is an operation that has asked before, and bad input otherwise;
//   - the checks that a person is shown agree with the verdict;
//   - a command repeated under its id gets its answer and writes nothing;
//   - on the whole state, each decision comes out the same again (R-L2).
//
// With -short it is left out: the planted faults are for the tests of their
// clauses to notice.
func TestModelOfARun(t *testing.T) {
	if testing.Short() {
		t.Skip("short")
	}
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(t)
		t.Repeat(map[string]func(*rapid.T){
			"ask":     m.ask,
			"ask ":    m.ask,
			"report":  m.report,
			"report ": m.report,
			"expire":  m.expire,
			"clock":   m.clock,
			"restart": m.restart,
			"approve": m.approve,
			"verb":    m.verb,
			"new run": m.newRun,
			"end":     m.end,
			"again":   m.again,
			"":        m.check,
		})
	})
}

// model is what the gate is compared with.
type model struct {
	*world
	rules bool // the contract has breakers and a ratio
	runs  map[RunID]*modelRun
	ops   map[Ref]*modelOp
	sent  []Command
	said  []uint64 // the answers to sent
}

// modelRun is a budget as plain counters.
type modelRun struct {
	attempts, effects, tokens          int64
	maxAttempts, maxEffects, maxTokens int64
	deadline                           time.Time
	closed                             bool
}

// modelOp is what the provider and the people know of a logical action.
type modelOp struct {
	tool     string
	attempts []modelAttempt
	applied  int  // effects that the provider has applied
	closed   bool // succeeded as a write, or closed by a person
	stopped  bool // a terminal stop was given to an agent
	went     bool // gone on in another run
}

type modelAttempt struct {
	applied  bool
	reported bool
}

var modelTools = map[OpID]string{
	"a": "search", "b": "crawl", "c": "charge", "d": "pay", "e": "put", "f": "wire", "g": "refund", "h": "peek", "i": "charge",
}

func newModel(t *rapid.T) *model {
	m := &model{world: emptyWorld(t), runs: map[RunID]*modelRun{}, ops: map[Ref]*modelOp{}}
	m.rules = rapid.Bool().Draw(t, "guarded")
	m.policy(func(p *Policy) {
		p.Routes.Unlisted = rapid.SampledFrom([]Route{RouteEscalate, RouteDeadLetter, RouteReturn}).Draw(t, "route")
		p.Backoff = Backoff{Base: 100 * time.Millisecond, Cap: time.Second}
		p.QueueOff = rapid.IntRange(0, 9).Draw(t, "queue") == 0
		if m.rules {
			p.Breaker = &BreakerRule{Window: 10 * time.Second, Failures: 2, Share: 0.5, CoolDown: 3 * time.Second}
			p.RetryRatio = &RatioRule{Share: 0.5, Window: 10 * time.Second, Min: 4}
		}
	})
	m.begin("r1", m.someLimits(t))
	m.start("r1", m.limitsOf("r1"))
	return m
}

func (m *model) someLimits(t *rapid.T) modelRun {
	return modelRun{
		maxAttempts: rapid.Int64Range(1, 12).Draw(t, "attempts"), maxEffects: rapid.Int64Range(0, 6).Draw(t, "effects"),
		maxTokens: rapid.Int64Range(0, 30).Draw(t, "tokens"), deadline: m.now.Add(time.Duration(rapid.IntRange(2, 120).Draw(t, "seconds")) * time.Second),
	}
}

func (m *model) begin(id RunID, r modelRun) { m.runs[id] = &r }

func (m *model) limitsOf(id RunID) Limits {
	r := m.runs[id]
	l := limits(r.maxAttempts, r.maxEffects, r.deadline.Sub(m.now))
	l.RetryTokens = &r.maxTokens
	return l
}

// send sends a command, and keeps it to be sent again.
func (m *model) send(c Command) Decision {
	m.t.Helper()
	whole := everything(&m.live)
	d := m.do(c)
	t, err := Step(whole, d.Command, d.Inputs)
	if err != nil {
		m.t.Fatalf("decided again on the whole state: %v", err)
	}
	again := t.Decision()
	again.Seq, again.Prev = d.Seq, d.Prev
	if diff := cmp.Diff(again, d, cmp.Comparer(sameContract)); diff != "" {
		m.t.Fatalf("decided again on the whole state (-again +first):\n%s", diff)
	}
	switch c.(type) {
	case Ask, Verb:
		m.sent, m.said = append(m.sent, c), append(m.said, d.Seq)
	}
	return d
}

// again sends a command again, as a client does that has lost the answer.
func (m *model) again(t *rapid.T) {
	if len(m.sent) == 0 {
		t.Skip("nothing was sent")
	}
	i := rapid.IntRange(max(0, len(m.sent)-10), len(m.sent)-1).Draw(t, "which")
	n := len(m.ledger)
	d, err := m.try(m.sent[i])
	if err != nil || d.Seq != m.said[i] || len(m.ledger) != n {
		m.t.Fatalf("sent again: seq %d (%v) and %d records, want seq %d and none", d.Seq, err, len(m.ledger)-n, m.said[i])
	}
}

func (m *model) op(ref Ref, tool string) *modelOp {
	if m.ops[ref] == nil {
		m.ops[ref] = &modelOp{tool: tool}
	}
	return m.ops[ref]
}

func (m *model) writes(tool string) bool { return m.contract.Tools[tool].Effect == EffectWrite }

func (m *model) ask(t *rapid.T) {
	id := rapid.SampledFrom([]OpID{"a", "b", "c", "d", "e", "f", "g", "h", "i"}).Draw(t, "op")
	c := m.asks(id, modelTools[id],
		tokens(rapid.Int64Range(0, 9).Draw(t, "tokens")), path(rapid.SampledFrom(paths).Draw(t, "path")),
		input(rapid.SampledFrom([]string{`{"n":1}`, `{"n":1}`, `{"n":1}`, `{"n":2}`}).Draw(t, "input")))
	m.jitter = rapid.Float64Range(0, 0.99).Draw(t, "jitter")
	ref := Ref{m.run, id}
	before, known := m.live.Op(ref)
	c.Parent = rapid.SampledFrom([]OpID{"", "", "", "a", "c", "e"}).Draw(t, "parent")
	if _, asked := m.live.Op(Ref{m.run, c.Parent}); c.Parent != "" && (!asked || c.Parent == id) {
		n := len(m.ledger)
		_, err := m.try(c)
		names(m.t, err, "parent")
		equal(m.t, "records", len(m.ledger), n)
		return
	}
	op := m.op(ref, c.Tool)
	d := m.send(c)
	if !d.Verdict.Permits() {
		op.stopped = op.stopped || d.Verdict.Ends() && before.Settled != SettledSucceeded
		if m.mustAdmit(ref, c, known) {
			m.t.Fatalf("a new operation that every limit allows: verdict = %v", d.Verdict)
		}
		return
	}
	if op.closed || op.stopped {
		m.t.Fatalf("%v after a terminal answer (R-T3)", d.Verdict)
	}
	if m.contract.Tools[c.Tool].Approval != ApprovalNone {
		m.t.Fatalf("%v without an approval (R-A6)", d.Verdict)
	}
	m.permitted(t, d, op)
}

// mustAdmit reports whether nothing stands against a first dispatch.
func (m *model) mustAdmit(ref Ref, c Ask, known bool) bool {
	r := m.runs[ref.Run]
	return !known && !m.behind && !r.closed && m.contract.Tools[c.Tool].Approval == ApprovalNone &&
		r.attempts < r.maxAttempts && (!m.writes(c.Tool) || r.effects < r.maxEffects) &&
		!m.now.Add(time.Second).After(r.deadline) && !m.rules
}

// permitted takes a permit into the model: first what must have allowed it,
// then what it cost, then what the provider does with it.
func (m *model) permitted(t *rapid.T, d Decision, op *modelOp) {
	r, write := m.runs[d.Run], m.writes(d.Tool)
	switch {
	case m.behind, r.closed:
		m.t.Fatalf("%v in a run that is closed, or while the clock is behind", d.Verdict)
	case r.attempts >= r.maxAttempts, write && r.effects >= r.maxEffects:
		m.t.Fatalf("%v with %d/%d attempts and %d/%d side effects spent", d.Verdict, r.attempts, r.maxAttempts, r.effects, r.maxEffects)
	case d.Permit.NotBefore.Add(time.Second).After(r.deadline), d.Permit.NotAfter.Add(time.Second).After(r.deadline), d.Permit.NotBefore.Before(m.now):
		m.t.Fatalf("a permit from %v to %v does not fit before %v", d.Permit.NotBefore, d.Permit.NotAfter, r.deadline)
	case d.Permit.Ordinal != int64(len(op.attempts))+1:
		m.t.Fatalf("ordinal = %d, want %d", d.Permit.Ordinal, len(op.attempts)+1)
	case len(op.attempts) > 0 && !op.attempts[len(op.attempts)-1].reported:
		m.t.Fatal("a permit beside one that is in flight")
	}
	r.attempts++
	if write {
		r.effects++
	}
	if d.Verdict == Retry {
		r.tokens += d.Charge.RetryTokens
		if r.tokens > r.maxTokens {
			m.t.Fatalf("tokens = %d, past %d", r.tokens, r.maxTokens)
		}
	}
	at := modelAttempt{applied: write && rapid.Bool().Draw(t, "applied")}
	if at.applied && (op.applied == 0 || m.contract.Tools[op.tool].Safety == SafetyNever) {
		op.applied++ // under a key, or idempotent, once
	}
	op.attempts = append(op.attempts, at)
}

// report says what became of an attempt, truthfully: what was refused did not
// happen, what succeeded did; of the rest the caller cannot know.
func (m *model) report(t *rapid.T) {
	var open []Ref
	for ref, op := range m.ops {
		if n := len(op.attempts); n > 0 && !op.went && !m.bodyOf(ref, int64(n)) {
			open = append(open, ref)
		}
	}
	if len(open) == 0 {
		t.Skip("nothing to report")
	}
	slices.SortFunc(open, func(a, b Ref) int {
		return slices.Compare([]string{string(a.Run), string(a.Op)}, []string{string(b.Run), string(b.Op)})
	})
	ref := rapid.SampledFrom(open).Draw(t, "of")
	op := m.ops[ref]
	n := len(op.attempts)
	at := &op.attempts[n-1]
	inside := rapid.SampledFrom([]int64{0, 1, 1, 2}).Draw(t, "inner")
	c := Report{Actor: agent, Run: ref.Run, Op: ref.Op, Ordinal: int64(n), Inner: inside}
	codes := []Code{"timeout", "upstream_5xx", "teapot", "schema_violation", "parse_error"}
	if !at.applied {
		codes = append(codes, "rate_limit", "invalid_input", "policy_block")
	}
	if !m.writes(op.tool) || at.applied {
		codes = append(codes, "", "")
	}
	if code := rapid.SampledFrom(codes).Draw(t, "code"); code == "" {
		c.OK = true
	} else {
		c.Failure.Code = code
	}
	payer, _ := m.live.Op(ref)
	r := m.runs[payer.Newest().Run]
	d := m.send(c)
	if extra := max(1, inside) - 1; extra > 0 {
		r.attempts += extra
		if m.writes(op.tool) {
			r.effects += extra
		}
	}
	at.reported = true
	m.settled(ref, d)
}

// bodyOf reports whether an attempt has been reported by its caller.
func (m *model) bodyOf(ref Ref, ordinal int64) bool {
	op, _ := m.live.Op(ref)
	at := op.Attempt(ordinal)
	return at == nil || !at.Body.IsZero()
}

// settled takes a report's or a sweep's answer into the model.
func (m *model) settled(ref Ref, d Decision) {
	op := m.ops[ref]
	if d.Outcome == OutcomeSucceeded {
		op.closed, op.stopped = m.writes(op.tool), false
	}
	if d.Verdict.Ends() {
		op.stopped = true
	}
}

// expire lets time pass to the next instant at which something is due, and
// sweeps.
func (m *model) expire(t *rapid.T) {
	due, next := m.live.Due(m.now, 9)
	if len(due) == 0 && next.IsZero() {
		t.Skip("nothing will be due")
	}
	if len(due) == 0 {
		m.now = next
		due, _ = m.live.Due(m.now, 9)
	}
	for range 2 { // what is lost by a sweep may be due itself then
		for _, ref := range due {
			before, _ := m.live.Op(ref)
			d := m.send(Sweep(ref))
			if op := m.ops[ref]; before.Newest().InFlight() {
				op.attempts[len(op.attempts)-1].reported = true
				m.settled(ref, d)
			}
		}
		due, _ = m.live.Due(m.now, 9)
	}
	if len(due) > 0 {
		m.t.Fatalf("still due after a sweep: %v", due)
	}
}

func (m *model) clock(t *rapid.T) {
	m.behind = rapid.IntRange(0, 9).Draw(t, "behind") == 0
	if !m.behind { // while it is behind, time stands still (R-B10)
		m.after(time.Duration(rapid.IntRange(0, 8000).Draw(t, "ms")) * time.Millisecond)
	}
}

// restart folds the ledger into a new state, and goes on with that.
func (m *model) restart(*rapid.T) {
	var l Live
	for i := range m.ledger {
		if _, err := l.Fold(m.ledger[i]); err != nil {
			m.t.Fatal(err)
		}
	}
	if diff := cmp.Diff(everything(&l), everything(&m.live)); diff != "" {
		m.t.Fatalf("after a restart (-folded +live):\n%s", diff)
	}
	m.live = l
}

// check compares the counters, and asks the provider.
func (m *model) check(*rapid.T) {
	for id, want := range m.runs {
		run, _ := m.live.Run(id)
		got := run.Budget.Spent
		if got != (Counters{want.attempts, want.effects, want.tokens}) {
			m.t.Fatalf("%s: spent = %+v, want %d attempts, %d side effects, %d tokens", id, got, want.attempts, want.effects, want.tokens)
		}
	}
	for ref, op := range m.ops {
		if op.applied > 1 {
			m.t.Fatalf("%s in %s was applied %d times (I7)", ref.Op, ref.Run, op.applied)
		}
	}
}
