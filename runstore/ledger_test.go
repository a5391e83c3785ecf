package runstore

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"tollgate/gate"
)

// newLedger makes a store and opens its ledger file alone.
func newLedger(t *testing.T) *ledger {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	if err := Init(dir, ""); err != nil {
		t.Fatal(err)
	}
	l, err := openLedger(filepath.Join(dir, ledgerName), 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.close() }) //nolint:errcheck // closing twice is harmless
	return l
}

// fill appends blocks of 1 to 7 records until there are n; record seq is
// testRecord(seq). It does not wait for the disk.
func fill(t *testing.T, l *ledger, n uint64) {
	t.Helper()
	l.db.db.NoSync = true
	defer func() { l.db.db.NoSync = false }()
	for l.head().Seq < n {
		var records [][]byte
		for range 1 + l.head().Seq%7 {
			records = append(records, testRecord(l.head().Seq+uint64(len(records))+1))
		}
		if err := l.append(records); err != nil {
			t.Fatal(err)
		}
	}
}

func testRecord(seq uint64) []byte {
	return []byte(strings.Repeat(fmt.Sprintf("record %d ", seq), 1+int(seq%60)))
}

func TestLedgerReadsWhatWasAppended(t *testing.T) {
	l := newLedger(t)
	fill(t, l, 500)
	head, path := l.head(), l.db.db.Path()
	for range 2 { // before and after it is opened again
		for seq := uint64(1); seq <= head.Seq; seq++ {
			if got, err := l.record(seq); err != nil || !bytes.Equal(got, testRecord(seq)) {
				t.Fatalf("record %d = %q, %v, want %q", seq, got, err, testRecord(seq))
			}
		}
		next := uint64(1)
		got, err := l.walk(t.Context(), tip{}, func(b block, _ tip) error {
			for ; next <= b.last(); next++ {
				if !bytes.Equal(b.record(next), testRecord(next)) {
					return fmt.Errorf("record %d = %q", next, b.record(next))
				}
			}
			return nil
		})
		if err != nil || got != head || next != head.Seq+1 {
			t.Fatalf("walk came to %v and record %d, %v, want %v", got, next-1, err, head)
		}
		if hash, err := l.hashAt(head.Seq); err != nil || hash != head.Hash {
			t.Fatalf("hash at the head = %v, %v, want %v", hash, err, head.Hash)
		}
		if err := l.close(); err != nil {
			t.Fatal(err)
		}
		if l, err = openLedger(path, 0); err != nil {
			t.Fatal(err)
		}
		if l.head() != head {
			t.Fatalf("head = %v, want %v", l.head(), head)
		}
	}
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
	if err := checkPages(t.Context(), path, true, nil); err != nil {
		t.Errorf("pages: %v", err)
	}
}

// R-L2: what is changed, removed, inserted or put in another order breaks the
// chain; the error says where.
func TestChainShowsWhatWasChanged(t *testing.T) {
	type edit func(b *bbolt.Bucket, l *ledger) error
	block := func(b *bbolt.Bucket, seq uint64) (key, value []byte) {
		k, v := b.Cursor().Seek(seqKey(seq))
		return bytes.Clone(k), bytes.Clone(v)
	}
	for name, e := range map[string]struct {
		edit edit
		want string
	}{
		"a byte of a record": {func(b *bbolt.Bucket, _ *ledger) error {
			k, v := block(b, 100)
			v[len(v)-1] ^= 1
			return b.Put(k, v)
		}, "the chain breaks: a record of seq"},
		"the hash of a block": {func(b *bbolt.Bucket, _ *ledger) error {
			k, v := block(b, 100)
			v[1] ^= 1
			return b.Put(k, v)
		}, "the chain breaks: a record of seq"},
		"a record left out": {func(b *bbolt.Bucket, _ *ledger) error {
			k, v := block(b, 100)
			old, err := parseBlock(k, v)
			if err != nil {
				return err
			}
			var records [][]byte
			for seq := old.first + 1; seq <= old.last(); seq++ {
				records = append(records, old.record(seq))
			}
			if err := b.Delete(k); err != nil {
				return err
			}
			return b.Put(seqKey(old.first+1), appendBlock(nil, old.prev, records))
		}, "is missing"},
		"a record more": {func(b *bbolt.Bucket, _ *ledger) error {
			k, v := block(b, 100)
			old, err := parseBlock(k, v)
			if err != nil {
				return err
			}
			records := [][]byte{[]byte("forged")}
			for seq := old.first; seq <= old.last(); seq++ {
				records = append(records, old.record(seq))
			}
			return b.Put(k, appendBlock(nil, old.prev, records))
		}, "is missing: a block starts at seq"},
		"a block left out": {func(b *bbolt.Bucket, _ *ledger) error {
			k, _ := block(b, 100)
			return b.Delete(k)
		}, "is missing: a block starts at seq"},
		"two records swapped": {func(b *bbolt.Bucket, _ *ledger) error {
			k, v := block(b, 100)
			old, err := parseBlock(k, v)
			if err != nil || old.n < 2 {
				return fmt.Errorf("block of %d records, %w", old.n, err)
			}
			var records [][]byte
			for seq := old.first; seq <= old.last(); seq++ {
				records = append(records, old.record(seq))
			}
			records[0], records[1] = records[1], records[0]
			return b.Put(k, appendBlock(nil, old.prev, records))
		}, "the chain breaks: a record of seq"},
		"a key that is none": {func(b *bbolt.Bucket, _ *ledger) error {
			_, v := block(b, 100)
			return b.Put([]byte("key"), v)
		}, "ledger key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLedger(t)
			fill(t, l, 300)
			if _, err := l.walk(t.Context(), tip{}, nil); err != nil {
				t.Fatalf("walk before the change: %v", err)
			}
			if err := l.db.update(func(tx *bbolt.Tx) error { return e.edit(tx.Bucket(bucketLedger), l) }); err != nil {
				t.Fatal(err)
			}
			_, err := l.walk(t.Context(), tip{}, nil)
			if !errors.Is(err, gate.ErrDamaged) || !strings.Contains(err.Error(), e.want) {
				t.Errorf("walk = %v, want damaged: … %s …", err, e.want)
			}
		})
	}
}

