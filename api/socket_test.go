package api

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestListen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run", "tollgate")
	path := filepath.Join(dir, "gate.sock")
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, have := range []struct {
		path string
		mode os.FileMode
	}{{dir, 0o700 | os.ModeDir}, {path, 0o600 | os.ModeSocket}} {
		if info, err := os.Lstat(have.path); err != nil || info.Mode() != have.mode {
			t.Errorf("%s has mode %v, %v; want %v", have.path, info.Mode(), err, have.mode)
		}
	}
	if _, err := Listen(path); !errors.Is(err, ErrInUse) {
		t.Errorf("a second listener: %v, want in use", err)
	}
	if !Answers(t.Context(), path) {
		t.Error("nobody answers")
	}
	for range 2 {
		if err := l.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after closing the socket is there: %v", err)
	}
	if l, err = Listen(path); err != nil {
		t.Fatalf("again: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// A socket that a dead process left behind is recognised and replaced.
func TestStaleSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gate.sock")
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	if err := dead.Close(); err != nil {
		t.Fatal(err)
	}
	if Answers(t.Context(), path) {
		t.Fatal("the dead socket answers")
	}
	l, err := Listen(path)
	if err != nil {
		t.Fatalf("over a stale socket: %v", err)
	}
	if !Answers(t.Context(), path) {
		t.Error("nobody answers")
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// What is not ours stays where it is.
func TestForeignSocket(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file.sock")
	if err := os.WriteFile(file, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link.sock")
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	alive := filepath.Join(dir, "alive.sock")
	other, err := net.Listen("unix", alive)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close() //nolint:errcheck // the test is over
	for path, want := range map[string]error{file: ErrNotOurs, link: ErrNotOurs, dir: ErrNotOurs, alive: ErrInUse} {
		if _, err := Listen(path); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", filepath.Base(path), err, want)
		}
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("%s has gone: %v", filepath.Base(path), err)
		}
	}
	if !Answers(t.Context(), alive) {
		t.Error("the other program's socket has gone")
	}
}

func TestSocketPaths(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("x", 108), "gate.sock")
	if _, err := Listen(long); !errors.Is(err, ErrPathTooLong) || !strings.Contains(err.Error(), "bytes, at most") {
		t.Errorf("a long path: %v, want one that says so", err)
	}
	if _, err := os.Stat(filepath.Dir(long)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its directory has been made: %v", err)
	}
	if err := CheckPath("/" + strings.Repeat("x", maxPath-1)); err != nil {
		t.Errorf("the longest path: %v", err)
	}
	if Answers(context.Background(), long) { //nolint:usetesting // nothing is dialled
		t.Error("a path that is too long answers")
	}

	open := t.TempDir()
	if err := os.Chmod(open, 0o777); err != nil { //nolint:gosec // that is what is tested
		t.Fatal(err)
	}
	if _, err := Listen(filepath.Join(open, "gate.sock")); !errors.Is(err, ErrOpenDirectory) {
		t.Errorf("a directory that all may change: %v, want a refusal", err)
	}

	for _, row := range []struct{ runtime, want string }{
		{"/run/user/1001", "/run/user/1001/tollgate/gate.sock"}, {"", "/store/gate.sock"}, {"here", "/store/gate.sock"},
	} {
		t.Setenv("XDG_RUNTIME_DIR", row.runtime)
		if got := DefaultSocket("/store"); got != row.want {
			t.Errorf("with XDG_RUNTIME_DIR=%q the socket is %s, want %s", row.runtime, got, row.want)
		}
	}
}

// The socket that somebody else put in the place of ours is not removed.
func TestCloseLeavesAnothersSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gate.sock")
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	other, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close() //nolint:errcheck // the test is over
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if !Answers(t.Context(), path) {
		t.Error("the other's socket has been removed")
	}
}
