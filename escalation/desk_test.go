package escalation_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tollgate/escalation"
	"tollgate/gate"
)

// R-P3: each verb is one command and one decision, with actor, where the
// identity came from, reason and the decision that caused it.
func TestEachVerbIsOneDecision(t *testing.T) {
	n, deadline := int64(2), time.Minute
	for _, row := range []struct {
		act  escalation.Act
		want gate.Verdict
	}{
		{escalation.Act{Verb: gate.ActClaim}, gate.Recorded},
		{escalation.Act{Verb: gate.ActRelease}, gate.Recorded},
		{escalation.Act{Verb: gate.ActSnooze, Until: noon.Add(time.Hour)}, gate.Recorded},
		{escalation.Act{Verb: gate.ActNote, Reason: "asked the provider"}, gate.Recorded},
		{escalation.Act{Verb: gate.ActReconcile, Finding: gate.FindingHappened, Reason: "r", Evidence: "ch_42"}, gate.Resolved},
		{escalation.Act{Verb: gate.ActReconcile, Finding: gate.FindingDidNotHappen, Reason: "r", Evidence: "none in their log"}, gate.Resolved},
		{escalation.Act{Verb: gate.ActReconcile, Finding: gate.FindingCannotTell, Reason: "r"}, gate.Resolved},
		{escalation.Act{Verb: gate.ActApprove, Reason: "r"}, gate.StopUnsafeToRepeat},
		{escalation.Act{Verb: gate.ActApprove, Reason: "r", AsNewAction: true}, gate.Admit},
		{escalation.Act{Verb: gate.ActReject, Reason: "r"}, gate.Resolved},
		{escalation.Act{Verb: gate.ActNewRun, Reason: "r", NewRun: "r2", Limits: gate.Limits{Attempts: &n, SideEffects: &n, Deadline: &deadline}}, gate.Resolved},
	} {
		t.Run(fmt.Sprint(row.act.Verb, row.act.Finding, row.act.AsNewAction), func(t *testing.T) {
			f := open(t)
			f.run("r1", 6, 2, 30*time.Second)
			id := f.lost("r1", "charge-42")
			before := len(f.store.Decisions())
			got := f.act(dana, id, row.act)
			if got.Verdict != row.want {
				t.Errorf("verdict = %s, want %s", got.Verdict, row.want)
			}
			if wrote := len(f.store.Decisions()) - before; wrote != 1 {
				t.Errorf("the ledger grew by %d, want 1", wrote)
			}
			if want := (gate.Actor{ID: "uid:1002", Name: "dana", Source: "peer-uid"}); got.Actor != want || got.Reason != row.act.Reason {
				t.Errorf("by %+v because %q, want by %+v because %q", got.Actor, got.Reason, want, row.act.Reason)
			}
			if got.Cause != 4 || got.Item != id || got.Act != row.act.Verb {
				t.Errorf("cause %d, item %s, act %s; want 4, %s, %s", got.Cause, got.Item, got.Act, id, row.act.Verb)
			}
			if got.Evidence != row.act.Evidence || got.Finding != row.act.Finding {
				t.Errorf("evidence %q, finding %q; want %q, %q", got.Evidence, got.Finding, row.act.Evidence, row.act.Finding)
			}
		})
	}
}

