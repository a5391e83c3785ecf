package runstore

import (
	"time"

	"tollgate/gate"
)

// held is the live state: the runs that are in memory, over the rows of those
// that are not. A run is held whole or not at all, and its rows are current
// whenever it is not held. It is not safe for concurrent use.
type held struct {
	live  gate.Live
	rows  *projection
	epoch uint64 // raised when what was held is thrown away

	ring []gate.RunID // the runs that are held, in no order
	hand int
	in   map[gate.RunID]bool
}

// epochBits is where the epoch stands in a revision.
const epochBits = 48

// newHeld returns a state that holds the dependencies and no run yet.
func newHeld(rows *projection, epoch uint64) (*held, error) {
	h := &held{rows: rows, epoch: epoch, in: map[gate.RunID]bool{}}
	deps, err := rows.dependencies()
	if err != nil {
		return nil, err
	}
	h.put(gate.State{Deps: deps})
	return h, nil
}

// holdAbove returns a state that holds what has changed since the rows were
// written, and every run that has, whole.
func holdAbove(rows *projection, newer gate.State, epoch uint64) (*held, error) {
	h, err := newHeld(rows, epoch)
	if err != nil {
		return nil, err
	}
	for i := range newer.Runs {
		if err := h.bring(newer.Runs[i].ID); err != nil {
			return nil, err
		}
	}
	h.put(newer)
	return h, nil
}

// plainRev is a revision without the epoch, as rows have it.
func plainRev(rev uint64) uint64 { return rev & (1<<epochBits - 1) }

// put brings aggregates in. Their revisions are moved past those that were
// given out before the state was last thrown away: else what was read then
// could be taken for what stands now.
func (h *held) put(s gate.State) {
	for i := range s.Runs {
		s.Runs[i].Rev += h.epoch << epochBits
		h.note(s.Runs[i].ID)
	}
	for i := range s.Deps {
		s.Deps[i].Rev += h.epoch << epochBits
	}
	h.live.Put(s)
}

// note remembers that a run is held.
func (h *held) note(id gate.RunID) {
	if !h.in[id] {
		h.in[id] = true
		h.ring = append(h.ring, id)
	}
}

// bring makes sure that a run is held if it exists.
func (h *held) bring(id gate.RunID) error {
	if id == "" || h.in[id] {
		return nil
	}
	s, err := h.rows.whole(id)
	if err != nil || len(s.Runs) == 0 {
		return err
	}
	h.put(s)
	return nil
}

// bringAll makes sure that all runs are held that the wants name.
func (h *held) bringAll(wants ...gate.Want) error {
	for i := range wants {
		w := &wants[i]
		if err := h.bring(w.Run); err != nil {
			return err
		}
		if err := h.bring(w.NewRun); err != nil {
			return err
		}
		if !w.Line {
			continue
		}
		if op, ok := h.live.Op(gate.Ref{Run: w.Run, Op: w.Op}); ok {
			if err := h.bringLine(op); err != nil {
				return err
			}
		}
	}
	return nil
}

// bringLine brings the runs that an operation has gone through.
func (h *held) bringLine(op gate.Operation) error {
	for _, next := range []func(gate.Operation) gate.RunID{
		func(o gate.Operation) gate.RunID { return o.PrevRun },
		func(o gate.Operation) gate.RunID { return o.NextRun },
	} {
		for at, ok := op, true; ok && next(at) != ""; {
			id := next(at)
			if err := h.bring(id); err != nil {
				return err
			}
			at, ok = h.live.Op(gate.Ref{Run: id, Op: op.ID})
		}
	}
	return nil
}

// load copies what the wants name.
func (h *held) load(said func(uint64) (gate.Decision, error), wants ...gate.Want) (gate.State, error) {
	if err := h.bringAll(wants...); err != nil {
		return gate.State{}, err
	}
	return h.live.Load(said, wants...)
}

// apply compares, numbers and folds a chain.
func (h *held) apply(seq uint64, chain []gate.Transition) ([]gate.Decision, []gate.Change, error) {
	for i := range chain {
		if chain[i].Repeats() {
			continue
		}
		// Every run that the fold changes is among those that were read.
		for _, r := range chain[i].Reads() {
			if err := h.bring(r.Run); err != nil {
				return nil, nil, err
			}
		}
	}
	written, changes, err := h.live.Advance(seq, chain...)
	for i := range written {
		h.opened(&written[i])
	}
	return written, changes, err
}

// opened takes account of what a decision brought into being: a new run, or
// the first that is known of a dependency.
func (h *held) opened(d *gate.Decision) {
	if d.NewRun != nil {
		if r, ok := h.live.Run(d.NewRun.ID); ok && !h.in[r.ID] {
			h.note(r.ID)
			r.Rev += h.epoch << epochBits
			h.live.Put(gate.State{Runs: []gate.Run{r}})
		}
	}
	if d.Depends.On == "" || h.epoch == 0 {
		return
	}
	s, err := h.live.Load(nil, gate.Want{Depends: []string{d.Depends.On}})
	if err != nil || len(s.Deps) == 0 || s.Deps[0].Rev>>epochBits == h.epoch {
		return
	}
	s.Deps[0].Rev += h.epoch << epochBits
	h.live.Put(s)
}

// evict lets go of runs, of the next n that it looks at, in which nothing can
// happen by itself any more and whose rows are current up to seq.
func (h *held) evict(n int, now time.Time, seq uint64) {
	for range min(n, len(h.ring)) {
		if h.hand >= len(h.ring) {
			h.hand = 0
		}
		id := h.ring[h.hand]
		if h.live.Idle(id, now) { // which costs less to ask
			if r, _ := h.live.Run(id); r.Last <= seq {
				h.drop(h.hand)
				continue
			}
		}
		h.hand++
	}
}

// drop lets go of the run at a place in the ring.
func (h *held) drop(at int) {
	id, last := h.ring[at], len(h.ring)-1
	h.live.Drop(id)
	delete(h.in, id)
	h.ring[at] = h.ring[last]
	h.ring = h.ring[:last]
}
