package runstore

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"testing"

	"tollgate/gate"
)

// startTestWriter starts a writer whose callers number their own records.
func startTestWriter(l *ledger) *writer {
	return startWriter(l, func([]*pending, []gate.Digest, tip) {}, func(error) {})
}

// newPending returns what hands records to a writer, and where its answer
// comes.
func newPending(records ...[]byte) (*pending, <-chan error) {
	answer := make(chan error, 1)
	return &pending{records: records, done: func(err error) { answer <- err }}, answer
}

// commitOne hands the writer one record and waits for the answer.
func commitOne(w *writer, record []byte) error {
	p, answer := newPending(record)
	if err := w.enqueue(p); err != nil {
		return err
	}
	return <-answer
}

func TestWriterKeepsTheOrder(t *testing.T) {
	l := newLedger(t)
	w := startTestWriter(l)
	var mu sync.Mutex // numbers and enqueues in one step, as the store does
	var next uint64
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			for range 50 {
				mu.Lock()
				p, answer := newPending()
				for range 1 + next%3 {
					next++
					p.records = append(p.records, testRecord(next))
				}
				err := w.enqueue(p)
				mu.Unlock()
				if err == nil {
					err = <-answer
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	w.close()
	if err := w.enqueue(&pending{}); !errors.Is(err, ErrClosed) {
		t.Errorf("enqueue after close = %v, want %v", err, ErrClosed)
	}
	blocks := 0
	head, err := l.walk(t.Context(), tip{}, func(b block, _ tip) error {
		blocks++
		for seq := b.first; seq <= b.last(); seq++ {
			if !bytes.Equal(b.record(seq), testRecord(seq)) {
				return fmt.Errorf("record %d = %q", seq, b.record(seq))
			}
		}
		return nil
	})
	if err != nil || head.Seq != next {
		t.Errorf("walk = %v, %v, want seq %d", head, err, next)
	}
	t.Logf("%d calls in %d blocks", 32*50, blocks)
	if blocks >= 32*50 {
		t.Errorf("%d calls took %d blocks, want fewer", 32*50, blocks)
	}
}

// A group is never larger than a block.
func TestWriterBoundsAGroup(t *testing.T) {
	l := newLedger(t)
	w := startTestWriter(l)
	var all []<-chan error
	for range 10 {
		p, answer := newPending()
		for range 300 {
			p.records = append(p.records, []byte("r"))
		}
		all = append(all, answer)
		if err := w.enqueue(p); err != nil {
			t.Fatal(err)
		}
	}
	for _, answer := range all {
		if err := <-answer; err != nil {
			t.Error(err)
		}
	}
	w.close()
	if head, err := l.walk(t.Context(), tip{}, nil); err != nil || head.Seq != 3000 {
		t.Errorf("walk = %v, %v, want seq 3000", head, err)
	}
}

// After an error nothing is acknowledged, not even what would fit, until the
// ledger has been opened again.
func TestWriterIsPoisonedByAnError(t *testing.T) {
	l := newLedger(t)
	path := l.db.db.Path()
	var faults []error
	w := startWriter(l, func([]*pending, []gate.Digest, tip) {}, func(err error) { faults = append(faults, err) })
	if err := commitOne(w, []byte("first")); err != nil {
		t.Fatal(err)
	}
	if err := l.close(); err != nil { // the next transaction fails
		t.Fatal(err)
	}
	for range 3 {
		if err := commitOne(w, []byte("lost")); !errors.Is(err, gate.ErrUnknownCommit) {
			t.Errorf("commit = %v, want %v", err, gate.ErrUnknownCommit)
		}
	}
	if len(faults) != 1 {
		t.Errorf("%d faults told, want 1", len(faults))
	}
	again, err := openLedger(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { again.close() }) //nolint:errcheck // of a test's own file
	w.resume(again)
	if err := commitOne(w, []byte("second")); err != nil {
		t.Errorf("commit after resume = %v", err)
	}
	w.close()
	if r, err := again.record(2); err != nil || string(r) != "second" {
		t.Errorf("record 2 = %q, %v, want second", r, err)
	}
}

// Out of space, all that waited is told so, also what might have fitted, for
// it was numbered after records that the ledger lacks.
func TestWriterWithoutSpace(t *testing.T) {
	l := newLedger(t)
	path := l.db.db.Path()
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
	l, err := openLedger(path, 4<<20)
	if err != nil {
		t.Fatal(err)
	}
	l.db.db.AllocSize = 256 << 10   // how far the file grows at once; a small one is soon full
	t.Cleanup(func() { l.close() }) //nolint:errcheck // of a test's own file
	w := startTestWriter(l)
	big := bytes.Repeat([]byte("x"), 512<<10)
	acknowledged := 0
	for {
		if err = commitOne(w, big); err != nil {
			break
		}
		acknowledged++
	}
	if !errors.Is(err, gate.ErrStoreFull) {
		t.Fatalf("commit without room = %v, want %v", err, gate.ErrStoreFull)
	}
	if err := commitOne(w, []byte("small")); !errors.Is(err, gate.ErrStoreFull) {
		t.Errorf("commit before resume = %v, want %v", err, gate.ErrStoreFull)
	}
	w.resume(l)
	l.db.db.MaxSize = 0
	if err := commitOne(w, big); err != nil {
		t.Errorf("commit with room again = %v", err)
	}
	w.close()
	if head, err := l.walk(t.Context(), tip{}, nil); err != nil || head.Seq != uint64(acknowledged)+1 {
		t.Errorf("walk = %v, %v, want seq %d", head, err, acknowledged+1)
	}
}

// R-A8, I1: what repeats an answer that is not on disk yet is not told before
// that is.
func TestARepeatWaitsForTheDisk(t *testing.T) {
	s, story := begunStore(t, Options{})
	hold, err := s.ledger.Load().db.db.Begin(true) // the writer waits for this one
	if err != nil {
		t.Fatal(err)
	}
	var answers [2]chan error
	for i := range answers {
		answers[i] = make(chan error, 1)
		ask := askOf("r", "op", "{}")
		in := story.Inputs()
		want, err := ask.Wants(in.Contract)
		if err != nil {
			t.Fatal(err)
		}
		state, err := s.Load(t.Context(), want)
		if err != nil {
			t.Fatal(err)
		}
		tr, err := gate.Step(state, ask, in)
		if err != nil || tr.Repeats() != (i == 1) {
			t.Fatalf("ask %d repeats: %v, %v", i, tr.Repeats(), err)
		}
		if err := s.Accept(t.Context(), func(_ []gate.Decision, err error) { answers[i] <- err }, tr); err != nil {
			t.Fatal(err)
		}
		if len(answers[i]) > 0 {
			t.Errorf("ask %d was answered before the disk had it", i)
		}
	}
	if err := hold.Rollback(); err != nil {
		t.Fatal(err)
	}
	for i := range answers {
		if err := <-answers[i]; err != nil {
			t.Errorf("ask %d = %v", i, err)
		}
	}
}
