package runstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"tollgate/gate"
)

// When the projector writes, whichever comes first: a read makes it write too,
// and what it has not written is folded again after a crash. And how many
// blocks may wait for it before the writer has to.
const (
	flushDecisions = 4096
	flushEvery     = 500 * time.Millisecond
	backlog        = 256

	catchUpFlush = 16384 // records between two flushes while nobody reads
)

// fedBlock is a committed block on its way into the projection.
type fedBlock struct {
	first    uint64
	at       tip         // after its last record
	outcomes [][]outcome // of all its records, or none: then they are read from the ledger
}

// projector keeps the projection behind the ledger, in a goroutine of its own.
// It is fed after each commit and before its answers, and is never ahead of
// the ledger.
type projector struct {
	wrote func(at tip)                                         // after each flush
	catch func(f *folder, last uint64) error                   // folds the ledger in up to a seq
	heal  func(rows *projection, fault error) (*folder, error) // opens the file again, or builds it anew

	blocks    chan fedBlock
	asks      chan func() // run by the goroutine, after what was fed before
	projected atomic.Uint64
	stopped   chan struct{}

	// Of the goroutine alone.
	folder  *folder
	at      tip    // after the newest block that was fed
	flushAt uint64 // the seq at which it writes, whatever the time
	fault   error  // the projection is not to be used; the next ask tries to heal it
}

func (p *projector) start(f *folder) {
	p.folder, p.at = f, f.at
	p.blocks, p.asks, p.stopped = make(chan fedBlock, backlog), make(chan func()), make(chan struct{})
	p.projected.Store(f.at.Seq)
	p.flushAt = f.at.Seq + flushDecisions
	go p.run()
}

// feed hands over a committed block. It waits while the backlog is full.
func (p *projector) feed(b fedBlock) { p.blocks <- b }

// settle waits until everything that was fed before the call is in the
// projection. While there is no room for it readers see what there is, which
// is no error.
func (p *projector) settle(ctx context.Context) (err error) {
	askErr := p.ask(ctx, func() {
		if err = p.flush(); err != nil {
			p.mend()
			err = p.flush()
		}
	})
	return errors.Join(askErr, err)
}

// unflushed returns what has been fed and folded and is not in the projection
// yet. Nothing in it is changed later.
func (p *projector) unflushed() (s gate.State, err error) {
	askErr := p.ask(context.Background(), func() {
		s, err = p.folder.unflushed(), p.fault
	})
	return s, errors.Join(askErr, err)
}

// ask runs f in the goroutine, after what was fed before the call.
func (p *projector) ask(ctx context.Context, f func()) error {
	done := make(chan struct{})
	select {
	case p.asks <- func() { f(); close(done) }:
		<-done
		return nil
	case <-p.stopped:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// close takes in what has been fed, and ends the goroutine.
func (p *projector) close() error {
	close(p.blocks)
	<-p.stopped
	return p.fault
}

func (p *projector) run() {
	defer close(p.stopped)
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case b, ok := <-p.blocks:
			if !ok {
				p.mend()
				p.flush() //nolint:errcheck // kept as the fault
				return
			}
			p.take(b)
		case f := <-p.asks:
			for range len(p.blocks) {
				if b, ok := <-p.blocks; ok {
					p.take(b)
				}
			}
			p.mend()
			f()
		case <-tick.C:
			p.flush() //nolint:errcheck // kept as the fault
		}
	}
}

// take takes in a block. A fault leaves the projection where it is; the ledger
// goes on.
func (p *projector) take(b fedBlock) {
	p.at = b.at
	switch have := p.folder.at.Seq; {
	case p.fault != nil, have >= b.at.Seq:
	case have+1 != b.first, len(b.outcomes) == 0: // what came while there was a fault is in the ledger
		p.fault = p.catch(p.folder, b.at.Seq)
	default:
		for _, some := range b.outcomes {
			for i := range some {
				p.folder.take(&some[i])
			}
		}
	}
	if p.at.Seq >= p.flushAt {
		p.flush() //nolint:errcheck // kept as the fault
	}
}

// mend opens the projection again after a fault, or builds it anew.
func (p *projector) mend() {
	if p.fault == nil {
		return
	}
	f, err := p.heal(p.folder.rows, p.fault)
	if err != nil {
		p.fault = err
		return
	}
	p.folder, p.fault = f, nil
	p.projected.Store(f.at.Seq)
}

