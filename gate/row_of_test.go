package gate

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var rowNoon = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)

// heldPayment is a write that was dispatched once, lost, and stopped.
func heldPayment() (Operation, Run) {
	r := Run{
		ID: "r1", Agent: "planner", Budget: Budget{
			MaxAttempts: 6, MaxSideEffects: 1, Started: rowNoon, Deadline: rowNoon.Add(30 * time.Second), Reserve: 2 * time.Second,
			Spent: Counters{Attempts: 1, SideEffects: 1},
		},
		Operations: 1, OpenItems: 1, Opened: 1,
	}
	lost := Failure{Code: "timeout", Message: "no answer", Status: "504"}
	o := Operation{
		ID: "charge-42", Run: "r1", Opened: 2, Last: 3, Tool: "payments.charge", LastTool: "payments.charge", Dependency: "payments-api",
		Effect: EffectWrite, Safety: SafetyNever, Key: "k", Permits: 1, Series: 1, Fresh: 1, Unknowns: 1,
		Attempts: []Attempt{{
			Ordinal: 1, Seq: 2, Run: "r1", Tool: "payments.charge", Permitted: rowNoon, NotBefore: rowNoon,
			NotAfter: rowNoon.Add(10 * time.Second), Reported: 3, ReportedAt: rowNoon.Add(2 * time.Second), Inner: 1,
			Outcome: OutcomeUnknown, Class: ClassTransient, Failure: lost,
		}},
		FirstError: lost, LastError: lost, Stop: StopUnsafeToRepeat, StopSeq: 3,
		Hold: Hold{State: HoldOpen, Kind: KindOutcomeUnknown, Version: 1, Opened: 3, Cause: 3, Since: rowNoon.Add(2 * time.Second)},
	}
	return o, r
}

