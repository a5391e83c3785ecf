package ui

import (
	"slices"

	"tollgate/gate"
)

// window is the part of an ordered list that is held for the screen: some rows
// above and below those that are seen. While the cursor is in the list its
// rows keep their places: what has come, moved or left since is counted, and
// taken in when the operator says so. A list without a cursor follows by
// itself. Rows that are shown get their newest values in place.
//
// The zero window, with key set, has read nothing yet.
type window[ID ~string, Row any] struct {
	key func(*Row) ID

	rows  []Row
	left  map[ID]string // shown rows that have left the list, and how
	cur   cursor[ID]
	prior bool // there are rows before the first
	more  bool // there are rows after the last

	fresh  *page[ID, Row] // the newest answer, while something of it is held back
	news   int            // rows that have come
	moved  int            // rows that have changed places
	total  int64          // rows of the whole list now
	taken  int64          // and when its order was taken in
	loaded bool           // something has been read
	adopt  bool           // the next page is taken in whatever the cursor does
	pick   bool           // the operator has just come: the next page's first row is selected

	height int // rows that are seen at once
}

// listing is what the keys of a list need of it, whatever its rows are.
type listing interface {
	come()
	move(n int) (short bool)
	pending() bool
	takeIn()
	release()
}

// page is one answer to a query of a window.
type page[ID ~string, Row any] struct {
	asked gate.Window
	rows  []Row
	more  bool
	total int64         // -1 where it is not the count of this list
	prior bool          // there are rows before the first
	left  map[ID]string // of the rows that were shown: those that have left the list, and how
}

func newWindow[ID ~string, Row any](key func(*Row) ID) window[ID, Row] {
	return window[ID, Row]{key: key, height: 1}
}

// resize sets how many rows are seen at once.
func (w *window[ID, Row]) resize(height int) {
	w.height = max(1, height)
	w.cur.keepInView(w.height, len(w.rows))
}

// margin is how many rows are held beyond each edge of what is seen.
func (w *window[ID, Row]) margin() int { return max(8, w.height) }

// query says which rows the next read has to bring: those seen, and a margin.
// The anchor is a row that is still in the list; near the top it is the top.
func (w *window[ID, Row]) query() gate.Window {
	n := w.height + w.margin()
	anchor := w.cur.top
	follow := w.adopt && w.cur.id != ""
	if follow {
		anchor = w.cur.at
	}
	if !follow && !w.prior && w.cur.top <= w.margin() {
		return w.bound(gate.Window{After: w.cur.top + n})
	}
	for i := anchor; i < len(w.rows); i++ {
		if id := w.key(&w.rows[i]); !w.hasLeft(id) {
			return w.bound(gate.Window{Anchor: string(id), Before: i - w.cur.top + w.margin(), After: n})
		}
	}
	for i := min(anchor, len(w.rows)) - 1; i >= 0; i-- {
		if id := w.key(&w.rows[i]); !w.hasLeft(id) {
			return w.bound(gate.Window{Anchor: string(id), Before: w.margin(), After: n + w.cur.top - i})
		}
	}
	return w.bound(gate.Window{After: n})
}

func (w *window[ID, Row]) bound(q gate.Window) gate.Window {
	q.After = min(q.After, gate.MaxWindow)
	q.Before = min(q.Before, gate.MaxWindow-q.After)
	return q
}

// visible returns the rows that are seen now.
func (w *window[ID, Row]) visible() []Row {
	from := min(w.cur.top, len(w.rows))
	return w.rows[from:min(from+w.height, len(w.rows))]
}

// selected returns the row under the cursor, nil for none.
func (w *window[ID, Row]) selected() *Row {
	if w.cur.id == "" {
		return nil
	}
	return &w.rows[w.cur.at]
}

func (w *window[ID, Row]) hasLeft(id ID) bool { _, ok := w.left[id]; return ok }

// index returns the place of a row, -1 if it is not held.
func (w *window[ID, Row]) index(rows []Row, id ID) int {
	for i := range rows {
		if w.key(&rows[i]) == id {
			return i
		}
	}
	return -1
}

// move puts the cursor n rows further, over rows that have left, and reports
// whether the rows held do not reach far enough.
func (w *window[ID, Row]) move(n int) (short bool) {
	w.cur.move(n, len(w.rows), func(i int) (ID, bool) {
		id := w.key(&w.rows[i])
		return id, !w.hasLeft(id)
	})
	w.cur.keepInView(w.height, len(w.rows))
	return w.prior && w.cur.top < w.height/2 || w.more && w.cur.top+w.height+w.height/2 > len(w.rows)
}

// come is told that the operator comes to the list: it takes in what it has
// held back, and selects its first row if it has no cursor.
func (w *window[ID, Row]) come() { w.adopt, w.pick = true, !w.cur.inList() }

// release takes the cursor out of the list, which then follows by itself.
func (w *window[ID, Row]) release() {
	w.cur = cursor[ID]{}
	w.adopt = true
}

// pending reports whether something is held back.
func (w *window[ID, Row]) pending() bool { return w.news+w.moved+len(w.left) > 0 }

