package gate_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tollgate/gate"
	"tollgate/runstore/memstore"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// clock is a clock that a test moves: the wall and what really passes are
// apart.
type clock struct {
	mu      sync.Mutex
	wall    time.Time
	elapsed time.Duration
}

func (c *clock) Wall() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wall
}

func (c *clock) Elapsed() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.elapsed
}

// pass lets time pass, on the wall too; jump sets the wall alone.
func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall, c.elapsed = c.wall.Add(d), c.elapsed+d
}

func (c *clock) jump(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall = c.wall.Add(d)
}

// house is a door before an engine in memory.
type house struct {
	t     *testing.T
	store *memstore.Store
	clock *clock
	door  *gate.Door
}

func contract() *gate.Contract {
	k := gate.NewContract()
	k.Tools = map[string]*gate.Tool{
		"search": {Effect: gate.EffectRead, Safety: gate.SafetyIdempotent, Dependency: "index", Timeout: time.Second},
		"charge": {Effect: gate.EffectWrite, Dependency: "payments", Timeout: time.Second},
	}
	return k
}

func newHouse(t *testing.T) *house {
	h := &house{t: t, store: memstore.New("realm"), clock: &clock{wall: noon}}
	h.open(h.store)
	return h
}

// open opens a door on an engine, as a process does that begins.
func (h *house) open(engine gate.Engine) {
	h.t.Helper()
	door, err := gate.NewDoor(h.t.Context(), engine, contract(), h.clock, func() float64 { return 0 })
	if err != nil {
		h.t.Fatal(err)
	}
	h.door = door
}

func (h *house) do(c gate.Command) gate.Decision {
	h.t.Helper()
	d, err := h.door.Do(h.t.Context(), c)
	if err != nil {
		h.t.Fatalf("%s: %v", c.Act(), err)
	}
	return d
}

func (h *house) start(run gate.RunID, attempts int64) {
	h.t.Helper()
	effects, deadline := attempts, time.Minute
	h.do(gate.Start{Run: run, Agent: "main", Limits: gate.Limits{Attempts: &attempts, SideEffects: &effects, Deadline: &deadline}})
}

func ask(run gate.RunID, op gate.OpID, id string) gate.Ask {
	return gate.Ask{Run: run, ID: id, Op: op, Tool: "search", Input: []byte(`{}`)}
}

func equal[V comparable](t *testing.T, what string, got, want V) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

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

