package runstore

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.etcd.io/bbolt"

	"tollgate/gate"
)

// The files of a store are plain ones of its user's alone, or the store does
// not open: it follows no link, waits on no pipe and shares with nobody.
func TestOpenRefusesWhatIsNoPlainFile(t *testing.T) {
	root := os.Geteuid() == 0
	for what, c := range map[string]struct {
		spoil func(path string) error
		want  string
		root  bool // takes a privilege
	}{
		"a link to it": {func(path string) error {
			return errors.Join(os.Rename(path, path+".moved"), os.Symlink(path+".moved", path))
		}, "is a symbolic link, want a file", false},
		"a link to nothing": {func(path string) error {
			return errors.Join(os.Remove(path), os.Symlink("nowhere", path))
		}, "is a symbolic link, want a file", false},
		"a directory": {func(path string) error {
			return errors.Join(os.Remove(path), os.Mkdir(path, 0o700))
		}, "is a directory, want a file", false},
		"a pipe": {func(path string) error {
			return errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600))
		}, "is a named pipe, want a file", false},
		"a device": {func(path string) error {
			return errors.Join(os.Remove(path), syscall.Mknod(path, syscall.S_IFCHR|0o600, 1<<8|3))
		}, "is a device, want a file", true},
		"another's":              {func(path string) error { return os.Chown(path, 65534, 65534) }, "belongs to user 65534, want 0", true},
		"for a group to read":    {func(path string) error { return os.Chmod(path, 0o640) }, "has mode 0640, want 0600", false},
		"for a group to write":   {func(path string) error { return os.Chmod(path, 0o620) }, "has mode 0620, want 0600", false},
		"for everybody to read":  {func(path string) error { return os.Chmod(path, 0o604) }, "has mode 0604, want 0600", false},
		"for everybody to write": {func(path string) error { return os.Chmod(path, 0o602) }, "has mode 0602, want 0600", false},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			if c.root && !root {
				t.Skip("takes root")
			}
			s, _, dir := toldStore(t, 5)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{ledgerName, projectionName, checkpointsName, lockName} {
				path := filepath.Join(dir, name)
				b, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if err := c.spoil(path); err != nil {
					t.Fatal(err)
				}
				_, err = Open(dir, Options{})
				checkLine(t, name, err, ErrUnsafe)
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s: open = %v, want one line that says that it %s", name, err, c.want)
				}
				if err := errors.Join(os.RemoveAll(path), os.WriteFile(path, b, 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			openStore(t, dir, Options{})
		})
	}
}

// Where a store was to be there is something else: one line, and which kind of
// error says what helps.
func TestOpenOfWhatIsNoStore(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(file, Options{})
	checkLine(t, "a file", err, ErrForeign)
	_, err = Open(filepath.Join(file, "store"), Options{})
	checkLine(t, "a path through a file", err, ErrNoStore)
	_, err = Open(dir, Options{})
	checkLine(t, "another directory", err, ErrNoStore)
	if b, err := os.ReadFile(file); err != nil || string(b) != "text" {
		t.Errorf("the file holds %q, %v, as it was", b, err)
	}
}

// An owner that has stopped still owns the store, and is named; so it is to
// init.
func TestStoreOfAStoppedOwner(t *testing.T) {
	t.Parallel()
	dir := newStoreDir(t, 10)
	owner := exec.CommandContext(t.Context(), os.Args[0], dir)
	owner.Env = append(os.Environ(), childEnv+"=hold")
	out, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		owner.Process.Kill() //nolint:errcheck // it may have ended
		owner.Wait()         //nolint:errcheck // it was killed
	}()
	if _, err := bufio.NewReader(out).ReadByte(); err != nil { // it has the store
		t.Fatal(err)
	}
	if err := owner.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	_, err = Open(dir, Options{})
	checkLine(t, "open", err, ErrLocked)
	var locked *LockedError
	if !errors.As(err, &locked) || locked.PID != owner.Process.Pid {
		t.Errorf("open = %v, want process %d as the owner", err, owner.Process.Pid)
	}
	err = Init(dir, "")
	checkLine(t, "init", err, ErrExists)
	if want := fmt.Sprintf("is a store already, in use by process %d", owner.Process.Pid); err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("init = %v, want … %s", err, want)
	}
	if err := owner.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	owner.Wait() //nolint:errcheck // it was killed
	if _, err := reopen(t, dir); err != nil {
		t.Errorf("open after its end = %v", err)
	}
	if err := Init(dir, ""); err == nil || !strings.HasSuffix(err.Error(), "is a store already") {
		t.Errorf("init after its end = %v, want … is a store already", err)
	}
}

// Whoever reads the ledger with a tool of bbolt's own holds it, and is waited
// for no longer than an owner.
func TestStoreThatAToolReads(t *testing.T) {
	t.Parallel()
	dir := newStoreDir(t, 10)
	tool, err := bbolt.Open(filepath.Join(dir, ledgerName), 0, &bbolt.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	_, err = Open(dir, Options{})
	checkLine(t, "open", err, ErrLocked)
	if err := tool.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := reopen(t, dir); err != nil {
		t.Errorf("open when it has let go = %v", err)
	}
}

// A copy of the files that was taken while their owner went on, as cp takes it,
// is a store as it was, or is refused, or is shown to be none by a verification.
func TestLiveCopy(t *testing.T) {
	t.Parallel()
	s, story, dir := toldStore(t, 20)
	const copies = 20
	outcomes := map[string]int{}
	for n := range copies {
		copied := filepath.Join(t.TempDir(), "store")
		if err := os.Mkdir(copied, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{ledgerName, projectionName, checkpointsName} {
			begin, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if err := story.Tell(t.Context(), s, 5); err != nil {
				t.Fatal(err)
			}
			end, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			cut := min((2+n)*4096, len(begin)) // how far the copy had come meanwhile
			if err := os.WriteFile(filepath.Join(copied, name), append(begin[:cut:cut], end[cut:]...), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		again, err := Open(copied, Options{})
		if err != nil {
			checkLine(t, fmt.Sprintf("copy %d", n), err, gate.ErrDamaged)
			outcomes["refused"]++
			continue
		}
		switch got := findings(t, again, true); {
		case got == "":
			outcomes["whole"]++
		case strings.HasPrefix(got, "projection.db: it was built anew: ") && strings.Count(got, "\n") == 1:
			outcomes["whole, but for its projection"]++
		default:
			outcomes["shown to be none"]++
		}
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Log(outcomes)
	if outcomes["whole"]+outcomes["whole, but for its projection"] == copies {
		t.Error("every copy is whole, so that none of them shows anything")
	}
}
