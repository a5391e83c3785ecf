package api

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"tollgate/gate"
)

// maxDepth bounds how deep a body may nest.
const maxDepth = 64

// decode reads a body into a struct: one JSON object and nothing after it, in
// UTF-8, with no key twice, no key that the struct does not name exactly, no
// null but inside an input, and each value of its field's type. encoding/json
// lets most of these pass, and does not say where the others stand.
//
// The error is an *gate.InputError, and then into is not to be used.
func decode(body []byte, into any) error {
	if err := newWalker("body", body).walk(reflect.TypeOf(into).Elem(), "", 0); err != nil {
		return err
	}
	err := json.Unmarshal(body, into)
	var input *gate.InputError
	switch {
	case errors.As(err, &input):
		return input
	case err != nil:
		return &gate.InputError{Field: "body", Want: "JSON", Got: short(err.Error())}
	}
	return nil
}

// CheckInput says what is wrong with the input of an ask before it is sent, as
// the gate would say it, but with positions in the input and not in a body. Of
// its size it says nothing. The error is an *gate.InputError.
func CheckInput(input []byte) error {
	return newWalker("input", input).walk(nil, "input", 1)
}

// walker looks at the values of a text beside the type that they are read into.
type walker struct {
	what string // the text as a whole, in an error
	text []byte
	dec  *json.Decoder
}

func newWalker(what string, text []byte) *walker {
	w := &walker{what, text, json.NewDecoder(bytes.NewReader(text))}
	w.dec.UseNumber()
	return w
}

// walk checks that the text is one value, which stands at a place and a depth.
func (w *walker) walk(t reflect.Type, at string, depth int) error {
	switch i, lone := badText(w.text); {
	case lone:
		return w.wrong("", "whole surrogate pairs", fmt.Sprintf("a lone surrogate at byte %d", i))
	case i >= 0:
		return w.wrong("", "UTF-8", fmt.Sprintf("something else at byte %d", i))
	case bytes.HasPrefix(w.text, []byte("\ufeff")):
		return w.wrong("", "JSON", "a byte order mark at byte 0")
	}
	if err := w.value(t, at, depth); err != nil {
		return err
	}
	end := w.dec.InputOffset()
	if rest := bytes.TrimLeft(w.text[end:], " \t\r\n"); len(rest) > 0 {
		return w.wrong("", "one JSON value", fmt.Sprintf("something after it at byte %d", len(w.text)-len(rest)))
	}
	return nil
}

// wrong is what is wrong with the value at a place; "" is the whole text.
func (w *walker) wrong(at, want, got string) error {
	if at == "" {
		at = w.what
	}
	return &gate.InputError{Field: short(at), Want: want, Got: short(got)}
}

// next returns where the next token begins.
func (w *walker) next() int {
	return len(w.text) - len(bytes.TrimLeft(w.text[w.dec.InputOffset():], " \t\r\n,:"))
}

// value checks the next value. t is nil where anything may stand.
func (w *walker) value(t reflect.Type, at string, depth int) error {
	if depth > maxDepth {
		return w.wrong(at, fmt.Sprintf("at most %d levels", maxDepth), fmt.Sprintf("more at byte %d", w.next()))
	}
	t = shape(t)
	token, err := w.dec.Token()
	if err != nil {
		return w.broken(err)
	}
	if token == nil && at == "" {
		return w.wrong("", "an object", "null")
	}
	if t != nil {
		if want, got := misfit(t, token); want != "" {
			return w.wrong(at, want, got)
		}
	}
	switch token {
	case json.Delim('{'):
		return w.object(t, at, depth)
	case json.Delim('['):
		var of reflect.Type
		if t != nil {
			of = t.Elem()
		}
		for i := 0; w.dec.More(); i++ {
			if err := w.value(of, fmt.Sprintf("%s[%d]", at, i), depth+1); err != nil {
				return err
			}
		}
		_, err := w.dec.Token()
		return w.broken(err)
	}
	return nil
}

// misfit says what a type wants in place of the value that a token begins;
// nothing where that is right.
func misfit(t reflect.Type, token json.Token) (want, got string) {
	got = called(token)
	switch {
	case token == nil:
		want = "a value, or nothing at all"
	case t == reflect.TypeFor[span]():
		return misspelt(new(span), "a duration such as 30s", token)
	case t == reflect.TypeFor[time.Time]():
		return misspelt(new(time.Time), "an instant such as 2026-01-05T09:00:00Z", token)
	case reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		want = "a string"
	case t.Kind() == reflect.Bool:
		want = "true or false"
	case t.Kind() == reflect.Int64, t.Kind() == reflect.Int:
		want = "a whole number"
		if n, ok := token.(json.Number); ok {
			got = n.String()
			if _, err := strconv.ParseInt(got, 10, 64); err == nil {
				return "", ""
			}
		}
	case t.Kind() == reflect.Struct, t.Kind() == reflect.Map:
		want = "an object"
	case t.Kind() == reflect.Slice:
		want = "a list"
	default:
		want = "a string"
	}
	if want == got {
		return "", ""
	}
	return want, got
}

