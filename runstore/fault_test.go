package runstore

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"tollgate/gate"
	"tollgate/runstore/storetest"
)

// tellOne sends one command to the store.
func tellOne(t *testing.T, s *Store, story *storetest.Story, c gate.Command) (gate.Decision, error) {
	t.Helper()
	return storetest.Decide(t.Context(), s, c, story.Inputs())
}

// begunStore is a store with the contract adopted and the run r started.
func begunStore(t *testing.T, o Options) (*Store, *storetest.Story) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	if err := Init(dir, storetest.Realm); err != nil {
		t.Fatal(err)
	}
	s := openStore(t, dir, o)
	if o.MaxSize > 0 {
		s.ledger.Load().db.db.AllocSize = 256 << 10 // how far the file grows at once; a small one is soon full
	}
	story := storetest.NewStory(1)
	adopt, err := story.Adopt()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []gate.Command{adopt, startOf("r")} {
		if _, err := tellOne(t, s, story, c); err != nil {
			t.Fatal(err)
		}
	}
	return s, story
}

func startOf(run gate.RunID) gate.Start {
	attempts, effects, deadline := int64(1000), int64(1000), time.Hour
	return gate.Start{Run: run, Limits: gate.Limits{Attempts: &attempts, SideEffects: &effects, Deadline: &deadline}}
}

func askOf(run gate.RunID, op string, input string) gate.Ask {
	return gate.Ask{Run: run, ID: "ask-" + op, Op: gate.OpID(op), Tool: "put", Input: []byte(input)}
}

// I1, I2: after a commit error nothing is acknowledged until the ledger has
// been opened again; then the ask id tells what is in it, and the store goes on
// from there.
func TestCommitOfUnknownOutcome(t *testing.T) {
	s, story := begunStore(t, Options{})
	if _, err := tellOne(t, s, story, askOf("r", "op1", "{}")); err != nil {
		t.Fatal(err)
	}
	before := s.Checkpoint()
	if err := s.ledger.Load().db.Close(); err != nil { // the next commit fails
		t.Fatal(err)
	}
	if _, err := tellOne(t, s, story, askOf("r", "op2", "{}")); !errors.Is(err, gate.ErrUnknownCommit) {
		t.Fatalf("commit = %v, want %v", err, gate.ErrUnknownCommit)
	}
	d, err := tellOne(t, s, story, askOf("r", "op2", "{}"))
	if err != nil || d.Seq != before.Seq+1 || d.Before.Spent.Attempts != 1 {
		t.Errorf("the same ask again = seq %d with %d spent, %v, want seq %d with 1", d.Seq, d.Before.Spent.Attempts, err, before.Seq+1)
	}
	if got := findings(t, s, true); got != "" {
		t.Errorf("findings:\n%s", got)
	}
}

// A commit whose error came after its bytes were on disk is found to be there.
func TestCommitThatHappenedAfterAll(t *testing.T) {
	s, story := begunStore(t, Options{})
	chain := []gate.Transition{stepOf(t, s, story, askOf("r", "op1", "{}"))}
	bodies, err := encodeChain(chain)
	if err != nil {
		t.Fatal(err)
	}
	// What the disk has, the writer does not know of.
	record := bindRecord(bodies[0], s.durable.Load().Seq)
	if err := s.ledger.Load().append([][]byte{record}); err != nil {
		t.Fatal(err)
	}
	if err := s.ledger.Load().db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := tellOne(t, s, story, askOf("r", "op1", "{}")); !errors.Is(err, gate.ErrUnknownCommit) {
		t.Fatalf("commit = %v, want %v", err, gate.ErrUnknownCommit)
	}
	d, err := tellOne(t, s, story, askOf("r", "op1", "{}"))
	if err != nil || d.Seq != 3 || d.Verdict != gate.Admit {
		t.Errorf("the same ask again = seq %d, %v, %v, want the decision at seq 3", d.Seq, d.Verdict, err)
	}
	if view, err := s.Run(t.Context(), "r", story.Now); err != nil || view.Budget.Attempts.Spent != 1 {
		t.Errorf("run = %+v, %v, want one attempt spent", view.Budget, err)
	}
	if got := findings(t, s, true); got != "" {
		t.Errorf("findings:\n%s", got)
	}
}

