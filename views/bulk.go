package views

import (
	"strings"
	"time"

	"tollgate/gate"
)

// BulkSet is the set of items that a bulk verb goes to, frozen at the moment
// of confirming (R-P9), as a form shows it.
type BulkSet struct {
	Items int64 // in the set
	Parts []BulkPart
	First []gate.ItemID // a few of them
	New   int64         // items that match by now and are not in it
}

// BulkPart is how many items of the set are of one cause and kind.
type BulkPart struct {
	CauseID
	Kind  gate.Kind
	Items int64
}

// mostParts bounds the parts of a set that a form shows one by one.
const mostParts = 5

// bulkSet appends the set: by cause and kind, its first ids, and what is not
// in it.
func (b *block) bulkSet(s *BulkSet) {
	b.gap(1)
	b.put(strong, plural(s.Items, "item", "items"))
	b.put(dim, ", each through the gate alone")
	b.end()
	const number = 6
	var further, parts int64
	for i := range s.Parts {
		if k := &s.Parts[i]; i < mostParts-1 || len(s.Parts) == mostParts {
			b.gap(1)
			b.tmp = appendCount(b.tmp[:0], k.Items)
			b.rightNumber(text, number)
			b.gap(1)
			glyph, look := b.th.kindLook(k.Kind)
			b.gap(1)
			b.glyph(look, glyph)
			b.gap(1)
			b.cell(look, KindWord(k.Kind), len("outcome unknown"))
			b.gap(2)
			b.put(text, k.Dependency)
			if k.Code != "" {
				b.put(dim, b.th.Dot())
				b.put(text, string(k.Code))
				b.put(dim, b.th.Dot()+ClassWord(k.Class))
			}
			b.end()
		} else {
			further += k.Items
			parts++
		}
	}
	if parts > 0 {
		b.gap(1)
		b.tmp = appendCount(b.tmp[:0], further)
		b.rightNumber(text, number)
		b.put(dim, "  of "+plural(parts, "further cause", "further causes"))
		b.end()
	}
	if len(s.First) > 0 {
		b.to(3)
		for i, id := range s.First {
			if Width(string(id))+2 > b.rest() {
				break
			}
			if i > 0 {
				b.gap(2)
			}
			b.put(dim, string(id))
		}
		if int64(len(s.First)) < s.Items {
			b.put(dim, "  "+b.th.g.tail)
		}
		b.end()
	}
	if s.New > 0 {
		b.gap(1)
		word := " match"
		if s.New == 1 {
			word = " matches"
		}
		b.wrapped(1, waits, itoa(s.New)+" more"+word+" by now and "+isAre(s.New)+" not in it")
	}
}

func isAre(n int64) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// BulkLine is what came of one item of a bulk verb: the gate's answer, an
// error, or why it was not sent; while none of them is set it has not been
// answered.
type BulkLine struct {
	ID      gate.ItemID
	Run     gate.RunID
	Op      gate.OpID
	Row     *gate.DecisionRow
	Err     string
	Skipped string
}

// BulkView is what came of a bulk verb, a line per item.
type BulkView struct {
	Title    string     // "approve"
	Total    int64      // items in the set
	Lines    []BulkLine // those to show, in their order; what does not fit is left away
	Allowed  int64      // of all: answered, and not by a stop
	Stopped  int64
	Moved    int64 // somebody else was there before
	Failed   int64 // no answer came
	Skipped  int64
	New      int64       // items that match by now and were not in the set
	Selected gate.ItemID // empty when nothing is selected
	Me       string      // id of the operator
}

// BulkRows returns how many lines a page shows at once.
func BulkRows(p Page) int {
	if p.low() {
		return max(0, p.Body()-2)
	}
	return max(0, p.Body()-3)
}

const (
	bulkItem = iota
	bulkOp
	bulkVerdict
	bulkSays
)

var bulkColumns = []column{
	{id: bulkItem, title: "ITEM", least: 13, most: 16, rank: 2, from: 100},
	{id: bulkOp, title: "OPERATION", least: 12, good: 18, most: 40},
	{id: bulkVerdict, title: "ANSWER", least: 20, wide: 22, good: 25, most: 26},
	{id: bulkSays, title: "", least: 12, good: 40, most: 120, rank: 1},
}

