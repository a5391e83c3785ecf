package runstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.etcd.io/bbolt"

	"tollgate/gate"
)

// flipFile changes a byte of a file that is open.
func flipFile(t *testing.T, path string, at int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	var b [1]byte
	_, err = f.ReadAt(b[:], at)
	b[0] ^= 1
	_, writeErr := f.WriteAt(b[:], at)
	if err := errors.Join(err, writeErr, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// metas returns where the newer meta page of a file begins, and the older.
func metas(t *testing.T, path string) (newer, older int64) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := int64(os.Getpagesize())
	txid := func(at int64) uint64 { return binary.NativeEndian.Uint64(b[at+pageHeader+48:]) }
	if txid(0) > txid(page) {
		return 0, page
	}
	return page, 0
}

// Whatever changes in the projection while the store is open, under a run that
// is not in memory: no budget comes back, and no run begins again (R-B1). The
// projection is built anew before anybody gets an answer.
func TestRotUnderAnOpenStore(t *testing.T) {
	id, other := idDigests("r")
	bucket := func(name []byte, change func(b *bbolt.Bucket) error) func(*testing.T, *Store, string) {
		return func(t *testing.T, s *Store, _ string) {
			t.Helper()
			if err := s.rows.update(func(tx *bbolt.Tx) error { return change(tx.Bucket(name)) }); err != nil {
				t.Fatal(err)
			}
		}
	}
	remove := func(key []byte) func(*bbolt.Bucket) error {
		return func(b *bbolt.Bucket) error {
			if b.Get(key) == nil {
				return fmt.Errorf("no key %x", key)
			}
			return b.Delete(key)
		}
	}
	for name, rot := range map[string]func(t *testing.T, s *Store, path string){
		"the newer meta page": func(t *testing.T, _ *Store, path string) {
			newer, _ := metas(t, path)
			flipFile(t, path, newer+pageHeader+4)
		},
		"the older meta page": func(t *testing.T, _ *Store, path string) {
			_, older := metas(t, path)
			flipFile(t, path, older+pageHeader+4)
		},
		"both meta pages": func(t *testing.T, _ *Store, path string) {
			newer, older := metas(t, path)
			flipFile(t, path, newer+pageHeader+4)
			flipFile(t, path, older+pageHeader+4)
		},
		"the key of the run's id":    bucket(bucketRunIDs, remove(id)),
		"the other key of it":        bucket(bucketRunIDsAgain, remove(other)),
		"an operation's id":          bucket(bucketOpIDs, remove(opIDKey(2, "op0"))),
		"an older row of the run":    older(bucketRuns),
		"older operations":           older(bucketOps),
		"an older list of decisions": older(bucketTold),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, story := begunStore(t, Options{})
			path := filepath.Join(s.files.dir, projectionName)
			for i := range 2 {
				if _, err := tellOne(t, s, story, askOf("r", fmt.Sprint("op", i), "{}")); err != nil {
					t.Fatal(err)
				}
				if _, err := s.Counts(t.Context()); err != nil { // a transaction for each
					t.Fatal(err)
				}
			}
			s.held.drop(slices.Index(s.held.ring, "r"))
			rot(t, s, path)

			d, err := tellOne(t, s, story, startOf("r"))
			if err != nil || d.NewRun != nil && d.Seq > 4 {
				t.Errorf("starting the run again = %v at seq %d, %v, want the answer that it got before", d.Verdict, d.Seq, err)
			}
			d, err = tellOne(t, s, story, askOf("r", "op2", "{}"))
			if err != nil || d.Verdict != gate.Admit || d.Before.Spent.Attempts != 2 {
				t.Errorf("the next ask = %v with %d spent, %v, want it admitted after 2", d.Verdict, d.Before.Spent.Attempts, err)
			}
			if _, err := tellOne(t, s, story, gate.Report{Run: "r", Op: "op0", Ordinal: 1, OK: true}); err != nil {
				t.Errorf("report = %v", err)
			}
			if view, err := s.Run(t.Context(), "r", story.Now); err != nil || len(view.Ops) != 3 {
				t.Errorf("run = %d operations, %v, want 3", len(view.Ops), err)
			}
			row, err := s.Operation(t.Context(), gate.Ref{Run: "r", Op: "op0"}, story.Now)
			if err != nil || row.State != gate.OpSucceeded {
				t.Errorf("the operation is %v, %v, want succeeded", row.State, err)
			}
			got := findings(t, s, true)
			anew := strings.HasPrefix(got, "projection.db: it was built anew: ")
			again := strings.HasPrefix(got, "run_ids_again: key ")
			if strings.Count(got, "\n") > 1 || got != "" && !anew && !again || again != (name == "the other key of it") {
				t.Errorf("findings:\n%s", got)
			}
		})
	}
}

