package views

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"tollgate/escalation"
	"tollgate/gate"
	"tollgate/runstore/memstore"
)

// sampleClock is the clock of the samples, which their maker moves.
type sampleClock struct{ at time.Time }

func (c *sampleClock) Wall() time.Time        { return c.at }
func (c *sampleClock) Elapsed() time.Duration { return c.at.Sub(now.Add(-time.Hour)) }

// sampleItem is an item as a gate and its desk make it: a payment that timed
// out, in a run that has spent some of each of its limits, claimed by dana and
// noted on. What an agent and a provider wrote is hostile.
func sampleItem() *escalation.Item {
	it := playedItem()
	return &it
}

var playedItem = sync.OnceValue(func() escalation.Item {
	ctx, clock := context.Background(), &sampleClock{now.Add(-13 * time.Minute)}
	agents, dana := gate.Actor{ID: "uid:2000", Name: "agents", Source: "peer-uid"}, gate.Actor{ID: "uid:1001", Name: "dana", Source: "peer-uid"}
	k := gate.NewContract()
	k.Tools = map[string]*gate.Tool{
		"payments.charge": {Effect: gate.EffectWrite, Dependency: "payments-api", Timeout: 2 * time.Second},
		"orders.get":      {Effect: gate.EffectRead, Safety: gate.SafetyIdempotent, Dependency: "orders-api", Timeout: time.Second},
	}
	k.Dependencies = map[string]gate.DependencyRule{"payments-api": {Runbook: "https://runbooks.example/pay?key={key}"}}
	store := memstore.New("sample")
	door, err := gate.NewDoor(ctx, store, k, clock, func() float64 { return 0.5 })
	if err != nil {
		panic(err)
	}
	do := func(c gate.Command) {
		if d, err := door.Do(ctx, c); err != nil || c.Act() == gate.ActAsk && !d.Verdict.Permits() {
			panic(fmt.Sprint(c, d.Verdict, err))
		}
	}
	call := func(run gate.RunID, op gate.OpID, agent, tool, input string, code gate.Code) {
		do(gate.Ask{Actor: agents, Run: run, ID: "ask-" + string(op), Op: op, Agent: agent, Tool: tool, Input: []byte(input), Tokens: 12000})
		clock.at = clock.at.Add(2 * time.Second)
		r := gate.Report{Actor: agents, Run: run, Op: op, Ordinal: 1, OK: code == "", Result: "ref-" + string(op)}
		if code != "" {
			r.Result, r.Failure = "", gate.Failure{Code: code, Message: "upstream said: try later\x1b[2J\r\nrequest id 8f1c", Status: "504"}
		}
		do(r)
	}
	for _, run := range []gate.RunID{"run-1", "run-2"} {
		attempts, effects, tokens := int64(10), int64(2), int64(60000)
		deadline, reserve := 17*time.Minute+12*time.Second, 2*time.Second
		do(gate.Start{Actor: agents, Run: run, Agent: "planner", Limits: gate.Limits{Attempts: &attempts, SideEffects: &effects, Deadline: &deadline, Reserve: &reserve, RetryTokens: &tokens}})
	}
	for i := range 5 {
		call("run-1", gate.OpID(fmt.Sprintf("lookup-%d", i)), "planner", "orders.get", `{}`, "")
	}
	call("run-2", "charge-57", "planner", "payments.charge", `{"order":57}`, "timeout")
	call("run-2", "charge-61", "planner", "payments.charge", `{"order":61}`, "timeout")
	input := `{"order":42,"amount":"19.90 EUR","note":"` + "\u202e]8;;http://evil" + `"}`
	call("run-1", "charge-42", "planner/billing", "payments.charge", input, "timeout")

	clock.at = now.Add(-time.Minute)
	desk := escalation.NewDesk(door, store)
	id := gate.ItemIDOf("run-1", "charge-42")
	for _, act := range []escalation.Act{
		{Verb: gate.ActClaim, RequestID: "q1", Version: 1},
		{Verb: gate.ActNote, RequestID: "q2", Version: 1, Reason: "called the bank, they look into it"},
	} {
		if row, err := desk.Do(ctx, dana, id, act); err != nil || row.Verdict != gate.Recorded {
			panic(fmt.Sprint(act.Verb, row.Verdict, err))
		}
	}
	clock.at = now
	it, err := desk.Item(ctx, dana, id)
	if err != nil || !strings.Contains(string(it.Input), "evil") {
		panic(fmt.Sprint(it, err))
	}
	return it
})
