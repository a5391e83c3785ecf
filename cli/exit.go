package cli

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"syscall"

	"tollgate/api"
	"tollgate/escalation"
	"tollgate/gate"
	"tollgate/runstore"
	"tollgate/strictyaml"
)

// The exit codes. They are part of what scripts rely on.
const (
	exitDone       = 0
	exitUnexpected = 1
	exitUsage      = 2
	exitNoStore    = 3
	exitDamaged    = 4
	exitUnverified = 5
	exitStopped    = 6
	exitMoved      = 7
)

// fault is an error with its exit code, and with a hint where one helps. One
// whose err is nil says nothing: the answer has been printed already.
type fault struct {
	code  int
	err   error
	hint  string
	usage string // the use line of the command that was called wrongly
	shows string // lines that show where it is wrong, ready for a terminal
}

func (f *fault) Error() string {
	if f.err == nil {
		return ""
	}
	return f.err.Error()
}

func (f *fault) Unwrap() error { return f.err }

// silent is the exit code alone, for an answer that has been printed.
func silent(code int) error { return &fault{code: code} }

func isSilent(err error) bool {
	var f *fault
	return errors.As(err, &f) && f.err == nil
}

func usageOf(err error) string {
	var f *fault
	if errors.As(err, &f) {
		return f.usage
	}
	return ""
}

func showsOf(err error) string {
	var f *fault
	if errors.As(err, &f) {
		return f.shows
	}
	return ""
}

// exitOf returns the exit code of an error and a hint, empty for none. What the
// gate itself says about it over the socket counts most.
func exitOf(err error) (code int, hint string) {
	code, hint = exitOfCause(err)
	var p *api.Problem
	if !errors.As(err, &p) {
		return code, hint
	}
	switch {
	case code != exitUnexpected:
	case p.Status/100 == 4: // the request's fault
		code = exitUsage
	case p.Status == http.StatusServiceUnavailable:
		code = exitNoStore
	}
	// Our own hints are commands, the gate's are calls; but it knows its catalog.
	if hint == "" || errors.Is(err, gate.ErrUnknownTool) {
		hint = p.Hint
	}
	return code, hint
}

func exitOfCause(err error) (code int, hint string) {
	var (
		own   *fault
		input *gate.InputError
		file  *strictyaml.Error
	)
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE):
		return exitDone, "" // who reads no further has what it wants
	case errors.As(err, &own):
		return own.code, own.hint
	case errors.As(err, &input), errors.As(err, &file):
		return exitUsage, ""
	case errors.Is(err, gate.ErrUnknownTool):
		return exitUsage, "the contract file lists the tools: name it with --contract"
	case errors.Is(err, gate.ErrNoRun):
		return exitUsage, "tollgate runs list shows the runs"
	case errors.Is(err, gate.ErrNoItem):
		return exitUsage, "tollgate queue list shows the items"
	case errors.Is(err, gate.ErrNoOperation), errors.Is(err, gate.ErrNoAttempt):
		return exitUsage, "tollgate runs show RUN lists its operations and attempts"
	case errors.Is(err, gate.ErrNoDecision):
		return exitUsage, "tollgate ledger tail prints the newest"
	case errors.Is(err, gate.ErrNoPolicy), errors.Is(err, gate.ErrReused):
		return exitUsage, ""
	case errors.Is(err, gate.ErrDamaged):
		return exitDamaged, "nothing was changed; a copy that verifies can take its place"
	case noRoom(err):
		return exitNoStore, "make room on that file system; verify --full, and an open that builds the projection anew, need as much as projection.db has once more"
	case errors.Is(err, gate.ErrStoreFull): // of a gate that runs
		return exitNoStore, "reading goes on; the gate permits again when there is room"
	case errors.Is(err, runstore.ErrNoStore):
		return exitNoStore, "tollgate init makes a store"
	case errors.Is(err, runstore.ErrLocked):
		return exitNoStore, "its owner serves a socket: name it with --socket, or end the owner"
	case errors.Is(err, runstore.ErrExists):
		return exitNoStore, "name a directory that does not exist yet, or an empty one"
	case errors.Is(err, api.ErrPathTooLong):
		return exitUsage, "name a shorter path with --socket"
	case errors.Is(err, api.ErrInUse):
		return exitNoStore, "another gate serves there: name another socket with --socket"
	case errors.Is(err, api.ErrNotOurs), errors.Is(err, api.ErrOpenDirectory):
		return exitNoStore, "name another socket with --socket"
	case errors.Is(err, runstore.ErrForeign):
		return exitNoStore, "name another store with --store; tollgate init makes one"
	case errors.Is(err, runstore.ErrUnsafe):
		return exitNoStore, "a store and what is in it belong to its user alone"
	case errors.Is(err, api.ErrDenied):
		return exitNoStore, "a gate's socket is open to the user who runs the gate: call as that user"
	case errors.Is(err, api.ErrUnreachable), errors.Is(err, api.ErrClosing), errors.Is(err, api.ErrForbidden), errors.Is(err, escalation.ErrReadOnly):
		return exitNoStore, ""
	case errors.Is(err, runstore.ErrSchema), errors.Is(err, runstore.ErrClosed), errors.Is(err, fs.ErrPermission):
		return exitNoStore, ""
	}
	return exitUnexpected, ""
}

// noRoom reports whether a file of the store, and not standard output, has met
// a full disk or a full quota.
func noRoom(err error) bool {
	var file *fs.PathError
	if errors.As(err, &file) && file.Path == os.Stdout.Name() {
		return false
	}
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// exitOfVerdict returns nil for an answer that settles what was asked, and the
// silent exit code of one that does not.
func exitOfVerdict(v gate.Verdict) error {
	switch {
	case v == gate.Stale:
		return silent(exitMoved)
	case v.IsStop():
		return silent(exitStopped)
	}
	return nil
}
