package runstore

import (
	"context"
	"sync"
)

// watchers are told the newest seq. A slow one is told less often and holds
// nobody up. The zero value has none.
type watchers struct {
	mu     sync.Mutex
	newest uint64
	all    map[chan uint64]struct{}
	closed bool
}

// add returns a channel that holds the newest seq whenever it has grown since
// the last receive. It is closed when ctx ends or the store is closed.
func (w *watchers) add(ctx context.Context, newest uint64) <-chan uint64 {
	ch := make(chan uint64, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		close(ch)
		return ch
	}
	if w.all == nil {
		w.all = map[chan uint64]struct{}{}
	}
	w.all[ch] = struct{}{}
	if newest = max(newest, w.newest); newest > 0 {
		ch <- newest
	}
	context.AfterFunc(ctx, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if _, ok := w.all[ch]; ok {
			delete(w.all, ch)
			close(ch)
		}
	})
	return ch
}

// wake puts the newest seq before every watcher.
func (w *watchers) wake(seq uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.newest = seq
	for ch := range w.all {
		select {
		case <-ch:
		default:
		}
		ch <- seq
	}
}

func (w *watchers) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for ch := range w.all {
		close(ch)
	}
	clear(w.all)
}
