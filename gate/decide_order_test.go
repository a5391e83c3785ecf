package gate

import (
	"testing"
	"time"
)

// wrong is a repeat of a write with everything wrong with it that a step or a
// guard looks at.
func wrong() *Question {
	return &Question{
		Now: noon,
		Op: &Operation{
			ID: "a", Run: "r1", Effect: EffectWrite, Permits: 3, Series: 1, Fresh: 1, Unknowns: 1, Repairs: 2, Digest: Digest{1},
			Attempts: []Attempt{
				{Ordinal: 1, Tool: "pay", Outcome: OutcomeFailed, Digest: Digest{1}},
				{Ordinal: 2, Tool: "pay", Outcome: OutcomeFailed, Digest: Digest{1}},
				{Ordinal: 3, Tool: "pay", Outcome: OutcomeUnknown, Digest: Digest{1}},
			},
		},
		Name: "pay", Tool: &Tool{Effect: EffectWrite, Safety: SafetyNever, Dependency: "payments", Timeout: time.Second},
		Policy: &Policy{AttemptsPerCall: 3},
		Budget: Budget{
			MaxAttempts: 3, MaxSideEffects: 3, MaxRetryTokens: 10, TokensLimited: true, Started: noon, Deadline: noon,
			Spent: Counters{Attempts: 3, SideEffects: 3, RetryTokens: 10},
		},
		Caps: []Cap{{Agent: "main", Attempts: 3, Spent: 3}}, Agent: "main", Digest: Digest{1}, Tokens: 1,
		Class: ClassPermanent, Failure: Failure{Code: "x"}, FailedAt: noon,
		Reading: Reading{Guarded: true, Breaker: BreakerOpen, Permits: 10, Repeats: 5},
		Breaker: &BreakerRule{}, Ratio: &RatioRule{Share: 0.1},
	}
}

// repairsOf mend a Question one by one, with the verdict that stands before
// each.
func repairsOf(q *Question) []repair {
	return []repair{
		{StopAttemptBudget, func() { q.Budget.Spent.Attempts = 2 }},
		{StopTimeBudget, func() { q.Budget.Deadline = noon.Add(time.Second) }},
		{StopSideEffectBudget, func() { q.Budget.Spent.SideEffects = 2 }},
		{StopCallLimit, func() { q.Policy.AttemptsPerCall = 4 }},
		{StopCap, func() { q.Caps[0].Spent = 2 }},
		{StopTokenBudget, func() { q.Budget.Spent.RetryTokens = 9 }},
		{StopRetryRatio, func() { q.Ratio.Share = 0.9 }},
		{StopBreakerOpen, func() { q.Reading.Breaker = BreakerClosed }},
	}
}

type repair struct {
	want Verdict
	mend func()
}

// The order of the steps is part of the contract: with everything wrong, the
// first step answers; as each is repaired, the next one does (R-D1 to R-D6).
func TestDecideRetryOrder(t *testing.T) {
	q := wrong()
	repairs := append([]repair{
		{StopPermanentOrUnknown, func() { q.Class = ClassTransient }},
		{StopUnsafeToRepeat, func() { q.Tool.Safety = SafetyKey }},
	}, repairsOf(q)...)
	for _, r := range repairs {
		if got := DecideRetry(q).Verdict; got != r.want {
			t.Fatalf("verdict = %v, want %v", got, r.want)
		}
		r.mend()
	}
	if got := DecideRetry(q).Verdict; got != Retry {
		t.Fatalf("with all repaired: verdict = %v, want %v", got, Retry)
	}
}

// For a failed reply of a read the rules for repairs stand between the second
// step and the third (R-R1, R-R2, R-R4).
func TestDecideRepairOrder(t *testing.T) {
	q := wrong()
	q.Op.Effect, q.Tool.Effect, q.Op.Unknowns = EffectRead, EffectRead, 0
	repairs := append([]repair{
		{StopPermanentOrUnknown, func() { q.Class = ClassConditional }},
		{StopRepeatedRefusal, func() { q.Op.Repairs = 1 }},
		{StopUnchangedRequest, func() { q.Digest = Digest{2} }},
	}, repairsOf(q)...)
	for _, r := range repairs {
		if r.want == StopSideEffectBudget {
			continue // a read costs none
		}
		if got := DecideRetry(q).Verdict; got != r.want {
			t.Fatalf("verdict = %v, want %v", got, r.want)
		}
		r.mend()
	}
	if got := DecideRetry(q).Verdict; got != Retry {
		t.Fatalf("with all repaired: verdict = %v, want %v", got, Retry)
	}
}

// An admission has the same steps without the first two, and of the guards the
// cap and the breaker (R-D9).
func TestDecideAdmitOrder(t *testing.T) {
	q := wrong()
	for _, r := range repairsOf(q) {
		switch r.want {
		case StopCallLimit, StopTokenBudget, StopRetryRatio:
			continue
		default:
		}
		if got := DecideAdmit(q).Verdict; got != r.want {
			t.Fatalf("verdict = %v, want %v", got, r.want)
		}
		r.mend()
	}
	if got := DecideAdmit(q).Verdict; got != Admit {
		t.Fatalf("with all repaired: verdict = %v, want %v", got, Admit)
	}
}

