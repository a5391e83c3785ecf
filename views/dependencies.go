package views

import (
	"time"

	"tollgate/gate"
)

// Dependency is what is known of one dependency, as the list shows it.
type Dependency struct {
	gate.DependencyRow
	Buckets []Bucket // its window in parts, oldest first; nil where only the sums are known
	Share   float64  // of permits that may repeat (the ratio guard); 0 where none is set
	Least   int64    // permits in the window from which on that guard looks
}

// DependenciesView is the list of dependencies, and what waits on the selected
// one.
type DependenciesView struct {
	Rows     []Dependency // those to show, in their order; what does not fit is left away
	Selected string       // name; empty when nothing is selected
	Failures int64        // transient ones of all dependencies in their windows; 0 where that is not known
	Waiting  []gate.ItemRow
	Me       string // id of the operator
	Empty    string // said when there are no rows; empty for the usual words
}

// DependenciesRows returns how many dependencies a page shows at once.
func DependenciesRows(p Page, v DependenciesView) int {
	return max(0, p.Body()-1-waitingRows(p, v))
}

// waitingRows returns the rows in which stands what waits on the selected
// dependency, with their heading: a third of the page at most.
func waitingRows(p Page, v DependenciesView) int {
	if len(v.Waiting) == 0 || p.low() {
		return 0
	}
	return min(2+len(v.Waiting), p.Body()/3)
}

const (
	depName = iota
	depBreaker
	depFailures
	depSpark
	depShare
	depRepeats
	depItems
)

var dependencyColumns = []column{
	{id: depName, title: "DEPENDENCY", least: 12, good: 18, most: 40},
	{id: depBreaker, title: "BREAKER", least: 9, wide: 16, good: 25, most: 26},
	{id: depSpark, title: "FAILURES", least: 10, good: 20, most: longestSpark, rank: 2, from: 60},
	{id: depFailures, title: "", least: 9, most: 12, rank: 1, right: true},
	{id: depShare, title: "OF ALL", least: 6, most: 8, rank: 3, right: true},
	{id: depRepeats, title: "REPEATS", least: 7, good: 18, most: 24, rank: 4, right: true},
	{id: depItems, title: "WAIT", least: 5, most: 6, right: true},
}

// Dependencies draws the list of dependencies.
func Dependencies(p Page, v DependenciesView) string {
	none := v.Empty
	if none == "" {
		none = "No dependency is guarded by a breaker or a ratio."
	}
	return p.draw(func(b *block, rows int) {
		below := waitingRows(p, v)
		start := len(b.rows)
		b.list(dependencyColumns, rows-below, len(v.Rows), none, func(b *block, i int, cols []column) {
			r := &v.Rows[i]
			b.pick(r.Name == v.Selected && v.Selected != "", false)
			b.dependency(r, cols, v.Failures, p.Now)
		})
		if below == 0 {
			return
		}
		b.blank(start + rows - below - len(b.rows))
		b.rule()
		b.gap(1)
		b.put(dim, "waits on ")
		b.put(strong, v.Selected)
		b.end()
		cols := layout(queueColumns, listFrom, b.width)
		for i := range min(len(v.Waiting), below-2) {
			b.to(listFrom - 2)
			b.item(&v.Waiting[i], cols, alike(v.Waiting, i), v.Me, p.Now)
			b.end()
		}
	})
}

// breakerGlyph returns the glyph of a breaker's state.
func (t *Theme) breakerGlyph(s gate.BreakerState) string {
	switch s {
	case gate.BreakerOpen:
		return t.g.fail
	case gate.BreakerHalfOpen:
		return t.g.flying
	case gate.BreakerClosed:
	}
	return t.g.live
}

