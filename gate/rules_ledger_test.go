package gate

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// R-L1: what a decision holds.
func TestRL1WhatADecisionHolds(t *testing.T) {
	w := newWorld(t)
	w.policy(func(p *Policy) { p.Backoff = Backoff{Base: time.Second, Cap: time.Minute} })
	w.jitter = 0.25
	w.ask("a", "pay", func(c *Ask) { c.Trace = "4bf92f3577b34da6a3ce929d0e0e4736" })
	w.after(time.Second)
	w.fail("a", "timeout")
	w.after(100 * time.Millisecond)
	before := w.header().Budget
	d := w.is(w.ask("a", "pay", path(PathQueue), by("main/b"), func(c *Ask) { c.Trace = "tr" }), Retry)
	equal(t, "seq", d.Seq, 4)
	equal(t, "previous of the run", d.Prev, 3)
	equal(t, "time", d.Inputs.Now, w.now)
	equal(t, "jitter", d.Inputs.Jitter, 0.25)
	equal(t, "run", d.Run, "r1")
	equal(t, "operation", d.Op, "a")
	equal(t, "ordinal", d.Ordinal, 2)
	equal(t, "path", d.Path, PathQueue)
	equal(t, "agent", d.Agent, "main/b")
	equal(t, "actor", d.Command.Who(), agent)
	equal(t, "trace", d.Command.(Ask).Trace, "tr")
	equal(t, "tool", d.Tool, "pay")
	equal(t, "dependency", d.Dependency, "payments")
	equal(t, "code", d.Code, "timeout")
	equal(t, "class", d.Class, ClassTransient)
	equal(t, "outcome", d.Outcome, OutcomeUnknown)
	equal(t, "before", d.Before, before)
	equal(t, "after", d.After(), w.header().Budget)
	equal(t, "delay", d.Delay, 250*time.Millisecond)
	equal(t, "permit", d.Permit.NotBefore, w.now.Add(150*time.Millisecond))
	equal(t, "key", d.Key, w.op("a").Key)
	equal(t, "contract", d.Contract, w.document)
	equal(t, "rules", d.Rules, RulesVersion)

	w.is(w.ask("b", "charge"), Admit)
	d = w.is(w.fail("b", "timeout"), StopUnsafeToRepeat)
	equal(t, "route", d.Route, RouteReconcile)
	equal(t, "cause of the answer to it", w.act(ActReject, "b").Cause, d.Seq)
	for i := range w.ledger {
		if d := &w.ledger[i]; d.Rules != RulesVersion || d.Contract.IsZero() || d.Command == nil || d.Verdict == 0 || d.Inputs.Now.IsZero() {
			t.Errorf("decision %d lacks a part: %+v", d.Seq, d)
		}
	}
}

// R-L1: a contract is a record, with its document.
func TestRL1ContractIsARecord(t *testing.T) {
	w := newWorld(t)
	doc, err := w.contract.Document()
	if err != nil {
		t.Fatal(err)
	}
	tr, err := Step(State{}, Adopt{Actor: Itself, Document: doc}, w.inputs())
	if err != nil {
		t.Fatal(err)
	}
	d := tr.Decision()
	equal(t, "verdict", d.Verdict, Recorded)
	equal(t, "contract", d.Contract, DocumentDigest(doc))
	back, err := ParseContract(d.Command.(Adopt).Document)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(back, w.contract); diff != "" {
		t.Errorf("contract read back (-got +want):\n%s", diff)
	}
	again, err := back.Document()
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "digest of the document read and written again", DocumentDigest(again), DocumentDigest(doc))
}

// R-L2: a decision is decided again from its command and its inputs; one input
// changed shows.
func TestRL2InputsDecide(t *testing.T) {
	w := newWorld(t)
	w.policy(func(p *Policy) { p.Backoff = Backoff{Base: time.Second, Cap: time.Minute} })
	w.jitter = 0.5
	w.ask("a", "search")
	w.fail("a", "timeout")
	s := everything(&w.live)
	d := w.ask("a", "search")
	again := func(in Inputs) Decision {
		tr, err := Step(s, d.Command, in)
		if err != nil {
			t.Fatal(err)
		}
		out := tr.Decision()
		out.Seq, out.Prev, out.Inputs = d.Seq, d.Prev, d.Inputs
		return out
	}
	same := func(in Inputs) bool { return cmp.Equal(again(in), d, cmp.Comparer(sameContract)) }
	equal(t, "with its inputs", same(d.Inputs), true)
	for name, change := range map[string]func(*Inputs){
		"jitter": func(in *Inputs) { in.Jitter = 0.6 },
		"time":   func(in *Inputs) { in.Now = in.Now.Add(time.Second) },
		"clock":  func(in *Inputs) { in.Behind = true },
		"contract": func(in *Inputs) {
			k := *in.Contract
			k.Tools = map[string]*Tool{"search": {Effect: EffectRead, Dependency: "index", Timeout: time.Hour}}
			in.Contract = &k
		},
	} {
		in := d.Inputs
		change(&in)
		equal(t, "with another "+name, same(in), false)
	}
}