// R-P3, R-P10: what is no act of a person is refused before the gate, and a
// part that belongs to another verb is not lost in silence.
func TestActsThatAreNone(t *testing.T) {
	n := int64(1)
	base := escalation.Act{Verb: gate.ActReject, RequestID: "q1", Version: 1, Reason: "r"}
	for _, row := range []struct {
		name   string
		change func(*escalation.Act)
		field  string
	}{
		{"as it is", func(*escalation.Act) {}, ""},
		{"an agent's act", func(a *escalation.Act) { a.Verb = gate.ActAsk }, "verb"},
		{"no act", func(a *escalation.Act) { a.Verb = 0 }, "verb"},
		{"no request id", func(a *escalation.Act) { a.RequestID = "" }, "request_id"},
		{"no reason", func(a *escalation.Act) { a.Reason = " " }, "reason"},
		{"a finding beside a reject", func(a *escalation.Act) { a.Finding = gate.FindingHappened }, "finding"},
		{"evidence beside a reject", func(a *escalation.Act) { a.Evidence = "e" }, "evidence"},
		{"a ruling beside a reject", func(a *escalation.Act) { a.Ruling = gate.RulingCauseCleared }, "ruling"},
		{"a new action beside a reject", func(a *escalation.Act) { a.AsNewAction = true }, "as_new_action"},
		{"a run beside a reject", func(a *escalation.Act) { a.NewRun = "r2" }, "run"},
		{"limits beside a reject", func(a *escalation.Act) { a.Limits.Attempts = &n }, "limits"},
		{"caps beside a reject", func(a *escalation.Act) { a.Caps = []gate.Cap{{Agent: "a"}} }, "caps"},
		{"an instant beside a reject", func(a *escalation.Act) { a.Until = noon }, "until"},
		{"a new run without limits", func(a *escalation.Act) { a.Verb, a.NewRun = gate.ActNewRun, "r2" }, "limits.attempts"},
		{"a reconcile without a finding", func(a *escalation.Act) { a.Verb = gate.ActReconcile }, "finding"},
		{"a finding without evidence", func(a *escalation.Act) { a.Verb, a.Finding = gate.ActReconcile, gate.FindingHappened }, "evidence"},
		{"a snooze without end", func(a *escalation.Act) { a.Verb = gate.ActSnooze }, "until"},
	} {
		t.Run(row.name, func(t *testing.T) {
			a := base
			row.change(&a)
			_, err := a.Command(dana, gate.Ref{Run: "r1", Op: "charge-42"})
			var input *gate.InputError
			errors.As(err, &input)
			if row.field == "" && err != nil || row.field != "" && (input == nil || input.Field != row.field) {
				t.Errorf("error = %v, want one about %q", err, row.field)
			}
		})
	}
}

// R-P3: the preview of a verb is what the gate then answers, and commits
// nothing.
func TestPreviewIsTheGatesOwnAnswer(t *testing.T) {
	for _, row := range []struct {
		name string
		act  escalation.Act
	}{
		{"claim", escalation.Act{Verb: gate.ActClaim}},
		{"note", escalation.Act{Verb: gate.ActNote, Reason: "n"}},
		{"approve", escalation.Act{Verb: gate.ActApprove, Reason: "r"}},
		{"approve cause-cleared", escalation.Act{Verb: gate.ActApprove, Reason: "r", Ruling: gate.RulingCauseCleared}},
		{"approve as-new-action", escalation.Act{Verb: gate.ActApprove, Reason: "r", AsNewAction: true}},
		{"reject", escalation.Act{Verb: gate.ActReject, Reason: "r"}},
		{"reconcile happened", escalation.Act{Verb: gate.ActReconcile, Reason: "r", Evidence: "e", Finding: gate.FindingHappened}},
		{"reconcile did-not-happen", escalation.Act{Verb: gate.ActReconcile, Reason: "r", Evidence: "e", Finding: gate.FindingDidNotHappen}},
		{"reconcile cannot-tell", escalation.Act{Verb: gate.ActReconcile, Reason: "r", Finding: gate.FindingCannotTell}},
	} {
		for _, effects := range []int64{1, 2} {
			t.Run(fmt.Sprint(row.name, effects), func(t *testing.T) {
				f := open(t)
				f.run("r1", 6, effects, 30*time.Second)
				id := f.lost("r1", "charge-42")
				before := len(f.store.Decisions())
				preview, ok := f.item(id).Preview[row.name]
				if after := len(f.store.Decisions()); !ok || after != before {
					t.Fatalf("previewed %v, and the ledger grew by %d", ok, after-before)
				}
				got := f.act(dana, id, row.act)
				if got.Verdict != preview.Verdict {
					t.Errorf("the gate answers %s, the preview was %s", got.Verdict, preview.Verdict)
				}
				if diff := cmp.Diff(*got.After, preview.After); diff != "" {
					t.Errorf("budget after (-gate +preview):\n%s", diff)
				}
			})
		}
	}
}

