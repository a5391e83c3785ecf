package ui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"tollgate/gate"
)

// What an error means, in words; what the gate says itself stands as it is.
func TestFault(t *testing.T) {
	dial := func(err syscall.Errno) error {
		return fmt.Errorf("socket /run/gate.sock: the gate does not answer: %w", &net.OpError{
			Op: "dial", Net: "unix", Err: &os.SyscallError{Syscall: "connect", Err: err},
		})
	}
	var shape struct{ N int }
	for _, r := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("counts: %w", context.DeadlineExceeded), "the gate did not answer within 5 s"},
		{ofFilter(gate.FilterBy(gate.FilterRuns, [2]string{"key", "k"}), fmt.Errorf("runs: %w", context.DeadlineExceeded)), "the filter found no end within 5 s: since: or state: leaves less to look at"},
		{ofFilter(gate.Filter{}, fmt.Errorf("runs: %w", context.DeadlineExceeded)), "the gate did not answer within 5 s"},
		{context.Canceled, "given up, since the console ends"},
		{dial(syscall.ECONNREFUSED), "no gate listens on the socket"},
		{dial(syscall.ENOENT), "no gate listens on the socket"},
		{dial(syscall.EACCES), "this user may not open the socket"},
		{dial(syscall.EPIPE), "the gate closed the connection before it had answered"},
		{fmt.Errorf("answer: %w", io.ErrUnexpectedEOF), "the gate closed the connection before it had answered"},
		{fmt.Errorf("answer: %w", json.Unmarshal([]byte("<html>"), &shape)), "what answers is no gate of this version"},
		{fmt.Errorf("answer: %w", json.Unmarshal([]byte(`{"N":""}`), &shape)), "what answers is no gate of this version"},
		{fmt.Errorf("commit: %w", gate.ErrUnknownCommit), "the store cannot say whether this was written; the same request sent again is still one action"},
		{&gate.InputError{Field: "until", Want: "an instant", Got: "none"}, "until: want an instant, got none"},
		{errors.New("the store\nis full"), "the store is full"},
	} {
		if got := fault(r.err, readWithin); got != r.want {
			t.Errorf("%v: %q, want %q", r.err, got, r.want)
		}
	}
}

// An error that Go has words for reaches no screen in those words.
func TestFaultsOnTheScreen(t *testing.T) {
	h, _ := incident(t)
	slow := func() error { return context.DeadlineExceeded }
	check := func(where, want string) {
		t.Helper()
		h.wantRow(want)
		for _, word := range []string{"context", "deadline exceeded"} {
			h.wantNoRow(word)
		}
		if t.Failed() {
			t.Fatal(where)
		}
	}
	h.reader.fault = slow
	h.press("c")
	check("a mark", "claim charge-1: the gate did not answer within 30 s")
	h.press("enter")
	check("a review that is not read", "the gate did not answer within 5 s")
	h.press("esc")
	h.m.notice.Text = ""
	h.poke()
	check("a read", "the gate did not answer within 5 s - verbs off, reconnecting")
	h.reader.fault = nil
	h.look()
	h.press("enter")
	h.reader.fault = slow
	h.press("u")
	check("a review that is read again", "the gate did not answer within 5 s")
	h.reader.fault = nil
	h.press("u", "x")
	h.wait()
	h.write("no use")
	h.reader.fault = slow
	h.press("ctrl+s")
	check("a decision", "the gate did not answer within 30 s")

	h.reader.fault = nil
	h.m.feed.begin(h.m.now)
	h.tick(4 * time.Second)
	if got := h.m.feed.away(h.m.now); !strings.Contains(got, "the gate has not answered for 4 s") {
		t.Errorf("a read that hangs: %q", got)
	}
}
