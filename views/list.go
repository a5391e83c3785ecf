package views

// column is one column of a list. Its width lies between its bounds.
type column struct {
	id    int
	title string
	least int  // cells, at least
	wide  int  // cells, at least, on a terminal of 80 and more; 0 means least
	good  int  // cells in which most of what it holds is whole; 0 means least
	most  int  // cells, at most
	rank  int  // 0: always there; of the others the lowest come first
	from  int  // cells of a terminal, below which it is left away
	right bool // numbers
	width int  // cells, as laid out
	at    int  // the first cell, as laid out
}

// needs returns the cells without which the column is left away.
func (c column) needs(width int) int {
	if width >= 80 {
		return max(c.least, c.wide)
	}
	return c.least
}

// between returns the blank between two columns.
func between(width int) int {
	if width >= 110 {
		return 2
	}
	return 1
}

// layout chooses the columns that fit between from and width, and their
// places: what matters most comes first, and gets its good width before what
// matters less gets any more. The answer depends on the width only, so that a
// list does not move while its rows change.
func layout(cols []column, from, width int) []column {
	between := between(width)
	room, worst := width-from+between, 0
	for _, c := range cols {
		worst = max(worst, c.rank)
	}
	in := make([]bool, len(cols))
	for rank := 0; rank <= worst; rank++ {
		for i, c := range cols {
			if c.rank == rank && width >= c.from && (rank == 0 || c.needs(width)+between <= room) {
				in[i] = true
				room -= c.needs(width) + between
			}
		}
	}
	out := make([]column, 0, len(cols))
	for i, c := range cols {
		if in[i] {
			c.width = c.needs(width)
			out = append(out, c)
		}
	}
	for rank := 0; rank <= worst; rank++ {
		for i := range out {
			if c := &out[i]; c.rank == rank {
				more := max(0, min(c.good-c.width, room))
				c.width += more
				room -= more
			}
		}
	}
	grow(out, room)
	for i := range out {
		out[i].at = from
		from += out[i].width + between
	}
	return out
}

// grow shares extra cells out, a cell at a time, to the columns in proportion.
func grow(cols []column, extra int) {
	for extra > 0 {
		best := -1
		for i, c := range cols {
			if c.width < c.most && (best < 0 || c.width*cols[best].most < cols[best].width*c.most) {
				best = i
			}
		}
		if best < 0 {
			return
		}
		cols[best].width++
		extra--
	}
}

// list draws a list of n rows: their headings, and as many of them as there is
// room for, each by row; or what is said in place of none.
func (p Page) list(columns []column, n int, none string, row func(b *block, i int, cols []column)) string {
	return p.draw(func(b *block, rows int) { b.list(columns, rows, n, none, row) })
}

// list appends a list of at most rows rows, its headings among them.
func (b *block) list(columns []column, rows, n int, none string, row func(b *block, i int, cols []column)) {
	cols := layout(columns, listFrom, b.width)
	b.headings(cols)
	if n == 0 {
		b.say(none)
	}
	for i := range min(n, rows-1) {
		row(b, i, cols)
		b.end()
	}
}

// Where the first column of a list begins: after the mark of the selected row
// and the glyph.
const listFrom = 5

// pick begins a row of a list: the mark if it is the selected one, and the
// mark of a bulk verb.
func (b *block) pick(selected, marked bool) {
	b.selected(selected)
	switch {
	case selected:
		b.gap(1)
		b.glyph(press, b.th.g.mark)
	case marked:
		b.gap(1)
		b.glyph(press, b.th.g.marked)
	}
	b.to(listFrom - 2)
}

// say appends a line of the console's own in place of rows.
func (b *block) say(s string) {
	b.blank(1)
	b.gap(listFrom)
	b.put(dim, s)
	b.end()
}

// headings appends the row of titles.
func (b *block) headings(cols []column) {
	for _, c := range cols {
		b.to(c.at)
		if c.right {
			b.right(dim, c.title, c.width)
		} else {
			b.cell(dim, c.title, c.width)
		}
	}
	b.end()
}