// misspelt is misfit for a value that is written as a text and stands for
// something else: the decoder would not say which field it was in.
func misspelt(into encoding.TextUnmarshaler, want string, token json.Token) (string, string) {
	text, ok := token.(string)
	if !ok {
		return want, called(token)
	}
	if err := into.UnmarshalText([]byte(text)); err != nil {
		return want, strconv.Quote(text)
	}
	return "", ""
}

// called names a JSON value by its first token.
func called(token json.Token) string {
	switch token := token.(type) {
	case nil:
		return "null"
	case json.Delim:
		if token == '{' {
			return "an object"
		}
		return "a list"
	case string:
		return "a string"
	case bool:
		return "true or false"
	default:
		return "a number"
	}
}

func (w *walker) object(t reflect.Type, at string, depth int) error {
	fields := fieldsOf(t)
	seen := map[string]bool{}
	for w.dec.More() {
		start := w.next()
		token, err := w.dec.Token()
		if err != nil {
			return w.broken(err)
		}
		key, _ := token.(string)
		name := key
		if at != "" {
			name = at + "." + key
		}
		of := fields[key]
		switch {
		case seen[key]:
			return w.wrong(name, "a key once", fmt.Sprintf("twice, again at byte %d", start))
		case fields != nil && of == nil:
			return w.wrong(at, "only "+strings.Join(slices.Sorted(maps.Keys(fields)), ", "), strconv.Quote(key))
		case fields == nil && t != nil && t.Kind() == reflect.Map:
			of = t.Elem()
		}
		seen[key] = true
		if err := w.value(of, name, depth+1); err != nil {
			return err
		}
	}
	_, err := w.dec.Token()
	return w.broken(err)
}

// broken makes an error of the decoder ours; nil stays nil.
func (w *walker) broken(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return w.wrong("", "one JSON value", fmt.Sprintf("its end at byte %d", len(w.text)))
	default:
		return w.wrong("", "JSON", fmt.Sprintf("%s after byte %d", err, w.dec.InputOffset()))
	}
}

// anyJSON is what is kept as it came.
var anyJSON = reflect.TypeFor[json.RawMessage]()

// shape returns the type that decides about keys: nil for any JSON.
func shape(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == anyJSON {
		return nil
	}
	return t
}

// fieldsOf returns the types of a struct's fields by their JSON names, those of
// what it embeds among them; nil for what is no struct.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	out := make(map[string]reflect.Type, t.NumField())
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			maps.Copy(out, fieldsOf(f.Type))
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		out[name] = f.Type
	}
	return out
}

// badText returns where the first byte stands that is not UTF-8, or the first
// escape of half a surrogate pair, which is lone; -1 if there is none.
func badText(b []byte) (at int, lone bool) {
	for i := 0; i < len(b); {
		switch {
		case b[i] == '\\':
			n, ok := escape(b[i:])
			if !ok {
				return i, true
			}
			i += n
		case b[i] < utf8.RuneSelf:
			i++
		default:
			r, n := utf8.DecodeRune(b[i:])
			if r == utf8.RuneError && n == 1 {
				return i, false
			}
			i += n
		}
	}
	return -1, false
}

// escape returns the length of the escape that b begins with, both halves of a
// surrogate pair taken together, and whether it stands for text. What is not
// an escape at all is left to the decoder.
func escape(b []byte) (n int, ok bool) {
	half, n := unit(b)
	switch {
	case n == 0:
		return min(2, len(b)), true
	case half>>10 == 0xD800>>10:
		low, m := unit(b[n:])
		return n + m, m > 0 && low>>10 == 0xDC00>>10
	default:
		return n, half>>10 != 0xDC00>>10
	}
}

// unit reads \uXXXX; n is 0 if b begins otherwise.
func unit(b []byte) (code uint64, n int) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, 0
	}
	code, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	if err != nil {
		return 0, 0
	}
	return code, 6
}

// short keeps what is quoted from a body to a part of a line.
func short(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	for n := most; ; n-- {
		if utf8.RuneStart(s[n]) {
			return s[:n] + "..."
		}
	}
}
