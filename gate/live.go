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
	deps map[string]Dependency
	due  dueHeap
}

type liveRun struct {
	run   Run
	ops   map[OpID]*liveOp
	order []OpID // by opening
}

type liveOp struct {
	op  Operation
	due time.Time // the newest entry in the heap
}

// Load copies what the wants name and what exists of it. said fetches an
// earlier decision by its seq.
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
		id = w.Derived.id(run.run.Root)
	}
	if op := run.ops[id]; op != nil {
		l.addOp(s, &op.op)
		if m, ok := op.op.Memo(w.Said); ok && w.Said != "" {
			seq = m.Seq
		}
		if at := op.op.Attempt(w.Ordinal); at != nil {
			seq = at.Reported
		}
		if w.Line {
			l.addLine(s, &op.op)
		}
	}
	if w.Actions {
		base := (&Operation{ID: w.Op}).base()
		for _, id := range run.order {
			if strings.HasPrefix(string(id), base+"~") {
				l.addOp(s, &run.ops[id].op)
			}
		}
	}
	if w.Whole {
		for _, id := range run.order {
			l.addOp(s, &run.ops[id].op)
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
	if r != nil && s.Run(id) == nil {
		s.Runs = append(s.Runs, r.run)
	}
	return r
}

// addOp adds an operation, and the dependency of its newest attempt.
func (l *Live) addOp(s *State, op *Operation) {
	if s.Op(op.Run, op.ID) != nil {
		return
	}
	s.Ops = append(s.Ops, *op)
	if last := op.Newest(); last != nil {
		l.addDep(s, last.Dependency)
	}
}

func (l *Live) addDep(s *State, name string) {
	if d, ok := l.deps[name]; ok && s.Dep(name) == nil {
		s.Deps = append(s.Deps, d)
	}
}

// addLine adds an operation as it stands in the other runs of its line.
func (l *Live) addLine(s *State, op *Operation) {
	for _, next := range []func(*Operation) RunID{
		func(o *Operation) RunID { return o.PrevRun }, func(o *Operation) RunID { return o.NextRun },
	} {
		for at := op; next(at) != ""; {
			run := l.addRun(s, next(at))
			if run == nil || run.ops[op.ID] == nil {
				break
			}
			at = &run.ops[op.ID].op
			l.addOp(s, at)
		}
	}
}

// Apply compares, numbers and folds a chain, all of it or nothing: the part of
// a Commit that every engine shares. seq is the number of the first decision.
// What comes back is what has to be written. The errors are ErrConflict,
// ErrDamaged and that of a zero Transition.
func (l *Live) Apply(seq uint64, chain ...Transition) (written []Decision, err error) {
	var undo []func()
	defer func() {
		if err == nil {
			return
		}
		for _, f := range slices.Backward(undo) {
			f()
		}
	}()
	for i := range chain {
		t := &chain[i]
		switch {
		case !t.sealed:
			return nil, fmt.Errorf("transition %d of the chain was not made by Step: %w", i, ErrDamaged)
		case t.repeats:
			continue
		case !l.fresh(t.reads):
			return nil, ErrConflict
		}
		d := t.decision
		d.Seq = seq
		if run := l.runs[d.Run]; run != nil {
			d.Prev = run.run.Last
		}
		back, err := l.Fold(d)
		if err != nil {
			return nil, err
		}
		undo = append(undo, back)
		written = append(written, d)
		seq++
	}
	return written, nil
}

// fresh reports whether every aggregate has the revision that it was read at.
func (l *Live) fresh(reads []Read) bool {
	for _, r := range reads {
		var rev uint64
		if r.Dep != "" {
			rev = l.deps[r.Dep].Rev
		} else if run := l.runs[r.Run]; run != nil {
			rev = run.run.Rev
		}
		if rev != r.Rev {
			return false
		}
	}
	return true
}

// Fold applies one written decision: a step of a replay. undo puts back what
// stood before.
func (l *Live) Fold(d Decision) (undo func(), err error) {
	var before State
	w := WantOf(&d)
	if err := l.load(&before, &w, nil); err != nil {
		return nil, err
	}
	after, err := Fold(before, d)
	if err != nil {
		return nil, err
	}
	l.Put(after)
	return func() { l.restore(before, after) }, nil
}

// Put sets the aggregates of a state: how an engine brings back what it had
// let go.
func (l *Live) Put(s State) {
	if l.runs == nil {
		l.runs, l.deps = map[RunID]*liveRun{}, map[string]Dependency{}
	}
	for i := range s.Runs {
		r := l.runs[s.Runs[i].ID]
		if r == nil {
			r = &liveRun{ops: map[OpID]*liveOp{}}
			l.runs[s.Runs[i].ID] = r
		}
		closes := r.run.closed() != s.Runs[i].closed()
		r.run = s.Runs[i]
		if closes { // what is lost is due at once then (R-T6)
			for _, o := range r.ops {
				l.schedule(r, o)
			}
		}
	}
	for i := range s.Ops {
		l.putOp(&s.Ops[i])
	}
	for i := range s.Deps {
		l.deps[s.Deps[i].Name] = s.Deps[i]
	}
}

func (l *Live) putOp(op *Operation) {
	r := l.runs[op.Run]
	o := r.ops[op.ID]
	if o == nil {
		o = new(liveOp)
		r.ops[op.ID] = o
		r.order = append(r.order, op.ID)
	}
	o.op = *op
	l.schedule(r, o)
}

// schedule puts an operation into the heap when it is due at another time than
// before.
func (l *Live) schedule(r *liveRun, o *liveOp) {
	if due := o.op.Due(&r.run); !due.Equal(o.due) {
		o.due = due
		if !due.IsZero() {
			heap.Push(&l.due, dueEntry{due, Ref{o.op.Run, o.op.ID}})
		}
	}
}

// restore takes after out and puts before in.
func (l *Live) restore(before, after State) {
	for i := range after.Ops {
		if op := &after.Ops[i]; before.Op(op.Run, op.ID) == nil {
			r := l.runs[op.Run]
			delete(r.ops, op.ID)
			r.order = slices.DeleteFunc(r.order, func(id OpID) bool { return id == op.ID })
		}
	}
	for i := range after.Runs {
		if id := after.Runs[i].ID; before.Run(id) == nil {
			delete(l.runs, id)
		}
	}
	for i := range after.Deps {
		if name := after.Deps[i].Name; before.Dep(name) == nil {
			delete(l.deps, name)
		}
	}
	l.Put(before)
}

// Drop lets a run go from memory, with its operations.
func (l *Live) Drop(id RunID) { delete(l.runs, id) }

// Idle reports whether a run that is held may be let go: it is idle itself,
// and none of its operations is due.
func (l *Live) Idle(id RunID, now time.Time) bool {
	r := l.runs[id]
	if r == nil || !r.run.Idle(now) {
		return false
	}
	for _, o := range r.ops {
		if !o.op.Due(&r.run).IsZero() {
			return false
		}
	}
	return true
}

// Run returns a run and whether it is held.
func (l *Live) Run(id RunID) (Run, bool) {
	if r := l.runs[id]; r != nil {
		return r.run, true
	}
	return Run{}, false
}

// Op returns an operation and whether it is held.
func (l *Live) Op(ref Ref) (Operation, bool) {
	if r := l.runs[ref.Run]; r != nil && r.ops[ref.Op] != nil {
		return r.ops[ref.Op].op, true
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
	for i, op := range r.order {
		out[i] = r.ops[op].op
	}
	return out
}

// Runs returns the runs that are held, by their opening.
func (l *Live) Runs() []Run {
	out := make([]Run, 0, len(l.runs))
	for _, r := range l.runs {
		out = append(out, r.run)
	}
	slices.SortFunc(out, func(a, b Run) int { return cmp.Compare(a.Opened, b.Opened) })
	return out
}

// Deps returns the dependencies by name.
func (l *Live) Deps() []Dependency {
	out := make([]Dependency, 0, len(l.deps))
	for _, d := range l.deps {
		out = append(out, d)
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
		o := l.dueOp(e)
		if o == nil { // it has been settled, or is due at another time
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

// dueOp returns the operation that an entry of the heap is about, nil when the
// entry no longer holds.
func (l *Live) dueOp(e dueEntry) *liveOp {
	r := l.runs[e.ref.Run]
	if r == nil || r.ops[e.ref.Op] == nil {
		return nil
	}
	o := r.ops[e.ref.Op]
	if !o.op.Due(&r.run).Equal(e.at) {
		return nil
	}
	return o
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
