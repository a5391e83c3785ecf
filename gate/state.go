package gate

// Want names what a command is decided on.
type Want struct {
	Run     RunID
	Op      OpID     // empty: the run alone, unless Derived
	Derived Derived  // instead of Op: the operation that a call without a name means
	Actions bool     // also the new actions of Op: OP~2, OP~3, …
	Line    bool     // also the operations that come before and after Op in its line, and their runs
	Whole   bool     // also every operation of the run
	Parent  OpID     // also this operation of the run
	NewRun  RunID    // also this run
	Depends []string // also these dependencies; those of Op's attempts come by themselves
	Said    string   // also the decision that Op's memo has for this id
	Ordinal int64    // also the decision that settled this attempt of Op
}

// Derived describes an operation that its caller did not name (R-A2).
type Derived struct {
	Tool   string
	Digest Digest
}

// IsZero reports whether nothing is derived.
func (d Derived) IsZero() bool { return d == Derived{} }

// State is what one or more commands are decided on: copies, by value, of the
// aggregates that their Wants name and that exist. Its size does not grow with
// history. The zero State holds nothing.
type State struct {
	Runs []Run
	Ops  []Operation
	Deps []Dependency
	Said []Decision // earlier answers that the Wants asked for
}

// Run returns the run, nil if it does not exist.
func (s *State) Run(id RunID) *Run {
	for i := range s.Runs {
		if s.Runs[i].ID == id {
			return &s.Runs[i]
		}
	}
	return nil
}

// Op returns the operation, nil if it does not exist.
func (s *State) Op(run RunID, op OpID) *Operation {
	for i := range s.Ops {
		if s.Ops[i].ID == op && s.Ops[i].Run == run {
			return &s.Ops[i]
		}
	}
	return nil
}

// Dep returns the dependency, nil if it has seen nothing.
func (s *State) Dep(name string) *Dependency {
	for i := range s.Deps {
		if s.Deps[i].Name == name {
			return &s.Deps[i]
		}
	}
	return nil
}

// line returns the operation as it stands in each run that it has gone through
// (new-run), the first one first.
func (s *State) line(op *Operation) []*Operation {
	for op.PrevRun != "" {
		prev := s.Op(op.PrevRun, op.ID)
		if prev == nil {
			break
		}
		op = prev
	}
	out := []*Operation{op}
	for op.NextRun != "" {
		if op = s.Op(op.NextRun, op.ID); op == nil {
			break
		}
		out = append(out, op)
	}
	return out
}

// runsOf returns the runs of a line.
func runsOf(line []*Operation) []RunID {
	ids := make([]RunID, len(line))
	for i, op := range line {
		ids[i] = op.Run
	}
	return ids
}

// said returns the decision with a seq, nil if it was not loaded.
func (s *State) said(seq uint64) *Decision {
	for i := range s.Said {
		if s.Said[i].Seq == seq {
			return &s.Said[i]
		}
	}
	return nil
}

// Read names an aggregate that a transition was decided on, with the revision
// that it had; 0 for one that did not exist. Exactly one of Run and Dep is
// set. The operations of a run are part of its run.
type Read struct {
	Run RunID
	Dep string
	Rev uint64
}

// Transition is a decision that may be written: the only thing that a Store
// commits. Only Step makes one. The zero Transition is refused by Commit.
type Transition struct {
	decision Decision
	reads    []Read
	repeats  bool
	sealed   bool
}

// Sealed reports whether Step made the transition.
func (t *Transition) Sealed() bool { return t.sealed }

// Repeats reports whether the transition has nothing to write, and Commit
// leaves it out: it says again what the ledger holds (R-A8, R-C8, R-P6), finds
// a run that has been started, or looked where nothing was due.
func (t *Transition) Repeats() bool { return t.repeats }

// Decision returns a copy of the decision. Its Seq and Prev are 0 until Commit
// has given them, unless the transition repeats.
func (t *Transition) Decision() Decision { return t.decision }

// Reads returns what it was decided on. The caller must not change it.
func (t *Transition) Reads() []Read { return t.reads }
