package gate

import "time"

// Question is what a decision looks at: one operation that wants a dispatch,
// the budget that would pay, and the readings. It is filled by the looks that
// come before the steps (decide_ask.go).
type Question struct {
	Now    time.Time
	Jitter float64 // in [0, 1)

	Op     *Operation // as it stands; not changed
	Name   string     // the tool of this dispatch
	Tool   *Tool
	Policy *Policy
	Budget Budget
	Caps   []Cap
	Agent  string
	Path   Path
	Digest Digest // of this request
	Tokens int64  // what one repeat costs

	Failure  Failure   // the last one; not for an admission
	FailedAt time.Time // its time
	Class    Class     // of its code, or transient by ruling (R-P4)
	Cleared  bool      // a person ruled that the cause is cleared

	Reading Reading
	Breaker *BreakerRule
	Ratio   *RatioRule
}

// Answer is what the steps come to. The zero Answer is not one.
type Answer struct {
	Verdict   Verdict
	Delay     time.Duration
	NotBefore time.Time
	RetryAt   time.Time // when a passing stop can first succeed; zero if that is not known
	Charge    Counters  // of a yes
	Probes    bool      // of a yes: it is the breaker's probe
}

// DecideRetry says whether one operation whose last attempt failed may be
// dispatched again.
//
// It is the five-step check of [A6], in the same order; the first step that
// refuses names the verdict. The rules for repairs stand where the verdicts
// have them, between the second step and the third; the narrower guards come
// after the five (R-D6). DecideRetry has no side effects: the charge that it
// names counts only once a Store has committed it.
//
// q.Jitter outside [0, 1) is a bug of the caller and panics.
//
// Source: [A6], R-D1 to R-D8.
func DecideRetry(q *Question) Answer {
	// Step 1: only a failure documented as transient may be repeated. (A
	// conditional one goes on to the rules for repairs.)
	if q.Class != ClassTransient && q.Class != ClassConditional {
		return stop(StopPermanentOrUnknown)
	}

	// Step 2: a change of state is repeated only if repeating is harmless.
	if q.writes() && !q.safeToRepeat() {
		return stop(StopUnsafeToRepeat)
	}

	// A conditional failure: one repeat, and not of the same request.
	if v := q.refusedRepair(); v != 0 {
		return stop(v)
	}

	// Step 3: total attempts, shared by the whole run.
	if q.Budget.AttemptsLeft() == 0 {
		return stop(StopAttemptBudget)
	}

	// The delay is computed only after the shared budget was checked [A7].
	delay, notBefore := q.delay()

	// Step 4: the wait and the next call must both end before the reserve.
	if !q.Budget.Fits(notBefore, q.Tool.Timeout) {
		return stop(StopTimeBudget)
	}

	// Step 5: side effects, charged even when the last result is unknown.
	if q.writes() && q.Budget.SideEffectsLeft() == 0 {
		return stop(StopSideEffectBudget)
	}

	// The narrower guards.
	if a := q.guards(); a.Verdict != 0 {
		return a
	}

	return q.permit(Retry, delay, notBefore)
}

// writes reports whether the dispatch may change external state.
func (q *Question) writes() bool {
	return q.Tool.Effect == EffectWrite || q.Op.Effect == EffectWrite
}

// safeToRepeat is the second step's question about a write (R-D2, R-A9, R-R3).
func (q *Question) safeToRepeat() bool {
	// A person may repeat what is known not to have happened: each earlier
	// attempt was refused before execution, or found not to have happened.
	if q.Path == PathManual && q.Op.Unknowns == 0 {
		return true
	}
	// Through another tool the receiver can't connect the two.
	if q.unknownElsewhere() {
		return false
	}
	// A reply that could not be used: the effect probably happened, and a
	// changed request under the same key is a conflict.
	if q.Class == ClassConditional {
		return false
	}
	switch q.Tool.Safety {
	case SafetyIdempotent:
		return true
	case SafetyKey:
		// The key and the digest are the operation's own; the tool must be too.
		return !q.triedElsewhere()
	default:
		return false
	}
}

// triedElsewhere reports whether an earlier attempt went through another tool.
func (q *Question) triedElsewhere() bool {
	last := q.Op.Newest()
	return q.Op.Mixed || (last != nil && last.Tool != q.Name)
}

// unknownElsewhere reports whether the outcome of an attempt through another
// tool is unknown (R-A9). Such attempts are always kept.
func (q *Question) unknownElsewhere() bool {
	if q.Op.Unknowns == 0 || !q.triedElsewhere() {
		return false
	}
	for i := range q.Op.Attempts {
		if a := &q.Op.Attempts[i]; a.Outcome == OutcomeUnknown && a.Tool != q.Name {
			return true
		}
	}
	return false
}

// delay is the wait before this repeat: backoff with jitter, over the
// provider's Retry-After. It runs from the time of the failure (R-D7).
func (q *Question) delay() (time.Duration, time.Time) {
	n := int64(1)
	if last := q.Op.Newest(); last != nil {
		n = last.Ordinal - q.Op.Series + 1
	}
	d := q.Policy.Backoff.Delay(n, q.Jitter, q.Failure.RetryAfter)
	if at := q.FailedAt.Add(d); at.After(q.Now) {
		return d, at
	}
	return d, q.Now
}

// permit is a yes and what it costs (R-B4, R-D8).
func (q *Question) permit(v Verdict, delay time.Duration, notBefore time.Time) Answer {
	a := Answer{Verdict: v, Delay: delay, NotBefore: notBefore, Charge: Counters{Attempts: 1}}
	if q.writes() {
		a.Charge.SideEffects = 1
	}
	if v == Retry {
		a.Charge.RetryTokens = q.Tokens
	}
	a.Probes = q.Reading.Breaker == BreakerHalfOpen
	return a
}

func stop(v Verdict) Answer { return Answer{Verdict: v} }
