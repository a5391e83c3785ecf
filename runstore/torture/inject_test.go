package torture

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tollgate/gate"
	"tollgate/runstore"
	"tollgate/runstore/storetest"
)

// injected runs the owner with a fault at some of the system calls of a kind in
// each of its threads, as strace injects it: "fdatasync:error=EIO" at the call
// "7", or at the seventh and every later one, "7+". It returns what the owner
// wrote, whether the fault came to pass at all, and how the owner ended.
func injected(t *testing.T, how, fault, when string, args ...string) (stdout string, came bool, err error) {
	t.Helper()
	strace, lookErr := exec.LookPath("strace")
	if lookErr != nil {
		t.Skip("strace is not installed")
	}
	call, _, _ := strings.Cut(fault, ":")
	log := filepath.Join(t.TempDir(), "strace")
	owner := exec.CommandContext(t.Context(), strace, append([]string{
		"-f", "-qq", "-o", log, "-e", "trace=" + call,
		"-e", fmt.Sprintf("inject=%s:when=%s", fault, when), os.Args[0],
	}, args...)...)
	owner.Env = append(os.Environ(), behaves+"="+how)
	var out, stderr bytes.Buffer
	owner.Stdout, owner.Stderr = &out, &stderr
	err = owner.Run()
	if strings.Contains(stderr.String(), "goroutine ") {
		t.Fatalf("%s at call %s: the owner said: %s", fault, when, stderr.String())
	}
	if err != nil {
		err = fmt.Errorf("%w: %s", err, stderr.String())
	}
	traced, readErr := os.ReadFile(log)
	if readErr != nil {
		t.Fatal(readErr)
	}
	came = bytes.Contains(traced, []byte("(INJECTED)")) || bytes.Contains(traced, []byte("killed by SIGKILL"))
	return out.String(), came, err
}

// nth returns the calls at which faults are injected.
func nth(last int) (ns []int) {
	step := 11
	if *long {
		step = 1
	}
	for n := 2; n <= last; n += step {
		ns = append(ns, n)
	}
	return ns
}

// I1, I2: whichever write, sync or read fails, in whatever way, once or from then
// on, nothing that was answered is missing, and what was not is found out by its
// id. A disk that has been mounted read-only is one of those ways.
func TestErrorAtNthCall(t *testing.T) {
	last := 20
	if *long {
		last = 60
	}
	for _, fault := range []string{
		"fdatasync:error=EIO", "pwrite64:error=EIO", "pwrite64:error=ENOSPC", "fdatasync:error=ENOSPC", "ftruncate:error=ENOSPC",
		"pread64:error=EIO", "pwrite64:error=EROFS",
		"fdatasync:error=EIO+", "pwrite64:error=EIO+", "pwrite64:error=ENOSPC+", "pwrite64:error=EROFS+",
	} {
		t.Run(fault, func(t *testing.T) {
			fault, lasts := strings.CutSuffix(fault, "+")
			last := last
			if lasts { // an owner has to get as far as an answer before it begins
				last *= 2
			}
			answers, faults, refused := 0, 0, 0
			for _, n := range nth(last) {
				dir := newStore(t)
				when := fmt.Sprint(n)
				if lasts {
					when += "+"
				}
				out, came, err := injected(t, works, fault, when, dir)
				if came {
					faults++
				}
				if err != nil {
					refused++ // to open, or to go on: one line, and nothing is lost
				}
				v := verify(t, dir)
				told := parseAnswers(t, out)
				if lost := missing(t, dir, 0, told); len(lost) > 0 {
					t.Fatalf("call %d: %d of %d answers are not in the ledger of %d: %v", n, len(lost), len(told), v.Seq, lost[0])
				}
				answers += len(told)
			}
			t.Logf("%d faults, %d owners gave up, %d answers, none missing", faults, refused, answers)
			if answers == 0 && !strings.HasPrefix(fault, "pread64") { // which is what an open does, and nothing else
				t.Error("no answer was given")
			}
		})
	}
}

func parseAnswers(t *testing.T, out string) (told []answer) {
	t.Helper()
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), " ")
		if len(f) != 5 || f[2] == "" {
			continue // a start, which has no operation
		}
		a := answer{run: gate.RunID(f[1]), op: gate.OpID(f[2])}
		var ordinal int64
		if _, err := fmt.Sscan(f[3], &ordinal); err != nil {
			t.Fatalf("answer %q: %v", line, err)
		}
		a.ordinal = ordinal
		if err := errors.Join(a.act.UnmarshalText([]byte(f[0])), a.verdict.UnmarshalText([]byte(f[4]))); err != nil {
			t.Fatalf("answer %q: %v", line, err)
		}
		told = append(told, a)
	}
	return told
}

// An owner that is killed in the middle of any write, sync or change of a name
// leaves a store that is whole.
func TestDiesAtNthCall(t *testing.T) {
	for _, call := range []string{"pwrite64", "fdatasync", "ftruncate"} {
		t.Run(call, func(t *testing.T) {
			kills, answers := 0, 0
			for _, n := range nth(40) {
				dir := newStore(t)
				out, came, _ := injected(t, works, call+":signal=KILL", fmt.Sprint(n), dir)
				if came {
					kills++
				}
				verify(t, dir)
				told := parseAnswers(t, out)
				if lost := missing(t, dir, 0, told); len(lost) > 0 {
					t.Fatalf("call %d: %d of %d answers are not in the ledger: %v", n, len(lost), len(told), lost[0])
				}
				answers += len(told)
			}
			t.Logf("%d kills, %d answers, none missing", kills, answers)
		})
	}
}

// An Init that is killed leaves no store, or a whole one; and Init can be
// called again.
func TestInitDiesAtNthCall(t *testing.T) {
	for _, call := range []string{"openat", "pwrite64", "fdatasync", "fsync", "renameat", "mkdirat", "flock"} {
		t.Run(call, func(t *testing.T) {
			none, whole := 0, 0
			for n := 1; ; n++ {
				dir := filepath.Join(t.TempDir(), "store")
				_, came, err := injected(t, inits, call+":signal=KILL", fmt.Sprint(n), dir)
				if err == nil && !came {
					break
				}
				s, err := runstore.Open(dir, runstore.Options{})
				switch {
				case errors.Is(err, runstore.ErrNoStore):
					none++
					if err := runstore.Init(dir, storetest.Realm); err != nil {
						t.Fatalf("killed at %s %d, init again = %v", call, n, err)
					}
				case err != nil:
					t.Fatalf("killed at %s %d, open = %v", call, n, err)
				default:
					whole++
					if err := s.Close(); err != nil {
						t.Fatal(err)
					}
				}
				verify(t, dir)
			}
			t.Logf("killed %d times: %d left no store, %d a whole one", none+whole, none, whole)
		})
	}
}
