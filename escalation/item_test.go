package escalation_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tollgate/escalation"
	"tollgate/gate"
)

// R-P1: an item carries the whole contract.
func TestItemCarriesTheWholeContract(t *testing.T) {
	f := open(t)
	f.run("r1", 6, 1, 30*time.Second)
	f.run("r2", 6, 2, 30*time.Second)
	id := f.lost("r1", "charge-42")
	f.lost("r2", "charge-43")
	f.ask("r2", "charge-44", "charge")
	f.fail("r2", "charge-44", 1, "schema_violation") // same dependency, another code

	it := f.item(id)
	transient := gate.ClassTransient
	failure, reconcile := gate.Failure{Code: "timeout", Message: "no answer"}, gate.RouteReconcile
	want := escalation.Item{
		ItemRow: gate.ItemRow{
			ID: id, Version: 1, Kind: gate.KindOutcomeUnknown, State: gate.HoldOpen, Run: "r1", Op: "charge-42", Agent: "planner",
			Tool: "charge", Dependency: "payments-api", Effect: gate.EffectWrite, RetrySafety: gate.SafetyNever,
			Code: "timeout", Class: gate.ClassTransient, Outcome: gate.OutcomeUnknown, Verdict: gate.StopUnsafeToRepeat,
			Attempts: gate.Spent{Spent: 1, Limit: 6}, Permits: 1, Opened: gate.InstantOf(noon.Add(2 * time.Second)), Deadline: gate.InstantOf(noon.Add(30 * time.Second)),
			Approvals: []gate.GrantRow{},
		},
		FirstFailure: &failure, LastFailure: &failure, Input: json.RawMessage(`{"order":42}`),
		KnownEffect: gate.KnownUnknown, Asker: gate.Actor{ID: "uid:1001", Name: "agents", Source: "peer-uid"},
		Budget: gate.BudgetRow{
			Attempts: gate.Spent{Spent: 1, Limit: 6}, SideEffects: gate.Spent{Spent: 1, Limit: 1},
			Started: gate.InstantOf(noon), Deadline: gate.InstantOf(noon.Add(30 * time.Second)), LeftMS: 26000,
		},
		RunState: gate.RunActive, SameCause: 2, Findings: []escalation.Finding{},
		Dispatches: []gate.AttemptRow{{
			Ordinal: 1, Seq: 4, Tool: "charge", Agent: "planner", Permitted: gate.InstantOf(noon), NotBefore: gate.InstantOf(noon), NotAfter: gate.InstantOf(noon.Add(10 * time.Second)),
			ReportedAt: gate.InstantOf(noon.Add(2 * time.Second)), Inner: 1, Outcome: gate.OutcomeUnknown, Class: &transient, Failure: &failure,
		}},
		Cause: 5, Route: &reconcile,
		Changed: gate.ChangedRow{
			Seq: 5, At: gate.InstantOf(noon.Add(2 * time.Second)), By: gate.Actor{ID: "uid:1001", Name: "agents", Source: "peer-uid"},
			Act: gate.ActReport, Verdict: gate.StopUnsafeToRepeat,
		},
	}
	if it.Key == "" || it.InputDigest == "" {
		t.Errorf("key %q, digest %q: want both", it.Key, it.InputDigest)
	}
	if it.Terminal == nil || it.Terminal.NextAction != gate.RouteReconcile {
		t.Errorf("terminal = %+v, want one that says reconcile", it.Terminal)
	}
	if wanted := "https://runbooks.example/pay?key=" + it.Key + "&op=charge-42&code=timeout"; it.Runbook != wanted {
		t.Errorf("runbook = %q, want %q", it.Runbook, wanted)
	}
	if len(it.Preview) == 0 {
		t.Error("no verb is previewed")
	}
	it.Key, it.InputDigest, it.Terminal, it.Runbook, it.Preview = "", "", nil, "", nil
	if diff := cmp.Diff(it, want); diff != "" {
		t.Errorf("item (-got +want):\n%s", diff)
	}
}

