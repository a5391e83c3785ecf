package gate

import (
	"errors"
	"fmt"
)

// InputError says what was wrong with a command, where, and what was expected.
// Nothing has been charged or written.
type InputError struct {
	Field string // such as "limits.attempts"
	Want  string
	Got   string
}

func (e *InputError) Error() string {
	return fmt.Sprintf("%s: want %s, got %s", e.Field, e.Want, e.Got)
}

// Errors of a command that is no decision: nothing is charged, nothing is
// written to the ledger.
var (
	ErrNoRun       = errors.New("no such run")
	ErrNoOperation = errors.New("no such operation")
	ErrNoAttempt   = errors.New("no such attempt")
	ErrNoItem      = errors.New("no such item")
	ErrNoDecision  = errors.New("no such decision")
	ErrUnknownTool = errors.New("the catalog has no such tool")
	ErrNoPolicy    = errors.New("the contract has no such policy")

	// ErrReused: the same id with another body: an ask id (R-A8), a request
	// id (R-P6), a run id with other limits (R-B2), a report of an attempt
	// that has been reported otherwise (R-C8).
	ErrReused = errors.New("used before with another body")
)

// Errors of a store.
var (
	// ErrConflict: an aggregate that the transition read has moved. Nothing
	// was written; the Door loads and decides again.
	ErrConflict = errors.New("the state has moved since it was read")

	// ErrStoreFull: no room; nothing was written. Reading goes on (R-L3).
	ErrStoreFull = errors.New("the store is full")

	// ErrUnknownCommit: the store cannot say whether the commit happened.
	// Only the ask id can tell, after the store has been opened again.
	ErrUnknownCommit = errors.New("the outcome of the commit is not known")

	// ErrDamaged: a stored record does not follow from what came before it.
	ErrDamaged = errors.New("the store is damaged")
)

// About says which one an error is about, by what it is and its id.
func About[ID ~string](err error, what string, id ID) error {
	return fmt.Errorf("%s %q: %w", what, string(id), err)
}
