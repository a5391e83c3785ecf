package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tollgate/gate"
)

func zeroTransition(t *testing.T, mk Make) {
	e, s, _ := begun(t, mk)
	before := headOf(t, e)
	good := step(t, e, s, askFor("r0", "op"))
	for _, chain := range [][]gate.Transition{{{}}, {good, {}}, {{}, good}} {
		if _, err := e.Commit(t.Context(), chain...); err == nil {
			t.Errorf("commit of a chain of %d with a zero transition = no error, want one", len(chain))
		}
	}
	if diff := cmp.Diff(before, headOf(t, e)); diff != "" {
		t.Errorf("head (-before +after):\n%s", diff)
	}
	if _, err := e.Commit(t.Context(), good); err != nil {
		t.Errorf("commit of the good one alone = %v", err)
	}
	if out, err := e.Commit(t.Context()); err != nil || len(out) > 0 {
		t.Errorf("commit of nothing = %v, %v, want nothing", out, err)
	}
}

func staleCommit(t *testing.T, mk Make) {
	e, s, _ := begun(t, mk)
	old := step(t, e, s, askFor("r0", "op1"))
	oldStart := step(t, e, s, startRun("r1"))
	must(t, e, s, askFor("r0", "op2"))
	must(t, e, s, startRun("r1"))
	before := headOf(t, e)
	for name, tr := range map[string]gate.Transition{"a run that has moved": old, "a run that has come to be": oldStart} {
		if _, err := e.Commit(t.Context(), tr); !errors.Is(err, gate.ErrConflict) {
			t.Errorf("%s: commit = %v, want %v", name, err, gate.ErrConflict)
		}
	}
	if diff := cmp.Diff(before, headOf(t, e)); diff != "" {
		t.Errorf("head (-before +after):\n%s", diff)
	}
	must(t, e, s, askFor("r0", "op1"))

	// A dependency that has moved, with the run as it was.
	must(t, e, s, startRun("r2"))
	guarded := step(t, e, s, askFor("r2", "op1"))
	must(t, e, s, askFor("r0", "op3"))
	if !slices.ContainsFunc(guarded.Reads(), func(r gate.Read) bool { return r.Dep == "files" }) {
		t.Fatalf("reads = %v, want the dependency among them", guarded.Reads())
	}
	if _, err := e.Commit(t.Context(), guarded); !errors.Is(err, gate.ErrConflict) {
		t.Errorf("a dependency that has moved: commit = %v, want %v", err, gate.ErrConflict)
	}
}

