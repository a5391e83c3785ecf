package gate

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ParseFilter reads the filter of a list from its text: terms between blanks.
//
//	name:value    the value is the whole of what the row has by that name
//	value         the value is a part of any of the row's names
//	!term         the row does not match the term
//
// Case does not count. In a value * stands for any text, also for none. A value
// in double quotes may hold blanks and, without a name, colons; there \", \\
// and \* stand for those characters themselves. The names of a list are those
// of FilterList.Names. The value of since is a span before now.
//
// The empty text is the zero Filter. The error is a *FilterError.
func ParseFilter(list FilterList, text string) (Filter, error) {
	p := filterParser{list: list, text: text}
	if len(text) > MaxFilter {
		return Filter{}, p.wrong(MaxFilter, fmt.Sprintf("at most %d bytes", MaxFilter), fmt.Sprintf("%d", len(text)))
	}
	for i := range text {
		if _, n := utf8.DecodeRuneInString(text[i:]); n == 1 && text[i] >= utf8.RuneSelf {
			return Filter{}, p.wrong(i, "UTF-8", shown(text[i:]))
		}
	}
	var f Filter
	for p.blanks(); !p.ended(); p.blanks() {
		t, err := p.term()
		if err != nil {
			return Filter{}, err
		}
		f = Filter{list, append(f.terms, t)}
	}
	return f, nil
}

// filterParser reads terms. at is where it stands in the text.
type filterParser struct {
	list FilterList
	text string
	at   int
}

func (p *filterParser) ended() bool { return p.at == len(p.text) }

func (p *filterParser) blanks() {
	p.at = len(p.text) - len(strings.TrimLeftFunc(p.text[p.at:], unicode.IsSpace))
}

func (p *filterParser) wrong(at int, want, got string) error {
	return &FilterError{At: at, Want: want, Got: got}
}

func (p *filterParser) term() (t filterTerm, err error) {
	if p.text[p.at] == '!' {
		t.not = true
		p.at++
	}
	var name filterName
	begin, rest := p.at, p.text[p.at:]
	if i := strings.IndexFunc(rest, endsName); i >= 0 && rest[i] == ':' {
		var ok bool
		if name, ok = p.list.named(strings.ToLower(rest[:i])); !ok {
			return t, p.wrong(begin, "one of the names "+strings.Join(p.list.Names(), ", "), shown(rest[:i]))
		}
		t.name = name.name
		p.at += i + 1
	}
	begin = p.at
	if t.text, err = p.value(name); err != nil {
		return t, err
	}
	return t, p.check(&t, name, begin)
}

func endsName(r rune) bool { return r == ':' || r == '"' || unicode.IsSpace(r) }

// check checks a value against what there is by its name.
func (p *filterParser) check(t *filterTerm, name filterName, begin int) error {
	got := shown(strings.Join(t.text.parts, "*"))
	switch {
	case name.span:
		var ok bool
		if t.span, ok = parseSpan(strings.Join(t.text.parts, "*")); !ok {
			return p.wrong(begin, spanWanted, got)
		}
	case name.words != nil && !slices.ContainsFunc(name.words, func(w string) bool { return t.text.is(w) }):
		return p.wrong(begin, "one of "+strings.Join(name.words, ", "), got)
	}
	return nil
}

// value reads a value, in quotes or up to the next blank.
func (p *filterParser) value(name filterName) (pattern, error) {
	rest := p.text[p.at:]
	first, _ := utf8.DecodeRuneInString(rest)
	switch {
	case rest == "" || unicode.IsSpace(first):
		return pattern{}, p.wrong(p.at, name.wanted(), "nothing")
	case first == '!':
		return pattern{}, p.wrong(p.at, "! only once, before the term, or the text in quotes", shown(rest))
	case first == '"':
		return p.quoted()
	}
	end := strings.IndexFunc(rest, unicode.IsSpace)
	if end < 0 {
		end = len(rest)
	}
	if i := strings.IndexByte(rest[:end], '"'); i >= 0 {
		return pattern{}, p.wrong(p.at+i, "quotes around the whole value", shown(rest[i:]))
	}
	p.at += end
	return patternOf(strings.Split(rest[:end], "*")...), nil
}

// quoted reads a value in quotes.
func (p *filterParser) quoted() (pattern, error) {
	begin := p.at
	parts := []string{""}
	last := &parts[0]
	for p.at++; !p.ended(); p.at++ {
		switch p.text[p.at] {
		case '"':
			p.at++
			if next, _ := utf8.DecodeRuneInString(p.text[p.at:]); !p.ended() && !unicode.IsSpace(next) {
				return pattern{}, p.wrong(p.at, "a blank after the quote", shown(p.text[p.at:]))
			}
			return patternOf(parts...), nil
		case '*':
			parts = append(parts, "")
			last = &parts[len(parts)-1]
		case '\\':
			p.at++
			if p.ended() || !strings.ContainsRune(escapable, rune(p.text[p.at])) {
				return pattern{}, p.wrong(p.at-1, `one of \" \\ \*`, shown(p.text[p.at-1:]))
			}
			*last += p.text[p.at : p.at+1]
		default:
			*last += p.text[p.at : p.at+1]
		}
	}
	return pattern{}, p.wrong(len(p.text), fmt.Sprintf("the quote that ends what begins at byte %d", begin), "nothing")
}
