package gate_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
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
		equal(t, "message "+what, len(f.Message), gate.MaxMessage)
		for _, text := range []string{f.Status, f.Field, f.Suggest} {
			equal(t, "bytes "+what, len(text), gate.MaxDetail)
		}
	}
	equal(t, "the same report again", h.do(r).Seq, d.Seq)
}
