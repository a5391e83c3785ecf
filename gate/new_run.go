package gate

// goOn moves the run's operations to the new run (R-P3). What is unfinished is
// superseded here and goes on there: keys, digests, outcomes, findings and
// ordinals go along; the stored stop does not, and the call limit begins
// afresh. What is closed stays closed there, so that no name and no key comes
// to mean another action (R-T3, R-A3).
func (s *State) goOn(d *Decision) {
	next := *d.NewRun
	next.Opened, next.Last, next.Cause, next.Rev = d.Seq, d.Seq, d.Seq, 1
	s.Run(d.Run).Next = next.ID
	for i, n := 0, len(s.Ops); i < n; i++ {
		op := &s.Ops[i]
		if op.Run != d.Run || op.NextRun != "" {
			continue
		}
		s.Ops = append(s.Ops, op.goneOn(next.ID, d))
		op = &s.Ops[i]
		op.NextRun, op.Last = next.ID, d.Seq
		if op.Settled == NotSettled {
			op.Settled, op.Successor = SettledSuperseded, Ref{next.ID, op.ID}
			if op.Hold.Waits() {
				op.Hold = op.Hold.resolved(d).at(d)
			}
		}
	}
	s.Runs = append(s.Runs, next)
}

// goneOn is the operation as it stands in the run that goes on.
func (o *Operation) goneOn(to RunID, d *Decision) Operation {
	m := *o
	m.Run, m.PrevRun, m.Opened, m.Last, m.Asks, m.Hold = to, o.Run, d.Seq, d.Seq, nil, Hold{}
	if o.Settled != NotSettled {
		m.Carried = true
		if m.Successor.Run == o.Run {
			m.Successor.Run = to
		}
		return m
	}
	m.Before, m.Fresh = Ref{o.Run, o.ID}, o.nextOrdinal()
	m.Stop, m.StopSeq, m.Terminal, m.NotedLost = 0, 0, nil, false
	return m
}
