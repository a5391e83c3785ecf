package strictyaml

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// Value is one value of a file, with the path that leads to it. Its methods
// read it as one type and fail its document on any other; once the document has
// failed they return zero values and call nothing.
type Value struct {
	d    *Document
	node ast.Node
	path string
}

// Fields says how each field of a mapping is read.
type Fields map[string]func(Value)

// Document returns the file that the value stands in.
func (v Value) Document() *Document { return v.d }

// Failed reports whether the document has failed, here or anywhere.
func (v Value) Failed() bool { return v.d.err != nil }

// At returns the value under another path, for a fault in what is around it.
func (v Value) At(path string) Value {
	v.path = path
	return v
}

// Place returns where the value begins.
func (v Value) Place() Place {
	if v.node == nil { // the root of a document that failed
		return Place{Line: 1, Column: 1, Path: v.path}
	}
	p := positionOf(v.node)
	p.Path = v.path
	return p
}

// Fail fails the document at the value, which is not what was expected.
func (v Value) Fail(want string) {
	if v.d.err == nil {
		v.d.Refuse(v.Place(), describe(v.node), want)
	}
}

// Refuse fails the document at the value, for what is wrong in its context.
// found and want are as for Document.Refuse.
func (v Value) Refuse(found, want string) { v.d.Refuse(v.Place(), found, want) }

func (v Value) field(name string) string {
	if v.path == "" {
		return name
	}
	return v.path + "." + name
}

// entries returns the keys and values of a mapping, in the order of the file.
func (v Value) entries(want string) []*ast.MappingValueNode {
	if v.d.err != nil {
		return nil
	}
	switch n := v.node.(type) {
	case *ast.MappingNode:
		return n.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}
	default:
		v.Fail(want)
		return nil
	}
}

// Named reads a mapping whose keys are names, each once, in the order of the
// file. A key has the path of its value.
func (v Value) Named(each func(name string, key, val Value)) {
	seen := map[string]Place{}
	for _, e := range v.entries("a mapping") {
		key := Value{v.d, e.Key, v.path}
		name := key.key()
		if first, ok := seen[name]; ok {
			key.Refuse(fmt.Sprintf("the key %s again", Quote(name)), fmt.Sprintf("it once (the first is on line %d, column %d)", first.Line, first.Column))
		}
		if v.d.err != nil {
			return
		}
		key.path = v.field(name)
		if !plainName(name) {
			key.path = v.field(Quote(name))
		}
		seen[name] = key.Place()
		each(name, key, Value{v.d, e.Value, key.path})
	}
}

const digits = "0123456789"

// plainName reports whether a name can stand in a path without quotes.
func plainName(s string) bool {
	const of = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" + digits + "_./:@+=#,~-"
	return s != "" && len(s) <= 128 && strings.Trim(s, of) == ""
}

// Object reads a mapping with the given fields, and no others, of which some
// are required. It returns where they stand.
func (v Value) Object(known Fields, required ...string) Places {
	found := Places{}
	if v.d.err == nil {
		found[""] = v.Place()
	}
	v.Named(func(name string, key, val Value) {
		read, ok := known[name]
		if !ok {
			key.At(v.path).Refuse("the field "+Quote(name), "one of "+strings.Join(slices.Sorted(maps.Keys(known)), ", "))
			return
		}
		found[name] = val.Place()
		read(val)
	})
	for _, name := range required {
		if _, ok := found[name]; v.d.err == nil && !ok {
			v.Refuse("no field "+name, "it to be given")
		}
	}
	return found
}

// Places says where the fields of a mapping stand; "" is the mapping itself.
type Places map[string]Place

// Of returns where a field stands, or else where it would.
func (p Places) Of(field string) Place {
	if at, ok := p[field]; ok {
		return at
	}
	at := p[""]
	at.Path += "." + field
	return at
}

// List reads a list; i counts from 0.
func (v Value) List(each func(i int, v Value)) {
	if v.d.err != nil {
		return
	}
	n, ok := v.node.(*ast.SequenceNode)
	if !ok {
		v.Fail("a list")
		return
	}
	for i, e := range n.Values {
		if v.d.err != nil {
			return
		}
		each(i, Value{v.d, e, fmt.Sprintf("%s[%d]", v.path, i)})
	}
}

// key reads the key of a mapping.
func (v Value) key() string {
	if n, ok := v.node.(*ast.StringNode); ok {
		return n.Value
	}
	v.Fail("a name (in quotes if it looks like something else)")
	return ""
}

// IsNull reports whether the value is written as null, or left empty.
func (v Value) IsNull() bool {
	_, ok := v.node.(*ast.NullNode)
	return ok
}