// older puts the newest row of the run r in a bucket back to what it was before
// the newest decision, as a page would that leads to a page of then.
func older(name []byte) func(t *testing.T, s *Store, path string) {
	return func(t *testing.T, s *Store, _ string) {
		t.Helper()
		err := s.rows.update(func(tx *bbolt.Tx) error {
			row, _, err := runNamed(tx, "r")
			if err != nil {
				return err
			}
			opened := row.run.Opened
			switch {
			case bytes.Equal(name, bucketRuns):
				row.run.Last, row.told, row.ops = row.run.Last-1, row.told-1, row.ops-1
				row.run.Budget.Spent.Attempts--
				ops, err := opsOf(tx, opened)
				if err != nil {
					return err
				}
				row.sum -= ops[len(ops)-1].Last
				return put(tx.Bucket(name), seqKey(opened), encodeRow(storeRunRow(row)))
			case bytes.Equal(name, bucketOps):
				return tx.Bucket(name).Delete(place{opened, uint32(row.ops - 1)}.key())
			default:
				key := place{opened, 0}.key()
				seqs, err := get(tx.Bucket(name), key)
				if err != nil {
					return err
				}
				return put(tx.Bucket(name), key, bytes.Clone(seqs[:len(seqs)-8]))
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// While the projection is built anew nobody gets an error: whoever reads waits.
func TestReadersWhileItIsBuiltAnew(t *testing.T) {
	t.Parallel()
	s, story, _ := toldStore(t, 300)
	if _, err := s.Counts(t.Context()); err != nil { // everything is in the projection
		t.Fatal(err)
	}
	for n := range uint64(20) {
		err := s.rows.update(func(tx *bbolt.Tx) error {
			row, _, err := runNamed(tx, "r0")
			if err != nil {
				return err
			}
			b, key := tx.Bucket(bucketRuns), seqKey(row.run.Opened)
			rotten := bytes.Clone(b.Get(key))
			rotten[len(rotten)/2] ^= 1
			return b.Put(key, rotten)
		})
		if err != nil {
			t.Fatal(err)
		}
		var readers sync.WaitGroup
		for range 4 {
			readers.Go(func() {
				_, runErr := s.Run(t.Context(), "r0", story.Now)
				_, countErr := s.Counts(t.Context())
				_, loadErr := s.Load(t.Context(), gate.Want{Run: "r1"})
				if err := errors.Join(runErr, countErr, loadErr); err != nil {
					t.Errorf("a reader got %v", err)
				}
			})
		}
		readers.Wait()
		if got := s.rows.turn(); got != n+1 {
			t.Errorf("built anew %d times, want %d", got, n+1)
		}
	}
}

// A ledger whose meta pages change while it is open takes nothing more in: bbolt
// would write the next block in the place of one that was acknowledged.
func TestRotUnderAnOpenLedger(t *testing.T) {
	for name, pages := range map[string]int{"the newer meta page": 1, "both": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, story := begunStore(t, Options{})
			path := filepath.Join(s.files.dir, ledgerName)
			newer, older := metas(t, path)
			flip := func() {
				for _, at := range []int64{newer, older}[:pages] {
					flipFile(t, path, at+pageHeader+4)
				}
			}
			before := s.Checkpoint()
			flip()
			for i := range 2 {
				if _, err := tellOne(t, s, story, askOf("r", fmt.Sprint("op", i), "{}")); !errors.Is(err, gate.ErrDamaged) {
					t.Errorf("ask %d = %v, want ErrDamaged", i, err)
				}
			}
			flip()
			if d, err := tellOne(t, s, story, askOf("r", "op3", "{}")); err != nil || d.Seq != before.Seq+1 {
				t.Errorf("when the page is as it was: seq %d, %v, want %d", d.Seq, err, before.Seq+1)
			}
			if got := findings(t, s, true); got != "" {
				t.Errorf("findings:\n%s", got)
			}
		})
	}
}
