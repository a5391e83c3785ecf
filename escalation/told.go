package escalation

import (
	"cmp"
	"context"
	"slices"

	"tollgate/gate"
)

// The ledger is read for what a person wrote, which the state does not keep:
// in windows of toldRows, at most toldWindows for each run of a line and at most
// toldRuns of them, so that a review costs the same beside a ledger of any
// length. What lies beyond is told without its reason.
const (
	toldRows    = 64
	toldWindows = 16
	toldRuns    = 16
)

// tell fills in what only the ledger knows of an item: what a person wrote with
// its newest change and with each finding, and of a resolved one what had
// stopped its operation.
func (d *Desk) tell(ctx context.Context, op *gate.Operation, it *Item) error {
	change, err := d.decision(ctx, it.Changed.Seq)
	if err != nil {
		return err
	}
	if change != nil && change.Act.IsVerb() {
		it.Changed.Reason, it.Changed.Evidence, it.Changed.Finding = change.Reason, change.Evidence, change.Finding
	}
	if it.State == gate.HoldResolved {
		if err := d.stopped(ctx, it); err != nil {
			return err
		}
	}
	return d.found(ctx, op, it)
}

// decision returns one decision, nil for one that is not there.
func (d *Desk) decision(ctx context.Context, seq uint64) (*gate.DecisionRow, error) {
	if seq == 0 {
		return nil, nil
	}
	page, err := d.source.Ledger(ctx, gate.LedgerQuery{From: seq, Limit: 1})
	if err != nil || len(page.Rows) == 0 || page.Rows[0].Seq != seq {
		return nil, err
	}
	return &page.Rows[0], nil
}

// stopped says what stopped the operation, as it was: a success has cleared the
// stored stop, and a rejection has written its own outcome over it (R-D0).
func (d *Desk) stopped(ctx context.Context, it *Item) error {
	cause, err := d.decision(ctx, it.Cause)
	if err != nil || cause == nil {
		return err
	}
	if cause.Verdict.IsStop() {
		it.Verdict, it.Route = cause.Verdict, cause.Route
	}
	if cause.Code != "" && cause.Class != nil {
		it.Code, it.Class = cause.Code, *cause.Class
	}
	return nil
}

// found fills in who found what, and on what ground. The finding of an attempt
// is the first one after it was reported, in whichever run its line stood then.
func (d *Desk) found(ctx context.Context, op *gate.Operation, it *Item) error {
	if len(it.Findings) == 0 {
		return nil
	}
	since := op.Attempt(it.Findings[0].Ordinal).Seq
	var rows []gate.DecisionRow
	at := op
	for range toldRuns {
		more, err := d.reconciled(ctx, gate.Ref{Run: at.Run, Op: at.ID}, since)
		if err != nil {
			return err
		}
		rows = append(rows, more...)
		if at.PrevRun == "" || at.Opened <= since {
			break
		}
		state, err := d.source.Load(ctx, gate.Want{Run: at.PrevRun, Op: at.ID})
		if err != nil {
			return err
		}
		if at = state.Op(at.PrevRun, at.ID); at == nil {
			break
		}
	}
	slices.SortFunc(rows, func(a, b gate.DecisionRow) int { return cmp.Compare(a.Seq, b.Seq) })
	for i := range it.Findings {
		f := &it.Findings[i]
		a := op.Attempt(f.Ordinal)
		for j := range rows {
			row := &rows[j]
			if row.Seq > a.Seq && row.Finding == f.Finding && !row.At.Before(a.ReportedAt) {
				f.Seq, f.At, f.By, f.Reason, f.Evidence = row.Seq, row.At, row.Actor, row.Reason, row.Evidence
				break
			}
		}
	}
	return nil
}

// reconciled returns the findings about an operation in one run, from a seq on.
func (d *Desk) reconciled(ctx context.Context, of gate.Ref, since uint64) ([]gate.DecisionRow, error) {
	q := gate.LedgerQuery{From: since, Limit: toldRows, Run: of.Run, Op: of.Op}
	var out []gate.DecisionRow
	for range toldWindows {
		page, err := d.source.Ledger(ctx, q)
		if err != nil {
			return nil, err
		}
		for i := range page.Rows {
			if row := page.Rows[i]; row.Act == gate.ActReconcile && row.Verdict == gate.Resolved {
				out = append(out, row)
			}
		}
		if len(page.Rows) < toldRows || page.Next == 0 {
			break
		}
		q.From = page.Next
	}
	return out, nil
}