// R-P4: a verb that could never succeed is shown as such, with the reason; one
// that only waits for something is not.
func TestPreviewSaysWhatCouldNeverSucceed(t *testing.T) {
	approve, asNew := "approve", "approve as-new-action"
	for _, row := range []struct {
		name     string
		bring    func(*floor) gate.ItemID
		verb     string
		verdict  gate.Verdict
		possible bool
		says     string
	}{
		{"a finding can still come", func(f *floor) gate.ItemID {
			f.run("r1", 6, 2, 30*time.Second)
			return f.lost("r1", "charge-42")
		}, approve, gate.StopUnsafeToRepeat, true, "write, retry safety never, no finding"},
		{"a finding can still come, but no side effect is left", func(f *floor) gate.ItemID {
			f.run("r1", 6, 1, 30*time.Second)
			return f.lost("r1", "charge-42")
		}, approve, gate.StopUnsafeToRepeat, false, "write, retry safety never, no finding"},
		{"a new action, and no side effect is left", func(f *floor) gate.ItemID {
			f.run("r1", 6, 1, 30*time.Second)
			return f.lost("r1", "charge-42")
		}, asNew, gate.StopSideEffectBudget, false, "1/1 spent"},
		{"a new action", func(f *floor) gate.ItemID {
			f.run("r1", 6, 2, 30*time.Second)
			return f.lost("r1", "charge-42")
		}, asNew, gate.Admit, true, "permits charge-42~2, a new action: it may happen twice"},
		{"after the deadline", func(f *floor) gate.ItemID {
			f.run("r1", 6, 2, 30*time.Second)
			id := f.lost("r1", "charge-42")
			f.clock.advance(2 * time.Minute)
			return id
		}, asNew, gate.StopTimeBudget, false, "deadline passed 1m32s ago"},
		{"at the call limit", func(f *floor) gate.ItemID {
			f.run("r1", 20, 2, 5*time.Minute)
			for n := int64(1); n <= 3; n++ {
				f.ask("r1", "look-1", "look")
				f.fail("r1", "look-1", n, "timeout")
			}
			f.ask("r1", "look-1", "look")
			return gate.ItemIDOf("r1", "look-1")
		}, approve, gate.StopCallLimit, false, "3 of 3 permits of this operation"},
		{"a permanent code", func(f *floor) gate.ItemID {
			f.run("r1", 20, 2, 5*time.Minute)
			f.ask("r1", "look-1", "look")
			f.fail("r1", "look-1", 1, "auth_failure")
			return gate.ItemIDOf("r1", "look-1")
		}, approve, gate.StopPermanentOrUnknown, false, "auth_failure is permanent"},
		{"a permanent code whose cause is ruled cleared", func(f *floor) gate.ItemID {
			f.run("r1", 20, 2, 5*time.Minute)
			f.ask("r1", "look-1", "look")
			f.fail("r1", "look-1", 1, "auth_failure")
			return gate.ItemIDOf("r1", "look-1")
		}, "approve cause-cleared", gate.Retry, true, "permits attempt 2"},
		{"a finding about a read", func(f *floor) gate.ItemID {
			f.run("r1", 20, 2, 5*time.Minute)
			f.ask("r1", "look-1", "look")
			f.fail("r1", "look-1", 1, "auth_failure")
			return gate.ItemIDOf("r1", "look-1")
		}, "reconcile happened", 0, false, "finding: want a write that was dispatched, got an operation that has no effect to find"},
		{"an approval", func(f *floor) gate.ItemID {
			f.run("r1", 20, 2, 5*time.Minute)
			f.ask("r1", "deploy-1", "deploy")
			return gate.ItemIDOf("r1", "deploy-1")
		}, approve, gate.Admit, true, "permits attempt 1"},
		{"an item that has been resolved", func(f *floor) gate.ItemID {
			f.run("r1", 20, 2, 5*time.Minute)
			id := f.lost("r1", "charge-42")
			f.act(dana, id, escalation.Act{Verb: gate.ActReject, Reason: "r"})
			return id
		}, approve, gate.Stale, false, "the item has been resolved, or has moved"},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := open(t)
			got := f.item(row.bring(f)).Preview[row.verb]
			if got.Verdict != row.verdict || got.Possible != row.possible || got.Says != row.says {
				t.Errorf("%s = %s, possible %v, %q; want %s, %v, %q", row.verb,
					got.Verdict, got.Possible, got.Says, row.verdict, row.possible, row.says)
			}
		})
	}
}