// R-L3: an error of the store reaches every caller of the chain, and nobody
// has a permit.
func TestDoorPassesOnErrorsOfTheStore(t *testing.T) {
	for _, want := range []error{gate.ErrStoreFull, gate.ErrUnknownCommit} {
		h := newHouse(t)
		e := &engine{Store: h.store}
		h.open(e)
		h.start("r1", 9)
		e.set(func(context.Context, []gate.Transition) error { return want })
		d, err := h.door.Do(t.Context(), ask("r1", "a", "1"))
		if !errors.Is(err, want) || d.Verdict.Permits() {
			t.Errorf("got %v, %v, want %v", d.Verdict, err, want)
		}
		e.set(nil)
		equal(t, "the same ask when there is room", h.do(ask("r1", "a", "1")).Verdict, gate.Admit)
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

// R-B10: while the process lives, time is measured from its start: a jump of
// the wall clock neither lengthens nor shortens a run.
func TestRB10WallClockJumps(t *testing.T) {
	for _, jump := range []time.Duration{0, -time.Hour, time.Hour, 24 * 365 * time.Hour} {
		h := newHouse(t)
		h.start("r1", 9)
		h.clock.jump(jump)
		h.clock.pass(59 * time.Second)
		d := h.do(ask("r1", "a", "1"))
		equal(t, "in time", d.Verdict, gate.Admit)
		equal(t, "now", d.Inputs.Now, noon.Add(59*time.Second))
		h.clock.pass(time.Millisecond)
		equal(t, "too late", h.do(ask("r1", "b", "1")).Verdict, gate.StopTimeBudget)
	}
}

// R-B10: across a restart time never falls below the ledger; while the wall is
// more than 2 s behind, it stands still, new permits are refused, and the wall
// is read again at each ask.
func TestRB10RestartBehind(t *testing.T) {
	for _, row := range []struct {
		name   string
		behind time.Duration
		want   gate.Verdict
	}{
		{"ahead", -time.Second, gate.Admit},
		{"level", 0, gate.Admit},
		{"two seconds behind", 2 * time.Second, gate.Admit},
		{"more", 2*time.Second + time.Millisecond, gate.StopClock},
		{"an hour", time.Hour, gate.StopClock},
	} {
		t.Run(row.name, func(t *testing.T) {
			h := newHouse(t)
			h.start("r1", 9)
			h.clock.pass(10 * time.Second)
			h.do(ask("r1", "lost", "1"))
			high := noon.Add(10 * time.Second)
			h.clock = &clock{wall: high.Add(-row.behind)}
			h.open(h.store)
			if now, behind := h.door.Now(); now.Before(high) || behind != (row.want == gate.StopClock) {
				t.Errorf("now = %v, %v, want at least %v", now, behind, high)
			}
			d := h.do(ask("r1", "a", "1"))
			equal(t, "verdict", d.Verdict, row.want)
			if d.Inputs.Now.Before(high) {
				t.Errorf("now = %v, before the ledger's %v", d.Inputs.Now, high)
			}
			if row.want != gate.StopClock {
				h.clock.pass(5 * time.Second)
				now, _ := h.door.Now()
				equal(t, "it goes on", now, d.Inputs.Now.Add(5*time.Second))
				return
			}
			h.clock.pass(time.Second)
			now, _ := h.door.Now()
			equal(t, "it stands still", now, high)
			equal(t, "a report is taken", h.do(gate.Report{Run: "r1", Op: "lost", Ordinal: 1, OK: true}).Verdict, gate.Recorded)
			h.clock.jump(row.behind) // somebody has set the clock
			equal(t, "the next ask", h.do(ask("r1", "b", "1")).Verdict, gate.Admit)
		})
	}
}

// R-C5, R-T6: the door sweeps what is due, on start-up too, and says when it
// has to look again.
func TestDoorSweeps(t *testing.T) {
	h := newHouse(t)
	h.start("r1", 9)
	c := ask("r1", "a", "1")
	c.Tool = "charge"
	expires := h.do(c).Permit.Expires
	next, err := h.door.Sweep(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "next", next, expires)
	h.clock = &clock{wall: expires.Add(time.Hour)} // the process was away
	h.open(h.store)
	if next, err = h.door.Sweep(t.Context()); err != nil || !next.IsZero() {
		t.Fatalf("next = %v, %v, want never", next, err)
	}
	op, err := h.store.Operation(t.Context(), gate.Ref{Run: "r1", Op: "a"}, noon)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "code", op.Attempts[0].Failure.Code, gate.NoReport)
	equal(t, "state", op.State, gate.OpHeld)
	n := len(h.store.Decisions())
	if _, err := h.door.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	equal(t, "records after a second sweep", len(h.store.Decisions()), n)
}

// R-L1: a contract is a record when it is first used and when it changes; it
// is not in force before that.
func TestDoorAdoptsContracts(t *testing.T) {
	h := newHouse(t)
	equal(t, "records of a new store", len(h.store.Decisions()), 1)
	h.open(h.store)
	equal(t, "records after opening it again", len(h.store.Decisions()), 1)
	other := contract()
	other.ClaimLease = time.Minute
	if err := h.door.Adopt(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	all := h.store.Decisions()
	equal(t, "records after a change", len(all), 2)
	equal(t, "verdict", all[1].Verdict, gate.Recorded)
	head, err := h.store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "contract of the ledger", head.Contract, all[1].Contract)
	h.start("r1", 1)
	equal(t, "contract of the next decision", h.store.Decisions()[2].Contract, all[1].Contract)

	e := &engine{Store: h.store}
	h.open(e) // puts the first one into force again
	e.set(func(context.Context, []gate.Transition) error { return gate.ErrStoreFull })
	before := h.door.Contract()
	if err := h.door.Adopt(t.Context(), other); !errors.Is(err, gate.ErrStoreFull) {
		t.Errorf("error = %v, want %v", err, gate.ErrStoreFull)
	}
	equal(t, "contract in force without a record", h.door.Contract(), before)
}

// R-P4: a preview decides and commits nothing.
func TestDoorPreview(t *testing.T) {
	h := newHouse(t)
	h.start("r1", 2)
	c := ask("r1", "a", "1")
	c.Tool = "charge"
	h.do(c)
	h.do(gate.Report{Run: "r1", Op: "a", Ordinal: 1, Failure: gate.Failure{Code: "rate_limit"}})
	n := len(h.store.Decisions())
	v := gate.Verb{Actor: gate.Actor{ID: "uid:1", Source: "test"}, Do: gate.ActApprove, Run: "r1", Op: "a", Version: 1, Reason: "r"}
	d, err := h.door.Preview(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "verdict", d.Verdict, gate.Retry)
	checks, err := h.door.Checks(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range checks {
		equal(t, c.Step, c.OK, true)
	}
	equal(t, "records", len(h.store.Decisions()), n)
	v.Reason = ""
	if _, err := h.door.Preview(t.Context(), v); err == nil {
		t.Error("a preview without a reason is accepted")
	}
	v.Reason, v.Op = "r", "absent"
	if _, err := h.door.Checks(t.Context(), v); !errors.Is(err, gate.ErrNoItem) {
		t.Errorf("checks of nothing: %v, want %v", err, gate.ErrNoItem)
	}
}

// R-P10: a verb of nobody is refused.
func TestRP10VerbNeedsAnIdentity(t *testing.T) {
	h := newHouse(t)
	_, err := h.door.Do(t.Context(), gate.Verb{Actor: gate.Actor{Name: "dana"}, Do: gate.ActNote, Run: "r1", Op: "a", Reason: "r"})
	var e *gate.InputError
	if !errors.As(err, &e) || e.Field != "actor" {
		t.Errorf("error = %v, want one about the actor", err)
	}
}

// R-C7: whoever sends a report, of whatever size: the door cuts its texts
// before they are kept, and knows the same report again.
func TestRC7DoorCutsAReport(t *testing.T) {
	h := newHouse(t)
	h.start("r1", 9)
	h.do(ask("r1", "a", "1"))
	long := strings.Repeat("x", 1<<20)
	r := gate.Report{Run: "r1", Op: "a", Ordinal: 1, Failure: gate.Failure{
		Code: gate.Code(long), Message: long, Status: long, Field: long, Suggest: long,
	}}
	d := h.do(r)
	equal(t, "verdict", d.Verdict, gate.StopPermanentOrUnknown)
	equal(t, "class", d.Class, gate.ClassUnknown)
	equal(t, "code", len(d.Code), gate.MaxCode)
	op, err := h.store.Operation(t.Context(), gate.Ref{Run: "r1", Op: "a"}, noon)
	if err != nil {
		t.Fatal(err)
	}
	kept := h.store.Decisions()[d.Seq-1].Command.(gate.Report).Failure
	for what, f := range map[string]gate.Failure{"in the ledger": kept, "of the attempt": *op.Attempts[0].Failure} {
		equal(t, "cut "+what, f.Cut, true)
		equal(t, "code "+what, len(f.Code), gate.MaxCode)
		for _, text := range []string{f.Message, f.Status, f.Field, f.Suggest} {
			equal(t, "bytes "+what, len(text), gate.MaxMessage)
		}
	}
	equal(t, "the same report again", h.do(r).Seq, d.Seq)
}