// takeIn takes in what is held back, at once if it is all here; the next read
// brings the rest.
func (w *window[ID, Row]) takeIn() {
	if w.fresh != nil && (w.cur.id == "" || w.index(w.fresh.rows, w.cur.id) >= 0) {
		w.set(*w.fresh)
	}
	w.adopt = true
}

// reset forgets the rows, for a list of something else.
func (w *window[ID, Row]) reset() {
	*w = window[ID, Row]{key: w.key, height: w.height}
}

// take brings in one answer.
func (w *window[ID, Row]) take(p page[ID, Row]) {
	astray := w.cur.id != "" && p.asked.Anchor != string(w.cur.id) && w.index(p.rows, w.cur.id) < 0
	if !w.loaded || w.adopt && !astray || !w.cur.inList() || len(w.rows) == 0 {
		w.set(p)
		return
	}
	w.hold(p)
}

// set makes the answer the list that is shown. The cursor follows its id, and
// its row keeps its place on the screen if it can.
func (w *window[ID, Row]) set(p page[ID, Row]) {
	place, how := w.cur.at-w.cur.top, w.left[w.cur.id]
	if how == "" {
		how = p.left[w.cur.id]
	}
	w.rows, w.left, w.fresh = slices.Clone(p.rows), nil, nil
	w.news, w.moved, w.taken, w.total = 0, 0, p.total, p.total
	w.more, w.loaded, w.adopt = p.more, true, false
	w.prior = p.prior
	switch i := w.index(w.rows, w.cur.id); {
	case w.cur.id != "" && i >= 0:
		w.cur.at, w.cur.top = i, i-place
	case w.cur.id != "":
		w.cur.lose(how)
	case w.pick && w.cur.lost == "" && len(w.rows) > 0:
		w.cur.pick(w.key(&w.rows[0]), 0)
	}
	w.pick = false
	w.cur.at = max(0, min(w.cur.at, len(w.rows)-1))
	w.cur.keepInView(w.height, len(w.rows))
}

// hold keeps the order that is shown and counts what differs.
func (w *window[ID, Row]) hold(p page[ID, Row]) {
	at := make(map[ID]int, len(w.rows))
	for i := range w.rows {
		at[w.key(&w.rows[i])] = i
	}
	known := make([]int, 0, len(p.rows)) // places of the answer's rows in ours, in its order
	first, last := -1, -1                // the answer's first and last row that we hold
	for i := range p.rows {
		k, ok := at[w.key(&p.rows[i])]
		if !ok {
			continue
		}
		w.rows[k] = p.rows[i]
		delete(w.left, w.key(&p.rows[i])) // it has come back
		known = append(known, k)
		if first < 0 {
			first = i
		}
		last = i
	}
	for id, how := range p.left {
		if w.left == nil {
			w.left = make(map[ID]string)
		}
		w.left[id] = how
	}
	w.fresh, w.total = &p, p.total
	w.moved = len(known) - ascending(known)
	w.news = len(p.rows) - len(known)
	if first >= 0 {
		w.news -= w.extend(p, first, last, known)
	}
	if p.total >= 0 && w.taken >= 0 {
		w.news = max(w.news, int(p.total-w.taken)+len(w.left))
	}
	if how, gone := w.left[w.cur.id]; gone {
		w.cur.lose(how)
	}
	if !w.pending() {
		w.fresh = nil
	}
}

// extend adds the rows of an answer that lie beyond the edges of what is held,
// where the list was known to go on; it returns how many.
func (w *window[ID, Row]) extend(p page[ID, Row], first, last int, known []int) (added int) {
	if end := p.rows[last+1:]; w.more && known[len(known)-1] == w.lastHere() {
		w.rows = append(w.rows, end...)
		w.more = p.more
		added += len(end)
	}
	if w.prior && known[0] == 0 {
		w.rows = append(append(make([]Row, 0, first+len(w.rows)), p.rows[:first]...), w.rows...)
		w.cur.at += first
		w.cur.top += first
		w.prior = p.prior
		added += first
	}
	w.trim()
	return added
}

// lastHere returns the place of the last row that has not left.
func (w *window[ID, Row]) lastHere() int {
	i := len(w.rows) - 1
	for i > 0 && w.hasLeft(w.key(&w.rows[i])) {
		i--
	}
	return i
}

// trim lets go of rows far from what is seen, so that a long way through a
// list costs no more than a short one.
func (w *window[ID, Row]) trim() {
	far := 4 * (w.height + w.margin())
	if cut := w.cur.top + w.height + far; cut < len(w.rows) {
		w.rows, w.more = w.rows[:cut:cut], true
	}
	if cut := w.cur.top - far; cut > 0 {
		w.rows, w.prior = w.rows[cut:], true
		w.cur.at -= cut
		w.cur.top -= cut
	}
}

// ascending returns the length of the longest ascending subsequence: the rows
// that can be said to have stayed where they were.
func ascending(seq []int) int {
	ends := make([]int, 0, len(seq)) // the least end of a subsequence of each length
	for _, v := range seq {
		lo, hi := 0, len(ends)
		for lo < hi {
			if mid := (lo + hi) / 2; ends[mid] < v {
				lo = mid + 1
			} else {
				hi = mid
			}
		}
		if lo == len(ends) {
			ends = append(ends, v)
		} else {
			ends[lo] = v
		}
	}
	return len(ends)
}
