package runstore

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.etcd.io/bbolt"
)

// Names in a store directory.
const (
	ledgerName      = "tollgate.db"
	projectionName  = "projection.db"
	checkpointsName = "checkpoints.log"
	lockName        = "lock"
	newSuffix       = ".new" // of a file that is not whole yet
)

// Init makes an empty store in dir, which must be missing or an empty
// directory; missing parents are made too. The realm is the store's id, 32 hex
// digits; an empty one means a random id, which is what every store that lives
// should have. When Init is killed on the way there is no store, and it can be
// called again. It returns ErrExists, with nothing changed, if something is
// there.
func Init(dir, realm string) error {
	var id storeID
	if realm == "" {
		rand.Read(id[:]) // never fails
	} else {
		var err error
		if id, err = parseRealm(realm); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	if err := checkEmpty(dir); err != nil {
		return err
	}
	if err := checkDir(dir); err != nil {
		return err
	}
	lock, err := lockDir(dir)
	if err != nil {
		return err
	}
	defer lock.Close() //nolint:errcheck // nothing was written to it that matters
	if err := checkEmpty(dir); err != nil {
		return err
	}
	fresh := filepath.Join(dir, ledgerName+newSuffix)
	if err := os.Remove(fresh); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := createLedger(fresh, id); err != nil {
		return err
	}
	if err := os.Rename(fresh, filepath.Join(dir, ledgerName)); err != nil {
		return err
	}
	if err := syncDir(dir); err != nil {
		return err
	}
	return syncDir(filepath.Dir(dir))
}

// checkEmpty refuses a directory that holds more than an Init that was killed
// leaves behind.
func checkEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("%w: %q cannot be listed: %w", ErrExists, dir, err)
	}
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == ledgerName }) {
		return fmt.Errorf("%w: %q is a store already%s", ErrExists, dir, ownerOf(dir))
	}
	for _, e := range entries {
		if name := e.Name(); name != lockName && !strings.HasSuffix(name, newSuffix) {
			return fmt.Errorf("%w: %q holds %q", ErrExists, dir, name)
		}
	}
	return nil
}

// createLedger writes an empty ledger file.
func createLedger(path string, id storeID) error {
	db, err := createBolt(path, bucketLedger, bucketMeta)
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		meta := tx.Bucket(bucketMeta)
		if err := errors.Join(
			meta.Put(metaSchema, binary.BigEndian.AppendUint32(nil, ledgerSchema)),
			meta.Put(metaStore, id[:]),
			meta.Put(metaCreated, binary.BigEndian.AppendUint64(nil, uint64(time.Now().UnixMilli()))),
			meta.Put(metaHead, appendHead(nil, tip{})),
		); err != nil {
			return err
		}
		return meta.Put(metaSum, identitySum(meta))
	})
	return errors.Join(err, db.Close())
}

// createBolt makes a bbolt file that must not exist yet, with empty buckets.
func createBolt(path string, buckets ...[]byte) (*bbolt.DB, error) {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{
		Timeout:      lockWait,
		FreelistType: bbolt.FreelistMapType,
		NoStatistics: true,
		OpenFile: func(name string, flag int, mode os.FileMode) (*os.File, error) {
			return os.OpenFile(name, flag|os.O_EXCL, mode)
		},
	})
	if err != nil {
		return nil, err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		for _, name := range buckets {
			if _, err := tx.CreateBucket(name); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, closing(db, err)
	}
	return db, nil
}
