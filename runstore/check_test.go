package runstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"tollgate/gate"
	"tollgate/runstore/storetest"
)

// toldStore is a store in which a story has been told.
func toldStore(t *testing.T, n int) (*Store, *storetest.Story, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	if err := Init(dir, storetest.Realm); err != nil {
		t.Fatal(err)
	}
	s := openStore(t, dir, Options{})
	story := storetest.NewStory(7)
	if err := story.Tell(t.Context(), s, n); err != nil {
		t.Fatal(err)
	}
	return s, story, dir
}

func openStore(t *testing.T, dir string, o Options) *Store {
	t.Helper()
	s, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func findings(t *testing.T, s *Store, full bool) string {
	t.Helper()
	v, err := s.Verify(t.Context(), full)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range v.Findings {
		fmt.Fprintln(&b, f)
	}
	return b.String()
}

// R-L2: whatever is changed in the projection behind the store's back is found,
// and named.
func TestVerifyFindsAChangedRow(t *testing.T) {
	t.Parallel()
	s, _, _ := toldStore(t, 300)
	if got := findings(t, s, true); got != "" {
		t.Fatalf("findings before the change:\n%s", got)
	}
	firstOf := func(tx *bbolt.Tx, bucket []byte) (b *bbolt.Bucket, k, v []byte) {
		b = tx.Bucket(bucket)
		k, v = b.Cursor().First()
		return b, bytes.Clone(k), bytes.Clone(unchecked(v))
	}
	for name, c := range map[string]struct {
		change func(tx *bbolt.Tx) error
		want   string
	}{
		"a counter of a run": {func(tx *bbolt.Tx) error {
			b, k, v := firstOf(tx, bucketRuns)
			row, err := decodeRow[storedRunRow](v)
			if err != nil {
				return err
			}
			row.run.Budget.Spent.Attempts--
			return put(b, k, encodeRow(storeRunRow(row)))
		}, `runs: run "r0" differs from the ledger: run.Budget.Spent.Attempts is`},
		"the result of an operation": {func(tx *bbolt.Tx) error {
			b, k, v := firstOf(tx, bucketOps)
			op, err := decodeRow[storedOperation](v)
			if err != nil {
				return err
			}
			op.Key = "forged"
			return put(b, k, encodeRow(storeOperation(op)))
		}, `Key is "forged", want`},
		"a lost entry of the queue": {func(tx *bbolt.Tx) error {
			b, k, _ := firstOf(tx, bucketQueue)
			return b.Delete(k)
		}, "queue: key"},
		"an entry too many": {func(tx *bbolt.Tx) error {
			return put(tx.Bucket(bucketRunsByState), []byte("0123456789"), nil)
		}, "runs_by_state: key 30313233343536373839 is not in the ledger"},
		"a window of a dependency": {func(tx *bbolt.Tx) error {
			b, k, v := firstOf(tx, bucketDependencies)
			d, err := decodeRow[storedDependency](v)
			if err != nil {
				return err
			}
			d.Breaker.State ^= 1
			return put(b, k, encodeRow(storeDependency(d)))
		}, "differs from the ledger: Breaker.State is"},
		"a counter of the header": {func(tx *bbolt.Tx) error {
			b := tx.Bucket(bucketMeta)
			sum, err := readRow[storedSummary](metaSummary, b.Get(metaSummary))
			if err != nil {
				return err
			}
			sum.counts.Runs++
			return put(b, metaSummary, encodeRow(storeSummary(sum)))
		}, `meta: "summary" differs`},
	} {
		t.Run(name, func(t *testing.T) {
			undo := copyOf(t, s.rows.file.db)
			if err := s.rows.update(c.change); err != nil {
				t.Fatal(err)
			}
			if got := findings(t, s, false); got != "" {
				t.Errorf("findings of a quick verification:\n%s", got)
			}
			if got := findings(t, s, true); strings.Count(got, "\n") != 1 || !strings.Contains(got, c.want) {
				t.Errorf("findings = %swant one line with %s", got, c.want)
			}
			undo()
		})
	}
	if got := findings(t, s, true); got != "" {
		t.Errorf("findings after all was put back:\n%s", got)
	}
}

// copyOf returns a function that puts back every row of a bbolt file.
func copyOf(t *testing.T, db *bbolt.DB) func() {
	t.Helper()
	rows := map[string]map[string][]byte{}
	err := db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
			rows[string(name)] = map[string][]byte{}
			return b.ForEach(func(k, v []byte) error {
				rows[string(name)][string(k)] = bytes.Clone(v)
				return nil
			})
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		err := db.Update(func(tx *bbolt.Tx) error {
			for _, name := range namesIn(tx.Cursor()) {
				if err := tx.DeleteBucket([]byte(name)); err != nil {
					return err
				}
			}
			for name, entries := range rows {
				b, err := tx.CreateBucket([]byte(name))
				if err != nil {
					return err
				}
				for k, v := range entries {
					if err := b.Put([]byte(k), v); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A decision that was forged together with every hash after it is what only
// the rules can show.
func TestVerifyFindsAForgedDecision(t *testing.T) {
	t.Parallel()
	s, _, dir := toldStore(t, 200)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{checkpointsName, projectionName} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	l, err := openLedger(filepath.Join(dir, ledgerName), 0)
	if err != nil {
		t.Fatal(err)
	}
	forged := forge(t, l)
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
	again := openStore(t, dir, Options{})
	if got := findings(t, again, false); got != "" {
		t.Errorf("findings of a quick verification:\n%s", got)
	}
	got := findings(t, again, true)
	if want := fmt.Sprintf("decision, seq %d: decided again it differs: Permit.Inner is", forged); !strings.Contains(got, want) {
		t.Errorf("findings = %swant %s", got, want)
	}
}

// forge gives the first permit an attempt more, and chains all records anew.
func forge(t *testing.T, l *ledger) (seq uint64) {
	t.Helper()
	var blocks [][][]byte
	err := l.blocks(t.Context(), 0, func(b block) error {
		var records [][]byte
		for at, r := range b.all {
			d, err := decodeRecord(at, storetest.Realm, r)
			if err != nil {
				return err
			}
			if seq == 0 && d.Verdict == gate.Admit {
				seq = at
				d.Permit.Inner++
				r = bindRecord(encodeDecision(&d), d.Prev)
			}
			records = append(records, r)
		}
		blocks = append(blocks, records)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = l.db.update(func(tx *bbolt.Tx) error {
		b, c := tx.Bucket(bucketLedger), newChain(l.store, tip{})
		for _, records := range blocks {
			key, value := seqKey(c.head.Seq+1), appendBlock(nil, c.head.Hash, records)
			for _, r := range records {
				c.add(r)
			}
			if err := b.Put(key, value); err != nil {
				return err
			}
		}
		return tx.Bucket(bucketMeta).Put(metaHead, appendHead(nil, c.head))
	})
	if err != nil {
		t.Fatal(err)
	}
	return seq
}

// A record that was changed on disk is found by the chain, which names where.
func TestVerifyFindsAChangedRecord(t *testing.T) {
	t.Parallel()
	s, _, dir := toldStore(t, 200)
	record, err := s.ledger.Load().record(50)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, ledgerName)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; ; at++ { // every copy of it, in pages that count and in free ones
		i := bytes.Index(b[at:], record)
		if i < 0 {
			break
		}
		at += i
		b[at+len(record)/2] ^= 4
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	again := openStore(t, dir, Options{})
	if got := findings(t, again, false); !strings.Contains(got, "chain, seq 51: the store is damaged: the chain breaks: a record of seq 50 to 50") {
		t.Errorf("findings = %swant the chain to break after seq 50", got)
	}
}

// The projection is the ledger's shadow: lost, damaged or of another ledger it
// is built anew. One that was damaged is a finding, as long as the store is
// open: a disk that does this is worth knowing of.
func TestProjectionIsBuiltAnew(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(path string) error
		told  string // what a verification says; nothing of what is no damage
	}{
		"missing":       {os.Remove, ""},
		"empty":         {func(path string) error { return os.Truncate(path, 0) }, "the file is empty"},
		"cut off":       {func(path string) error { return os.Truncate(path, 20000) }, "the file has 20000 bytes"},
		"text":          {func(path string) error { return os.WriteFile(path, []byte("text"), 0o600) }, "meta page 0 is cut off"},
		"a long text":   {func(path string) error { return os.WriteFile(path, make16K('x'), 0o600) }, "not a tollgate ledger"},
		"of another":    {func(path string) error { return emptyProjection(path, storeID{9}) }, "it is of store 09"},
		"one that lags": {func(path string) error { return emptyProjection(path, mustRealm(t)) }, ""},
		"a changed row": {func(path string) error {
			return updateFile(path, func(tx *bbolt.Tx) error {
				b := tx.Bucket(bucketRuns)
				k, v := b.Cursor().First()
				v = bytes.Clone(v)
				v[len(v)/2] ^= 1
				return b.Put(k, v)
			})
		}, "does not match its checksum"},
		"of a later version": {func(path string) error {
			return updateFile(path, func(tx *bbolt.Tx) error {
				return put(tx.Bucket(bucketMeta), metaSchema, binary.BigEndian.AppendUint32(nil, projectionSchema+1))
			})
		}, ""},
		"ahead": {func(path string) error {
			return updateFile(path, func(tx *bbolt.Tx) error {
				return put(tx.Bucket(bucketMeta), metaProjected, appendHead(nil, tip{Seq: 1 << 30}))
			})
		}, "the projection is at seq 1073741824, the ledger at seq"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _, dir := toldStore(t, 100)
			want, err := s.Counts(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if err := c.spoil(filepath.Join(dir, projectionName)); err != nil {
				t.Fatal(err)
			}
			again := openStore(t, dir, Options{})
			if got, err := again.Counts(t.Context()); err != nil || got != want {
				t.Errorf("counts = %+v, %v, want %+v", got, err, want)
			}
			for _, full := range []bool{false, true} {
				if got := findings(t, again, full); strings.Count(got, "\n") != min(1, len(c.told)) || !strings.Contains(got, c.told) {
					t.Errorf("findings (full %v) = %q, want %q", full, got, c.told)
				}
			}
			if err := again.Close(); err != nil {
				t.Fatal(err)
			}
			if got := findings(t, openStore(t, dir, Options{}), true); got != "" {
				t.Errorf("findings when it is opened once more:\n%s", got)
			}
		})
	}
}

func make16K(b byte) []byte { return bytes.Repeat([]byte{b}, 16<<10) }

func updateFile(path string, fn func(*bbolt.Tx) error) error {
	db, err := openBolt(path, 0)
	if err != nil {
		return err
	}
	return errors.Join(db.update(fn), db.Close())
}

func emptyProjection(path string, store storeID) error {
	p, err := createProjection(path, store)
	if err != nil {
		return err
	}
	return p.close()
}

func mustRealm(t *testing.T) storeID {
	t.Helper()
	id, err := parseRealm(storetest.Realm)
	if err != nil {
		t.Fatal(err)
	}
	return id
}
