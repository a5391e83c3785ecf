package views

// Where the values begin: of the detail beside a tree, and of a review.
const (
	labelWidth = 12
	reviewAt   = 16
)

// beside appends two blocks side by side, on least rows at least.
func (b *block) beside(l, r *block, least int) {
	for i := range max(len(l.rows), len(r.rows), least) {
		b.add(l, i)
		b.gap(1)
		b.glyph(faint, b.th.g.split)
		b.gap(1)
		b.add(r, i)
		b.end()
	}
}

// label begins a row of the contract.
func (b *block) label(s string) {
	b.gap(1)
	b.cell(dim, s, reviewAt-1)
}

// piece appends a part of a row that is made of parts; one that does not fit
// moves to the next row, and one that is wider than a row takes several.
func (b *block) piece(s style, txt string) {
	width := b.width - reviewAt
	if txt == "" {
		return
	}
	if b.measure(txt, width+1) > width {
		if b.x > reviewAt {
			b.end()
		}
		for i, line := range wrap(txt, width, 3, b.th.ascii) {
			if i > 0 {
				b.end()
			}
			b.to(reviewAt)
			b.put(s, line)
		}
		return
	}
	b.flow(func(o *block) { o.put(s, txt) })
}

// idPiece is piece for an id, which is cut in its middle.
func (b *block) idPiece(s style, id string) {
	b.flow(func(o *block) { o.id(s, id, o.measure(id, o.width)) })
}

// flow is piece for a part of several styles.
func (b *block) flow(part func(o *block)) {
	if b.aside == nil {
		b.aside = newBlock(b.th, b.width-reviewAt, 1)
	}
	o := b.aside
	part(o)
	o.end()
	const apart = 3
	switch n := o.rows[0].cells; {
	case b.x <= reviewAt:
	case b.x+apart+n > b.width:
		b.end()
	default:
		b.gap(apart)
	}
	b.to(reviewAt)
	b.join(o)
	o.keep(0)
}

// reviewField is field for a review.
func (b *block) reviewField(label string, s style, value string, rows int) {
	b.fieldAt(1, reviewAt-1, label, s, value, rows)
}

// wrapped appends a text at column at, over as many rows as it takes, and ends
// the row.
func (b *block) wrapped(at int, s style, txt string) {
	if txt == "" && b.x == 0 {
		return
	}
	for _, line := range wrap(txt, b.width-at, 6, b.th.ascii) {
		b.to(at)
		b.put(s, line)
		b.end()
	}
	if b.x > 0 {
		b.end()
	}
}

// field appends a label and a value, which may take several rows.
func (b *block) field(label string, s style, value string, rows int) {
	b.fieldAt(0, labelWidth, label, s, value, rows)
}

// fieldAt is field with a margin and a place for the value.
func (b *block) fieldAt(margin, at int, label string, s style, value string, rows int) {
	if value == "" {
		return
	}
	b.gap(margin)
	b.cell(dim, label, at-1)
	for _, line := range wrap(value, b.width-margin-at, rows, b.th.ascii) {
		b.to(margin + at)
		b.put(s, line)
		b.end()
	}
	if b.x > 0 {
		b.end()
	}
}
