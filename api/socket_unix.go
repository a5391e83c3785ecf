//go:build unix

package api

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Errors of a socket's place.
var (
	// ErrPathTooLong: the kernel keeps a socket's path in 108 bytes (104 on
	// macOS), the end mark included.
	ErrPathTooLong = errors.New("the path of the socket is too long")
	// ErrInUse: somebody answers there.
	ErrInUse = errors.New("the socket is in use")
	// ErrNotOurs: something is there that this program must not remove.
	ErrNotOurs = errors.New("not a socket of ours")
	// ErrOpenDirectory: others could put a socket of theirs there.
	ErrOpenDirectory = errors.New("the directory of the socket can be changed by others")
)

// maxPath is how long a socket's path may be, in bytes.
const maxPath = len(syscall.RawSockaddrUnix{}.Path) - 1

// DefaultSocket is where a store's socket is unless somebody says otherwise:
// in the user's runtime directory, or else beside the store.
func DefaultSocket(store string) string {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "tollgate", "gate.sock")
	}
	return filepath.Join(store, "gate.sock")
}

// CheckPath says whether a path can be a socket's.
func CheckPath(path string) error {
	if len(path) > maxPath {
		return fmt.Errorf("%s: %d bytes, at most %d: %w", oneLine(path), len(path), maxPath, ErrPathTooLong)
	}
	return nil
}

// Listen makes the socket of one user and listens on it: the socket with mode
// 0600, its directory, where there is none yet, with 0700. What a process that
// died has left behind is removed; what answers, is no socket, or is another
// user's, never is. Two that begin at once are kept apart by a lock beside the
// socket.
//
// Closing the listener removes the socket, if it is still this one.
func Listen(path string) (net.Listener, error) {
	if err := CheckPath(path); err != nil {
		return nil, err
	}
	if err := ownDirectory(filepath.Dir(path)); err != nil {
		return nil, err
	}
	lock, err := lockBeside(path)
	if err != nil {
		return nil, err
	}
	l, err := listen(path)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	l.lock = lock
	return l, nil
}

func listen(path string) (*socket, error) {
	if err := clearStale(path); err != nil {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("socket %s: %w", oneLine(path), err)
	}
	l.SetUnlinkOnClose(false)
	s := &socket{UnixListener: l, path: path}
	if err = os.Chmod(path, 0o600); err == nil {
		s.info, err = os.Lstat(path)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("socket: %w", err), l.Close())
	}
	return s, nil
}

// socket is a listener that knows which file it has made.
type socket struct {
	*net.UnixListener
	path string
	info os.FileInfo
	lock *os.File
	once sync.Once
	err  error
}

// Close stops listening and removes the socket.
func (s *socket) Close() error {
	s.once.Do(func() {
		s.err = s.UnixListener.Close()
		if now, err := os.Lstat(s.path); err == nil && os.SameFile(now, s.info) {
			s.err = errors.Join(s.err, os.Remove(s.path))
		}
		s.err = errors.Join(s.err, s.lock.Close())
	})
	return s.err
}

// ownDirectory makes the directory of a socket, or looks whether others can
// put something in the place of what is in it.
func ownDirectory(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("directory of the socket: %w", err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("directory of the socket: %w", err)
	}
	if mode := info.Mode(); mode.Perm()&0o022 != 0 && mode&os.ModeSticky == 0 {
		return fmt.Errorf("%s has mode %04o: %w", oneLine(dir), mode.Perm(), ErrOpenDirectory)
	}
	return nil
}

// lockBeside takes the lock of a socket's place. It is held while the socket
// is listened on, and the kernel drops it with the process.
func lockBeside(path string) (*os.File, error) {
	f, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock of the socket: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = ErrInUse
		}
		return nil, errors.Join(fmt.Errorf("socket %s: %w", oneLine(path), err), f.Close())
	}
	return f, nil
}

// clearStale removes a socket that nobody listens on any more.
func clearStale(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("socket: %w", err)
	case info.Mode().Type() != os.ModeSocket:
		return fmt.Errorf("%s is there and is no socket: %w", oneLine(path), ErrNotOurs)
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Getuid() {
		return fmt.Errorf("%s belongs to uid %d: %w", oneLine(path), stat.Uid, ErrNotOurs)
	}
	c, err := net.DialTimeout("unix", path, time.Second)
	switch {
	case err == nil:
		return errors.Join(fmt.Errorf("%s answers: %w", oneLine(path), ErrInUse), c.Close())
	case !errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("%s: %w (%w)", oneLine(path), ErrInUse, err)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("stale socket: %w", err)
	}
	return nil
}

// Answers reports whether somebody listens on a socket.
func Answers(ctx context.Context, path string) bool {
	if CheckPath(path) != nil {
		return false
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return false
	}
	_ = c.Close() // it was opened only to see whether it opens
	return true
}
