package views

// HelpView says what each key does in one place, and why some do nothing now.
type HelpView struct {
	Title    string
	Sections []HelpSection
	Top      int // the first row shown
}

// HelpSection is a group of keys.
type HelpSection struct {
	Name string
	Keys []Key
}

// Help draws the keys of a place.
func Help(p Page, v HelpView) string { return p.scrolled(v.Top, nil, p.help(v)) }

// HelpScroll returns how many rows a help has, and how many of them are seen
// at once.
func HelpScroll(p Page, v HelpView) (rows, seen int) { return len(p.help(v).rows), p.Body() }

func (p Page) help(v HelpView) *block {
	b := newBlock(p.Theme, p.Width, p.Height)
	b.help(v)
	return b
}

func (b *block) help(v HelpView) {
	const keyAt, doesAt = 3, 16
	b.gap(1)
	b.put(here, "keys")
	b.gap(2)
	b.put(strong, v.Title)
	b.end()
	for _, s := range v.Sections {
		b.blank(1)
		b.gap(1)
		b.put(dim, s.Name)
		b.end()
		for _, k := range s.Keys {
			look, does := press, text
			if k.Off != "" {
				look, does = faint, dim
			}
			name, n := b.keyName(k.Key)
			b.to(keyAt)
			b.own(look, name, min(n, b.rest()))
			if b.x >= doesAt {
				b.gap(1)
			}
			said := k.Does
			if k.Off != "" {
				said += " " + b.th.g.dash + " not now: " + k.Off
			}
			b.wrapped(doesAt, does, said)
		}
	}
}
