package gate

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Live is the state of a ledger as it stands: the aggregates that decisions
// are made on, by name. Engines keep one in memory and differ in how they keep
// the ledger. It is not safe for concurrent use, and nothing in it is changed
// in place: what Load returned stays as it was.
//
// The zero Live is the state of an empty ledger.
type Live struct {
	runs map[RunID]*liveRun
	deps map[string]*Dependency // replaced likewise
	due  dueHeap
}

// liveRun is a run with its operations. Each stands in a slice of its own, so
// that it can be the slice of a State that holds no other. What is in there is
// replaced, never changed.
type liveRun struct {
	alone []Run
	ops   map[OpID][]Operation
	order []OpID // by opening
}

func (r *liveRun) run() *Run { return &r.alone[0] }

// op returns an operation, nil if the run does not have it.
func (r *liveRun) op(id OpID) *Operation {
	if op := r.ops[id]; op != nil {
		return &op[0]
	}
	return nil
}

// Change is what one decision did to a state: every aggregate that it touched,
// as it stood before and as it stands after. What the pointers lead to is never
// changed.
type Change struct {
	Runs []Moved[Run]
	Ops  []Moved[Operation]
	Deps []Moved[Dependency]
}

// Moved is one aggregate of a Change. Before is nil for what is new.
type Moved[T any] struct{ Before, After *T }

// Advance compares, numbers and folds a chain, all of it or nothing: the part
// of a Commit that every engine shares. seq is the number of the first
// decision. What comes back is what has to be written, and what each of that
// changed. The errors are ErrConflict, ErrDamaged and that of a zero
// Transition.
func (l *Live) Advance(seq uint64, chain ...Transition) (written []Decision, changes []Change, err error) {
	defer func() {
		if err == nil {
			return
		}
		for i := range slices.Backward(changes) {
			l.undo(&changes[i])
		}
		written, changes = nil, nil
	}()
	written, changes = make([]Decision, 0, len(chain)), make([]Change, 0, len(chain))
	for i := range chain {
		t := &chain[i]
		switch {
		case !t.sealed:
			return nil, changes, fmt.Errorf("transition %d of the chain was not made by Step: %w", i, ErrDamaged)
		case t.repeats:
			continue
		case !l.fresh(t.reads):
			return nil, changes, ErrConflict
		}
		written = append(written, t.decision)
		d := &written[len(written)-1]
		d.Seq = seq
		if run := l.runs[d.Run]; run != nil {
			d.Prev = run.run().Last
		}
		change, err := l.fold(d)
		if err != nil {
			return nil, changes, err
		}
		changes = append(changes, change)
		seq++
	}
	return written, changes, nil
}

// fresh reports whether every aggregate has the revision that it was read at.
func (l *Live) fresh(reads []Read) bool {
	for _, r := range reads {
		var rev uint64
		if r.Dep != "" {
			if dep := l.deps[r.Dep]; dep != nil {
				rev = dep.Rev
			}
		} else if run := l.runs[r.Run]; run != nil {
			rev = run.run().Rev
		}
		if rev != r.Rev {
			return false
		}
	}
	return true
}

// Fold applies one written decision: a step of a replay.
func (l *Live) Fold(d Decision) (Change, error) { return l.fold(&d) }

func (l *Live) fold(d *Decision) (Change, error) {
	var s State
	w := WantOf(d)
	if err := l.load(&s, &w, nil); err != nil {
		return Change{}, err
	}
	s.Runs, s.Ops = slices.Clone(s.Runs), slices.Clone(s.Ops)
	if err := s.fold(d); err != nil {
		return Change{}, err
	}
	return l.put(&s), nil
}

// Put sets the aggregates of a state: how an engine brings back what it had
// let go. The slices of s are the Live's from then on.
func (l *Live) Put(s State) { l.put(&s) }

func (l *Live) put(s *State) Change {
	if l.runs == nil {
		l.runs, l.deps = map[RunID]*liveRun{}, map[string]*Dependency{}
	}
	c := Change{
		Runs: make([]Moved[Run], len(s.Runs)), Ops: make([]Moved[Operation], len(s.Ops)), Deps: make([]Moved[Dependency], len(s.Deps)),
	}
	for i := range s.Runs {
		run := s.Runs[i : i+1 : i+1]
		c.Runs[i] = Moved[Run]{l.putRun(run), &run[0]}
	}
	for i := range s.Ops {
		op := s.Ops[i : i+1 : i+1]
		c.Ops[i] = Moved[Operation]{l.putOp(op), &op[0]}
	}
	for i := range s.Deps {
		dep := &s.Deps[i]
		c.Deps[i] = Moved[Dependency]{l.deps[dep.Name], dep}
		l.deps[dep.Name] = dep
	}
	return c
}

