package views

import (
	"slices"
	"time"

	"tollgate/gate"
)

// QueueView is what waits for people, as a list.
type QueueView struct {
	Rows     []gate.ItemRow // those to show, in their order; what does not fit is left away
	Selected gate.ItemID    // empty when nothing is selected
	Marked   map[gate.ItemID]bool
	Left     map[gate.ItemID]string // rows that have left the queue and still keep their places, and how
	Snoozed  bool                   // the rows are items that are put off
	Resolved bool                   // or that have been resolved
	Me       string                 // id of the operator, to know their own claims
	Empty    string                 // said when there are no rows; empty for the usual words
}

// QueueRows returns how many items of a queue a page shows at once.
func QueueRows(p Page) int { return max(0, p.Body()-1) }

const (
	itemKind = iota
	itemOp
	itemTool
	itemCode
	itemAttempts
	itemLeft
	itemAge
	itemClaim
	itemRun
	itemEnded
	itemBy
	itemDone
	itemBack
)

var queueColumns = []column{
	{id: itemKind, title: "KIND", least: 15, most: 18},
	{id: itemOp, title: "OPERATION", least: 12, good: 13, most: 48},
	{id: itemTool, title: "TOOL", least: 15, most: 32, rank: 2},
	{id: itemRun, title: "RUN", least: 12, good: 16, most: 48, rank: 5},
	{id: itemCode, title: "CODE", least: 11, wide: 12, most: 24, rank: 1},
	{id: itemAttempts, title: "ATTEMPTS", least: 9, most: 11, rank: 4, right: true},
	{id: itemLeft, title: "LEFT", least: 6, most: 8, right: true},
	{id: itemAge, title: "AGE", least: 4, most: 6, rank: 6, right: true},
	{id: itemClaim, title: "CLAIMED", least: 7, wide: 10, good: 13, most: 24, rank: 3},
}

// snoozedColumns say in which time an item comes back where others say who has
// it.
var snoozedColumns = func() []column {
	cols := slices.Clone(queueColumns)
	for i := range cols {
		if cols[i].id == itemLeft {
			cols[i].rank = 1
		}
	}
	cols[len(cols)-1] = column{id: itemBack, title: "BACK", least: 6, most: 8, right: true}
	return cols
}()

// resolvedColumns say how, by whom and when where others say what is left and
// who has it.
var resolvedColumns = []column{
	{id: itemOp, title: "OPERATION", least: 11, wide: 12, good: 13, most: 48},
	{id: itemTool, title: "TOOL", least: 15, most: 32, rank: 2},
	{id: itemRun, title: "RUN", least: 12, good: 16, most: 48, rank: 3},
	{id: itemCode, title: "CODE", least: 11, wide: 12, most: 24, rank: 4},
	{id: itemEnded, title: "ENDED", least: len("reconcile: cannot tell"), most: 24},
	{id: itemBy, title: "BY", least: 7, wide: 10, good: 13, most: 24, rank: 1},
	{id: itemDone, title: "AGO", least: 4, most: 6, rank: 1, right: true},
}

// Queue draws the queue.
func Queue(p Page, v QueueView) string {
	cols := queueColumns
	switch {
	case v.Snoozed:
		cols = snoozedColumns
	case v.Resolved:
		cols = resolvedColumns
	}
	none := v.Empty
	if none == "" {
		none = "Nothing waits for a person."
	}
	return p.list(cols, len(v.Rows), none, func(b *block, i int, cols []column) {
		r := &v.Rows[i]
		b.pick(r.ID == v.Selected && v.Selected != "", v.Marked[r.ID])
		if how, left := v.Left[r.ID]; left {
			b.goneItem(r, how, cols)
		} else {
			b.item(r, cols, alike(v.Rows, i), v.Me, p.Now)
		}
	})
}

// alike reports whether another row is about an operation of the same name.
func alike(rows []gate.ItemRow, i int) bool {
	for j := range rows {
		if j != i && rows[j].Op == rows[i].Op {
			return true
		}
	}
	return false
}

