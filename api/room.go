package api

import (
	"log/slog"
	"sync"
	"time"
)

// fullFor is how long a refusal for want of room speaks against the store,
// where nothing has been committed since. Room comes back without a word, and
// only the next commit shows it.
const fullFor = 10 * time.Second

// room is whether the store has had room for what was decided. Of a disk that
// is full under load the log says that it has become so and that it no longer
// is, and not every call that was refused in between.
//
// Safe for concurrent use.
type room struct {
	log *slog.Logger

	mu      sync.Mutex
	full    bool
	seq     uint64    // of the newest decision when it became full
	refused int       // calls since then
	last    time.Time // when the newest of them was
}

// refuse takes note of a call that the store had no room for. newest returns
// the seq of the newest decision.
func (r *room) refuse(now time.Time, newest func() uint64, detail string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.full {
		r.full, r.seq, r.refused = true, newest(), 0
		r.log.Error("the store is full: what would be written is refused", "error", detail)
	}
	r.refused++
	r.last = now
}

// committed takes note of a decision that is in the ledger. One from before,
// which a repeated call is answered with, shows no room.
func (r *room) committed(seq uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.full && seq > r.seq {
		r.full = false
		r.log.Info("the store has room again", "refused", r.refused)
	}
}

// lacking reports whether the store is full, as far as is known.
func (r *room) lacking(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.full && now.Sub(r.last) < fullFor
}
