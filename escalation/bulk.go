package escalation

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"tollgate/gate"
)

// Pick is one item of a bulk act, as it was shown.
type Pick struct {
	ID      gate.ItemID `json:"id"`
	Version int64       `json:"version"`
}

// BulkLine is what became of one item of a bulk act: exactly one of the gate's
// answer, the error that there was in place of one, and the reason why it was
// not sent.
type BulkLine struct {
	ID      gate.ItemID       `json:"id"`
	Row     *gate.DecisionRow `json:"decision,omitempty"`
	Err     string            `json:"error,omitempty"`
	Skipped string            `json:"skipped,omitempty"`
}

// Bulk sends one act to each of the picks, frozen when a person confirmed it:
// in their order, each through the gate alone as by Do, on the version of its
// pick and under the request id of the act with ~n behind it, n from 1. So the
// same call again is one act per item (R-P6), and no caller's own request id
// is ever one of these. each is given a line per pick, in their order, as they
// come; an item that has moved stops none of the others.
//
// Before each pick it looks at the breakers. Once one that was closed at the
// beginning is closed no longer, or ctx has ended, the rest is skipped.
//
// An error means that nothing has been sent: ErrReadOnly, a store's error, or
// a *gate.InputError for an act that is none, that is a new-run (each needs a
// run of its own) or that has a version, for no picks, more than
// gate.MaxWindow, or the same twice.
//
// Source: R-P9.
func (d *Desk) Bulk(ctx context.Context, who gate.Actor, picks []Pick, act Act, each func(BulkLine)) error {
	if d.readOnly {
		return ErrReadOnly
	}
	if err := checkBulk(who, picks, act); err != nil {
		return err
	}
	picks = slices.Clone(picks)
	tripped, err := d.tripwire(ctx)
	if err != nil {
		return err
	}
	skipped := ""
	for i, pick := range picks {
		line := BulkLine{ID: pick.ID}
		if skipped == "" {
			skipped = tripped(ctx)
		}
		if line.Skipped = skipped; skipped == "" {
			act.Version = pick.Version
			row, err := d.do(ctx, who, pick.ID, act, "~"+strconv.Itoa(i+1))
			if err != nil {
				line.Err = err.Error()
			} else {
				line.Row = &row
			}
		}
		each(line)
	}
	return nil
}

func checkBulk(who gate.Actor, picks []Pick, act Act) error {
	if _, err := act.Command(who, gate.Ref{}); err != nil {
		return err
	}
	switch {
	case act.Verb == gate.ActNewRun:
		return &gate.InputError{Field: "verb", Want: "one that many items can share", Got: "new-run: each item needs a run of its own"}
	case act.Version != 0:
		return &gate.InputError{Field: "version", Want: "none beside items, each of which has its own", Got: "one"}
	case len(picks) == 0 || len(picks) > gate.MaxWindow:
		return &gate.InputError{Field: "items", Want: fmt.Sprintf("1 to %d items", gate.MaxWindow), Got: strconv.Itoa(len(picks))}
	}
	seen := make(map[gate.ItemID]bool, len(picks))
	for _, p := range picks {
		if seen[p.ID] {
			return &gate.InputError{Field: "items", Want: "each item once", Got: fmt.Sprintf("%.80q twice", p.ID)}
		}
		seen[p.ID] = true
	}
	return nil
}

// tripwire notes which breakers are not closed, and returns what says why a
// bulk act has to stop, empty while it may go on.
func (d *Desk) tripwire(ctx context.Context) (func(context.Context) string, error) {
	now, _ := d.door.Now()
	rows, err := d.source.Dependencies(ctx, now)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, row := range rows {
		known[row.Name] = row.Breaker != gate.BreakerClosed
	}
	return func(ctx context.Context) string {
		if err := ctx.Err(); err != nil {
			return "called off: " + err.Error()
		}
		now, _ := d.door.Now()
		rows, err := d.source.Dependencies(ctx, now)
		if err != nil {
			return "the breakers cannot be read: " + err.Error()
		}
		for _, row := range rows {
			if row.Breaker != gate.BreakerClosed && !known[row.Name] {
				return fmt.Sprintf("the breaker of %s has opened", row.Name)
			}
		}
		return ""
	}, nil
}
