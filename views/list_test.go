package views

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"

	"tollgate/gate"
)

var lists = map[string][]column{
	"queue": queueColumns, "snoozed": snoozedColumns, "resolved": resolvedColumns, "runs": runsColumns,
	"ledger": ledgerColumns, "ledger of a run": runLedgerColumns, "dependencies": dependencyColumns,
	"causes": causeColumns, "items of a cause": causeItemColumns, "fixtures": fixtureColumns, "compare": compareColumns, "bulk": bulkColumns,
}

// At every width the columns stand side by side inside it, those of rank 0
// are there, and the order is kept.
func TestLayout(t *testing.T) {
	for name, cols := range lists {
		for width := LeastWidth; width <= 300; width++ {
			got := layout(cols, listFrom, width)
			at, kept, id := listFrom, 0, -1
			for _, c := range got {
				if c.at < at || c.width < c.least || c.width > c.most || c.at+c.width > width {
					t.Errorf("%s at %d: column %q of %d cells at %d, want at least %d and within", name, width, c.title, c.width, c.at, at)
				}
				at = c.at + c.width + 1
				for i := range cols {
					if cols[i].id == c.id {
						if i <= id {
							t.Errorf("%s at %d: column %q is out of order", name, width, c.title)
						}
						id = i
					}
				}
				if c.rank == 0 {
					kept++
				}
			}
			want := 0
			for _, c := range cols {
				if c.rank == 0 {
					want++
				}
			}
			if kept != want {
				t.Errorf("%s at %d: %d columns that are never dropped, want %d", name, width, kept, want)
			}
		}
	}
	if got := len(layout(queueColumns, listFrom, 300)); got != len(queueColumns) {
		t.Errorf("the queue at 300 has %d columns, want all %d", got, len(queueColumns))
	}
}

// What is left away is what matters least: no column is missing where one that
// matters less, and is no narrower, is shown.
func TestLayoutKeepsWhatMatters(t *testing.T) {
	for name, cols := range lists {
		for width := LeastWidth; width <= 300; width++ {
			shown := layout(cols, listFrom, width)
			for _, out := range cols {
				if slices.ContainsFunc(shown, func(c column) bool { return c.id == out.id }) || width < out.from {
					continue
				}
				for _, in := range shown {
					if in.rank > out.rank && in.least >= out.least {
						t.Errorf("%s at %d: %q is shown and %q is not", name, width, in.title, out.title)
					}
				}
			}
		}
	}
	for _, r := range []struct {
		name string
		cols []column
		at   int
		want string
	}{
		{"queue", queueColumns, 40, "KIND OPERATION LEFT"},
		{"queue", queueColumns, 60, "KIND OPERATION CODE LEFT CLAIMED"},
		{"queue", queueColumns, 80, "KIND OPERATION TOOL CODE LEFT CLAIMED"},
		{"queue", queueColumns, 120, "KIND OPERATION TOOL RUN CODE ATTEMPTS LEFT AGE CLAIMED"},
		{"snoozed", snoozedColumns, 40, "KIND OPERATION BACK"},
		{"snoozed", snoozedColumns, 80, "KIND OPERATION TOOL CODE LEFT BACK"},
		{"snoozed", snoozedColumns, 120, "KIND OPERATION TOOL RUN CODE ATTEMPTS LEFT AGE BACK"},
		{"resolved", resolvedColumns, 40, "OPERATION ENDED"},
		{"resolved", resolvedColumns, 60, "OPERATION ENDED BY AGO"},
		{"resolved", resolvedColumns, 80, "OPERATION TOOL ENDED BY AGO"},
		{"resolved", resolvedColumns, 120, "OPERATION TOOL RUN CODE ENDED BY AGO"},
		{"runs", runsColumns, 40, "RUN STATE ATTEMPTS"},
		{"runs", runsColumns, 60, "RUN STATE ATTEMPTS TIME OPEN"},
		{"runs", runsColumns, 80, "RUN STATE ATTEMPTS TIME EFFECTS OPEN LAST CODE"},
		{"runs", runsColumns, 120, "RUN AGENT STATE ATTEMPTS TIME EFFECTS OPEN LAST CODE"},
		{"ledger", ledgerColumns, 40, "SEQ VERDICT OPERATION"},
		{"ledger", ledgerColumns, 60, "SEQ AT ACT VERDICT OPERATION"},
		{"ledger", ledgerColumns, 80, "SEQ AT ACT VERDICT OPERATION BY"},
		{"ledger", ledgerColumns, 120, "SEQ AT ACT VERDICT OPERATION ATTEMPTS BY TOOL"},
		{"ledger", ledgerColumns, 200, "SEQ AT ACT VERDICT RUN OPERATION ATTEMPTS EFFECTS BY TOOL CODE"},
		{"ledger of a run", runLedgerColumns, 60, "SEQ AT VERDICT OPERATION ATTEMPTS"},
		{"ledger of a run", runLedgerColumns, 80, "SEQ AT ACT VERDICT OPERATION ATTEMPTS"},
		{"ledger of a run", runLedgerColumns, 120, "SEQ AT ACT VERDICT OPERATION ATTEMPTS EFFECTS BY TOOL"},
		{"causes", causeColumns, 40, "ITEMS DEPENDENCY CODE RUNS"},
		{"causes", causeColumns, 80, "ITEMS DEPENDENCY CODE CLASS RUNS FIRST LAST BREAKER"},
	} {
		var titles []string
		for _, c := range layout(r.cols, listFrom, r.at) {
			titles = append(titles, c.title)
		}
		if got := strings.Join(titles, " "); got != r.want {
			t.Errorf("%s at %d: %s, want %s", r.name, r.at, got, r.want)
		}
	}
}