// What is shown with its hash is checked: against the next block or, of the
// newest one, against the head.
func TestHashOfAChangedRecord(t *testing.T) {
	l := newLedger(t)
	fill(t, l, 100)
	for _, seq := range []uint64{1, 50, l.head().Seq} {
		if _, err := l.hashAt(seq); err != nil {
			t.Fatal(err)
		}
		flip := func() {
			t.Helper()
			err := l.db.update(func(tx *bbolt.Tx) error {
				c := tx.Bucket(bucketLedger).Cursor()
				b, err := seekBlock(c, seq)
				if err != nil {
					return err
				}
				k, v := c.Seek(seqKey(b.first))
				v = bytes.Clone(v)
				v[len(v)-1] ^= 1
				return tx.Bucket(bucketLedger).Put(k, v)
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		flip()
		_, err := l.hashAt(seq)
		checkLine(t, fmt.Sprintf("the hash of seq %d", seq), err, gate.ErrDamaged)
		err = l.hashesOf(seq, map[uint64]gate.Digest{})
		checkLine(t, fmt.Sprintf("the hashes at seq %d", seq), err, gate.ErrDamaged)
		flip()
	}
}

// A tail that is written anew with hashes that fit is shown by a checkpoint
// only, and a tail that is cut off by the head or, with the head changed too,
// by a checkpoint.
func TestCheckpointShowsAnotherTail(t *testing.T) {
	l := newLedger(t)
	fill(t, l, 300)
	kept := Checkpoint{Realm: l.store.String(), Seq: l.head().Seq, Hash: l.head().Hash}
	if err := l.against(kept, l.head()); err != nil {
		t.Fatal(err)
	}
	cut := func(head bool) {
		t.Helper()
		err := l.db.update(func(tx *bbolt.Tx) error {
			b := tx.Bucket(bucketLedger)
			k, v := b.Cursor().Last()
			last, err := parseBlock(k, v)
			if err != nil {
				return err
			}
			before := tip{Seq: last.first - 1, Hash: last.prev}
			if err := b.Delete(k); err != nil || !head {
				return err
			}
			return tx.Bucket(bucketMeta).Put(metaHead, appendHead(nil, before))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	cut(true)
	if err := l.load(); err != nil {
		t.Fatalf("a ledger that is cut off with its head = %v, want no error without a checkpoint", err)
	}
	if err := l.against(kept, l.head()); !errors.Is(err, gate.ErrDamaged) || !strings.Contains(err.Error(), "a checkpoint says") {
		t.Errorf("against the checkpoint = %v, want damaged: … a checkpoint says …", err)
	}
	for l.head().Seq < kept.Seq {
		if err := l.append([][]byte{[]byte("forged")}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.walk(t.Context(), tip{}, nil); err != nil {
		t.Fatalf("walk over a tail written anew: %v", err)
	}
	if err := l.against(kept, l.head()); !errors.Is(err, gate.ErrDamaged) || !strings.Contains(err.Error(), "has hash") {
		t.Errorf("against the checkpoint = %v, want damaged: … has hash …", err)
	}
	cut(false)
	if err := l.load(); !errors.Is(err, gate.ErrDamaged) {
		t.Errorf("a ledger that is cut off without its head = %v, want damaged", err)
	}
}

func TestCheckpointText(t *testing.T) {
	c := Checkpoint{Realm: "000102030405060708090a0b0c0d0e0f", Seq: 812, Hash: gate.Digest{0xab}}
	line := c.String()
	if got, err := ParseCheckpoint(line); err != nil || got != c {
		t.Errorf("ParseCheckpoint(%q) = %v, %v, want %v", line, got, err, c)
	}
	for _, bad := range []string{"", line + " ", line[1:], strings.ToUpper(line), strings.Replace(line, " 812 ", " 0812 ", 1), line[:len(line)-1]} {
		if _, err := ParseCheckpoint(bad); err == nil {
			t.Errorf("ParseCheckpoint(%q) = no error, want one", bad)
		}
	}
}

func FuzzCheckpointLog(f *testing.F) {
	line := Checkpoint{Realm: "000102030405060708090a0b0c0d0e0f", Seq: 1, Hash: gate.Digest{1}}.String()
	f.Add([]byte(line + "\n" + line[:20]))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		c, ok, whole, err := readCheckpoints(path, "", nil)
		if err != nil {
			if !errors.Is(err, gate.ErrDamaged) {
				t.Errorf("err = %v, want damaged", err)
			}
			return
		}
		if whole > int64(len(b)) || ok && !bytes.Contains(b, []byte(c.String()+"\n")) {
			t.Errorf("newest = %v of %q", c, b)
		}
	})
}

func TestLedgerFull(t *testing.T) {
	t.Parallel()
	l := newLedger(t)
	path := l.db.db.Path()
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
	l, err := openLedger(path, 4<<20)
	if err != nil {
		t.Fatal(err)
	}
	l.db.db.AllocSize = 256 << 10 // how far the file grows at once; a small one is soon full
	big := bytes.Repeat([]byte("x"), 512<<10)
	var full error
	for range 200 {
		if full = l.append([][]byte{big}); full != nil {
			break
		}
	}
	if !errors.Is(full, gate.ErrStoreFull) {
		t.Fatalf("append without room = %v, want %v", full, gate.ErrStoreFull)
	}
	head := l.head()
	if got, err := l.walk(t.Context(), tip{}, nil); err != nil || got != head {
		t.Errorf("walk of a full ledger = %v, %v, want %v", got, err, head)
	}
	l.db.db.MaxSize = 0 // there is room again
	if err := l.append([][]byte{big}); err != nil {
		t.Errorf("append with room again = %v", err)
	}
	if l.head().Seq != head.Seq+1 {
		t.Errorf("seq = %d, want %d", l.head().Seq, head.Seq+1)
	}
}

// What a ledger file says of itself has a checksum: a schema of another version
// is told from a schema that a disk has changed, and nothing else passes.
func TestLedgerOfAnotherVersion(t *testing.T) {
	l := newLedger(t)
	put := func(key, value []byte) func(*bbolt.Tx) error {
		return func(tx *bbolt.Tx) error { return tx.Bucket(bucketMeta).Put(key, value) }
	}
	summed := func(change func(*bbolt.Tx) error) func(*bbolt.Tx) error {
		return func(tx *bbolt.Tx) error {
			meta := tx.Bucket(bucketMeta)
			return errors.Join(change(tx), meta.Put(metaSum, identitySum(meta)))
		}
	}
	later := put(metaSchema, binary.BigEndian.AppendUint32(nil, ledgerSchema+1))
	for name, c := range map[string]struct {
		change func(*bbolt.Tx) error
		want   error
	}{
		"a later schema":             {summed(later), ErrSchema},
		"a changed schema":           {later, gate.ErrDamaged},
		"a changed store id":         {put(metaStore, make([]byte, 16)), gate.ErrDamaged},
		"a changed time":             {put(metaCreated, make([]byte, 8)), gate.ErrDamaged},
		"a short store id":           {summed(put(metaStore, []byte("short"))), gate.ErrDamaged},
		"no checksum":                {func(tx *bbolt.Tx) error { return tx.Bucket(bucketMeta).Delete(metaSum) }, gate.ErrDamaged},
		"a short head":               {put(metaHead, []byte("short")), gate.ErrDamaged},
		"a key more":                 {put([]byte("more"), nil), gate.ErrDamaged},
		"a bucket more":              {func(tx *bbolt.Tx) error { _, err := tx.CreateBucket([]byte("more")); return err }, gate.ErrDamaged},
		"no bucket of blocks":        {func(tx *bbolt.Tx) error { return tx.DeleteBucket(bucketLedger) }, gate.ErrDamaged},
		"a meta bucket of no ledger": {func(tx *bbolt.Tx) error { return emptied(tx, bucketMeta) }, ErrForeign},
		"another program's buckets":  {func(tx *bbolt.Tx) error { return tx.DeleteBucket(bucketMeta) }, ErrForeign},
	} {
		before := copyOf(t, l.db.db)
		if err := l.db.update(c.change); err != nil {
			t.Fatal(err)
		}
		checkLine(t, name, l.load(), c.want)
		before()
	}
	if err := l.load(); err != nil {
		t.Error(err)
	}
}

func emptied(tx *bbolt.Tx, bucket []byte) error {
	if err := tx.DeleteBucket(bucket); err != nil {
		return err
	}
	_, err := tx.CreateBucket(bucket)
	return err
}

func TestWalkStopsWithItsContext(t *testing.T) {
	l := newLedger(t)
	fill(t, l, 20)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.walk(ctx, tip{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("walk = %v, want %v", err, context.Canceled)
	}
}
