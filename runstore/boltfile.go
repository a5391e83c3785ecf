package runstore

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
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

// boltFile is an open bbolt file. It is safe for concurrent use, as bbolt is.
//
// bbolt trusts its two meta pages. Where the newer one has changed it goes on
// with the older, a transaction back, without a word; where neither can be
// used, it panics. So every transaction is compared with the newest one that is
// known, and none begins without a meta page.
//
// A panic in a transaction may leave bbolt's locks held, for whoever comes next
// to wait for. So after one no further transaction begins, and the file is
// closed behind bbolt's back, with its mapping left where it is.
type boltFile struct {
	db       *bbolt.DB
	file     *os.File // that db has open
	pageSize int64
	newest   atomic.Int64 // transaction that the file is known to hold
	closed   atomic.Bool
	panicked atomic.Bool
}

// openBolt opens an existing bbolt file whose pages have been looked at. It
// never creates one. maxSize is in bytes; 0 means no limit.
func openBolt(path string, maxSize int) (*boltFile, error) {
	b := new(boltFile)
	err := guard(func() (err error) {
		b.db, err = bbolt.Open(path, 0o600, &bbolt.Options{
			Timeout:         lockWait,
			FreelistType:    bbolt.FreelistMapType,
			InitialMmapSize: mapSize,
			MaxSize:         maxSize,
			NoStatistics:    true,
			OpenFile: func(name string, flag int, _ os.FileMode) (f *os.File, err error) {
				b.file, err = openPlain(name, flag&^os.O_CREATE)
				return b.file, err
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
	b.pageSize = int64(b.db.Info().PageSize)
	err = b.view(func(tx *bbolt.Tx) error {
		b.newest.Store(int64(tx.ID()))
		return nil
	})
	if err != nil {
		return nil, closing(b, err)
	}
	return b, nil
}

// Close waits for the transactions that are open.
func (b *boltFile) Close() error {
	b.closed.Store(true)
	if b.panicked.Load() {
		// The mapping would keep the lock.
		return errors.Join(syscall.Flock(int(b.file.Fd()), syscall.LOCK_UN), b.file.Close())
	}
	return guard(b.db.Close)
}

// view runs fn in a read transaction.
func (b *boltFile) view(fn func(*bbolt.Tx) error) error {
	return b.within(b.db.View, b.newest.Load(), fn)
}

// update runs fn in a write transaction.
func (b *boltFile) update(fn func(*bbolt.Tx) error) error {
	next := b.newest.Load() + 1
	err := b.within(b.db.Update, next, func(tx *bbolt.Tx) error {
		next = int64(tx.ID())
		return fn(tx)
	})
	if err == nil {
		b.newest.Store(next)
	}
	return err
}

// within runs fn in a transaction that begin makes, and whose id must not be
// lower than least.
func (b *boltFile) within(begin func(func(*bbolt.Tx) error) error, least int64, fn func(*bbolt.Tx) error) error {
	switch {
	case b.closed.Load():
		return bolterrors.ErrDatabaseNotOpen
	case b.panicked.Load():
		return damaged("there was no reading a page")
	}
	fault, other := b.metas()
	if fault == faultShort || other == faultShort || fault != "" && other != "" {
		return damaged("meta page 0 %s, meta page 1 %s", cmp.Or(fault, "is whole"), cmp.Or(other, "is whole"))
	}
	ended := false
	err := guard(func() error {
		err := begin(func(tx *bbolt.Tx) error {
			if got := int64(tx.ID()); got < least {
				return damaged("the newest meta page is lost: transaction %d begins, want %d or later", got, least)
			}
			return fn(tx)
		})
		ended = true
		return err
	})
	if !ended {
		b.panicked.Store(true)
	}
	return err
}

// metas returns what is wrong with the two meta pages. It reads both at once,
// since it is asked before every transaction.
func (b *boltFile) metas() (fault, other string) {
	size := b.pageSize + pageHeader + metaSize
	buf, _ := metaBuffers.Get().(*[]byte)
	if buf == nil || int64(len(*buf)) < size {
		buf = new(make([]byte, size))
	}
	defer metaBuffers.Put(buf)
	n, err := b.file.ReadAt((*buf)[:size], 0)
	if err != nil && n < int(size) {
		return faultShort, faultShort
	}
	pages := bytes.NewReader((*buf)[:size])
	_, fault = metaAt(pages, 0, 0)
	_, other = metaAt(pages, 1, b.pageSize)
	return fault, other
}

var metaBuffers sync.Pool // of *[]byte

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
