package gate

import (
	"fmt"
	"strings"
)

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
