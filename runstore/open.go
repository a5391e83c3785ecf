package runstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// files are those of an open store that must hold for it to open at all; the
// projection is not one of them.
type files struct {
	dir         string
	lock        *os.File
	ledger      *ledger
	checkpoints *checkpointLog
}

// openFiles takes the lock of the store in dir and opens its ledger. It
// creates no store and, unless it succeeds, changes nothing but the lock file.
func openFiles(dir string, maxSize int) (_ *files, err error) {
	if err := checkThere(dir); err != nil {
		return nil, err
	}
	f := &files{dir: dir}
	if f.lock, err = lockDir(dir); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.close())
		}
	}()
	if err := f.openLedger(maxSize); err != nil {
		if errors.Is(err, ErrForeign) {
			err = notWithout(dir, err, err.Error())
		}
		return nil, err
	}
	f.checkpoints, err = openCheckpoints(filepath.Join(dir, checkpointsName), f.ledger)
	return f, err
}

// checkThere refuses a directory that holds no ledger file, or that is not to
// be used as it is.
func checkThere(dir string) error {
	path := filepath.Join(dir, ledgerName)
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		return fmt.Errorf("%w: %q is a %s, want the directory of a store", ErrForeign, dir, kind(info.Mode()))
	}
	if err == nil {
		info, err = os.Lstat(path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return notWithout(dir, fmt.Errorf("%w at %q", ErrNoStore, dir), path+" is missing")
	case err != nil:
		return err
	}
	if err := checkDir(dir); err != nil {
		return err
	}
	for _, name := range []string{ledgerName, projectionName, checkpointsName} {
		f, err := openPlain(filepath.Join(dir, name), os.O_RDONLY)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	if info.Size() == 0 {
		return notWithout(dir, damaged("%s is empty", path), path+" is empty")
	}
	return nil
}

// notWithout returns err or, if something else in dir shows that the ledger
// file had been a ledger, gate.ErrDamaged: that says what it is now.
func notWithout(dir string, err error, says string) error {
	path := filepath.Join(dir, checkpointsName)
	if _, logErr := os.Lstat(path); logErr != nil {
		return err
	}
	if newest, ok, _, _ := readCheckpoints(path, "", nil); ok {
		return damaged("%s, but a checkpoint says %d records", says, newest.Seq)
	}
	return damaged("%s, but there is a %s", says, checkpointsName)
}

// openLedger opens the ledger file, and looks again whether it is the one that
// the path names: two owners of one renamed file, or of two files of one name,
// would each go on alone.
func (f *files) openLedger(maxSize int) error {
	path := filepath.Join(f.dir, ledgerName)
	before, err := os.Lstat(path)
	if err != nil {
		return err
	}
	f.ledger, err = openLedger(path, maxSize)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	after, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !os.SameFile(before, after) || !sameFile(f.lock, filepath.Join(f.dir, lockName)) {
		return fmt.Errorf("%w: %q was moved while it was opened", ErrUnsafe, f.dir)
	}
	return nil
}

// close closes what is open, the lock last.
func (f *files) close() error {
	var errs []error
	if f.checkpoints != nil {
		errs = append(errs, f.checkpoints.close())
	}
	if f.ledger != nil {
		errs = append(errs, f.ledger.close())
	}
	return errors.Join(append(errs, f.lock.Close())...)
}
