package views

import (
	"strings"
	"time"

	"tollgate/gate"
)

// Header is what always stands at the top: where the data comes from, who
// acts and how that is known, whether it is live, what waits.
type Header struct {
	Attached bool   // Place is the socket of the store's owner, not the store
	Place    string // path of store or socket
	Operator string
	Source   string // of the operator's identity, such as "uid 1001"
	ReadOnly bool
	Paused   bool      // updates are frozen by the operator
	Lost     bool      // the connection is lost; the program tries again by itself
	AsOf     time.Time // of the data, when Paused or Lost

	Tabs    []Tab
	Current int // of Tabs; -1 for none
	Counts  gate.Counts
}

// Tab is a screen that a number key opens.
type Tab struct {
	Key  string // "1"
	Name string // "queue"
	Note string // a count, or empty
	Loud bool   // the note is something that waits
}

// header appends the two rows.
func (b *block) header(h Header, now time.Time) {
	b.ends(4,
		func(o *block, level int) {
			if level < 2 {
				o.put(strong, "tollgate")
				o.gap(1)
			}
			if level < 3 {
				where := "store "
				if h.Attached {
					where = "socket "
				}
				o.put(dim, where)
				o.put(text, h.place(level, b.th))
				o.gap(3)
			}
			o.put(dim, "as ")
			o.put(text, h.Operator)
			if level < 4 && h.Source != "" {
				o.gap(1)
				o.put(dim, h.Source)
			}
			if h.ReadOnly {
				o.gap(3)
				o.put(waits, "read-only")
			}
		},
		func(o *block, _ int) { o.live(h, now) },
	)
	b.ends(5,
		func(o *block, level int) { o.tabs(h, level) },
		func(o *block, level int) { o.waiting(h.Counts, now, level) },
	)
}

// place shortens the path: its end says more than its beginning.
func (h Header) place(level int, th *Theme) string {
	if i := strings.LastIndexByte(h.Place, '/'); level > 0 && i > 0 {
		return th.g.tail + h.Place[i:]
	}
	return h.Place
}

// live says whether the data moves, and the time.
func (b *block) live(h Header, now time.Time) {
	switch {
	case h.Lost:
		b.glyph(alarm, b.th.g.paused)
		b.put(alarm, " DISCONNECTED")
	case h.Paused:
		b.glyph(waits, b.th.g.paused)
		b.put(alarm, " PAUSED")
	default:
		b.glyph(live, b.th.g.live)
		b.put(live, " LIVE")
	}
	if h.Lost || h.Paused {
		b.put(dim, " data ")
		b.tmp = appendAge(b.tmp[:0], now.Sub(h.AsOf))
		b.number(waits)
		b.put(dim, " old")
	}
	b.gap(1)
	b.put(dim, now.UTC().Format("15:04:05Z"))
}

// tabs appends the screens; at a higher level of brevity only the current one.
func (b *block) tabs(h Header, level int) {
	first := true
	for i, t := range h.Tabs {
		if level >= 4 && i != h.Current {
			continue
		}
		if !first {
			b.gap(3 - min(level, 1))
		}
		first = false
		name, note := dim, text
		if i == h.Current {
			name, note = here, here
		}
		b.put(name, t.Key)
		b.gap(1)
		b.put(name, t.Name)
		if t.Note != "" && (level < 3 || i == h.Current) {
			if t.Loud {
				note = waits
			}
			b.gap(1)
			b.put(note, t.Note)
		}
	}
}

// waiting appends the open items by kind, the oldest age and the breakers that
// are not closed.
func (b *block) waiting(c gate.Counts, now time.Time, level int) {
	some := false
	for _, k := range []struct {
		kind  gate.Kind
		n     int64
		short string
	}{
		{gate.KindOutcomeUnknown, c.OutcomeUnknown, "outcome unknown"},
		{gate.KindApproval, c.Approval, "approval"},
		{gate.KindExhausted, c.Exhausted, "exhausted"},
		{gate.KindStopped, c.Stopped, "stopped"},
	} {
		if k.n == 0 {
			continue
		}
		if some {
			b.gap(2 - min(1, level/3))
		}
		some = true
		g, s := b.th.kindLook(k.kind)
		b.glyph(s, g)
		b.gap(1)
		b.integer(s, k.n)
		if level < 2 {
			b.gap(1)
			b.put(s, k.short)
		}
	}
	if !some {
		b.put(dim, "nothing waits")
	} else if level < 3 && !c.Oldest.IsZero() {
		b.gap(2)
		b.put(dim, "oldest ")
		b.tmp = appendAge(b.tmp[:0], now.Sub(c.Oldest.Time))
		b.number(text)
	}
	if c.BreakersOpen > 0 && level < 5 {
		b.gap(2)
		b.integer(alarm, c.BreakersOpen)
		if c.BreakersOpen == 1 {
			b.put(waits, " breaker")
		} else {
			b.put(waits, " breakers")
		}
		if level < 1 {
			b.put(waits, " not closed")
		}
	}
}

// ends appends one row with something at its left and something at its right
// edge, in the first of levels+1 levels of brevity in which both fit.
func (b *block) ends(levels int, atLeft, atRight func(o *block, level int)) {
	const margin, apart = 1, 2
	l, r := newBlock(b.th, 1<<10, 0), newBlock(b.th, 1<<10, 0)
	for level := 0; ; level++ {
		atLeft(l, level)
		atRight(r, level)
		room := b.width - 2*margin - apart - r.x
		if l.x > room && level < levels {
			l.undo()
			r.undo()
			continue
		}
		if l.x > room {
			l = newBlock(b.th, room, 0)
			atLeft(l, level)
		}
		break
	}
	l.end()
	r.end()
	b.gap(margin)
	b.join(l)
	b.gap(b.rest() - margin - r.rows[0].cells)
	b.join(r)
	b.end()
}
