package views

import "strings"

// Palette says how much a terminal can show. The zero value shows nothing but
// the text itself.
type Palette uint8

// The palettes.
const (
	Plain   Palette = iota // no sequences at all: TERM=dumb, pipes, screen readers
	Mono                   // bold and reverse, no colour: NO_COLOR
	Sixteen                // the terminal's own sixteen colours
	Dark                   // 256 colours on a dark background
	Light                  // 256 colours on a light background
)

// Theme is the one look of the console: quiet greys, one blue for where you
// are and what can be pressed, orange for what waits or is spent, violet for
// approvals, teal for what is live or done. Colour never says anything alone:
// a word or a glyph says it too, and no two meanings differ by red and green.
//
// A Theme is made once and never changes, so it may be shared.
type Theme struct {
	ascii bool
	on    [styles]string // the sequence that begins a style
	sel   [styles]string // the same on the selected row
	g     glyphs
}

// NewTheme returns the theme for a terminal. With ascii its frames hold
// printable ASCII and the palette's sequences, and nothing else: what others
// wrote is escaped where it is not ASCII.
func NewTheme(p Palette, ascii bool) *Theme {
	t := &Theme{ascii: ascii, g: unicodeGlyphs}
	if ascii {
		t.g = asciiGlyphs
	}
	if p == Plain {
		t.g.mark = ">"
		return t
	}
	look := palettes[p]
	for s, params := range look.styles {
		t.on[s], t.sel[s] = sgr(params, ""), sgr(params, look.selected)
		switch {
		case look.selected == reverse: // colours would become backgrounds
			t.sel[s] = sgr(look.bold(style(s)), reverse)
		case !strings.Contains(params, "38;"):
			t.sel[s] = sgr(params, look.plain+";"+look.selected)
		}
	}
	return t
}

// Dot returns what stands between two parts of a line.
func (t *Theme) Dot() string { return " " + t.g.dot + " " }

// sgr begins a style whatever was in force before.
func sgr(params, more string) string {
	s := "\x1b[0"
	for _, p := range []string{params, more} {
		if p != "" {
			s += ";" + p
		}
	}
	return s + "m"
}

// style is a meaning, not a colour.
type style uint8

const (
	text    style = iota // what others wrote, and numbers
	dim                  // labels, and what can wait
	faint                // rules, empty parts of bars
	strong               // names of things
	here                 // where you are
	press                // what can be pressed; what of a budget is used
	waits                // what waits for a person, or is spent
	alarm                // the same, louder
	approve              // approvals
	live                 // live, done
	caret                // where typing goes
	styles  = iota
)

// palette is what a Palette looks like: SGR parameters by style, and those
// that are added on the selected row. What has no colour of its own gets one
// there, so that it can be read even where the background was guessed wrong.
type palette struct {
	styles   [styles]string
	selected string
	plain    string
}

// reverse marks the selected row where no background can be relied on.
const reverse = "7"

// bold returns what is left of a style without its colour.
func (p *palette) bold(s style) string {
	if strings.HasPrefix(p.styles[s], "1") {
		return "1"
	}
	return ""
}

var palettes = [...]palette{
	Mono: {
		styles:   [styles]string{strong: "1", here: "1", alarm: "1", press: "1", caret: reverse},
		selected: reverse,
	},
	Sixteen: {
		styles: [styles]string{
			dim: "90", faint: "90", strong: "1", here: "1;96", press: "96",
			waits: "93", alarm: "1;93", approve: "95", live: "32", caret: reverse,
		},
		selected: reverse,
	},
	Dark: {
		styles: [styles]string{
			dim: "38;5;246", faint: "38;5;240", strong: "1", here: "1;38;5;75", press: "38;5;75",
			waits: "38;5;214", alarm: "1;38;5;214", approve: "38;5;183", live: "38;5;80", caret: reverse,
		},
		selected: "48;5;236", plain: "38;5;254",
	},
	Light: {
		styles: [styles]string{
			dim: "38;5;241", faint: "38;5;249", strong: "1", here: "1;38;5;25", press: "38;5;25",
			waits: "38;5;130", alarm: "1;38;5;130", approve: "38;5;91", live: "38;5;30", caret: reverse,
		},
		selected: "48;5;254", plain: "38;5;234",
	},
}

// glyphs are what the console draws of its own. Each is one cell wide, save
// the words at the end.
type glyphs struct {
	mark                                 string // of the selected row
	tail                                 string // ends what was cut
	rule, bar, space, split              string // lines; full and empty part of a bar; between panes
	branch, last, through, fold          string // the tree
	unknown, approval, exhausted, halted string // kinds of items
	ok, fail, flying, hold, done, open   string // attempts, operations, checks
	live, paused, dot, dash, marked      string
	arrow, updown, leftright, enter      string // may be wider than a cell
}

var unicodeGlyphs = glyphs{
	mark: "▸", tail: "…", rule: "─", bar: "▆", space: "·", split: "│",
	branch: "├", last: "└", through: "│", fold: "▹",
	unknown: "?", approval: "◇", exhausted: "▪", halted: "■",
	ok: "✓", fail: "✗", flying: "◌", hold: "◦", done: "·", open: "▾",
	live: "●", paused: "‖", dot: "·", dash: "–", marked: "•",
	arrow: "→", updown: "↑↓", leftright: "←→", enter: "⏎",
}

var asciiGlyphs = glyphs{
	mark: ">", tail: "~", rule: "-", bar: "#", space: ".", split: "|",
	branch: "|", last: "`", through: "|", fold: "+",
	unknown: "?", approval: "@", exhausted: "=", halted: "#",
	ok: "v", fail: "x", flying: "o", hold: "o", done: "-", open: "-",
	live: "*", paused: "=", dot: "-", dash: "-", marked: "*",
	arrow: "->", updown: "up/down", leftright: "left/right", enter: "enter",
}
