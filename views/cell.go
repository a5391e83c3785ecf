package views

import (
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// ShownBytes is how much of one long text is ever shown at once: Wrap takes
// that many bytes, says how large the whole is, and leaves the rest to a pager.
const ShownBytes = 4 << 10

// marksPerCell is how many combining marks may sit on one letter. Two are
// enough for living scripts; a third starts a tower that reaches into the row
// above.
const marksPerCell = 2

// Escape returns s as text that a terminal can only show, never obey: one row,
// whatever s holds. What a terminal acts on, what reorders or joins its
// neighbours, and what cannot be seen or told from a blank, becomes an escape
// in plain ASCII:
//
//	\n \r \t \e   line feed, carriage return, tab, escape
//	\x07 \x9b     other C0 controls and DEL; bytes that are not UTF-8
//	\u{202e}      every other rune that is not shown as it is
//
// A backslash stays a backslash, so Escape is idempotent, and its answer is
// for eyes: it can't be decoded. Text without anything to escape is
// returned as it came, without allocation.
//
// Only what is shown is escaped; stored bytes stay as they came.
func Escape(s string) string {
	if clean(s) {
		return s
	}
	return string(appendEscaped(make([]byte, 0, len(s)+len(s)/4+16), s, false))
}

// Width returns the cells that Escape(s) takes.
func Width(s string) int {
	if clean(s) {
		return len(s)
	}
	return ansi.StringWidth(Escape(s))
}

// Fit returns s escaped and cut or padded on the right to exactly width cells.
// A cut text ends in "…". A wide character that would be split is left out.
// The cost is that of the width, not of the text. Below one cell it is "".
func Fit(s string, width int) string {
	return string(appendFit(nil, s, width, fit{tail: "…"}))
}

// FitRight is Fit with the padding on the left.
func FitRight(s string, width int) string {
	return string(appendFit(nil, s, width, fit{tail: "…", right: true}))
}

// Wrap returns s escaped and broken into rows of at most width cells. A line
// feed is shown as \n and ends its row. When s does not fit into rows, or is
// longer than ShownBytes, the last row says how much there is and how much is
// shown. The cost is that of what is shown. Below one cell or one row it is nil.
func Wrap(s string, width, rows int) []string {
	return wrap(s, width, rows, false)
}

func wrap(s string, width, rows int, ascii bool) []string {
	if width < 1 || rows < 1 || s == "" {
		return nil
	}
	shown := s[:min(len(s), ShownBytes)]
	if n := len(shown); n < len(s) {
		for n > ShownBytes-utf8.UTFMax && !utf8.RuneStart(s[n]) {
			n-- // a rune that is whole stays whole
		}
		shown = s[:n]
	}

	var (
		out  []string
		ends []int  // bytes of s shown up to the end of each row
		row  []byte // the open row
		at   int    // bytes of s taken
		x    int    // cells of the open row
		word struct{ row, at, x int }
	)
	// flush closes the row after its first n bytes, which show s up to end; the
	// rest begins the next row, and so do the w cells that are its own.
	flush := func(n, end, w int) {
		out, ends = append(out, string(row[:n])), append(ends, end)
		row, x = append(row[:0], row[n:]...), x-w
		word.row, word.at, word.x = 0, 0, 0
	}
	u, tail := units{ascii: ascii}, tailOf(ascii)
	for at < len(shown) && len(out) <= rows {
		n, plain := u.cluster(shown[at:])
		token := shown[at : at+n]
		if !plain {
			token = string(appendEscape(nil, token))
		}
		w := ansi.StringWidth(token)
		switch {
		case x+w <= width || x == 0:
		case word.x > width/2: // the last word moves down whole
			flush(word.row, word.at, word.x)
		default:
			flush(len(row), at, x)
		}
		if x+w > width && x > 0 {
			flush(len(row), at, x)
		}
		if w > width && plain {
			token, w = tail, 1 // a wide character in a column of one cell
		}
		for ; w > width; w -= width { // an escape in a very thin column
			row, x = append(row, token[:width]...), width
			token = token[width:]
			flush(len(row), at, x)
		}
		row, x, at = append(row, token...), x+w, at+n
		switch {
		case token == " ":
			word.row, word.at, word.x = len(row), at, x
		case shown[at-1] == '\n' && at < len(shown):
			flush(len(row), at, x)
		}
	}
	if len(row) > 0 {
		flush(len(row), at, x)
	}
	if len(out) <= rows && len(shown) == len(s) {
		return out
	}

	note, keep := tail+" "+Size(len(s)), min(len(out), rows-1)
	if keep > 0 {
		note += ", first " + Size(ends[keep-1]) + " shown"
	}
	return append(out[:keep], string(appendFit(nil, note, width, fit{tail: tail, loose: true})))
}

func tailOf(ascii bool) string {
	if ascii {
		return "~"
	}
	return "…"
}

// Size prints a count of bytes for people: 512 B, 4 KiB, 20 MiB.
func Size(n int) string {
	units := []string{"B", "KiB", "MiB", "GiB"}
	f, i := float64(n), 0
	for f >= 1024 && i < len(units)-1 {
		f, i = f/1024, i+1
	}
	if i > 0 && f < 9.95 && f != float64(int(f)) {
		return strconv.FormatFloat(f, 'f', 1, 64) + " " + units[i]
	}
	return strconv.FormatFloat(f, 'f', 0, 64) + " " + units[i]
}

// clean reports whether s is printable ASCII, which needs no second look.
func clean(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// units walks hostile text rune by rune and says which runes may stand as they
// are. The zero value is at the beginning of a field.
type units struct {
	ascii bool // nothing but ASCII may stand
	room  int  // combining marks that the rune before can still take
	prev  rune // the rune before, 0 when it was escaped
}

// next returns the size of the first rune of s, and whether it may stand.
func (u *units) next(s string) (size int, plain bool) {
	if c := s[0]; c < utf8.RuneSelf {
		plain = c >= ' ' && c <= '~'
		u.prev, u.room = rune(c), 0
		if plain && c != ' ' {
			u.room = marksPerCell
		}
		return 1, plain
	}
	r, size := utf8.DecodeRuneInString(s)
	switch {
	case u.ascii || !visible(r):
	case joins(r, u.prev):
		if u.room > 0 {
			u.room--
			u.prev = r
			return size, true
		}
	case isLead(r) && isLead(u.prev): // two of them would share one cell
	default:
		u.prev, u.room = r, marksPerCell
		return size, true
	}
	u.prev, u.room = 0, 0
	return size, false
}

// cluster is next for a rune and the marks that sit on it.
func (u *units) cluster(s string) (size int, plain bool) {
	size, plain = u.next(s)
	for plain && size < len(s) && s[size] >= utf8.RuneSelf {
		r, _ := utf8.DecodeRuneInString(s[size:])
		if !joins(r, u.prev) || u.room == 0 {
			break
		}
		n, ok := u.next(s[size:])
		if !ok {
			break
		}
		size += n
	}
	return size, plain
}

// joins reports whether r sits on the rune before it instead of taking a cell.
func joins(r, prev rune) bool {
	return unicode.Is(unicode.M, r) || isTail(r) && unicode.Is(unicode.Hangul, prev)
}

// isLead and isTail are the conjoining jamo: one cell pair for a syllable of
// up to three of them.
func isLead(r rune) bool { return r >= 0x1100 && r <= 0x115E || r >= 0xA960 && r <= 0xA97C }
func isTail(r rune) bool { return r >= 0x1161 && r <= 0x11FF || r >= 0xD7B0 && r <= 0xD7FB }

// visible reports whether a terminal shows r as one thing of its own, of a
// width that does not depend on the terminal. Unicode's control, format,
// private and unassigned runes, separators and surrogates are not printable;
// the table has the rest.
func visible(r rune) bool {
	return strconv.IsPrint(r) && r != utf8.RuneError && !unicode.Is(unseen, r)
}

// unseen are printable by category only: blank look-alikes, selectors that
// change the look of the rune before, and runes that terminals join or not.
var unseen = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x034F, Hi: 0x034F, Stride: 1}, // combining grapheme joiner
		{Lo: 0x0D4E, Hi: 0x0D4E, Stride: 1}, // joins what follows it
		{Lo: 0x115F, Hi: 0x1160, Stride: 1}, // Hangul fillers
		{Lo: 0x17B4, Hi: 0x17B5, Stride: 1}, // Khmer inherent vowels, blank
		{Lo: 0x180B, Hi: 0x180F, Stride: 1}, // Mongolian selectors
		{Lo: 0x2800, Hi: 0x2800, Stride: 1}, // blank Braille pattern
		{Lo: 0x3164, Hi: 0x3164, Stride: 1}, // Hangul filler
		{Lo: 0xFE00, Hi: 0xFE0F, Stride: 1}, // variation selectors
		{Lo: 0xFFA0, Hi: 0xFFA0, Stride: 1}, // halfwidth Hangul filler
		{Lo: 0xFFFC, Hi: 0xFFFC, Stride: 1}, // object replacement
	},
	R32: []unicode.Range32{
		{Lo: 0x111C2, Hi: 0x111C3, Stride: 1}, // these join what follows them
		{Lo: 0x113D1, Hi: 0x113D1, Stride: 1},
		{Lo: 0x1193F, Hi: 0x1193F, Stride: 1},
		{Lo: 0x11941, Hi: 0x11941, Stride: 1},
		{Lo: 0x11A3A, Hi: 0x11A3A, Stride: 1},
		{Lo: 0x11A84, Hi: 0x11A89, Stride: 1},
		{Lo: 0x11D46, Hi: 0x11D46, Stride: 1},
		{Lo: 0x11F02, Hi: 0x11F02, Stride: 1},
		{Lo: 0x1D159, Hi: 0x1D159, Stride: 1}, // blank note head
		{Lo: 0x1F1E6, Hi: 0x1F1FF, Stride: 1}, // regional indicators
		{Lo: 0x1F3FB, Hi: 0x1F3FF, Stride: 1}, // skin tones
		{Lo: 0xE0000, Hi: 0xE0FFF, Stride: 1}, // tags and further selectors
	},
}