// renew builds the projection anew, unless that was done since the turn at which
// a reader met damage: if that was rows that do not belong together, or if a
// look at all of the file at path bears it out.
func (p *projector) renew(ctx context.Context, path string, turn uint64, met error) {
	p.ask(ctx, func() { //nolint:errcheck // whoever reads on sees what came of it
		if p.folder.rows.turn() != turn {
			return
		}
		fault := p.folder.rows.look(ctx, path, checkSeal)
		if fault == nil && errors.Is(met, errStale) {
			fault = met
		}
		if fault != nil && ctx.Err() == nil {
			p.fault = fault
			p.mend()
		}
	})
}

// flush writes what has been folded. Without room for it, it waits.
func (p *projector) flush() error {
	p.flushAt = p.at.Seq + flushDecisions
	if p.fault != nil || p.at.Seq == p.projected.Load() {
		return p.fault
	}
	if p.folder.at.Seq < p.at.Seq {
		if p.fault = p.catch(p.folder, p.at.Seq); p.fault != nil {
			return p.fault
		}
	}
	switch err := p.folder.flush(p.at.Hash); {
	case err == nil:
		p.projected.Store(p.at.Seq)
		p.wrote(p.at)
	case !lacksSpace(err):
		p.fault = err
	}
	return p.fault
}

// openFolder opens the projection in dir and brings it up to seq last of the
// ledger, where a block ends. A projection that is missing, or wrong in some
// way, is built anew, and takes the place of the old one when it is whole. known
// is what is known to be wrong with it, if anything; what is comes back.
func openFolder(ctx context.Context, dir string, l *ledger, last uint64, known error) (f *folder, wrong, err error) {
	path := filepath.Join(dir, projectionName)
	rows, wrong := (*projection)(nil), known
	if wrong == nil {
		rows, wrong = openProjection(path, l.store)
	}
	if wrong == nil {
		if f, wrong = followLedger(ctx, rows, l, last); wrong == nil {
			return f, nil, nil
		}
		if err := rows.close(); err != nil {
			return nil, wrong, err
		}
	}
	switch {
	case ctx.Err() != nil:
		return nil, wrong, ctx.Err()
	case errors.Is(wrong, ErrLocked):
		return nil, wrong, fmt.Errorf("%s: %w", path, wrong)
	}
	fresh := path + newSuffix
	if rows, err = createProjection(fresh, l.store); err == nil {
		_, err = followLedger(ctx, rows, l, last)
		err = errors.Join(err, rows.close())
	}
	if err == nil {
		err = os.Rename(fresh, path)
	}
	if err != nil {
		os.Remove(fresh) //nolint:errcheck // it takes up room at most, until the next time
		return nil, wrong, err
	}
	if rows, err = openProjection(path, l.store); err != nil {
		return nil, wrong, err
	}
	if f, err = followLedger(ctx, rows, l, last); err != nil {
		return nil, wrong, errors.Join(err, rows.close())
	}
	return f, wrong, nil
}

// followLedger folds what the ledger holds beyond the projection, up to seq
// last.
func followLedger(ctx context.Context, rows *projection, l *ledger, last uint64) (*folder, error) {
	f, err := newFolder(rows, l.store.String())
	if err != nil {
		return nil, err
	}
	if f.at.Seq > last {
		return nil, damaged("the projection is at seq %d, the ledger at seq %d", f.at.Seq, last)
	}
	hash, err := l.hashAt(f.at.Seq)
	if err != nil {
		return nil, err
	}
	if hash != f.at.Hash {
		return nil, damaged("the projection and the ledger differ at seq %d", f.at.Seq)
	}
	return f, f.follow(ctx, l, last, nil)
}

// follow folds the ledger in up to the block that ends at seq last, and
// flushes. decided, if any, is called with each decision before it is folded.
func (f *folder) follow(ctx context.Context, l *ledger, last uint64, decided func(*gate.Decision) error) error {
	if err := f.hold(); err != nil {
		return err
	}
	flushed := f.at.Seq
	end, err := l.walkTo(ctx, f.at, last, func(b block, at tip) error {
		for seq, record := range b.all {
			d, err := decodeRecord(seq, f.realm, record)
			if err != nil {
				return err
			}
			if decided != nil {
				if err := decided(&d); err != nil {
					return err
				}
			}
			if err := f.decision(&d); err != nil {
				return err
			}
		}
		if f.at.Seq-flushed < catchUpFlush {
			return nil
		}
		flushed = f.at.Seq
		return f.flush(at.Hash)
	})
	if err != nil || f.at.Seq == flushed {
		return err
	}
	return f.flush(end.Hash)
}
