package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tollgate/gate"
)

// tellAll commits commands in chains, each decided on what the ones before it
// leave.
func tellAll(t *testing.T, e gate.Engine, s *Story, commands []gate.Command) {
	t.Helper()
	for part := range slices.Chunk(commands, 500) {
		wants := make([]gate.Want, len(part))
		for i, c := range part {
			var err error
			if wants[i], err = c.Wants(s.Contract); err != nil {
				t.Fatal(err)
			}
		}
		state, err := e.Load(t.Context(), wants...)
		if err != nil {
			t.Fatal(err)
		}
		var live gate.Live
		live.Put(state)
		chain := make([]gate.Transition, len(part))
		for i, c := range part {
			state, err := live.Load(nil, wants[i])
			if err != nil {
				t.Fatal(err)
			}
			if chain[i], err = gate.Step(state, c, s.Inputs()); err != nil {
				t.Fatal(err)
			}
			if _, err := live.Fold(chain[i].Decision()); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := e.Commit(t.Context(), chain...); err != nil {
			t.Fatal(err)
		}
	}
}

// bounds checks windows that ask for more rows than a window holds, of lists
// that have more.
func bounds(t *testing.T, mk Make) {
	const n = gate.MaxWindow + 50
	e, s, _ := begun(t, mk)
	limit, deadline := int64(2*n), time.Hour
	commands := []gate.Command{gate.Start{
		Actor: people[2], Run: "crowd", Limits: gate.Limits{Attempts: &limit, SideEffects: &limit, Deadline: &deadline},
	}}
	ids := make([]gate.OpID, n)
	for i := range ids {
		ids[i] = gate.OpID(fmt.Sprintf("op%d", i))
		commands = append(commands, startRun(runID(i)), askFor("crowd", ids[i]))
	}
	for _, id := range ids {
		commands = append(commands, gate.Report{Actor: people[2], Run: "crowd", Op: id, Ordinal: 1, Failure: gate.Failure{Code: "odd_code"}})
	}
	tellAll(t, e, s, commands)

	ctx := t.Context()
	checkBounds(t, "runs", n+2, func(w gate.Window) ([]gate.RunRow, bool, error) {
		p, err := e.Runs(ctx, gate.RunsQuery{Window: w, Now: s.Now})
		return p.Rows, p.More, err
	}, func(r gate.RunRow) string { return string(r.Run) })
	for _, run := range []gate.RunID{"", "crowd"} {
		checkBounds(t, fmt.Sprintf("items of run %q", run), n, func(w gate.Window) ([]gate.ItemRow, bool, error) {
			p, err := e.Items(ctx, gate.ItemsQuery{Window: w, Now: s.Now, Run: run})
			return p.Rows, p.More, err
		}, func(r gate.ItemRow) string { return string(r.ID) })
	}
}

func checkBounds[R any](t *testing.T, what string, n int, read func(gate.Window) ([]R, bool, error), id func(R) string) {
	t.Helper()
	idsOf := func(w gate.Window) (ids []string, more bool) {
		rows, more, err := read(w)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		for _, r := range rows {
			ids = append(ids, id(r))
		}
		return ids, more
	}
	all, _ := idsOf(gate.Window{})
	rest, more := idsOf(gate.Window{Anchor: all[len(all)-1]})
	if all = append(all, rest[1:]...); more || len(all) != n {
		t.Fatalf("%s: %d rows in two windows, more %v, want %d", what, len(all), more, n)
	}
	for _, row := range []struct {
		name          string
		at            int // of the anchor
		before, after int // as asked
		from, to      int // as answered
	}{
		{"all from the top on", 0, 0, 0, 0, gate.MaxWindow},
		{"more than there may be", 0, 0, 5 * n, 0, gate.MaxWindow},
		{"fewer than none", 30, -7, -7, 30, 30 + min(gate.MaxWindow, n-30)},
		{"before and all after", n - 20, 10, 0, n - 30, n},
		{"too many before", n - 20, 5 * n, 1, n - 20 - (gate.MaxWindow - 1), n - 19},
		{"too many before and after", n - 20, 5 * n, 5 * n, n - 20 - (gate.MaxWindow - 1), n - 19},
		{"too many in all", n - 30, 990, 990, n - 30 - 990, n - 30 + 10},
	} {
		got, more := idsOf(gate.Window{Anchor: all[row.at], Before: row.before, After: row.after})
		if diff := cmp.Diff(got, all[row.from:row.to]); diff != "" {
			t.Errorf("%s, %s: %d rows, want %d (-got +want):\n%.500s", what, row.name, len(got), row.to-row.from, diff)
		}
		if more != (row.to < n) {
			t.Errorf("%s, %s: more = %v", what, row.name, more)
		}
	}
	// An anchor that is not there is the top.
	if got, _ := idsOf(gate.Window{Anchor: "nowhere", Before: 5, After: 3}); !slices.Equal(got, all[:3]) {
		t.Errorf("%s around an anchor that is not there = %v, want %v", what, got, all[:3])
	}
}