// R-P5: an act on what was shown, when it has moved since, does nothing and
// says what changed and by whom. Claims and notes do not move it.
func TestStale(t *testing.T) {
	f := open(t)
	f.run("r1", 6, 2, 30*time.Second)
	id := f.lost("r1", "charge-42")
	shown := f.item(id).Version
	f.act(eli, id, escalation.Act{Verb: gate.ActNote, Reason: "looking"})
	f.act(eli, id, escalation.Act{Verb: gate.ActApprove, Reason: "r"}) // refused
	if got := f.item(id).Version; got != shown {
		t.Errorf("version after a note and a refused approve = %d, want %d", got, shown)
	}
	found := f.act(eli, id, escalation.Act{Verb: gate.ActReconcile, Finding: gate.FindingDidNotHappen, Reason: "r", Evidence: "e"})
	got := f.act(dana, id, escalation.Act{Verb: gate.ActApprove, Version: shown, Reason: "r"})
	if got.Verdict != gate.Stale || got.Permit != nil {
		t.Fatalf("approve of the old version = %s with permit %v, want STALE without", got.Verdict, got.Permit)
	}
	if got.Changed == nil || got.Changed.Seq != found.Seq || got.Changed.By.Name != "eli" || got.Changed.Act != gate.ActReconcile {
		t.Errorf("changed = %+v, want decision %d by eli, reconcile", got.Changed, found.Seq)
	}
	if got := f.item(id); got.State != gate.HoldOpen || got.Permits != 1 {
		t.Errorf("item is %s with %d attempts, want open with 1", got.State, got.Permits)
	}
}

// R-P6: a double key, a replayed request, a second console: one action, and
// the second is told who, what and when.
func TestFirstDecisionWins(t *testing.T) {
	f := open(t)
	f.run("r1", 6, 2, 30*time.Second)
	id := f.lost("r1", "charge-42")
	act := escalation.Act{Verb: gate.ActReject, RequestID: "q-1", Version: f.item(id).Version, Reason: "r"}
	first, err := f.desk.Do(t.Context(), dana, id, act)
	if err != nil {
		t.Fatal(err)
	}
	again, err := f.desk.Do(t.Context(), dana, id, act)
	if err != nil || again.Seq != first.Seq {
		t.Errorf("the same request again = decision %d, %v; want decision %d", again.Seq, err, first.Seq)
	}
	act.Reason = "another"
	if _, err := f.desk.Do(t.Context(), dana, id, act); !errors.Is(err, gate.ErrReused) {
		t.Errorf("the same request id for another act: %v, want used before", err)
	}
	act.RequestID = "q-2"
	second, err := f.desk.Do(t.Context(), eli, id, act)
	if err != nil {
		t.Fatal(err)
	}
	if c := second.Changed; second.Verdict != gate.Stale || c == nil || c.By.Name != "dana" || c.Act != gate.ActReject || c.Seq != first.Seq {
		t.Errorf("the second decision = %s, changed %+v; want STALE, by dana's reject", second.Verdict, second.Changed)
	}
}

