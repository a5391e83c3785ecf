package gate

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
	"strings"
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

// Load returns what the wants name and what exists of it, which must not be
// changed. said fetches an earlier decision by its seq.
func (l *Live) Load(said func(seq uint64) (Decision, error), wants ...Want) (State, error) {
	var s State
	for i := range wants {
		if err := l.load(&s, &wants[i], said); err != nil {
			return State{}, err
		}
	}
	return s, nil
}

func (l *Live) load(s *State, w *Want, said func(uint64) (Decision, error)) error {
	run := l.addRun(s, w.Run)
	l.addRun(s, w.NewRun)
	for _, name := range w.Depends {
		l.addDep(s, name)
	}
	if run == nil {
		return nil
	}
	var seq uint64
	id := w.Op
	if !w.Derived.IsZero() {
		id = w.Derived.id(run.run().Root)
	}
	if op := run.op(id); op != nil {
		l.addOp(s, run, id)
		if m, ok := op.Memo(w.Said); ok && w.Said != "" {
			seq = m.Seq
		}
		if at := op.Attempt(w.Ordinal); at != nil {
			seq = at.Reported
		}
		if w.Line {
			l.addLine(s, op)
		}
	}
	if run.op(w.Parent) != nil {
		l.addOp(s, run, w.Parent)
	}
	if w.Actions {
		base := (&Operation{ID: w.Op}).base()
		for _, id := range run.order {
			if strings.HasPrefix(string(id), base+"~") {
				l.addOp(s, run, id)
			}
		}
	}
	if w.Whole {
		for _, id := range run.order {
			l.addOp(s, run, id)
		}
	}
	if seq == 0 || said == nil || s.said(seq) != nil {
		return nil
	}
	d, err := said(seq)
	if err != nil {
		return fmt.Errorf("decision %d: %w", seq, err)
	}
	s.Said = append(s.Said, d)
	return nil
}

func (l *Live) addRun(s *State, id RunID) *liveRun {
	r := l.runs[id]
	switch {
	case r == nil || s.Run(id) != nil:
	case s.Runs == nil:
		s.Runs = r.alone
	default:
		s.Runs = append(s.Runs, r.alone...) // which copies: there is room for one only
	}
	return r
}

// addOp adds an operation of a run, and the dependency of its newest attempt.
func (l *Live) addOp(s *State, r *liveRun, id OpID) {
	op := r.op(id)
	switch {
	case s.Op(op.Run, id) != nil:
		return
	case s.Ops == nil:
		s.Ops = r.ops[id]
	default:
		s.Ops = append(s.Ops, *op) // which copies: there is room for one only
	}
	if last := op.Newest(); last != nil {
		l.addDep(s, last.Dependency)
	}
}

func (l *Live) addDep(s *State, name string) {
	if d, ok := l.deps[name]; ok && s.Dep(name) == nil {
		s.Deps = append(s.Deps, *d)
	}
}

// addLine adds an operation as it stands in the other runs of its line.
func (l *Live) addLine(s *State, op *Operation) {
	for _, next := range []func(*Operation) RunID{
		func(o *Operation) RunID { return o.PrevRun }, func(o *Operation) RunID { return o.NextRun },
	} {
		for at := op; next(at) != ""; {
			run := l.addRun(s, next(at))
			if run == nil || run.op(op.ID) == nil {
				break
			}
			at = run.op(op.ID)
			l.addOp(s, run, op.ID)
		}
	}
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

// schedule puts an operation into the heap when it is due at another time than
// before.
func (l *Live) schedule(op *Operation, was, due time.Time) {
	if !due.IsZero() && !due.Equal(was) {
		// Push would make an interface of the entry.
		l.due = append(l.due, dueEntry{due, Ref{op.Run, op.ID}})
		heap.Fix(&l.due, len(l.due)-1)
	}
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

// Due returns at most limit operations whose Due is at or before now, earliest
// first, and the earliest Due after those; the zero time for none.
func (l *Live) Due(now time.Time, limit int) (due []Ref, next time.Time) {
	var keep []dueEntry
	for len(l.due) > 0 {
		e := l.due[0]
		if !l.holds(e) { // it has been settled, or is due at another time
			heap.Pop(&l.due)
			continue
		}
		if e.at.After(now) || len(due) == limit {
			next = e.at
			break
		}
		keep = append(keep, heap.Pop(&l.due).(dueEntry)) //nolint:forcetypeassert // it holds nothing else
		if !slices.Contains(due, e.ref) {
			due = append(due, e.ref)
		}
	}
	for _, e := range keep {
		heap.Push(&l.due, e)
	}
	return due, next
}

// holds reports whether an operation is due when an entry of the heap says so.
func (l *Live) holds(e dueEntry) bool {
	r := l.runs[e.ref.Run]
	if r == nil || r.op(e.ref.Op) == nil {
		return false
	}
	return r.op(e.ref.Op).Due(r.run()).Equal(e.at)
}

type dueEntry struct {
	at  time.Time
	ref Ref
}

type dueHeap []dueEntry

func (h dueHeap) Len() int { return len(h) }
func (h dueHeap) Less(i, j int) bool {
	if c := h[i].at.Compare(h[j].at); c != 0 {
		return c < 0
	}
	if h[i].ref.Run != h[j].ref.Run {
		return h[i].ref.Run < h[j].ref.Run
	}
	return h[i].ref.Op < h[j].ref.Op
}
func (h dueHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *dueHeap) Push(x any)   { *h = append(*h, x.(dueEntry)) } //nolint:forcetypeassert // heap.Push of this file
func (h *dueHeap) Pop() any {
	old := *h
	e := old[len(old)-1]
	*h = old[:len(old)-1]
	return e
}
