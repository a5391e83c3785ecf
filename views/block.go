package views

import "strconv"

// block is rows in the making: styled cells appended to one buffer, row after
// row, each of at most width cells. What is appended beyond the width is cut,
// so no row can be too long; all text passes through the escape of cell.go.
type block struct {
	th    *Theme
	width int
	buf   []byte // rows, with a line feed after each
	rows  []row
	start int    // where the open row begins
	x     int    // cells of the open row
	in    string // the sequence in force at the end of buf
	sel   bool   // the open row is the selected one
	tmp   []byte // for numbers
	aside *block // where flow measures a part before it is placed
}

// row is where a finished row stands in the buffer, and its cells.
type row struct{ from, to, cells int }

func newBlock(th *Theme, width, rows int) *block {
	return &block{
		th: th, width: max(0, width), in: th.on[text],
		buf:  make([]byte, 0, (rows+1)*(min(max(0, width), 300)+64)),
		rows: make([]row, 0, rows+1),
		tmp:  make([]byte, 0, 64),
	}
}

// rest returns the cells that the open row has left.
func (b *block) rest() int { return b.width - b.x }

// use brings a style into force.
func (b *block) use(s style) {
	seq := b.th.on[s]
	if b.sel {
		seq = b.th.sel[s]
	}
	if seq != b.in {
		b.buf = append(b.buf, seq...)
		b.in = seq
	}
}

// put appends as much of s as fits.
func (b *block) put(s style, txt string) {
	if b.rest() < 1 || txt == "" {
		return
	}
	b.use(s)
	at := len(b.buf)
	var cells int
	b.buf, cells = appendCut(b.buf, txt, b.rest(), b.fit())
	if cells == 0 {
		b.buf = b.buf[:at]
	}
	b.x += cells
}

// own appends a glyph or a word of the console's own, which needs no escape
// and takes n cells, if it fits whole.
func (b *block) own(s style, txt string, n int) {
	if b.rest() < n {
		return
	}
	b.use(s)
	b.buf = append(b.buf, txt...)
	b.x += n
}

// glyph appends one of the theme's glyphs of one cell.
func (b *block) glyph(s style, g string) { b.own(s, g, 1) }

// cell appends s, cut and padded to n cells.
func (b *block) cell(s style, txt string, n int) {
	n = min(n, b.rest())
	b.use(s)
	b.buf = appendFit(b.buf, txt, n, b.fit())
	b.x += max(0, n)
}

// id is cell for an id, which is cut in its middle: what tells two ids apart
// stands at their ends.
func (b *block) id(s style, txt string, n int) {
	const longest = 128 // bytes of an id; others are no ids
	if n = min(n, b.rest()); n < 5 || len(txt) <= n || len(txt) > longest || !clean(txt) {
		b.cell(s, txt, n)
		return
	}
	head := (n - 1) / 2
	b.use(s)
	b.buf = append(append(append(b.buf, txt[:head]...), b.th.g.tail...), txt[len(txt)-(n-1-head):]...)
	b.x += n
}

// right is cell with the padding on the left.
func (b *block) right(s style, txt string, n int) {
	n = min(n, b.rest())
	b.use(s)
	f := b.fit()
	f.right = true
	b.buf = appendFit(b.buf, txt, n, f)
	b.x += max(0, n)
}

// measure returns the cells that s takes, most at the most; it uses tmp.
func (b *block) measure(s string, most int) (cells int) {
	if most < 1 {
		return 0
	}
	b.tmp, cells = appendCut(b.tmp[:0], s, most, b.fit())
	return cells
}

// rightNumber appends what is in tmp, right-aligned in n cells.
func (b *block) rightNumber(s style, n int) {
	n = min(n, b.rest())
	if len(b.tmp) > n {
		b.gap(n - 1)
		b.own(s, b.th.g.tail, 1) // a cut number would be another number
		return
	}
	b.use(s)
	b.buf = appendSpaces(b.buf, n-len(b.tmp))
	b.buf = append(b.buf, b.tmp...)
	b.x += n
}

// number appends what is in tmp, if it fits whole.
func (b *block) number(s style) {
	if len(b.tmp) > b.rest() {
		return
	}
	b.use(s)
	b.buf = append(b.buf, b.tmp...)
	b.x += len(b.tmp)
}

// integer appends n.
func (b *block) integer(s style, n int64) {
	b.tmp = strconv.AppendInt(b.tmp[:0], n, 10)
	b.number(s)
}

// gap appends n blanks.
func (b *block) gap(n int) {
	if n = min(n, b.rest()); n < 1 {
		return
	}
	if b.sel { // blanks look the same in every style but for its background
		b.use(text)
	}
	b.buf = appendSpaces(b.buf, n)
	b.x += n
}

// to appends blanks up to column x.
func (b *block) to(x int) { b.gap(x - b.x) }

// repeat appends a glyph n times.
func (b *block) repeat(s style, g string, n int) {
	if n = min(n, b.rest()); n < 1 {
		return
	}
	b.use(s)
	for range n {
		b.buf = append(b.buf, g...)
	}
	b.x += n
}

// selected makes the open row, still empty, the selected one.
func (b *block) selected(on bool) { b.sel = on && b.x == 0 }

// end closes the open row. A selected one reaches to the edge.
func (b *block) end() {
	if b.sel {
		b.gap(b.rest())
		b.sel = false
	}
	b.use(text)
	b.rows = append(b.rows, row{b.start, len(b.buf), b.x})
	b.buf = append(b.buf, '\n')
	b.start, b.x = len(b.buf), 0
}

// blank appends n empty rows.
func (b *block) blank(n int) {
	for range n {
		b.end()
	}
}

// rule appends a line across.
func (b *block) rule() {
	b.repeat(faint, b.th.g.rule, b.width)
	b.end()
}

// keep cuts the block to its first n rows.
func (b *block) keep(n int) {
	if n = max(0, n); n >= len(b.rows) {
		return
	}
	b.start = b.rows[n].from
	b.buf, b.rows = b.buf[:b.start], b.rows[:n]
	b.undo()
}

// undo empties the open row.
func (b *block) undo() {
	b.buf, b.x, b.in, b.sel = b.buf[:b.start], 0, b.th.on[text], false
}

// add appends row i of another block to the open row, padded to that block's
// width; an i that is not there is blank.
func (b *block) add(o *block, i int) {
	from := b.x
	if i >= 0 && i < len(o.rows) {
		b.joinRow(o, o.rows[i])
	}
	b.to(from + o.width)
}

// append appends the rows of another block of the same width, from one on.
func (b *block) append(o *block, from int) {
	for _, r := range o.rows[min(from, len(o.rows)):] {
		b.joinRow(o, r)
		b.end()
	}
}

// join appends the first row of another block to the open row.
func (b *block) join(o *block) { b.joinRow(o, o.rows[0]) }

// joinRow appends a row if it fits whole: a styled one can't be cut.
func (b *block) joinRow(o *block, r row) {
	if r.cells > b.rest() {
		return
	}
	b.use(text)
	b.buf = append(b.buf, o.buf[r.from:r.to]...)
	b.x += r.cells
}

// String returns the rows, with line feeds between them.
func (b *block) String() string {
	if len(b.buf) == 0 {
		return ""
	}
	return string(b.buf[:b.start-1])
}

func (b *block) fit() fit { return fit{tail: b.th.g.tail, ascii: b.th.ascii} }
