package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tollgate/gate"
)

// line is a row of the lists of these tests.
type line struct {
	id    string
	value int
}

func lines(ids string) []line {
	var rows []line
	for _, id := range strings.Fields(ids) {
		rows = append(rows, line{id: id})
	}
	return rows
}

func names(rows []line) string {
	var ids []string
	for _, r := range rows {
		ids = append(ids, r.id)
	}
	return strings.Join(ids, " ")
}

// list is a store's list, of which windows are taken as an engine takes them.
type list []line

func (l list) answer(q gate.Window, shown []line) page[string, line] {
	at := max(0, slices.IndexFunc(l, func(r line) bool { return r.id == q.Anchor }))
	from, to := max(0, at-q.Before), min(len(l), at+q.After)
	p := page[string, line]{asked: q, rows: slices.Clone(l[from:to]), more: to < len(l), prior: from > 0, total: int64(len(l))}
	for _, s := range shown {
		if !slices.ContainsFunc(l, func(r line) bool { return r.id == s.id }) {
			if p.left == nil {
				p.left = map[string]string{}
			}
			p.left[s.id] = "was resolved by lee"
		}
	}
	return p
}

func read(w *window[string, line], l list) { w.take(l.answer(w.query(), w.visible())) }

func newLines(height int) *window[string, line] {
	w := newWindow(func(r *line) string { return r.id })
	w.resize(height)
	w.pick = true
	return &w
}

// Rule 2: while the cursor is in the list its rows keep their order, and what
// has come, moved and left is counted.
func TestRowsAreNotSortedUnderTheCursor(t *testing.T) {
	for _, r := range []struct {
		now              string // the store's list
		news, moved, out int
		taken            string // what is shown after R
		place            int    // of the cursor, which is on c
	}{
		{"a b c d e", 0, 0, 0, "a b c d e", 2},
		{"x a b c d e", 1, 0, 0, "x a b c d e", 3},
		{"a b x c y d e z", 3, 0, 0, "a b x c y d e z", 3},
		{"e a b c d", 0, 1, 0, "e a b c d", 3},
		{"e d c b a", 0, 4, 0, "e d c b a", 2},
		{"a c d e", 0, 0, 1, "a c d e", 1},
		{"x c a e", 1, 1, 2, "x c a e", 1},
	} {
		t.Run(r.now, func(t *testing.T) {
			w := newLines(20)
			read(w, lines("a b c d e"))
			w.move(2)
			read(w, lines(r.now))
			if got := names(w.rows); got != "a b c d e" {
				t.Fatalf("shown = %s, want the order as it was", got)
			}
			if w.news != r.news || w.moved != r.moved || len(w.left) != r.out {
				t.Errorf("%d new, %d moved, %d left; want %d, %d, %d", w.news, w.moved, len(w.left), r.news, r.moved, r.out)
			}
			if w.cur.id != "c" {
				t.Fatalf("selected %q, want c", w.cur.id)
			}
			w.takeIn()
			read(w, lines(r.now))
			if got := names(w.rows); got != r.taken || w.cur.id != "c" || w.cur.at != r.place || w.pending() {
				t.Errorf("taken in: %s with %q at %d, pending %v; want %s with c at %d", got, w.cur.id, w.cur.at, w.pending(), r.taken, r.place)
			}
		})
	}
}

// Rule 2: what the rows hold stays live.
func TestRowsShowTheirNewestValues(t *testing.T) {
	w := newLines(20)
	read(w, lines("a b c"))
	now := lines("b a c")
	now[1].value = 7
	read(w, now)
	if got := w.rows[0]; got != (line{"a", 7}) {
		t.Errorf("first row = %v, want a with 7", got)
	}
}

