package views

import "time"

// The smallest terminal that a screen is drawn on. On a smaller one the
// program takes no verbs.
const (
	LeastWidth  = 40
	LeastHeight = 10
)

// Page is what every screen has in common: the size and look of the terminal,
// the time, what stands above and below. A screen drawn on a Page has exactly
// Height rows, none wider than Width cells.
type Page struct {
	Width, Height int
	Theme         *Theme
	Now           time.Time // UTC
	Header        Header
	Notice        Notice
	Keys          []Key // of this place; those that are off are left away here and explained by Help
}

// Key is a key and what it does here.
type Key struct {
	Key  string // as printed: "c", "ctrl+s", "up/down", "enter"
	Does string
	Off  string // why it does nothing now; empty when it works
	Kept bool   // it is printed even where others have to go
}

// Notice is one line of news above the keys. It never asks for anything: it
// may name a key that does.
type Notice struct {
	Text string
	Tone Tone
	Key  Key    // such as R, takes them in
	Side string // at the right edge, such as "1-18 of 212"

	// What is wrong with the text at a byte of it, said loud in place of the
	// keys, under that place; on a page with few rows it follows the text.
	Under string
	At    int
}

// Tone says how loud a notice is.
type Tone uint8

// The tones.
const (
	Quiet Tone = iota
	Good       // done
	Loud       // waits, refused, gone
)

func (t Tone) style() style {
	switch t {
	case Good:
		return live
	case Loud:
		return waits
	case Quiet:
	}
	return dim
}

// TooSmall reports whether a terminal is too small for any screen.
func TooSmall(width, height int) bool { return width < LeastWidth || height < LeastHeight }

// low reports whether the terminal has few rows, so that what can be told
// twice is told once.
func (p Page) low() bool { return p.Height < 16 }

// Body returns the rows between the header and the keys.
func (p Page) Body() int { return max(0, p.Height-p.headRows()-p.footRows()) }

func (p Page) headRows() int { return 3 }

func (p Page) footRows() int {
	if p.low() {
		return 2
	}
	return 3
}

// draw puts a screen together: header, what body draws, keys.
func (p Page) draw(body func(b *block, rows int)) string {
	b := newBlock(p.Theme, p.Width, p.Height)
	switch {
	case p.Width < 1 || p.Height < 1:
		return ""
	case TooSmall(p.Width, p.Height):
		b.put(text, "too small")
		b.end()
		if p.Height > 1 {
			b.put(dim, "at least 40x10")
			b.end()
		}
	default:
		b.header(p.Header, p.Now)
		b.rule()
		body(b, p.Body())
		b.keep(p.headRows() + p.Body())
		b.blank(p.headRows() + p.Body() - len(b.rows))
		b.foot(p)
	}
	b.keep(p.Height)
	b.blank(p.Height - len(b.rows))
	return b.String()
}

// Blank draws a page with nothing in its body.
func Blank(p Page) string { return p.draw(func(*block, int) {}) }

// foot appends the rule, the notice and the keys.
func (b *block) foot(p Page) {
	b.rule()
	if n := p.Notice; !p.low() || n.Text != "" {
		if p.low() && n.Under != "" {
			n.Text, n.Tone, n.Key = n.Text+"  "+n.Under, Loud, Key{}
		}
		b.gap(1)
		side, need := Width(n.Side), b.measure(n.Text, b.width)
		if n.Key.Key != "" {
			need += len("  ") + Width(n.Key.Key) + len(" ") + Width(n.Key.Does)
		}
		if side > 0 && need+side+2 < b.rest() { // else what is new goes before
			room := newBlock(b.th, b.width-b.x-side-2, 1)
			room.notice(n)
			b.add(room, 0)
			b.gap(1)
			b.put(dim, n.Side)
			b.end()
		} else {
			b.notice(n)
		}
	}
	switch {
	case p.low() && p.Notice.Text != "":
	case p.Notice.Under != "":
		b.under(p.Notice)
	default:
		b.keys(p.Keys)
	}
}

func (b *block) notice(n Notice) {
	b.put(n.Tone.style(), n.Text)
	if n.Key.Key != "" {
		b.gap(2)
		b.put(press, n.Key.Key)
		b.gap(1)
		b.put(dim, n.Key.Does)
	}
	b.end()
}

// under appends what is wrong with a notice, with a caret under the place when
// there is room for both.
func (b *block) under(n Notice) {
	b.gap(1)
	if at := b.measure(n.Text[:n.At], b.width); at+len("^ ")+len(n.Under) < b.rest() {
		b.gap(at)
		b.put(waits, "^ ")
	}
	b.put(waits, n.Under)
	b.end()
}

// keys appends the keys that fit whole, in their order; those that are kept go
// before all others.
func (b *block) keys(keys []Key) {
	apart, whole, kept := 3, 0, 0
	cells := make([]int, len(keys))
	for i, k := range keys {
		if k.Off != "" {
			continue
		}
		_, n := b.keyName(k.Key)
		cells[i] = n + 1 + Width(k.Does)
		whole += cells[i] + apart
	}
	b.gap(1)
	if whole-apart > b.rest() {
		apart = 2
	}
	for i, k := range keys {
		if k.Kept && cells[i] > 0 {
			kept += cells[i] + apart
		}
	}
	for i, k := range keys {
		if cells[i] == 0 {
			continue
		}
		if k.Kept {
			kept -= cells[i] + apart
		}
		if cells[i]+kept > b.rest() {
			continue // a shorter one may still fit
		}
		name, n := b.keyName(k.Key)
		b.own(press, name, n)
		b.gap(1)
		b.put(dim, k.Does)
		b.gap(apart)
	}
	b.end()
}

// keyName returns how a key is printed, and its cells.
func (b *block) keyName(key string) (string, int) {
	switch key {
	case "up/down":
		key = b.th.g.updown
	case "left/right":
		key = b.th.g.leftright
	case "enter":
		key = b.th.g.enter
	}
	return key, Width(key)
}

// scrolled draws a page whose body may be longer than there is room for. head
// stays; nil is none.
func (p Page) scrolled(top int, head, body *block) string {
	room := p.Body()
	if head != nil {
		room -= len(head.rows)
	}
	top = max(0, min(top, len(body.rows)-room))
	if seen := min(room, len(body.rows)-top); len(body.rows) > room && seen > 0 {
		p.Notice.Side = "rows " + itoa(int64(top+1)) + "-" + itoa(int64(top+seen)) + " of " + itoa(int64(len(body.rows)))
	}
	return p.draw(func(b *block, _ int) {
		if head != nil {
			b.append(head, 0)
		}
		b.append(body, top)
	})
}
