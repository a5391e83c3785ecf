package runstore

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"tollgate/gate"
)

// evictPerCommit is how many runs are looked at, at each commit, for whether
// they may leave memory.
const evictPerCommit = 4

// Options of a store. The zero value is for everyone.
type Options struct {
	// MaxSize bounds the ledger file, in bytes; 0: only the disk does.
	// Commits that do not fit are refused with gate.ErrStoreFull.
	MaxSize int
}

// Store is an open store: a gate.Engine on disk. It is safe for concurrent
// use. Close it, or its tail has to be replayed at the next Open.
type Store struct {
	files     *files
	options   Options
	store     storeID
	writer    *writer
	projector *projector
	rows      *projection
	ledger    atomic.Pointer[ledger] // the one that is read; another one after a fault
	durable   atomic.Pointer[gate.Head]
	spoiled   atomic.Pointer[error] // what was wrong with a projection that was built anew
	watchers  watchers

	mu      sync.Mutex
	held    *held
	seq     uint64                    // the newest that was given out
	pending map[uint64]*gate.Decision // given out, not durable yet
	closed  bool
}

var (
	_ gate.Engine   = (*Store)(nil)
	_ gate.Accepter = (*Store)(nil)
)

// Open opens the store in dir, for this process alone. It never makes one.
//
// The errors are ErrNoStore, ErrLocked (a LockedError), ErrForeign, ErrSchema,
// ErrUnsafe, gate.ErrDamaged and those of the operating system; each is one
// line and leaves the store as it was. A projection that is missing or damaged
// is no error: it is built anew.
func Open(dir string, o Options) (*Store, error) {
	f, err := openFiles(dir, o.MaxSize)
	if err != nil {
		return nil, err
	}
	folder, wrong, err := openFolder(context.Background(), dir, f.ledger, f.ledger.head().Seq, nil)
	if err != nil {
		return nil, errors.Join(err, f.close())
	}
	s := &Store{files: f, options: o, store: f.ledger.store, rows: folder.rows}
	s.ledger.Store(f.ledger)
	s.rebuilt(wrong)
	s.durable.Store(&gate.Head{
		Realm: s.store.String(), Seq: folder.at.Seq, Hash: folder.at.Hash, At: folder.sum.at, Contract: folder.sum.contract,
	})
	s.projector = &projector{wrote: s.projected, catch: s.catchUp, heal: s.reproject}
	s.projector.start(folder)
	if err := s.begin(0); err != nil {
		return nil, errors.Join(err, s.projector.close(), s.rows.close(), f.close())
	}
	s.writer = startWriter(f.ledger, s.committed, s.failed)
	return s, nil
}

// Close commits what has been handed in, brings the projection up to date and
// lets go of the store. What comes after it gets ErrClosed.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	s.writer.close()
	err := s.projector.close()
	head := s.durable.Load()
	s.watchers.close()
	return errors.Join(err,
		s.files.checkpoints.add(s.store, tip{Seq: head.Seq, Hash: head.Hash}),
		s.rows.close(), s.files.close())
}

// begin throws the live state away and begins anew from what is on disk: the
// dependencies, every run with something due and every run whose rows are not
// written yet; other runs are brought back when they are asked for.
func (s *Store) begin(epoch uint64) error {
	newer, err := s.projector.unflushed()
	if err != nil {
		return err
	}
	h, err := holdAbove(s.rows, newer, epoch)
	if err != nil {
		return err
	}
	ids, err := s.rows.dueRuns()
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := h.bring(id); err != nil {
			return err
		}
	}
	s.held, s.seq, s.pending = h, s.durable.Load().Seq, map[uint64]*gate.Decision{}
	return nil
}

// Load implements gate.Store.
func (s *Store) Load(ctx context.Context, wants ...gate.Want) (gate.State, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(); err != nil {
		return gate.State{}, err
	}
	turn := s.rows.turn()
	s.renewed(ctx, turn, s.held.bringAll(wants...)) // if rows were damaged, they are read again
	return s.held.load(s.said, wants...)
}

// said returns a decision by its seq. The caller holds the lock.
func (s *Store) said(seq uint64) (gate.Decision, error) {
	if d, ok := s.pending[seq]; ok {
		return *d, nil
	}
	return s.decision(seq)
}

// decision reads a decision from the ledger.
func (s *Store) decision(seq uint64) (gate.Decision, error) {
	record, err := s.ledger.Load().record(seq)
	if err != nil {
		return gate.Decision{}, err
	}
	return decodeRecord(seq, s.store.String(), record)
}

// Commit implements gate.Store. It waits for the disk even when ctx ends: what
// has been handed to the writer can't be taken back.
func (s *Store) Commit(ctx context.Context, chain ...gate.Transition) (decisions []gate.Decision, err error) {
	done := make(chan struct{})
	if err := s.Accept(ctx, func(d []gate.Decision, e error) {
		decisions, err = d, e
		close(done)
	}, chain...); err != nil {
		return nil, err
	}
	<-done
	return decisions, err
}

// Accept implements gate.Accepter.
func (s *Store) Accept(ctx context.Context, answer func([]gate.Decision, error), chain ...gate.Transition) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	bodies, err := encodeChain(chain)
	if err != nil {
		return err
	}
	decisions, wait, err := s.accept(chain, bodies, answer)
	switch {
	case err != nil:
		return err
	case wait:
		// To the writer, which may be back from the disk, and to the callers that
		// it has answered: they share the next block.
		runtime.Gosched()
	default:
		answer(decisions, s.hashRepeats(decisions))
	}
	return nil
}

