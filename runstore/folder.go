package runstore

import (
	"go.etcd.io/bbolt"

	"tollgate/gate"
)

// heldByFolder bounds the runs that a folder keeps in memory. It may let go of
// any after a flush: their rows are current then.
const heldByFolder = 20_000

// folder folds stored records into a projection. It decodes what was stored
// and folds that, never what a caller holds: so rows that are written as the
// ledger grows and rows that are built anew from it are the same.
//
// It is not safe for concurrent use.
type folder struct {
	rows  *projection
	realm string
	held  *held
	at    tip // folded so far; flush makes it durable
	sum   summary

	runs []dirtyRun
	ops  []dirtyOp
	deps []dirtyDep
	told map[gate.RunID][]uint64

	runIndex map[gate.RunID]struct{}
	opIndex  map[gate.Ref]struct{}
	depIndex map[string]struct{}
}

// What has changed since the last flush, with what the rows say: nil for what
// is new.
type (
	dirtyRun struct {
		id     gate.RunID
		before *gate.Run
	}
	dirtyOp struct {
		ref    gate.Ref
		before *gate.Operation
	}
	dirtyDep struct {
		name   string
		before gate.BreakerState
	}
)

// newFolder returns a folder that goes on where the projection stands.
func newFolder(rows *projection, realm string) (*folder, error) {
	at, sum, err := rows.status()
	if err != nil {
		return nil, err
	}
	f := &folder{rows: rows, realm: realm, at: at, sum: sum}
	if f.held, err = newHeld(rows, 0); err != nil {
		return nil, err
	}
	f.clean()
	return f, nil
}

func (f *folder) clean() {
	f.runs, f.ops, f.deps = f.runs[:0], f.ops[:0], f.deps[:0]
	f.told = map[gate.RunID][]uint64{}
	f.runIndex, f.opIndex, f.depIndex = map[gate.RunID]struct{}{}, map[gate.Ref]struct{}{}, map[string]struct{}{}
}

// fold folds one record, the next one of the ledger.
func (f *folder) fold(record []byte) error {
	d, err := decodeRecord(f.at.Seq+1, f.realm, record)
	if err != nil {
		return err
	}
	return f.decision(&d)
}

// decision folds a decision that was decoded from the next record.
func (f *folder) decision(d *gate.Decision) error {
	f.at.Seq = d.Seq
	if d.Inputs.Now.After(f.sum.at) {
		f.sum.at = d.Inputs.Now
	}
	if d.Command.Act() == gate.ActAdopt {
		f.sum.contract = d.Contract
		return nil
	}
	want := gate.WantOf(d)
	before, err := f.held.load(nil, want)
	if err != nil {
		return err
	}
	after, err := gate.Fold(before, *d)
	if err != nil {
		return err
	}
	f.held.live.Put(after)
	f.told[d.Run] = append(f.told[d.Run], d.Seq)
	f.mark(&before, &after)
	return nil
}

// mark notes what a fold may have changed.
func (f *folder) mark(before, after *gate.State) {
	for i := range after.Runs {
		id := after.Runs[i].ID
		f.held.note(id)
		if _, ok := f.runIndex[id]; !ok {
			f.runIndex[id] = struct{}{}
			f.runs = append(f.runs, dirtyRun{id, before.Run(id)})
		}
	}
	for i := range after.Ops {
		ref := gate.Ref{Run: after.Ops[i].Run, Op: after.Ops[i].ID}
		if _, ok := f.opIndex[ref]; !ok {
			f.opIndex[ref] = struct{}{}
			f.ops = append(f.ops, dirtyOp{ref, before.Op(ref.Run, ref.Op)})
		}
	}
	for i := range after.Deps {
		name := after.Deps[i].Name
		if _, ok := f.depIndex[name]; !ok {
			f.depIndex[name] = struct{}{}
			dep := dirtyDep{name: name}
			if was := before.Dep(name); was != nil {
				dep.before = was.Breaker.State
			}
			f.deps = append(f.deps, dep)
		}
	}
}

// unflushed returns what has changed since the last flush, as it stands.
func (f *folder) unflushed() (s gate.State) {
	for _, r := range f.runs {
		if now, ok := f.held.live.Run(r.id); ok {
			s.Runs = append(s.Runs, now)
		}
	}
	for _, o := range f.ops {
		if now, ok := f.held.live.Op(o.ref); ok {
			s.Ops = append(s.Ops, now)
		}
	}
	for _, d := range f.deps {
		if now, err := f.held.live.Load(nil, gate.Want{Depends: []string{d.name}}); err == nil {
			s.Deps = append(s.Deps, now.Deps...)
		}
	}
	return s
}

// flush writes what has changed, and how far the ledger has been folded in,
// in one transaction. The hash is that of the record at f.at.Seq.
func (f *folder) flush(hash gate.Digest) error {
	f.at.Hash = hash
	sum := f.sum
	err := f.rows.update(func(tx *bbolt.Tx) error {
		w := &rowWriter{tx: tx, sum: &sum, live: &f.held.live}
		if err := w.write(f); err != nil {
			return err
		}
		meta := tx.Bucket(bucketMeta)
		if err := meta.Put(metaProjected, appendHead(nil, f.at)); err != nil {
			return err
		}
		return meta.Put(metaSummary, encodeRow(storeSummary(sum)))
	})
	if err != nil {
		return err
	}
	f.sum = sum
	f.clean()
	if len(f.held.ring) > heldByFolder {
		f.held, err = newHeld(f.rows, 0)
		return err
	}
	f.held.evict(1024, f.sum.at, f.at.Seq)
	return nil
}
