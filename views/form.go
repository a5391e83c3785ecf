package views

import (
	"slices"
	"time"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"tollgate/gate"
)

// FormView is a decision in the making: what, evidence, reason, and where more
// is at stake something typed. Nothing is chosen or filled in beforehand that
// would decide.
type FormView struct {
	Title   string    // "reconcile charge-42"
	Kind    gate.Kind // of the item; zero leaves it away
	What    []string  // what will happen, and what will not
	Bulk    *BulkSet  // the items that it goes to; nil for the one of the title
	Preview *Preview  // what the gate would answer; nil for none
	AsOf    time.Time // of the preview; zero is now
	Fields  []Field
	Armed   bool   // keys count; before that a form takes none
	Sending bool   // the gate has been asked
	Refused string // the answer, when it was a refusal and the form is still open
}

// Field is one field of a form.
type Field struct {
	Label   string
	Hint    string // what belongs there; of Options what the chosen one comes to
	Value   string // text, when there are no Options
	Cursor  int    // runes of Value before the cursor
	Rows    int    // rows that a text has; 0 means 1
	Options []string
	Chosen  int // of Options; -1 for none
	Focused bool
	Problem string // why the form can't be sent yet
}

// formAt is where the fields of a form begin.
const formAt = 16

// Form draws the form: what is decided on, and below it the field that has the
// focus in sight. Where there is little room the parts move together, and news
// stand under the title, so that the keys are there at every size.
func Form(p Page, v FormView) string {
	head, body := newBlock(p.Theme, p.Width, 2), newBlock(p.Theme, p.Width, p.Height)
	head.formTitle(v)
	focus := body.form(v, 1)
	if len(head.rows)+len(body.rows) > p.Body() {
		if p.low() && p.Notice.Text != "" {
			head.news(p.Notice.Tone.style(), p.Notice.Text)
			p.Notice = Notice{}
		}
		if v.Refused != "" {
			head.news(waits, v.Refused)
			v.Refused = ""
		}
		v.Fields = slices.Clone(v.Fields)
		for i := range v.Fields { // with its label, and what is wrong with it
			v.Fields[i].Rows = min(v.Fields[i].Rows, max(1, p.Body()-len(head.rows)-2))
		}
		body = newBlock(p.Theme, p.Width, p.Height)
		focus = body.form(v, 0)
	}
	return p.scrolled(focus-(p.Body()-len(head.rows))+1, head, body)
}

// formTitle appends what is decided on.
func (b *block) formTitle(v FormView) {
	b.gap(1)
	if v.Kind != 0 {
		glyph, look := b.th.kindLook(v.Kind)
		b.glyph(look, glyph)
		b.gap(1)
	}
	b.put(strong, v.Title)
	switch {
	case v.Sending:
		b.put(dim, "  asking the gate")
	case !v.Armed:
		b.put(dim, "  takes keys in a moment")
	}
	b.end()
}

// news appends one row of news.
func (b *block) news(s style, txt string) {
	b.gap(1)
	b.put(s, txt)
	b.end()
}

// form appends the form but for its title, its parts so many rows apart, and
// returns the last row of the field that has the focus.
func (b *block) form(v FormView, apart int) (focus int) {
	for _, w := range v.What {
		b.gap(1)
		b.wrapped(1, dim, w)
	}
	if v.Bulk != nil {
		b.blank(apart)
		b.bulkSet(v.Bulk)
	}
	if v.Preview != nil && (len(v.Preview.Checks) > 0 || v.Preview.Verdict != 0) {
		b.blank(apart)
		b.formPreview(v.Preview, v.AsOf)
	}
	for i := range v.Fields {
		b.blank(apart)
		b.formField(&v.Fields[i])
		if v.Fields[i].Focused {
			focus = len(b.rows) - 1
		}
	}
	if v.Refused != "" {
		b.blank(apart)
		b.gap(1)
		b.wrapped(1, waits, v.Refused)
	}
	return focus
}

