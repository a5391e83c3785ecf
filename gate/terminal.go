package gate

// Terminal is the typed outcome of a terminal stop, data for an orchestrator:
// nothing in it invites another dispatch.
//
// Source: [A8], R-T1.
type Terminal struct {
	Type                   string  `json:"type"` // RetryBudgetExhausted or RetryStopped
	Operation              OpID    `json:"operation"`
	Reason                 string  `json:"reason"` // the spent limit, or the verdict
	FailureClass           Class   `json:"failureClass"`
	AttemptsUsed           int64   `json:"attemptsUsed"`           // of the run
	ElapsedTimeUsed        int64   `json:"elapsedTimeUsed"`        // of the run, in ms
	SideEffectAttemptsUsed int64   `json:"sideEffectAttemptsUsed"` // of the run
	LastFailure            Failure `json:"lastFailure"`
	IdempotencyReference   string  `json:"idempotencyReference"` // the operation's key
	NextAction             Route   `json:"nextAction"`
}

// The two types of a terminal outcome.
const (
	TypeExhausted = "RetryBudgetExhausted"
	TypeStopped   = "RetryStopped"
)

// terminalOf is the typed outcome of a stop (R-T1).
func terminalOf(d *Decision, op *Operation, next Route) *Terminal {
	t := &Terminal{
		Type: TypeStopped, Operation: op.ID, Reason: d.Verdict.String(), FailureClass: d.Class,
		AttemptsUsed:           d.Before.Spent.Attempts + d.Charge.Attempts,
		SideEffectAttemptsUsed: d.Before.Spent.SideEffects + d.Charge.SideEffects,
		ElapsedTimeUsed:        d.Inputs.Now.Sub(d.Before.Started).Milliseconds(),
		LastFailure:            op.LastError, IdempotencyReference: op.Key, NextAction: next,
	}
	if limit := d.Verdict.Exhausts(); limit != "" {
		t.Type, t.Reason = TypeExhausted, limit
	}
	return t
}
