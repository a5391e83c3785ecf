package gate

// DecideAdmit says whether an operation may be dispatched for the first time,
// or a read again that has succeeded: steps 3 to 5 of [A6], then the cap and
// the breaker. There is no wait, and nothing to classify.
//
// Source: R-D9; [A2] (the first dispatch is charged too).
func DecideAdmit(q *Question) Answer {
	// Step 3.
	if q.Budget.AttemptsLeft() == 0 {
		return stop(StopAttemptBudget)
	}
	// Step 4.
	if !q.Budget.Fits(q.Now, q.Tool.Timeout) {
		return stop(StopTimeBudget)
	}
	// Step 5.
	if q.writes() && q.Budget.SideEffectsLeft() == 0 {
		return stop(StopSideEffectBudget)
	}
	if q.capSpent() {
		return stop(StopCap)
	}
	if a := q.breakerStop(); a.Verdict != 0 {
		return a
	}
	return q.permit(Admit, 0, q.Now)
}