// R-P6: two consoles at once, one action.
func TestTwoConsolesAtOnce(t *testing.T) {
	f := open(t)
	f.run("r1", 6, 6, 30*time.Second)
	id := f.lost("r1", "charge-42")
	version := f.item(id).Version
	var wg sync.WaitGroup
	verdicts := make([]gate.Verdict, 8)
	for i := range verdicts {
		wg.Go(func() {
			row, err := f.desk.Do(context.WithoutCancel(t.Context()), dana, id, escalation.Act{
				Verb: gate.ActApprove, RequestID: fmt.Sprint("q", i), Version: version, Reason: "r", AsNewAction: true,
			})
			if err != nil {
				t.Error(err)
			}
			verdicts[i] = row.Verdict
		})
	}
	wg.Wait()
	yes := 0
	for _, v := range verdicts {
		switch v {
		case gate.Admit:
			yes++
		case gate.Stale:
		default:
			t.Errorf("verdict = %s, want ADMIT or STALE", v)
		}
	}
	if yes != 1 {
		t.Errorf("%d of %d were admitted, want 1: %v", yes, len(verdicts), verdicts)
	}
}

// R-P7: a claim is a lease; it stands against another's decision without a
// take-over, and runs out.
func TestClaim(t *testing.T) {
	f := open(t)
	f.run("r1", 6, 2, 30*time.Second)
	id := f.lost("r1", "charge-42")
	f.act(dana, id, escalation.Act{Verb: gate.ActClaim})
	it := f.item(id)
	if it.Claim == nil || it.Claim.By != "dana" || !it.Claim.Until.Equal(noon.Add(15*time.Minute+2*time.Second)) {
		t.Fatalf("claim = %+v, want dana's for 15 minutes", it.Claim)
	}
	now, _ := f.door.Now()
	if it.Claim.HeldAgainst(dana, now) || !it.Claim.HeldAgainst(eli, now) {
		t.Error("the claim should stand against eli alone")
	}
	reject := escalation.Act{Verb: gate.ActReject, Reason: "r"}
	if got := f.act(eli, id, reject).Verdict; got != gate.StopClaimed {
		t.Errorf("another's reject = %s, want STOP_CLAIMED", got)
	}
	seen, err := f.desk.Item(t.Context(), eli, id)
	if err != nil {
		t.Fatal(err)
	}
	if p := seen.Preview["reject"]; p.Verdict != gate.StopClaimed || !p.Possible {
		t.Errorf("what eli's reject would do = %s, possible %v; want STOP_CLAIMED, true", p.Verdict, p.Possible)
	}
	if p := it.Preview["reject"]; p.Verdict != gate.Resolved {
		t.Errorf("what the holder's reject would do = %s, want RESOLVED", p.Verdict)
	}
	f.clock.advance(15 * time.Minute)
	if got := f.item(id).Claim; got != nil {
		t.Errorf("claim at its end = %+v, want none", got)
	}
	if got := f.act(eli, id, reject).Verdict; got != gate.Resolved {
		t.Errorf("another's reject after the lease = %s, want RESOLVED", got)
	}
}

// R-P7: a take-over is explicit.
func TestTakeOver(t *testing.T) {
	f := open(t)
	f.run("r1", 6, 2, 30*time.Second)
	id := f.lost("r1", "charge-42")
	f.act(dana, id, escalation.Act{Verb: gate.ActClaim})
	if got := f.act(eli, id, escalation.Act{Verb: gate.ActClaim, TakeOver: true}).Verdict; got != gate.Recorded {
		t.Errorf("claim with a take-over = %s, want RECORDED", got)
	}
	if got := f.item(id).Claim; got == nil || got.ID != eli.ID {
		t.Errorf("claim = %+v, want eli's", got)
	}
}