// R-P1: an item's row says what it is about, and how its run stands.
func TestRowOfItem(t *testing.T) {
	base := ItemRow{
		ID: ItemIDOf("r1", "charge-42"), Version: 1, Kind: KindOutcomeUnknown, State: HoldOpen,
		Run: "r1", Op: "charge-42", Agent: "planner", Tool: "payments.charge", Dependency: "payments-api",
		Effect: EffectWrite, RetrySafety: SafetyNever, Key: "k", Code: "timeout", Class: ClassTransient, Outcome: OutcomeUnknown,
		Verdict: StopUnsafeToRepeat, Attempts: Spent{1, 6}, Permits: 1,
		Opened: Instant{rowNoon.Add(2 * time.Second)}, Deadline: Instant{rowNoon.Add(30 * time.Second)}, Approvals: []GrantRow{},
	}
	dana := Actor{ID: "uid:1002", Name: "dana", Source: "peer-uid"}
	for _, row := range []struct {
		name string
		have func(*Operation, *Run)
		want func(*ItemRow)
	}{
		{"as it is", func(*Operation, *Run) {}, func(*ItemRow) {}},
		{"an agent of its own", func(o *Operation, _ *Run) { o.Agent = "planner/billing" }, func(r *ItemRow) { r.Agent = "planner/billing" }},
		{"found not to have happened", func(o *Operation, _ *Run) {
			o.Unknowns, o.Attempts[0].Outcome, o.Hold.Kind = 0, OutcomeFailed, KindStopped
		}, func(r *ItemRow) { r.Outcome, r.Kind = OutcomeFailed, KindStopped }},
		{"succeeded late, perhaps twice", func(o *Operation, _ *Run) {
			o.Settled, o.Stop, o.Hold.Duplicate = SettledSucceeded, 0, true
		}, func(r *ItemRow) { r.Outcome, r.Verdict, r.Duplicate = OutcomeSucceeded, Recorded, true }},
		{"lost with its run, no stop", func(o *Operation, _ *Run) { o.Stop = 0 }, func(r *ItemRow) { r.Verdict = Recorded }},
		{"waits for two", func(o *Operation, _ *Run) {
			o.Approval, o.Hold.Kind, o.Stop, o.Attempts, o.Permits, o.Unknowns, o.LastError = ApprovalTwoPerson, KindApproval, 0, nil, 0, 0, Failure{}
			o.Hold.Approvals = []Grant{{By: dana, Seq: 7, At: rowNoon}}
		}, func(r *ItemRow) {
			r.NeedsTwo, r.Kind, r.Verdict, r.Permits = true, KindApproval, StopApprovalRequired, 0
			r.Approvals = []GrantRow{{By: dana, Seq: 7, At: Instant{rowNoon}}}
			r.Code, r.Class, r.Outcome = "", ClassUnknown, OutcomePending
		}},
		{
			"claimed", func(o *Operation, _ *Run) { o.Hold.Claim = Claim{By: dana, Until: rowNoon} },
			func(r *ItemRow) { r.Claim = &ClaimRow{By: "dana", ID: "uid:1002", Until: Instant{rowNoon}} },
		},
		{
			"claimed by one without a name", func(o *Operation, _ *Run) { o.Hold.Claim.By.ID = "uid:7" },
			func(r *ItemRow) { r.Claim = &ClaimRow{By: "uid:7", ID: "uid:7"} },
		},
		{"repeated, and that succeeded", func(o *Operation, _ *Run) {
			o.Unknowns, o.Attempts[0].Outcome, o.Hold.Kind, o.Permits = 0, OutcomeFailed, KindStopped, 2
			o.Attempts = append(o.Attempts, Attempt{Ordinal: 2, Seq: 5, Reported: 6, Outcome: OutcomeSucceeded})
			o.Settled = SettledSucceeded
		}, func(r *ItemRow) { r.Outcome, r.Kind, r.Permits = OutcomeSucceeded, KindStopped, 2 }},
		{"resolved by a finding", func(o *Operation, _ *Run) {
			o.Hold.State, o.Hold.Changed = HoldResolved, Changed{At: rowNoon, By: dana, Act: ActReconcile, Verdict: Resolved}
			o.Unknowns, o.Attempts[0].Outcome, o.Settled, o.Evidence = 0, OutcomeSucceeded, SettledSucceeded, FindingHappened
		}, func(r *ItemRow) {
			r.State, r.Resolved, r.Outcome, r.Kind = HoldResolved, Instant{rowNoon}, OutcomeSucceeded, KindStopped
			r.Ended, r.EndedBy, r.EndedID, r.Finding = ActReconcile, "dana", dana.ID, FindingHappened
		}},
		{"found, and rejected later by one without a name", func(o *Operation, _ *Run) {
			o.Hold.State, o.Hold.Changed = HoldResolved, Changed{At: rowNoon, By: Actor{ID: "uid:7"}, Act: ActReject, Verdict: Resolved}
			o.Unknowns, o.Attempts[0].Outcome, o.Evidence = 0, OutcomeFailed, FindingDidNotHappen
		}, func(r *ItemRow) {
			r.State, r.Resolved, r.Outcome, r.Kind = HoldResolved, Instant{rowNoon}, OutcomeFailed, KindStopped
			r.Ended, r.EndedBy, r.EndedID = ActReject, "uid:7", "uid:7"
		}},
		{"gone on elsewhere", func(o *Operation, _ *Run) {
			o.Hold.State, o.Hold.Changed = HoldResolved, Changed{At: rowNoon, By: dana, Act: ActNewRun, Verdict: Resolved}
		}, func(r *ItemRow) {
			r.State, r.Resolved, r.Ended, r.EndedBy, r.EndedID = HoldResolved, Instant{rowNoon}, ActNewRun, "dana", dana.ID
		}},
		{"found, and open", func(o *Operation, _ *Run) {
			o.Hold.Changed = Changed{At: rowNoon, By: dana, Act: ActReconcile, Verdict: Resolved}
			o.Evidence = FindingDidNotHappen
		}, func(*ItemRow) {}},
	} {
		t.Run(row.name, func(t *testing.T) {
			o, r := heldPayment()
			want := base
			row.have(&o, &r)
			row.want(&want)
			if diff := cmp.Diff(RowOfItem(&o, &r), want); diff != "" {
				t.Errorf("item (-got +want):\n%s", diff)
			}
		})
	}
}

func TestRowOfRun(t *testing.T) {
	_, r := heldPayment()
	r.Caps = []Cap{{Agent: "planner/a", Attempts: 3, Spent: 1}}
	r.Budget.TokensLimited, r.Budget.MaxRetryTokens, r.Budget.Spent.RetryTokens = true, 100, 30
	want := RunRow{
		Run: "r1", Agent: "planner", State: RunActive, Operations: 1, OpenItems: 1, Opened: 1,
		Budget: BudgetRow{
			Attempts: Spent{1, 6}, SideEffects: Spent{1, 1}, RetryTokens: &Spent{30, 100},
			Started: Instant{rowNoon}, Deadline: Instant{rowNoon.Add(30 * time.Second)}, ReserveMS: 2000, LeftMS: 18000,
		},
		Caps: []CapRow{{Agent: "planner/a", Attempts: Spent{1, 3}}},
	}
	if diff := cmp.Diff(RowOfRun(&r, rowNoon.Add(10*time.Second)), want); diff != "" {
		t.Errorf("run (-got +want):\n%s", diff)
	}
	r.Budget.Spent.Attempts = 7
	if got := RowOfRun(&r, rowNoon.Add(time.Hour)).Budget; !got.Overdrawn || got.LeftMS != 0 {
		t.Errorf("past its limits: overdrawn %v with %d ms left, want true with 0", got.Overdrawn, got.LeftMS)
	}
}

