package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tollgate/gate"
)

func readsFollow(t *testing.T, mk Make) {
	e, s, _ := begun(t, mk)
	if _, err := e.Operation(t.Context(), gate.Ref{Run: "r0", Op: "op0"}, s.Now); !errors.Is(err, gate.ErrNoOperation) {
		t.Errorf("operation before its ask = %v, want %v", err, gate.ErrNoOperation)
	}
	for i := range 30 {
		op := gate.OpID(fmt.Sprintf("op%d", i))
		d := must(t, e, s, askFor("r0", op))
		row, err := e.Operation(t.Context(), gate.Ref{Run: "r0", Op: op}, s.Now)
		if err != nil || row.Last != d.Seq || row.State != gate.OpInFlight {
			t.Fatalf("operation = %+v, %v, want in flight since seq %d", row, err, d.Seq)
		}
		if c, err := e.Counts(t.Context()); err != nil || c.Seq != d.Seq {
			t.Fatalf("counts = %+v, %v, want seq %d", c, err, d.Seq)
		}
	}
}

// told tells an engine a story that leaves runs and items of every state.
func told(t *testing.T, mk Make, n int) (gate.Engine, *Story, func() gate.Engine) {
	t.Helper()
	e, reopen := mk(t)
	s := NewStory(2)
	if err := s.Tell(t.Context(), e, n); err != nil {
		t.Fatal(err)
	}
	return e, s, reopen
}

// windows checks that any window is the part of the whole list that it should
// be, whatever its anchor.
func windows(t *testing.T, mk Make) {
	e, s, _ := told(t, mk, 600)
	ctx := t.Context()
	for _, state := range []gate.HoldState{gate.HoldOpen, gate.HoldDeadLetter, gate.HoldResolved} {
		checkWindows(t, "items "+state.String(), func(w gate.Window) ([]gate.ItemRow, bool, error) {
			p, err := e.Items(ctx, gate.ItemsQuery{Window: w, Now: s.Now, State: state})
			return p.Rows, p.More, err
		}, func(r gate.ItemRow) string { return string(r.ID) })
	}
	checkWindows(t, "items that are put off", func(w gate.Window) ([]gate.ItemRow, bool, error) {
		p, err := e.Items(ctx, gate.ItemsQuery{Window: w, Now: s.Now, Snoozed: true})
		return p.Rows, p.More, err
	}, func(r gate.ItemRow) string { return string(r.ID) })
	for _, state := range []gate.RunState{0, gate.RunActive, gate.RunExhausted, gate.RunEnded} {
		checkWindows(t, fmt.Sprintf("runs of state %d", state), func(w gate.Window) ([]gate.RunRow, bool, error) {
			p, err := e.Runs(ctx, gate.RunsQuery{Window: w, Now: s.Now, State: state})
			return p.Rows, p.More, err
		}, func(r gate.RunRow) string { return string(r.Run) })
	}
}

func checkWindows[R any](t *testing.T, what string, read func(gate.Window) ([]R, bool, error), id func(R) string) {
	t.Helper()
	all, more, err := read(gate.Window{})
	if err != nil || more {
		t.Fatalf("%s: %d rows, more %v, %v", what, len(all), more, err)
	}
	if len(all) == 0 {
		t.Fatalf("%s: none in this story", what)
	}
	for i := 0; i < len(all); i += 1 + len(all)/8 {
		for _, w := range []gate.Window{{After: 1}, {Before: 2, After: 3}, {Before: 100, After: 1}, {Before: 1, After: 100}} {
			w.Anchor = id(all[i])
			rows, more, err := read(w)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			from, to := max(0, i-w.Before), min(len(all), i+w.After)
			if diff := cmp.Diff(all[from:to], rows); diff != "" {
				t.Errorf("%s, %d before and %d after row %d (-want +got):\n%s", what, w.Before, w.After, i, diff)
			}
			if more != (to < len(all)) {
				t.Errorf("%s: more after row %d of %d = %v", what, to, len(all), more)
			}
		}
	}
}

// resolvedNewestFirst checks the order of the resolved items, and that each
// says how it ended and who ended it.
func resolvedNewestFirst(t *testing.T, mk Make) {
	e, s, _ := begun(t, mk)
	const n = 4
	var want []gate.ItemRow
	for i := range n {
		op := gate.OpID(fmt.Sprintf("op%d", i))
		ask := askFor("r0", op)
		ask.Tool = "charge"
		must(t, e, s, ask)
		must(t, e, s, gate.Report{Actor: people[2], Run: "r0", Op: op, Ordinal: 1, Failure: gate.Failure{Code: "timeout"}})
		row := gate.ItemRow{Op: op, Ended: gate.ActReject, EndedBy: people[i%2].Name}
		if i == 1 {
			row.Ended, row.Finding = gate.ActReconcile, gate.FindingHappened
		}
		want = append(want, row)
	}
	for i := range n { // in another order than they were opened
		row := &want[(i+2)%n]
		s.Now = s.Now.Add(time.Second)
		row.Resolved = gate.InstantOf(s.Now)
		who := people[slices.IndexFunc(people, func(a gate.Actor) bool { return a.Name == row.EndedBy })]
		must(t, e, s, gate.Verb{
			Actor: who, Do: row.Ended, Run: "r0", Op: row.Op, Version: 1, Reason: "looked", Evidence: "line 812", Finding: row.Finding,
		})
	}
	slices.SortFunc(want, func(a, b gate.ItemRow) int { return b.Resolved.Compare(a.Resolved.Time) })
	for _, run := range []gate.RunID{"", "r0"} {
		page, err := e.Items(t.Context(), gate.ItemsQuery{Now: s.Now, State: gate.HoldResolved, Run: run})
		if err != nil {
			t.Fatal(err)
		}
		var got []gate.ItemRow
		for _, row := range page.Rows {
			got = append(got, gate.ItemRow{Op: row.Op, Resolved: row.Resolved, Ended: row.Ended, EndedBy: row.EndedBy, Finding: row.Finding})
		}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("resolved items of run %q (-got +want):\n%s", run, diff)
		}
	}
}

