package runstore

import (
	"errors"
	"fmt"
	"strconv"

	"tollgate/gate"
)

// Errors of a store besides [gate.ErrDamaged], which is returned for a
// ledger that is empty, truncated, changed or behind its checkpoint. All of
// them leave the store as it was.
var (
	// ErrNoStore: there is no store at the path. Init makes one.
	ErrNoStore = errors.New("no store")

	// ErrExists: Init found a store, or something else, where it was to make
	// a store.
	ErrExists = errors.New("not an empty directory")

	// ErrForeign: the ledger file is not one of tollgate's.
	ErrForeign = errors.New("not a tollgate ledger")

	// ErrSchema: another version of the program wrote the store.
	ErrSchema = errors.New("schema of another version")

	// ErrUnsafe: others than the owner could write to the store or put
	// another one in its place.
	ErrUnsafe = errors.New("not safe to use")

	// ErrLocked: another process owns the store. A LockedError says which.
	ErrLocked = errors.New("in use")

	// ErrNoContract: the ledger holds no contract of the digest.
	ErrNoContract = errors.New("no such contract")

	// ErrClosed: the store has been closed.
	ErrClosed = errors.New("the store is closed")
)

// LockedError is the ErrLocked of a store whose owner lives.
type LockedError struct {
	Dir string
	PID int // of the owner; 0: it has not written its process id yet
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("store %q is in use by %s", e.Dir, processOf(e.PID))
}

func processOf(pid int) string {
	if pid > 0 {
		return "process " + strconv.Itoa(pid)
	}
	return "another process"
}

// Is makes a LockedError an ErrLocked.
func (e *LockedError) Is(target error) bool { return target == ErrLocked }

// damaged is a gate.ErrDamaged that says where.
func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{gate.ErrDamaged}, args...)...)
}