// R-P1: what is sent has every field that the contract names, and comes back
// as it was.
func TestItemAsJSON(t *testing.T) {
	f := open(t)
	f.run("r1", 6, 1, 30*time.Second)
	id := f.lost("r1", "charge-42")
	f.act(dana, id, escalation.Act{Verb: gate.ActClaim})
	f.act(dana, id, escalation.Act{Verb: gate.ActReconcile, Finding: gate.FindingDidNotHappen, Reason: "looked", Evidence: "their log"})
	it := f.item(id)

	text, err := json.Marshal(it)
	if err != nil {
		t.Fatal(err)
	}
	var sent map[string]any
	if err := json.Unmarshal(text, &sent); err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{
		"id", "version", "kind", "state", "run", "op", "tool", "dependency", "effect", "retry_safety", "code", "class", "outcome",
		"verdict", "attempts", "first_failure", "last_failure", "input", "key", "budget", "breaker", "same_cause", "opened", "deadline",
		"claim", "approvals", "findings", "preview",
	} {
		if _, ok := sent[field]; !ok {
			t.Errorf("%s is missing in %s", field, text)
		}
	}
	if diff := cmp.Diff(sent["claim"], any(map[string]any{"by": "dana", "id": "uid:1002", "until": "2026-01-05T12:15:02.000Z"})); diff != "" {
		t.Errorf("claim (-got +want):\n%s", diff)
	}
	if diff := cmp.Diff(sent["findings"], any([]any{map[string]any{
		"ordinal": 1.0, "finding": "did-not-happen", "seq": 6.0, "at": "2026-01-05T12:00:02.000Z",
		"by": map[string]any{"id": "uid:1002", "name": "dana", "source": "peer-uid"}, "reason": "looked", "evidence": "their log",
	}})); diff != "" {
		t.Errorf("findings (-got +want):\n%s", diff)
	}
	if diff := cmp.Diff(sent["approvals"], any([]any{})); diff != "" {
		t.Errorf("approvals (-got +want):\n%s", diff)
	}
	var back escalation.Item
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(back, it); diff != "" {
		t.Errorf("sent and read again (-got +want):\n%s", diff)
	}
}

// R-P1: one item per operation: it may be opened again, never doubled.
func TestOneItemPerOperation(t *testing.T) {
	f := open(t)
	f.run("r1", 6, 3, 30*time.Second)
	id := f.lost("r1", "charge-42")
	f.act(dana, id, escalation.Act{Verb: gate.ActReconcile, Finding: gate.FindingDidNotHappen, Reason: "looked", Evidence: "their log"})
	if got := f.act(dana, id, escalation.Act{Verb: gate.ActApprove, Reason: "again"}).Verdict; got != gate.Retry {
		t.Fatalf("approve after the finding = %s, want RETRY_WITH_SHARED_CONTEXT", got)
	}
	if got := f.item(id).State; got != gate.HoldResolved {
		t.Errorf("after a yes the item is %s, want resolved", got)
	}
	f.fail("r1", "charge-42", 2, "timeout")
	page, err := f.store.Items(t.Context(), gate.ItemsQuery{Now: noon})
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Rows) != 1 || page.Rows[0].ID != id || page.Rows[0].Permits != 2 {
		t.Errorf("queue after the repeat failed = %+v, want the same item with 2 attempts", page.Rows)
	}
}

func TestItemThatIsNotThere(t *testing.T) {
	f := open(t)
	f.run("r1", 6, 1, 30*time.Second)
	f.ask("r1", "look-1", "look")
	for _, id := range []gate.ItemID{"i-0000000000", gate.ItemIDOf("r1", "look-1")} {
		if _, err := f.desk.Item(t.Context(), dana, id); !errors.Is(err, gate.ErrNoItem) {
			t.Errorf("item %s: %v, want no such item", id, err)
		}
		if _, err := f.desk.Do(t.Context(), dana, id, escalation.Act{Verb: gate.ActClaim, RequestID: "q"}); !errors.Is(err, gate.ErrNoItem) {
			t.Errorf("claim of %s: %v, want no such item", id, err)
		}
	}
}