// appendEscape writes the visible form of one rune, or of one stray byte.
func appendEscape(dst []byte, s string) []byte {
	switch r, size := utf8.DecodeRuneInString(s); {
	case r == '\n':
		return append(dst, `\n`...)
	case r == '\r':
		return append(dst, `\r`...)
	case r == '\t':
		return append(dst, `\t`...)
	case r == 0x1b:
		return append(dst, `\e`...)
	case size == 1: // C0, DEL, or no UTF-8
		const hex = "0123456789abcdef"
		return append(dst, '\\', 'x', hex[s[0]>>4], hex[s[0]&15])
	default:
		dst = append(dst, `\u{`...)
		dst = strconv.AppendInt(dst, int64(r), 16)
		return append(dst, '}')
	}
}

func appendEscaped(dst []byte, s string, ascii bool) []byte {
	u := units{ascii: ascii}
	for len(s) > 0 {
		n, plain := u.next(s)
		if plain {
			dst = append(dst, s[:n]...)
		} else {
			dst = appendEscape(dst, s[:n])
		}
		s = s[n:]
	}
	return dst
}

// fit says how appendFit cuts and pads.
type fit struct {
	tail  string // one cell that ends a cut text
	right bool   // pad on the left
	ascii bool   // escape everything but ASCII
	loose bool   // do not pad
}

