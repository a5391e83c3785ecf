package escalation

import (
	"context"

	"tollgate/gate"
)

// tell fills in what only the ledger knows of an item: what a person wrote with
// its newest change and with each finding, whose the newest note is, and of a resolved one what had
// stopped its operation. Each is one read of one decision.
func (d *Desk) tell(ctx context.Context, it *Item) error {
	change, err := d.decision(ctx, it.Changed.Seq)
	if err != nil {
		return err
	}
	if change != nil && change.Act.IsVerb() {
		it.Changed.Reason, it.Changed.Evidence, it.Changed.Finding = change.Reason, change.Evidence, change.Finding
	}
	note, err := d.decision(ctx, it.Noted)
	if err != nil {
		return err
	}
	if note != nil {
		it.NoteBy, it.NoteAt = note.Actor, note.At
	}
	if it.State == gate.HoldResolved {
		if err := d.stopped(ctx, it); err != nil {
			return err
		}
	}
	for i := range it.Findings {
		f := &it.Findings[i]
		row, err := d.decision(ctx, f.Seq)
		if err != nil {
			return err
		}
		if row != nil {
			f.At, f.By, f.Reason, f.Evidence = row.At, row.Actor, row.Reason, row.Evidence
		}
	}
	return nil
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
