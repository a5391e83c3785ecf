// Package storetest holds what every engine of the gate must do: the suite
// that they all pass, and stories to tell them.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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
		{"a filter chooses runs", filtersRuns},
		{"a filter chooses items", filtersItems},
		{"a filter chooses decisions", filtersLedger},
		{"a filter of the ledger looks so far and no further", scans},
		{"a filter finds the few that have failed", fewFailed},
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
	if _, err := e.Operation(t.Context(), gate.Ref{Run: "r", Op: "o"}, Noon); !errors.Is(err, gate.ErrNoRun) {
		t.Errorf("operation of no run = %v, want %v", err, gate.ErrNoRun)
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

func watch(t *testing.T, mk Make) {
	e, s, reopen := begun(t, mk)
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
	if reopen != nil {
		open := e.Watch(t.Context())
		reopen()
		for range open { // closed with its engine
		}
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
