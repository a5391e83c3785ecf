package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"    //nolint:depguard // strict YAML is read by its nodes, as in fixtures; this file alone does it here
	"github.com/goccy/go-yaml/lexer"  //nolint:depguard // see above
	"github.com/goccy/go-yaml/parser" //nolint:depguard // see above
	"github.com/goccy/go-yaml/token"  //nolint:depguard // see above

	"tollgate/fixtures"
	"tollgate/gate"
	"tollgate/ui"
	"tollgate/views"
)

// filterLists are the lists that filters can be saved for.
var filterLists = []struct {
	name string
	list gate.FilterList
	of   func(*ui.Filters) *map[string]string
}{
	{"queue", gate.FilterQueue, func(f *ui.Filters) *map[string]string { return &f.Queue }},
	{"runs", gate.FilterRuns, func(f *ui.Filters) *map[string]string { return &f.Runs }},
	{"ledger", gate.FilterLedger, func(f *ui.Filters) *map[string]string { return &f.Ledger }},
}

// decodePreferences reads preferences. file is its name, for messages. An
// empty file, and one of comments alone, sets nothing.
//
// The error is a *fixtures.Error: one line with line and column.
func decodePreferences(file string, data []byte) (p ui.Preferences, err error) {
	d := &preferenceFile{file: file}
	where := map[string][]ast.Node{} // of the keys of each action; first the action itself
	word := func(into *string, words []string) func(ast.Node, string) {
		return func(n ast.Node, path string) { *into = d.word(n, path, words) }
	}
	flag := func(into *bool) func(ast.Node, string) {
		return func(n ast.Node, path string) { *into = d.flag(n, path) }
	}
	if root := d.root(data); root != nil {
		d.object(root, "", map[string]func(ast.Node, string){
			"theme":   word(&p.Theme, ui.Themes),
			"color":   word(&p.Color, ui.Colors),
			"landing": word(&p.Landing, ui.Landings),
			"ascii":   func(n ast.Node, path string) { p.ASCII = new(d.flag(n, path)) },
			"bell":    flag(&p.Bell),
			"mouse":   flag(&p.Mouse),
			"keys": func(n ast.Node, path string) {
				p.Keys = map[string][]string{}
				d.mapping(n, path, func(name string, key, val ast.Node, path string) {
					where[name] = []ast.Node{key}
					d.list(val, path, func(n ast.Node, path string) {
						where[name] = append(where[name], n)
						p.Keys[name] = append(p.Keys[name], d.text(n, path, 32))
					})
					if p.Keys[name] == nil {
						p.Keys[name] = []string{}
					}
				})
			},
			"filters": func(n ast.Node, path string) { d.filters(n, path, &p.Filters) },
		})
	}
	var wrong *ui.KeyError
	if d.err == nil && errors.As(ui.CheckKeys(p.Keys), &wrong) {
		d.fail(where[wrong.Action][wrong.At+1], "keys", wrong.Found, wrong.Want)
	}
	if d.err != nil {
		return ui.Preferences{}, d.err
	}
	return p, nil
}

func (d *preferenceFile) filters(n ast.Node, path string, f *ui.Filters) {
	lists := map[string]func(ast.Node, string){}
	for _, l := range filterLists {
		lists[l.name] = func(n ast.Node, path string) {
			saved := map[string]string{}
			d.mapping(n, path, func(name string, key, val ast.Node, path string) {
				if name == "" || len(name) > 64 || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' }) || views.Escape(name) != name {
					d.fail(key, path, "the name "+fmt.Sprintf("%q", name), "1 to 64 bytes without blanks")
				}
				saved[name] = d.filter(val, path, l.list)
			})
			*l.of(f) = saved
		}
	}
	d.object(n, path, lists)
}

// filter reads the text of a filter.
func (d *preferenceFile) filter(n ast.Node, path string, list gate.FilterList) string {
	text := d.text(n, path, gate.MaxFilter)
	var wrong *gate.FilterError
	if _, err := gate.ParseFilter(list, text); errors.As(err, &wrong) {
		d.fail(n, path, fmt.Sprintf("%s at byte %d of the filter", wrong.Got, wrong.At), wrong.Want)
	}
	return text
}

