// Package storetest holds what every engine of the gate must do: the suite
// that they all pass, and stories to tell them.
package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tollgate/gate"
)

// Make returns a fresh, empty engine with the id Realm, and a function that
// closes it and opens it again; nil for an engine that keeps nothing.
type Make func(t *testing.T) (e gate.Engine, reopen func() gate.Engine)

// Run runs the suite.
func Run(t *testing.T, mk Make) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, mk Make)
	}{
		{"an empty store", empty},
		{"the zero transition is refused", zeroTransition},
		{"a stale commit is refused", staleCommit},
		{"a chain is written as a whole or not at all", allOrNothing},
		{"a chain is written as if one after another", chainInOrder},
		{"what repeats is not written", repeats},
		{"what is accepted is answered once", accepts},
		{"an ask is decided on its parent", parents},
		{"seqs are dense and the history of a run is linked", denseSeqs},
		{"of concurrent commits on one reading one wins", oneWins},
		{"what was read stays as it was", readStays},
		{"watch never skips", watch},
		{"a read sees the commit before it", readsFollow},
		{"windows add up", windows},
		{"windows have bounds", bounds},
		{"what is resolved comes newest first", resolvedNewestFirst},
		{"what is put off comes in the order of its return", putOff},
		{"what is due comes earliest first", due},
		{"survives reopening", survives},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, mk) })
	}
}

// begun returns an engine with the contract adopted and the run r0 started,
// and the story that it is in.
func begun(t *testing.T, mk Make) (gate.Engine, *Story, func() gate.Engine) {
	t.Helper()
	e, reopen := mk(t)
	s := NewStory(1)
	c, err := s.Adopt()
	if err != nil {
		t.Fatal(err)
	}
	must(t, e, s, c)
	must(t, e, s, startRun("r0"))
	return e, s, reopen
}

func startRun(id gate.RunID) gate.Start {
	attempts, effects, deadline := int64(1000), int64(1000), time.Hour
	return gate.Start{Actor: people[2], Run: id, Limits: gate.Limits{Attempts: &attempts, SideEffects: &effects, Deadline: &deadline}}
}

func askFor(run gate.RunID, op gate.OpID) gate.Ask {
	return gate.Ask{Actor: people[2], Run: run, ID: "ask-" + string(op), Op: op, Tool: "put", Input: []byte("{}")}
}

func must(t *testing.T, e gate.Engine, s *Story, c gate.Command) gate.Decision {
	t.Helper()
	d, err := Decide(t.Context(), e, c, s.Inputs())
	if err != nil {
		t.Fatalf("%s: %v", c.Act(), err)
	}
	return d
}

