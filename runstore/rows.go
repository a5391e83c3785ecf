package runstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"

	"go.etcd.io/bbolt"

	"tollgate/gate"
)

// rowWriter writes rows and their index entries within one transaction.
type rowWriter struct {
	tx     *bbolt.Tx
	sum    *summary
	stored storedOperation // the newest one that was written: too large to leave each to the garbage collector
}

func (w *rowWriter) write(f *folder) error {
	for i := range f.runs {
		if err := w.open(&f.runs[i]); err != nil {
			return err
		}
	}
	for _, o := range f.ops {
		i, ok := f.runIndex[o.now.Run]
		if !ok {
			return damaged("operation %q changed and its run %q did not", o.now.ID, o.now.Run)
		}
		if err := w.op(o, &f.runs[i].row); err != nil {
			return err
		}
		runtime.Gosched() // to the writer, which comes back from the disk
	}
	for i := range f.runs {
		if err := w.run(&f.runs[i]); err != nil {
			return err
		}
	}
	for _, d := range f.deps {
		if err := w.dep(d); err != nil {
			return err
		}
	}
	for _, c := range f.contracts {
		if err := c.write(w.tx); err != nil {
			return err
		}
	}
	return nil
}

// open reads the row of a run that has changed, or begins one.
func (w *rowWriter) open(r *dirtyRun) (err error) {
	r.row = runRow{}
	if r.before != nil {
		if r.row, err = runAt(w.tx, r.now.Opened); err != nil {
			return err
		}
		if r.row.run.Last != r.before.Last {
			return stale(fmt.Sprintf("run %q", r.now.ID))
		}
	}
	r.wasDue = r.row.due > 0
	r.row.run = *r.now
	r.row.run.Rev = plainRev(r.now.Rev)
	return nil
}

// run writes the row of a run, its id and its places in the lists.
func (w *rowWriter) run(r *dirtyRun) error {
	if err := w.tell(&r.row, r.told); err != nil {
		return err
	}
	key := seqKey(r.now.Opened)
	if err := put(w.tx.Bucket(bucketRuns), key, encodeRow(storeRunRow(r.row))); err != nil {
		return err
	}
	var old [][]byte
	if r.before != nil {
		old = runsKeys(r.before)
		w.countRun(r.before, -1)
	} else {
		digest, other := idDigests(string(r.now.ID))
		err := errors.Join(put(w.tx.Bucket(bucketRunIDs), digest, key), put(w.tx.Bucket(bucketRunIDsAgain), other, nil))
		if err != nil {
			return err
		}
	}
	w.countRun(r.now, +1)
	if err := swap(w.tx.Bucket(bucketRunsByState), old, runsKeys(r.now)); err != nil {
		return err
	}
	due := w.tx.Bucket(bucketDueRuns)
	switch isDue := r.row.due > 0; {
	case isDue == r.wasDue:
		return nil
	case isDue:
		w.sum.due++
		return put(due, key, nil)
	default:
		w.sum.due--
		return due.Delete(key)
	}
}

func (w *rowWriter) countRun(r *gate.Run, sign int64) {
	w.sum.counts.Runs += sign
	if r.State() == gate.RunActive {
		w.sum.counts.ActiveRuns += sign
	}
}

// tell appends to the list of the seqs of a run's decisions.
func (w *rowWriter) tell(row *runRow, seqs []uint64) error {
	b := w.tx.Bucket(bucketTold)
	for len(seqs) > 0 {
		key := place{row.run.Opened, uint32(row.told / toldPerRow)}.key()
		n := min(len(seqs), toldPerRow-int(row.told%toldPerRow))
		value, err := get(b, key)
		if err != nil {
			return err
		}
		value = bytes.Clone(value)
		for _, seq := range seqs[:n] {
			value = binary.BigEndian.AppendUint64(value, seq)
		}
		if err := put(b, key, value); err != nil {
			return err
		}
		row.told += uint64(n)
		seqs = seqs[n:]
	}
	return nil
}