// item appends the cells of one item; qualified: its operation's name alone
// does not tell which one it is.
func (b *block) item(r *gate.ItemRow, cols []column, qualified bool, me string, now time.Time) {
	for _, c := range cols {
		qualified = qualified && c.id != itemRun
	}
	glyph, look := b.th.kindLook(r.Kind)
	if r.State == gate.HoldResolved {
		b.glyph(faint, b.th.g.done)
	} else {
		b.glyph(look, glyph)
	}
	name := text
	if b.sel {
		name = strong
	}
	for _, c := range cols {
		b.to(c.at)
		switch c.id {
		case itemKind:
			b.cell(look, KindWord(r.Kind), c.width)
		case itemOp:
			if qualified {
				op := min(len(r.Op), c.width-1-min(len(r.Run), (c.width-1)/2))
				b.id(dim, string(r.Run), min(len(r.Run), c.width-1-op))
				b.put(dim, "/")
				b.id(name, string(r.Op), op)
			} else {
				b.id(name, string(r.Op), c.width)
			}
		case itemTool:
			b.cell(text, r.Tool, c.width)
		case itemRun:
			b.id(dim, string(r.Run), c.width)
		case itemCode:
			b.code(r.Code, c.width)
		case itemAttempts:
			b.tmp = appendSpent(b.tmp[:0], r.Attempts)
			b.rightNumber(text, c.width)
		case itemLeft:
			b.timeLeft(r.Deadline.Sub(now), c.width)
		case itemAge:
			b.tmp = appendAge(b.tmp[:0], now.Sub(r.Opened.Time))
			b.rightNumber(dim, c.width)
		case itemClaim:
			b.claim(r, me, now, c.width)
		case itemBack:
			b.tmp = appendAge(b.tmp[:0], r.Snoozed.Sub(now))
			b.rightNumber(text, c.width)
		case itemEnded:
			b.cell(text, EndedWord(r), c.width)
		case itemBy:
			who, s := r.EndedBy, text
			if r.EndedID == me && me != "" {
				who, s = "you", press
			}
			b.cell(s, who, c.width)
		case itemDone:
			b.tmp = appendAge(b.tmp[:0], now.Sub(r.Resolved.Time))
			b.rightNumber(dim, c.width)
		}
	}
}

// goneItem appends what is left of a row whose item has left: enough to know
// it again, and how it went.
func (b *block) goneItem(r *gate.ItemRow, how string, cols []column) {
	b.glyph(faint, b.th.g.done)
	for i, c := range cols {
		b.to(c.at)
		switch c.id {
		case itemKind:
			b.cell(dim, KindWord(r.Kind), c.width)
		case itemOp:
			b.id(dim, string(r.Op), c.width)
			if i+1 < len(cols) {
				b.to(cols[i+1].at)
			}
			b.put(dim, how)
			return
		}
	}
}

// code appends a failure's code, or a dash where there was no failure.
func (b *block) code(c gate.Code, n int) {
	if c == "" {
		b.glyph(faint, b.th.g.dash)
		b.gap(n - 1)
		return
	}
	b.cell(text, string(c), n)
}

// timeLeft appends what is left until a deadline, right-aligned.
func (b *block) timeLeft(d time.Duration, n int) {
	b.tmp = appendLeft(b.tmp[:0], d)
	s := text
	if d < 0 {
		s = dim
	}
	b.rightNumber(s, n)
}

// claim appends who holds the item, or else what one should know before taking it.
func (b *block) claim(r *gate.ItemRow, me string, now time.Time, n int) {
	until := b.x + n
	switch {
	case r.Claim.Holds(now):
		who, s := r.Claim.By, text
		if who == "" {
			who = r.Claim.ID
		}
		if r.Claim.ID == me {
			who, s = "you", press
		}
		most, d := b.measure(who, n), r.Claim.Until.Sub(now)
		b.tmp = append(appendAge(append(b.tmp[:0], ", "...), d), " left"...)
		if most+len(b.tmp) > n {
			b.tmp = appendAge(append(b.tmp[:0], ' '), d)
		}
		b.cell(s, who, min(most, max(3, n-len(b.tmp))))
		b.number(dim)
	case r.NeedsTwo && r.Kind == gate.KindApproval:
		b.integer(approve, int64(len(r.Approvals)))
		b.word(dim, until-b.x, " of 2 approved", " of 2")
	case r.Duplicate:
		b.word(waits, n, "may be twice", "twice?")
	case now.Before(r.Snoozed.Time):
		b.word(dim, n, "snoozed "+ago(r.Snoozed.Sub(now)), "snoozed")
	}
	b.to(until)
}

// word appends the first of some words for the same that fits into n cells.
func (b *block) word(s style, n int, words ...string) {
	for i, w := range words {
		if len(w) <= n || i == len(words)-1 {
			b.cell(s, w, n)
			return
		}
	}
}