// R-P8: two people must approve, neither of them the one who asked.
func TestTwoPeople(t *testing.T) {
	f := open(t)
	f.run("r1", 6, 2, 5*time.Minute)
	f.ask("r1", "launch-1", "launch")
	id := gate.ItemIDOf("r1", "launch-1")
	approve := escalation.Act{Verb: gate.ActApprove, Reason: "r"}
	preview := func(who gate.Actor) escalation.Preview {
		it, err := f.desk.Item(t.Context(), who, id)
		if err != nil {
			t.Fatal(err)
		}
		return it.Preview["approve"]
	}
	for _, step := range []struct {
		who  gate.Actor
		want gate.Verdict
		says string
	}{
		{agent, gate.StopSamePerson, "you asked for it or have approved it"},
		{dana, gate.Recorded, "counts; another person has to approve too"},
		{dana, gate.StopSamePerson, "you asked for it or have approved it"},
		{eli, gate.Admit, "permits attempt 1"},
	} {
		if p := preview(step.who); p.Verdict != step.want || p.Says != step.says || !p.Possible {
			t.Errorf("preview for %s = %s, %q, possible %v; want %s, %q", step.who.Name, p.Verdict, p.Says, p.Possible, step.want, step.says)
		}
		if got := f.act(step.who, id, approve).Verdict; got != step.want {
			t.Errorf("approve by %s = %s, want %s", step.who.Name, got, step.want)
		}
		if step.want == gate.Recorded {
			it := f.item(id)
			if len(it.Approvals) != 1 || it.Approvals[0].By.ID != dana.ID || !it.NeedsTwo {
				t.Errorf("counted approvals = %+v, want dana's", it.Approvals)
			}
		}
	}
}

// R-K2, R-A6: an approval waits for a breaker like any ask, and may be its probe.
func TestApprovalBehindABreaker(t *testing.T) {
	f := open(t, func(k *gate.Contract) {
		k.Dependencies["cluster"] = gate.DependencyRule{Breaker: &gate.BreakerRule{Window: time.Minute, Failures: 1, CoolDown: 10 * time.Second}}
		k.Tools["scale"] = &gate.Tool{Effect: gate.EffectWrite, Safety: gate.SafetyIdempotent, Dependency: "cluster", Timeout: time.Second}
	})
	f.run("r1", 6, 4, 5*time.Minute)
	f.ask("r1", "deploy-1", "deploy")
	f.ask("r1", "scale-1", "scale")
	f.fail("r1", "scale-1", 1, "timeout")
	id := gate.ItemIDOf("r1", "deploy-1")
	it := f.item(id)
	if p := it.Preview["approve"]; it.Breaker != gate.BreakerOpen || p.Verdict != gate.StopBreakerOpen || !p.Possible {
		t.Fatalf("breaker %s, approve %s, possible %v; want open, STOP_BREAKER_OPEN, true", it.Breaker, p.Verdict, p.Possible)
	}
	if want := noon.Add(10 * time.Second); !it.BreakerUntil.Equal(want) || !it.Preview["approve"].RetryAt.Equal(want) {
		t.Errorf("until %s, retry at %s; want %s", it.BreakerUntil, it.Preview["approve"].RetryAt, want)
	}
	f.clock.advance(10 * time.Second)
	if got := f.act(dana, id, escalation.Act{Verb: gate.ActApprove, Reason: "r"}).Verdict; got != gate.Admit {
		t.Errorf("approve after the cool-down = %s, want ADMIT", got)
	}
}

// R-P11: read-only is enforced behind the screen.
func TestReadOnlyDesk(t *testing.T) {
	f := open(t)
	f.run("r1", 6, 2, 30*time.Second)
	id := f.lost("r1", "charge-42")
	desk, before := f.desk.ReadOnly(), len(f.store.Decisions())
	if _, err := desk.Item(t.Context(), dana, id); err != nil {
		t.Errorf("reading: %v", err)
	}
	act := escalation.Act{Verb: gate.ActClaim, RequestID: "q", Version: 1}
	if _, err := desk.Do(t.Context(), dana, id, act); !errors.Is(err, escalation.ErrReadOnly) {
		t.Errorf("claim: %v, want read-only", err)
	}
	if after := len(f.store.Decisions()); after != before {
		t.Errorf("the ledger grew by %d", after-before)
	}
}