// Rule 1: when the selected row has left, nothing is selected; the neighbour
// never is. The operator's next step goes on from there.
func TestTheNeighbourIsNeverSelected(t *testing.T) {
	for _, r := range []struct {
		name string
		then func(w *window[string, line])
		want string
	}{
		{"nothing more", func(*window[string, line]) {}, ""},
		{"another read", func(w *window[string, line]) { read(w, lines("a c")) }, ""},
		{"down", func(w *window[string, line]) { w.move(1) }, "c"},
		{"up", func(w *window[string, line]) { w.move(-1) }, "a"},
		{"taken in", func(w *window[string, line]) { w.takeIn(); read(w, lines("a c")) }, ""},
		{"taken in, then a step", func(w *window[string, line]) { w.takeIn(); read(w, lines("a c")); w.move(1) }, "c"},
	} {
		t.Run(r.name, func(t *testing.T) {
			w := newLines(20)
			read(w, lines("a b c"))
			w.move(1)
			read(w, lines("a c"))
			r.then(w)
			if w.cur.id != r.want {
				t.Errorf("selected %q, want %q", w.cur.id, r.want)
			}
			if r.want == "" && (w.cur.lost != "b" || w.cur.how != "was resolved by lee") {
				t.Errorf("lost %q, how %q; want b and who resolved it", w.cur.lost, w.cur.how)
			}
		})
	}
}

// A row that has moved far away is still the selected one: taking in looks for
// it, and does not call it gone.
func TestTakingInFollowsTheRow(t *testing.T) {
	var many []string
	for i := range 400 {
		many = append(many, fmt.Sprintf("r%03d", i))
	}
	w := newLines(10)
	read(w, lines(strings.Join(many, " ")))
	w.move(2)
	moved := append(slices.Delete(slices.Clone(many), 2, 3), many[2])
	now := list(lines(strings.Join(moved, " ")))
	read(w, now)
	w.takeIn()
	read(w, now)
	if w.cur.id != "r002" || w.rows[w.cur.at].id != "r002" || w.rows[w.cur.at-1].id != "r399" || w.pending() {
		t.Errorf("selected %q at %q, held back %v; want r002 after r399, and nothing held back", w.cur.id, w.rows[w.cur.at].id, w.pending())
	}
}

// Rule 1: taken in, the selected row keeps its place on the screen.
func TestTakingInKeepsThePlaceOnTheScreen(t *testing.T) {
	var l list
	for i := range 100 {
		l = append(l, line{id: fmt.Sprintf("r%02d", i)})
	}
	w := newLines(10)
	read(w, l)
	for range 40 {
		w.move(1)
		read(w, l)
	}
	w.move(-4)
	place := w.cur.at - w.cur.top
	l = append(list(lines("x y z")), l...)
	read(w, l)
	w.takeIn()
	read(w, l)
	if got := w.cur.at - w.cur.top; w.cur.id != "r36" || got != place {
		t.Errorf("%q is on screen row %d, want r36 on %d", w.cur.id, got, place)
	}
}

// An answer to an older question does not end the selection.
func TestAStrayAnswerIsHeldBack(t *testing.T) {
	w := newLines(3)
	read(w, lines("a b c d e f g h"))
	w.move(5)
	w.adopt = true
	w.take(list(lines("a b c")).answer(gate.Window{After: 3}, nil))
	if w.cur.id != "f" || !w.adopt {
		t.Errorf("selected %q, still to take in %v; want f, true", w.cur.id, w.adopt)
	}
}

// A list without a cursor follows by itself, and selects nothing. The first
// row is selected only where the operator has just come to it.
func TestAListWithoutACursorFollows(t *testing.T) {
	w := newLines(20)
	read(w, nil) // the operator came, and there was nothing
	read(w, lines("a"))
	read(w, lines("b a"))
	if got := names(w.rows); got != "b a" || w.cur.inList() {
		t.Errorf("shown %s with %q, want b a with none", got, w.cur.id)
	}
	w.move(1)
	read(w, lines("c b a"))
	if got := names(w.rows); got != "b a" || w.cur.id != "b" || w.news != 1 {
		t.Errorf("with a cursor: shown %s with %q, %d new; want b a with b, 1", got, w.cur.id, w.news)
	}
	w.release()
	read(w, lines("c b a"))
	if got := names(w.rows); got != "c b a" || w.cur.inList() {
		t.Errorf("released: shown %s with %q, want c b a with none", got, w.cur.id)
	}
}

