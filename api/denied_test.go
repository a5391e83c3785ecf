package api

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"syscall"
	"testing"
)

// A socket of another user is not one that nobody answers on.
func TestClientDenied(t *testing.T) {
	for _, row := range []struct {
		errno syscall.Errno
		want  error
	}{
		{syscall.EACCES, ErrDenied},
		{syscall.EPERM, ErrDenied},
		{syscall.ECONNREFUSED, ErrUnreachable},
		{syscall.ENOENT, ErrUnreachable},
	} {
		dial := func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Net: "unix", Err: os.NewSyscallError("connect", row.errno)}
		}
		c := &Client{http: &http.Client{Transport: &http.Transport{DialContext: dial}}, path: "gate.sock"}
		_, err := c.Health(t.Context())
		if got := errors.Is(err, row.want); !got || errors.Is(err, ErrDenied) == errors.Is(err, ErrUnreachable) {
			t.Errorf("%v: %v, want %v", row.errno, err, row.want)
		}
	}
}