// dependency appends the cells of one dependency.
func (b *block) dependency(r *Dependency, cols []column, all int64, now time.Time) {
	look := breakerStyle(r.Breaker)
	mark := look
	if r.Breaker == gate.BreakerClosed {
		mark = live
	}
	b.glyph(mark, b.th.breakerGlyph(r.Breaker))
	name := text
	if b.sel {
		name = strong
	}
	for _, c := range cols {
		b.to(c.at)
		switch c.id {
		case depName:
			b.id(name, r.Name, c.width)
		case depBreaker:
			b.breaker(look, &r.DependencyRow, now, c.width)
		case depSpark:
			if r.Buckets == nil {
				b.glyph(faint, b.th.g.dash)
				break
			}
			b.failures(r.Buckets, now.Add(-time.Duration(r.WindowMS)*time.Millisecond), now, c.width)
		case depFailures:
			b.tmp = appendCount(b.tmp[:0], r.Failures)
			b.tmp = append(b.tmp, '/')
			b.tmp = appendCount(b.tmp, r.Requests)
			s := dim
			if r.Failures > 0 {
				s = text
			}
			b.rightNumber(s, c.width)
		case depShare:
			if all <= 0 || r.Failures == 0 {
				b.right(faint, b.th.g.dash, c.width)
				break
			}
			b.tmp = appendPercent(b.tmp[:0], r.Failures, all)
			b.rightNumber(text, c.width)
		case depRepeats:
			b.repeats(r, c.width)
		case depItems:
			if r.Items == 0 {
				b.right(faint, b.th.g.dash, c.width)
				break
			}
			b.tmp = appendCount(b.tmp[:0], r.Items)
			b.rightNumber(waits, c.width)
		}
	}
}

// breaker appends the state of a breaker and, in the first words that fit, how
// long it lasts or has lasted.
func (b *block) breaker(look style, r *gate.DependencyRow, now time.Time, n int) {
	word, until := r.Breaker.String(), b.x+n
	b.cell(look, word, min(n, len(word)))
	d := now.Sub(r.Since.Time)
	switch {
	case r.Breaker == gate.BreakerOpen && now.Before(r.Until.Time):
		b.tmp = appendLeft(append(b.tmp[:0], ", half-open in "...), r.Until.Sub(now))
		if len(b.tmp) > until-b.x {
			b.tmp = appendLeft(append(b.tmp[:0], ", "...), r.Until.Sub(now))
		}
	case r.Breaker == gate.BreakerHalfOpen && r.Probe != nil:
		b.tmp = append(b.tmp[:0], ", a probe is out"...)
		if len(b.tmp) > until-b.x {
			b.tmp = append(b.tmp[:0], ", probe"...)
		}
	case r.Breaker == gate.BreakerHalfOpen:
		b.tmp = append(b.tmp[:0], ", takes a probe"...)
	case r.Since.IsZero():
		b.tmp = b.tmp[:0]
	default:
		b.tmp = appendAge(append(b.tmp[:0], " for "...), d)
	}
	if len(b.tmp) <= until-b.x {
		b.number(dim)
	}
}

// repeats appends how many of the permits in the window were repeats, and the
// share beside the one that is allowed.
func (b *block) repeats(r *Dependency, n int) {
	if r.Permits == 0 {
		b.right(faint, b.th.g.dash, n)
		return
	}
	look := text
	b.tmp = appendCount(b.tmp[:0], r.Repeats)
	b.tmp = append(b.tmp, '/')
	b.tmp = appendCount(b.tmp, r.Permits)
	if r.Share > 0 && r.Permits >= r.Least && float64(r.Repeats+1)/float64(r.Permits+1) > r.Share {
		look = waits // the next repeat is refused (R-D6)
	}
	counts := len(b.tmp)
	b.tmp = appendPercent(append(b.tmp, "  "...), r.Repeats, r.Permits)
	if share := len(b.tmp); r.Share > 0 {
		b.tmp = appendPercent(append(b.tmp, " of "...), int64(r.Share*1000+0.5), 1000)
		if len(b.tmp) > n {
			b.tmp = b.tmp[:share]
		}
	}
	if len(b.tmp) > n && counts <= n {
		b.tmp = b.tmp[:counts]
	} else if len(b.tmp) > n {
		b.tmp = appendPercent(b.tmp[:0], r.Repeats, r.Permits)
	}
	b.rightNumber(look, n)
}

// appendPercent prints a share in whole percent: never none of something, nor
// all of less.
func appendPercent(dst []byte, part, of int64) []byte {
	n := int64(float64(part)/float64(of)*100 + 0.5)
	switch {
	case part > 0 && n == 0:
		return append(dst, "<1%"...)
	case part < of && n >= 100:
		n = 99
	}
	return append(appendCount(dst, n), '%')
}