func TestRowOfOp(t *testing.T) {
	transient := ClassTransient
	base := func() OpRow {
		o, _ := heldPayment()
		return OpRow{
			Run: "r1", Op: "charge-42", State: OpHeld, Agent: "planner", Tool: "payments.charge", Dependency: "payments-api",
			Effect: EffectWrite, RetrySafety: SafetyNever, KnownEffect: KnownUnknown, Key: "k", Permits: 1, Stop: StopUnsafeToRepeat,
			Attempts: []AttemptRow{{
				Ordinal: 1, Seq: 2, Tool: "payments.charge", Permitted: Instant{rowNoon}, NotBefore: Instant{rowNoon}, NotAfter: Instant{rowNoon.Add(10 * time.Second)},
				ReportedAt: Instant{rowNoon.Add(2 * time.Second)}, Inner: 1, Outcome: OutcomeUnknown, Class: &transient, Failure: &o.LastError,
			}},
			Item: ItemIDOf("r1", "charge-42"), ItemState: HoldOpen, Kind: KindOutcomeUnknown, Version: 1, Last: 3,
		}
	}
	for _, row := range []struct {
		name string
		have func(*Operation)
		want func(*OpRow)
	}{
		{"as it is", func(*Operation) {}, func(*OpRow) {}},
		{"a repeat in flight", func(o *Operation) {
			o.Permits, o.Stop, o.Hold.State = 2, 0, HoldResolved
			o.Attempts = append(o.Attempts, Attempt{Ordinal: 2, Seq: 4, Tool: "payments.charge", Path: PathManual, NotBefore: rowNoon.Add(time.Minute), NotAfter: rowNoon.Add(time.Hour)})
		}, func(r *OpRow) {
			r.Permits, r.Stop, r.ItemState, r.State = 2, 0, HoldResolved, OpWaiting
			r.Attempts = append(r.Attempts, AttemptRow{Ordinal: 2, Seq: 4, Tool: "payments.charge", Path: PathManual, NotBefore: Instant{rowNoon.Add(time.Minute)}, NotAfter: Instant{rowNoon.Add(time.Hour)}})
			r.Permit = &PermitRow{Ordinal: 2, Key: "k", NotBefore: Instant{rowNoon.Add(time.Minute)}, NotAfter: Instant{rowNoon.Add(time.Hour)}, Inner: 1}
		}},
		{"no item", func(o *Operation) { o.Hold = Hold{} }, func(r *OpRow) {
			r.State, r.Item, r.ItemState, r.Kind, r.Version = OpFailed, "", HoldNone, 0, 0
		}},
		{"gone on in another run", func(o *Operation) {
			o.Settled, o.Successor = SettledSuperseded, Ref{Run: "r2", Op: "charge-42"}
		}, func(r *OpRow) { r.State, r.Successor = OpSuperseded, &Ref{Run: "r2", Op: "charge-42"} }},
	} {
		t.Run(row.name, func(t *testing.T) {
			o, r := heldPayment()
			want := base()
			row.have(&o)
			row.want(&want)
			if diff := cmp.Diff(RowOfOp(&o, &r, rowNoon.Add(3*time.Second)), want); diff != "" {
				t.Errorf("operation (-got +want):\n%s", diff)
			}
		})
	}
}

// R-B8: a permit that is looked at later says what the run still has.
func TestInnerAttemptsOfAPermit(t *testing.T) {
	for _, row := range []struct {
		name string
		have func(*Operation, *Run)
		want int64
	}{
		{"what is left, and its own", func(*Operation, *Run) {}, 3},
		{"bounded by the side effects of a write", func(o *Operation, _ *Run) { o.Effect = EffectWrite }, 2},
		{"bounded by its agent's cap", func(_ *Operation, r *Run) { r.Caps = []Cap{{Agent: "planner", Attempts: 1, Spent: 1}} }, 1},
		{"another agent's cap", func(_ *Operation, r *Run) { r.Caps = []Cap{{Agent: "other", Attempts: 1, Spent: 1}} }, 3},
		{"overdrawn", func(_ *Operation, r *Run) { r.Budget.Spent.Attempts = 9 }, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			o := Operation{ID: "look", Run: "r1", Effect: EffectRead, Permits: 1, Attempts: []Attempt{{Ordinal: 1, Agent: "planner/a"}}}
			r := Run{ID: "r1", Budget: Budget{MaxAttempts: 6, MaxSideEffects: 2, Spent: Counters{Attempts: 4, SideEffects: 1}}}
			row.have(&o, &r)
			if got := RowOfOp(&o, &r, rowNoon).Permit.Inner; got != row.want {
				t.Errorf("inner attempts = %d, want %d", got, row.want)
			}
		})
	}
}

