package runstore_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tollgate/gate"
	"tollgate/runstore"
	"tollgate/runstore/memstore"
	"tollgate/runstore/storetest"
)

// newStore makes and opens a store with the realm of the tests.
func newStore(t testing.TB) (*runstore.Store, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	if err := runstore.Init(dir, storetest.Realm); err != nil {
		t.Fatal(err)
	}
	return open(t, dir), dir
}

func open(t testing.TB, dir string) *runstore.Store {
	t.Helper()
	s, err := runstore.Open(dir, runstore.Options{})
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

// verified fails unless a full verification finds nothing.
func verified(t testing.TB, s *runstore.Store) runstore.Verification {
	t.Helper()
	v, err := s.Verify(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range v.Findings {
		t.Error(f)
	}
	return v
}

// sameDecision compares decisions without the contract, which is kept by its
// digest, and without the hash, which an engine in memory does not have.
var sameDecision = cmp.Options{
	cmpopts.IgnoreFields(gate.Inputs{}, "Contract"), cmpopts.IgnoreFields(gate.Decision{}, "Hash"), cmpopts.EquateEmpty(),
}

// The engine in memory and the one on disk are told the same story and must
// say the same at every turn: the same answers, the same errors, and the same
// to everything that screens read; also when the one on disk is closed and
// opened on the way, and when its projection is lost.
func TestSameAsInMemory(t *testing.T) {
	steps := 600
	if testing.Short() {
		steps = 200
	}
	for seed := range uint64(3) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			tellBoth(t, seed, steps)
		})
	}
}

func tellBoth(t *testing.T, seed uint64, steps int) {
	t.Helper()
	disk, dir := newStore(t)
	mem := memstore.New(storetest.Realm)
	story := storetest.NewStory(seed)
	adopt, err := story.Adopt()
	if err != nil {
		t.Fatal(err)
	}
	both(t, mem, disk, adopt, story.Inputs())
	for i := range steps {
		c, err := story.Next(t.Context(), mem)
		if err != nil {
			t.Fatal(err)
		}
		both(t, mem, disk, c, story.Inputs())
		if i%80 == 0 {
			sameReads(t, mem, disk, story.Now)
		}
		if i%200 < 199 {
			continue
		}
		if err := disk.Close(); err != nil {
			t.Fatal(err)
		}
		if i%400 == 399 {
			if err := os.Remove(filepath.Join(dir, "projection.db")); err != nil {
				t.Fatal(err)
			}
		}
		disk = open(t, dir)
	}
	sameReads(t, mem, disk, story.Now)
	v := verified(t, disk)
	hash, err := runstore.HashOf(storetest.Realm, mem.Decisions())
	if err != nil || hash != v.Hash {
		t.Errorf("hash of the ledger in memory = %v, %v, want %v", hash, err, v.Hash)
	}
	t.Logf("%d decisions, %d rows compared", v.Decided, v.Rows)
}

func both(t *testing.T, mem, disk gate.Engine, c gate.Command, in gate.Inputs) {
	t.Helper()
	want, wantErr := storetest.Decide(t.Context(), mem, c, in)
	got, gotErr := storetest.Decide(t.Context(), disk, c, in)
	if (wantErr == nil) != (gotErr == nil) || (wantErr != nil && wantErr.Error() != gotErr.Error()) {
		t.Fatalf("%s on disk = %v, in memory %v", c.Act(), gotErr, wantErr)
	}
	if wantErr != nil && !storetest.IsRefusal(wantErr) {
		t.Fatalf("%s = %v", c.Act(), wantErr)
	}
	plain := got // but for what an engine in memory does not have
	plain.Hash, plain.Inputs.Contract = want.Hash, want.Inputs.Contract
	if reflect.DeepEqual(want, plain) {
		return // cmp takes its time over what is equal
	}
	if diff := cmp.Diff(want, got, sameDecision); diff != "" {
		t.Fatalf("%s on disk (-memory +disk):\n%s", c.Act(), diff)
	}
}

