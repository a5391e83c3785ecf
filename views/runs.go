package views

import (
	"time"

	"tollgate/gate"
)

// RunsView is the list of runs.
type RunsView struct {
	Rows     []gate.RunRow // those to show, in their order; what does not fit is left away
	Selected gate.RunID    // empty when nothing is selected
	Empty    string        // said when there are no rows; empty for the usual words
}

// RunsRows returns how many runs a page shows at once.
func RunsRows(p Page) int { return max(0, p.Body()-1) }

const (
	runID = iota
	runAgent
	runState
	runAttempts
	runTime
	runEffects
	runTokens
	runItems
	runCode
)

// A gauge in a list is a bar, where there is room for one, and its numbers,
// which are never cut for it.
const (
	listNote = 6 // cells that the numbers have at least
	listBar  = 4 // cells that a bar has at least
)

var runsColumns = []column{
	{id: runID, title: "RUN", least: 14, good: 32, most: 64},
	{id: runAgent, title: "AGENT", least: 10, good: 16, most: 28, rank: 5, from: 100},
	{id: runState, title: "STATE", least: 9, most: 10},
	{id: runAttempts, title: "ATTEMPTS", least: 9, good: 11, most: 24},
	{id: runTime, title: "TIME", least: 10, good: 15, most: 28, rank: 1},
	{id: runEffects, title: "EFFECTS", least: 9, most: 18, rank: 3},
	{id: runTokens, title: "TOKENS", least: 9, good: 12, most: 20, rank: 6, from: 140},
	{id: runItems, title: "OPEN", least: 4, most: 5, rank: 2, right: true},
	{id: runCode, title: "LAST CODE", least: 10, good: 14, most: 24, rank: 4},
}

// Runs draws the list of runs.
func Runs(p Page, v RunsView) string {
	none := v.Empty
	if none == "" {
		none = "No run has started yet."
	}
	return p.list(runsColumns, len(v.Rows), none, func(b *block, i int, cols []column) {
		r := &v.Rows[i]
		b.pick(r.Run == v.Selected && v.Selected != "", false)
		b.run(r, cols, p.Now)
	})
}

// run appends the cells of one run.
func (b *block) run(r *gate.RunRow, cols []column, now time.Time) {
	glyph, word, look := b.th.runLook(r)
	b.glyph(look, glyph)
	name, at := text, asOf(r, now)
	if b.sel {
		name = strong
	}
	for _, c := range cols {
		b.to(c.at)
		switch c.id {
		case runID:
			b.id(name, string(r.Run), c.width)
		case runAgent:
			b.id(dim, r.Agent, c.width)
		case runState:
			b.cell(look, word, c.width)
		case runAttempts:
			b.listGauge(r.Budget.Attempts, c.width)
		case runEffects:
			b.listGauge(r.Budget.SideEffects, c.width)
		case runTokens:
			if r.Budget.RetryTokens == nil {
				b.glyph(faint, b.th.g.dash)
			} else {
				b.listGauge(*r.Budget.RetryTokens, c.width)
			}
		case runTime:
			b.listTime(r, at, c.width)
		case runItems:
			switch {
			case r.OpenItems > 0:
				b.tmp = appendCount(b.tmp[:0], r.OpenItems)
				b.rightNumber(waits, c.width)
			default:
				b.right(faint, b.th.g.dash, c.width)
			}
		case runCode:
			b.code(r.LastCode, c.width)
		}
	}
}

// listGauge appends the gauge of a counter in n cells.
func (b *block) listGauge(s gate.Spent, n int) {
	b.tmp = appendSpent(b.tmp[:0], s)
	bar := listBarWidth(n, len(b.tmp))
	b.spentBar(s, bar)
	b.gap(min(bar, 1))
	look := text
	switch {
	case s.Limit == 0 && s.Spent == 0:
		look = dim
	case s.Spent >= s.Limit:
		look = waits
	}
	b.number(look)
}

// listTime appends the gauge of the time in n cells: filled is what has gone,
// as in every bar, and the words say what is left.
func (b *block) listTime(r *gate.RunRow, at time.Time, n int) {
	left := r.Budget.Deadline.Sub(at)
	b.tmp = appendLeft(b.tmp[:0], left)
	if word := " left"; left >= 0 && len(b.tmp)+len(word) <= n {
		b.tmp = append(b.tmp, word...)
	}
	bar := listBarWidth(n, len("00:00 left"))
	b.timeBar(r.Budget.Started.Time, r.Budget.Deadline.Time, at, bar)
	b.gap(min(bar, 1))
	b.number(timeStyle(r, at))
}

// listBarWidth returns the cells of the bar beside numbers of some length.
func listBarWidth(n, numbers int) int {
	if n -= 1 + max(numbers, listNote); n < listBar {
		return 0
	}
	return n
}

// timeStyle colours a passed deadline only where it can still matter.
func timeStyle(r *gate.RunRow, at time.Time) style {
	switch {
	case r.State == gate.RunEnded:
		return dim
	case at.After(r.Budget.Deadline.Time):
		return waits
	}
	return text
}

// asOf returns the time at which the clock of a run's budget stands.
func asOf(r *gate.RunRow, now time.Time) time.Time {
	if !r.Ended.IsZero() && r.Ended.Before(now) {
		return r.Ended.Time
	}
	return now
}

// runLook returns glyph, word and style of a run's state.
func (t *Theme) runLook(r *gate.RunRow) (glyph, word string, s style) {
	switch {
	case r.State == gate.RunEnded:
		return t.g.done, "ended", dim
	case r.Budget.Overdrawn:
		return t.g.exhausted, "overdrawn", alarm
	case r.Ending:
		return t.g.flying, "ending", live
	case r.State == gate.RunExhausted:
		return t.g.exhausted, "exhausted", waits
	}
	return t.g.live, "active", live
}
