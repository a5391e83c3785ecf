package gate

import (
	"fmt"
	"time"
)

// The checks that may let pass later what they refuse now.
const (
	stepInFlight  = "in flight"
	stepClock     = "clock"
	stepTwoPeople = "two people"
	stepSafe      = "2 safe to repeat"
	stepRatio     = "retry ratio"
	stepBreaker   = "breaker"
)

// Passing reports whether the check may let pass later what it refuses now: by
// a report, a finding, another person, or time. What has been spent stays
// spent, time does not come back, and the class of a code stays what it is
// (R-P4).
func (c Check) Passing() bool {
	switch c.Step {
	case stepInFlight, stepClock, stepTwoPeople, stepSafe, stepRatio, stepBreaker:
		return true
	default:
		return false
	}
}

// ChecksOf returns the steps that an approve would meet, each with its
// numbers, and not only the first that refuses: what a person reads before
// deciding. The first check that is not OK is the one that names the verdict
// of Step, for an item that is as it was shown, waits and is not held by
// another: those three it does not look at. It fails with ErrNoItem,
// ErrUnknownTool and ErrNoPolicy.
func ChecksOf(s State, v Verb, in Inputs) ([]Check, error) {
	run, op := s.Run(v.Run), s.Op(v.Run, v.Op)
	if run == nil || op == nil {
		return nil, About(ErrNoItem, "item", string(ItemIDOf(v.Run, v.Op)))
	}
	q, _, err := approveQuestion(&s, v, op, run, in)
	if err != nil {
		return nil, err
	}
	repeat := !v.AsNewAction && !admission(op)
	if repeat {
		q.lastFailure(in.Contract)
	}
	var out []Check
	if look, _ := q.look(run, v, in.Behind); look.Step != "" {
		out = append(out, look)
	}
	if repeat {
		out = append(out, q.checkClass(), q.checkSafe())
		if q.Class == ClassConditional {
			out = append(out, q.checkRepair())
		}
	}
	out = append(out, q.checkAttempts(), q.checkTime(repeat), q.checkSideEffects())
	if repeat {
		out = append(out, Check{"call limit", !q.callsSpent(), fmt.Sprintf("%d of %d permits of this operation", op.calls(), q.Policy.AttemptsPerCall)})
	}
	for i := range q.Caps {
		if k := q.Caps[i]; k.covers(q.Agent) {
			out = append(out, Check{"cap", k.Spent < k.Attempts, fmt.Sprintf("%s %d/%d", k.Agent, k.Spent, k.Attempts)})
		}
	}
	if repeat && q.Budget.TokensLimited {
		out = append(out, Check{"retry tokens", q.Budget.TokensFit(q.Tokens), fmt.Sprintf(
			"%d/%d, this one costs %d", q.Budget.Spent.RetryTokens, q.Budget.MaxRetryTokens, q.Tokens)})
	}
	if repeat && q.Ratio != nil {
		out = append(out, Check{stepRatio, !q.ratioSpent(), fmt.Sprintf(
			"%d repeats among %d permits, share at most %g", q.Reading.Repeats, q.Reading.Permits, q.Ratio.Share)})
	}
	if q.Breaker != nil {
		out = append(out, Check{stepBreaker, q.breakerStop().Verdict == 0, fmt.Sprintf("%s %s", q.Tool.Dependency, q.Reading.Breaker)})
	}
	return out, nil
}

func (q *Question) checkClass() Check {
	code, class := q.Failure.Code, q.Class.String()
	if q.Class == ClassUnknown {
		class = "an unlisted code"
	}
	says := fmt.Sprintf("%s is %s", code, class)
	if q.Cleared {
		says = fmt.Sprintf("%s: cause ruled cleared", code)
	}
	return Check{"1 class", q.Class == ClassTransient || q.Class == ClassConditional, says}
}

func (q *Question) checkSafe() Check {
	if !q.writes() {
		return Check{stepSafe, true, "a read"}
	}
	says := "write, retry safety " + q.Tool.Safety.String()
	switch {
	case q.Op.Unknowns == 0:
		says += ", known not to have happened"
	case q.unknownElsewhere():
		says += ", outcome unknown at another tool"
	case q.Class == ClassConditional:
		says += ", reply could not be used"
	case q.Tool.Safety == SafetyNever:
		says += ", no finding"
	}
	return Check{stepSafe, !q.writes() || q.safeToRepeat(), says}
}

func (q *Question) checkRepair() Check {
	says := "one changed repeat"
	switch q.refusedRepair() {
	case StopRepeatedRefusal:
		says = fmt.Sprintf("%d replies could not be used", q.Op.Repairs)
	case StopUnchangedRequest:
		says = "the request is unchanged"
	default:
	}
	return Check{"repair", q.refusedRepair() == 0, says}
}

func (q *Question) checkAttempts() Check {
	return stepCount("3 attempts", q.Budget.Spent.Attempts, q.Budget.MaxAttempts)
}

func (q *Question) checkSideEffects() Check {
	if !q.writes() {
		return Check{"5 side effects", true, "a read costs none"}
	}
	return stepCount("5 side effects", q.Budget.Spent.SideEffects, q.Budget.MaxSideEffects)
}

func stepCount(step string, spent, limit int64) Check {
	if spent >= limit {
		return Check{step, false, fmt.Sprintf("%d/%d spent", spent, limit)}
	}
	return Check{step, true, fmt.Sprintf("%d/%d → %d/%d", spent, limit, spent+1, limit)}
}

// checkTime shows the wait as its most, and asks whether its least fits: what
// refuses even then could never pass.
func (q *Question) checkTime(repeat bool) Check {
	least, most := q.Now, time.Duration(0)
	if repeat {
		_, least = q.delay()
		longest := *q
		longest.Jitter = 1 - 1e-9
		_, at := longest.delay()
		most = at.Sub(q.Now)
	}
	ok := q.Budget.Fits(least, q.Tool.Timeout)
	left, sign := q.Budget.Deadline.Sub(q.Now), "≥"
	if !ok {
		sign = "<"
	}
	if left <= 0 {
		return Check{"4 time", false, fmt.Sprintf("deadline passed %s ago", (-left).Round(time.Second))}
	}
	return Check{"4 time", ok, fmt.Sprintf("%s − reserve %s %s delay of at most %s + timeout %s",
		left.Round(100*time.Millisecond), q.Budget.Reserve, sign, most.Round(time.Millisecond), q.Tool.Timeout)}
}
