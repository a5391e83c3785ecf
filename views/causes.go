package views

import (
	"strconv"
	"time"

	"tollgate/gate"
)

// CauseID names a cause: what fails, and how.
type CauseID struct {
	Dependency string
	Code       gate.Code // empty: nothing has failed, an approval is waited for
	Class      gate.Class
}

// Cause is what waits for one and the same reason.
type Cause struct {
	CauseID
	Items   int64
	Runs    int64     // that they are of
	Marked  int64     // of the items, for a bulk verb
	First   time.Time // when the oldest of them was opened
	Last    time.Time // and the newest
	Breaker gate.BreakerState
	Until   time.Time // open: when the cool-down ends

	Open []gate.ItemRow // its items, where they are shown below it
	Left map[gate.ItemID]string
}

// CausesView is the queue grouped by cause.
type CausesView struct {
	Says     string // one line: independent, or one dependency failing everything?
	Causes   []Cause
	Top      int         // the first row shown: of causes and, below each, its open items
	Selected CauseID     // used with On
	On       bool        // the cursor is on the cause Selected
	Item     gate.ItemID // the cursor is on this item; empty for none
	Marked   map[gate.ItemID]bool
	Me       string // id of the operator
	Empty    string // said when there are no rows; empty for the usual words
}

// saysRows bounds the rows of what is said above.
const saysRows = 3

// CausesRows returns how many rows a page shows at once of causes and items.
func CausesRows(p Page, v CausesView) int {
	return max(0, p.Body()-1-len(p.says(v)))
}

func (p Page) says(v CausesView) []string {
	if v.Says == "" {
		return nil
	}
	return wrap(v.Says, p.Width-2, saysRows, p.Theme.ascii)
}

const (
	causeItems = iota
	causeBar
	causeDependency
	causeCode
	causeClass
	causeRuns
	causeFirst
	causeLast
	causeBreaker
	causeMarked
)

var causeColumns = []column{
	{id: causeItems, title: "ITEMS", least: 5, most: 6, right: true},
	{id: causeBar, title: "", least: 8, good: 12, most: 24, rank: 6, from: 100},
	{id: causeDependency, title: "DEPENDENCY", least: 12, good: 14, most: 36},
	{id: causeCode, title: "CODE", least: 10, good: 12, most: 24},
	{id: causeClass, title: "CLASS", least: 11, good: 13, most: 14, rank: 3},
	{id: causeRuns, title: "RUNS", least: 4, most: 6, rank: 2, right: true},
	{id: causeFirst, title: "FIRST", least: 5, most: 8, rank: 4, right: true},
	{id: causeLast, title: "LAST", least: 4, most: 8, rank: 5, right: true},
	{id: causeBreaker, title: "BREAKER", least: 9, wide: 11, good: 25, most: 26, rank: 1},
	{id: causeMarked, title: "MARKED", least: 7, most: 10, rank: 7, right: true},
}

// Causes draws the queue grouped by cause.
func Causes(p Page, v CausesView) string {
	none := v.Empty
	if none == "" {
		none = "Nothing waits for a person."
	}
	most := int64(0)
	for i := range v.Causes {
		most = max(most, v.Causes[i].Items)
	}
	return p.draw(func(b *block, rows int) {
		until := len(b.rows) + rows
		for _, line := range p.says(v) {
			b.gap(1)
			b.put(text, line)
			b.end()
		}
		cols := layout(causeColumns, listFrom, b.width)
		b.headings(cols)
		if len(v.Causes) == 0 {
			b.say(none)
			return
		}
		items := layout(causeItemColumns, listFrom+2, b.width)
		skip := v.Top
		for i := range v.Causes {
			c := &v.Causes[i]
			if skip--; skip < 0 && len(b.rows) < until {
				b.selected(v.On && c.CauseID == v.Selected)
				b.cause(c, cols, most, p.Now)
				b.end()
			}
			for k := range c.Open {
				if skip--; skip >= 0 || len(b.rows) >= until {
					continue
				}
				r := &c.Open[k]
				b.pick(!v.On && r.ID == v.Item && v.Item != "", v.Marked[r.ID])
				b.to(listFrom)
				if how, left := c.Left[r.ID]; left {
					b.goneItem(r, how, items)
				} else {
					b.item(r, items, alike(c.Open, k), v.Me, p.Now)
				}
				b.end()
			}
		}
	})
}

// causeItemColumns are those of the queue that differ within a cause.
var causeItemColumns = func() []column {
	var cols []column
	for _, c := range queueColumns {
		if c.id == itemOp {
			c.least = 10
		}
		if c.id != itemCode {
			cols = append(cols, c)
		}
	}
	return cols
}()

// cause appends the cells of one cause.
func (b *block) cause(c *Cause, cols []column, most int64, now time.Time) {
	b.gap(1)
	if b.sel {
		b.glyph(press, b.th.g.mark)
	}
	b.to(listFrom - 3)
	switch {
	case c.Marked > 0 && c.Marked >= c.Items:
		b.glyph(press, b.th.g.marked)
	case c.Marked > 0:
		b.glyph(press, b.th.g.hold)
	}
	b.to(listFrom - 2)
	if c.Open == nil {
		b.glyph(press, b.th.g.fold)
	} else {
		b.glyph(press, b.th.g.open)
	}
	name := strong
	for _, col := range cols {
		b.to(col.at)
		switch col.id {
		case causeItems:
			b.tmp = appendCount(b.tmp[:0], c.Items)
			b.rightNumber(waits, col.width)
		case causeBar:
			b.length(waits, float64(c.Items)/float64(max(1, most)), col.width)
		case causeDependency:
			b.id(name, c.Dependency, col.width)
		case causeCode:
			if c.Code == "" {
				b.cell(approve, "approval", col.width)
			} else {
				b.cell(text, string(c.Code), col.width)
			}
		case causeClass:
			if c.Code != "" {
				b.cell(dim, ClassWord(c.Class), col.width)
			}
		case causeRuns:
			b.tmp = appendCount(b.tmp[:0], c.Runs)
			b.rightNumber(text, col.width)
		case causeFirst:
			b.seen(c.First, now, col.width)
		case causeLast:
			b.seen(c.Last, now, col.width)
		case causeBreaker:
			b.breaker(breakerStyle(c.Breaker), &gate.DependencyRow{Breaker: c.Breaker, Until: gate.InstantOf(c.Until)}, now, col.width)
		case causeMarked:
			switch {
			case c.Marked == 0:
			case c.Marked >= c.Items:
				b.right(press, "all", col.width)
			default:
				b.tmp = strconv.AppendInt(b.tmp[:0], c.Marked, 10)
				b.tmp = appendCount(append(b.tmp, " of "...), c.Items)
				b.rightNumber(press, col.width)
			}
		}
	}
}

// seen appends how long ago something was.
func (b *block) seen(t, now time.Time, n int) {
	if t.IsZero() {
		b.right(faint, b.th.g.dash, n)
		return
	}
	b.tmp = appendAge(b.tmp[:0], now.Sub(t))
	b.rightNumber(dim, n)
}
