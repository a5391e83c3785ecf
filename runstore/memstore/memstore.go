// Package memstore is an engine in memory: the same interface as the store on
// disk, for tests and for replays of fixtures. Nothing of it survives.
package memstore

import (
	"context"
	"sync"
	"time"

	"tollgate/gate"
)

// Store is a gate.Engine in memory. Make one with New. Safe for concurrent
// use.
type Store struct {
	mu       sync.Mutex
	realm    string
	live     gate.Live
	ledger   []gate.Decision
	high     time.Time
	contract gate.Digest
	watchers map[chan uint64]struct{}
}

var _ gate.Engine = (*Store)(nil)

// New returns an empty store. realm is its id, which salts the keys.
func New(realm string) *Store {
	return &Store{realm: realm, watchers: map[chan uint64]struct{}{}}
}

// Load implements gate.Store.
func (s *Store) Load(_ context.Context, wants ...gate.Want) (gate.State, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live.Load(s.decision, wants...)
}

// decision returns a decision by its seq. The caller holds the lock.
func (s *Store) decision(seq uint64) (gate.Decision, error) {
	if seq == 0 || seq > uint64(len(s.ledger)) {
		return gate.Decision{}, gate.ErrNoDecision
	}
	return s.ledger[seq-1], nil
}

// Commit implements gate.Store.
func (s *Store) Commit(_ context.Context, chain ...gate.Transition) ([]gate.Decision, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	written, _, err := s.live.Advance(uint64(len(s.ledger))+1, chain...)
	if err != nil {
		return nil, err
	}
	for _, d := range written {
		s.ledger = append(s.ledger, d)
		if d.Inputs.Now.After(s.high) {
			s.high = d.Inputs.Now
		}
		if d.Command.Act() == gate.ActAdopt {
			s.contract = d.Contract
		}
	}
	out := make([]gate.Decision, 0, len(chain))
	for i := range chain {
		if chain[i].Repeats() {
			out = append(out, chain[i].Decision())
			continue
		}
		out, written = append(out, written[0]), written[1:]
	}
	s.wake()
	return out, nil
}

// Head implements gate.Engine. The hash of a ledger in memory is zero: there
// are no stored bytes.
func (s *Store) Head(context.Context) (gate.Head, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return gate.Head{Realm: s.realm, Seq: uint64(len(s.ledger)), At: s.high, Contract: s.contract}, nil
}

// Due implements gate.Engine.
func (s *Store) Due(_ context.Context, now time.Time, limit int) ([]gate.Ref, time.Time, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	due, next := s.live.Due(now, limit)
	return due, next, nil
}

// Decisions returns the whole ledger.
func (s *Store) Decisions() []gate.Decision {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]gate.Decision(nil), s.ledger...)
}

// Watch implements gate.Reader.
func (s *Store) Watch(ctx context.Context) <-chan uint64 {
	ch := make(chan uint64, 1)
	s.mu.Lock()
	s.watchers[ch] = struct{}{}
	if n := len(s.ledger); n > 0 {
		ch <- uint64(n)
	}
	s.mu.Unlock()
	context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, ch)
		close(ch)
	})
	return ch
}

// wake puts the newest seq before every watcher. The caller holds the lock.
func (s *Store) wake() {
	n := uint64(len(s.ledger))
	for ch := range s.watchers {
		select {
		case <-ch:
		default:
		}
		ch <- n
	}
}
