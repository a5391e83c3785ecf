package runstore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"sync/atomic"
	"time"

	"tollgate/gate"
)

// When the projector writes, whichever comes first; and how many blocks may
// wait for it before the writer has to.
const (
	flushBlocks = 256
	flushEvery  = 100 * time.Millisecond
	backlog     = 256

	catchUpFlush = 16384 // records between two flushes while nobody reads
)

// fedBlock is a committed block on its way into the projection.
type fedBlock struct {
	records [][]byte
	at      tip // after its last record
}

// projector keeps the projection behind the ledger, in a goroutine of its own.
// It is fed after each commit and before its answers, and is never ahead of
// the ledger.
type projector struct {
	wrote func(at tip) // after each flush

	blocks    chan fedBlock
	asks      chan func() // run by the goroutine, after what was fed before
	projected atomic.Uint64
	stopped   chan struct{}

	// Of the goroutine alone.
	folder  *folder
	at      tip // after the newest block that was folded
	waiting int // blocks that no flush has written yet
	fault   error
}

func startProjector(f *folder, wrote func(tip)) *projector {
	p := &projector{
		folder: f, wrote: wrote, at: f.at,
		blocks: make(chan fedBlock, backlog), asks: make(chan func()), stopped: make(chan struct{}),
	}
	p.projected.Store(f.at.Seq)
	go p.run()
	return p
}

// feed hands over a committed block. It waits while the backlog is full.
func (p *projector) feed(b fedBlock) { p.blocks <- b }

// settle waits until everything that was fed before the call is in the
// projection. While there is no room for it readers see what there is, which
// is no error.
func (p *projector) settle(ctx context.Context) (err error) {
	if askErr := p.ask(ctx, func() { err = p.flush() }); askErr != nil {
		return askErr
	}
	return err
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
				p.flush() //nolint:errcheck // kept as the fault
				return
			}
			p.fold(b)
		case f := <-p.asks:
			for range len(p.blocks) {
				if b, ok := <-p.blocks; ok {
					p.fold(b)
				}
			}
			f()
		case <-tick.C:
			p.flush() //nolint:errcheck // kept as the fault
		}
	}
}

// fold takes in a block. A fault leaves the projection where it is; the ledger
// goes on, and the next open catches up or builds the projection anew.
func (p *projector) fold(b fedBlock) {
	for _, r := range b.records {
		if p.fault == nil {
			p.fault = p.folder.fold(r)
		}
	}
	p.at = b.at
	if p.waiting++; p.waiting%flushBlocks == 0 {
		p.flush() //nolint:errcheck // kept as the fault
	}
}

// flush writes what has been folded. Without room for it, it waits.
func (p *projector) flush() error {
	if p.fault != nil || p.waiting == 0 {
		return p.fault
	}
	switch err := p.folder.flush(p.at.Hash); {
	case err == nil:
		p.waiting = 0
		p.projected.Store(p.at.Seq)
		p.wrote(p.at)
	case !lacksSpace(err):
		p.fault = err
	}
	return p.fault
}

// openFolder opens the projection in dir and brings it up to the head of the
// ledger. A projection that is missing or damaged, or that is not of this
// ledger, is built anew.
func openFolder(ctx context.Context, dir string, l *ledger) (*folder, error) {
	path := filepath.Join(dir, projectionName)
	if rows, err := openProjection(path, l.store); err == nil {
		f, err := followLedger(ctx, rows, l)
		if err == nil {
			return f, nil
		}
		if closeErr := rows.close(); closeErr != nil {
			return nil, closeErr
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	} else if errors.Is(err, ErrLocked) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	rows, err := createProjection(path, l.store)
	if err != nil {
		return nil, err
	}
	f, err := followLedger(ctx, rows, l)
	if err != nil {
		return nil, errors.Join(err, rows.close())
	}
	return f, nil
}

// followLedger folds what the ledger holds beyond the projection.
func followLedger(ctx context.Context, rows *projection, l *ledger) (*folder, error) {
	f, err := newFolder(rows, l.store.String())
	if err != nil {
		return nil, err
	}
	if f.at.Seq > l.head().Seq {
		return nil, damaged("the projection is at seq %d, the ledger at seq %d", f.at.Seq, l.head().Seq)
	}
	hash, err := l.hashAt(f.at.Seq)
	if err != nil {
		return nil, err
	}
	if hash != f.at.Hash {
		return nil, damaged("the projection and the ledger differ at seq %d", f.at.Seq)
	}
	return f, f.follow(ctx, l, math.MaxUint64, nil)
}

// follow folds the ledger in up to the block that ends at seq last, and
// flushes. decided, if any, is called with each decision before it is folded.
func (f *folder) follow(ctx context.Context, l *ledger, last uint64, decided func(*gate.Decision) error) error {
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