// The delay is computed between the third step and the fourth: a stop before
// it has none, and its bugs do not show [A7] (R-D7).
func TestDelayIsComputedAfterTheThirdStep(t *testing.T) {
	q := wrong()
	q.Class, q.Tool.Safety, q.Jitter = ClassTransient, SafetyKey, -1 // a jitter that panics when it is used
	if got := DecideRetry(q).Verdict; got != StopAttemptBudget {
		t.Errorf("verdict = %v, want %v", got, StopAttemptBudget)
	}
	defer func() {
		if recover() == nil {
			t.Error("the fourth step answers without the delay")
		}
	}()
	q.Budget.Spent.Attempts = 2
	DecideRetry(q)
}

// The looks that come before the steps, for an ask: in the order of the list
// of verdicts in docs/rules.md (R-D0, R-A4, R-A6, R-A7, R-B10).
func TestLooksOfAnAskOrder(t *testing.T) {
	op := &Operation{
		ID: "a", Run: "r1", Opened: 1, Effect: EffectWrite, Tool: "wire", LastTool: "wire", Permits: 1, Series: 1, Fresh: 1,
		Digest: Digest{1}, Settled: SettledRejected,
		Attempts: []Attempt{{Ordinal: 1, Tool: "wire", Digest: Digest{1}}},
	}
	w := emptyWorld(t)
	run := Run{ID: "r1", Root: "r1", Opened: 1, Budget: limits(1, 1, time.Minute).Budget(noon)}
	run.Budget.Spent = Counters{Attempts: 1, SideEffects: 1}
	w.behind = true
	for _, r := range []repair{
		{StopTerminal, func() { op.Settled = SettledSucceeded }},
		{StopKeyConflict, func() { op.Digest = w.asksDigest("a", "wire") }},
		{AlreadyDone, func() { op.Settled = NotSettled }},
		{StopInFlight, func() { op.Attempts[0].Outcome, op.Attempts[0].Failure.Code = OutcomeUnknown, "teapot" }},
		{StopClock, func() { w.behind = false }},
		{StopApprovalRequired, func() { w.change(func(k *Contract) { k.Tools["wire"].Approval = ApprovalNone }) }},
		{StopPermanentOrUnknown, func() {}},
	} {
		ask := w.asks("a", "wire")
		ask.Run = "r1"
		tr, err := Step(State{Runs: []Run{run}, Ops: []Operation{*op}}, ask, w.inputs())
		if err != nil {
			t.Fatal(err)
		}
		if got := tr.Decision().Verdict; got != r.want {
			t.Fatalf("verdict = %v, want %v", got, r.want)
		}
		r.mend()
	}
}

// The looks that come before the steps, for an approve (R-P5, R-P7, R-D0,
// R-A7, R-B10, R-P8).
func TestLooksOfAnApproveOrder(t *testing.T) {
	w := emptyWorld(t)
	op := &Operation{
		ID: "a", Run: "r1", Opened: 1, Effect: EffectWrite, Tool: "wire", LastTool: "wire", Dependency: "bank", Permits: 1, Series: 1, Fresh: 1,
		Attempts: []Attempt{{Ordinal: 1, Tool: "wire"}}, Settled: SettledRejected, Asker: dana,
		Hold: Hold{State: HoldOpen, Version: 2, Claim: Claim{By: eli, Until: noon.Add(time.Hour)}},
	}
	run := Run{ID: "r1", Root: "r1", Opened: 1, Budget: limits(1, 1, time.Minute).Budget(noon)}
	run.Budget.Spent = Counters{Attempts: 1, SideEffects: 1}
	verb := Verb{Actor: dana, Do: ActApprove, ID: "v", Run: "r1", Op: "a", Version: 1, Reason: "r"}
	w.behind = true
	for _, r := range []repair{
		{Stale, func() { verb.Version = 2 }},
		{StopClaimed, func() { verb.TakeOver = true }},
		{StopTerminal, func() { op.Settled = NotSettled }},
		{StopInFlight, func() { op.Attempts[0].Outcome, op.Attempts[0].Failure.Code, op.Unknowns = OutcomeUnknown, "teapot", 1 }},
		{StopClock, func() { w.behind = false }},
		{StopSamePerson, func() { op.Asker = agent }},
		{Recorded, func() { op.Hold.Approvals = []Grant{{By: eli}} }},
		{StopPermanentOrUnknown, func() {}},
	} {
		state := State{Runs: []Run{run}, Ops: []Operation{*op}}
		tr, err := Step(state, verb, w.inputs())
		if err != nil {
			t.Fatal(err)
		}
		if got := tr.Decision().Verdict; got != r.want {
			t.Fatalf("verdict = %v, want %v", got, r.want)
		}
		checks, err := ChecksOf(state, verb, w.inputs())
		if err != nil {
			t.Fatal(err)
		}
		if r.want.IsStop() && r.want != StopClaimed {
			refused := false
			for _, c := range checks {
				refused = refused || !c.OK
			}
			if !refused {
				t.Errorf("%v: every check passes: %+v", r.want, checks)
			}
		}
		r.mend()
	}
}