// Two ids that differ at an end can be told apart at every width, and from 120
// cells on an id of 32 stands whole.
func TestIDsAreToldApart(t *testing.T) {
	const id = "night-run-of-2026-01-05/invoices"
	for _, other := range []string{"xight-run-of-2026-01-05/invoices", "night-run-of-2026-01-05/invoicex"} {
		for width := LeastWidth; width <= 130; width++ {
			p := samplePage(NewTheme(Plain, false), width, 24, 0)
			runs := strings.Split(Runs(p, RunsView{Rows: []gate.RunRow{{Run: id}, {Run: gate.RunID(other)}}}), "\n")
			items := strings.Split(Queue(p, QueueView{Rows: []gate.ItemRow{{Op: id}, {Op: gate.OpID(other)}}}), "\n")
			if runs[4] == runs[5] || items[4] == items[5] {
				t.Errorf("at %d the ids %s and %s are shown alike:\n%s\n%s", width, id, other, runs[4], items[4])
			}
			if width >= 80 && !strings.Contains(runs[4], "invoices") {
				t.Errorf("at %d the end of an id is cut: %s", width, runs[4])
			}
			if whole := strings.Contains(runs[4], id); width >= 120 && !whole {
				t.Errorf("at %d the id of a run is cut: %s", width, runs[4])
			}
		}
	}
}

// Two rows about operations of one name are told apart by their runs, where
// the list has no column for them.
func TestOperationsOfOneName(t *testing.T) {
	rows := []gate.ItemRow{{Run: "r1", Op: "charge-42"}, {Run: "r1.2", Op: "charge-42"}, {Run: "r1", Op: "charge-57"}}
	for width, want := range map[int][]string{
		60:  {"r1/charge-42", "r1.2/cha", "charge-57"},
		80:  {"r1/charge-42", "r1.2/cha", "charge-57"},
		90:  {"r1/charge-42", "r1.2/cha", "charge-57"},
		120: {"charge-42", "charge-42", "charge-57"},
	} {
		got := strings.Split(Queue(samplePage(NewTheme(Plain, false), width, 24, 0), QueueView{Rows: rows}), "\n")[4:7]
		for i := range want {
			if cells := strings.TrimLeft(got[i], " "); !strings.Contains(cells, want[i]) || width < 120 && i == 2 && strings.Contains(cells, "r1/") {
				t.Errorf("at %d row %d: %q, want %q", width, i, got[i], want[i])
			}
		}
		if width == 120 && (!strings.Contains(got[0], " r1 ") || !strings.Contains(got[1], " r1.2 ")) {
			t.Errorf("at 120 the runs are not seen: %q, %q", got[0], got[1])
		}
	}
}

// A claim of six letters stands whole from 80 cells on.
func TestClaimInTheQueue(t *testing.T) {
	row := gate.ItemRow{Claim: &gate.ClaimRow{ID: "uid:9", By: "nobody", Until: gate.InstantOf(now.Add(14 * time.Minute))}}
	for width := 80; width <= 200; width++ {
		got := strings.Split(Queue(samplePage(NewTheme(Plain, false), width, 24, 0), QueueView{Rows: []gate.ItemRow{row}}), "\n")[4]
		if !strings.Contains(got, "nobody") {
			t.Errorf("at %d: %q", width, got)
		}
	}
}

// What is resolved says how it ended, by whom and how long ago, whoever held it.
func TestResolvedInTheQueue(t *testing.T) {
	for _, row := range []struct {
		act     gate.Act
		finding gate.Finding
		want    string
	}{
		{gate.ActReconcile, gate.FindingHappened, "reconcile: happened"},
		{gate.ActReconcile, gate.FindingCannotTell, "reconcile: cannot tell"},
		{gate.ActReject, gate.FindingNone, "reject"},
		{gate.ActNewRun, gate.FindingNone, "new-run"},
		{gate.ActReport, gate.FindingNone, "report"},
	} {
		r := gate.ItemRow{
			Op: "charge-42", State: gate.HoldResolved, Ended: row.act, Finding: row.finding, EndedBy: "nora", Resolved: gate.InstantOf(now.Add(-12 * time.Minute)),
			Claim: &gate.ClaimRow{ID: "uid:9", By: "nobody", Until: gate.InstantOf(now.Add(14 * time.Minute))},
		}
		for width := LeastWidth; width <= 200; width++ {
			got := strings.Join(strings.Fields(strings.Split(Queue(samplePage(NewTheme(Plain, false), width, 24, 0), QueueView{Resolved: true, Rows: []gate.ItemRow{r}}), "\n")[4]), " ")
			if !strings.Contains(got, "charge-42") || !strings.Contains(got, " "+row.want) || width >= 60 && !strings.HasSuffix(got, row.want+" nora 12m") {
				t.Errorf("at %d: %q, want %s", width, got, row.want)
			}
		}
		r.EndedID = "uid:1"
		mine := Queue(samplePage(NewTheme(Plain, false), 80, 24, 0), QueueView{Resolved: true, Rows: []gate.ItemRow{r}, Me: "uid:1"})
		if !strings.Contains(mine, "you") || strings.Contains(mine, "nora") {
			t.Errorf("ended by the operator:\n%s", mine)
		}
	}
}

