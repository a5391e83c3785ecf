package escalation_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tollgate/escalation"
	"tollgate/gate"
)

func (f *floor) causes(filter string) escalation.CausesPage {
	f.t.Helper()
	choose, err := gate.ParseFilter(gate.FilterQueue, filter)
	if err != nil {
		f.t.Fatal(err)
	}
	page, err := f.desk.Causes(f.t.Context(), choose)
	if err != nil {
		f.t.Fatal(err)
	}
	return page
}

// guarded gives each dependency a window of failures, and no breaker that
// trips.
func guarded(k *gate.Contract) {
	k.Tools["status"] = &gate.Tool{Effect: gate.EffectRead, Safety: gate.SafetyIdempotent, Dependency: "cluster", Timeout: time.Second}
	k.Policies[gate.StarterName].Breaker = &gate.BreakerRule{Window: time.Minute, Failures: gate.MaxCount, CoolDown: time.Minute}
}

// The queue by cause: what fails, how, since when, for how many runs, and the
// set of items that a bulk verb would go to (R-P9).
func TestCauses(t *testing.T) {
	f := open(t)
	f.run("r1", 20, 9, time.Hour)
	f.run("r2", 20, 9, time.Hour)
	a := f.lost("r1", "charge-1")
	first := f.clock.Wall()
	b := f.lost("r1", "charge-2")
	c := f.lost("r2", "charge-3")
	last := f.clock.Wall()
	f.ask("r2", "deploy-1", "deploy")
	f.ask("r2", "look-1", "look")
	f.fail("r2", "look-1", 1, "auth_failure")
	gone := f.lost("r2", "charge-9")
	f.act(dana, gone, escalation.Act{Verb: gate.ActReject, Reason: "r"})
	off := f.lost("r2", "charge-8")
	f.act(dana, off, escalation.Act{Verb: gate.ActSnooze, Until: f.clock.Wall().Add(time.Minute)})
	f.act(dana, b, escalation.Act{Verb: gate.ActReconcile, Finding: gate.FindingDidNotHappen, Reason: "r", Evidence: "e"})

	got := f.causes("")
	payments := got.Causes[0]
	want := escalation.Cause{
		Dependency: "payments-api", Code: "timeout", Class: gate.ClassTransient, Items: 3, Runs: 2, First: first, Last: last, Picks: payments.Picks,
	}
	if diff := cmp.Diff(payments, want); diff != "" {
		t.Errorf("the largest cause (-got +want):\n%s", diff)
	}
	versions := map[gate.ItemID]int64{}
	for _, p := range payments.Picks {
		versions[p.ID] = p.Version
	}
	if diff := cmp.Diff(versions, map[gate.ItemID]int64{a: 1, b: 2, c: 1}); diff != "" {
		t.Errorf("picks (-got +want):\n%s", diff)
	}
	var others []string
	for _, c := range got.Causes[1:] {
		others = append(others, fmt.Sprintf("%d %s %q %s", c.Items, c.Dependency, c.Code, c.Class))
	}
	if diff := cmp.Diff(others, []string{`1 cluster "" unknown`, `1 search "auth_failure" permanent`}); diff != "" {
		t.Errorf("the others (-got +want):\n%s", diff)
	}
	if got.Items != 5 {
		t.Errorf("items = %d, want 5", got.Items)
	}
	if got := f.causes("!dep:payments-api"); got.Items != 2 || len(got.Causes) != 2 {
		t.Errorf("filtered: %d items of %d causes, want 2 of 2", got.Items, len(got.Causes))
	}
	if got := f.causes("dep:nothing"); got.Items != 0 || got.Causes == nil || len(got.Causes) != 0 {
		t.Errorf("of nothing: %+v, want an empty list", got)
	}
}

