package torture

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"tollgate/api"
	"tollgate/gate"
	"tollgate/runstore"
	"tollgate/runstore/storetest"
)

const (
	clients   = 32
	perStore  = 20 // cycles before a fresh store, so that a verification stays short
	killAfter = 20 * time.Millisecond
	killUpTo  = 200 * time.Millisecond
)

// answer is what a client was told.
type answer struct {
	act     gate.Act
	run     gate.RunID
	op      gate.OpID
	ordinal int64
	verdict gate.Verdict
}

// R-L3: no answer that a client has got is missing after the owner was killed,
// no permit is without its charge, and the store follows from its ledger to
// the last row (I1, I2, I3, I5).
func TestKill(t *testing.T) {
	var answers, decided int
	var dir string
	for cycle := range *cycles {
		if cycle%perStore == 0 {
			dir = newStore(t)
		}
		before := verify(t, dir)
		told := runAndKill(t, honest, dir, cycle)
		after := verify(t, dir)
		if lost := missing(t, dir, before.Seq, told); len(lost) > 0 {
			t.Fatalf("cycle %d: %d of %d answers are not in the ledger: %v", cycle, len(lost), len(told), lost[0])
		}
		answers += len(told)
		decided += int(after.Seq - before.Seq)
	}
	t.Logf("%d kills, %d answers, none missing of %d decisions", *cycles, answers, decided)
	if answers == 0 {
		t.Error("no client got an answer before its kill")
	}
}

// TestKill can fail: an owner that answers before the commit is caught.
func TestKillCatchesEarlyAnswers(t *testing.T) {
	for cycle := range 100 { // the first few are enough, but it is a matter of chance
		dir := newStore(t)
		before := verify(t, dir)
		told := runAndKill(t, early, dir, cycle)
		verify(t, dir)
		if lost := missing(t, dir, before.Seq, told); len(lost) > 0 {
			t.Logf("caught in cycle %d: %d of %d answers are not in the ledger", cycle+1, len(lost), len(told))
			return
		}
	}
	t.Error("100 kills of an owner that answers before the commit, and nothing is missing")
}

func newStore(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	if err := runstore.Init(dir, storetest.Realm); err != nil {
		t.Fatal(err)
	}
	return dir
}

// verify opens the store, verifies all of it and closes it.
func verify(t *testing.T, dir string) runstore.Verification {
	t.Helper()
	s, err := runstore.Open(dir, runstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	v, err := s.Verify(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range v.Findings {
		t.Error(f)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if t.Failed() {
		t.FailNow()
	}
	return v
}

// runAndKill lets an owner serve the store to clients, kills it a while after
// the first answer and returns what they were told.
func runAndKill(t *testing.T, how, dir string, cycle int) (told []answer) {
	t.Helper()
	socket := filepath.Join(filepath.Dir(dir), "s")
	owner := exec.CommandContext(t.Context(), os.Args[0], dir, socket)
	owner.Env = append(os.Environ(), behaves+"="+how)
	var stderr bytes.Buffer
	owner.Stderr = &stderr
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- owner.Wait() }()
	for !api.Answers(t.Context(), socket) {
		select {
		case err := <-ended:
			t.Fatalf("the owner ended by itself: %v, %s", err, stderr.String())
		case <-time.After(2 * time.Millisecond):
		}
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	answered := make(chan struct{})
	first := sync.OnceFunc(func() { close(answered) })
	for n := range clients {
		wg.Go(func() {
			got := call(t.Context(), socket, cycle, n, first)
			mu.Lock()
			defer mu.Unlock()
			told = append(told, got...)
		})
	}
	select {
	case <-answered:
	case err := <-ended:
		t.Fatalf("the owner ended by itself: %v, %s", err, stderr.String())
	}
	time.Sleep(killAfter + rand.N(killUpTo-killAfter))
	if err := owner.Process.Kill(); err != nil {
		t.Fatalf("the owner ended by itself: %v, %s", err, stderr.String())
	}
	wg.Wait()
	<-ended //nolint:errcheck // it was killed
	if stderr.Len() > 0 {
		t.Fatalf("the owner said: %s", stderr.String())
	}
	return told
}

// call is one client: it works on a run of its own or, every second one, on
// one that it shares with the others, until the owner does not answer. It says
// when it was answered.
func call(ctx context.Context, socket string, cycle, n int, answered func()) (told []answer) {
	c := api.NewClient(socket)
	defer c.Close() //nolint:errcheck // its owner is dead
	attempts, effects, deadline := int64(200), int64(100), time.Hour
	note := func(act gate.Act, row gate.DecisionRow) {
		answered()
		told = append(told, answer{act, row.Run, row.Op, row.Ordinal, row.Verdict})
	}
	for round := 0; ; round++ {
		run := gate.RunID(fmt.Sprintf("c%d-%d-%d", cycle, n, round))
		if n%2 == 0 {
			run = gate.RunID(fmt.Sprintf("c%d-shared-%d", cycle, round))
		}
		_, err := c.Start(ctx, gate.Start{Run: run, Limits: gate.Limits{Attempts: &attempts, SideEffects: &effects, Deadline: &deadline}})
		if err != nil {
			return told
		}
		for i := range 20 {
			op := gate.OpID(fmt.Sprintf("op%d-%d", n, i))
			tool := []string{"search", "put", "pay", "charge", "peek"}[i%5]
			row, err := c.Ask(ctx, gate.Ask{Run: run, ID: fmt.Sprintf("a%d-%d", n, i), Op: op, Tool: tool, Input: []byte("{}")})
			if err != nil {
				return told
			}
			note(gate.ActAsk, row)
			if row.Permit == nil {
				continue
			}
			report := gate.Report{Run: run, Op: op, Ordinal: row.Permit.Ordinal, OK: i%3 > 0}
			if !report.OK {
				report.Failure.Code = "timeout"
			}
			if row, err = c.Report(ctx, report); err != nil {
				return told
			}
			note(gate.ActReport, row)
		}
	}
}

// missing returns the answers that the ledger does not hold after seq from.
func missing(t *testing.T, dir string, from uint64, told []answer) (lost []answer) {
	t.Helper()
	s, err := runstore.Open(dir, runstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	held := map[answer]int{}
	for q := (gate.LedgerQuery{From: from + 1}); ; {
		page, err := s.Ledger(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Rows {
			held[answer{r.Act, r.Run, r.Op, r.Ordinal, r.Verdict}]++
		}
		if len(page.Rows) == 0 {
			break
		}
		q.From = page.Next
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, a := range told {
		if held[a]--; held[a] < 0 {
			lost = append(lost, a)
		}
	}
	return lost
}