// Str reads a string. What looks like a number or a truth needs quotes. want
// says what was expected of anything else.
func (v Value) Str(want string) string {
	if v.d.err != nil {
		return ""
	}
	switch n := v.node.(type) {
	case *ast.StringNode:
		if isJSONNumber(n) {
			break
		}
		return n.Value
	case *ast.LiteralNode:
		return n.Value.Value
	}
	v.Fail(want)
	return ""
}

// Text reads a string of at most limit bytes, without a NUL.
func (v Value) Text(limit int) string {
	s := v.Str("a text (in quotes if it looks like something else)")
	if len(s) > limit {
		v.Refuse(fmt.Sprintf("%d bytes", len(s)), fmt.Sprintf("at most %d", limit))
	}
	if strings.ContainsRune(s, 0) {
		v.Refuse("a NUL", "text")
	}
	return s
}

// Line returns a string on one line, or a whole number as it is written, and
// whether the value is one of them. It fails nothing.
func (v Value) Line() (string, bool) {
	switch n := v.node.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.IntegerNode:
		return n.Token.Value, true
	default:
		return "", false
	}
}

// Flag reads true or false, in no other spelling.
func (v Value) Flag() bool {
	if v.d.err != nil {
		return false
	}
	if n, ok := v.node.(*ast.BoolNode); ok && (n.Token.Value == "true" || n.Token.Value == "false") {
		return n.Value
	}
	v.Fail("true or false")
	return false
}

// Count reads a whole number from least to most, in decimal digits.
func (v Value) Count(least, most int64) int64 {
	if v.d.err != nil {
		return 0
	}
	want := fmt.Sprintf("a whole number from %d to %d", least, most)
	s, ok := v.Number()
	n, err := strconv.ParseInt(s, 10, 64)
	if !ok || err != nil || s != strconv.FormatInt(n, 10) || n < least || n > most {
		v.Fail(want)
		return 0
	}
	return n
}

// Share reads a number from 0 to 1.
func (v Value) Share() float64 {
	if v.d.err != nil {
		return 0
	}
	s, ok := v.Number()
	n, err := strconv.ParseFloat(s, 64)
	if !ok || !jsonNumber(s) || err != nil || n < 0 || n > 1 {
		v.Fail("a number from 0 to 1")
		return 0
	}
	return n
}

// Number returns a number as it is written, and whether the value is one. It
// fails nothing.
func (v Value) Number() (string, bool) {
	switch n := v.node.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
		return strings.TrimSpace(n.GetToken().Value), true
	case *ast.StringNode:
		return n.Value, isJSONNumber(n)
	default:
		return "", false
	}
}

// Raw reads any value as JSON.
func (v Value) Raw() []byte {
	tree := v.Any()
	if v.d.err != nil {
		return nil
	}
	b, err := json.Marshal(tree)
	if err != nil {
		v.Fail("a value that JSON can hold")
	}
	return b
}

// Any reads any value as encoding/json would: nil, bool, json.Number, string,
// map[string]any or []any.
func (v Value) Any() any {
	if v.d.err != nil {
		return nil
	}
	switch n := v.node.(type) {
	case *ast.NullNode:
		return nil
	case *ast.BoolNode:
		return v.Flag()
	case *ast.MappingNode, *ast.MappingValueNode:
		m := map[string]any{}
		v.Named(func(name string, _, val Value) { m[name] = val.Any() })
		return m
	case *ast.SequenceNode:
		l := make([]any, 0, len(n.Values))
		v.List(func(_ int, e Value) { l = append(l, e.Any()) })
		return l
	case *ast.LiteralNode:
		return n.Value.Value
	case *ast.StringNode:
		if !isJSONNumber(n) {
			return n.Value
		}
	}
	if s, ok := v.Number(); ok && jsonNumber(s) {
		return json.Number(s)
	}
	v.Fail("a value that JSON can hold")
	return nil
}

// jsonNumber reports whether a text is a number in JSON, and nothing else.
func jsonNumber(s string) bool {
	return s != "" && strings.Contains("-"+digits, s[:1]) && strings.Contains(digits, s[len(s)-1:]) && json.Valid([]byte(s))
}

// isJSONNumber reports whether a scalar without quotes is a number in JSON
// although the YAML parser takes it for a string, as it does for 1e3 and for
// twenty digits.
func isJSONNumber(n *ast.StringNode) bool {
	return n.Token != nil && n.Token.Type != token.SingleQuoteType && n.Token.Type != token.DoubleQuoteType &&
		jsonNumber(n.Value)
}
