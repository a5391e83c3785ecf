package views

import (
	"strings"
	"testing"
	"time"

	"tollgate/gate"
)

// laneOf returns the lane of the only operation of a run of 100 s, a second to
// a cell, of which 60 have passed.
func laneOf(o gate.OpRow, ds ...gate.DecisionRow) string {
	start := now.Add(-60 * time.Second)
	run := &gate.RunView{RunRow: gate.RunRow{Run: "r", Agent: "a", Budget: gate.BudgetRow{Started: gate.InstantOf(start), Deadline: gate.InstantOf(start.Add(100 * time.Second))}}}
	o.Op, o.Run, o.Permits = "op", "r", int64(len(o.Attempts))
	run.Ops = []gate.OpRow{o}
	const width = 5 + 36 + 4 + 1 + 101 + 1 // mark and name, attempts, time, margin
	p := samplePage(NewTheme(Plain, true), width, 24, 0)
	rows := strings.Split(Timeline(p, TimelineScreen{Run: run, Tree: NewTree(run, nil), Decisions: ds}), "\n")
	lane := rows[p.headRows()+runTop(p)+axisRows(p)+1]
	return lane[len(lane)-101:]
}

// What a lane holds stands in the cells of its instants.
func TestTimelineIsToScale(t *testing.T) {
	at := func(s int) gate.Instant { return gate.InstantOf(now.Add(time.Duration(s-60) * time.Second)) }
	tries := func(a ...gate.AttemptRow) gate.OpRow { return gate.OpRow{Attempts: a} }
	try := func(permitted, begun, reported int, o gate.Outcome) gate.AttemptRow {
		a := gate.AttemptRow{Permitted: at(permitted), NotBefore: at(begun), Outcome: o}
		if reported >= 0 {
			a.ReportedAt = at(reported)
		}
		return a
	}
	held := gate.OpRow{Item: "i", ItemState: gate.HoldOpen, Kind: gate.KindStopped, Attempts: []gate.AttemptRow{try(0, 0, 10, gate.OutcomeFailed)}}
	settled := held
	settled.ItemState = gate.HoldResolved
	opened := gate.DecisionRow{At: at(12), Act: gate.ActReport, Verdict: gate.StopUnsafeToRepeat, Op: "op", Item: "i", Outcome: gate.OutcomeFailed}
	act := func(s int, do gate.Act, v gate.Verdict, f gate.Finding) gate.DecisionRow {
		return gate.DecisionRow{At: at(s), Act: do, Verdict: v, Finding: f, Op: "op", Item: "i"}
	}
	for _, r := range []struct {
		name string
		op   gate.OpRow
		ds   []gate.DecisionRow
		want map[int]string // by the cell where it begins
	}{
		{"nothing", gate.OpRow{}, nil, nil},
		{"an attempt", tries(try(10, 10, 20, gate.OutcomeSucceeded)), nil, map[int]string{10: "==========v"}},
		{"backoff before it", tries(try(10, 15, 20, gate.OutcomeFailed)), nil, map[int]string{10: ".....=====x"}},
		{"outcome unknown", tries(try(10, 10, 12, gate.OutcomeUnknown)), nil, map[int]string{10: "==?"}},
		{"in flight", tries(try(50, 50, -1, gate.OutcomePending)), nil, map[int]string{50: "==========o"}},
		{"not dispatched yet", tries(try(50, 70, -1, gate.OutcomePending)), nil, map[int]string{50: "..........|.........o"}},
		{"two in one cell", tries(try(10, 10, 10, gate.OutcomeUnknown), try(10, 10, 10, gate.OutcomeFailed)), nil, map[int]string{10: "?"}},
		{"an item that waits", held, []gate.DecisionRow{opened}, map[int]string{0: "==========x", 12: strings.Repeat("~", 48) + "|"}},
		{"its opening not read", held, nil, map[int]string{0: "==========x" + strings.Repeat("~", 49) + "|"}},
		{"resolved by a person", settled, []gate.DecisionRow{opened, act(20, gate.ActReject, gate.Resolved, 0)}, map[int]string{0: "==========x", 12: "~~~~~~~~&"}},
		{"a note", held, []gate.DecisionRow{opened, act(20, gate.ActNote, gate.Recorded, 0)}, map[int]string{0: "==========x", 12: "~~~~~~~~&" + strings.Repeat("~", 39) + "|"}},
		{"did not happen: it waits on", held, []gate.DecisionRow{opened, act(20, gate.ActReconcile, gate.Resolved, gate.FindingDidNotHappen)}, map[int]string{0: "==========x", 12: "~~~~~~~~&" + strings.Repeat("~", 39) + "|"}},
		{"approved", settled, []gate.DecisionRow{opened, act(20, gate.ActApprove, gate.Retry, 0)}, map[int]string{0: "==========x", 12: "~~~~~~~~&"}},
		{"an approve that was stopped", held, []gate.DecisionRow{opened, act(20, gate.ActApprove, gate.StopCap, 0)}, map[int]string{0: "==========x", 12: "~~~~~~~~&" + strings.Repeat("~", 39) + "|"}},
		{"an act and what came of it in one cell", gate.OpRow{Attempts: []gate.AttemptRow{try(20, 20, 20, gate.OutcomeFailed)}}, []gate.DecisionRow{act(20, gate.ActApprove, gate.Retry, 0)}, map[int]string{19: "&x"}},
		{"two acts in one cell", held, []gate.DecisionRow{opened, act(20, gate.ActClaim, gate.Recorded, 0), act(20, gate.ActNote, gate.Recorded, 0)}, map[int]string{0: "==========x", 12: "~~~~~~~&&" + strings.Repeat("~", 39) + "|"}},
		{"settled by a late report", settled, []gate.DecisionRow{opened, {At: at(20), Act: gate.ActReport, Verdict: gate.Recorded, Outcome: gate.OutcomeSucceeded, Op: "op", Item: "i"}}, map[int]string{0: "==========x", 12: "~~~~~~~~~"}},
	} {
		want := []byte(strings.Repeat(" ", 101))
		want[60], want[100] = '|', '!'
		for i, s := range r.want {
			copy(want[i:], s)
		}
		if got := laneOf(r.op, r.ds...); got != string(want) {
			t.Errorf("%s:\n got %q\nwant %q", r.name, got, want)
		}
	}
}

