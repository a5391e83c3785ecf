package views

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"tollgate/gate"
)

// Every size, on every screen: as many rows as asked for, none too wide, no
// panic.
func TestSizes(t *testing.T) {
	themes := []*Theme{NewTheme(Dark, false), NewTheme(Plain, true)}
	check := func(name string, draw func(Page) string, w, h int) {
		got := draw(samplePage(themes[(w+h)%2], w, h, 0))
		rows := strings.Split(got, "\n")
		if len(rows) != h {
			t.Fatalf("%s at %dx%d has %d rows", name, w, h, len(rows))
		}
		for i, row := range rows {
			if n := ansi.StringWidth(row); n > w {
				t.Fatalf("%s at %dx%d: row %d takes %d cells: %q", name, w, h, i, n, row)
			}
		}
	}
	for name, draw := range screens() {
		for w := 1; w <= 300; w++ {
			check(name, draw, w, 1)
			check(name, draw, w, 24+w%2)
		}
		for h := 1; h <= 100; h++ {
			for _, w := range []int{1, 39, 40, 79, 80, 120, 300} {
				check(name, draw, w, h)
			}
		}
		for _, size := range [][2]int{{0, 0}, {0, 9}, {9, 0}, {-1, -1}} {
			if got := draw(samplePage(themes[0], size[0], size[1], 0)); got != "" {
				t.Errorf("%s at %v = %q, want nothing", name, size, got)
			}
		}
	}
}

var ours = regexp.MustCompile("\x1b\\[[0-9;]*m")

// A frame holds the sequences of its theme and nothing else that a terminal
// would obey; each row leaves the terminal as it found it.
func TestFrameHoldsOnlyItsOwnSequences(t *testing.T) {
	for _, p := range []Palette{Plain, Mono, Sixteen, Dark, Light} {
		for _, ascii := range []bool{false, true} {
			th := NewTheme(p, ascii)
			own := map[string]bool{}
			for s := range th.on {
				own[th.on[s]], own[th.sel[s]] = true, true
			}
			for name, draw := range screens() {
				for i, row := range strings.Split(draw(samplePage(th, 120, 36, 0)), "\n") {
					seqs := ours.FindAllString(row, -1)
					for _, s := range seqs {
						if !own[s] {
							t.Errorf("%s, palette %d: row %d holds %q", name, p, i, s)
						}
					}
					if n := len(seqs); n > 0 && seqs[n-1] != th.on[text] {
						t.Errorf("%s, palette %d: row %d ends in %q", name, p, i, seqs[n-1])
					}
					bare := ours.ReplaceAllString(row, "")
					if strings.ContainsFunc(bare, func(r rune) bool { return unicode.In(r, unicode.C) }) {
						t.Errorf("%s, palette %d: row %d holds a control: %q", name, p, i, bare)
					}
					if ascii && !clean(bare) {
						t.Errorf("%s, palette %d: row %d is not ASCII: %q", name, p, i, bare)
					}
					if p == Plain && len(seqs) > 0 {
						t.Errorf("%s: row %d of a plain frame holds %q", name, i, seqs)
					}
				}
			}
		}
	}
}

// A hostile item changes its own row and no other, and moves no column.
func TestHostileRowStaysInItsRow(t *testing.T) {
	th := NewTheme(Dark, false)
	calm := sampleItems()[:6]
	want := strings.Split(Queue(samplePage(th, 120, 36, 0), QueueView{Rows: calm}), "\n")
	for _, s := range []string{
		"\x1b[2J\x1b[H", "\x1b]52;c;cm0gLXJmIC8=\x07", "\u009b31m", "\x9b31m", "a\rb", "a\nb", "a\tb", "\u202eabc", "\u200b\u200b", "e" + strings.Repeat("\u0301", 500),
		strings.Repeat("日", 400), strings.Repeat("👍", 300), "\x1b]8;;http://x", "\ufeff", strings.Repeat("x", 20<<20), "\U000e0041", "",
	} {
		rows := append([]gate.ItemRow(nil), calm...)
		r := &rows[2]
		r.Op, r.Tool, r.Code, r.Run = gate.OpID(s), s, gate.Code(s), gate.RunID(s)
		claim := *r.Claim
		claim.By, r.Claim = s, &claim
		got := strings.Split(Queue(samplePage(th, 120, 36, 0), QueueView{Rows: rows}), "\n")
		for i := range want {
			if i != 6 && got[i] != want[i] {
				t.Errorf("%.20q changes row %d:\n got %q\nwant %q", s, i, got[i], want[i])
			}
		}
		left := func(row string) int { return ansi.StringWidth(row[:strings.Index(row, "08:02")]) }
		if left(got[6]) != left(want[6]) {
			t.Errorf("%.20q moves the column of what is left to %d, want %d", s, left(got[6]), left(want[6]))
		}
	}
}

