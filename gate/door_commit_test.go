package gate_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"tollgate/gate"
	"tollgate/runstore/memstore"
)

// Concurrent asks can't spend the same slot: of many, each with an operation
// of its own, exactly as many go as the run may (R-B2, R-B4).
func TestDoorConcurrentAsksShareOneBudget(t *testing.T) {
	for _, limit := range []int64{1, 7, 50} {
		h := newHouse(t)
		h.start("r1", limit)
		const callers = 64
		verdicts := make([]gate.Verdict, callers)
		var wg sync.WaitGroup
		for i := range callers {
			wg.Go(func() {
				d, err := h.door.Do(t.Context(), ask("r1", gate.OpID(fmt.Sprint("op-", i)), fmt.Sprint("ask-", i)))
				if err != nil {
					t.Error(err)
				}
				verdicts[i] = d.Verdict
			})
		}
		wg.Wait()
		permits := int64(0)
		for _, v := range verdicts {
			switch v {
			case gate.Admit:
				permits++
			case gate.StopAttemptBudget:
			default:
				t.Errorf("verdict = %v", v)
			}
		}
		equal(t, "permits", permits, limit)
		for i, d := range h.store.Decisions() {
			equal(t, "seq", d.Seq, uint64(i)+1)
		}
	}
}

// Many agents work through repeats at once; the sum holds (R-B4), and each
// operation has one attempt at a time (R-A7).
func TestDoorConcurrentStories(t *testing.T) {
	h := newHouse(t)
	h.start("r1", 40)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			op := gate.OpID(fmt.Sprint("op-", i%8)) // two callers each
			for n := range 6 {
				d, err := h.door.Do(t.Context(), ask("r1", op, fmt.Sprint("ask-", i, "-", n)))
				if err != nil {
					t.Error(err)
					return
				}
				if d.Verdict.Permits() {
					r := gate.Report{Run: "r1", Op: op, Ordinal: d.Ordinal, Failure: gate.Failure{Code: "timeout"}}
					if _, err := h.door.Do(t.Context(), r); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	view, err := h.store.Run(t.Context(), "r1", noon)
	if err != nil {
		t.Fatal(err)
	}
	permits := int64(0)
	for _, d := range h.store.Decisions() {
		if d.Verdict.Permits() {
			permits++
		}
	}
	equal(t, "spent", view.Budget.Attempts.Spent, permits)
	equal(t, "permits", permits, 24) // eight operations with three calls each
}

// R-A8: the same ask from many senders at once is one decision.
func TestDoorSameAskAtOnce(t *testing.T) {
	h := newHouse(t)
	h.start("r1", 9)
	seqs := make([]uint64, 32)
	var wg sync.WaitGroup
	for i := range seqs {
		wg.Go(func() {
			d, err := h.door.Do(t.Context(), ask("r1", "a", "the-ask"))
			if err != nil {
				t.Error(err)
			}
			seqs[i] = d.Seq
		})
	}
	wg.Wait()
	for _, seq := range seqs {
		equal(t, "seq", seq, seqs[0])
	}
	view, err := h.store.Run(t.Context(), "r1", noon)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "spent", view.Budget.Attempts.Spent, 1)
}

// engine is an engine with a commit that a test can hold up or spoil.
type engine struct {
	*memstore.Store
	mu     sync.Mutex
	commit func(ctx context.Context, chain []gate.Transition) error // nil: as it is
	chains [][]gate.Transition
}

func (e *engine) Commit(ctx context.Context, chain ...gate.Transition) ([]gate.Decision, error) {
	e.mu.Lock()
	before := e.commit
	e.chains = append(e.chains, chain)
	e.mu.Unlock()
	if before != nil {
		if err := before(ctx, chain); err != nil {
			return nil, err
		}
	}
	return e.Store.Commit(ctx, chain...)
}

func (e *engine) set(commit func(context.Context, []gate.Transition) error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.commit, e.chains = commit, nil
}

// What waits while a commit is under way is decided as one chain; a command
// that is no decision is answered with its error and left out.
func TestDoorChainsWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		e := &engine{Store: h.store}
		h.open(e)
		h.start("r1", 9)
		release := make(chan bool)
		e.set(func(context.Context, []gate.Transition) error { <-release; return nil })
		send := func(c gate.Command) *error {
			err := errors.New("no answer")
			go func() { _, err = h.door.Do(t.Context(), c) }()
			return &err
		}
		errs := []*error{send(ask("r1", "first", "1"))}
		synctest.Wait() // the first is being committed: what comes now waits
		for i := range 5 {
			errs = append(errs, send(ask("r1", gate.OpID(fmt.Sprint("op-", i)), "1")))
		}
		synctest.Wait()
		bad := send(gate.Report{Run: "r1", Op: "absent", Ordinal: 1, OK: true})
		errs = append(errs, send(ask("r1", "op-0", "2")))
		synctest.Wait()
		close(release)
		synctest.Wait()
		for i, err := range errs {
			if *err != nil {
				t.Errorf("command %d: %v", i, *err)
			}
		}
		if !errors.Is(*bad, gate.ErrNoOperation) {
			t.Errorf("a report of nothing: %v, want %v", *bad, gate.ErrNoOperation)
		}
		var sizes []int
		for _, chain := range e.chains {
			sizes = append(sizes, len(chain))
		}
		if want := []int{1, 5, 1}; !slices.Equal(sizes, want) {
			t.Errorf("chains = %v, want %v: an operation once in a chain", sizes, want)
		}
	})
}

