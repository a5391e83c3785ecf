package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Bounds on one file. They keep what a hostile file can cost to some tens of
// megabytes; no file that a person reads comes near them.
const (
	MaxBytes  = 1 << 20 // of the file
	maxMarks  = 50_000  // commas, colons, dashes, brackets and lines: about as many values
	maxDepth  = 32      // of nested lists and mappings
	maxFields = 10_000  // of one list or mapping
)

// Error says what is wrong with a file, where, and what was expected. It is
// one line, whatever the file holds.
type Error struct {
	File string // its name; printed as Plain has it
	Place
	Found string
	Want  string
}

// Error implements error.
func (e *Error) Error() string {
	path := e.Path
	if path != "" {
		path += ": "
	}
	return fmt.Sprintf("%s:%d:%d: %sfound %s, expected %s", Plain(e.File), e.Line, e.Column, path, e.Found, e.Want)
}

// Place is a position in a file, with the path of the field that stands there.
type Place struct {
	Line   int    // from 1
	Column int    // from 1, in characters
	Path   string // such as "runs[0].calls[1].tries"; empty for the file itself
}

// Document is one file. It keeps the first error only, whoever finds it:
// everything after it is a no-op. It is for one goroutine.
type Document struct {
	file string
	bare bool     // the file has no bytes
	node ast.Node // nil without a value, and after an error
	err  *Error
}

// Parse reads the bytes of a file, any bytes. file is its name, for messages.
func Parse(file string, data []byte) *Document {
	d := &Document{file: file, bare: len(data) == 0}
	d.node = d.read(data)
	return d
}

// Empty reports whether the file was read and holds no value: it has no bytes,
// or blanks and comments alone.
func (d *Document) Empty() bool { return d.err == nil && d.node == nil }

// Root returns the top value, and fails an empty document: who takes one asks
// Empty before.
func (d *Document) Root() Value {
	start := Place{Line: 1, Column: 1}
	switch {
	case !d.Empty():
	case d.bare:
		d.Refuse(start, "an empty file", "a document")
	default:
		d.Refuse(start, "an empty document", "a mapping")
	}
	return Value{d: d, node: d.node}
}

// Err returns the first error, an *Error, or nil.
func (d *Document) Err() error {
	if d.err == nil {
		return nil // and not a nil *Error
	}
	return d.err
}

// Failed reports whether there has been an error.
func (d *Document) Failed() bool { return d.err != nil }

// Refuse fails the document at a place, unless it has failed before. found and
// want are printed as they are: what comes from the file goes through Quote or
// Plain first.
func (d *Document) Refuse(at Place, found, want string) {
	if d.err == nil {
		d.err = &Error{File: d.file, Place: at, Found: found, Want: want}
	}
}

// read returns the top node of the one document that the file is.
func (d *Document) read(data []byte) ast.Node {
	data = d.text(data)
	if d.err != nil {
		return nil
	}
	tokens := lexer.Tokenize(string(data))
	if d.shape(tokens, data); d.err != nil {
		return nil
	}
	docs := d.parse(tokens)
	for _, doc := range docs {
		if n, ok := doc.Body.(*ast.DirectiveNode); ok {
			d.Refuse(positionOf(n), "a directive", "a document without one")
		}
	}
	if len(docs) > 1 {
		at := Place{Line: 1, Column: 1}
		if start := docs[1].Start; start != nil {
			at = Place{Line: start.Position.Line, Column: start.Position.Column}
		}
		d.Refuse(at, "a second document", "the end of the file")
	}
	if d.err != nil || len(docs) == 0 {
		return nil
	}
	return docs[0].Body
}

// text checks that the file is text that YAML can hold, and returns it with
// line feeds as its line ends.
func (d *Document) text(data []byte) []byte {
	start := Place{Line: 1, Column: 1}
	switch {
	case len(data) > MaxBytes:
		d.Refuse(start, fmt.Sprintf("%d bytes", len(data)), fmt.Sprintf("at most %d", MaxBytes))
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		d.Refuse(start, "a byte order mark", "UTF-8 without one")
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")),
		len(data) >= 2 && (data[0] == 0) != (data[1] == 0):
		d.Refuse(start, "UTF-16", "UTF-8")
	}
	if d.err != nil {
		return nil
	}
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	line, column, marks := 1, 1, 0
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		at := Place{Line: line, Column: column}
		switch {
		case r == utf8.RuneError && n == 1:
			d.Refuse(at, fmt.Sprintf("the byte 0x%02x", data[i]), "UTF-8")
		case r == '\r':
			d.Refuse(at, "a carriage return by itself", "a line feed, or both")
		case r < ' ' && r != '\t' && r != '\n', r == 0x7f:
			d.Refuse(at, fmt.Sprintf("the control character 0x%02x", r), "text")
		case r == '\n', strings.ContainsRune(",:-?[]{}&*!", r):
			if marks++; marks > maxMarks {
				d.Refuse(at, fmt.Sprintf("more than %d values", maxMarks), "a smaller file")
			}
		}
		if d.err != nil {
			return nil
		}
		i, column = i+n, column+1
		if r == '\n' {
			line, column = line+1, 1
		}
	}
	return data
}

// parse runs the YAML parser. A panic of the parser on some input is an error
// of that input.
func (d *Document) parse(tokens token.Tokens) (docs []*ast.DocumentNode) {
	last := Place{Line: 1, Column: 1}
	if len(tokens) > 0 {
		p := tokens[len(tokens)-1].Position
		last = Place{Line: p.Line, Column: p.Column}
	}
	defer func() {
		if r := recover(); r != nil {
			d.Refuse(last, "something that is not YAML", "a YAML document")
		}
	}()
	// Duplicate keys are looked for by Value.Named, which names both places.
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		at, message := last, err.Error()
		var syntax interface {
			GetToken() *token.Token
			GetMessage() string
		}
		if errors.As(err, &syntax) {
			message = syntax.GetMessage()
			if t := syntax.GetToken(); t != nil && t.Position != nil {
				at = Place{Line: t.Position.Line, Column: t.Position.Column}
			}
		}
		d.Refuse(at, "a syntax error ("+Plain(message)+")", "a YAML document")
		return nil
	}
	return file.Docs
}

// positionOf returns where a node begins.
func positionOf(n ast.Node) Place {
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		n = m.Values[0].Key // the token of a block mapping is its first colon
	}
	if m, ok := n.(*ast.MappingValueNode); ok {
		n = m.Key
	}
	p := n.GetToken().Position
	return Place{Line: p.Line, Column: p.Column}
}
