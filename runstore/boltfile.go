package runstore

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// lockWait is how long an open waits for another owner to let go.
const lockWait = time.Second

// mapSize is the address space kept for a file, so that growing it does not
// have to wait for open read transactions.
var mapSize = int(min(int64(8<<30), math.MaxInt>>1))

// openBolt opens an existing bbolt file whose pages have been looked at. It
// never creates one. maxSize is in bytes; 0 means no limit.
func openBolt(path string, maxSize int) (db *bbolt.DB, err error) {
	err = guard(func() error {
		db, err = bbolt.Open(path, 0o600, &bbolt.Options{
			Timeout:         lockWait,
			FreelistType:    bbolt.FreelistMapType,
			InitialMmapSize: mapSize,
			MaxSize:         maxSize,
			NoStatistics:    true,
			OpenFile: func(name string, flag int, _ os.FileMode) (*os.File, error) {
				return openPlain(name, flag&^os.O_CREATE)
			},
		})
		return err
	})
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, fmt.Errorf("%w by another process", ErrLocked)
	case err != nil:
		return nil, err
	}
	return db, nil
}

// guard runs fn, which reads pages that a bbolt file is mapped to, and makes
// of a fault there, and of bbolt's own assertions, an error.
func guard(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			says, _, _ := strings.Cut(fmt.Sprint(p), "\n")
			err = damaged("reading a page: %s", says)
		}
	}()
	return fn()
}

// view runs fn in a read transaction.
func view(db *bbolt.DB, fn func(*bbolt.Tx) error) error {
	return guard(func() error { return db.View(fn) })
}

// update runs fn in a write transaction.
func update(db *bbolt.DB, fn func(*bbolt.Tx) error) error {
	return guard(func() error { return db.Update(fn) })
}

// lacksSpace reports whether a transaction failed for want of space before its
// meta page was written: bbolt's own size limit, or a write without room for
// it. A sync that fails is never this, whatever it says.
func lacksSpace(err error) bool {
	if errors.Is(err, bolterrors.ErrMaxSizeReached) {
		return true
	}
	var write *fs.PathError
	return errors.As(err, &write) && (errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT))
}