// A cause has the breaker of its dependency.
func TestCausesHaveABreaker(t *testing.T) {
	f := open(t, func(k *gate.Contract) {
		k.Dependencies["payments-api"] = gate.DependencyRule{Breaker: &gate.BreakerRule{Window: time.Minute, Failures: 1, CoolDown: time.Minute}}
	})
	f.run("r1", 20, 9, time.Hour)
	f.lost("r1", "charge-1")
	got := f.causes("").Causes[0]
	if want := f.clock.Wall().Add(time.Minute); got.Breaker != gate.BreakerOpen || !got.Until.Equal(want) {
		t.Errorf("breaker %s until %s, want open until %s", got.Breaker, got.Until, want)
	}
}

// Independent, or one dependency failing everything? With its numbers.
func TestCausesSayWhetherItIsOneDependency(t *testing.T) {
	for _, row := range []struct {
		name       string
		lost, look int
		other      bool // a third dependency fails once
		later      time.Duration
		change     func(*gate.Contract)
		top        string
		share      float64
		says       string
	}{
		{"none", 2, 2, true, 0, guarded, "payments-api", 0.4, "Independent: the most, payments-api, has 2 of 5 failures in the window (40%)."},
		{"nothing", 0, 0, false, 0, guarded, "", 0, ""},
		{"one", 4, 1, false, 0, guarded, "payments-api", 0.8, "One dependency: payments-api has 4 of 5 failures in the window (80%)."},
		{"most", 3, 1, false, 0, guarded, "payments-api", 0.75, "Mostly one dependency: payments-api has 3 of 4 failures in the window (75%)."},
		{"the same", 2, 2, false, 0, guarded, "payments-api", 0.5, "Mostly one dependency: payments-api has 2 of 4 failures in the window (50%)."},
		{"the window is over", 3, 1, false, 2 * time.Minute, guarded, "payments-api", 1, "One dependency: payments-api has 3 of 3 items (100%); no failure is in the window."},
		{"nothing is guarded", 3, 1, false, 0, func(k *gate.Contract) {
			k.Policies[gate.StarterName].Breaker, k.Policies[gate.StarterName].RetryRatio = nil, nil
		}, "payments-api", 1, "One dependency: payments-api has 3 of 3 items (100%); no failure is in the window."},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := open(t, row.change)
			f.run("r1", 50, 50, time.Hour)
			for i := range row.lost {
				f.lost("r1", gate.OpID(fmt.Sprintf("charge-%d", i)))
			}
			for i := range row.look { // a read that fails is asked again: no item
				op := gate.OpID(fmt.Sprintf("look-%d", i))
				f.ask("r1", op, "look")
				f.fail("r1", op, 1, "timeout")
			}
			if row.other {
				f.ask("r1", "status-1", "status")
				f.fail("r1", "status-1", 1, "timeout")
			}
			f.clock.advance(row.later)
			got := f.causes("")
			if got.Top != row.top || got.Share != row.share || got.Says != row.says {
				t.Errorf("%s, %v, %q; want %s, %v, %q", got.Top, got.Share, got.Says, row.top, row.share, row.says)
			}
		})
	}
}

// A queue longer than a window is grouped whole; a cause's set stays a window.
func TestCausesOfALongQueue(t *testing.T) {
	const n = gate.MaxWindow + 3
	f := open(t)
	f.run("r1", 2*n, 2*n, time.Hour)
	for i := range n {
		f.ask("r1", gate.OpID(fmt.Sprintf("deploy-%d", i)), "deploy")
	}
	got := f.causes("")
	if len(got.Causes) != 1 || got.Items != n {
		t.Fatalf("%d items of %d causes, want %d of 1", got.Items, len(got.Causes), n)
	}
	if c := got.Causes[0]; c.Items != n || c.Runs != 1 || len(c.Picks) != gate.MaxWindow || !c.More {
		t.Errorf("%d items of %d runs, %d picks, more %v; want %d of 1, %d, true", c.Items, c.Runs, len(c.Picks), c.More, n, gate.MaxWindow)
	}
}