// hashRepeats fills in the hashes of what repeats, and of what stands beside it
// in a chain.
func (s *Store) hashRepeats(decisions []gate.Decision) (err error) {
	for i := range decisions {
		if d := &decisions[i]; d.Hash.IsZero() && d.Seq > 0 {
			if d.Hash, err = s.ledger.Load().hashAt(d.Seq); err != nil {
				return fmt.Errorf("hash of decision %d: %w", d.Seq, err)
			}
		}
	}
	return nil
}

// encodeChain encodes what a chain has to write, before the lock is taken.
func encodeChain(chain []gate.Transition) (bodies [][]byte, err error) {
	var d gate.Decision
	for i := range chain {
		if !chain[i].Sealed() || chain[i].Repeats() {
			continue
		}
		d = chain[i].Decision()
		b := encodeDecision(&d)
		if len(b) > maxRecord {
			return nil, &gate.InputError{Field: "decision", Want: fmt.Sprintf("at most %d bytes", maxRecord), Got: fmt.Sprintf("%d bytes", len(b))}
		}
		bodies = append(bodies, b)
	}
	if len(bodies) > maxBlock {
		return nil, &gate.InputError{Field: "chain", Want: fmt.Sprintf("at most %d transitions", maxBlock), Got: fmt.Sprint(len(bodies))}
	}
	return bodies, nil
}

// accept folds a chain into the live state and hands it to the writer, which
// answers; or else, without wait, the answers are due at once.
func (s *Store) accept(chain []gate.Transition, bodies [][]byte, answer func([]gate.Decision, error)) (decisions []gate.Decision, wait bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(); err != nil {
		return nil, false, err
	}
	written, changes, err := s.held.apply(s.seq+1, chain)
	if err != nil {
		return nil, false, err
	}
	p := &pending{records: bodies, written: written, outcomes: make([]outcome, len(written))}
	for i := range written {
		p.records[i] = bindRecord(bodies[i], written[i].Prev)
		p.outcomes[i] = outcomeOf(&written[i], changes[i])
		s.pending[written[i].Seq] = &written[i]
	}
	s.seq += uint64(len(written))
	head := s.durable.Load()
	all, newest := answers(chain, written)
	if len(written) == 0 && newest <= head.Seq {
		return all, false, nil
	}
	p.done = func(err error) {
		if err != nil {
			answer(nil, err)
			return
		}
		answer(all, s.hashRepeats(all))
	}
	s.held.evict(evictPerCommit, head.At, s.projector.projected.Load())
	return nil, true, s.writer.enqueue(p)
}

// answers puts what was written and what repeats in the order of the chain, and
// returns the newest seq that has to be on disk before anybody is told.
func answers(chain []gate.Transition, written []gate.Decision) (decisions []gate.Decision, newest uint64) {
	if n := len(written); n > 0 {
		newest = written[n-1].Seq
	}
	if len(written) == len(chain) {
		return written, newest
	}
	for i := range chain {
		if !chain[i].Repeats() {
			decisions, written = append(decisions, written[0]), written[1:]
			continue
		}
		d := chain[i].Decision()
		decisions, newest = append(decisions, d), max(newest, d.Seq)
	}
	return decisions, newest
}

// committed takes account of a block that is on disk. The writer calls it
// before it answers.
func (s *Store) committed(group []*pending, hashes []gate.Digest, at tip) {
	if len(hashes) == 0 {
		return
	}
	head := *s.durable.Load()
	block := fedBlock{first: head.Seq + 1, at: at, outcomes: make([][]outcome, 0, len(group))}
	s.mu.Lock()
	for _, p := range group {
		for i := range p.written {
			p.written[i].Hash, hashes = hashes[0], hashes[1:]
			delete(s.pending, p.written[i].Seq)
		}
		for i := range p.outcomes {
			advance(&head, p.outcomes[i].at, p.outcomes[i].contract)
		}
		block.outcomes = append(block.outcomes, p.outcomes)
	}
	s.mu.Unlock()
	head.Seq, head.Hash = at.Seq, at.Hash
	s.projector.feed(block)
	s.durable.Store(&head) // what a reader has seen has been fed
	s.watchers.wake(at.Seq)
}

// advance takes a decision into what is known of the ledger as a whole:
// when it was, and the contract that it put into force, if any.
func advance(head *gate.Head, at time.Time, contract gate.Digest) {
	if at.After(head.At) {
		head.At = at
	}
	if !contract.IsZero() {
		head.Contract = contract
	}
}

// projected appends a checkpoint now and then.
func (s *Store) projected(at tip) {
	g := s.files.checkpoints
	if at.Seq-g.last.Seq >= checkpointEvery {
		g.add(s.store, at) //nolint:errcheck // one fewer; the one at the end tells
	}
}

// Head implements gate.Engine.
func (s *Store) Head(context.Context) (gate.Head, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(); err != nil {
		return gate.Head{}, err
	}
	return *s.durable.Load(), nil
}

// Due implements gate.Engine.
func (s *Store) Due(_ context.Context, now time.Time, limit int) ([]gate.Ref, time.Time, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(); err != nil {
		return nil, time.Time{}, err
	}
	due, next := s.held.live.Due(now, limit)
	return due, next, nil
}
