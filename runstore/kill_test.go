package runstore

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"tollgate/gate"
)

// The child of the kill test is this test binary again.
const childEnv = "TOLLGATE_KILL_CHILD"

func TestMain(m *testing.M) {
	if mode := os.Getenv(childEnv); mode != "" {
		killChild(mode, os.Args[len(os.Args)-1])
		return
	}
	os.Exit(m.Run())
}

// killChild appends records from 32 goroutines to the ledger in dir, and
// writes the number of each record to standard output when it has been
// acknowledged; in mode "early" before that.
func killChild(mode, dir string) {
	f, err := openFiles(dir, 0)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if mode == "hold" { // and do nothing
		os.Stdout.Write([]byte{1}) //nolint:errcheck // the parent reads it
		for {
			time.Sleep(time.Hour)
		}
	}
	w := startWriter(f.ledger, func([]*pending, []gate.Digest, tip) {}, func(error) {})
	var mu sync.Mutex
	next := f.ledger.head().Seq
	acknowledge := func(seq uint64) {
		os.Stdout.Write(binary.BigEndian.AppendUint64(nil, seq)) //nolint:errcheck // the parent reads to the end
	}
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			for {
				mu.Lock()
				next++
				seq := next
				p, answer := newPending(testRecord(seq))
				err := w.enqueue(p)
				mu.Unlock()
				if mode == "early" {
					acknowledge(seq)
				}
				if err == nil {
					err = <-answer
				}
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				if mode != "early" {
					acknowledge(seq)
				}
			}
		})
	}
	wg.Wait()
}

// killOnce runs a child on dir, kills it a while after its first answer and
// returns the highest record that it acknowledged and how many those were.
func killOnce(t *testing.T, mode, dir string, after time.Duration) (highest uint64, n int) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0], dir)
	child.Env = append(os.Environ(), childEnv+"="+mode)
	var stderr bytes.Buffer
	child.Stderr = &stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(out)
	for {
		var b [8]byte
		if _, err := io.ReadFull(r, b[:]); err != nil {
			break
		}
		if n == 0 {
			timer := time.AfterFunc(after, func() { child.Process.Kill() }) //nolint:errcheck // it may have ended
			defer timer.Stop()
		}
		highest = max(highest, binary.BigEndian.Uint64(b[:]))
		n++
	}
	if err := child.Wait(); err == nil || stderr.Len() > 0 {
		t.Fatalf("the child ended by itself: %v, %s", err, stderr.String())
	}
	return highest, n
}

// R-L3: no record that was acknowledged is missing after the owner was killed,
// and the ledger is whole.
func TestKill(t *testing.T) {
	t.Parallel()
	cycles := 10
	if testing.Short() {
		cycles = 2
	}
	dir := newStoreDir(t, 10)
	acknowledged := 0
	var head tip
	for range cycles {
		highest, n := killOnce(t, "late", dir, 20*time.Millisecond+rand.N(180*time.Millisecond))
		acknowledged += n
		var err error
		if head, err = reopen(t, dir); err != nil {
			t.Fatal(err)
		}
		if head.Seq < highest {
			t.Fatalf("the ledger ends at seq %d, but %d was acknowledged", head.Seq, highest)
		}
	}
	if err := checkPages(t.Context(), filepath.Join(dir, ledgerName), true, nil); err != nil {
		t.Error(err)
	}
	f, err := openFiles(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	for seq := uint64(1); seq <= head.Seq; seq++ {
		if r, err := f.ledger.record(seq); err != nil || !bytes.Equal(r, testRecord(seq)) {
			t.Fatalf("record %d = %q, %v", seq, r, err)
		}
	}
	if err := f.close(); err != nil {
		t.Error(err)
	}
	t.Logf("%d kills, %d records acknowledged, none missing of %d", cycles, acknowledged, head.Seq)
	if acknowledged == 0 {
		t.Error("nothing was acknowledged before the kills")
	}
}

// The check of TestKill can fail: a writer that acknowledges first is caught.
func TestKillCatchesEarlyAcknowledgement(t *testing.T) {
	t.Parallel()
	const most = 200 // the first few are enough, but it is a matter of chance
	for range most {
		dir := newStoreDir(t, 10)
		highest, _ := killOnce(t, "early", dir, 50*time.Millisecond+rand.N(100*time.Millisecond))
		head, err := reopen(t, dir)
		if err != nil {
			t.Fatal(err)
		}
		if head.Seq < highest {
			return
		}
	}
	t.Errorf("%d kills of a writer that acknowledges before the commit, and nothing missing", most)
}
