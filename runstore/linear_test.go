package runstore_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"tollgate/gate"
	"tollgate/runstore/memstore"
	"tollgate/runstore/storetest"
)

var seeds = flag.Int("seeds", 10, "histories that the linearizability test looks at")

// asked is one ask of a run with a limit.
type asked struct{ limit int64 }

// budgetModel is a run's budget as one number: an ask is a yes and takes one
// while there is one, and a stop after that.
var budgetModel = porcupine.Model{
	Init: func() any { return int64(0) },
	Step: func(state, input, output any) (bool, any) {
		spent, yes := state.(int64), output.(gate.Verdict) == gate.Admit
		if spent < input.(asked).limit {
			return yes, spent + 1
		}
		return !yes && output.(gate.Verdict) == gate.StopAttemptBudget, spent
	},
	DescribeOperation: func(_, output any) string { return fmt.Sprint(output) },
}

// I4: whatever 16 callers of one run do at once, there is an order of their
// asks, one at a time, that gives the same answers; and the permits are as many
// as the limit or the asks.
func TestLinearizable(t *testing.T) {
	t.Parallel()
	for seed := range *seeds {
		disk, _ := newStore(t)
		checkLinear(t, uint64(seed), disk)
		checkLinear(t, uint64(seed), memstore.New(storetest.Realm))
	}
}

func checkLinear(t *testing.T, seed uint64, e gate.Engine) {
	t.Helper()
	const callers, most = 16, 200
	r := rand.New(rand.NewPCG(seed, 2))
	limit := 1 + r.Int64N(50)
	asks := 1 + r.IntN(most/callers)
	door, err := gate.NewDoor(t.Context(), e, storetest.Contract(), testClock{time.Now()}, func() float64 { return 0 })
	if err != nil {
		t.Fatal(err)
	}
	effects, deadline := int64(1000), time.Hour
	if _, err := door.Do(t.Context(), gate.Start{Run: "r", Limits: gate.Limits{Attempts: &limit, SideEffects: &effects, Deadline: &deadline}}); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	var mu sync.Mutex
	var history []porcupine.Operation
	var wg sync.WaitGroup
	for n := range callers {
		wg.Go(func() {
			for i := range asks {
				call := time.Since(began)
				op := gate.OpID(fmt.Sprintf("op-%d-%d", n, i))
				d, err := door.Do(t.Context(), gate.Ask{Run: "r", ID: "a", Op: op, Tool: "put", Input: []byte("{}")})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				history = append(history, porcupine.Operation{
					ClientId: n, Input: asked{limit}, Output: d.Verdict, Call: int64(call), Return: int64(time.Since(began)),
				})
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if !porcupine.CheckOperations(budgetModel, history) {
		t.Errorf("seed %d: %d asks against a limit of %d have no order that explains them", seed, len(history), limit)
	}
	permits := 0
	for _, o := range history {
		if o.Output.(gate.Verdict) == gate.Admit {
			permits++
		}
	}
	if want := min(int(limit), len(history)); permits != want {
		t.Errorf("seed %d: %d permits, want %d", seed, permits, want)
	}
}

// TestLinearizable can fail: a history with a permit too many has no order.
func TestLinearizableCatchesAPermitTooMany(t *testing.T) {
	history := []porcupine.Operation{
		{ClientId: 0, Input: asked{1}, Output: gate.Admit, Call: 0, Return: 3},
		{ClientId: 1, Input: asked{1}, Output: gate.Admit, Call: 1, Return: 2},
	}
	if porcupine.CheckOperations(budgetModel, history) {
		t.Error("two permits of one attempt pass")
	}
}

// testClock is the machine's clock.
type testClock struct{ began time.Time }

func (testClock) Wall() time.Time          { return time.Now() }
func (c testClock) Elapsed() time.Duration { return time.Since(c.began) }