// R-P2: the order of the queue.
func TestQueueOrder(t *testing.T) {
	row := func(id gate.ItemID, change func(*gate.ItemRow)) gate.ItemRow {
		r := gate.ItemRow{ID: id, State: gate.HoldOpen, Kind: gate.KindStopped, Opened: gate.InstantOf(noon), Deadline: gate.InstantOf(noon.Add(time.Minute)), RetrySafety: gate.SafetyKey}
		change(&r)
		return r
	}
	kind := func(k gate.Kind, left time.Duration) func(*gate.ItemRow) {
		return func(r *gate.ItemRow) { r.Kind, r.Deadline = k, gate.InstantOf(noon.Add(left)) }
	}
	want := []gate.ItemRow{
		row("i-1", func(r *gate.ItemRow) {
			r.Kind, r.RetrySafety, r.Deadline = gate.KindOutcomeUnknown, gate.SafetyNever, gate.InstantOf(noon.Add(time.Hour))
		}),
		row("i-2", kind(gate.KindOutcomeUnknown, time.Second)),
		row("i-3", kind(gate.KindOutcomeUnknown, 2*time.Second)),
		row("i-4", kind(gate.KindApproval, time.Hour)),
		row("i-5", kind(gate.KindExhausted, time.Millisecond)),
		row("i-6", kind(gate.KindStopped, time.Millisecond)),
		row("i-7", kind(gate.KindStopped, time.Second)),
		// Deadline passed: oldest first, whatever the kind.
		row("i-8", func(r *gate.ItemRow) {
			r.Deadline, r.Opened = gate.InstantOf(noon), gate.InstantOf(noon.Add(-time.Hour))
		}),
		row("i-9", func(r *gate.ItemRow) {
			r.Kind, r.RetrySafety, r.Deadline = gate.KindOutcomeUnknown, gate.SafetyNever, gate.InstantOf(noon.Add(-time.Hour))
		}),
		row("i-a", func(r *gate.ItemRow) { r.State = gate.HoldDeadLetter }),
		// Resolved: the newest first.
		row("i-c", func(r *gate.ItemRow) { r.State, r.Resolved = gate.HoldResolved, gate.InstantOf(noon.Add(time.Second)) }),
		row("i-b", func(r *gate.ItemRow) { r.State, r.Resolved = gate.HoldResolved, gate.InstantOf(noon) }),
	}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, func(a, b gate.ItemRow) int { return escalation.Compare(a, b, noon) })
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("queue (-got +want):\n%s", diff)
	}
	for i, a := range want {
		for j, b := range want {
			if got := escalation.Compare(a, b, noon); (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("%s against %s = %d", a.ID, b.ID, got)
			}
		}
	}
}

// R-P2: which items a list shows.
func TestQueueFilter(t *testing.T) {
	base := gate.ItemRow{
		ID: "i-1", State: gate.HoldOpen, Kind: gate.KindExhausted, Run: "r1", Op: "Charge-42", Tool: "charge", Code: "timeout", Dependency: "payments-api",
	}
	for _, row := range []struct {
		name string
		q    gate.ItemsQuery
		have func(*gate.ItemRow)
		want bool
	}{
		{"everything open", gate.ItemsQuery{}, nil, true},
		{"a dead-letter among the open", gate.ItemsQuery{}, func(r *gate.ItemRow) { r.State = gate.HoldDeadLetter }, false},
		{"a dead-letter under its filter", gate.ItemsQuery{State: gate.HoldDeadLetter}, func(r *gate.ItemRow) { r.State = gate.HoldDeadLetter }, true},
		{"another kind", gate.ItemsQuery{Kind: gate.KindStopped}, nil, false},
		{"its kind", gate.ItemsQuery{Kind: gate.KindExhausted}, nil, true},
		{"another run", gate.ItemsQuery{Run: "r2"}, nil, false},
		{"its operation, in part", gate.ItemsQuery{Filter: gate.FilterBy(gate.FilterQueue, [2]string{"", "charge-4"})}, nil, true},
		{"its code", gate.ItemsQuery{Filter: gate.FilterBy(gate.FilterQueue, [2]string{"code", "TIMEOUT"})}, nil, true},
		{"another text", gate.ItemsQuery{Filter: gate.FilterBy(gate.FilterQueue, [2]string{"", "refund"})}, nil, false},
		{"put off", gate.ItemsQuery{Now: noon}, func(r *gate.ItemRow) { r.Snoozed = gate.InstantOf(noon.Add(time.Millisecond)) }, false},
		{"put off, among those", gate.ItemsQuery{Now: noon, Snoozed: true}, func(r *gate.ItemRow) { r.Snoozed = gate.InstantOf(noon.Add(time.Millisecond)) }, true},
		{"put off until now, among those", gate.ItemsQuery{Now: noon, Snoozed: true}, func(r *gate.ItemRow) { r.Snoozed = gate.InstantOf(noon) }, false},
		{"not put off, among those", gate.ItemsQuery{Now: noon, Snoozed: true}, nil, false},
		{"a dead-letter that was put off", gate.ItemsQuery{Now: noon, State: gate.HoldDeadLetter}, func(r *gate.ItemRow) {
			r.State, r.Snoozed = gate.HoldDeadLetter, gate.InstantOf(noon.Add(time.Millisecond))
		}, true},
		{"put off until now", gate.ItemsQuery{Now: noon}, func(r *gate.ItemRow) { r.Snoozed = gate.InstantOf(noon) }, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			it := base
			if row.have != nil {
				row.have(&it)
			}
			if got := escalation.Matches(row.q, it); got != row.want {
				t.Errorf("matches = %v, want %v", got, row.want)
			}
		})
	}
}