// R-L3: nothing is written but what Step made, all of a chain or nothing, and
// only on the state that it was decided on.
func TestRL3ApplyTakesAllOrNothing(t *testing.T) {
	w := newWorld(t)
	step := func(c Command) Transition {
		t.Helper()
		s, err := w.load(c)
		if err != nil {
			t.Fatal(err)
		}
		tr, err := Step(s, c, w.inputs())
		if err != nil {
			t.Fatal(err)
		}
		return tr
	}
	a, b := step(w.asks("a", "pay")), step(w.asks("b", "pay"))
	before := everything(&w.live)
	for _, row := range []struct {
		name  string
		chain []Transition
		want  error
	}{
		{"the zero Transition", []Transition{{}}, ErrDamaged},
		{"it after a good one", []Transition{a, {}}, ErrDamaged},
		{"two decided on the same state", []Transition{a, b}, ErrConflict},
		{"the same twice", []Transition{a, a}, ErrConflict},
	} {
		_, _, err := w.live.Advance(2, row.chain...)
		fails(t, row.name, err, row.want)
		if diff := cmp.Diff(everything(&w.live), before); diff != "" {
			t.Fatalf("%s: state (-got +before):\n%s", row.name, diff)
		}
		if due, next := w.live.Due(noon.Add(time.Hour), 9); len(due) > 0 || !next.IsZero() {
			t.Fatalf("%s: due = %v, %v, want none", row.name, due, next)
		}
	}
	written, _, err := w.live.Advance(2, a)
	if err != nil || len(written) != 1 {
		t.Fatalf("apply: %v, %d written", err, len(written))
	}
	_, _, err = w.live.Advance(3, b)
	fails(t, "a stale one", err, ErrConflict)
	w.ledger = append(w.ledger, written...)
	w.is(w.do(w.asks("b", "pay")), Admit)
}

// R-L2: a fold of what does not fit is damage, not a panic.
func TestRL2FoldRefusesWhatDoesNotFit(t *testing.T) {
	w := newWorld(t)
	w.ask("a", "pay")
	report := w.ok("a")
	for name, s := range map[string]State{
		"nothing":      {},
		"only the run": {Runs: []Run{w.header()}},
	} {
		if _, err := Fold(s, report); !errors.Is(err, ErrDamaged) {
			t.Errorf("fold on %s: error = %v, want %v", name, err, ErrDamaged)
		}
	}
}

// R-L2: Step and Fold change nothing in the state that they are given.
func TestStepAndFoldLeaveTheirStateAlone(t *testing.T) {
	w := newWorld(t)
	w.start("r1b", limits(10, 5, time.Minute), Cap{Agent: "main", Attempts: 5})
	w.policy(func(p *Policy) { p.Breaker = &BreakerRule{Window: time.Minute, Failures: 1, CoolDown: time.Second} })
	acts := []func(){
		func() { w.ask("a", "pay") }, func() { w.lose("a") }, func() { w.after(time.Second); w.ask("a", "pay") },
		func() { w.ok("a", ordinal(1), inner(2)) }, func() { w.act(ActNote, "a") }, func() { w.reconcile("a", FindingHappened) },
		func() { w.ask("b", "wire") }, func() { w.approve("b") }, func() { w.goOn("b", "r2", limits(9, 9, time.Hour)) },
	}
	for i, act := range acts {
		held := everything(&w.live)
		copied := copyOf(t, held)
		act()
		if diff := cmp.Diff(held, copied); diff != "" {
			t.Fatalf("act %d: the state before it has changed (-got +want):\n%s", i, diff)
		}
	}
}

// copyOf is a state with slices of its own.
func copyOf(t *testing.T, s State) State {
	t.Helper()
	var l Live
	s.Runs = append([]Run(nil), s.Runs...)
	for i := range s.Runs {
		s.Runs[i].Caps = append([]Cap(nil), s.Runs[i].Caps...)
	}
	s.Ops = append([]Operation(nil), s.Ops...)
	for i := range s.Ops {
		op := &s.Ops[i]
		op.Attempts = append([]Attempt(nil), op.Attempts...)
		op.Asks = append([]Memo(nil), op.Asks...)
		op.Hold.Approvals = append([]Grant(nil), op.Hold.Approvals...)
	}
	s.Deps = append([]Dependency(nil), s.Deps...)
	for i := range s.Deps {
		s.Deps[i].Buckets = append([]Bucket(nil), s.Deps[i].Buckets...)
	}
	l.Put(s)
	return everything(&l)
}
