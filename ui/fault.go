package ui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"strings"
	"syscall"
	"time"

	"tollgate/gate"
)

var errClosed = errors.New("the connection to the gate was closed")

// errLongFilter is about a read that did not end in time while the gate answered
// all others: a filter has a large store to look through.
var errLongFilter = errors.New("the filter")

// fault says in one line for people what an error means, when within was how
// long the gate had. What the gate itself says stands as it is.
func fault(err error, within time.Duration) string {
	var (
		syntax *json.SyntaxError
		shape  *json.UnmarshalTypeError
	)
	switch {
	case errors.Is(err, errLongFilter):
		return fmt.Sprintf("the filter found no end within %d s: since: or state: leaves less to look at", int(within.Seconds()))
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("the gate did not answer within %d s", int(within.Seconds()))
	case errors.Is(err, context.Canceled):
		return "given up, since the console ends"
	case errors.Is(err, gate.ErrUnknownCommit):
		return "the store cannot say whether this was written; the same request sent again is still one action"
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, fs.ErrNotExist):
		return "no gate listens on the socket"
	case errors.Is(err, fs.ErrPermission):
		return "this user may not open the socket"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed),
		errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "the gate closed the connection before it had answered"
	case errors.As(err, &syntax), errors.As(err, &shape):
		return "what answers is no gate of this version"
	}
	return strings.ReplaceAll(err.Error(), "\n", " ")
}
