package runstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"go.etcd.io/bbolt"

	"tollgate/gate"
)

// A page that leads back to itself would make bbolt recurse until the stack
// ends, which no program survives.
func TestPageCycle(t *testing.T) {
	t.Parallel()
	dir := newStoreDir(t, 1500) // enough for a branch page
	path := filepath.Join(dir, ledgerName)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	order := binary.NativeEndian
	cycles := 0
	for at := 2 * 4096; at+4096 <= len(b); at += 4096 {
		if order.Uint16(b[at+8:]) == flagBranch && order.Uint64(b[at:]) == uint64(at/4096) {
			order.PutUint64(b[at+pageHeader+8:], uint64(at/4096))
			cycles++
		}
	}
	if cycles == 0 {
		t.Fatal("the ledger has no branch page")
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = reopen(t, dir)
	checkLine(t, "a page that leads to itself", err, gate.ErrDamaged)
}

// A free list that names a page in use would have the next commit write over
// a block.
func TestFreelistNamesAPageInUse(t *testing.T) {
	t.Parallel()
	dir := newStoreDir(t, 1500)
	path := filepath.Join(dir, ledgerName)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	meta, free := freePages(t, whole)
	free[meta.freelist] = true
	order := binary.NativeEndian
	list := int(meta.freelist) * int(meta.pageSize)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // of a test's own file
	wrong := 0
	for id := uint64(2); id < meta.highWater; id++ {
		if free[id] {
			continue
		}
		bad := bytes.Clone(whole[list : list+pageHeader+8])
		order.PutUint16(bad[10:], 1)
		order.PutUint64(bad[pageHeader:], id)
		if _, err := f.WriteAt(bad, int64(list)); err != nil {
			t.Fatal(err)
		}
		if err := checkPages(t.Context(), path, false, nil); !errors.Is(err, gate.ErrDamaged) {
			t.Errorf("page %d named as free: err = %v, want damaged", id, err)
		}
		wrong++
	}
	t.Logf("%d pages in use, each noticed; %d free", wrong, len(free)-1)
}

// The probe must not refuse what bbolt writes: growing, shrinking, splitting.
func TestPagesOfALiveFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "db")
	db, err := createBolt(path, bucketLedger, bucketMeta)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()  //nolint:errcheck // it is only read
	db.NoSync = true // a look goes through the same page cache
	r := rand.New(rand.NewPCG(3, 4))
	for round := range 60 {
		err := db.Update(func(tx *bbolt.Tx) error {
			b := tx.Bucket(bucketLedger)
			for range 200 {
				key := binary.BigEndian.AppendUint32(nil, r.Uint32N(5000))
				if r.IntN(3) == 0 {
					if err := b.Delete(key); err != nil {
						return err
					}
				} else if err := b.Put(key, make([]byte, r.IntN(100+r.IntN(9000)))); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, deep := range []bool{false, true} {
			if err := checkFile(t.Context(), f, sizeOf(t, f), deep, nil); err != nil {
				t.Fatalf("round %d, deep %v: %v", round, deep, err)
			}
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func sizeOf(t *testing.T, f *os.File) int64 {
	t.Helper()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// Whatever is in a file, a look at it ends, in one kind of error or none.
func FuzzPages(f *testing.F) {
	const pageSize = 1024
	path := filepath.Join(f.TempDir(), "db")
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{PageSize: pageSize, NoSync: true})
	if err != nil {
		f.Fatal(err)
	}
	for round := range 3 {
		err := db.Update(func(tx *bbolt.Tx) error {
			for name, rows := range map[string]int{"ledger": 48, "meta": 2} { // one with a tree, one inline
				b, err := tx.CreateBucketIfNotExists([]byte(name))
				if err != nil {
					return err
				}
				for i := range rows {
					if err := b.Put(seqKey(uint64(10*i+round)), make([]byte, 20*i)); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			f.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		f.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	if err := checkFile(f.Context(), bytes.NewReader(whole), int64(len(whole)), true, nil); err != nil {
		f.Fatal(err)
	}
	order := binary.NativeEndian
	f.Add(whole)
	f.Fuzz(func(t *testing.T, b []byte) {
		for at := 0; at+pageHeader+metaSize <= len(b) && at <= pageSize; at += pageSize { // else the checksum refuses nearly all
			meta := b[at+pageHeader:]
			sum := fnv.New64a()
			sum.Write(meta[:metaSize-8])
			order.PutUint64(meta[metaSize-8:], sum.Sum64())
		}
		row := func(key, _ []byte) error {
			if len(key) == 0 {
				t.Error("a row without a key")
			}
			return nil
		}
		for _, deep := range []bool{false, true} {
			err := checkFile(t.Context(), bytes.NewReader(b), int64(len(b)), deep, row)
			if err != nil && !errors.Is(err, gate.ErrDamaged) && !errors.Is(err, ErrForeign) {
				t.Errorf("deep %v: %v, want damaged", deep, err)
			}
		}
	})
}

// A file that claims to be huge, or to hold something huge, costs no more than
// what is in it.
func TestHugeClaims(t *testing.T) {
	dir := newStoreDir(t, 300)
	path := filepath.Join(dir, ledgerName)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	meta, free := freePages(t, b)
	whole := image{bytes: b[:meta.highWater*4096], size: int64(len(b))}
	order := binary.NativeEndian
	const many = 1 << 31 // pages: 8 TiB
	// vast makes the file as large as its newer meta page says.
	vast := func(b []byte) int64 {
		at := int(meta.txid % 2 * 4096)
		order.PutUint64(b[at+pageHeader+40:], many)
		sum := fnv.New64a()
		sum.Write(b[at+pageHeader : at+pageHeader+metaSize-8])
		order.PutUint64(b[at+pageHeader+metaSize-8:], sum.Sum64())
		return many * 4096
	}
	leaf := 0 // a page of blocks, not the first or the last one of its level
	for id := int(meta.highWater) - 1; id > 2 && leaf == 0; id-- {
		if page := whole.bytes[id*4096:]; !free[uint64(id)] && order.Uint16(page[8:]) == flagLeaf && order.Uint16(page[10:]) > 2 && order.Uint64(page) == uint64(id) && order.Uint32(page[pageHeader:]) == 0 {
			leaf = id * 4096
		}
	}
	list := int(meta.freelist) * 4096
	for what, change := range map[string]func(b []byte) (size int64){
		"pages": vast,
		"a page that reaches over many": func(b []byte) int64 {
			order.PutUint32(b[leaf+12:], 1<<30)
			return vast(b)
		},
		"a value": func(b []byte) int64 {
			order.PutUint32(b[leaf+12:], 1<<18)
			order.PutUint32(b[leaf+pageHeader+elementSize+12:], 1<<30)
			return vast(b)
		},
		"a free list": func(b []byte) int64 {
			order.PutUint32(b[list+12:], 1<<18)
			order.PutUint16(b[list+10:], manyFree)
			order.PutUint64(b[list+pageHeader:], 1<<26)
			return vast(b)
		},
		"a record": func(b []byte) int64 {
			at := leaf + pageHeader + elementSize
			value := at + int(order.Uint32(b[at+4:])+order.Uint32(b[at+8:]))
			binary.BigEndian.PutUint32(b[value+blockHeader:], 1<<31)
			return whole.size
		},
		"records": func(b []byte) int64 {
			at := leaf + pageHeader + elementSize
			value := at + int(order.Uint32(b[at+4:])+order.Uint32(b[at+8:]))
			binary.BigEndian.PutUint32(b[value+blockHeader-4:], 1<<31)
			return whole.size
		},
	} {
		t.Run(what, func(t *testing.T) {
			spoilt := image{bytes: bytes.Clone(whole.bytes)}
			spoilt.size = change(spoilt.bytes)
			spoilt.write(t, path)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := reopen(t, dir)
			if deep := checkPages(t.Context(), path, true, nil); err == nil {
				err = deep
			}
			runtime.ReadMemStats(&after)
			checkLine(t, what, err, gate.ErrDamaged)
			if got := (after.TotalAlloc - before.TotalAlloc) >> 20; got > 32 {
				t.Errorf("%d MiB allocated for it", got)
			}
		})
	}
	whole.write(t, path)
	if err := os.Truncate(filepath.Join(dir, checkpointsName), 1<<40); err != nil {
		t.Fatal(err)
	}
	_, err = reopen(t, dir)
	checkLine(t, "a log of checkpoints", err, gate.ErrDamaged)
}