// preferenceFile reads one file. It keeps the first error only: everything
// after it is a no-op.
type preferenceFile struct {
	file string
	err  *fixtures.Error
}

func (d *preferenceFile) failAt(p *token.Position, path, found, want string) {
	if d.err == nil {
		d.err = &fixtures.Error{File: d.file, Line: p.Line, Column: p.Column, Path: path, Found: views.Escape(found), Want: want}
	}
}

func (d *preferenceFile) fail(n ast.Node, path, found, want string) {
	switch m := n.(type) {
	case *ast.MappingNode: // the token of a block mapping is its first colon
		if !m.IsFlowStyle && len(m.Values) > 0 {
			n = m.Values[0].Key
		}
	case *ast.MappingValueNode:
		n = m.Key
	}
	d.failAt(n.GetToken().Position, path, found, want)
}

// root returns the one document of the file, nil for an empty one.
func (d *preferenceFile) root(data []byte) ast.Node {
	line, column := 1, 1
	for rest := data; len(rest) > 0; column++ {
		r, n := utf8.DecodeRune(rest)
		if r == utf8.RuneError && n == 1 || r < ' ' && r != '\n' && r != '\t' && r != '\r' || r == 0x7f || r == 0xfeff {
			d.failAt(&token.Position{Line: line, Column: column}, "", fmt.Sprintf("the bytes %x", rest[:n]), "text in UTF-8, without control characters")
			return nil
		}
		if rest = rest[n:]; r == '\n' {
			line, column = line+1, 0
		}
	}
	tokens := lexer.Tokenize(string(data))
	open, entries := 0, 0 // brackets; dashes that begin lists within lists
	for _, t := range tokens {
		switch t.Type { //nolint:exhaustive // the others are read by the parser
		case token.MappingStartType, token.SequenceStartType:
			open++
		case token.MappingEndType, token.SequenceEndType:
			open--
		case token.SequenceEntryType:
			if entries++; t.Prev == nil || t.Prev.Type != token.SequenceEntryType {
				entries = 1
			}
		case token.AnchorType, token.AliasType, token.TagType, token.MergeKeyType, token.DirectiveType, token.MappingKeyType, token.InvalidType:
			d.failAt(t.Position, "", fmt.Sprintf("%q", t.Value), "plain values: no anchor, tag, merge or directive")
		}
		if open > 8 || entries > 8 { // the parser is recursive
			d.failAt(t.Position, "", "lists and mappings nested so deep", "what preferences have")
		}
		if d.err != nil {
			return nil
		}
	}
	docs := d.parse(tokens)
	switch {
	case d.err != nil || len(docs) == 0:
		return nil
	case len(docs) > 1:
		at := &token.Position{Line: 1, Column: 1}
		if start := docs[1].Start; start != nil {
			at = start.Position
		}
		d.failAt(at, "", "a second document", "the end of the file")
		return nil
	}
	if _, comment := docs[0].Body.(*ast.CommentGroupNode); comment {
		return nil
	}
	return docs[0].Body
}

// parse runs the YAML parser. A panic of the parser on some input is an error
// of that input.
func (d *preferenceFile) parse(tokens token.Tokens) (docs []*ast.DocumentNode) {
	at := &token.Position{Line: 1, Column: 1}
	if n := len(tokens); n > 0 {
		at = tokens[n-1].Position
	}
	defer func() {
		if recover() != nil {
			d.failAt(at, "", "something that is not YAML", "a YAML document")
		}
	}()
	// Duplicate keys are looked for by mapping, which names both places.
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err == nil {
		return file.Docs
	}
	message := err.Error()
	var syntax interface {
		GetToken() *token.Token
		GetMessage() string
	}
	if errors.As(err, &syntax) {
		message = syntax.GetMessage()
		if t := syntax.GetToken(); t != nil && t.Position != nil {
			at = t.Position
		}
	}
	d.failAt(at, "", "a syntax error ("+message+")", "a YAML document")
	return nil
}