// The now-line moves with the time, up to the deadline and past it, and stands
// still where the run has ended.
func TestTimelineNow(t *testing.T) {
	run, _ := sampleTimeline()
	p := samplePage(NewTheme(Plain, true), 120, 24, 0)
	line := func() (at, due int) {
		axis := strings.Split(Timeline(p, TimelineScreen{Run: run, Tree: NewTree(run, nil)}), "\n")[p.headRows()+runTop(p)+1]
		return strings.Index(axis, "|"), strings.Index(axis, "!")
	}
	var last int
	for after := time.Duration(0); after <= 9*time.Minute; after += time.Minute {
		p.Now = now.Add(after)
		at, due := line()
		if at <= last || after < 9*time.Minute && at >= due {
			t.Errorf("%v later the now-line stands at %d, want behind %d and before %d", after, at, last, due)
		}
		last = at
	}
	p.Now = now.Add(time.Hour)
	if at, due := line(); at <= due || due < 0 {
		t.Errorf("after the deadline the now-line stands at %d, want behind %d", at, due)
	}
	run.Ended = gate.InstantOf(now)
	was, due := line()
	p.Now = now.Add(2 * time.Hour)
	if at, _ := line(); at != was || at >= due {
		t.Errorf("the now-line of a run that has ended moves from %d to %d, want before %d", was, at, due)
	}
}

// The lanes stand in the order of the tree, attempts left aside, and the
// selected one is marked.
func TestTimelineLanes(t *testing.T) {
	run, ds := sampleTimeline()
	tree := NewTree(run, nil)
	p := samplePage(NewTheme(Plain, true), 120, 36, 0)
	rows := strings.Split(Timeline(p, TimelineScreen{Run: run, Tree: tree, Decisions: ds, Selected: OpNode("charge-42")}), "\n")
	first := p.headRows() + runTop(p) + axisRows(p)
	nodes := TimelineNodes(tree)
	for i, n := range nodes {
		name := n.Agent[strings.LastIndexByte(n.Agent, '/')+1:]
		if n.Op != nil {
			name = string(n.Op.Op)
		}
		row := rows[first+i]
		if !strings.Contains(row, NewTheme(Plain, true).escaped(name)) {
			t.Errorf("row %d: %q, want %q", i, row, name)
		}
		if marked := strings.HasPrefix(row, " >"); marked != (n.ID == OpNode("charge-42")) {
			t.Errorf("row %d is marked: %v: %q", i, marked, row)
		}
	}
	if len(nodes) != 11 {
		t.Errorf("%d lanes, want 11", len(nodes))
	}
}

// The ledger of a run shows as many rows as RunLedgerRows says, and no more.
func TestRunLedgerRows(t *testing.T) {
	rows := make([]gate.DecisionRow, 200)
	for i := range rows {
		rows[i] = gate.DecisionRow{Seq: uint64(i + 1), Act: gate.ActReport, Verdict: gate.Recorded}
	}
	for _, h := range []int{10, 12, 16, 24, 60} {
		p := samplePage(NewTheme(Plain, true), 80, h, 0)
		if got := strings.Count(RunLedger(p, sampleRun(), Tree{}, LedgerView{Rows: rows}), "RECORDED"); got != RunLedgerRows(p) {
			t.Errorf("a page of %d rows shows %d decisions, want %d", h, got, RunLedgerRows(p))
		}
	}
}

// escaped returns a text as a theme shows it.
func (t *Theme) escaped(s string) string {
	return string(appendEscaped(nil, s, t.ascii))
}
