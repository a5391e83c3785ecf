package views

// column is one column of a list. Its width lies between its bounds; a list
// that is too narrow for all columns drops those with the highest rank first.
type column struct {
	id    int
	title string
	least int  // cells, at least
	most  int  // cells, at most
	rank  int  // 0: never dropped
	right bool // numbers
	width int  // cells, as laid out
	at    int  // the first cell, as laid out
}

// between returns the blank between two columns.
func between(width int) int {
	if width >= 100 {
		return 2
	}
	return 1
}

// layout chooses the columns that fit between from and width, and their
// places. The answer depends on the width only, so that a list does not move
// while its rows change.
func layout(cols []column, from, width int) []column {
	out, between := append(make([]column, 0, len(cols)), cols...), between(width)
	for {
		need, worst := -between, -1
		for i, c := range out {
			need += c.least + between
			if c.rank > 0 && (worst < 0 || c.rank > out[worst].rank) {
				worst = i
			}
		}
		if need <= width-from || worst < 0 {
			grow(out, width-from-need)
			break
		}
		out = append(out[:worst], out[worst+1:]...)
	}
	for i := range out {
		out[i].at = from
		from += out[i].width + between
	}
	return out
}

// grow shares extra cells out, a cell at a time, to the columns in proportion.
func grow(cols []column, extra int) {
	for i := range cols {
		cols[i].width = cols[i].least
	}
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
