package runstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const lockPoll = 20 * time.Millisecond

// lockDir locks the store directory for this process, or returns a LockedError
// after lockWait. Closing the file lets go. The file stays: removing it would
// let two processes lock two files of one name.
func lockDir(dir string) (*os.File, error) {
	path := filepath.Join(dir, lockName)
	for tries := int(lockWait / lockPoll); ; tries-- {
		f, err := openPlain(path, os.O_RDWR|os.O_CREATE)
		if err != nil {
			return nil, err
		}
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil && sameFile(f, path) {
			return f, writePID(f)
		}
		owner := readPID(f)
		if closeErr := f.Close(); closeErr != nil {
			return nil, closeErr
		}
		switch {
		case err != nil && !errors.Is(err, syscall.EWOULDBLOCK):
			return nil, fmt.Errorf("locking %q: %w", path, err)
		case tries == 0:
			return nil, &LockedError{Dir: dir, PID: owner}
		}
		time.Sleep(lockPoll)
	}
}

// lockShared waits, no longer than lockWait, until nobody owns the bbolt file f.
// Closing it lets go.
func lockShared(f *os.File) error {
	for tries := int(lockWait / lockPoll); ; tries-- {
		switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); {
		case err == nil:
			return nil
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return fmt.Errorf("locking %q: %w", f.Name(), err)
		case tries == 0:
			return fmt.Errorf("%w by another process", ErrLocked)
		}
		time.Sleep(lockPoll)
	}
}

// ownerOf says who owns the store in dir, with a comma before it; nothing if
// nobody does.
func ownerOf(dir string) string {
	f, err := openPlain(filepath.Join(dir, lockName), os.O_RDONLY)
	if err != nil {
		return ""
	}
	defer f.Close() //nolint:errcheck // it was only read
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); !errors.Is(err, syscall.EWOULDBLOCK) {
		return ""
	}
	return ", in use by " + processOf(readPID(f))
}

// sameFile reports whether path still names the open file f.
func sameFile(f *os.File, path string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(path)
	return err == nil && os.SameFile(open, named)
}

func writePID(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// readPID returns the process id in a lock file, or 0.
func readPID(f *os.File) int {
	b := make([]byte, 16)
	n, _ := f.ReadAt(b, 0) // a short file is the usual case, and no pid is an answer
	pid, err := strconv.Atoi(strings.TrimSpace(string(b[:n])))
	if err != nil {
		return 0
	}
	return pid
}

// checkDir refuses a store directory that another user could write to or
// exchange for another one.
func checkDir(dir string) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	info, err := os.Lstat(abs)
	if err != nil {
		return err
	}
	switch {
	case !info.IsDir():
		return fmt.Errorf("%w: %q is a %s, want a directory", ErrUnsafe, dir, kind(info.Mode()))
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%w: %q has mode %04o, want 0700", ErrUnsafe, dir, info.Mode().Perm())
	case owner(info) != os.Geteuid():
		return fmt.Errorf("%w: %q belongs to user %d, want %d", ErrUnsafe, dir, owner(info), os.Geteuid())
	}
	for parent := filepath.Dir(abs); parent != filepath.Dir(parent); parent = filepath.Dir(parent) {
		info, err := os.Lstat(parent)
		if err != nil {
			return err
		}
		if info.Mode()&os.ModeSymlink != 0 && owner(info) != 0 && owner(info) != os.Geteuid() {
			return fmt.Errorf("%w: %q leads through a symbolic link of user %d", ErrUnsafe, dir, owner(info))
		}
	}
	return nil
}

// openPlain opens a file of a store. It refuses one that is not a plain file of
// its user's alone: a link leads elsewhere, and who opens a pipe may wait for
// ever.
func openPlain(path string, flag int) (*os.File, error) {
	info, err := os.Lstat(path)
	if err == nil {
		err = checkPlain(path, info)
	}
	if err != nil && (flag&os.O_CREATE == 0 || !errors.Is(err, fs.ErrNotExist)) {
		return nil, err
	}
	f, err := os.OpenFile(path, flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil { // it may be another one meanwhile
		err = checkPlain(path, info)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func checkPlain(path string, info os.FileInfo) error {
	switch {
	case !info.Mode().IsRegular():
		return fmt.Errorf("%w: %q is a %s, want a file", ErrUnsafe, path, kind(info.Mode()))
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%w: %q has mode %04o, want 0600", ErrUnsafe, path, info.Mode().Perm())
	case owner(info) != os.Geteuid():
		return fmt.Errorf("%w: %q belongs to user %d, want %d", ErrUnsafe, path, owner(info), os.Geteuid())
	}
	return nil
}

func owner(info os.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid)
	}
	return -1
}

func kind(m os.FileMode) string {
	switch {
	case m&os.ModeSymlink != 0:
		return "symbolic link"
	case m.IsRegular():
		return "file"
	case m.IsDir():
		return "directory"
	case m&os.ModeNamedPipe != 0:
		return "named pipe"
	case m&os.ModeSocket != 0:
		return "socket"
	}
	return "device"
}

// syncDir makes the names in dir durable.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = f.Sync()
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}
