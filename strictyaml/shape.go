package strictyaml

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/goccy/go-yaml/token"
)

// shape bounds how deep lists and mappings are nested and how many fields one
// has, before the parser, which is recursive and compares each key with every
// other, sees them. It also refuses the escapes that stand for no character:
// the lexer would put another one in their place.
func (d *Document) shape(tokens token.Tokens, data []byte) {
	type open struct {
		column int // of a block collection; 0 for one in brackets
		list   bool
		fields int
	}
	var stack []open
	source := cursor{data, Place{Line: 1, Column: 1}}
	push := func(o open, at Place) {
		if stack = append(stack, o); len(stack) > maxDepth {
			d.Refuse(at, fmt.Sprintf("lists and mappings nested %d deep", len(stack)), fmt.Sprintf("at most %d", maxDepth))
		}
	}
	for _, t := range tokens {
		at := Place{Line: t.Position.Line, Column: t.Position.Column}
		bracketed := len(stack) > 0 && stack[len(stack)-1].column == 0
		column := at.Column
		if t.Type == token.MappingValueType && t.Prev != nil {
			column = t.Prev.Position.Column
		}
		switch t.Type { //nolint:exhaustive // the others open nothing
		case token.DoubleQuoteType:
			if strings.ContainsRune(t.Value, utf8.RuneError) {
				if source.seek(at); halfPair(source.rest) {
					d.Refuse(at, "half of a surrogate pair", "text")
				}
			}
		case token.MappingStartType, token.SequenceStartType:
			push(open{}, at)
		case token.MappingEndType, token.SequenceEndType:
			if bracketed {
				stack = stack[:len(stack)-1]
			}
		case token.SequenceEntryType, token.MappingValueType, token.MappingKeyType:
			if list := t.Type == token.SequenceEntryType; !bracketed {
				for len(stack) > 0 {
					top := stack[len(stack)-1]
					if top.column < column || top.column == column && (top.list == list || !top.list) {
						break
					}
					stack = stack[:len(stack)-1]
				}
				if len(stack) == 0 || stack[len(stack)-1].column != column || stack[len(stack)-1].list != list {
					push(open{column: column, list: list}, at)
				}
			}
			if len(stack) > 0 {
				top := &stack[len(stack)-1]
				if top.fields++; top.fields > maxFields {
					d.Refuse(at, fmt.Sprintf("more than %d entries", maxFields), "fewer in one list or mapping")
				}
			}
		}
		if d.err != nil {
			return
		}
	}
}

// cursor is a place in a file, with what stands from there on.
type cursor struct {
	rest []byte
	Place
}

// seek goes on to a later place.
func (c *cursor) seek(at Place) {
	for len(c.rest) > 0 && (c.Line < at.Line || c.Line == at.Line && c.Column < at.Column) {
		r, n := utf8.DecodeRune(c.rest)
		c.rest = c.rest[n:]
		if c.Column++; r == '\n' {
			c.Line, c.Column = c.Line+1, 1
		}
	}
}

// halfPair reports whether the text in double quotes that b begins with
// escapes one half of a surrogate pair without the other.
func halfPair(b []byte) bool {
	for i := 1; i < len(b) && b[i] != '"'; i++ {
		if b[i] != '\\' {
			continue
		}
		i++ // what is escaped
		first, n := escaped(b[i:])
		if i += n; !utf16.IsSurrogate(first) {
			continue
		}
		second, n := rune(0), 0
		if i+1 < len(b) && b[i+1] == '\\' {
			second, n = escaped(b[i+2:])
		}
		if utf16.DecodeRune(first, second) == utf8.RuneError {
			return true
		}
		i += 2 + n
	}
	return false
}

// escaped reads uXXXX and UXXXXXXXX and returns how many digits there were, 0
// for anything else.
func escaped(b []byte) (r rune, digits int) {
	if len(b) == 0 || b[0] != 'u' && b[0] != 'U' {
		return 0, 0
	}
	if digits = 4; b[0] == 'U' {
		digits = 8
	}
	n, err := strconv.ParseUint(string(b[1:min(1+digits, len(b))]), 16, 31)
	if err != nil {
		return 0, 0
	}
	return rune(n), digits
}
