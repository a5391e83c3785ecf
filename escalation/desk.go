package escalation

import (
	"context"
	"errors"

	"tollgate/gate"
)

// ErrReadOnly is what a desk that may only read answers to every verb (R-P11).
var ErrReadOnly = errors.New("read-only: no verb may be sent from here")

// Source is where a desk reads: every gate.Engine is one.
type Source interface {
	gate.Reader
	Load(ctx context.Context, wants ...gate.Want) (gate.State, error)
}

// Desk is where a person works: it shows one item whole, and sends a verb
// through the gate. It keeps nothing of its own.
//
// Safe for concurrent use. Make one with NewDesk.
type Desk struct {
	door     *gate.Door
	source   Source
	readOnly bool
}

// NewDesk returns the desk of a door. source is the engine behind the door.
func NewDesk(door *gate.Door, source Source) *Desk { return &Desk{door: door, source: source} }

// ReadOnly returns the same desk without its verbs: Do answers ErrReadOnly.
func (d *Desk) ReadOnly() *Desk { return &Desk{door: d.door, source: d.source, readOnly: true} }

// looks bounds how often an item that moves while it is looked at is read
// again. A copy that is still behind then says STALE in its previews.
const looks = 3

// Item returns an item whole, with what each verb would do now if this person
// sent it: the previews know another's claim, and who may not approve twice
// (R-P7, R-P8).
//
// It fails with gate.ErrNoItem and with the store's errors.
func (d *Desk) Item(ctx context.Context, who gate.Actor, id gate.ItemID) (Item, error) {
	ref, err := d.source.Find(ctx, id)
	if err != nil {
		return Item{}, err
	}
	var it Item
	for range looks {
		if it, err = d.project(ctx, ref); err != nil {
			return Item{}, err
		}
		if it.Preview, err = d.previews(ctx, who, &it); err != nil {
			return Item{}, err
		}
		if it.State == gate.HoldResolved || it.Preview["claim"].Verdict != gate.Stale {
			break
		}
	}
	return it, nil
}

// project reads what an item is made of.
func (d *Desk) project(ctx context.Context, ref gate.Ref) (Item, error) {
	state, err := d.source.Load(ctx, gate.Want{Run: ref.Run, Op: ref.Op})
	if err != nil {
		return Item{}, err
	}
	run, op := state.Run(ref.Run), state.Op(ref.Run, ref.Op)
	if run == nil || op == nil || op.Hold.State == gate.HoldNone {
		return Item{}, gate.About(gate.ErrNoItem, "item", gate.ItemIDOf(ref.Run, ref.Op))
	}
	now, _ := d.door.Now()
	dep := gate.DependencyRow{Name: op.Dependency}
	all, err := d.source.Dependencies(ctx, now)
	if err != nil {
		return Item{}, err
	}
	for _, row := range all {
		if row.Name == op.Dependency {
			dep = row
		}
	}
	same, err := d.sameCause(ctx, gate.RowOfItem(op, run))
	if err != nil {
		return Item{}, err
	}
	it := NewItem(run, op, dep, same, d.door.Contract().Dependencies[op.Dependency].Runbook, now)
	return it, d.tell(ctx, &it)
}

// sameCause counts the open items that share an item's dependency and code.
func (d *Desk) sameCause(ctx context.Context, of gate.ItemRow) (int64, error) {
	now, _ := d.door.Now()
	page, err := d.source.Items(ctx, gate.ItemsQuery{
		Window: gate.Window{After: 1}, Now: now, State: gate.HoldOpen,
		Filter: gate.FilterBy(gate.FilterQueue, [2]string{"dep", of.Dependency}, [2]string{"code", string(of.Code)}),
	})
	return page.Total, err
}

// Do sends one verb through the gate and returns its answer, whichever way it
// went: a stop and STALE are answers. The gate compares the version and the
// request id, so that of two the first wins and the same act twice is one
// (R-P5, R-P6).
//
// It fails with gate.ErrNoItem, with a *gate.InputError for an act that is
// none, with gate.ErrReused for a request id that meant another act, and with
// the store's errors.
func (d *Desk) Do(ctx context.Context, who gate.Actor, id gate.ItemID, a Act) (gate.DecisionRow, error) {
	if d.readOnly {
		return gate.DecisionRow{}, ErrReadOnly
	}
	return d.do(ctx, who, id, a, "")
}

// do sends an act under its request id with a part of ours behind it.
func (d *Desk) do(ctx context.Context, who gate.Actor, id gate.ItemID, a Act, part string) (gate.DecisionRow, error) {
	ref, err := d.source.Find(ctx, id)
	if err != nil {
		return gate.DecisionRow{}, err
	}
	verb, err := a.Command(who, ref)
	if err != nil {
		return gate.DecisionRow{}, err
	}
	verb.ID += part
	decision, err := d.door.Do(ctx, verb)
	if err != nil {
		return gate.DecisionRow{}, err
	}
	return gate.RowOf(&decision), nil
}
