package escalation_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"tollgate/escalation"
	"tollgate/gate"
	"tollgate/runstore/memstore"
)

var (
	noon  = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	agent = gate.Actor{ID: "uid:1001", Name: "agents", Source: "peer-uid"}
	dana  = gate.Actor{ID: "uid:1002", Name: "dana", Source: "peer-uid"}
	eli   = gate.Actor{ID: "uid:1003", Name: "eli", Source: "peer-uid"}
)

// clock is a wall clock that a test moves.
type clock struct {
	mu   sync.Mutex
	past time.Duration
}

func (c *clock) Wall() time.Time { return noon.Add(c.Elapsed()) }

func (c *clock) Elapsed() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.past
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.past += d
}

// floor is one gate with a desk beside it.
type floor struct {
	t     *testing.T
	clock *clock
	store *memstore.Store
	door  *gate.Door
	desk  *escalation.Desk
	asks  int
}

func open(t *testing.T, change ...func(*gate.Contract)) *floor {
	t.Helper()
	k := gate.NewContract()
	k.Tools = map[string]*gate.Tool{
		"charge": {Effect: gate.EffectWrite, Dependency: "payments-api", Timeout: 2 * time.Second},
		"refund": {Effect: gate.EffectWrite, Safety: gate.SafetyKey, Dependency: "payments-api", Timeout: 2 * time.Second},
		"deploy": {Effect: gate.EffectWrite, Dependency: "cluster", Timeout: 2 * time.Second, Approval: gate.ApprovalRequired},
		"launch": {Effect: gate.EffectWrite, Dependency: "cluster", Timeout: 2 * time.Second, Approval: gate.ApprovalTwoPerson},
		"look":   {Effect: gate.EffectRead, Safety: gate.SafetyIdempotent, Dependency: "search", Timeout: time.Second},
	}
	k.Dependencies = map[string]gate.DependencyRule{"payments-api": {Runbook: "https://runbooks.example/pay?key={key}&op={op}&code={code}"}}
	k.Policies[gate.StarterName].Routes.Permanent = gate.RouteEscalate
	for _, c := range change {
		c(k)
	}
	f := &floor{t: t, clock: new(clock), store: memstore.New("store-1")}
	door, err := gate.NewDoor(t.Context(), f.store, k, f.clock, func() float64 { return 0 })
	if err != nil {
		t.Fatal(err)
	}
	f.door, f.desk = door, escalation.NewDesk(door, f.store)
	return f
}

func (f *floor) do(c gate.Command) gate.Decision {
	f.t.Helper()
	d, err := f.door.Do(f.t.Context(), c)
	if err != nil {
		f.t.Fatalf("%s: %v", c.Act(), err)
	}
	return d
}

func (f *floor) run(id gate.RunID, attempts, effects int64, deadline time.Duration) {
	f.t.Helper()
	f.do(gate.Start{Actor: agent, Run: id, Agent: "planner", Limits: gate.Limits{Attempts: &attempts, SideEffects: &effects, Deadline: &deadline}})
}

func (f *floor) ask(run gate.RunID, op gate.OpID, tool string) gate.Decision {
	f.t.Helper()
	f.asks++
	return f.do(gate.Ask{Actor: agent, Run: run, ID: fmt.Sprintf("a%d", f.asks), Op: op, Tool: tool, Input: []byte(`{"order":42}`)})
}

func (f *floor) fail(run gate.RunID, op gate.OpID, ordinal int64, code gate.Code) gate.Decision {
	f.t.Helper()
	return f.do(gate.Report{Actor: agent, Run: run, Op: op, Ordinal: ordinal, Failure: gate.Failure{Code: code, Message: "no answer"}})
}

// lost brings about the item that most tests are about: a payment that was
// dispatched once and whose reply got lost.
func (f *floor) lost(run gate.RunID, op gate.OpID) gate.ItemID {
	f.t.Helper()
	f.ask(run, op, "charge")
	f.clock.advance(2 * time.Second)
	if got := f.fail(run, op, 1, "timeout").Verdict; got != gate.StopUnsafeToRepeat {
		f.t.Fatalf("report of a lost write = %s, want STOP_UNSAFE_TO_REPEAT", got)
	}
	return gate.ItemIDOf(run, op)
}

// item is an item as dana sees it.
func (f *floor) item(id gate.ItemID) escalation.Item {
	f.t.Helper()
	it, err := f.desk.Item(f.t.Context(), dana, id)
	if err != nil {
		f.t.Fatalf("item %s: %v", id, err)
	}
	return it
}

// act sends a verb on the item as it stands.
func (f *floor) act(who gate.Actor, id gate.ItemID, a escalation.Act) gate.DecisionRow {
	f.t.Helper()
	f.asks++
	a.RequestID = fmt.Sprintf("q%d", f.asks)
	if a.Version == 0 {
		a.Version = f.item(id).Version
	}
	row, err := f.desk.Do(f.t.Context(), who, id, a)
	if err != nil {
		f.t.Fatalf("%s: %v", a.Verb, err)
	}
	return row
}