// undo puts back what stood before a change.
func (l *Live) undo(c *Change) {
	for _, m := range c.Runs {
		if m.Before == nil {
			delete(l.runs, m.After.ID)
		} else {
			l.putRun([]Run{*m.Before})
		}
	}
	for _, m := range c.Ops {
		if m.Before == nil {
			l.forget(m.After)
		} else {
			l.putOp([]Operation{*m.Before})
		}
	}
	for _, m := range c.Deps {
		if m.Before == nil {
			delete(l.deps, m.After.Name)
		} else {
			l.deps[m.Before.Name] = m.Before
		}
	}
}

// putRun puts a run in and returns the one that stood before, nil for none.
func (l *Live) putRun(alone []Run) (was *Run) {
	run := &alone[0]
	r := l.runs[run.ID]
	if r == nil {
		l.runs[run.ID] = &liveRun{alone: alone, ops: map[OpID][]Operation{}}
		return nil
	}
	was, r.alone = r.run(), alone
	if was.closed() != run.closed() { // what is lost is due at once then (R-T6)
		for _, id := range r.order {
			op := r.op(id)
			l.schedule(op, op.Due(was), op.Due(run))
		}
	}
	return was
}

// putOp puts an operation in and returns the one that stood before, nil for
// none.
func (l *Live) putOp(alone []Operation) (was *Operation) {
	op := &alone[0]
	r := l.runs[op.Run]
	var due time.Time
	if was = r.op(op.ID); was != nil {
		due = was.Due(r.run())
	} else {
		r.order = append(r.order, op.ID)
	}
	r.ops[op.ID] = alone
	l.schedule(op, due, op.Due(r.run()))
	return was
}

// forget takes an operation out.
func (l *Live) forget(op *Operation) {
	if r := l.runs[op.Run]; r != nil {
		delete(r.ops, op.ID)
		r.order = slices.DeleteFunc(r.order, func(id OpID) bool { return id == op.ID })
	}
}

// Drop lets a run go from memory, with its operations.
func (l *Live) Drop(id RunID) { delete(l.runs, id) }

// Idle reports whether a run that is held may be let go: it is idle itself,
// and none of its operations is due.
func (l *Live) Idle(id RunID, now time.Time) bool {
	r := l.runs[id]
	if r == nil || !r.run().Idle(now) {
		return false
	}
	for _, id := range r.order {
		if !r.op(id).Due(r.run()).IsZero() {
			return false
		}
	}
	return true
}

// Run returns a run and whether it is held.
func (l *Live) Run(id RunID) (Run, bool) {
	if r := l.runs[id]; r != nil {
		return *r.run(), true
	}
	return Run{}, false
}

// Op returns an operation and whether it is held.
func (l *Live) Op(ref Ref) (Operation, bool) {
	if r := l.runs[ref.Run]; r != nil && r.op(ref.Op) != nil {
		return *r.op(ref.Op), true
	}
	return Operation{}, false
}

// Ops returns the operations of a run by their opening.
func (l *Live) Ops(id RunID) []Operation {
	r := l.runs[id]
	if r == nil {
		return nil
	}
	out := make([]Operation, len(r.order))
	for i, id := range r.order {
		out[i] = *r.op(id)
	}
	return out
}

// Runs returns the runs that are held, by their opening.
func (l *Live) Runs() []Run {
	out := make([]Run, 0, len(l.runs))
	for _, r := range l.runs {
		out = append(out, *r.run())
	}
	slices.SortFunc(out, func(a, b Run) int { return cmp.Compare(a.Opened, b.Opened) })
	return out
}

// Deps returns the dependencies by name.
func (l *Live) Deps() []Dependency {
	out := make([]Dependency, 0, len(l.deps))
	for _, d := range l.deps {
		out = append(out, *d)
	}
	slices.SortFunc(out, func(a, b Dependency) int { return cmp.Compare(a.Name, b.Name) })
	return out
}
