package escalation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tollgate/gate"
)

// Preview is what one verb would do now: the gate's own decision on a copy,
// with nothing committed. The gate decides afresh when the verb is sent.
type Preview struct {
	Verdict  gate.Verdict   `json:"verdict,omitempty"`
	Says     string         `json:"says"`             // one line: what follows, or what stands against it
	Possible bool           `json:"possible"`         // false: it could never succeed as things stand (R-P4)
	Checks   []gate.Check   `json:"checks,omitempty"` // of an approve, in the order in which they are looked at
	Before   gate.BudgetRow `json:"before,omitzero"`
	After    gate.BudgetRow `json:"after,omitzero"`      // after the charge
	Earliest time.Time      `json:"not_before,omitzero"` // of the permit, before any jitter
	RetryAt  time.Time      `json:"retry_at,omitzero"`   // when a passing stop can first succeed, where that is known
}

// variant is one verb as it is previewed, with the least that it needs.
type variant struct {
	name string
	verb gate.Verb
	says string // what follows a yes
}

// variants are the verbs under the names of their previews.
func variants(it *Item) []variant {
	attempts, effects := it.Budget.Attempts.Limit, it.Budget.SideEffects.Limit
	deadline := max(it.Budget.Deadline.Sub(it.Budget.Started.Time), time.Millisecond)
	outcome := "RetryStopped"
	if it.Terminal != nil {
		outcome = it.Terminal.Type
	}
	return []variant{
		{"reconcile happened", gate.Verb{Do: gate.ActReconcile, Finding: gate.FindingHappened, Evidence: "-"}, "closes the operation as succeeded; the evidence is the result that its agent gets"},
		{"reconcile did-not-happen", gate.Verb{Do: gate.ActReconcile, Finding: gate.FindingDidNotHappen, Evidence: "-"}, "nothing is given back; the item stays open for approve or reject"},
		{"reconcile cannot-tell", gate.Verb{Do: gate.ActReconcile, Finding: gate.FindingCannotTell}, "closes the operation as unresolved"},
		{"approve", gate.Verb{Do: gate.ActApprove}, ""},
		{"approve cause-cleared", gate.Verb{Do: gate.ActApprove, Ruling: gate.RulingCauseCleared}, ""},
		{"approve as-new-action", gate.Verb{Do: gate.ActApprove, AsNewAction: true}, ""},
		{"reject", gate.Verb{Do: gate.ActReject}, "closes the operation as rejected and returns " + outcome + " to its caller"},
		{"new-run", gate.Verb{
			Do: gate.ActNewRun, NewRun: gate.RunID(it.ID + "-preview"),
			Limits: gate.Limits{Attempts: &attempts, Deadline: &deadline, SideEffects: &effects},
		}, "a run with limits of its own goes on with what is unfinished; this run's counters stay"},
		{"claim", gate.Verb{Do: gate.ActClaim}, "a lease on deciding; charges nothing"},
		{"release", gate.Verb{Do: gate.ActRelease}, "ends the lease; charges nothing"},
		{"snooze", gate.Verb{Do: gate.ActSnooze, Until: it.Deadline.Time}, "hides the item until then; the deadline runs on"},
		{"note", gate.Verb{Do: gate.ActNote}, "a line in the ledger; charges nothing"},
	}
}

// previews asks the gate what each verb would come to.
func (d *Desk) previews(ctx context.Context, who gate.Actor, it *Item) (map[string]Preview, error) {
	out := map[string]Preview{}
	for _, v := range variants(it) {
		v.verb.Actor, v.verb.Run, v.verb.Op, v.verb.Version, v.verb.Reason = who, it.Run, it.Op, it.Version, "-"
		p, err := d.preview(ctx, v)
		if err != nil {
			return nil, fmt.Errorf("preview of %s: %w", v.name, err)
		}
		out[v.name] = p
	}
	return out, nil
}

func (d *Desk) preview(ctx context.Context, v variant) (Preview, error) {
	decision, err := d.door.Preview(ctx, v.verb)
	var input *gate.InputError
	switch {
	case errors.As(err, &input):
		return Preview{Says: input.Error()}, nil // it asks for something that is not so
	case errors.Is(err, gate.ErrUnknownTool), errors.Is(err, gate.ErrNoPolicy), errors.Is(err, gate.ErrReused):
		return Preview{Says: err.Error()}, nil
	case err != nil:
		return Preview{}, err
	}
	row := gate.RowOf(&decision)
	p := Preview{Verdict: decision.Verdict, Says: v.says, RetryAt: decision.RetryAt}
	if row.Before != nil {
		p.Before, p.After = *row.Before, *row.After
	}
	if row.Permit != nil {
		p.Earliest = row.Permit.NotBefore.Time
	}
	if v.verb.Do == gate.ActApprove {
		if p.Checks, err = d.door.Checks(ctx, v.verb); err != nil {
			return Preview{}, err
		}
	}
	p.judge(&decision)
	return p, nil
}

// judge says in one line what follows, and whether it could ever succeed.
func (p *Preview) judge(d *gate.Decision) {
	switch {
	case d.Verdict.Permits():
		p.Possible = true
		p.Says = fmt.Sprintf("permits attempt %d", d.Ordinal)
		if d.NewOp != "" {
			p.Says = fmt.Sprintf("permits %s, a new action: it may happen twice", d.NewOp)
		}
	case d.Verdict == gate.Recorded && d.Command.Act() == gate.ActApprove:
		p.Possible, p.Says = true, "counts; another person has to approve too"
	case d.Verdict == gate.Stale:
		p.Says = "the item has been resolved, or has moved"
	case d.Verdict == gate.StopClaimed:
		p.Possible, p.Says = true, "another person holds the claim; a take-over is recorded"
	case d.Verdict.IsStop():
		p.Possible = true
		for i := len(p.Checks) - 1; i >= 0; i-- {
			if c := p.Checks[i]; !c.OK {
				p.Says = c.Says
				p.Possible = p.Possible && c.Passing()
			}
		}
	default:
		p.Possible = true
	}
}