// A long list is walked from end to end with windows, without a gap, and what
// is held stays bounded.
func TestAWindowWalksTheWholeList(t *testing.T) {
	const n = 3000
	var l list
	for i := range n {
		l = append(l, line{id: fmt.Sprintf("r%04d", i)})
	}
	w := newLines(30)
	read(w, l)
	for i := range n {
		if want := l[i].id; w.cur.id != want {
			t.Fatalf("after %d steps %q is selected, want %q", i, w.cur.id, want)
		}
		if w.move(1) {
			read(w, l)
		}
		if len(w.rows) > 20*30 {
			t.Fatalf("%d rows are held", len(w.rows))
		}
	}
	for i := n - 1; i >= 0; i-- {
		if want := l[i].id; w.cur.id != want {
			t.Fatalf("on the way up %q is selected, want %q", w.cur.id, want)
		}
		if w.move(-1) {
			read(w, l)
		}
	}
}

// Whatever happens to the store's list, the shown order and the selected row's
// place on the screen change by the operator's hand only.
func TestTheHandMovesTheListAndNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		next := 0
		fresh := func() line { next++; return line{id: fmt.Sprintf("r%d", next)} }
		var l list
		for range rapid.IntRange(1, 60).Draw(t, "rows") {
			l = append(l, fresh())
		}
		w := newLines(rapid.IntRange(1, 12).Draw(t, "height"))
		read(w, l)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			id, place, seen := w.cur.id, w.cur.at-w.cur.top, names(w.visible())
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0:
				l = slices.Insert(slices.Clone(l), rapid.IntRange(0, len(l)).Draw(t, "at"), fresh())
			case 1:
				if len(l) > 0 {
					at := rapid.IntRange(0, len(l)-1).Draw(t, "at")
					l = slices.Delete(slices.Clone(l), at, at+1)
				}
			case 2:
				if len(l) > 1 {
					from, to := rapid.IntRange(0, len(l)-1).Draw(t, "from"), rapid.IntRange(0, len(l)-2).Draw(t, "to")
					row := l[from]
					l = slices.Insert(slices.Delete(slices.Clone(l), from, from+1), to, row)
				}
			case 3:
				w.move(rapid.IntRange(-15, 15).Draw(t, "n"))
				if w.cur.id != "" && w.rows[w.cur.at].id != w.cur.id {
					t.Fatalf("the cursor is at %q and says %q", w.rows[w.cur.at].id, w.cur.id)
				}
				continue
			case 4:
				w.takeIn()
				read(w, l)
				if w.cur.id != "" && w.cur.id != id {
					t.Fatalf("taking in selected %q, before it was %q", w.cur.id, id)
				}
				continue
			}
			inList := w.cur.inList() && len(w.rows) > 0
			read(w, l)
			if w.cur.id != "" && w.cur.id != id {
				t.Fatalf("a read selected %q, before it was %q", w.cur.id, id)
			}
			if got := names(w.visible()); inList && len(w.visible()) == w.height && got != seen {
				t.Fatalf("a read changed what is seen from %s to %s", seen, got)
			}
			if w.cur.id != "" && w.cur.at-w.cur.top != place {
				t.Fatalf("a read moved the selected row from screen row %d to %d", place, w.cur.at-w.cur.top)
			}
			if w.cur.top < 0 || w.cur.at < w.cur.top || len(w.rows) > 0 && w.cur.at >= w.cur.top+w.height {
				t.Fatalf("cursor at %d, top %d, height %d", w.cur.at, w.cur.top, w.height)
			}
		}
	})
}