// Bulk draws what came of a bulk verb.
func Bulk(p Page, v BulkView) string {
	return p.draw(func(b *block, rows int) {
		b.ends(3, func(o *block, level int) { o.bulkCounts(v, level) }, func(o *block, level int) {
			if v.New > 0 {
				o.put(waits, itoa(v.New))
				if level < 1 {
					o.put(waits, " more match by now")
				} else {
					o.put(waits, " new")
				}
			}
		})
		rows--
		if !p.low() {
			b.rule()
			rows--
		}
		b.list(bulkColumns, rows, len(v.Lines), "Nothing has been sent.", func(b *block, i int, cols []column) {
			l := &v.Lines[i]
			b.pick(l.ID == v.Selected && v.Selected != "", false)
			b.bulkLine(l, cols, v.Me, p.Now)
		})
	})
}

// bulkCounts says how far it has come, and how it went.
func (b *block) bulkCounts(v BulkView, level int) {
	if level < 3 {
		b.put(strong, v.Title)
		b.gap(3)
	}
	done := v.Allowed + v.Stopped + v.Moved + v.Failed + v.Skipped
	if done < v.Total {
		b.glyph(live, b.th.g.flying)
		b.gap(1)
	}
	b.put(text, itoa(done)+" of "+itoa(v.Total))
	for _, c := range []struct {
		n     int64
		style style
		glyph string
		says  string
	}{
		{v.Allowed, live, b.th.g.ok, "allowed"},
		{v.Stopped, waits, b.th.g.halted, "stopped"},
		{v.Moved, waits, b.th.g.hold, "had moved"},
		{v.Failed, alarm, b.th.g.fail, "no answer"},
		{v.Skipped, dim, b.th.g.dash, "not sent"},
	} {
		if c.n == 0 {
			continue
		}
		b.gap(3 - min(level, 1))
		b.glyph(c.style, c.glyph)
		b.put(c.style, " "+itoa(c.n))
		if level < 2 {
			b.put(c.style, " "+c.says)
		}
	}
}

// bulkLine appends what came of one item.
func (b *block) bulkLine(l *BulkLine, cols []column, me string, now time.Time) {
	glyph, word, look := b.th.bulkLook(l)
	b.glyph(look, glyph)
	name := text
	if b.sel {
		name = strong
	}
	op := l.Op
	if op == "" && l.Row != nil {
		op = l.Row.Op
	}
	for _, c := range cols {
		b.to(c.at)
		switch c.id {
		case bulkItem:
			b.id(dim, string(l.ID), c.width)
		case bulkOp:
			if op == "" {
				b.id(name, string(l.ID), c.width)
			} else {
				b.id(name, string(op), c.width)
			}
		case bulkVerdict:
			b.cell(look, word, c.width)
		case bulkSays:
			b.bulkSays(l, me, now, c.width)
		}
	}
}

// bulkLook returns glyph, word and style of a line.
func (t *Theme) bulkLook(l *BulkLine) (glyph, word string, s style) {
	switch {
	case l.Err != "":
		return t.g.fail, "no answer", alarm
	case l.Skipped != "":
		return t.g.dash, "not sent", dim
	case l.Row == nil:
		return t.g.flying, "asked", live
	case l.Row.Verdict == gate.Stale:
		return t.g.hold, l.Row.Verdict.String(), waits
	case l.Row.Verdict.IsStop():
		return t.g.halted, l.Row.Verdict.String(), waits
	}
	return t.g.ok, l.Row.Verdict.String(), verdictStyle(l.Row.Verdict)
}

// bulkSays appends the numbers behind an answer, or why there is none.
func (b *block) bulkSays(l *BulkLine, me string, now time.Time, n int) {
	switch d := l.Row; {
	case l.Err != "":
		b.cell(waits, l.Err, n)
	case l.Skipped != "":
		b.cell(dim, l.Skipped, n)
	case d == nil:
	case d.Permit != nil:
		b.cell(dim, "attempt "+itoa(d.Permit.Ordinal)+", dispatch from "+moment(d.Permit.NotBefore.Time, now), n)
	case d.Verdict == gate.Stale && d.Changed != nil:
		c := d.Changed
		b.cell(dim, "moved by "+actorName(c.By, me)+" "+ago(now.Sub(c.At.Time))+" ago: "+c.Act.String(), n)
	case d.Verdict.IsStop():
		b.cell(dim, strings.Join(stopNumbers(*d, now), ", "), n)
	case d.Finding != gate.FindingNone:
		b.cell(dim, FindingWord(d.Finding), n)
	}
}
