package gate

import "slices"

// foldRuns applies a decision to the headers of the runs that it touched: the
// one that pays, and those along the line of what was reported.
func (s *State) foldRuns(d *Decision) {
	touched := []RunID{d.Run}
	if act := d.Command.Act(); act == ActReport || act == ActSweep {
		touched = runsOf(s.line(s.Op(d.Run, d.Op)))
	}
	for i := range s.Runs {
		r := &s.Runs[i]
		if !slices.Contains(touched, r.ID) {
			continue
		}
		r.Rev++
		r.Last, r.LastAt = d.Seq, d.Inputs.Now
		if r.ID == d.Run {
			s.foldPayer(r, d)
		}
		if r.Ending && r.Ended.IsZero() && r.InFlight == 0 {
			r.Ended = d.Inputs.Now
		}
	}
}

// foldPayer applies a decision to the run whose budget it is about.
func (s *State) foldPayer(r *Run, d *Decision) {
	if r.Opened == 0 {
		r.Opened = d.Seq
	}
	r.Budget.Spent = r.Budget.Spent.Plus(d.Charge)
	if d.Charge.Attempts > 0 && len(r.Caps) > 0 {
		r.Caps = slices.Clone(r.Caps)
		for i := range r.Caps {
			if r.Caps[i].covers(d.Agent) {
				r.Caps[i].Spent += d.Charge.Attempts
			}
		}
	}
	switch d.Command.Act() {
	case ActReport, ActSweep:
		r.Overdrawn = r.Overdrawn || r.Budget.Overdrawn()
		if d.Code != "" {
			r.LastCode = d.Code
		}
	case ActEnd:
		r.Ending = true
	case ActAsk, ActApprove:
		r.Refused = r.Refused || d.Verdict.Exhausts() != ""
	default:
	}
}

func (s *State) foldDependency(d *Decision) {
	if d.Depends.On == "" {
		return
	}
	dep := s.Dep(d.Depends.On)
	if dep == nil {
		s.Deps = append(s.Deps, Dependency{Name: d.Depends.On})
		dep = &s.Deps[len(s.Deps)-1]
	}
	*dep = dep.fold(d.Inputs.Now, &d.Depends)
}
