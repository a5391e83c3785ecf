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
// UTF-8, with no key twice, no key that the struct does not name exactly, and
// no null but inside an input. encoding/json lets all of these pass.
//
// The error is an *gate.InputError, and then into is not to be used.
func decode(body []byte, into any) error {
	if at := badText(body); at >= 0 {
		return &gate.InputError{Field: "body", Want: "UTF-8", Got: fmt.Sprintf("something else at byte %d", at)}
	}
	w := walker{json.NewDecoder(bytes.NewReader(body))}
	w.dec.UseNumber()
	if err := w.value(reflect.TypeOf(into).Elem(), "", 0); err != nil {
		return err
	}
	if _, err := w.dec.Token(); !errors.Is(err, io.EOF) {
		return &gate.InputError{Field: "body", Want: "one JSON value", Got: "something after it"}
	}
	err := json.Unmarshal(body, into)
	var typed *json.UnmarshalTypeError
	var input *gate.InputError
	switch {
	case errors.As(err, &typed):
		return &gate.InputError{Field: orBody(typed.Field), Want: wanted(typed.Type), Got: short(typed.Value)}
	case errors.As(err, &input):
		return input
	case err != nil:
		return &gate.InputError{Field: "body", Want: "JSON", Got: short(err.Error())}
	}
	return nil
}

// walker looks at a body's keys beside the type that they are read into.
type walker struct{ dec *json.Decoder }

// value checks the next value. t is nil where anything may stand.
func (w walker) value(t reflect.Type, at string, depth int) error {
	if depth > maxDepth {
		return &gate.InputError{Field: orBody(at), Want: fmt.Sprintf("at most %d levels", maxDepth), Got: "more"}
	}
	t = shape(t)
	token, err := w.dec.Token()
	if err != nil {
		return w.broken(err)
	}
	if t != nil && at == "" && token != json.Delim('{') {
		return &gate.InputError{Field: "body", Want: "an object", Got: called(token)}
	}
	if err := spelt(t, at, token); err != nil {
		return err
	}
	switch token {
	case json.Delim('{'):
		return w.object(t, at, depth)
	case json.Delim('['):
		var of reflect.Type
		if t != nil && t.Kind() == reflect.Slice {
			of = t.Elem()
		}
		for i := 0; w.dec.More(); i++ {
			if err := w.value(of, fmt.Sprintf("%s[%d]", at, i), depth+1); err != nil {
				return err
			}
		}
		_, err := w.dec.Token()
		return w.broken(err)
	case nil:
		if t != nil {
			return &gate.InputError{Field: orBody(at), Want: "a value, or nothing at all", Got: "null"}
		}
	}
	return nil
}

// spelt checks a value that is written as a text and stands for something
// else: the decoder would not say which field it was in.
func spelt(t reflect.Type, at string, token json.Token) error {
	var into encoding.TextUnmarshaler
	var want string
	switch t {
	case reflect.TypeFor[span]():
		into, want = new(span), "a duration such as 30s"
	case reflect.TypeFor[time.Time]():
		into, want = new(time.Time), "an instant such as 2026-01-05T09:00:00Z"
	default:
		return nil
	}
	text, ok := token.(string)
	if !ok {
		return &gate.InputError{Field: short(at), Want: want, Got: called(token)}
	}
	if err := into.UnmarshalText([]byte(text)); err != nil {
		return &gate.InputError{Field: short(at), Want: want, Got: short(strconv.Quote(text))}
	}
	return nil
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

func (w walker) object(t reflect.Type, at string, depth int) error {
	fields := fieldsOf(t)
	seen := map[string]bool{}
	for w.dec.More() {
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
			return &gate.InputError{Field: short(name), Want: "a key once", Got: "twice"}
		case fields != nil && of == nil:
			return &gate.InputError{
				Field: orBody(at), Want: "only " + strings.Join(slices.Sorted(maps.Keys(fields)), ", "), Got: short(strconv.Quote(key)),
			}
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
func (w walker) broken(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &gate.InputError{Field: "body", Want: "one JSON value", Got: fmt.Sprintf("its end at byte %d", w.dec.InputOffset())}
	default:
		return &gate.InputError{Field: "body", Want: "JSON", Got: fmt.Sprintf("%s after byte %d", short(err.Error()), w.dec.InputOffset())}
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

// fieldsOf returns the types of a struct's fields by their JSON names, nil for
// what is no struct.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	out := make(map[string]reflect.Type, t.NumField())
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		out[name] = f.Type
	}
	return out
}

// wanted says in the API's words what a Go type takes.
func wanted(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t.Kind() == reflect.String:
		return "a string"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.Int64, t.Kind() == reflect.Int:
		return "a whole number"
	case t.Kind() == reflect.Struct, t.Kind() == reflect.Map:
		return "an object"
	default:
		return "another type"
	}
}

// badText returns where the first byte stands that is not UTF-8, or the first
// escape of half a surrogate pair; -1 if there is none.
func badText(b []byte) int {
	for i := 0; i < len(b); {
		switch {
		case b[i] == '\\':
			n, ok := escape(b[i:])
			if !ok {
				return i
			}
			i += n
		case b[i] < utf8.RuneSelf:
			i++
		default:
			r, n := utf8.DecodeRune(b[i:])
			if r == utf8.RuneError && n == 1 {
				return i
			}
			i += n
		}
	}
	return -1
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

func orBody(field string) string {
	if field == "" {
		return "body"
	}
	return short(field)
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