// step decides a command on what the engine holds now, and commits nothing.
func step(t *testing.T, e gate.Engine, s *Story, c gate.Command) gate.Transition {
	t.Helper()
	want, err := c.Wants(s.Contract)
	if err != nil {
		t.Fatal(err)
	}
	state, err := e.Load(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := gate.Step(state, c, s.Inputs())
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func headOf(t *testing.T, e gate.Engine) gate.Head {
	t.Helper()
	h, err := e.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func empty(t *testing.T, mk Make) {
	e, _ := mk(t)
	if diff := cmp.Diff(gate.Head{Realm: Realm}, headOf(t, e)); diff != "" {
		t.Errorf("head (-want +got):\n%s", diff)
	}
	state, err := e.Load(t.Context(), gate.Want{Run: "r", Op: "o", Line: true, NewRun: "n", Depends: []string{"d"}, Said: "a"})
	if diff := cmp.Diff(gate.State{}, state); err != nil || diff != "" {
		t.Errorf("state, %v (-want +got):\n%s", err, diff)
	}
	if _, err := e.Run(t.Context(), "r", Noon); !errors.Is(err, gate.ErrNoRun) {
		t.Errorf("run = %v, want %v", err, gate.ErrNoRun)
	}
	if _, err := e.Operation(t.Context(), gate.Ref{Run: "r", Op: "o"}, Noon); err == nil {
		t.Error("operation = no error, want one")
	}
	if _, err := e.Find(t.Context(), "i-0123456789"); !errors.Is(err, gate.ErrNoItem) {
		t.Errorf("item = %v, want %v", err, gate.ErrNoItem)
	}
	if c, err := e.Counts(t.Context()); err != nil || c != (gate.Counts{}) {
		t.Errorf("counts = %+v, %v, want none", c, err)
	}
	if p, err := e.Ledger(t.Context(), gate.LedgerQuery{}); err != nil || len(p.Rows) > 0 || p.Next != 1 {
		t.Errorf("ledger = %+v, %v, want nothing and 1 to come", p, err)
	}
	for _, back := range []bool{false, true} {
		if p, err := e.Ledger(t.Context(), gate.LedgerQuery{Run: "r", Back: back}); err != nil || len(p.Rows) > 0 {
			t.Errorf("history = %+v, %v, want nothing", p, err)
		}
	}
	if due, next, err := e.Due(t.Context(), Noon, 10); err != nil || len(due) > 0 || !next.IsZero() {
		t.Errorf("due = %v, %v, %v, want nothing", due, next, err)
	}
}

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

func watch(t *testing.T, mk Make) {
	e, s, _ := begun(t, mk)
	ctx, cancel := context.WithCancel(t.Context())
	news := e.Watch(ctx)
	idle := e.Watch(ctx) // nobody reads it, and it holds nobody up
	const asks = 200
	var wg sync.WaitGroup
	in := s.Inputs()
	last := headOf(t, e).Seq + asks
	wg.Go(func() {
		for i := range asks {
			if _, err := decideUntilDone(t.Context(), e, askFor("r0", gate.OpID(fmt.Sprintf("op%d", i))), in); err != nil {
				t.Error(err)
				return
			}
		}
	})
	next, told := uint64(1), uint64(0)
	for seq := range news {
		if seq <= told {
			t.Errorf("watch told seq %d after %d", seq, told)
		}
		told = seq
		for next <= seq {
			page, err := e.Ledger(t.Context(), gate.LedgerQuery{From: next, Limit: 50})
			if err != nil || len(page.Rows) == 0 {
				t.Fatalf("ledger from %d, of which watch told %d = %d rows, %v", next, seq, len(page.Rows), err)
			}
			for _, row := range page.Rows {
				if row.Seq != next {
					t.Fatalf("ledger has seq %d where %d was due", row.Seq, next)
				}
				next++
			}
		}
		if next > last {
			break
		}
	}
	wg.Wait()
	cancel()
	for range news { // closed when its context ends
	}
	if got := <-idle; got != last {
		t.Errorf("the watch that nobody read holds %d, want %d", got, last)
	}
	for range idle {
	}
}

func readsFollow(t *testing.T, mk Make) {
	e, s, _ := begun(t, mk)
	for i := range 30 {
		op := gate.OpID(fmt.Sprintf("op%d", i))
		d := must(t, e, s, askFor("r0", op))
		row, err := e.Operation(t.Context(), gate.Ref{Run: "r0", Op: op}, s.Now)
		if err != nil || row.Last != d.Seq || row.State != gate.OpInFlight {
			t.Fatalf("operation = %+v, %v, want in flight since seq %d", row, err, d.Seq)
		}
		if c, err := e.Counts(t.Context()); err != nil || c.Seq != d.Seq {
			t.Fatalf("counts = %+v, %v, want seq %d", c, err, d.Seq)
		}
	}
}

// told tells an engine a story that leaves runs and items of every kind.
func told(t *testing.T, mk Make, n int) (gate.Engine, *Story, func() gate.Engine) {
	t.Helper()
	e, reopen := mk(t)
	s := NewStory(7)
	if err := s.Tell(t.Context(), e, n); err != nil {
		t.Fatal(err)
	}
	return e, s, reopen
}

// windows checks that any window is the part of the whole list that it should
// be, whatever its anchor.
func windows(t *testing.T, mk Make) {
	e, s, _ := told(t, mk, 600)
	ctx := t.Context()
	for _, state := range []gate.HoldState{gate.HoldOpen, gate.HoldDeadLetter, gate.HoldResolved} {
		checkWindows(t, "items "+state.String(), func(w gate.Window) ([]gate.ItemRow, bool, error) {
			p, err := e.Items(ctx, gate.ItemsQuery{Window: w, Now: s.Now, State: state})
			return p.Rows, p.More, err
		}, func(r gate.ItemRow) string { return string(r.ID) })
	}
	checkWindows(t, "items that are put off", func(w gate.Window) ([]gate.ItemRow, bool, error) {
		p, err := e.Items(ctx, gate.ItemsQuery{Window: w, Now: s.Now, Snoozed: true})
		return p.Rows, p.More, err
	}, func(r gate.ItemRow) string { return string(r.ID) })
	for _, state := range []gate.RunState{0, gate.RunActive, gate.RunExhausted, gate.RunEnded} {
		checkWindows(t, fmt.Sprintf("runs of state %d", state), func(w gate.Window) ([]gate.RunRow, bool, error) {
			p, err := e.Runs(ctx, gate.RunsQuery{Window: w, Now: s.Now, State: state})
			return p.Rows, p.More, err
		}, func(r gate.RunRow) string { return string(r.Run) })
	}
}

func checkWindows[R any](t *testing.T, what string, read func(gate.Window) ([]R, bool, error), id func(R) string) {
	t.Helper()
	all, more, err := read(gate.Window{})
	if err != nil || more {
		t.Fatalf("%s: %d rows, more %v, %v", what, len(all), more, err)
	}
	if len(all) == 0 {
		t.Logf("%s: none in this story", what)
	}
	for i := 0; i < len(all); i += 1 + len(all)/8 {
		for _, w := range []gate.Window{{After: 1}, {Before: 2, After: 3}, {Before: 100, After: 1}, {Before: 1, After: 100}} {
			w.Anchor = id(all[i])
			rows, more, err := read(w)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			from, to := max(0, i-w.Before), min(len(all), i+w.After)
			if diff := cmp.Diff(all[from:to], rows); diff != "" {
				t.Errorf("%s, %d before and %d after row %d (-want +got):\n%s", what, w.Before, w.After, i, diff)
			}
			if more != (to < len(all)) {
				t.Errorf("%s: more after row %d of %d = %v", what, to, len(all), more)
			}
		}
	}
}

// resolvedNewestFirst checks the order of the resolved items, and that each
// says how it ended and who ended it.
func resolvedNewestFirst(t *testing.T, mk Make) {
	e, s, _ := begun(t, mk)
	const n = 4
	var want []gate.ItemRow
	for i := range n {
		op := gate.OpID(fmt.Sprintf("op%d", i))
		ask := askFor("r0", op)
		ask.Tool = "charge"
		must(t, e, s, ask)
		must(t, e, s, gate.Report{Actor: people[2], Run: "r0", Op: op, Ordinal: 1, Failure: gate.Failure{Code: "timeout"}})
		row := gate.ItemRow{Op: op, Ended: gate.ActReject, EndedBy: people[i%2].Name}
		if i == 1 {
			row.Ended, row.Finding = gate.ActReconcile, gate.FindingHappened
		}
		want = append(want, row)
	}
	for i := range n { // in another order than they were opened
		row := &want[(i+2)%n]
		s.Now = s.Now.Add(time.Second)
		row.Resolved = gate.InstantOf(s.Now)
		who := people[slices.IndexFunc(people, func(a gate.Actor) bool { return a.Name == row.EndedBy })]
		must(t, e, s, gate.Verb{
			Actor: who, Do: row.Ended, Run: "r0", Op: row.Op, Version: 1, Reason: "looked", Evidence: "line 812", Finding: row.Finding,
		})
	}
	slices.SortFunc(want, func(a, b gate.ItemRow) int { return b.Resolved.Compare(a.Resolved.Time) })
	for _, run := range []gate.RunID{"", "r0"} {
		page, err := e.Items(t.Context(), gate.ItemsQuery{Now: s.Now, State: gate.HoldResolved, Run: run})
		if err != nil {
			t.Fatal(err)
		}
		var got []gate.ItemRow
		for _, row := range page.Rows {
			got = append(got, gate.ItemRow{Op: row.Op, Resolved: row.Resolved, Ended: row.Ended, EndedBy: row.EndedBy, Finding: row.Finding})
		}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("resolved items of run %q (-got +want):\n%s", run, diff)
		}
	}
}

// putOff checks that open items that are put off are in a list of their own,
// and in that of the open ones when their time has come.
func putOff(t *testing.T, mk Make) {
	e, s, _ := begun(t, mk)
	lasts := []time.Duration{30 * time.Second, 0, 10 * time.Second, 20 * time.Second}
	for i, d := range lasts {
		op := gate.OpID(fmt.Sprintf("op%d", i))
		ask := askFor("r0", op)
		ask.Tool = "charge"
		must(t, e, s, ask)
		must(t, e, s, gate.Report{Actor: people[2], Run: "r0", Op: op, Ordinal: 1, Failure: gate.Failure{Code: "timeout"}})
		if d > 0 {
			must(t, e, s, gate.Verb{Actor: people[0], Do: gate.ActSnooze, Run: "r0", Op: op, Version: 1, Until: s.Now.Add(d)})
		}
	}
	since := s.Now
	for _, row := range []struct {
		name  string
		q     gate.ItemsQuery
		after time.Duration
		want  []gate.OpID
		total int64
	}{
		{"all of them", gate.ItemsQuery{}, 0, []gate.OpID{"op2", "op3", "op0"}, 3},
		{"of the run", gate.ItemsQuery{Run: "r0"}, 0, []gate.OpID{"op2", "op3", "op0"}, 3},
		{"of another run", gate.ItemsQuery{Run: "r1"}, 0, nil, 0},
		{"of their kind", gate.ItemsQuery{Kind: gate.KindOutcomeUnknown}, 0, []gate.OpID{"op2", "op3", "op0"}, 3},
		{"of another kind", gate.ItemsQuery{Kind: gate.KindApproval}, 0, nil, 0},
		{"with a text", gate.ItemsQuery{Text: "op3"}, 0, []gate.OpID{"op3"}, 1},
		{"among dead-letters", gate.ItemsQuery{State: gate.HoldDeadLetter}, 0, nil, 0},
		{"the first two", gate.ItemsQuery{Window: gate.Window{After: 2}}, 0, []gate.OpID{"op2", "op3"}, 3},
		{"around one", gate.ItemsQuery{Window: gate.Window{Anchor: string(gate.ItemIDOf("r0", "op3")), Before: 1, After: 1}}, 0, []gate.OpID{"op2", "op3"}, 3},
		{"when the first comes back", gate.ItemsQuery{}, lasts[2], []gate.OpID{"op3", "op0"}, 2},
		{"just before that", gate.ItemsQuery{}, lasts[2] - time.Millisecond, []gate.OpID{"op2", "op3", "op0"}, 3},
		{"when all are back", gate.ItemsQuery{}, time.Minute, nil, 0},
	} {
		row.q.Now, row.q.Snoozed = since.Add(row.after), true
		page, err := e.Items(t.Context(), row.q)
		if err != nil {
			t.Fatal(err)
		}
		var got []gate.OpID
		for _, r := range page.Rows {
			got = append(got, r.Op)
		}
		if diff := cmp.Diff(got, row.want); diff != "" || page.Total != row.total {
			t.Errorf("%s: %d in all, want %d; rows (-got +want):\n%s", row.name, page.Total, row.total, diff)
		}
		if row.q.Text+string(row.q.Run)+row.q.Anchor != "" || row.q.Kind != 0 || row.q.State != 0 || row.q.After != 0 {
			continue
		}
		row.q.Snoozed = false
		if page, err := e.Items(t.Context(), row.q); err != nil || page.Total != int64(len(lasts))-row.total {
			t.Errorf("%s: %d others, %v, want %d", row.name, page.Total, err, int64(len(lasts))-row.total)
		}
	}
	must(t, e, s, gate.Verb{Actor: people[1], Do: gate.ActReject, Run: "r0", Op: "op2", Version: 1, Reason: "no use"})
	if page, err := e.Items(t.Context(), gate.ItemsQuery{Now: s.Now, Snoozed: true}); err != nil || page.Total != 2 || page.Rows[0].Op != "op3" {
		t.Errorf("after one was resolved: %+v, %v", page, err)
	}
}

func due(t *testing.T, mk Make) {
	e, s, _ := begun(t, mk)
	var want []gate.Ref
	for i := range 6 {
		op := gate.OpID(fmt.Sprintf("op%d", i))
		must(t, e, s, askFor("r0", op))
		want = append(want, gate.Ref{Run: "r0", Op: op})
		s.Now = s.Now.Add(time.Second)
	}
	late := s.Now.Add(time.Minute)
	got, next, err := e.Due(t.Context(), late, 4)
	if diff := cmp.Diff(want[:4], got); err != nil || diff != "" || next.IsZero() {
		t.Errorf("due, next %v, %v (-want +got):\n%s", next, err, diff)
	}
	if got, _, err := e.Due(t.Context(), next.Add(-time.Millisecond), 100); err != nil || len(got) != 4 {
		t.Errorf("due before the fifth = %v, %v, want four", got, err)
	}
	// Once for the reports that nobody sent (R-C5), and once, when the run's
	// deadline has passed, for outcomes that nobody knows (R-T6).
	for _, at := range []time.Time{late, Noon.Add(2 * time.Hour)} {
		s.Now = at
		if got, _, err := e.Due(t.Context(), at, 100); err != nil || len(got) != len(want) {
			t.Fatalf("due at %v = %v, %v, want %d", at, got, err, len(want))
		}
		for _, ref := range want {
			must(t, e, s, gate.Sweep(ref))
		}
		if got, _, err := e.Due(t.Context(), at, 100); err != nil || len(got) > 0 {
			t.Errorf("due after the sweeps = %v, %v, want nothing", got, err)
		}
	}
	if got, next, err := e.Due(t.Context(), s.Now.Add(time.Hour), 100); err != nil || len(got) > 0 || !next.IsZero() {
		t.Errorf("due in the end = %v, %v, %v, want nothing", got, next, err)
	}
}

func survives(t *testing.T, mk Make) {
	e, s, reopen := told(t, mk, 500)
	if reopen == nil {
		t.Skip("this engine keeps nothing")
	}
	ctx := t.Context()
	read := func(e gate.Engine) (all []any) {
		add := func(v any, err error) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, v)
		}
		h, err := e.Head(ctx)
		add(h, err)
		c, err := e.Counts(ctx)
		add(c, err)
		deps, err := e.Dependencies(ctx, s.Now)
		add(deps, err)
		items, err := e.Items(ctx, gate.ItemsQuery{Now: s.Now})
		add(items, err)
		ledger, err := e.Ledger(ctx, gate.LedgerQuery{})
		add(ledger, err)
		refs, next, err := e.Due(ctx, s.Now, 100)
		add([]any{refs, next}, err)
		for _, ref := range s.refs {
			st, err := e.Load(ctx, gate.Want{Run: ref.Run, Op: ref.Op, Line: true, Ordinal: 1})
			add(st, err)
		}
		return all
	}
	before := read(e)
	e = reopen()
	if diff := cmp.Diff(before, read(e), decisions); diff != "" {
		t.Errorf("after reopening (-before +after):\n%s", diff)
	}
	if err := s.Tell(ctx, e, 100); err != nil {
		t.Errorf("going on after reopening: %v", err)
	}
}
