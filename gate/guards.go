package gate

// guards are the narrower limits, looked at after the five steps in this
// order. It returns the stop, or the zero Answer.
//
// Source: R-D6, [B].
func (q *Question) guards() Answer {
	switch {
	case q.callsSpent():
		return stop(StopCallLimit)
	case q.capSpent():
		return stop(StopCap)
	case !q.Budget.TokensFit(q.Tokens):
		return stop(StopTokenBudget)
	case q.ratioSpent():
		return stop(StopRetryRatio)
	}
	return q.breakerStop()
}

// callsSpent reports whether the operation has had its permits. Surplus that a
// client reported does not count here (R-B8).
func (q *Question) callsSpent() bool {
	return q.Op.calls() >= q.Policy.AttemptsPerCall
}

// calls returns the permits that count toward the call limit (R-A7).
func (o *Operation) calls() int64 {
	last := o.Newest()
	if last == nil {
		return 0
	}
	return max(0, last.Ordinal-o.Fresh+1)
}

// capSpent reports whether a cap over the agent's path has been spent (R-B9).
func (q *Question) capSpent() bool {
	for i := range q.Caps {
		if q.Caps[i].covers(q.Agent) && q.Caps[i].Spent >= q.Caps[i].Attempts {
			return true
		}
	}
	return false
}

// ratioSpent reports whether this repeat would take more than its share of the
// dependency's permits.
func (q *Question) ratioSpent() bool {
	r, w := q.Ratio, q.Reading
	return r != nil && w.Permits >= r.Min && float64(w.Repeats+1)/float64(w.Permits+1) > r.Share
}

// breakerStop refuses while the dependency's breaker is open, and while its
// one probe is out (R-K2).
func (q *Question) breakerStop() Answer {
	switch {
	case q.Breaker == nil:
		return Answer{}
	case q.Reading.Breaker == BreakerOpen, q.Reading.Probing:
		return Answer{Verdict: StopBreakerOpen, RetryAt: q.Reading.Until}
	}
	return Answer{}
}
