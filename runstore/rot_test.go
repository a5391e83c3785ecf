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
				ops, err := row.opsOf(tx)
				if err != nil {
					return err
				}
				row.run.Last, row.told, row.ops = row.run.Last-1, row.told-1, row.ops-1
				row.run.Budget.Spent.Attempts--
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

// pageRot damages a page of a file that is open, and takes it back.
type pageRot func(t *testing.T, path string, page uint64) (undo func())

// pageNow returns the bytes of a page.
func pageNow(t *testing.T, path string, page uint64) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	b := make([]byte, os.Getpagesize())
	if _, err := f.ReadAt(b, int64(page)*int64(len(b))); err != nil {
		t.Fatal(err)
	}
	return b
}

func writePage(t *testing.T, path string, page uint64, b []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt(b, int64(page)*int64(os.Getpagesize()))
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

func rotten(change func(b []byte)) pageRot {
	return func(t *testing.T, path string, page uint64) func() {
		t.Helper()
		was := pageNow(t, path, page)
		now := bytes.Clone(was)
		change(now)
		writePage(t, path, page, now)
		return func() { writePage(t, path, page, was) }
	}
}

// A ledger in which a page has changed that the next block builds on takes
// nothing more in, hangs nobody, and goes on from where it stood when the page
// is as it was.
func TestRotUnderAnOpenLedger(t *testing.T) {
	metaPages := func(n int) func(*testing.T, *Store, string) func() {
		return func(t *testing.T, _ *Store, path string) func() {
			newer, older := metas(t, path)
			flip := func() {
				for _, at := range []int64{newer, older}[:n] {
					flipFile(t, path, at+pageHeader+4)
				}
			}
			flip()
			return flip
		}
	}
	trailPage := func(n int, rot pageRot) func(*testing.T, *Store, string) func() {
		return func(t *testing.T, s *Store, path string) func() {
			pages := s.ledger.Load().trail.pages // the free list, the top, and so on down
			return rot(t, path, pages[min(n, len(pages)-1)].id)
		}
	}
	cut := func(size int64) func(*testing.T, *Store, string) func() {
		return func(t *testing.T, _ *Store, path string) func() {
			was, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(path, size); err != nil {
				t.Fatal(err)
			}
			return func() {
				f, err := os.OpenFile(path, os.O_RDWR, 0)
				if err != nil {
					t.Fatal(err)
				}
				_, err = f.WriteAt(was, 0)
				if err := errors.Join(err, f.Close()); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	const last = 99
	for name, rot := range map[string]func(t *testing.T, s *Store, path string) (undo func()){
		"the newer meta page":      metaPages(1),
		"both meta pages":          metaPages(2),
		"the free list, all zeros": trailPage(0, rotten(func(b []byte) { clear(b) })),
		"a bit of the top page":    trailPage(1, rotten(func(b []byte) { b[133] ^= 6 })),
		"the count of the last leaf": trailPage(last, rotten(func(b []byte) {
			binary.NativeEndian.PutUint16(b[10:], binary.NativeEndian.Uint16(b[10:])-1)
		})),
		"a bit of the last leaf":  trailPage(last, rotten(func(b []byte) { b[pageHeader+4] ^= 1 })),
		"the file, cut to a page": cut(4096),
		"the file, emptied":       cut(0),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, story := begunStore(t, Options{})
			for i := range 30 {
				if _, err := tellOne(t, s, story, askOf("r", fmt.Sprint("before", i), "{}")); err != nil {
					t.Fatal(err)
				}
			}
			path := filepath.Join(s.files.dir, ledgerName)
			before := s.Checkpoint()
			undo := rot(t, s, path)
			for i := range 2 {
				if _, err := tellOne(t, s, story, askOf("r", fmt.Sprint("op", i), "{}")); !errors.Is(err, gate.ErrDamaged) {
					t.Errorf("ask %d = %v, want ErrDamaged", i, err)
				}
			}
			if _, err := s.Ledger(t.Context(), gate.LedgerQuery{}); !errors.Is(err, gate.ErrDamaged) {
				t.Errorf("reading the ledger = %v, want ErrDamaged", err)
			}
			undo()
			if d, err := tellOne(t, s, story, askOf("r", "op3", "{}")); err != nil || d.Seq != before.Seq+1 {
				t.Errorf("when it is as it was: seq %d, %v, want %d", d.Seq, err, before.Seq+1)
			}
			if got := findings(t, s, true); got != "" {
				t.Errorf("findings:\n%s", got)
			}
		})
	}
}

// An older top page, as a write leaves that never came to the disk, brings no
// budget back; a page that bbolt falls over hangs nobody.
func TestOlderTopOfTheProjection(t *testing.T) {
	for name, after := range map[string]pageRot{
		"an older top":             nil,
		"the free list, all zeros": rotten(func(b []byte) { clear(b) }),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, story := begunStore(t, Options{})
			path := filepath.Join(s.files.dir, projectionName)
			top := func() (root, freelist uint64) {
				newer, _ := metas(t, path)
				f, err := os.Open(path)
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close() //nolint:errcheck // it was only read
				m, fault := metaAt(f, uint64(newer)/uint64(os.Getpagesize()), newer)
				if fault != "" {
					t.Fatal(fault)
				}
				return m.root, m.freelist
			}
			var old []byte
			for i := range 2 {
				if _, err := tellOne(t, s, story, askOf("r", fmt.Sprint("op", i), "{}")); err != nil {
					t.Fatal(err)
				}
				if _, err := s.Counts(t.Context()); err != nil {
					t.Fatal(err)
				}
				if root, _ := top(); i == 0 {
					old = pageNow(t, path, root)
				}
			}
			s.held.drop(slices.Index(s.held.ring, "r"))
			root, freelist := top()
			if after == nil {
				binary.NativeEndian.PutUint64(old, root)
				writePage(t, path, root, old)
			} else {
				after(t, path, freelist)
			}
			for i := range 2 {
				d, err := tellOne(t, s, story, askOf("r", fmt.Sprint("next", i), "{}"))
				if err != nil || d.Verdict != gate.Admit || d.Before.Spent.Attempts != int64(2+i) {
					t.Errorf("ask %d = %v with %d spent, %v, want it admitted after %d", i, d.Verdict, d.Before.Spent.Attempts, err, 2+i)
				}
				if view, err := s.Run(t.Context(), "r", story.Now); err != nil || len(view.Ops) != 3+i {
					t.Errorf("run = %d operations, %v, want %d", len(view.Ops), err, 3+i)
				}
			}
			if got := findings(t, s, true); strings.Count(got, "\n") > 1 || got != "" && !strings.HasPrefix(got, "projection.db: it was built anew: ") {
				t.Errorf("findings:\n%s", got)
			}
		})
	}
}
