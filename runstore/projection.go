package runstore

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"

	"tollgate/escalation"
	"tollgate/gate"
)

// projectionSchema is raised whenever the rows change: a projection of another
// schema is built anew.
const projectionSchema = 4

// toldPerRow is how many seqs one row of "told" holds.
const toldPerRow = 64

// projection is the open projection file. One goroutine writes it; any may
// read. After a fault the same projection goes on with another file.
type projection struct {
	mu    sync.RWMutex // of the fields, and for writing while the file is replaced
	file  *boltFile    // nil: there was no opening it again
	why   error        // why not
	turns uint64       // how often it was replaced

	flushed atomic.Uint64 // the seq that the file is known to reach
}

// errNoProjection is what readers get while a projection that was damaged can
// not be built anew: there is no room for it, say.
var errNoProjection = errors.New("the projection cannot be built anew")

func (p *projection) view(fn func(*bbolt.Tx) error) error {
	return p.within((*boltFile).view, fn)
}

func (p *projection) update(fn func(*bbolt.Tx) error) error {
	return p.within((*boltFile).update, fn)
}

func (p *projection) within(run func(*boltFile, func(*bbolt.Tx) error) error, fn func(*bbolt.Tx) error) error {
	return p.with(func(b *boltFile) error {
		least := p.flushed.Load()
		return run(b, func(tx *bbolt.Tx) error {
			if err := reaches(tx, least); err != nil {
				return err
			}
			return fn(tx)
		})
	})
}

// reaches returns an error if the file shows a state from before a seq that it
// is known to reach: its top page is an older one.
func reaches(tx *bbolt.Tx, seq uint64) error {
	if seq == 0 {
		return nil
	}
	switch at, _, err := statusOf(tx); {
	case err != nil:
		return err
	case at.Seq < seq:
		return damaged("it is at seq %d, and was written up to %d: %w", at.Seq, seq, errStale)
	}
	return nil
}

func (p *projection) close() error {
	if err := p.with((*boltFile).Close); !errors.Is(err, errNoProjection) {
		return err
	}
	return nil
}

// look takes a deep look at the file, which is the one at path.
func (p *projection) look(ctx context.Context, path string, row func(key, value []byte) error) error {
	return p.with(func(b *boltFile) error { return checkOpenPages(ctx, b, path, row) })
}

// with keeps the file from being replaced while fn uses it.
func (p *projection) with(fn func(*boltFile) error) error {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.file == nil {
		return p.why
	}
	return fn(p.file)
}

// turn tells one file of the projection from the next.
func (p *projection) turn() uint64 {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.turns
}

// replace closes the file and goes on with the one that open returns. Whoever
// wants to read waits for that.
func (p *projection) replace(open func() (*boltFile, error)) (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turns++
	if p.file != nil {
		if err := p.file.Close(); err != nil {
			return err
		}
	}
	switch p.file, err = open(); {
	case err == nil:
	case lacksSpace(err):
		p.why = fmt.Errorf("%w: %w: %w", gate.ErrStoreFull, errNoProjection, err)
	default:
		p.why = fmt.Errorf("%w: %w", errNoProjection, err)
	}
	return err
}

// runRow is a run with what only the store needs of it.
type runRow struct {
	run  gate.Run
	due  int64  // operations with something due, now or later
	ops  int64  // operations with a place
	told uint64 // decisions
	sum  uint64 // of the newest seqs of its operations
}

// summary is what the projection knows of the ledger as a whole.
type summary struct {
	at       time.Time   // the highest time
	contract gate.Digest // of the newest one adopted
	counts   gate.Counts // Seq and Oldest left aside
	resolved int64       // items
	due      int64       // runs with something due, now or later
	revs     uint64      // sum of the revisions of the dependencies
}

type storedRunRow struct {
	Run  storedRun `cbor:"1,keyasint,omitzero"`
	Due  int64     `cbor:"2,keyasint,omitempty"`
	Ops  int64     `cbor:"3,keyasint,omitempty"`
	Told uint64    `cbor:"4,keyasint,omitempty"`
	Sum  uint64    `cbor:"5,keyasint,omitempty"`
}

func storeRunRow(v runRow) storedRunRow {
	return storedRunRow{Run: storeRun(v.run), Due: v.due, Ops: v.ops, Told: v.told, Sum: v.sum}
}

func (s storedRunRow) load() runRow {
	return runRow{run: s.Run.load(), due: s.Due, ops: s.Ops, told: s.Told, sum: s.Sum}
}

type storedSummary struct {
	At             instant     `cbor:"1,keyasint,omitempty"`
	Contract       gate.Digest `cbor:"2,keyasint,omitzero"`
	Runs           int64       `cbor:"3,keyasint,omitempty"`
	ActiveRuns     int64       `cbor:"4,keyasint,omitempty"`
	OutcomeUnknown int64       `cbor:"5,keyasint,omitempty"`
	Approval       int64       `cbor:"6,keyasint,omitempty"`
	Exhausted      int64       `cbor:"7,keyasint,omitempty"`
	Stopped        int64       `cbor:"8,keyasint,omitempty"`
	DeadLetters    int64       `cbor:"9,keyasint,omitempty"`
	BreakersOpen   int64       `cbor:"10,keyasint,omitempty"`
	Resolved       int64       `cbor:"11,keyasint,omitempty"`
	Due            int64       `cbor:"12,keyasint,omitempty"`
	Revs           uint64      `cbor:"13,keyasint,omitempty"`
}