func (b *block) formPreview(p *Preview, asOf time.Time) {
	b.gap(1)
	b.put(dim, "the gate would say")
	b.asOf(asOf)
	b.gap(2)
	b.put(verdictStyle(p.Verdict), p.Verdict.String())
	b.end()
	b.checks(p, nil)
}

func (b *block) formField(f *Field) {
	b.gap(1)
	label := dim
	if f.Focused {
		b.glyph(press, b.th.g.mark)
		label = here
	}
	b.to(3)
	b.cell(label, f.Label, formAt-4)
	b.to(formAt)
	switch {
	case f.Options != nil:
		b.options(f)
	default:
		b.typed(f)
	}
	if f.Problem != "" {
		b.to(formAt)
		b.wrapped(formAt, waits, f.Problem)
	}
}

// options appends what can be chosen; nothing is chosen unless the operator did.
func (b *block) options(f *Field) {
	for i, o := range f.Options {
		need := Width(o) + 3
		if b.x > formAt && need > b.rest() {
			b.end()
			b.to(formAt)
		}
		if i == f.Chosen {
			b.glyph(press, b.th.g.live)
			b.gap(1)
			b.put(strong, o)
		} else {
			b.glyph(faint, b.th.g.dot)
			b.gap(1)
			b.put(text, o)
		}
		b.gap(3)
	}
	b.end()
	if f.Hint != "" {
		b.to(formAt)
		b.wrapped(formAt, dim, f.Hint)
	}
}

// typed appends a text field: as many rows as it has, those around the cursor.
func (b *block) typed(f *Field) {
	width := b.rest() - 1
	if width < 2 {
		b.end()
		return
	}
	if f.Value == "" {
		hint := f.Hint
		if f.Focused { // on the hint's first letter, which is the console's own
			n := min(1, len(hint))
			b.caret(hint[:n])
			hint = hint[n:]
		}
		b.put(dim, hint)
		b.end()
		return
	}
	cells, at := typedRows(f.Value, f.Cursor, width, b.th.ascii)
	rows := max(1, f.Rows)
	last := cells[len(cells)-1].row
	top := max(0, min(cells[at].row-rows/2, last-rows+1))
	i := 0
	for r := top; r <= min(last, top+rows-1); r++ {
		b.to(formAt)
		for ; i < len(cells) && cells[i].row <= r; i++ {
			switch c := cells[i]; {
			case c.row < r:
			case f.Focused && i == at:
				b.caret(c.text)
			default:
				b.own(text, c.text, c.width)
			}
		}
		if r == top && top > 0 || r == top+rows-1 && r < last {
			b.glyph(dim, b.th.g.tail)
		}
		b.end()
	}
}

// typedCell is one token of a text that is being typed.
type typedCell struct {
	text       string // escaped
	row, width int
}

// typedRows breaks a text into the rows of its field and finds the token at
// the cursor. The last token is empty: the place behind the text.
func typedRows(s string, cursor, width int, ascii bool) (cells []typedCell, at int) {
	u, row, x, runes := units{ascii: ascii}, 0, 0, 0
	for i := 0; i < len(s); {
		n, plain := u.cluster(s[i:])
		token := s[i : i+n]
		if !plain {
			token = string(appendEscape(nil, token))
		}
		w := ansi.StringWidth(token)
		if w > width {
			token, w = tailOf(ascii), 1
		}
		if x+w > width {
			row, x = row+1, 0
		}
		if runes <= cursor {
			at = len(cells)
		}
		runes += utf8.RuneCountInString(s[i : i+n])
		cells = append(cells, typedCell{token, row, w})
		x, i = x+w, i+n
	}
	if cursor >= runes {
		at = len(cells)
	}
	return append(cells, typedCell{"", row, 0}), at
}

// caret appends the place of the cursor: the token at it, or a blank behind
// the text. Without sequences it is an underscore before the token.
func (b *block) caret(token string) {
	if b.th.on[caret] == "" {
		b.own(text, "_", 1)
		b.own(text, token, ansi.StringWidth(token))
		return
	}
	if token == "" {
		token = " "
	}
	b.own(caret, token, ansi.StringWidth(token))
}