// op writes an operation, its id and its item.
func (w *rowWriter) op(o dirtyOp, row *runRow) error {
	at := place{row.run.Opened, uint32(row.ops)}
	row.sum += o.now.Last
	if o.before == nil {
		row.ops++
		if err := put(w.tx.Bucket(bucketOpIDs), opIDKey(at.run, o.now.ID), at.key()[8:]); err != nil {
			return err
		}
	} else {
		row.sum -= o.before.Last
		var known bool
		var err error
		if at, known, err = placeNamed(w.tx, at.run, o.now.ID); err != nil {
			return err
		}
		if !known {
			return stale(fmt.Sprintf("operation %q of run %q", o.now.ID, o.now.Run))
		}
	}
	w.stored = storeOperation(*o.now)
	row.due += due(o.now, &row.run) - due(o.before, &row.run)
	buf := encoded(&w.stored, 0)
	defer buffers.Put(buf)
	if err := put(w.tx.Bucket(bucketOps), at.key(), buf.Bytes()); err != nil {
		return err
	}
	return w.item(o.before, o.now, &row.run, at)
}

// due is 1 for an operation with something due, now or later.
func due(o *gate.Operation, r *gate.Run) int64 {
	if o == nil || o.Due(r).IsZero() {
		return 0
	}
	return 1
}

// item moves the item of an operation to where it stands now.
func (w *rowWriter) item(before, now *gate.Operation, r *gate.Run, at place) error {
	var old, fresh itemKeys
	if before != nil && before.Hold.State != gate.HoldNone {
		row := gate.RowOfItem(before, r)
		old = keysOfItem(&row, at)
		if err := w.countItem(&row, -1); err != nil {
			return err
		}
	}
	if now.Hold.State != gate.HoldNone {
		row := gate.RowOfItem(now, r)
		fresh = keysOfItem(&row, at)
		if err := w.countItem(&row, +1); err != nil {
			return err
		}
		if old.queue == nil {
			if err := put(w.tx.Bucket(bucketItems), []byte(row.ID), at.key()); err != nil {
				return err
			}
		}
		if fresh.snoozed != nil {
			if err := put(w.tx.Bucket(bucketSnoozed), fresh.snoozed, []byte{byte(row.Kind)}); err != nil {
				return err
			}
		}
	}
	if old.snoozed != nil && !bytes.Equal(old.snoozed, fresh.snoozed) {
		if err := w.tx.Bucket(bucketSnoozed).Delete(old.snoozed); err != nil {
			return err
		}
	}
	if err := move(w.tx.Bucket(bucketQueue), old.queue, fresh.queue, old.entry, fresh.entry); err != nil {
		return err
	}
	return move(w.tx.Bucket(bucketAge), old.age, fresh.age, old.entry, fresh.entry)
}

func (w *rowWriter) countItem(row *gate.ItemRow, sign int64) error {
	w.sum.counts.Add(*row, sign)
	if row.State == gate.HoldResolved {
		w.sum.resolved += sign
		return nil
	}
	b, key := w.tx.Bucket(bucketWaiting), []byte(row.Dependency)
	if len(key) == 0 {
		return nil
	}
	value, err := get(b, key)
	if err != nil {
		return err
	}
	n := int64(seqOf(value)) + sign
	if n == 0 {
		return b.Delete(key)
	}
	return put(b, key, seqKey(uint64(n)))
}

// dep writes a dependency.
func (w *rowWriter) dep(d dirtyDep) error {
	if d.before != nil && d.before.Breaker.State != gate.BreakerClosed {
		w.sum.counts.BreakersOpen--
	}
	if d.now.Breaker.State != gate.BreakerClosed {
		w.sum.counts.BreakersOpen++
	}
	row := *d.now
	row.Rev = plainRev(row.Rev)
	w.sum.revs += row.Rev
	if d.before != nil {
		w.sum.revs -= plainRev(d.before.Rev)
	}
	return put(w.tx.Bucket(bucketDependencies), []byte(row.Name), encodeRow(storeDependency(row)))
}

// swap moves entries without a value from their old keys to the new ones.
func swap(b *bbolt.Bucket, old, fresh [][]byte) error {
	for i, key := range fresh {
		var was []byte
		if old != nil {
			was = old[i]
		}
		if err := move(b, was, key, nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// move moves an entry; a nil key is none. It writes nothing when nothing has
// changed.
func move(b *bbolt.Bucket, old, fresh, oldValue, value []byte) error {
	if old != nil && !bytes.Equal(old, fresh) {
		if err := b.Delete(old); err != nil {
			return err
		}
		old = nil
	}
	if fresh == nil || (old != nil && bytes.Equal(oldValue, value)) {
		return nil
	}
	return put(b, fresh, value)
}
