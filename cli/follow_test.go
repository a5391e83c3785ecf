package cli

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"

	"tollgate/api"
	"tollgate/gate"
	"tollgate/runstore"
)

// What comes later is printed when it comes, once, and an interrupt ends it
// with exit code 0.
func TestLedgerFollow(t *testing.T) {
	socket := running(t, "")
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	read, write := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		a := &app{in: strings.NewReader(""), out: write, errs: write}
		root := a.root()
		root.SetArgs([]string{"ledger", "tail", "--follow", "--socket", socket})
		ended <- complain(write, root.ExecuteContext(ctx))
	}()

	lines := bufio.NewScanner(read)
	next := func() string {
		if !lines.Scan() {
			t.Fatal("the output has ended")
		}
		return lines.Text()
	}
	if got := next(); !strings.HasPrefix(got, "1\t") || !strings.Contains(got, "\tadopt\t") {
		t.Errorf("line = %q, want the adoption of the contract", got)
	}
	client := api.NewClient(socket)
	one, minute := int64(1), gate.MaxDeadline
	for i, run := range []gate.RunID{"r1", "r2"} {
		if _, err := client.Start(t.Context(), gate.Start{Run: run, Limits: gate.Limits{Attempts: &one, SideEffects: &one, Deadline: &minute}}); err != nil {
			t.Fatal(err)
		}
		if got := next(); !strings.HasPrefix(got, string(rune('2'+i))+"\t") || !strings.Contains(got, "\t"+string(run)+"\t") {
			t.Errorf("line = %q, want the start of %s", got, run)
		}
	}
	interrupt()
	if code := <-ended; code != exitDone {
		t.Errorf("exit code = %d, want %d", code, exitDone)
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
}

// Without a gate nothing more will come.
func TestLedgerFollowNeedsAGate(t *testing.T) {
	away(t)
	if err := runstore.Init("store", ""); err != nil {
		t.Fatal(err)
	}
	code, _, errs := tried(t, "ledger", "tail", "--follow", "--store", "store")
	if code != exitNoStore || !strings.HasPrefix(errs, "tollgate: --follow: no gate is running") {
		t.Errorf("exit code = %d, want %d: %s", code, exitNoStore, errs)
	}
}
