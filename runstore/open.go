package runstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
	if err := checkDir(dir); err != nil {
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
		return nil, err
	}
	f.checkpoints, err = openCheckpoints(filepath.Join(dir, checkpointsName), f.ledger)
	return f, err
}

// checkThere refuses a directory that holds no ledger file.
func checkThere(dir string) error {
	path := filepath.Join(dir, ledgerName)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		newest, ok, _, err := newestCheckpoint(filepath.Join(dir, checkpointsName))
		if err == nil && ok {
			return damaged("%s is missing, but a checkpoint says %d records", path, newest.Seq)
		}
		return fmt.Errorf("%w at %q", ErrNoStore, dir)
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%w: %q is a %s, want a file", ErrUnsafe, path, kind(info.Mode()))
	case info.Size() == 0:
		newest, ok, _, err := newestCheckpoint(filepath.Join(dir, checkpointsName))
		if err == nil && ok {
			return damaged("%s is empty, but a checkpoint says %d records", path, newest.Seq)
		}
		return damaged("%s is empty", path)
	}
	return nil
}

// openLedger opens the ledger file, and looks again whether it is the one that
// the path names: two owners of one renamed file, or of two files of one name,
// would each go on alone.
func (f *files) openLedger(maxSize int) error {
	path := filepath.Join(f.dir, ledgerName)
	before, err := os.Stat(path)
	if err != nil {
		return err
	}
	f.ledger, err = openLedger(path, maxSize)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	after, err := os.Stat(path)
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
