package views

import (
	"time"

	"tollgate/gate"
)

// BudgetGauge draws the limits of a run at most width cells wide, two to a
// line where there is room. Filled cells are spent. A limit draws full only
// when it is spent, so a glance can trust a full bar. now is in UTC; of a run
// that has ended it is the time of its end.
//
//	attempts     ██████░░░░░░░░  4/10         side effects ██████████████  1/1 SPENT
//	time         ████░░░░░░░░░░  04:12 left   tokens       █░░░░░░░░░░░░░  12k/60k
//
// Below 40 cells it leaves the bars away and keeps the words.
func BudgetGauge(th *Theme, b gate.BudgetRow, now time.Time, width int) string {
	out := newBlock(th, width, 4)
	out.gauges(b, now, 0)
	return out.String()
}

// What a gauge of the run screen is made of, in cells.
const (
	gaugeLabel = len("side effects") + 1
	gaugeOf    = len(" of 00:00")
	gaugeNote  = len(" 9999/9999 OVER")
	gaugeBar   = 40 // at most; a longer one says no more
	gaugeLeast = 4
)

// gaugeRows returns how many rows gauges takes at a width.
func gaugeRows(width int) int {
	if gaugesAbreast(width) {
		return 2
	}
	return 4
}

func gaugesAbreast(width int) bool { return width >= 2*(gaugeLabel+gaugeLeast+gaugeNote)+2 }

// gauges appends the four limits, indented by margin cells.
func (b *block) gauges(r gate.BudgetRow, now time.Time, margin int) {
	abreast := gaugesAbreast(b.width)
	room := b.width - margin
	if abreast {
		room = (room - 2) / 2
	}
	bar := min(room-gaugeLabel-gaugeNote, gaugeBar)
	note := gaugeNote
	switch {
	case bar < gaugeLeast:
		bar = 0
	case bar >= gaugeOf+20:
		bar, note = bar-gaugeOf, note+gaugeOf
	}
	place := func(right bool) {
		switch {
		case abreast && right:
			b.to(margin + gaugeLabel + bar + note + 2)
		default:
			if b.x > 0 {
				b.end()
			}
			b.gap(margin)
		}
	}

	place(false)
	b.gauge("attempts", r.Attempts, bar)
	place(true)
	b.gauge("side effects", r.SideEffects, bar)
	place(false)
	b.timeGauge("time", r, now, bar, note > gaugeNote)
	place(true)
	if r.RetryTokens != nil {
		b.gauge("retry tokens", *r.RetryTokens, bar)
	} else {
		b.cell(dim, "retry tokens", gaugeLabel)
		b.put(dim, "not limited")
	}
	b.end()
}

// gauge appends label, bar and numbers of one counter.
func (b *block) gauge(label string, s gate.Spent, bar int) {
	b.cell(dim, label, gaugeLabel)
	b.spentBar(s, bar)
	if bar > 0 {
		b.gap(1)
	}
	b.spentNote(s)
}

// spentNote appends the numbers of a counter, and a word when none is left.
func (b *block) spentNote(s gate.Spent) {
	b.tmp = appendSpent(b.tmp[:0], s)
	b.number(text)
	switch {
	case s.Limit == 0 && s.Spent == 0:
		b.put(dim, " none")
	case s.Spent > s.Limit:
		b.put(alarm, " OVER")
	case s.Spent == s.Limit:
		b.put(waits, " SPENT")
	}
}

// timeGauge appends label, bar and what is left of the time, and where whole
// is set of how much.
func (b *block) timeGauge(label string, r gate.BudgetRow, now time.Time, bar int, whole bool) {
	b.cell(dim, label, gaugeLabel)
	b.timeBar(r.Started.Time, r.Deadline.Time, now, bar)
	if bar > 0 {
		b.gap(1)
	}
	left := r.Deadline.Sub(now)
	b.tmp = appendLeft(b.tmp[:0], left)
	if left < 0 {
		b.number(waits)
		return
	}
	b.number(text)
	b.put(dim, " left")
	if whole {
		b.put(dim, " of ")
		b.tmp = appendLeft(b.tmp[:0], r.Deadline.Sub(r.Started.Time))
		b.number(dim)
	}
}

// spentBar appends the bar of a counter.
func (b *block) spentBar(s gate.Spent, n int) {
	switch {
	case s.Limit <= 0:
		b.bar(n, 0, s.Spent > 0)
	default:
		b.bar(n, float64(s.Spent)/float64(s.Limit), s.Spent >= s.Limit)
	}
}

// timeBar appends the bar of a deadline.
func (b *block) timeBar(started, deadline, now time.Time, n int) {
	whole, gone := deadline.Sub(started), now.Sub(started)
	share := 0.0
	if whole > 0 {
		share = float64(gone) / float64(whole)
	}
	b.bar(n, share, now.After(deadline))
}

// bar appends n cells of which share are filled: none only when nothing is
// used, all only when spent.
func (b *block) bar(n int, share float64, spent bool) {
	if n = min(n, b.rest()); n < 1 {
		return
	}
	full := int(share*float64(n) + 0.5)
	switch {
	case spent:
		b.repeat(waits, b.th.g.bar, n)
		return
	case share > 0:
		full = max(1, full)
	}
	full = max(0, min(full, n-1))
	b.repeat(press, b.th.g.bar, full)
	b.repeat(faint, b.th.g.space, n-full)
}