// R-L1: what is shown of a decision is what it holds.
func TestRowOf(t *testing.T) {
	_, r := heldPayment()
	dana := Actor{ID: "uid:1002", Name: "dana", Source: "peer-uid"}
	permit := Permit{Op: "charge-42~2", Ordinal: 1, Key: "k2", NotBefore: rowNoon, NotAfter: rowNoon.Add(time.Second), Inner: 2}
	d := Decision{
		Seq: 9, Run: "r1", Op: "charge-42", Path: PathManual, Verdict: Admit, Before: r.Budget, Charge: Counters{Attempts: 1},
		Command: Verb{Actor: dana, Do: ActApprove, Reason: "paid by hand", Ruling: RulingCauseCleared, AsNewAction: true},
		Inputs:  Inputs{Now: rowNoon, Jitter: 0.5}, Rules: RulesVersion, Permit: permit, NewOp: "charge-42~2",
		Code: "timeout", Class: ClassTransient, Cause: 3, Depends: DependencyChange{Breaker: &Breaker{State: BreakerOpen, Until: rowNoon}},
	}
	got := RowOf(&d)
	if got.After.Attempts != (Spent{2, 6}) || got.Before.Attempts != (Spent{1, 6}) {
		t.Errorf("attempts %v → %v, want 1/6 → 2/6", got.Before.Attempts, got.After.Attempts)
	}
	transient := ClassTransient
	got.Before, got.After = nil, nil
	want := DecisionRow{
		Seq: 9, At: Instant{rowNoon}, Act: ActApprove, Verdict: Admit, Run: "r1", Op: "charge-42", Path: PathManual,
		Actor:  Actor{ID: "uid:1002", Name: "dana", Source: "peer-uid"},
		Permit: &PermitRow{Op: "charge-42~2", Ordinal: 1, Key: "k2", NotBefore: Instant{rowNoon}, NotAfter: Instant{rowNoon.Add(time.Second)}, Inner: 2},
		Code:   "timeout", Class: &transient, Item: ItemIDOf("r1", "charge-42"), Cause: 3, NewOp: "charge-42~2",
		Reason: "paid by hand", Ruling: RulingCauseCleared, Breaker: &BreakerRow{State: BreakerOpen, Until: Instant{rowNoon}}, Jitter: 0.5, Rules: RulesVersion,
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("decision (-got +want):\n%s", diff)
	}

	d.Verdict = Stale
	if got := RowOf(&d).Class; got != nil {
		t.Errorf("class in an answer of STALE = %v, want none", got)
	}

	d.Verdict = Admit
	d.Command, d.Result, d.Permit, d.NewOp = Report{}, "ch_42", Permit{}, ""
	d.Terminal = &Terminal{Type: TypeStopped, NextAction: RouteReturn}
	d.Changed = &Changed{Seq: 8, At: rowNoon, By: dana, Act: ActReject, Verdict: Resolved}
	got = RowOf(&d)
	if got.Permit != nil || got.Item != "" || got.Result != "ch_42" {
		t.Errorf("report: permit %v, item %q, result %q; want none, none, ch_42", got.Permit, got.Item, got.Result)
	}
	if got.Route == nil || *got.Route != RouteReturn {
		t.Errorf("route of a terminal stop = %v, want return, said", got.Route)
	}
	if got.Changed == nil || got.Changed.By.Name != "dana" {
		t.Errorf("changed = %v, want by dana", got.Changed)
	}
}

// R-K3: an open breaker whose cool-down has ended shows as half-open, and the
// window counts what is at most one grain too old.
func TestRowOfDependency(t *testing.T) {
	bucket := func(age time.Duration) Bucket {
		return Bucket{Start: rowNoon.Add(-age).UnixMilli(), Permits: 4, Repeats: 1, Requests: 3, Failures: 2}
	}
	d := Dependency{
		Name: "payments-api", Window: time.Second, Breaker: Breaker{State: BreakerOpen, Since: rowNoon.Add(-time.Second), Until: rowNoon},
		Buckets: []Bucket{bucket(time.Second + bucketWidth), bucket(time.Second), bucket(0)},
	}
	want := DependencyRow{
		Name: "payments-api", Breaker: BreakerHalfOpen, Since: Instant{rowNoon}, Until: Instant{rowNoon},
		Requests: 6, Failures: 4, Permits: 8, Repeats: 2, WindowMS: 1000,
	}
	if diff := cmp.Diff(RowOfDependency(&d, rowNoon), want); diff != "" {
		t.Errorf("dependency (-got +want):\n%s", diff)
	}
	d.Breaker.Until = rowNoon.Add(time.Millisecond)
	if got := RowOfDependency(&d, rowNoon).Breaker; got != BreakerOpen {
		t.Errorf("breaker before its cool-down has ended = %v, want open", got)
	}
}