func stepOf(t *testing.T, s *Store, story *storetest.Story, c gate.Command) gate.Transition {
	t.Helper()
	want, err := c.Wants(story.Contract)
	if err != nil {
		t.Fatal(err)
	}
	state, err := s.Load(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := gate.Step(state, c, story.Inputs())
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// Out of space, new charges are refused and nothing is written; reading goes
// on; with room again the store goes on by itself.
func TestStoreFull(t *testing.T) {
	t.Parallel()
	s, story := begunStore(t, Options{MaxSize: 2 << 20})
	input := `{"text":"` + strings.Repeat("x", 60_000) + `"}`
	var full error
	n := 0
	for ; n < 1000 && full == nil; n++ {
		_, full = tellOne(t, s, story, askOf("r", fmt.Sprintf("op%d", n), input))
	}
	if !errors.Is(full, gate.ErrStoreFull) {
		t.Fatalf("commit without room = %v, want %v", full, gate.ErrStoreFull)
	}
	n-- // the one that was refused
	if _, err := tellOne(t, s, story, askOf("r", "again", input)); !errors.Is(err, gate.ErrStoreFull) {
		t.Errorf("another commit = %v, want %v", err, gate.ErrStoreFull)
	}
	view, err := s.Run(t.Context(), "r", story.Now)
	if err != nil || view.Budget.Attempts.Spent != int64(n) || len(view.Ops) != n {
		t.Errorf("run = %+v with %d operations, %v, want %d of both", view.Budget.Attempts, len(view.Ops), err, n)
	}
	state, err := s.Load(t.Context(), gate.Want{Run: "r", Op: "op0", Said: "ask-op0"})
	if err != nil || len(state.Ops) != 1 || len(state.Said) != 1 {
		t.Errorf("state = %d operations and %d decisions, %v, want one of each", len(state.Ops), len(state.Said), err)
	}
	s.ledger.Load().db.db.MaxSize = 0
	d, err := tellOne(t, s, story, askOf("r", "room", input))
	if err != nil || d.Before.Spent.Attempts != int64(n) {
		t.Errorf("with room again = %d spent, %v, want %d", d.Before.Spent.Attempts, err, n)
	}
	if got := findings(t, s, true); got != "" {
		t.Errorf("findings:\n%s", got)
	}
}

// The writer says that it found no room after it has stopped. Whoever asks in
// between opens the ledger again, and goes on from there: what it was given is
// on its way to the disk, and must not be thrown away.
func TestStoreFullIsSaidLate(t *testing.T) {
	s, _ := begunStore(t, Options{})
	full := fmt.Errorf("no room: %w", gate.ErrStoreFull)
	s.writer.mu.Lock()
	s.writer.fault = full
	s.writer.mu.Unlock()
	if _, err := s.Load(t.Context(), gate.Want{Run: "r0"}); err != nil {
		t.Fatal(err)
	}
	goesOn := s.held
	s.failed(full)
	if s.held != goesOn {
		t.Error("the state that the ledger was opened again with has been thrown away")
	}
}

// What was decided on a state that was thrown away conflicts, although the
// revisions have come to the same numbers again.
func TestStateThatWasThrownAwayConflicts(t *testing.T) {
	s, story := begunStore(t, Options{})
	lost := stepOf(t, s, story, askOf("r", "op1", "{}"))
	s.mu.Lock()
	defer s.mu.Unlock()
	fresh := func() *held {
		h, err := newHeld(s.rows, s.held.epoch)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	if err := s.projector.settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	again := fresh()
	if _, _, err := again.apply(s.seq+1, []gate.Transition{lost}); err != nil {
		t.Fatalf("on the same state: %v", err)
	}
	again = fresh()
	again.epoch++
	if _, _, err := again.apply(s.seq+1, []gate.Transition{lost}); !errors.Is(err, gate.ErrConflict) {
		t.Errorf("on a state of another epoch = %v, want %v", err, gate.ErrConflict)
	}
}

// A run leaves memory when nothing can happen to it by itself any more, and
// comes back as it was when it is asked for.
func TestRunsLeaveMemoryAndComeBack(t *testing.T) {
	t.Parallel()
	s, story := begunStore(t, Options{})
	const runs = 40
	for i := range runs {
		run := gate.RunID(fmt.Sprintf("run%d", i))
		for _, c := range []gate.Command{startOf(run), askOf(run, "op", "{}"), gate.Report{Run: run, Op: "op", Ordinal: 1, OK: true, Result: "done"}, gate.End{Run: run}} {
			if _, err := tellOne(t, s, story, c); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := s.Counts(t.Context()); err != nil { // the rows are current
		t.Fatal(err)
	}
	for i := range runs { // each commit looks at a few
		if _, err := tellOne(t, s, story, askOf("r", fmt.Sprintf("op%d", i), "{}")); err != nil {
			t.Fatal(err)
		}
	}
	s.mu.Lock()
	held := len(s.held.ring)
	s.mu.Unlock()
	if held > 5 {
		t.Errorf("%d runs are held, of which one is not ended", held)
	}
	d, err := tellOne(t, s, story, askOf("run7", "op", "{}"))
	if err != nil || d.Verdict != gate.Admit || d.Before.Spent.Attempts != 0 {
		t.Errorf("the same ask of a run that left memory = %v with %d spent, %v, want its ADMIT", d.Verdict, d.Before.Spent.Attempts, err)
	}
	d, err = tellOne(t, s, story, gate.Ask{Run: "run7", ID: "more", Op: "op2", Tool: "put", Input: []byte("{}")})
	if err != nil || d.Verdict != gate.StopTerminal || d.Before.Spent.Attempts != 1 {
		t.Errorf("an ask of a run that has ended = %v with %d spent, %v", d.Verdict, d.Before.Spent.Attempts, err)
	}
	if got := findings(t, s, true); got != "" {
		t.Errorf("findings:\n%s", got)
	}
}

// A projection that turns out to be damaged is built anew while the store is
// open; the ledger goes on meanwhile.
func TestProjectionFault(t *testing.T) {
	s, story := begunStore(t, Options{})
	if _, err := s.Counts(t.Context()); err != nil {
		t.Fatal(err)
	}
	err := s.rows.update(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketRuns).Delete(seqKey(2)) // the run's row is lost
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if _, err := tellOne(t, s, story, askOf("r", fmt.Sprintf("op%d", i), "{}")); err != nil {
			t.Errorf("commit = %v", err)
		}
		if view, err := s.Run(t.Context(), "r", story.Now); err != nil || len(view.Ops) != i+1 {
			t.Errorf("run = %d operations, %v, want %d", len(view.Ops), err, i+1)
		}
	}
	if got, want := findings(t, s, true), "projection.db: it was built anew: the store is damaged: the run opened at seq 2 has no row\n"; got != want {
		t.Errorf("findings = %q, want %q", got, want)
	}
}

// Damage that a reader meets while the store is open is mended before it gets
// an answer, whether it asks for a screen or for a decision.
func TestReaderMeetsDamage(t *testing.T) {
	for what, read := range map[string]func(s *Store) error{
		"a run": func(s *Store) error {
			view, err := s.Run(t.Context(), "r0", storetest.Noon)
			if err == nil && view.Run != "r0" {
				err = fmt.Errorf("run = %q", view.Run)
			}
			return err
		},
		"all runs": func(s *Store) error {
			page, err := s.Runs(t.Context(), gate.RunsQuery{Now: storetest.Noon})
			if err == nil && page.Total != int64(len(page.Rows)) {
				err = fmt.Errorf("%d of %d runs", len(page.Rows), page.Total)
			}
			return err
		},
		"its history": func(s *Store) error {
			page, err := s.Ledger(t.Context(), gate.LedgerQuery{Run: "r0"})
			if err == nil && len(page.Rows) == 0 {
				err = errors.New("no decision")
			}
			return err
		},
		"the state of a run": func(s *Store) error {
			state, err := s.Load(t.Context(), gate.Want{Run: "r0"})
			if err == nil && len(state.Runs) != 1 {
				err = fmt.Errorf("%d runs", len(state.Runs))
			}
			return err
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			told, _, dir := toldStore(t, 100)
			if err := told.Close(); err != nil {
				t.Fatal(err)
			}
			s := openStore(t, dir, Options{})
			if err := read(s); err != nil {
				t.Fatal(err)
			}
			if at := slices.Index(s.held.ring, "r0"); at >= 0 {
				s.held.drop(at)
			}
			err := s.rows.update(func(tx *bbolt.Tx) error {
				b := tx.Bucket(bucketRuns)
				k, v := b.Cursor().First()
				v = bytes.Clone(v)
				v[len(v)/2] ^= 1
				return b.Put(k, v)
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := read(s); err != nil {
				t.Errorf("read = %v, want what was there before the damage", err)
			}
			if got := findings(t, s, true); !strings.HasPrefix(got, "projection.db: it was built anew: ") || strings.Count(got, "\n") != 1 {
				t.Errorf("findings = %q, want one that says so", got)
			}
		})
	}
}

// An operation whose key the disk has changed is not taken for one that never
// was, which would be permitted again.
func TestOperationUnderAnotherKey(t *testing.T) {
	told, _, dir := toldStore(t, 100)
	if err := told.Close(); err != nil {
		t.Fatal(err)
	}
	s := openStore(t, dir, Options{})
	view, err := s.Run(t.Context(), "r0", storetest.Noon)
	if err != nil || len(view.Ops) == 0 {
		t.Fatalf("%d operations, %v, want some", len(view.Ops), err)
	}
	want := gate.Want{Run: "r0", Op: view.Ops[0].Op}
	before, err := s.Load(t.Context(), want)
	if err != nil || len(before.Ops) != 1 {
		t.Fatalf("%d operations, %v, want one", len(before.Ops), err)
	}
	s.held.drop(slices.Index(s.held.ring, "r0"))
	err = s.rows.update(func(tx *bbolt.Tx) error {
		opened, _ := tx.Bucket(bucketRuns).Cursor().First()
		b := tx.Bucket(bucketOps)
		k, v := b.Cursor().Seek(opened)
		changed, v := bytes.Clone(k), bytes.Clone(v)
		changed[0] ^= 1
		return errors.Join(b.Delete(k), b.Put(changed, v))
	})
	if err != nil {
		t.Fatal(err)
	}
	after, err := s.Load(t.Context(), want)
	if err != nil || len(after.Ops) != 1 || after.Ops[0].Permits != before.Ops[0].Permits {
		t.Errorf("after the damage: %+v, %v, want what was there before", after.Ops, err)
	}
}

// A projection whose file fails while it is written is opened again.
func TestProjectionFileFault(t *testing.T) {
	s, story := begunStore(t, Options{})
	for i := range 3 {
		if err := s.rows.close(); err != nil { // the next flush fails
			t.Fatal(err)
		}
		if _, err := tellOne(t, s, story, askOf("r", fmt.Sprintf("op%d", i), "{}")); err != nil {
			t.Errorf("commit = %v", err)
		}
		if view, err := s.Run(t.Context(), "r", story.Now); err != nil || len(view.Ops) != i+1 {
			t.Errorf("run = %d operations, %v, want %d", len(view.Ops), err, i+1)
		}
	}
	if got := findings(t, s, true); got != "" {
		t.Errorf("findings:\n%s", got)
	}
}