// R-A1: a parent has asked before its child, in the same chain too.
func TestDoorChildAfterItsParentInOneChain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		e := &engine{Store: h.store}
		h.open(e)
		h.start("r1", 9)
		release := make(chan bool)
		e.set(func(context.Context, []gate.Transition) error { <-release; return nil })
		send := func(op, parent gate.OpID) *error {
			err := errors.New("no answer")
			c := ask("r1", op, "1")
			c.Parent = parent
			go func() { _, err = h.door.Do(t.Context(), c) }()
			synctest.Wait()
			return &err
		}
		first := send("first", "")
		early, parent, child := send("early", "parent"), send("parent", "first"), send("child", "parent")
		close(release)
		synctest.Wait()
		for what, err := range map[string]error{"first": *first, "parent": *parent, "child": *child} {
			if err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		if e := new(gate.InputError); !errors.As(*early, &e) || e.Field != "parent" {
			t.Errorf("a child before its parent: %v, want an error about the parent", *early)
		}
		equal(t, "chains", len(e.chains), 2)
	})
}

// A conflict is decided again on the state as it is then, and answered once.
func TestDoorDecidesConflictsAgain(t *testing.T) {
	h := newHouse(t)
	e := &engine{Store: h.store}
	h.open(e)
	h.start("r1", 1)
	other, err := gate.NewDoor(t.Context(), h.store, contract(), h.clock, func() float64 { return 0 })
	if err != nil {
		t.Fatal(err)
	}
	times := 0
	e.set(func(ctx context.Context, _ []gate.Transition) error {
		if times++; times > 1 {
			return nil
		}
		// Somebody else takes the last attempt between the load and the commit.
		_, err := other.Do(ctx, ask("r1", "theirs", "1"))
		return err
	})
	d := h.do(ask("r1", "mine", "1"))
	equal(t, "verdict", d.Verdict, gate.StopAttemptBudget)
	equal(t, "commits", times, 2)
	n := 0
	for _, d := range h.store.Decisions() {
		if d.Verdict == gate.Admit {
			n++
		}
	}
	equal(t, "permits", n, 1)
}

// accepter is an engine that is a gate.Accepter, and says an error of its
// commit at once or as the answer.
type accepter struct {
	*engine
	atOnce bool
}

func (a *accepter) Accept(ctx context.Context, answer func([]gate.Decision, error), chain ...gate.Transition) error {
	decisions, err := a.Commit(ctx, chain...)
	if err != nil && a.atOnce {
		return err
	}
	answer(decisions, err)
	return nil
}

// R-L3: an error of the store reaches every caller of the chain, and every one
// that waits behind it, and nobody has a permit.
func TestDoorPassesOnErrorsOfTheStore(t *testing.T) {
	for _, row := range []struct {
		name   string
		want   error
		open   func(*engine) gate.Engine
		chains []int
	}{
		{"it is full", gate.ErrStoreFull, func(e *engine) gate.Engine { return e }, []int{1, 5}},
		{"it cannot tell", gate.ErrUnknownCommit, func(e *engine) gate.Engine { return e }, []int{1, 5}},
		{"it accepts nothing", gate.ErrStoreFull, func(e *engine) gate.Engine { return &accepter{e, true} }, []int{1, 1, 1, 1, 1, 1}},
		{"what it accepted is lost", gate.ErrUnknownCommit, func(e *engine) gate.Engine { return &accepter{e, false} }, []int{1, 1, 1, 1, 1, 1}},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse(t)
				e := &engine{Store: h.store}
				h.open(row.open(e))
				h.start("r1", 9)
				release := make(chan bool)
				e.set(func(context.Context, []gate.Transition) error { <-release; return row.want })
				const callers = 6
				var decisions [callers]gate.Decision
				var errs [callers]error
				for i := range callers {
					go func() {
						decisions[i], errs[i] = h.door.Do(t.Context(), ask("r1", gate.OpID(fmt.Sprint("op-", i)), "1"))
					}()
					synctest.Wait() // the first is being committed, the others wait
				}
				close(release)
				synctest.Wait()
				for i, err := range errs {
					if !errors.Is(err, row.want) || decisions[i].Verdict.Permits() {
						t.Errorf("caller %d got %v, %v, want %v", i, decisions[i].Verdict, err, row.want)
					}
				}
				var sizes []int
				for _, chain := range e.chains {
					sizes = append(sizes, len(chain))
				}
				if !slices.Equal(sizes, row.chains) {
					t.Errorf("chains = %v, want %v", sizes, row.chains)
				}
				e.set(nil)
				equal(t, "the same ask when there is room", h.do(ask("r1", "op-0", "1")).Verdict, gate.Admit)
			})
		})
	}
}

// A caller that has gone finds the answer under its id.
func TestDoorOutlivesItsCallers(t *testing.T) {
	h := newHouse(t)
	e := &engine{Store: h.store}
	h.open(e)
	h.start("r1", 9)
	ctx, leave := context.WithCancel(t.Context())
	done := make(chan bool)
	e.set(func(ctx context.Context, _ []gate.Transition) error {
		leave()
		<-done
		return ctx.Err() // the chain goes on without its caller
	})
	if _, err := h.door.Do(ctx, ask("r1", "a", "1")); !errors.Is(err, context.Canceled) {
		t.Fatalf("error = %v, want %v", err, context.Canceled)
	}
	close(done)
	equal(t, "seq of the answer", h.do(ask("r1", "a", "1")).Seq, 3)
}
