package runstore

import (
	"runtime"
	"sync"

	"tollgate/gate"
)

// pending is what one call of Commit hands to the writer: records that stand
// in one block or not at all.
type pending struct {
	records  [][]byte        // 1 to maxBlock of 1 to maxRecord bytes
	written  []gate.Decision // what the records hold; their hashes come with the answer
	outcomes []outcome       // what each of them changed
	done     func(error)     // called once, by the writer; it does not block
}

// writer is the group commit: one goroutine that writes what waits as one
// block. There is no timer; while one commit is on its way to the disk, the
// next one gathers.
//
// An error poisons the writer: until resume nothing is taken in, and what
// waited gets the error, since it was numbered after records that the ledger
// lacks.
type writer struct {
	committed func(group []*pending, hashes []gate.Digest, at tip) // after the commit, before the answers
	failed    func(err error)                                      // after the writer was poisoned, before the answers

	wake    chan struct{} // holds a token when the queue is not empty, or closing
	stopped chan struct{}

	mu      sync.Mutex
	ledger  *ledger // used by run alone between resume and a fault
	queue   []*pending
	fault   error
	closing bool
}

func startWriter(l *ledger, committed func([]*pending, []gate.Digest, tip), failed func(error)) *writer {
	w := &writer{
		committed: committed, failed: failed, ledger: l,
		wake: make(chan struct{}, 1), stopped: make(chan struct{}),
	}
	go w.run()
	return w
}

// enqueue puts p behind everything that was enqueued before it. The order of
// the calls is that of the records in the ledger.
func (w *writer) enqueue(p *pending) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.fault != nil:
		return w.fault
	case w.closing:
		return ErrClosed
	}
	w.queue = append(w.queue, p)
	w.signal()
	return nil
}

func (w *writer) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// close commits what is enqueued and ends the goroutine.
func (w *writer) close() {
	w.mu.Lock()
	w.closing = true
	w.signal()
	w.mu.Unlock()
	<-w.stopped
}

// resume lets a poisoned writer go on, with the ledger that was opened again.
func (w *writer) resume(l *ledger) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ledger, w.fault = l, nil
}

// poisoned returns the error that the writer stopped at, nil for none.
func (w *writer) poisoned() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.fault
}

func (w *writer) run() {
	defer close(w.stopped)
	for range w.wake {
		for {
			group, done := w.gather()
			if done {
				return
			}
			if len(group) == 0 {
				break
			}
			w.write(group)
		}
	}
}

// gather takes what waits, at most maxBlock records, and looks again until a
// yield brings nothing new: callers that were just answered come back within
// it, and share the next commit.
func (w *writer) gather() (group []*pending, done bool) {
	room := maxBlock
	for {
		took := w.take(&group, &room)
		if took == 0 {
			break
		}
		runtime.Gosched()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return group, w.closing && len(group) == 0 && len(w.queue) == 0
}

// take moves from the queue to group what there is room for.
func (w *writer) take(group *[]*pending, room *int) (took int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for took < len(w.queue) && len(w.queue[took].records) <= *room {
		*room -= len(w.queue[took].records)
		took++
	}
	*group = append(*group, w.queue[:took]...)
	w.queue = append(w.queue[:0], w.queue[took:]...)
	return took
}

// write commits a group and answers it.
func (w *writer) write(group []*pending) {
	var records [][]byte
	for _, p := range group {
		records = append(records, p.records...)
	}
	var err error
	if len(records) > 0 {
		err = w.ledger.append(records)
	}
	if err == nil {
		w.committed(group, w.ledger.hashes, w.ledger.head())
	} else {
		w.mu.Lock()
		w.fault = err
		group = append(group, w.queue...)
		w.queue = nil
		w.mu.Unlock()
		w.failed(err)
	}
	for _, p := range group {
		p.done(err)
	}
}
