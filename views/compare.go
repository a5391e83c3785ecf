package views

// CompareRow is what came of a script by some rules.
type CompareRow struct {
	Rules         string // gate, ungated, blanket:N or the name of a contract
	Dispatches    int64
	Repeats       int64
	Tokens        int64 // that the repeats cost
	DoubleEffects int64
	Items         int64
}

// CompareView is one script, played by several rules.
type CompareView struct {
	Name, Title string
	Rows        []CompareRow
	Waiting     []string // rules that have not been played to their end yet
	Selected    string   // rules; empty when nothing is selected
}

const (
	cmpRules = iota
	cmpDispatches
	cmpRepeats
	cmpTokens
	cmpDoubles
	cmpItems
)

var compareColumns = []column{
	{id: cmpRules, title: "RULES", least: 9, good: 16, most: 32},
	{id: cmpDispatches, title: "DISPATCHES", least: 10, wide: 16, good: 20, most: 40},
	{id: cmpRepeats, title: "REPEATS", least: 8, good: 16, most: 36, rank: 4, from: 100},
	{id: cmpTokens, title: "TOKENS", least: 6, wide: 14, good: 16, most: 36, rank: 2},
	{id: cmpDoubles, title: "DOUBLE EFFECTS", least: 14, good: 18, most: 36, rank: 1},
	{id: cmpItems, title: "ITEMS", least: 6, wide: 10, good: 14, most: 36, rank: 3},
}

// Compare draws rules side by side, with bars to scale: in each column the
// longest is the largest number.
func Compare(p Page, v CompareView) string {
	return p.draw(func(b *block, rows int) {
		b.ends(2,
			func(o *block, level int) {
				if level < 2 {
					o.put(dim, "compare ")
				}
				o.put(strong, v.Name)
			},
			func(o *block, level int) {
				if level < 1 {
					o.put(dim, v.Title)
				}
			},
		)
		rows--
		if !p.low() {
			b.rule()
			rows--
		}
		var most CompareRow
		for i := range v.Rows {
			r := &v.Rows[i]
			most = CompareRow{
				"", max(most.Dispatches, r.Dispatches), max(most.Repeats, r.Repeats), max(most.Tokens, r.Tokens),
				max(most.DoubleEffects, r.DoubleEffects), max(most.Items, r.Items),
			}
		}
		n := len(v.Rows)
		b.list(compareColumns, rows, n+len(v.Waiting), "No rules are compared.", func(b *block, i int, cols []column) {
			if i >= n {
				b.to(listFrom - 2)
				b.glyph(dim, b.th.g.flying)
				b.to(listFrom)
				b.id(dim, v.Waiting[i-n], cols[0].width)
				b.put(dim, " plays")
				return
			}
			r := &v.Rows[i]
			b.pick(r.Rules == v.Selected && v.Selected != "", false)
			b.compared(r, &most, cols)
		})
		for i := 1; i < n && !p.low() && len(b.rows)+2 < p.headRows()+p.Body(); i++ {
			if i == 1 {
				b.blank(1)
			}
			b.saved(&v.Rows[0], &v.Rows[i])
		}
	})
}

// compared appends the cells of one row.
func (b *block) compared(r, most *CompareRow, cols []column) {
	name := text
	if b.sel {
		name = strong
	}
	for _, c := range cols {
		b.to(c.at)
		switch c.id {
		case cmpRules:
			b.id(name, r.Rules, c.width)
		case cmpDispatches:
			b.measured(press, r.Dispatches, most.Dispatches, c.width)
		case cmpRepeats:
			b.measured(press, r.Repeats, most.Repeats, c.width)
		case cmpTokens:
			b.measured(press, r.Tokens, most.Tokens, c.width)
		case cmpDoubles:
			b.measured(alarm, r.DoubleEffects, most.DoubleEffects, c.width)
		case cmpItems:
			b.measured(press, r.Items, most.Items, c.width)
		}
	}
}

// measured appends a number behind a bar that is as long as it is large.
func (b *block) measured(s style, n, most int64, cells int) {
	const number = 6
	if bar := cells - number; bar >= listBar {
		b.length(s, float64(n)/float64(max(1, most)), bar)
		cells = number
	}
	b.tmp = appendCount(b.tmp[:0], n)
	look := text
	switch {
	case n == 0:
		look = dim
	case s == alarm:
		look = waits
	}
	b.rightNumber(look, cells)
}

// saved says in words what the first rules came to beside others.
func (b *block) saved(first, other *CompareRow) {
	b.gap(listFrom)
	b.put(strong, first.Rules)
	b.put(dim, " beside ")
	b.put(text, other.Rules)
	b.put(dim, ":")
	some := false
	for _, d := range []struct {
		n         int64
		one, many string
	}{
		{first.Dispatches - other.Dispatches, "dispatch", "dispatches"},
		{first.Tokens - other.Tokens, "token", "tokens"},
		{first.DoubleEffects - other.DoubleEffects, "double effect", "double effects"},
		{first.Items - other.Items, "item", "items"},
	} {
		word := " more "
		switch {
		case d.n == 0:
			continue
		case d.n < 0:
			d.n, word = -d.n, " fewer "
		}
		noun := d.many
		if d.n == 1 {
			noun = d.one
		}
		if some {
			b.put(dim, ",")
		}
		some = true
		b.tmp = appendCount(b.tmp[:0], d.n)
		if len(" ")+len(b.tmp)+len(word)+len(noun)+len(",") > b.rest() {
			b.end()
			b.gap(listFrom + 1)
		}
		b.gap(1)
		b.number(text)
		b.put(dim, word+noun)
	}
	if !some {
		b.put(dim, " the same")
	}
	b.end()
}
