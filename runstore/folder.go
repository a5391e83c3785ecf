package runstore

import (
	"time"

	"go.etcd.io/bbolt"

	"tollgate/gate"
)

// heldByFolder bounds the runs that a folder keeps in memory while it folds
// the ledger. It may let go of any after a flush: their rows are current then.
const heldByFolder = 20_000

// folder gathers what decisions changed and writes it into a projection. It
// has two ways to learn of that. In a store that is at work it takes over what
// the decisions changed there. When it opens, catches up or is built anew it
// folds the records of the ledger. Both come to the same rows: Verify compares
// them.
//
// It is not safe for concurrent use.
type folder struct {
	rows  *projection
	realm string
	held  *held // what records are folded on; nil when it is not current
	at    tip   // taken in so far; flush makes it durable
	sum   summary

	// What has changed since the last flush, and where each stands in there.
	runs      []dirtyRun
	ops       []dirtyOp
	deps      []dirtyDep
	contracts []adopted
	runIndex  map[gate.RunID]int
	opIndex   map[gate.Ref]int
	depIndex  map[string]int
}

// What has changed: before is what the rows say, nil for what is new.
type (
	dirtyRun struct {
		before, now *gate.Run
		told        []uint64 // its decisions
		row         runRow   // of the flush
		wasDue      bool     // so is this
	}
	dirtyOp  struct{ before, now *gate.Operation }
	dirtyDep struct{ before, now *gate.Dependency }
)

// outcome is what the projection needs to know of a decision.
type outcome struct {
	seq      uint64
	run      gate.RunID
	at       time.Time
	contract gate.Digest // that it put into force; zero for none
	change   gate.Change
}

func outcomeOf(d *gate.Decision, c gate.Change) outcome {
	o := outcome{seq: d.Seq, run: d.Run, at: d.Inputs.Now, change: c}
	if d.Command.Act() == gate.ActAdopt {
		o.contract = d.Contract
	}
	return o
}

// newFolder returns a folder that goes on where the projection stands.
func newFolder(rows *projection, realm string) (*folder, error) {
	at, sum, err := rows.status()
	if err != nil {
		return nil, err
	}
	rows.flushed.Store(at.Seq)
	f := &folder{rows: rows, realm: realm, at: at, sum: sum}
	f.clean()
	return f, f.hold()
}

func (f *folder) clean() {
	f.runs, f.ops, f.deps, f.contracts = nil, nil, nil, nil
	f.runIndex, f.opIndex, f.depIndex = map[gate.RunID]int{}, map[gate.Ref]int{}, map[string]int{}
}

// hold makes sure that there is something to fold records on.
func (f *folder) hold() (err error) {
	if f.held == nil {
		f.held, err = holdAbove(f.rows, f.unflushed(), 0)
	}
	return err
}

// decision folds a decision that was decoded from the next record.
func (f *folder) decision(d *gate.Decision) error {
	want := gate.WantOf(d)
	if err := f.held.bringAll(want); err != nil {
		return err
	}
	change, err := f.held.live.Fold(*d)
	if err != nil {
		return err
	}
	for _, r := range change.Runs {
		f.held.note(r.After.ID)
	}
	o := outcomeOf(d, change)
	f.note(&o)
	return nil
}

// take takes over what the next decision changed in the store.
func (f *folder) take(o *outcome) {
	f.held = nil
	f.note(o)
}

func (f *folder) note(o *outcome) {
	f.at.Seq = o.seq
	if o.at.After(f.sum.at) {
		f.sum.at = o.at
	}
	if !o.contract.IsZero() {
		f.sum.contract = o.contract
		f.contracts = append(f.contracts, adopted{o.contract, o.seq})
		return
	}
	for _, r := range o.change.Runs {
		i, ok := f.runIndex[r.After.ID]
		if !ok {
			i = len(f.runs)
			f.runIndex[r.After.ID], f.runs = i, append(f.runs, dirtyRun{before: r.Before})
		}
		f.runs[i].now = r.After
		if r.After.ID == o.run {
			f.runs[i].told = append(f.runs[i].told, o.seq)
		}
	}
	for _, m := range o.change.Ops {
		ref := gate.Ref{Run: m.After.Run, Op: m.After.ID}
		i, ok := f.opIndex[ref]
		if !ok {
			i = len(f.ops)
			f.opIndex[ref], f.ops = i, append(f.ops, dirtyOp{before: m.Before})
		}
		f.ops[i].now = m.After
	}
	for _, m := range o.change.Deps {
		i, ok := f.depIndex[m.After.Name]
		if !ok {
			i = len(f.deps)
			f.depIndex[m.After.Name], f.deps = i, append(f.deps, dirtyDep{before: m.Before})
		}
		f.deps[i].now = m.After
	}
}

// unflushed returns what has changed since the last flush, as it stands.
func (f *folder) unflushed() (s gate.State) {
	for i := range f.runs {
		s.Runs = append(s.Runs, *f.runs[i].now)
		s.Runs[i].Rev = plainRev(s.Runs[i].Rev)
	}
	for i := range f.ops {
		s.Ops = append(s.Ops, *f.ops[i].now)
	}
	for i := range f.deps {
		s.Deps = append(s.Deps, *f.deps[i].now)
		s.Deps[i].Rev = plainRev(s.Deps[i].Rev)
	}
	return s
}

// flush writes what has changed, and how far the ledger has been taken in, in
// one transaction. The hash is that of the record at f.at.Seq.
func (f *folder) flush(hash gate.Digest) error {
	f.at.Hash = hash
	sum := f.sum
	err := f.rows.update(func(tx *bbolt.Tx) error {
		w := &rowWriter{tx: tx, sum: &sum}
		if err := w.write(f); err != nil {
			return err
		}
		meta := tx.Bucket(bucketMeta)
		if err := put(meta, metaProjected, appendHead(nil, f.at)); err != nil {
			return err
		}
		return put(meta, metaSummary, encodeRow(storeSummary(sum)))
	})
	if err != nil {
		return err
	}
	f.rows.flushed.Store(f.at.Seq)
	f.sum = sum
	f.clean()
	switch {
	case f.held == nil:
	case len(f.held.ring) > heldByFolder:
		f.held = nil
		return f.hold()
	default:
		f.held.evict(1024, f.sum.at, f.at.Seq)
	}
	return nil
}