// sameReads compares all that screens read.
func sameReads(t *testing.T, mem, disk gate.Engine, now time.Time) {
	t.Helper()
	ctx := t.Context()
	opts := cmp.Options{cmpopts.EquateEmpty()}
	same := func(what string, read func(gate.Engine) (any, error)) any {
		t.Helper()
		want, wantErr := read(mem)
		got, gotErr := read(disk)
		if wantErr != nil || gotErr != nil {
			t.Fatalf("%s on disk = %v, in memory %v", what, gotErr, wantErr)
		}
		if reflect.DeepEqual(want, got) {
			return want
		}
		if diff := cmp.Diff(want, got, opts); diff != "" {
			t.Fatalf("%s on disk (-memory +disk):\n%s", what, diff)
		}
		return want
	}
	same("counts", func(e gate.Engine) (any, error) { return e.Counts(ctx) })
	same("dependencies", func(e gate.Engine) (any, error) { return e.Dependencies(ctx, now) })
	same("head", func(e gate.Engine) (any, error) {
		h, err := e.Head(ctx)
		h.Hash = gate.Digest{}
		return h, err
	})
	same("due", func(e gate.Engine) (any, error) {
		due, next, err := e.Due(ctx, now.Add(2*time.Second), 5)
		return []any{due, next}, err
	})
	runs := same("runs", func(e gate.Engine) (any, error) { return runsOf(ctx, e, gate.RunsQuery{Now: now}) }).([]gate.RunRow)
	for _, q := range []gate.RunsQuery{
		{Now: now, State: gate.RunActive},
		{Now: now, State: gate.RunEnded, Window: gate.Window{After: 3}},
		{Now: now, Filter: filterOf(t, gate.FilterRuns, "R1")},
		{Now: now, Filter: filterOf(t, gate.FilterRuns, "code:timeout !dep:index since:5m"), Window: gate.Window{After: 4}},
		{Now: now, Window: gate.Window{Anchor: string(runs[len(runs)/2].Run), Before: 3, After: 2}},
		{Now: now, Window: gate.Window{Anchor: "none", Before: 3, After: 2}},
	} {
		same("runs", func(e gate.Engine) (any, error) { return runsOf(ctx, e, q) })
	}
	for _, r := range runs {
		same("run", func(e gate.Engine) (any, error) { return e.Run(ctx, r.Run, now) })
		for _, back := range []bool{false, true} {
			same("history", func(e gate.Engine) (any, error) {
				return ledgerOf(ctx, e, gate.LedgerQuery{Run: r.Run, Back: back, Limit: 7})
			})
		}
		same("history of an operation", func(e gate.Engine) (any, error) {
			return ledgerOf(ctx, e, gate.LedgerQuery{Run: r.Run, Op: "op3", Back: true, Limit: 2})
		})
	}
	for _, text := range []string{"manual:yes", "verdict:stop_* !code:timeout", "op3"} {
		f := filterOf(t, gate.FilterLedger, text)
		for _, back := range []bool{false, true} {
			same("ledger of "+text, func(e gate.Engine) (any, error) {
				return ledgerOf(ctx, e, gate.LedgerQuery{Limit: 50, Back: back, Now: now, Filter: f})
			})
		}
	}
	same("ledger", func(e gate.Engine) (any, error) { return ledgerOf(ctx, e, gate.LedgerQuery{Limit: 333}) })
	for _, q := range []gate.ItemsQuery{
		{},
		{State: gate.HoldOpen},
		{State: gate.HoldDeadLetter},
		{State: gate.HoldResolved},
		{Snoozed: true},
		{Snoozed: true, State: gate.HoldOpen},
		{Snoozed: true, State: gate.HoldDeadLetter},
	} {
		q.Now = now
		rows := same("items", func(e gate.Engine) (any, error) { return itemsOf(ctx, e, q) }).([]any)[0].([]gate.ItemRow)
		for _, text := range []string{"op1", "payments", "dep:pay* !code:timeout", "key:*a*"} {
			q := q
			q.Filter = filterOf(t, gate.FilterQueue, text)
			same("items with "+text, func(e gate.Engine) (any, error) { return itemsOf(ctx, e, q) })
		}
		for kind := gate.KindOutcomeUnknown; kind <= gate.KindStopped; kind++ {
			q := q
			q.Kind = kind
			same("items of kind "+kind.String(), func(e gate.Engine) (any, error) { return itemsOf(ctx, e, q) })
		}
		if len(rows) == 0 {
			continue
		}
		for _, i := range []int{0, len(rows) / 2, len(rows) - 1} {
			q := q
			q.Window = gate.Window{Anchor: string(rows[i].ID), Before: 2, After: 3}
			same("items around "+q.Anchor, func(e gate.Engine) (any, error) { return itemsOf(ctx, e, q) })
			q.Run, q.Anchor = rows[i].Run, ""
			same("items of "+string(q.Run), func(e gate.Engine) (any, error) { return itemsOf(ctx, e, q) })
			same("item", func(e gate.Engine) (any, error) { return e.Find(ctx, rows[i].ID) })
			same("operation", func(e gate.Engine) (any, error) {
				return e.Operation(ctx, gate.Ref{Run: rows[i].Run, Op: rows[i].Op}, now)
			})
		}
	}
}

func filterOf(t *testing.T, list gate.FilterList, text string) gate.Filter {
	t.Helper()
	f, err := gate.ParseFilter(list, text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func runsOf(ctx context.Context, e gate.Engine, q gate.RunsQuery) ([]gate.RunRow, error) {
	p, err := e.Runs(ctx, q)
	return p.Rows, err
}

// itemsOf leaves Above aside, which an engine need not know.
func itemsOf(ctx context.Context, e gate.Engine, q gate.ItemsQuery) (any, error) {
	p, err := e.Items(ctx, q)
	return []any{p.Rows, p.Total, p.More}, err
}

// ledgerOf reads windows until there are no more, and leaves the hashes aside,
// which an engine in memory does not have.
func ledgerOf(ctx context.Context, e gate.Engine, q gate.LedgerQuery) (rows []gate.DecisionRow, err error) {
	for {
		p, err := e.Ledger(ctx, q)
		if err != nil {
			return nil, err
		}
		for i := range p.Rows {
			p.Rows[i].Hash = ""
		}
		rows = append(rows, p.Rows...)
		if len(p.Rows) < q.Limit || p.Next == 0 {
			return append(rows, gate.DecisionRow{Seq: p.Next}), nil
		}
		q.From = p.Next
	}
}
