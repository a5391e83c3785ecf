package runstore

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"tollgate/gate"
)

// failed takes account of a commit that failed. Out of space, the state goes
// back to what is on disk and the next commit may try; after any other error
// nobody knows what is on disk, and the ledger is opened again when somebody
// next asks; that somebody may have done so already.
func (s *Store) failed(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writer.poisoned() == nil {
		return
	}
	if errors.Is(err, gate.ErrStoreFull) && s.begin(s.held.epoch+1) == nil {
		s.writer.resume(s.ledger.Load())
	}
}

// usable opens the ledger again after a fault. The caller holds the lock.
func (s *Store) usable() error {
	if s.closed {
		return ErrClosed
	}
	fault := s.writer.poisoned()
	if fault == nil {
		return nil
	}
	if err := s.reopen(); err != nil {
		return fmt.Errorf("%w (and opening the ledger again: %w)", fault, err)
	}
	return nil
}

// ready is usable for a caller without the lock, who reads the ledger.
func (s *Store) ready() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.usable()
}

// reopen opens the ledger again and takes in what it shows: the group whose
// outcome was not known stands in it or does not.
func (s *Store) reopen() error {
	old := s.ledger.Load()
	if err := old.close(); err != nil {
		return err
	}
	s.files.ledger = nil
	if err := s.files.openLedger(s.options.MaxSize); err != nil {
		return err
	}
	l := s.files.ledger
	s.ledger.Store(l)
	if err := l.lastLeaf(); err != nil {
		return err
	}
	// What the pages show may not be on disk yet. A transaction that syncs
	// makes it so, before anybody is told.
	if err := l.update(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketMeta).Put(metaHead, appendHead(nil, l.head()))
	}); err != nil {
		return err
	}
	head := *s.durable.Load()
	if l.head().Seq < head.Seq {
		return damaged("the ledger ends at seq %d, but %d was acknowledged", l.head().Seq, head.Seq)
	}
	end, err := l.walk(context.Background(), tip{Seq: head.Seq, Hash: head.Hash}, func(b block, at tip) error {
		for seq, record := range b.all {
			d, err := decodeRecord(seq, head.Realm, record)
			if err != nil {
				return err
			}
			o := outcomeOf(&d, gate.Change{})
			advance(&head, o.at, o.contract)
		}
		s.projector.feed(fedBlock{first: b.first, at: at})
		return nil
	})
	if err != nil {
		return err
	}
	head.Seq, head.Hash = end.Seq, end.Hash
	s.durable.Store(&head)
	if err := s.begin(s.held.epoch + 1); err != nil {
		return err
	}
	s.writer.resume(l)
	s.watchers.wake(head.Seq)
	return nil
}

// catchUp folds the ledger into a projection that has missed some of it.
func (s *Store) catchUp(f *folder, last uint64) error {
	return f.follow(context.Background(), s.ledger.Load(), last, nil)
}

// reproject opens the projection again after a fault, or builds it anew, up to
// what is known to be on disk. Readers wait meanwhile.
func (s *Store) reproject(rows *projection, fault error) (f *folder, err error) {
	if !errors.Is(fault, errStale) {
		fault = nil // a look at the file shows whether it is as good as before
	}
	err = rows.replace(func() (*boltFile, error) {
		var wrong error
		f, wrong, err = openFolder(context.Background(), s.files.dir, s.ledger.Load(), s.durable.Load().Seq, fault)
		s.rebuilt(wrong)
		if err != nil {
			return nil, err
		}
		rows.flushed.Store(f.at.Seq)
		return f.rows.file, nil
	})
	if err != nil {
		return nil, err
	}
	f.rows, f.held.rows = rows, rows
	return f, nil
}

// rebuilt keeps why the projection had to be built anew, if it was damaged: a
// disk that does this is worth knowing of.
func (s *Store) rebuilt(wrong error) {
	if errors.Is(wrong, gate.ErrDamaged) || errors.Is(wrong, ErrForeign) {
		s.spoiled.Store(&wrong)
	}
}
