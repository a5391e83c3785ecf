package gate

import (
	"context"
	"time"
)

// Store keeps the ledger and the live state. It is compare-and-swap with two
// methods; an engine behind it may be a file or a cluster. One that can tell
// more is an Accepter beside it.
//
// Load copies the aggregates that the wants name. What does not exist is left
// out, without an error.
//
// Commit writes the chain, all of it or nothing, as if each transition were
// committed after the one before it. It compares every Read of each transition
// with the state (ErrConflict: nothing was written), gives each decision its
// Seq and Prev, folds it (Fold), and returns the decisions, complete, once
// they are durable, in the order of the chain. A transition that repeats is
// not written; its decision comes back as it is. A zero Transition is refused.
// After ErrUnknownCommit only a new Load can tell what is in the ledger.
// ErrStoreFull wrote nothing.
//
// Load sees everything that Commit has accepted, also what is not durable yet;
// since answers leave Commit in order, nobody learns of it before it is.
//
// Both are safe for concurrent use.
type Store interface {
	Load(ctx context.Context, wants ...Want) (State, error)
	Commit(ctx context.Context, chain ...Transition) ([]Decision, error)
}

// Head is where a ledger stands.
type Head struct {
	Realm    string    // the store's id
	Seq      uint64    // of the newest decision; 0 for an empty ledger
	At       time.Time // the highest time in the ledger (R-B10); zero for an empty one
	Contract Digest    // of the newest adopted contract; zero for none
	Hash     Digest    // of the newest record
}

// Engine is a Store with what a Door and the screens need beside it. memstore
// and runstore are engines; storetest is what both pass.
type Engine interface {
	Store
	Reader

	// Head says where the ledger stands.
	Head(ctx context.Context) (Head, error)

	// Due returns operations whose Due is at or before now, at most limit of
	// them, earliest first, and the earliest Due after those (zero for none).
	Due(ctx context.Context, now time.Time, limit int) (due []Ref, next time.Time, err error)
}

// Accepter is a Store that says when it has accepted a chain, which is long
// before the disk has it. A Door that knows so much decides what comes next
// meanwhile, and needs no goroutine to wait for each chain. runstore is one;
// storetest holds it to this.
type Accepter interface {
	// Accept is Commit up to where Load sees the chain, of which it keeps
	// nothing. An error is Commit's: nothing was accepted, and answer is not
	// called. After nil, answer is called exactly once with what Commit would
	// return, perhaps before Accept has; it must not block.
	Accept(ctx context.Context, answer func([]Decision, error), chain ...Transition) error
}
