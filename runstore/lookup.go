package runstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"tollgate/gate"
)

// dependencies returns all dependencies by name.
func (p *projection) dependencies() (deps []gate.Dependency, err error) {
	err = p.view(func(tx *bbolt.Tx) error {
		_, sum, err := statusOf(tx)
		if err != nil {
			return err
		}
		err = tx.Bucket(bucketDependencies).ForEach(func(k, v []byte) error {
			d, err := readRow[storedDependency](k, v)
			deps = append(deps, d)
			sum.revs -= d.Rev
			return err
		})
		if err == nil && sum.revs != 0 {
			return stale("the dependencies")
		}
		return err
	})
	return deps, err
}

// whole returns a run with all of its operations, or the zero State if there
// is no such run.
func (p *projection) whole(id gate.RunID) (s gate.State, err error) {
	err = p.view(func(tx *bbolt.Tx) error {
		row, ok, err := runNamed(tx, id)
		if err != nil || !ok {
			return err
		}
		s.Runs = append(s.Runs, row.run)
		s.Ops, err = row.opsOf(tx)
		return err
	})
	return s, err
}

// opsOf returns the operations of a run in the order of their opening. It
// returns an error if they, the row of the run and the list of its decisions
// are not all there, or not of one time. Each row has its checksum; but a page
// that leads to another may have changed, and that one be older, or of fewer
// rows.
func (row *runRow) opsOf(tx *bbolt.Tx) (ops []gate.Operation, err error) {
	sum, prefix := row.sum, seqKey(row.run.Opened)
	c := tx.Bucket(bucketOps).Cursor()
	for k, v := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, v = c.Next() {
		op, err := readRow[storedOperation](k, v)
		if err != nil {
			return nil, damaged("an operation of the run opened at seq %d: %w", row.run.Opened, err)
		}
		ops = append(ops, op)
		sum -= op.Last
	}
	last, err := toldRow(tx, row.run.Opened, uint32(row.told/toldPerRow))
	if err != nil {
		return nil, err
	}
	if sum != 0 || int64(len(ops)) != row.ops || uint64(len(last)) != row.told%toldPerRow {
		return nil, stale(fmt.Sprintf("run %q", row.run.ID))
	}
	return ops, nil
}

// errStale says that rows do not belong together, whatever their pages look
// like.
var errStale = errors.New("its rows are not of one time, or not all there")

func stale(what string) error { return damaged("%s: %w", what, errStale) }

// dueRuns returns the ids of the runs with something due, now or later.
func (p *projection) dueRuns() (ids []gate.RunID, err error) {
	err = p.view(func(tx *bbolt.Tx) error {
		_, sum, err := statusOf(tx)
		if err != nil {
			return err
		}
		err = tx.Bucket(bucketDueRuns).ForEach(func(k, _ []byte) error {
			row, err := runAt(tx, seqOf(k))
			ids = append(ids, row.run.ID)
			return err
		})
		if err == nil && int64(len(ids)) != sum.due {
			return stale("the runs with something due")
		}
		return err
	})
	return ids, err
}

// runNamed returns the row of a run by its id. A run that is taken for one that
// never was gets a new budget: so every id stands in two buckets, far apart,
// and what is missing in one is looked for in the other.
func runNamed(tx *bbolt.Tx, id gate.RunID) (row runRow, ok bool, err error) {
	key, other := idDigests(string(id))
	opened, err := get(tx.Bucket(bucketRunIDs), key)
	if err != nil {
		return row, false, err
	}
	if opened == nil {
		if tx.Bucket(bucketRunIDsAgain).Get(other) != nil {
			return row, false, stale(fmt.Sprintf("run %q", id))
		}
		return row, false, nil
	}
	row, err = runAt(tx, seqOf(opened))
	return row, err == nil, err
}

// runAt returns the row of a run by its opening seq.
func runAt(tx *bbolt.Tx, opened uint64) (runRow, error) {
	key := seqKey(opened)
	v := tx.Bucket(bucketRuns).Get(key)
	if v == nil {
		return runRow{}, damaged("the run opened at seq %d has no row", opened)
	}
	row, err := readRow[storedRunRow](key, v)
	if err != nil {
		return row, damaged("the run opened at seq %d: %w", opened, err)
	}
	return row, nil
}

// opAt returns an operation by its place.
func opAt(tx *bbolt.Tx, at place) (gate.Operation, error) {
	v := tx.Bucket(bucketOps).Get(at.key())
	if v == nil {
		return gate.Operation{}, damaged("operation %d of the run opened at seq %d has no row", at.n, at.run)
	}
	op, err := readRow[storedOperation](at.key(), v)
	if err != nil {
		return op, damaged("operation %d of the run opened at seq %d: %w", at.n, at.run, err)
	}
	return op, nil
}

// placeNamed returns the place of an operation by its id.
func placeNamed(tx *bbolt.Tx, run uint64, id gate.OpID) (at place, ok bool, err error) {
	n, err := get(tx.Bucket(bucketOpIDs), opIDKey(run, id))
	if len(n) != 4 || err != nil {
		return at, false, err
	}
	return place{run: run, n: binary.BigEndian.Uint32(n)}, true, nil
}

// toldRow returns the n-th row of seqs of a run.
func toldRow(tx *bbolt.Tx, run uint64, n uint32) ([]uint64, error) {
	v, err := get(tx.Bucket(bucketTold), place{run, n}.key())
	if err != nil {
		return nil, err
	}
	seqs := make([]uint64, 0, toldPerRow)
	for ; len(v) >= 8; v = v[8:] {
		seqs = append(seqs, binary.BigEndian.Uint64(v))
	}
	return seqs, nil
}