// The selected row is marked from edge to edge, in every list and tree, by what
// a terminal makes of it.
func TestSelectedRowReachesTheEdge(t *testing.T) {
	th := NewTheme(Dark, false)
	for name, draw := range screens() {
		for _, width := range []int{40, 79, 80, 120, 200} {
			term := vt.NewEmulator(width, 24)
			if _, err := term.WriteString(strings.ReplaceAll(draw(samplePage(th, width, 24, 0)), "\n", "\r\n")); err != nil {
				t.Fatal(err)
			}
			for y := range 24 {
				marked := 0
				for x := range width {
					if c := term.CellAt(x, y); c != nil && c.Style.Bg != nil {
						marked++
					}
				}
				want := width
				if tree := name == "run" || strings.HasPrefix(name, "run-"); tree && width >= wide {
					want = treeWidth(width)
				}
				if marked > 1 && marked != want { // one is the caret of a form
					t.Errorf("%s at %d: row %d is marked over %d cells, want %d", name, width, y, marked, want)
				}
			}
		}
	}
}

// What a list says is whole in its column, and moves none beside it, whatever
// the numbers.
func TestNumbersInTheirColumns(t *testing.T) {
	thousands, tokens := gate.Spent{Spent: 9999, Limit: 9999}, gate.Spent{Spent: 9_999_999, Limit: 9_999_999}
	for _, far := range []time.Duration{-time.Hour, 0, 59 * time.Minute, 23 * time.Hour, 99 * 24 * time.Hour} {
		r := gate.RunRow{Run: "r", Agent: "a", State: gate.RunActive, OpenItems: 9999, LastCode: "rate_limit", Budget: gate.BudgetRow{
			Attempts: thousands, SideEffects: thousands, RetryTokens: &tokens, Started: gate.InstantOf(now.Add(-time.Minute)), Deadline: gate.InstantOf(now.Add(far)),
		}}
		it := gate.ItemRow{Kind: gate.KindOutcomeUnknown, Op: "o", Tool: "t", Run: "r", Code: "rate_limit", Attempts: thousands, Opened: gate.InstantOf(now.Add(-far)), Deadline: gate.InstantOf(now.Add(far))}
		for width := LeastWidth; width <= 240; width++ {
			p := samplePage(NewTheme(Plain, true), width, 24, 0)
			for name, rows := range map[string][]string{
				"runs":  strings.Split(Runs(p, RunsView{Rows: []gate.RunRow{r}}), "\n"),
				"queue": strings.Split(Queue(p, QueueView{Rows: []gate.ItemRow{it}}), "\n"),
			} {
				cols, row := map[string][]column{"runs": runsColumns, "queue": queueColumns}[name], rows[4]
				for _, c := range layout(cols, listFrom, width) {
					if before := row[c.at-1]; c.at > listFrom && before != ' ' {
						t.Errorf("%s at %d, %s left: %q runs into %s: %s", name, width, far, before, c.title, row)
					}
					cell := row[c.at:min(c.at+c.width, len(row))]
					if strings.Contains(cell, "~") || strings.Contains(c.title, "ATTEMPTS") && !strings.Contains(cell, "9999/9999") {
						t.Errorf("%s at %d, %s left: %s is cut: %q", name, width, far, c.title, cell)
					}
				}
			}
		}
	}
}

// The claim says who holds the item and for how long, in as many cells as
// there are.
func TestClaimInItsCells(t *testing.T) {
	r := gate.ItemRow{Claim: &gate.ClaimRow{ID: "uid:1", By: "leonora", Until: gate.InstantOf(now.Add(14 * time.Minute))}}
	for n, want := range map[int]string{
		24: "leonora, 14m left       ", 17: "leonora, 14m left", 16: "leonora 14m     ", 11: "leonora 14m", 9: "leon… 14m", 7: "le… 14m",
	} {
		b := newBlock(NewTheme(Plain, false), 80, 1)
		b.claim(&r, "uid:2", now, n)
		b.end()
		if got := b.String(); got != want {
			t.Errorf("in %d cells: %q, want %q", n, got, want)
		}
	}
}
