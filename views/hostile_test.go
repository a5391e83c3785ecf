package views

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"tollgate/gate"
)

// hostile texts want to be more than the text of one cell.
var hostile = []string{
	"\x1b[2J\x1b[H", "\x1b]52;c;cm0gLXJmIC8=\x07", "\u009b31m", "\x9b31m", "a\rb", "a\nb", "a\tb", "\u202eabc", "\u200b\u200b", "e" + strings.Repeat("\u0301", 500),
	strings.Repeat("日", 400), strings.Repeat("👍", 300), "\x1b]8;;http://x", "\x1b]", "\ufeff", strings.Repeat("x", 20<<20), "\U000e0041", "",
}

// Rule 10, case 21. In every list a hostile row changes no other row, and no
// column of its own.
func TestHostileRowsOfLists(t *testing.T) {
	actor := func(s string) gate.Actor { return gate.Actor{ID: s, Name: s} }
	for name, draw := range map[string]func(p Page, i int, s string) string{
		"ledger": func(p Page, i int, s string) string {
			rows := sampleLedger()[:8]
			if i >= 0 {
				d := &rows[i]
				d.Run, d.Op, d.Agent, d.Actor, d.Tool, d.Code = gate.RunID(s), gate.OpID(s), s, actor(s), s, gate.Code(s)
			}
			return Ledger(p, LedgerView{Rows: rows})
		},
		"dependencies": func(p Page, i int, s string) string {
			rows := sampleDependencies()[:5]
			if i >= 0 {
				rows[i].Name = s
			}
			return Dependencies(p, DependenciesView{Rows: rows})
		},
		"causes": func(p Page, i int, s string) string {
			rows := sampleCauses()[:3]
			rows[0].Open, rows[2].Open = nil, nil
			if i >= 0 {
				rows[i].Dependency, rows[i].Code = s, gate.Code(s)
			}
			return Causes(p, CausesView{Causes: rows})
		},
		"fixtures": func(p Page, i int, s string) string {
			rows := sampleFixtures()[:4]
			if i >= 0 {
				rows[i].Name, rows[i].Title, rows[i].Clauses = s, s, s
			}
			return Fixtures(p, FixturesView{Rows: rows})
		},
		"bulk": func(p Page, i int, s string) string {
			lines := []BulkLine{{ID: "i-1", Op: "a"}, {ID: "i-2", Op: "b", Err: "x"}, {ID: "i-3", Op: "c", Skipped: "y"}}
			if i >= 0 {
				lines[i] = BulkLine{ID: gate.ItemID(s), Op: gate.OpID(s), Err: "-" + s}
			}
			return Bulk(p, BulkView{Title: "reject", Total: 3, Lines: lines})
		},
		"timeline": func(p Page, i int, s string) string {
			run, _ := sampleTimeline()
			if i >= 0 {
				run.Ops[0].Op, run.Ops[0].Tool = gate.OpID("-"+s), s
			}
			return Timeline(p, TimelineScreen{Run: run, Tree: NewTree(run, nil)})
		},
		"compare": func(p Page, i int, s string) string {
			rows := []CompareRow{{Rules: "gate", Dispatches: 3}, {Rules: "b", Dispatches: 1}, {Rules: "c", Dispatches: 1}}
			if i >= 0 {
				rows[i].Rules = s
			}
			p.Height = 12 // without the words below, which name them again
			return Compare(p, CompareView{Rows: rows})
		},
	} {
		for _, width := range []int{60, 120} {
			p := samplePage(NewTheme(Dark, false), width, 24, 0)
			want := strings.Split(draw(p, -1, ""), "\n")
			at := -1
			for _, s := range hostile {
				got := strings.Split(draw(p, 1, s), "\n")
				changed := 0
				for i := range want {
					if got[i] == want[i] {
						continue
					}
					changed++
					if at < 0 {
						at = i
					}
					if i != at {
						t.Errorf("%s at %d: %.20q changes row %d:\n got %q\nwant %q", name, width, s, i, got[i], want[i])
					}
					if n := ansi.StringWidth(got[i]); n > width {
						t.Errorf("%s at %d: %.20q makes its row %d cells wide", name, width, s, n)
					}
				}
				if changed != 1 {
					t.Errorf("%s at %d: %.20q changes %d rows, want its own", name, width, s, changed)
				}
			}
		}
	}
}

// A text of 20 MB in every field of a record leaves the screen in its size.
func TestLongTextsOfARecord(t *testing.T) {
	long := strings.Repeat("x\x1b日", 4<<20)
	d := sampleRecord()
	d.Run, d.Op, d.Agent, d.Tool, d.Dependency, d.Key, d.Code, d.Reason, d.Evidence, d.Result, d.Trace = gate.RunID(long), gate.OpID(long), long, long, long, long, gate.Code(long), long, long, long, long
	d.Actor, d.Item, d.NewOp, d.NewRun = gate.Actor{ID: long, Name: long + "n", Source: long}, gate.ItemID(long), gate.OpID(long), gate.RunID(long)
	d.Terminal.Reason, d.Permit.Op, d.Contract, d.Hash = long, gate.OpID(long+"o"), long, long
	for _, width := range []int{80, 120} {
		for i, row := range strings.Split(Record(samplePage(NewTheme(Dark, false), width, 24, 0), RecordView{Row: d, Top: 5}), "\n") {
			if n := ansi.StringWidth(row); n > width {
				t.Errorf("at %d row %d takes %d cells", width, i, n)
			}
		}
	}
}