// mapping reads a mapping whose keys are names, each once.
func (d *preferenceFile) mapping(n ast.Node, path string, each func(name string, key, val ast.Node, path string)) {
	if d.err != nil {
		return
	}
	var entries []*ast.MappingValueNode
	switch m := n.(type) {
	case *ast.MappingNode:
		entries = m.Values
	case *ast.MappingValueNode:
		entries = []*ast.MappingValueNode{m}
	default:
		d.fail(n, path, found(n), "a mapping")
		return
	}
	seen := map[string]*token.Position{}
	for _, e := range entries {
		name, ok := e.Key.(*ast.StringNode)
		if !ok {
			d.fail(e.Key, path, found(e.Key), "a name (in quotes if it looks like something else)")
			return
		}
		if first := seen[name.Value]; first != nil {
			d.fail(e.Key, path, fmt.Sprintf("the key %q again", name.Value), fmt.Sprintf("it once (the first is on line %d, column %d)", first.Line, first.Column))
		}
		if d.err != nil {
			return
		}
		seen[name.Value] = e.Key.GetToken().Position
		each(name.Value, e.Key, e.Value, strings.TrimPrefix(path+"."+views.Escape(name.Value), "."))
	}
}

// object reads a mapping with the given fields, and no others.
func (d *preferenceFile) object(n ast.Node, path string, known map[string]func(ast.Node, string)) {
	d.mapping(n, path, func(name string, key, val ast.Node, at string) {
		read, ok := known[name]
		if !ok {
			names := make([]string, 0, len(known))
			for name := range known {
				names = append(names, name)
			}
			slices.Sort(names)
			d.fail(key, path, fmt.Sprintf("the field %q", name), "one of "+strings.Join(names, ", "))
			return
		}
		read(val, at)
	})
}

func (d *preferenceFile) list(n ast.Node, path string, each func(n ast.Node, path string)) {
	l, ok := n.(*ast.SequenceNode)
	if !ok {
		d.fail(n, path, found(n), "a list")
		return
	}
	for i, e := range l.Values {
		each(e, fmt.Sprintf("%s[%d]", path, i))
	}
}

func (d *preferenceFile) flag(n ast.Node, path string) bool {
	b, ok := n.(*ast.BoolNode)
	if !ok || b.Token.Value != "true" && b.Token.Value != "false" {
		d.fail(n, path, found(n), "true or false")
		return false
	}
	return b.Value
}

// word reads one of some words, of which one looks like a number.
func (d *preferenceFile) word(n ast.Node, path string, words []string) string {
	s := ""
	switch n := n.(type) {
	case *ast.StringNode:
		s = n.Value
	case *ast.IntegerNode:
		s = n.Token.Value
	}
	if !slices.Contains(words, s) {
		d.fail(n, path, found(n), "one of "+strings.Join(words, ", "))
	}
	return s
}

// text reads a text of at most so many bytes. A key that is a digit needs no
// quotes.
func (d *preferenceFile) text(n ast.Node, path string, most int) string {
	s := ""
	switch n := n.(type) {
	case *ast.StringNode:
		s = n.Value
	case *ast.IntegerNode:
		s = n.Token.Value
	default:
		d.fail(n, path, found(n), "a text (in quotes if it looks like something else)")
		return ""
	}
	if s == "" || len(s) > most {
		d.fail(n, path, fmt.Sprintf("%d bytes", len(s)), fmt.Sprintf("1 to %d", most))
	}
	return s
}

// found says what stands in a file.
func found(n ast.Node) string {
	switch n := n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.NullNode:
		return "nothing"
	case *ast.LiteralNode:
		return "a text of several lines"
	default:
		return strings.TrimRight(views.Fit(fmt.Sprintf("%q", n.GetToken().Value), 60), " ")
	}
}