// putOff checks that open items that are put off are in a list of their own,
// and in that of the open ones when their time has come.
func putOff(t *testing.T, mk Make) {
	e, s, _ := begun(t, mk)
	lasts := []time.Duration{30 * time.Second, 0, 10 * time.Second, 20 * time.Second}
	for i, d := range lasts {
		op := gate.OpID(fmt.Sprintf("op%d", i))
		ask := askFor("r0", op)
		ask.Tool = "charge"
		must(t, e, s, ask)
		must(t, e, s, gate.Report{Actor: people[2], Run: "r0", Op: op, Ordinal: 1, Failure: gate.Failure{Code: "timeout"}})
		if d > 0 {
			must(t, e, s, gate.Verb{Actor: people[0], Do: gate.ActSnooze, Run: "r0", Op: op, Version: 1, Until: s.Now.Add(d)})
		}
	}
	since := s.Now
	for _, row := range []struct {
		name  string
		q     gate.ItemsQuery
		after time.Duration
		want  []gate.OpID
		total int64
	}{
		{"all of them", gate.ItemsQuery{}, 0, []gate.OpID{"op2", "op3", "op0"}, 3},
		{"of the run", gate.ItemsQuery{Run: "r0"}, 0, []gate.OpID{"op2", "op3", "op0"}, 3},
		{"of another run", gate.ItemsQuery{Run: "r1"}, 0, nil, 0},
		{"of their kind", gate.ItemsQuery{Kind: gate.KindOutcomeUnknown}, 0, []gate.OpID{"op2", "op3", "op0"}, 3},
		{"of another kind", gate.ItemsQuery{Kind: gate.KindApproval}, 0, nil, 0},
		{"with a filter", gate.ItemsQuery{Filter: gate.FilterBy(gate.FilterQueue, [2]string{"op", "op3"})}, 0, []gate.OpID{"op3"}, 1},
		{"among dead-letters", gate.ItemsQuery{State: gate.HoldDeadLetter}, 0, nil, 0},
		{"the first two", gate.ItemsQuery{Window: gate.Window{After: 2}}, 0, []gate.OpID{"op2", "op3"}, 3},
		{"around one", gate.ItemsQuery{Window: gate.Window{Anchor: string(gate.ItemIDOf("r0", "op3")), Before: 1, After: 1}}, 0, []gate.OpID{"op2", "op3"}, 3},
		{"when the first comes back", gate.ItemsQuery{}, lasts[2], []gate.OpID{"op3", "op0"}, 2},
		{"just before that", gate.ItemsQuery{}, lasts[2] - time.Millisecond, []gate.OpID{"op2", "op3", "op0"}, 3},
		{"when all are back", gate.ItemsQuery{}, time.Minute, nil, 0},
	} {
		row.q.Now, row.q.Snoozed = since.Add(row.after), true
		page, err := e.Items(t.Context(), row.q)
		if err != nil {
			t.Fatal(err)
		}
		var got []gate.OpID
		for _, r := range page.Rows {
			got = append(got, r.Op)
		}
		if diff := cmp.Diff(got, row.want); diff != "" || page.Total != row.total {
			t.Errorf("%s: %d in all, want %d; rows (-got +want):\n%s", row.name, page.Total, row.total, diff)
		}
		if string(row.q.Run)+row.q.Anchor != "" || !row.q.Filter.IsZero() || row.q.Kind != 0 || row.q.State != 0 || row.q.After != 0 {
			continue
		}
		row.q.Snoozed = false
		if page, err := e.Items(t.Context(), row.q); err != nil || page.Total != int64(len(lasts))-row.total {
			t.Errorf("%s: %d others, %v, want %d", row.name, page.Total, err, int64(len(lasts))-row.total)
		}
	}
	must(t, e, s, gate.Verb{Actor: people[1], Do: gate.ActReject, Run: "r0", Op: "op2", Version: 1, Reason: "no use"})
	if page, err := e.Items(t.Context(), gate.ItemsQuery{Now: s.Now, Snoozed: true}); err != nil || page.Total != 2 || page.Rows[0].Op != "op3" {
		t.Errorf("after one was resolved: %+v, %v", page, err)
	}
}
