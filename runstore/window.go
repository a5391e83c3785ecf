package runstore

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.etcd.io/bbolt"

	"tollgate/escalation"
	"tollgate/gate"
)

// read runs fn on the projection, after it has taken in every decision that
// was answered before the call. Where fn meets damage that the file shows, it
// runs again, from its beginning, on a projection that was built anew.
func (s *Store) read(ctx context.Context, fn func(tx *bbolt.Tx) error) error {
	if err := s.settle(ctx); err != nil {
		return err
	}
	turn := s.rows.turn()
	err := s.rows.view(fn)
	if s.renewed(ctx, turn, err) {
		err = s.rows.view(fn)
	}
	return err
}

// settle waits until the projection has taken in every decision that was
// answered before the call.
func (s *Store) settle(ctx context.Context) error {
	if s.projector.projected.Load() < s.durable.Load().Seq {
		if err := s.projector.settle(ctx); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// renewed reports whether the projection was built anew because of err, which
// a reader of it met, or because of another reader's since the turn that it
// read at.
func (s *Store) renewed(ctx context.Context, turn uint64, err error) bool {
	if !errors.Is(err, gate.ErrDamaged) && !errors.Is(err, errNoProjection) {
		return false
	}
	s.projector.renew(ctx, filepath.Join(s.files.dir, projectionName), turn, err)
	return s.rows.turn() != turn
}

// Runs implements gate.Reader.
func (s *Store) Runs(ctx context.Context, q gate.RunsQuery) (page gate.RunsPage, err error) {
	err = s.read(ctx, func(tx *bbolt.Tx) error {
		_, sum, err := statusOf(tx)
		if err != nil {
			return err
		}
		page.Total = sum.counts.Runs
		prefix := []byte{byte(q.State)}
		list := []span{{bucket: tx.Bucket(bucketRunsByState), from: prefix, to: successor(prefix)}}
		var anchor []byte
		row, ok, err := runNamed(tx, gate.RunID(q.Anchor))
		switch {
		case err != nil:
			return err
		case ok && (q.State == 0 || row.run.State() == q.State):
			if ok, err = matchesRun(ctx, tx, q, &row); err != nil {
				return err
			} else if ok {
				anchor = runsKeys(&row.run)[min(1, q.State)]
			}
		}
		page.Rows, page.More, err = take(list, anchor, q.Window, func(k, _ []byte) (row gate.RunRow, ok bool, err error) {
			r, err := runAt(tx, openedOf(k))
			if err != nil {
				return row, false, err
			}
			if ok, err = matchesRun(ctx, tx, q, &r); err != nil || !ok {
				return row, false, err
			}
			return gate.RowOfRun(&r.run, q.Now), true, nil
		})
		page.Above = above(anchor)
		return err
	})
	return page, err
}

// matchesRun reports whether a run matches the filter of a query.
func matchesRun(ctx context.Context, tx *bbolt.Tx, q gate.RunsQuery, r *runRow) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	return q.Filter.MatchesRun(&r.run, q.Now, func() ([]gate.Operation, error) { return r.opsOf(tx) })
}

// above is how many rows stand before a window, where that is cheap to know.
func above(anchor []byte) int {
	if anchor == nil {
		return 0
	}
	return -1
}

// Run implements gate.Reader.
func (s *Store) Run(ctx context.Context, id gate.RunID, now time.Time) (view gate.RunView, err error) {
	err = s.read(ctx, func(tx *bbolt.Tx) error {
		row, ok, err := runNamed(tx, id)
		if err != nil {
			return err
		}
		if !ok {
			return gate.About(gate.ErrNoRun, "run", id)
		}
		view = gate.RunView{RunRow: gate.RowOfRun(&row.run, now)}
		ops, err := row.opsOf(tx)
		for i := range ops {
			if !ops[i].Carried {
				view.Ops = append(view.Ops, gate.RowOfOp(&ops[i], &row.run, now))
			}
		}
		return err
	})
	return view, err
}

// Operation implements gate.Reader.
func (s *Store) Operation(ctx context.Context, ref gate.Ref, now time.Time) (row gate.OpRow, err error) {
	err = s.read(ctx, func(tx *bbolt.Tx) error {
		run, ok, err := runNamed(tx, ref.Run)
		if err != nil {
			return err
		}
		if !ok {
			return gate.About(gate.ErrNoRun, "run", ref.Run)
		}
		at, ok, err := placeNamed(tx, run.run.Opened, ref.Op)
		if err != nil {
			return err
		}
		if !ok {
			return gate.About(gate.ErrNoOperation, "op", ref.Op)
		}
		op, err := opAt(tx, at)
		if err == nil {
			row = gate.RowOfOp(&op, &run.run, now)
		}
		return err
	})
	return row, err
}

// itemAt returns the row of the item of the operation at a place.
func itemAt(tx *bbolt.Tx, at place) (gate.ItemRow, error) {
	run, err := runAt(tx, at.run)
	if err != nil {
		return gate.ItemRow{}, err
	}
	op, err := opAt(tx, at)
	if err != nil {
		return gate.ItemRow{}, err
	}
	return gate.RowOfItem(&op, &run.run), nil
}

// Find implements gate.Reader.
func (s *Store) Find(ctx context.Context, id gate.ItemID) (ref gate.Ref, err error) {
	err = s.read(ctx, func(tx *bbolt.Tx) error {
		row, ok, err := itemNamed(tx, id)
		if err == nil && !ok {
			err = gate.About(gate.ErrNoItem, "item", id)
		}
		ref = gate.Ref{Run: row.Run, Op: row.Op}
		return err
	})
	return ref, err
}

// itemNamed returns the row of an item by its id.
func itemNamed(tx *bbolt.Tx, id gate.ItemID) (row gate.ItemRow, ok bool, err error) {
	if id == "" {
		return row, false, nil // bbolt has no empty key
	}
	v, err := get(tx.Bucket(bucketItems), []byte(id))
	if err != nil || v == nil {
		return row, false, err
	}
	at, err := placeOf(v)
	if err != nil {
		return row, false, err
	}
	row, err = itemAt(tx, at)
	return row, err == nil, err
}

// Items implements gate.Reader.
func (s *Store) Items(ctx context.Context, q gate.ItemsQuery) (page gate.ItemsPage, err error) {
	if q.State == gate.HoldNone {
		q.State = gate.HoldOpen
	}
	err = s.read(ctx, func(tx *bbolt.Tx) error {
		if q.Run != "" {
			page, err = itemsOfRun(tx, q)
			return err
		}
		if q.Snoozed {
			page, err = itemsPutOff(tx, q)
			return err
		}
		var anchor []byte
		row, ok, err := itemNamed(tx, gate.ItemID(q.Anchor))
		switch {
		case err != nil:
			return err
		case ok && escalation.Matches(q, row):
			keys := keysOfItem(&row, place{})
			anchor = keys.queue
			if escalation.Passed(row, q.Now) && row.State != gate.HoldResolved {
				anchor = keys.age
			}
		}
		accept := func(k, v []byte) (row gate.ItemRow, ok bool, err error) {
			e, err := parseQueueEntry(k, v)
			if err != nil || (q.State == gate.HoldOpen && q.Now.Before(e.snoozed)) {
				return row, false, err
			}
			if err = ctx.Err(); err != nil {
				return row, false, err
			}
			row, err = itemAt(tx, e.at)
			return row, err == nil && escalation.Matches(q, row), err
		}
		list := queueList(tx, q)
		if page.Rows, page.More, err = take(list, anchor, q.Window, accept); err != nil {
			return err
		}
		page.Above = above(anchor)
		page.Total, err = countItems(tx, q, list, accept)
		return err
	})
	return page, err
}

// itemsOfRun answers a query about one run from its operations.
func itemsOfRun(tx *bbolt.Tx, q gate.ItemsQuery) (page gate.ItemsPage, err error) {
	run, ok, err := runNamed(tx, q.Run)
	if err != nil || !ok {
		return page, err
	}
	ops, err := run.opsOf(tx)
	if err != nil {
		return page, err
	}
	var rows []gate.ItemRow
	for i := range ops {
		if ops[i].Hold.State == gate.HoldNone {
			continue
		}
		if row := gate.RowOfItem(&ops[i], &run.run); escalation.Matches(q, row) {
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, escalation.Order(q))
	at := max(0, slices.IndexFunc(rows, func(r gate.ItemRow) bool { return string(r.ID) == q.Anchor }))
	before, after := q.Bounds()
	from, to := max(0, at-before), min(len(rows), at+after)
	return gate.ItemsPage{Rows: rows[from:to], Above: from, Total: int64(len(rows)), More: to < len(rows)}, nil
}

// queueList is the list of items of one state as it is ordered at now: those
// whose deadline is ahead by kind and time left, then the others by age. Which
// have passed is not stored; it is where the list is cut.
func queueList(tx *bbolt.Tx, q gate.ItemsQuery) (list []span) {
	queue := tx.Bucket(bucketQueue)
	if q.State == gate.HoldResolved {
		prefix := []byte{byte(q.State)}
		return []span{{bucket: queue, from: prefix, to: successor(prefix)}}
	}
	for rank := byte(0); rank <= lastRank; rank++ {
		prefix := []byte{byte(q.State), rank}
		ahead := appendMS(bytes.Clone(prefix), q.Now.Add(time.Millisecond))
		list = append(list, span{bucket: queue, from: ahead, to: successor(prefix)})
	}
	prefix := []byte{byte(q.State)}
	return append(list, span{
		bucket: tx.Bucket(bucketAge), from: prefix, to: successor(prefix),
		skip: func(k, v []byte) bool { e, err := parseQueueEntry(k, v); return err == nil && q.Now.Before(e.deadline) },
	})
}

// countItems returns how many items match: from the counters where they can
// tell, else by looking.
func countItems(tx *bbolt.Tx, q gate.ItemsQuery, list []span, accept func(k, v []byte) (gate.ItemRow, bool, error)) (n int64, err error) {
	if !q.Filter.IsZero() || (q.Kind != 0 && q.State != gate.HoldOpen) {
		for _, sp := range list {
			err = sp.each(nil, false, func(k, v []byte) (bool, error) {
				_, ok, err := accept(k, v)
				if ok {
					n++
				}
				return true, err
			})
			if err != nil {
				return n, err
			}
		}
		return n, nil
	}
	_, sum, err := statusOf(tx)
	if err != nil {
		return 0, err
	}
	switch q.State {
	default:
	case gate.HoldResolved:
		return sum.resolved, nil
	case gate.HoldDeadLetter:
		return sum.counts.DeadLetters, nil
	}
	c := tx.Bucket(bucketSnoozed).Cursor()
	for k, v := c.Seek(appendMS(nil, q.Now.Add(time.Millisecond))); k != nil; k, v = c.Next() {
		kind, err := unsealed(k, v)
		if err != nil {
			return n, err
		}
		if q.Kind == 0 || (len(kind) == 1 && gate.Kind(kind[0]) == q.Kind) {
			n--
		}
	}
	return n + map[gate.Kind]int64{
		0: sum.counts.Open(), gate.KindOutcomeUnknown: sum.counts.OutcomeUnknown, gate.KindApproval: sum.counts.Approval,
		gate.KindExhausted: sum.counts.Exhausted, gate.KindStopped: sum.counts.Stopped,
	}[q.Kind], nil
}

// Dependencies implements gate.Reader.
func (s *Store) Dependencies(ctx context.Context, now time.Time) (rows []gate.DependencyRow, err error) {
	err = s.read(ctx, func(tx *bbolt.Tx) error {
		rows = nil
		waiting := map[string]int64{}
		err := tx.Bucket(bucketWaiting).ForEach(func(k, v []byte) error {
			n, err := unsealed(k, v)
			waiting[string(k)] = int64(seqOf(n))
			return err
		})
		if err != nil {
			return err
		}
		err = tx.Bucket(bucketDependencies).ForEach(func(k, v []byte) error {
			d, err := readRow[storedDependency](k, v)
			if err != nil {
				return err
			}
			row := gate.RowOfDependency(&d, now)
			row.Items = waiting[d.Name]
			delete(waiting, d.Name)
			rows = append(rows, row)
			return nil
		})
		for name, n := range waiting {
			rows = append(rows, gate.DependencyRow{Name: name, Items: n})
		}
		return err
	})
	slices.SortFunc(rows, func(a, b gate.DependencyRow) int { return strings.Compare(a.Name, b.Name) })
	return rows, err
}

// Counts implements gate.Reader.
func (s *Store) Counts(ctx context.Context) (c gate.Counts, err error) {
	err = s.read(ctx, func(tx *bbolt.Tx) error {
		at, sum, err := statusOf(tx)
		if err != nil {
			return err
		}
		c = sum.counts
		c.Seq = at.Seq
		prefix := []byte{byte(gate.HoldOpen)}
		if k, _ := tx.Bucket(bucketAge).Cursor().Seek(prefix); bytes.HasPrefix(k, prefix) && len(k) > 9 {
			c.Oldest = gate.Instant{Time: msOf(k[1:])}
		}
		return nil
	})
	return c, err
}

// Watch implements gate.Reader.
func (s *Store) Watch(ctx context.Context) <-chan uint64 {
	return s.watchers.add(ctx, s.durable.Load().Seq)
}