func storeSummary(v summary) storedSummary {
	c := &v.counts
	return storedSummary{
		At: instantOf(v.at), Contract: v.contract, Runs: c.Runs, ActiveRuns: c.ActiveRuns,
		OutcomeUnknown: c.OutcomeUnknown, Approval: c.Approval, Exhausted: c.Exhausted, Stopped: c.Stopped,
		DeadLetters: c.DeadLetters, BreakersOpen: c.BreakersOpen, Resolved: v.resolved,
		Due: v.due, Revs: v.revs,
	}
}

func (s storedSummary) load() summary {
	return summary{at: s.At.time(), contract: s.Contract, resolved: s.Resolved, due: s.Due, revs: s.Revs, counts: gate.Counts{
		Runs: s.Runs, ActiveRuns: s.ActiveRuns, OutcomeUnknown: s.OutcomeUnknown, Approval: s.Approval,
		Exhausted: s.Exhausted, Stopped: s.Stopped, DeadLetters: s.DeadLetters, BreakersOpen: s.BreakersOpen,
	}}
}

// createProjection makes an empty projection file at path, in place of what
// was there.
func createProjection(path string, store storeID) (*projection, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	db, err := createBolt(path, projectionBuckets...)
	if err != nil {
		return nil, err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		meta := tx.Bucket(bucketMeta)
		return errors.Join(
			put(meta, metaSchema, binary.BigEndian.AppendUint32(nil, projectionSchema)),
			put(meta, metaStore, store[:]),
			put(meta, metaProjected, appendHead(nil, tip{})),
			put(meta, metaSummary, encodeRow(storeSummary(summary{}))),
		)
	})
	if err := errors.Join(err, db.Close()); err != nil {
		return nil, err
	}
	return openProjection(path, store)
}

// openProjection opens a projection of the store's ledger. Any error means
// that it has to be built anew.
func openProjection(path string, store storeID) (*projection, error) {
	if err := checkPages(context.Background(), path, true, checkSeal); err != nil {
		return nil, err
	}
	db, err := openBolt(path, 0)
	if err != nil {
		return nil, err
	}
	err = db.view(func(tx *bbolt.Tx) error {
		for _, name := range projectionBuckets {
			if tx.Bucket(name) == nil {
				return damaged("no bucket %s", name)
			}
		}
		if got := namesIn(tx.Cursor()); len(got) != len(projectionBuckets) {
			return damaged("it has %d buckets, want %d", len(got), len(projectionBuckets))
		}
		meta := tx.Bucket(bucketMeta)
		if got := meta.Get(metaSchema); !bytes.Equal(got, sealed(metaSchema, binary.BigEndian.AppendUint32(nil, projectionSchema))) {
			return fmt.Errorf("%w: %x", ErrSchema, got)
		}
		if got := meta.Get(metaStore); !bytes.Equal(got, sealed(metaStore, store[:])) {
			return damaged("it is of store %.20x", got)
		}
		return nil
	})
	if err != nil {
		return nil, closing(db, err)
	}
	return &projection{file: db}, nil
}

// status returns how far the ledger has been folded in, and what is known of
// it as a whole.
func (p *projection) status() (at tip, sum summary, err error) {
	err = p.view(func(tx *bbolt.Tx) error {
		at, sum, err = statusOf(tx)
		return err
	})
	return at, sum, err
}

func statusOf(tx *bbolt.Tx) (at tip, sum summary, err error) {
	meta := tx.Bucket(bucketMeta)
	head, err := get(meta, metaProjected)
	if err != nil {
		return at, sum, err
	}
	if at, err = parseHead(head); err != nil {
		return at, sum, err
	}
	v, err := get(meta, metaSummary)
	if err == nil {
		sum, err = decodeRow[storedSummary](v)
	}
	return at, sum, err
}

// queueEntry is what the queue keeps of an item beside its order: enough to
// leave it out without reading its row.
type queueEntry struct {
	at       place
	snoozed  time.Time
	deadline time.Time
}

func (e queueEntry) value() []byte {
	return appendMS(appendMS(e.at.key(), e.snoozed), e.deadline)
}

func parseQueueEntry(key, stored []byte) (e queueEntry, err error) {
	b, err := unsealed(key, stored)
	if err != nil {
		return e, err
	}
	if len(b) != 28 {
		return e, damaged("an entry of the queue has %d bytes, want 28", len(b))
	}
	if e.at, err = placeOf(b); err != nil {
		return e, err
	}
	e.snoozed, e.deadline = msOf(b[12:]), msOf(b[20:])
	return e, nil
}

func msOf(b []byte) time.Time {
	return time.UnixMilli(int64(binary.BigEndian.Uint64(b) ^ 1<<63)).UTC()
}

// itemKeys are the places of an item: in the queue and, while it waits, among
// the oldest and the snoozed.
type itemKeys struct {
	queue, age, snoozed []byte
	entry               []byte
}

func keysOfItem(row *gate.ItemRow, at place) itemKeys {
	since := row.Opened
	k := itemKeys{entry: queueEntry{at: at, snoozed: row.Snoozed.Time, deadline: row.Deadline.Time}.value()}
	if row.State == gate.HoldResolved {
		newest := time.UnixMilli(^row.Resolved.UnixMilli()) // a later time comes first
		key := appendMS([]byte{byte(row.State), 0}, newest)
		k.queue = append(appendMS(key, time.UnixMilli(0)), row.ID...)
		return k
	}
	key := appendMS([]byte{byte(row.State), byte(escalation.Rank(*row))}, row.Deadline.Time)
	k.queue = append(appendMS(key, since.Time), row.ID...)
	k.age = append(appendMS([]byte{byte(row.State)}, since.Time), row.ID...)
	if row.State == gate.HoldOpen && !row.Snoozed.IsZero() {
		k.snoozed = append(appendMS(nil, row.Snoozed.Time), row.ID...)
	}
	return k
}

// lastRank is the largest that escalation.Rank returns.
const lastRank = byte(gate.KindStopped)
