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

// liveRun is a run with its operations. What the pointers lead to is replaced,
// never changed.
type liveRun struct {
	run   *Run
	ops   map[OpID]*Operation
	order []OpID // by opening
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
		l.addOp(s, op)
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
	if op := run.ops[w.Parent]; op != nil {
		l.addOp(s, op)
	}
	if w.Actions {
		base := (&Operation{ID: w.Op}).base()
		for _, id := range run.order {
			if strings.HasPrefix(string(id), base+"~") {
				l.addOp(s, run.ops[id])
			}
		}
	}
	if w.Whole {
		for _, id := range run.order {
			l.addOp(s, run.ops[id])
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
		s.Runs = append(s.Runs, *r.run)
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
			at = run.ops[op.ID]
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
	written = make([]Decision, 0, len(chain))
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
		written = append(written, t.decision)
		d := &written[len(written)-1]
		d.Seq = seq
		if run := l.runs[d.Run]; run != nil {
			d.Prev = run.run.Last
		}
		back, err := l.fold(d)
		if err != nil {
			return nil, err
		}
		undo = append(undo, back)
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
func (l *Live) Fold(d Decision) (undo func(), err error) { return l.fold(&d) }

func (l *Live) fold(d *Decision) (undo func(), err error) {
	var s State
	w := WantOf(d)
	if err := l.load(&s, &w, nil); err != nil {
		return nil, err
	}
	if err := s.fold(d); err != nil {
		return nil, err
	}
	undo = l.restorer(s)
	l.Put(s)
	return undo, nil
}

// Put sets the aggregates of a state: how an engine brings back what it had
// let go. The slices of s are the Live's from then on.
func (l *Live) Put(s State) {
	if l.runs == nil {
		l.runs, l.deps = map[RunID]*liveRun{}, map[string]Dependency{}
	}
	for i := range s.Runs {
		l.putRun(&s.Runs[i])
	}
	for i := range s.Ops {
		l.putOp(&s.Ops[i])
	}
	for i := range s.Deps {
		l.deps[s.Deps[i].Name] = s.Deps[i]
	}
}

func (l *Live) putRun(run *Run) {
	r := l.runs[run.ID]
	if r == nil {
		l.runs[run.ID] = &liveRun{run: run, ops: map[OpID]*Operation{}}
		return
	}
	was := r.run
	r.run = run
	if was.closed() != run.closed() { // what is lost is due at once then (R-T6)
		for _, op := range r.ops {
			l.schedule(op, op.Due(was), op.Due(run))
		}
	}
}

func (l *Live) putOp(op *Operation) {
	r := l.runs[op.Run]
	var was time.Time
	if before := r.ops[op.ID]; before != nil {
		was = before.Due(r.run)
	} else {
		r.order = append(r.order, op.ID)
	}
	r.ops[op.ID] = op
	l.schedule(op, was, op.Due(r.run))
}

// schedule puts an operation into the heap when it is due at another time than
// before.
func (l *Live) schedule(op *Operation, was, due time.Time) {
	if !due.IsZero() && !due.Equal(was) {
		heap.Push(&l.due, dueEntry{due, Ref{op.Run, op.ID}})
	}
}

// restorer returns a function that puts back what stands now of everything
// that s names.
func (l *Live) restorer(s State) func() {
	runs, ops, deps := make([]*Run, len(s.Runs)), make([]*Operation, len(s.Ops)), make([]*Dependency, len(s.Deps))
	for i := range runs {
		if r := l.runs[s.Runs[i].ID]; r != nil {
			runs[i] = r.run
		}
	}
	for i := range ops {
		if r := l.runs[s.Ops[i].Run]; r != nil {
			ops[i] = r.ops[s.Ops[i].ID]
		}
	}
	for i := range deps {
		if d, ok := l.deps[s.Deps[i].Name]; ok {
			deps[i] = &d
		}
	}
	return func() {
		for i, run := range runs {
			if run == nil {
				delete(l.runs, s.Runs[i].ID)
			} else {
				l.putRun(run)
			}
		}
		for i, op := range ops {
			if op == nil {
				l.forget(&s.Ops[i])
			} else {
				l.putOp(op)
			}
		}
		for i, dep := range deps {
			if dep == nil {
				delete(l.deps, s.Deps[i].Name)
			} else {
				l.deps[dep.Name] = *dep
			}
		}
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
	if r == nil || !r.run.Idle(now) {
		return false
	}
	for _, op := range r.ops {
		if !op.Due(r.run).IsZero() {
			return false
		}
	}
	return true
}

// Run returns a run and whether it is held.
func (l *Live) Run(id RunID) (Run, bool) {
	if r := l.runs[id]; r != nil {
		return *r.run, true
	}
	return Run{}, false
}

// Op returns an operation and whether it is held.
func (l *Live) Op(ref Ref) (Operation, bool) {
	if r := l.runs[ref.Run]; r != nil && r.ops[ref.Op] != nil {
		return *r.ops[ref.Op], true
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
		out[i] = *r.ops[op]
	}
	return out
}

// Runs returns the runs that are held, by their opening.
func (l *Live) Runs() []Run {
	out := make([]Run, 0, len(l.runs))
	for _, r := range l.runs {
		out = append(out, *r.run)
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
	if r == nil || r.ops[e.ref.Op] == nil {
		return false
	}
	return r.ops[e.ref.Op].Due(r.run).Equal(e.at)
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
