package gate

// refusedRepair is the rule for a reply that could not be used: one repeat,
// and its request must differ. It returns the stop, or 0.
//
// It does not apply to a cause that a person ruled cleared, nor to a write
// that a person repeats because it is known not to have happened.
//
// Source: [B] ("the boundary is two, not five"), R-R1, R-R2.
func (q *Question) refusedRepair() Verdict {
	switch {
	case q.Class != ClassConditional, q.Cleared:
		return 0
	case q.Path == PathManual && q.writes():
		return 0 // the second step has found it safe
	case q.Op.Repairs >= 2:
		return StopRepeatedRefusal
	case q.unchanged():
		return StopUnchangedRequest
	}
	return 0
}

// unchanged reports whether this request is the one that failed.
func (q *Question) unchanged() bool {
	last := q.Op.Newest()
	return last != nil && last.Digest == q.Digest
}
