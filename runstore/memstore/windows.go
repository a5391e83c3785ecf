package memstore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"tollgate/escalation"
	"tollgate/gate"
)

// Runs implements gate.Reader.
func (s *Store) Runs(_ context.Context, q gate.RunsQuery) (gate.RunsPage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.live.Runs()
	slices.SortStableFunc(all, func(a, b gate.Run) int {
		return cmp.Or(-cmp.Compare(min(1, a.OpenItems), min(1, b.OpenItems)), -cmp.Compare(a.Opened, b.Opened))
	})
	var rows []gate.RunRow
	for i := range all {
		r := &all[i]
		if q.State != 0 && r.State() != q.State {
			continue
		}
		ops := func() ([]gate.Operation, error) { return s.live.Ops(r.ID), nil }
		if ok, err := q.Filter.MatchesRun(r, q.Now, ops); err != nil || !ok {
			continue
		}
		rows = append(rows, gate.RowOfRun(r, q.Now))
	}
	rows, above, more := cut(rows, q.Window, func(r gate.RunRow) string { return string(r.Run) })
	return gate.RunsPage{Rows: rows, Above: above, Total: int64(len(all)), More: more}, nil
}

// cut takes a window out of a list.
func cut[R any](rows []R, w gate.Window, id func(R) string) (window []R, above int, more bool) {
	at := max(0, slices.IndexFunc(rows, func(r R) bool { return id(r) == w.Anchor }))
	before, after := w.Bounds()
	from, to := max(0, at-before), min(len(rows), at+after)
	return rows[from:to], from, to < len(rows)
}

// Run implements gate.Reader.
func (s *Store) Run(_ context.Context, id gate.RunID, now time.Time) (gate.RunView, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	run, ok := s.live.Run(id)
	if !ok {
		return gate.RunView{}, gate.About(gate.ErrNoRun, "run", id)
	}
	view := gate.RunView{RunRow: gate.RowOfRun(&run, now)}
	for _, op := range s.live.Ops(id) {
		if !op.Carried {
			view.Ops = append(view.Ops, gate.RowOfOp(&op, &run, now))
		}
	}
	return view, nil
}

// Operation implements gate.Reader.
func (s *Store) Operation(_ context.Context, ref gate.Ref, now time.Time) (gate.OpRow, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	run, ok := s.live.Run(ref.Run)
	if !ok {
		return gate.OpRow{}, gate.About(gate.ErrNoRun, "run", ref.Run)
	}
	op, ok := s.live.Op(ref)
	if !ok {
		return gate.OpRow{}, gate.About(gate.ErrNoOperation, "op", ref.Op)
	}
	return gate.RowOfOp(&op, &run, now), nil
}

// Items implements gate.Reader.
func (s *Store) Items(_ context.Context, q gate.ItemsQuery) (gate.ItemsPage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var rows []gate.ItemRow
	s.items(func(row gate.ItemRow) {
		if escalation.Matches(q, row) {
			rows = append(rows, row)
		}
	})
	slices.SortFunc(rows, escalation.Order(q))
	total := int64(len(rows))
	rows, above, more := cut(rows, q.Window, func(r gate.ItemRow) string { return string(r.ID) })
	return gate.ItemsPage{Rows: rows, Above: above, Total: total, More: more}, nil
}

// items calls f for every item there is or was. The caller holds the lock.
func (s *Store) items(f func(gate.ItemRow)) {
	for _, run := range s.live.Runs() {
		for _, op := range s.live.Ops(run.ID) {
			if op.Hold.State != gate.HoldNone {
				f(gate.RowOfItem(&op, &run))
			}
		}
	}
}

// Find implements gate.Reader.
func (s *Store) Find(_ context.Context, id gate.ItemID) (gate.Ref, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ref gate.Ref
	s.items(func(row gate.ItemRow) {
		if row.ID == id {
			ref = gate.Ref{Run: row.Run, Op: row.Op}
		}
	})
	if ref.IsZero() {
		return ref, gate.About(gate.ErrNoItem, "item", id)
	}
	return ref, nil
}

// Ledger implements gate.Reader.
func (s *Store) Ledger(_ context.Context, q gate.LedgerQuery) (gate.LedgerPage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	limit := q.Limit
	if limit <= 0 || limit > gate.MaxWindow {
		limit = gate.MaxWindow
	}
	newest := uint64(len(s.ledger))
	seq, step := max(1, q.From), uint64(1)
	if q.Back {
		step = ^uint64(0) // minus one
		if seq = q.From; seq == 0 || seq > newest {
			seq = newest
		}
	}
	var page gate.LedgerPage
	looked := 0
	for ; seq >= 1 && seq <= newest; seq += step {
		d := &s.ledger[seq-1]
		if (q.Run != "" && d.Run != q.Run) || (q.Op != "" && d.Op != q.Op) {
			continue
		}
		if looked++; looked > gate.MaxScan && !q.Filter.IsZero() {
			page.Next = seq
			return page, nil
		}
		if !q.Filter.MatchesDecision(d, q.Now) {
			continue
		}
		if len(page.Rows) == limit {
			page.Next = seq
			return page, nil
		}
		page.Rows = append(page.Rows, gate.RowOf(d))
	}
	if !q.Back {
		page.Next = max(seq, newest+1)
	}
	return page, nil
}

// Dependencies implements gate.Reader.
func (s *Store) Dependencies(_ context.Context, now time.Time) ([]gate.DependencyRow, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	waiting := map[string]int64{}
	s.items(func(row gate.ItemRow) {
		if row.State == gate.HoldOpen || row.State == gate.HoldDeadLetter {
			waiting[row.Dependency]++
		}
	})
	var out []gate.DependencyRow
	for _, d := range s.live.Deps() {
		row := gate.RowOfDependency(&d, now)
		row.Items = waiting[d.Name]
		delete(waiting, d.Name)
		out = append(out, row)
	}
	for name, n := range waiting {
		out = append(out, gate.DependencyRow{Name: name, Items: n})
	}
	slices.SortFunc(out, func(a, b gate.DependencyRow) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// Counts implements gate.Reader.
func (s *Store) Counts(context.Context) (gate.Counts, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := gate.Counts{Seq: uint64(len(s.ledger))}
	for _, r := range s.live.Runs() {
		c.Runs++
		if r.State() == gate.RunActive {
			c.ActiveRuns++
		}
	}
	s.items(func(row gate.ItemRow) { c.Add(row, +1) })
	for _, d := range s.live.Deps() {
		if d.Breaker.State != gate.BreakerClosed {
			c.BreakersOpen++
		}
	}
	return c, nil
}