func allOrNothing(t *testing.T, mk Make) {
	e, s, _ := begun(t, mk)
	must(t, e, s, startRun("r1"))
	stale := step(t, e, s, askFor("r1", "op1"))
	must(t, e, s, askFor("r1", "op2"))
	first := step(t, e, s, askFor("r0", "op1"))
	before, wants := headOf(t, e), []gate.Want{{Run: "r0", Op: "op1"}, {Run: "r1", Op: "op1"}, {Depends: []string{"files"}}}
	state, err := e.Load(t.Context(), wants...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Commit(t.Context(), first, stale); !errors.Is(err, gate.ErrConflict) {
		t.Fatalf("commit = %v, want %v", err, gate.ErrConflict)
	}
	after, err := e.Load(t.Context(), wants...)
	if diff := cmp.Diff(state, after); err != nil || diff != "" {
		t.Errorf("state, %v (-before +after):\n%s", err, diff)
	}
	if diff := cmp.Diff(before, headOf(t, e)); diff != "" {
		t.Errorf("head (-before +after):\n%s", diff)
	}
	if view, err := e.Run(t.Context(), "r0", s.Now); err != nil || len(view.Ops) > 0 {
		t.Errorf("operations = %v, %v, want none", view.Ops, err)
	}
	if _, err := e.Commit(t.Context(), first); err != nil {
		t.Errorf("commit of the first alone = %v", err)
	}
}

func chainInOrder(t *testing.T, mk Make) {
	e, s, _ := begun(t, mk)
	state, err := e.Load(t.Context(), gate.Want{Run: "r0", Depends: []string{"files"}})
	if err != nil {
		t.Fatal(err)
	}
	var chain []gate.Transition
	for i := range 5 {
		tr, err := gate.Step(state, askFor("r0", gate.OpID(fmt.Sprintf("op%d", i))), s.Inputs())
		if err != nil {
			t.Fatal(err)
		}
		if state, err = gate.Fold(state, tr.Decision()); err != nil {
			t.Fatal(err)
		}
		chain = append(chain, tr)
	}
	before := headOf(t, e)
	out, err := e.Commit(t.Context(), chain...)
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range out {
		if d.Seq != before.Seq+1+uint64(i) || d.Before.Spent.Attempts != int64(i) {
			t.Errorf("decision %d of the chain: seq %d with %d spent, want %d with %d",
				i, d.Seq, d.Before.Spent.Attempts, before.Seq+1+uint64(i), i)
		}
	}
	view, err := e.Run(t.Context(), "r0", s.Now)
	if err != nil || view.Budget.Attempts.Spent != 5 || len(view.Ops) != 5 {
		t.Errorf("run = %+v with %d operations, %v, want 5 spent on 5", view.Budget, len(view.Ops), err)
	}
	// A chain turned round was not decided that way.
	slices.Reverse(chain)
	if _, err := e.Commit(t.Context(), chain...); !errors.Is(err, gate.ErrConflict) {
		t.Errorf("commit of the chain turned round = %v, want %v", err, gate.ErrConflict)
	}
}

func repeats(t *testing.T, mk Make) {
	e, s, _ := begun(t, mk)
	first := must(t, e, s, askFor("r0", "op1"))
	before := headOf(t, e)
	again := step(t, e, s, askFor("r0", "op1"))
	if !again.Repeats() {
		t.Fatal("the same ask again does not repeat")
	}
	out, err := e.Commit(t.Context(), again, step(t, e, s, startRun("r0")))
	if err != nil || len(out) != 2 {
		t.Fatalf("commit = %v, %v, want two decisions", out, err)
	}
	if diff := cmp.Diff(first, out[0], decisions); diff != "" {
		t.Errorf("decision (-first +again):\n%s", diff)
	}
	if diff := cmp.Diff(before, headOf(t, e)); diff != "" {
		t.Errorf("head (-before +after):\n%s", diff)
	}
	// Beside one that is written, each keeps its place.
	out, err = e.Commit(t.Context(), again, step(t, e, s, askFor("r0", "op2")))
	if err != nil || len(out) != 2 || out[0].Seq != first.Seq || out[1].Seq != before.Seq+1 {
		t.Errorf("commit = seqs of %v, %v, want %d and %d", out, err, first.Seq, before.Seq+1)
	}
}

// parents checks that an ask finds the operation that it serves, and no other.
func parents(t *testing.T, mk Make) {
	e, s, reopen := begun(t, mk)
	must(t, e, s, askFor("r0", "parent"))
	must(t, e, s, startRun("r1"))
	if reopen != nil {
		e = reopen()
	}
	child := askFor("r0", "child")
	child.Parent = "parent"
	first := must(t, e, s, child)
	before := headOf(t, e)
	if again := must(t, e, s, child); again.Seq != first.Seq {
		t.Errorf("the same ask again = seq %d, want %d", again.Seq, first.Seq)
	}
	elsewhere, nobody := askFor("r1", "child"), askFor("r0", "other")
	elsewhere.Parent, nobody.Parent = "parent", "nobody"
	for _, c := range []gate.Ask{elsewhere, nobody} {
		_, err := Decide(t.Context(), e, c, s.Inputs())
		if bad := new(gate.InputError); !errors.As(err, &bad) || bad.Field != "parent" {
			t.Errorf("parent %q in %s = %v, want an error about the parent", c.Parent, c.Run, err)
		}
	}
	if diff := cmp.Diff(before, headOf(t, e)); diff != "" {
		t.Errorf("head (-before +after):\n%s", diff)
	}
}

// decisions compares decisions without the contract, which is kept by its
// digest.
var decisions = cmp.Options{cmpopts.IgnoreFields(gate.Inputs{}, "Contract"), cmpopts.EquateEmpty()}

func denseSeqs(t *testing.T, mk Make) {
	e, s, _ := begun(t, mk)
	const runs, asks = 12, 15
	for r := range runs {
		must(t, e, s, startRun(runID(r)))
	}
	in := s.Inputs()
	var mu sync.Mutex
	var seqs []uint64
	var wg sync.WaitGroup
	for r := range runs {
		wg.Go(func() {
			for a := range asks {
				d, err := decideUntilDone(t.Context(), e, askFor(runID(r), gate.OpID(fmt.Sprintf("op%d", a))), in)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				seqs = append(seqs, d.Seq)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	slices.Sort(seqs)
	for i, seq := range seqs {
		if want := seqs[0] + uint64(i); seq != want {
			t.Fatalf("seq %d was given where %d was due", seq, want)
		}
	}
	if h := headOf(t, e); h.Seq != seqs[len(seqs)-1] {
		t.Errorf("head is at seq %d, want %d", h.Seq, seqs[len(seqs)-1])
	}
	for r := range runs {
		page, err := e.Ledger(t.Context(), gate.LedgerQuery{Run: runID(r)})
		if err != nil || len(page.Rows) != 1+asks {
			t.Fatalf("history of %s = %d decisions, %v, want %d", runID(r), len(page.Rows), err, 1+asks)
		}
	}
}

func runID(n int) gate.RunID { return gate.RunID(fmt.Sprintf("run-%d", n)) }

// decideUntilDone decides again for as long as what was read has moved, as the
// door does.
func decideUntilDone(ctx context.Context, e gate.Engine, c gate.Command, in gate.Inputs) (gate.Decision, error) {
	for {
		d, err := Decide(ctx, e, c, in)
		if !errors.Is(err, gate.ErrConflict) {
			return d, err
		}
	}
}

func oneWins(t *testing.T, mk Make) {
	e, s, _ := begun(t, mk)
	for round := range 20 {
		var chain []gate.Transition
		for i := range 8 {
			chain = append(chain, step(t, e, s, askFor("r0", gate.OpID(fmt.Sprintf("op%d-%d", round, i)))))
		}
		errs := make([]error, len(chain))
		var wg sync.WaitGroup
		for i, tr := range chain {
			wg.Go(func() { _, errs[i] = e.Commit(t.Context(), tr) })
		}
		wg.Wait()
		won := 0
		for _, err := range errs {
			switch {
			case err == nil:
				won++
			case !errors.Is(err, gate.ErrConflict):
				t.Errorf("commit = %v, want %v", err, gate.ErrConflict)
			}
		}
		if won != 1 {
			t.Fatalf("%d of %d commits on one reading were taken, want 1", won, len(chain))
		}
	}
}

// readStays checks that nothing which is decided later shows in a state that
// was loaded before: whoever decides on it may still be at it.
func readStays(t *testing.T, mk Make) {
	e, _ := mk(t)
	s := NewStory(3)
	var states []gate.State
	var texts [][]byte
	text := func(state gate.State) []byte {
		b, err := json.Marshal(state)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for i := range 400 {
		if err := s.Tell(t.Context(), e, 1); err != nil {
			t.Fatal(err)
		}
		if len(s.refs) == 0 {
			continue
		}
		ref := s.refs[i%len(s.refs)]
		state, err := e.Load(t.Context(), gate.Want{Run: ref.Run, Op: ref.Op, Line: true, Whole: i%3 == 0, Depends: []string{"files"}})
		if err != nil {
			t.Fatal(err)
		}
		states, texts = append(states, state), append(texts, text(state))
	}
	for i := range states {
		if diff := cmp.Diff(string(texts[i]), string(text(states[i]))); diff != "" {
			t.Fatalf("state %d of %d (-as it was read +now):\n%s", i, len(states), diff)
		}
	}
}
