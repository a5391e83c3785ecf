package views

import (
	"strings"
	"testing"

	"tollgate/gate"
)

// Rule 1. The cursor is on a cause or on an item, by its id, and nowhere when
// that is not there.
func TestCausesSelection(t *testing.T) {
	causes := sampleCauses()
	item := causes[0].Open[2].ID
	for _, r := range []struct {
		name string
		v    CausesView
		want string
	}{
		{"a cause", CausesView{On: true, Selected: causes[1].CauseID}, "crm"},
		{"an item", CausesView{Item: item}, "refund-3"},
		{"one of the two", CausesView{On: true, Selected: causes[1].CauseID, Item: item}, "crm"},
		{"none", CausesView{}, ""},
		{"a cause that has gone", CausesView{On: true, Selected: CauseID{Dependency: "gone"}}, ""},
		{"an item that has gone", CausesView{Item: "i-gone"}, ""},
		{"the zero cause is one", CausesView{Selected: causes[1].CauseID}, ""},
	} {
		r.v.Causes = causes
		var got []string
		for row := range strings.SplitSeq(Causes(samplePage(NewTheme(Plain, true), 120, 36, 0), r.v), "\n") {
			if strings.HasPrefix(row, " >") {
				got = append(got, row)
			}
		}
		if r.want == "" && len(got) > 0 || r.want != "" && (len(got) != 1 || !strings.Contains(got[0], r.want)) {
			t.Errorf("%s: marked %q, want %q", r.name, got, r.want)
		}
	}
}

// Marks say whether all of a cause are in the set or some, in a glyph and in
// words.
func TestCausesMarks(t *testing.T) {
	c := Cause{CauseID: CauseID{"crm", "timeout", gate.ClassTransient}, Items: 6, Runs: 2, First: now, Last: now}
	for marked, want := range map[int64][2]string{0: {" ", "closed"}, 2: {"o", "2 of 6"}, 6: {"*", "all"}} {
		c.Marked = marked
		row := strings.Split(Causes(samplePage(NewTheme(Plain, true), 120, 24, 0), CausesView{Causes: []Cause{c}}), "\n")[4]
		if got := row[2:3]; got != want[0] || !strings.HasSuffix(strings.TrimRight(row, " "), want[1]) {
			t.Errorf("%d of 6 marked: %q, want %q and %q", marked, row, want[0], want[1])
		}
	}
}

// Scrolled, the list shows the same rows from further down, and as many as
// CausesRows says.
func TestCausesScroll(t *testing.T) {
	v := CausesView{Causes: sampleCauses(), Says: "Independent."}
	p := samplePage(NewTheme(Plain, true), 100, 60, 0)
	top := p.headRows() + 2
	all := strings.Split(Causes(p, v), "\n")[top:]
	p.Height = 14
	if got, want := CausesRows(p, v), p.Body()-2; got != want {
		t.Errorf("%d rows, want %d", got, want)
	}
	for v.Top = range 12 {
		for i, got := range strings.Split(Causes(p, v), "\n")[top : top+CausesRows(p, v)] {
			if want := all[v.Top+i]; strings.TrimRight(got, " ") != strings.TrimRight(want, " ") {
				t.Errorf("from row %d on, row %d: %q, want %q", v.Top, i, got, want)
			}
		}
	}
}