// A text of 20 MB in every field that comes from outside leaves every screen
// in its size.
func TestLongTexts(t *testing.T) {
	long := strings.Repeat("x\x1b日", 4<<20)
	run := sampleRun()
	run.Run, run.Agent, run.LastCode = gate.RunID(long), long, gate.Code(long)
	o := &run.Ops[0]
	o.Op, o.Tool, o.Dependency, o.Key, o.Digest, o.Result, o.Parent = gate.OpID(long), long, long, long, long, long, gate.OpID(long)
	class := gate.ClassTransient
	o.Attempts[0].Class, o.Attempts[0].Failure = &class, &gate.Failure{Code: gate.Code(long), Message: long, Status: long, Field: long, Suggest: long}
	it := sampleItem()
	it.Op, it.Tool, it.Dependency, it.Code, it.Run, it.Agent = o.Op, long, long, gate.Code(long), gate.RunID(long), long
	claim := *it.Claim
	claim.By, it.Claim = long, &claim
	it.Input, it.Key, it.Runbook, it.LastNote, it.Asker.Name, it.Dispatches = json.RawMessage(long), long, long, long, long, o.Attempts
	p := samplePage(NewTheme(Dark, false), 80, 24, 0)
	p.Header.Operator, p.Header.Place = long, long
	tree := NewTree(run, nil)
	for name, got := range map[string]string{
		"queue":  Queue(p, QueueView{Rows: []gate.ItemRow{it.ItemRow}}),
		"runs":   Runs(p, RunsView{Rows: []gate.RunRow{run.RunRow}}),
		"run":    Run(p, RunScreen{Run: run, Tree: tree, Selected: OpNode(o.Op)}),
		"review": Review(p, ReviewOf(it, "")),
	} {
		rows := strings.Split(got, "\n")
		if len(rows) != p.Height {
			t.Errorf("%s has %d rows, want %d", name, len(rows), p.Height)
		}
		for i, row := range rows {
			if n := ansi.StringWidth(row); n > p.Width {
				t.Errorf("%s: row %d takes %d cells", name, i, n)
			}
		}
	}
}

// The selected row is the one with the id, wherever it stands, and none when
// the id is not there.
func TestSelectionIsAnID(t *testing.T) {
	th := NewTheme(Plain, true)
	rows := sampleItems()
	marks := func(sel gate.ItemID) (at []string) {
		for row := range strings.SplitSeq(Queue(samplePage(th, 120, 36, 0), QueueView{Rows: rows, Selected: sel}), "\n") {
			if strings.HasPrefix(row, " >") {
				at = append(at, strings.Fields(row)[4])
			}
		}
		return at
	}
	for sel, want := range map[gate.ItemID]string{rows[1].ID: "[charge-57]", "i-gone": "[]", "": "[]"} {
		if got := fmt.Sprint(marks(sel)); got != want {
			t.Errorf("selected %q: marked %v, want %v", sel, got, want)
		}
	}
	rows[9].ID = "" // a row without an id is never the selected one
	if got := marks(""); len(got) > 0 {
		t.Errorf("nothing selected: marked %v", got)
	}
}

// A frame at 200x60 stays within 500 allocations, whatever its screen.
func TestFrameAllocations(t *testing.T) {
	th := NewTheme(Dark, false)
	for name, draw := range screens() {
		p := samplePage(th, 200, 60, 0)
		if got := testing.AllocsPerRun(20, func() { draw(p) }); got > 500 {
			t.Errorf("%s takes %.0f allocations, want at most 500", name, got)
		}
	}
}

// So does one that is full of rows.
func TestFullPageAllocations(t *testing.T) {
	const rows = 60
	ledger, deps, causes, fixtures, line := sampleLedger(), sampleDependencies(), sampleCauses(), sampleFixtures(), BulkLine{}
	stop := ledger[14]
	line.ID, line.Op, line.Row = "i-1", "charge-42", &stop
	run, ds := sampleTimeline()
	tab := LedgerView{}
	for i := range rows {
		tab.Rows = append(tab.Rows, ledger[i%len(ledger)])
		run.Ops = append(run.Ops, run.Ops[1])
		run.Ops[len(run.Ops)-1].Op = gate.OpID(fmt.Sprint("lookup-", i))
	}
	tree := NewTree(run, nil)
	repeat := func(n int) int { return rows / n }
	for name, draw := range map[string]func(Page){
		"ledger":       func(p Page) { Ledger(p, tab) },
		"run ledger":   func(p Page) { RunLedger(p, run, tree, tab) },
		"timeline":     func(p Page) { Timeline(p, TimelineScreen{Run: run, Tree: tree, Decisions: ds}) },
		"dependencies": func(p Page) { Dependencies(p, DependenciesView{Rows: slices.Repeat(deps, repeat(len(deps)))}) },
		"causes":       func(p Page) { Causes(p, CausesView{Causes: slices.Repeat(causes, repeat(len(causes)))}) },
		"fixtures":     func(p Page) { Fixtures(p, FixturesView{Rows: slices.Repeat(fixtures, repeat(len(fixtures)))}) },
		"bulk":         func(p Page) { Bulk(p, BulkView{Lines: slices.Repeat([]BulkLine{line}, rows)}) },
	} {
		p := samplePage(NewTheme(Dark, false), 200, 60, 0)
		if got := testing.AllocsPerRun(20, func() { draw(p) }); got > 500 {
			t.Errorf("%s takes %.0f allocations, want at most 500", name, got)
		}
	}
}

func BenchmarkFrame(b *testing.B) {
	th := NewTheme(Dark, false)
	for name, draw := range screens() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			p := samplePage(th, 200, 60, 0)
			for b.Loop() {
				draw(p)
			}
		})
	}
}