// appendFit appends s, escaped, cut and padded to width cells, to dst.
func appendFit(dst []byte, s string, width int, f fit) []byte {
	if width < 1 {
		return dst
	}
	start := len(dst)
	dst, cells := appendCut(dst, s, width, f)
	if f.loose || cells == width {
		return dst
	}
	dst = appendSpaces(dst, width-cells)
	if f.right {
		copy(dst[start+width-cells:], dst[start:len(dst)-(width-cells)])
		for i := range width - cells {
			dst[start+i] = ' '
		}
	}
	return dst
}

// appendCut appends s, escaped and cut to width cells, and returns the cells
// that it takes.
func appendCut(dst []byte, s string, width int, f fit) ([]byte, int) {
	if head := s[:min(len(s), width+1)]; clean(head) { // by far the most
		if len(s) <= width {
			return append(dst, s...), len(s)
		}
		dst = append(dst, s[:width-1]...)
		return append(dst, f.tail...), width
	}

	// Only a beginning of s can matter. Its length in runes is bounded, because
	// some scripts put any number of them into one cell.
	start, u := len(dst), units{ascii: f.ascii}
	for runes := 0; len(s) > 0 && runes < 8*width+8; runes++ {
		n, plain := u.next(s)
		if plain {
			dst = append(dst, s[:n]...)
		} else {
			dst = appendEscape(dst, s[:n])
		}
		s = s[n:]
	}

	cells, keep, kept := 0, start, 0 // keep: where the tail can go, after kept cells
	for at := start; at < len(dst); {
		cluster, w := ansi.FirstGraphemeCluster(dst[at:], ansi.GraphemeWidth)
		if cells+w > width {
			s = "more"
			break
		}
		cells += w
		at += len(cluster)
		if cells < width {
			keep, kept = at, cells
		}
	}
	if s == "" {
		return dst, cells
	}
	return append(dst[:keep], f.tail...), kept + 1
}

const spaces = "                                                                "

func appendSpaces(dst []byte, n int) []byte {
	for ; n > len(spaces); n -= len(spaces) {
		dst = append(dst, spaces...)
	}
	return append(dst, spaces[:max(0, n)]...)
}
