package runstore

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tollgate/gate"
	"tollgate/runstore/memstore"
	"tollgate/runstore/storetest"
)

// R-P3, R-C6: a late report settles the whole line of runs through which its
// operation has gone, also when none of them is in memory any more; whichever
// of them it names. An answer that was given there before is given again
// (R-A8).
func TestReportOfALineThatWasLetGo(t *testing.T) {
	line := []gate.RunID{"r1", "r2", "r3"}
	for _, reported := range line {
		t.Run("reported to "+string(reported), func(t *testing.T) {
			w := newTwins(t)
			ask := gate.Ask{Run: "r1", ID: "late", Op: "late", Tool: "charge", Input: []byte("{}")}
			w.do(gate.Start{Run: "r1", Limits: shortLimits()})
			first := w.do(ask)
			for i, run := range line[:2] {
				w.do(gate.Ask{Run: run, ID: fmt.Sprint("other-", i), Op: gate.OpID(fmt.Sprint("other-", i)), Tool: "charge", Input: []byte("{}")})
				d := w.do(gate.Report{Run: run, Op: gate.OpID(fmt.Sprint("other-", i)), Ordinal: 1, Failure: gate.Failure{Code: "timeout"}})
				w.do(gate.Verb{
					Actor: gate.Actor{ID: "uid:1001"}, Do: gate.ActNewRun, ID: fmt.Sprint("on-", i), Run: run, Op: d.Op, Version: 1,
					Reason: "goes on", NewRun: line[i+1], Limits: shortLimits(),
				})
			}
			w.letGo(line...)

			if again := w.do(ask); again.Seq != first.Seq {
				t.Errorf("the same ask again = seq %d, want %d", again.Seq, first.Seq)
			}
			w.letGo(line...)
			w.do(gate.Report{Run: reported, Op: "late", Ordinal: 1, OK: true, Result: "receipt"})
			for _, run := range line {
				row := w.operation(gate.Ref{Run: run, Op: "late"})
				if row.State != gate.OpSucceeded || row.Result != "receipt" {
					t.Errorf("in %s it is %v with %q, want succeeded with its receipt", run, row.State, row.Result)
				}
			}
			w.verify()
		})
	}
}

func shortLimits() gate.Limits {
	attempts, effects, deadline := int64(9), int64(9), time.Minute
	return gate.Limits{Attempts: &attempts, SideEffects: &effects, Deadline: &deadline}
}

// twins are an engine on disk, and one in memory, which never lets go of a run
// and so says what must come out.
type twins struct {
	t     *testing.T
	disk  *Store
	mem   *memstore.Store
	story *storetest.Story // its contract and its clock
	n     int
}

func newTwins(t *testing.T) *twins {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	if err := Init(dir, storetest.Realm); err != nil {
		t.Fatal(err)
	}
	disk, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := disk.Close(); err != nil {
			t.Error(err)
		}
	})
	w := &twins{t: t, disk: disk, mem: memstore.New(storetest.Realm), story: storetest.NewStory(1)}
	adopt, err := w.story.Adopt()
	if err != nil {
		t.Fatal(err)
	}
	w.do(adopt)
	w.do(gate.Start{Run: "busy", Limits: func() gate.Limits {
		l, attempts, deadline := shortLimits(), int64(1000), 1000*time.Hour
		l.Attempts, l.SideEffects, l.Deadline = &attempts, &attempts, &deadline
		return l
	}()})
	return w
}

// do sends a command to both, and fails unless both give the same answer.
func (w *twins) do(c gate.Command) gate.Decision {
	w.t.Helper()
	in := w.story.Inputs()
	want, err := storetest.Decide(w.t.Context(), w.mem, c, in)
	if err != nil {
		w.t.Fatalf("%s in memory: %v", c.Act(), err)
	}
	got, err := storetest.Decide(w.t.Context(), w.disk, c, in)
	if err != nil {
		w.t.Fatalf("%s on disk: %v", c.Act(), err)
	}
	ignore := cmp.Options{cmpopts.IgnoreFields(gate.Inputs{}, "Contract"), cmpopts.IgnoreFields(gate.Decision{}, "Hash"), cmpopts.EquateEmpty()}
	if diff := cmp.Diff(got, want, ignore); diff != "" {
		w.t.Fatalf("%s (-disk +memory):\n%s", c.Act(), diff)
	}
	return got
}

// letGo lets the deadlines of runs pass, sweeps what is due then, and commits
// in another run until none of them is held.
func (w *twins) letGo(runs ...gate.RunID) {
	w.t.Helper()
	w.story.Now = w.story.Now.Add(time.Hour)
	for {
		due, _, err := w.disk.Due(w.t.Context(), w.story.Now, 10)
		if err != nil {
			w.t.Fatal(err)
		}
		if len(due) == 0 {
			break
		}
		for _, ref := range due {
			w.do(gate.Sweep(ref))
		}
	}
	for range 100 {
		if !w.holdsAny(runs) {
			return
		}
		if _, err := w.disk.Counts(w.t.Context()); err != nil { // their rows are current then
			w.t.Fatal(err)
		}
		w.n++
		w.do(gate.Ask{Run: "busy", ID: fmt.Sprint(w.n), Op: gate.OpID(fmt.Sprint("op-", w.n)), Tool: "search", Input: []byte("{}")})
		w.do(gate.Report{Run: "busy", Op: gate.OpID(fmt.Sprint("op-", w.n)), Ordinal: 1, OK: true})
	}
	w.t.Fatalf("of %v some are still held", runs)
}

func (w *twins) holdsAny(runs []gate.RunID) bool {
	w.disk.mu.Lock()
	defer w.disk.mu.Unlock()
	for _, id := range runs {
		if _, ok := w.disk.held.live.Run(id); ok {
			return true
		}
	}
	return false
}

// operation reads an operation from both, and fails unless they agree.
func (w *twins) operation(ref gate.Ref) gate.OpRow {
	w.t.Helper()
	want, err := w.mem.Operation(w.t.Context(), ref, w.story.Now)
	if err != nil {
		w.t.Fatal(err)
	}
	got, err := w.disk.Operation(w.t.Context(), ref, w.story.Now)
	if err != nil {
		w.t.Fatal(err)
	}
	if diff := cmp.Diff(got, want, cmpopts.EquateEmpty()); diff != "" {
		w.t.Errorf("%s in %s (-disk +memory):\n%s", ref.Op, ref.Run, diff)
	}
	return got
}

// verify fails unless a full verification finds nothing.
func (w *twins) verify() {
	w.t.Helper()
	v, err := w.disk.Verify(w.t.Context(), true)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, f := range v.Findings {
		w.t.Error(f)
	}
}
