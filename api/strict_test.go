package api

import (
	"errors"
	"strings"
	"testing"

	"tollgate/gate"
)

// A body is one JSON object with exactly the keys that the call knows.
func TestStrictBodies(t *testing.T) {
	const base = `{"ask_id":"a1","tool":"look","input":{"order":42,"Order":null,"deep":[{"a":1}]}}`
	for _, row := range []struct {
		name, body, field, got string
	}{
		{"as it is", base, "", ""},
		{"white space around it", " \n" + base + "\n", "", ""},
		{"nothing", ``, "body", "its end at byte 0"},
		{"null", `null`, "body", "null"},
		{"a list", `[]`, "body", "a list"},
		{"a number", `5`, "body", "a number"},
		{"a text", `"x"`, "body", "a string"},
		{"a yes", `true`, "body", "true or false"},
		{"two values", base + `{}`, "body", "something after it at byte 80"},
		{"two values, the second broken", base + " }", "body", "something after it at byte 81"},
		{"broken off", `{"ask_id":"a1"`, "body", "its end at byte 14"},
		{"broken off within a word", `{"ask_id":"a1","input":tru`, "body", "its end at byte 26"},
		{"a byte order mark", "\ufeff" + base, "body", "a byte order mark at byte 0"},
		{"no JSON", `ask_id=a1`, "body", "invalid character 'a' looking for beginning of value after byte 0"},
		{"a key twice", `{"ask_id":"a1","ask_id":"a2","tool":"look"}`, "ask_id", "twice, again at byte 15"},
		{"a key twice, escaped", `{"ask_id":"a1","ask_i\u0064":"a2","tool":"look"}`, "ask_id", "twice, again at byte 15"},
		{"a key twice in the input", `{"ask_id":"a1","tool":"look","input":{"a":1,"a":2}}`, "input.a", "twice, again at byte 44"},
		{"a key in another case", `{"Ask_id":"a1","tool":"look"}`, "body", `"Ask_id"`},
		{"an unknown key", `{"ask_id":"a1","tool":"look","tries":3}`, "body", `"tries"`},
		{"a null", `{"ask_id":"a1","tool":"look","op":null}`, "op", "null"},
		{"a number for a text", `{"ask_id":5,"tool":"look"}`, "ask_id", "a number"},
		{"a list for a text", `{"ask_id":["a1"],"tool":"look"}`, "ask_id", "a list"},
		{"a text for a count", `{"ask_id":"a1","tool":"look","tokens":"5"}`, "tokens", "a string"},
		{"a list for a name of the gate", `{"ask_id":"a1","tool":"look","path":["queue"]}`, "path", "a list"},
		{"a fraction for a count", `{"ask_id":"a1","tool":"look","tokens":1.5}`, "tokens", "1.5"},
		{"a count that overflows", `{"ask_id":"a1","tool":"look","tokens":9223372036854775808}`, "tokens", "9223372036854775808"},
		{"a path that is none", `{"ask_id":"a1","tool":"look","path":"teleport"}`, "path", `"teleport"`},
		{"no UTF-8", "{\"ask_id\":\"a\xff\"}", "body", "something else at byte 12"},
		{"half a surrogate pair", `{"ask_id":"a\ud800"}`, "body", "a lone surrogate at byte 12"},
		{"the other half", `{"ask_id":"a\udc00"}`, "body", "a lone surrogate at byte 12"},
		{"two first halves", `{"ask_id":"a\ud800\ud800"}`, "body", "a lone surrogate at byte 12"},
		{"a whole pair", `{"ask_id":"a1","tool":"look","input":"\ud83d\ude00 \\ud800"}`, "", ""},
		{"too deep", `{"ask_id":"a1","tool":"look","input":` + strings.Repeat(`[`, 70) + strings.Repeat(`]`, 70) + `}`, "input" + strings.Repeat("[0]", 25) + "...", "more at byte 101"},
		{"an input of null", `{"ask_id":"a1","tool":"look","input":null}`, "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			var b askBody
			err := decode([]byte(row.body), &b)
			var input *gate.InputError
			errors.As(err, &input)
			switch {
			case row.field == "" && err != nil:
				t.Errorf("error = %v, want none", err)
			case row.field != "" && (input == nil || input.Field != row.field || input.Got != row.got):
				t.Errorf("error = %v, want one about %s: %s", err, row.field, row.got)
			}
		})
	}
}

// Limits without a unit, outside their range or of another type are refused
// by name.
func TestStrictLimits(t *testing.T) {
	for _, row := range []struct{ limits, field, want string }{
		{`{"attempts":6,"deadline":"30s","side_effects":1}`, "", ""},
		{`{"attempts":6,"deadline":30,"side_effects":1}`, "limits.deadline", "a duration such as 30s"},
		{`{"attempts":6,"deadline":["30s"],"side_effects":1}`, "limits.deadline", "a duration such as 30s"},
		{`{"attempts":6,"deadline":{"s":30},"side_effects":1}`, "limits.deadline", "a duration such as 30s"},
		{`{"attempts":6,"deadline":"30","side_effects":1}`, "limits.deadline", "a duration such as 30s"},
		{`{"attempts":1e9,"deadline":"30s","side_effects":1}`, "limits.attempts", "a whole number"},
		{`{"attempts":"6","deadline":"30s","side_effects":1}`, "limits.attempts", "a whole number"},
		{`{"attempts":6,"deadline":"30s","sideEffects":1}`, "limits", "only attempts, deadline, reserve, retry_tokens, side_effects"},
		{`5`, "limits", "an object"},
	} {
		t.Run(row.limits, func(t *testing.T) {
			var b startBody
			err := decode([]byte(`{"run":"r1","limits":`+row.limits+`}`), &b)
			var input *gate.InputError
			errors.As(err, &input)
			if row.field == "" && err != nil || row.field != "" && (input == nil || input.Field != row.field || input.Want != row.want) {
				t.Errorf("error = %v, want one about %s: %s", err, row.field, row.want)
			}
		})
	}
}

// Every field is named with where it stands, and what is there in the same
// words wherever it is.
func TestStrictTypes(t *testing.T) {
	for _, row := range []struct{ body, field, want, got string }{
		{`{"run":"r1","caps":{"a":{"attempts":3}}}`, "", "", ""},
		{`{"run":"r1","caps":{"a":3}}`, "caps.a", "an object", "a number"},
		{`{"run":"r1","caps":{"a":{"attempts":"3"}}}`, "caps.a.attempts", "a whole number", "a string"},
		{`{"run":"r1","caps":[3]}`, "caps", "an object", "a list"},
		{`{"run":"r1","caps":{"a":[3]}}`, "caps.a", "an object", "a list"},
		{`{"run":"r1","limits":null}`, "limits", "a value, or nothing at all", "null"},
		{`null`, "body", "an object", "null"},
		{`{"run":["r1"]}`, "run", "a string", "a list"},
		{`{"run":{}}`, "run", "a string", "an object"},
		{`{"run":true}`, "run", "a string", "true or false"},
	} {
		t.Run(row.body, func(t *testing.T) {
			var b startBody
			err := decode([]byte(row.body), &b)
			var got gate.InputError
			if input := (*gate.InputError)(nil); errors.As(err, &input) {
				got = *input
			}
			if want := (gate.InputError{Field: row.field, Want: row.want, Got: row.got}); got != want {
				t.Errorf("error = %v, want %v", got, want)
			}
		})
	}
}

// An input is looked at by itself as it is in the body of an ask, with
// positions in the input.
func TestCheckInput(t *testing.T) {
	for _, row := range []struct{ name, input, want string }{
		{"an object", `{"order":42,"Order":null}`, ""},
		{"a null", `null`, ""},
		{"nothing", ``, "input: want one JSON value, got its end at byte 0"},
		{"broken off", `{`, "input: want one JSON value, got its end at byte 1"},
		{"no JSON", `order`, "input: want JSON, got invalid character 'o' looking for beginning of value after byte 0"},
		{"a byte order mark", "\ufeff{}", "input: want JSON, got a byte order mark at byte 0"},
		{"something after it", `{"a":1}x`, "input: want one JSON value, got something after it at byte 7"},
		{"no UTF-8", "\"\xff\"", "input: want UTF-8, got something else at byte 1"},
		{"half a surrogate pair", `"\ud800"`, "input: want whole surrogate pairs, got a lone surrogate at byte 1"},
		{"a key twice", `{"a":1,"a":2}`, "input.a: want a key once, got twice, again at byte 7"},
		{"too deep", strings.Repeat(`[`, 10_001), "input" + strings.Repeat("[0]", 25) + "...: want at most 64 levels, got more at byte 64"},
		{"as deep as may be", strings.Repeat(`[`, 64) + strings.Repeat(`]`, 64), ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			err := CheckInput([]byte(row.input))
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != row.want {
				t.Errorf("error = %q, want %q", got, row.want)
			}
			var b askBody
			if whole := decode([]byte(`{"ask_id":"a1","tool":"look","input":`+row.input+`}`), &b); (whole == nil) != (err == nil) {
				t.Errorf("in a body: error = %v, by itself %v", whole, err)
			}
		})
	}
}

// What decode accepts is one JSON value in UTF-8, and a second reading of it
// gives the same.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"ask_id":"a1","tool":"look","input":{"a":[1,"\ud83d\ude00"]}}`, `{"input":null}`, `{"Ask_id":1}`, `{"op":"a","op":"b"}`, "\xff", `{}{}`,
		`{"path":"queue","tokens":1}`, `{"input_digest":"sha256:00","traceparent":"00-0-0-0"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var b, again askBody
		err := decode(body, &b)
		if err != nil {
			var input *gate.InputError
			if !errors.As(err, &input) {
				t.Fatalf("error %T is no input error: %v", err, err)
			}
			if line := problemOf(err).Detail; strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Fatalf("detail %q holds what a terminal obeys", line)
			}
			return
		}
		if err := decode(body, &again); err != nil || string(again.Input) != string(b.Input) || again.AskID != b.AskID {
			t.Fatalf("read again: %v", err)
		}
		if _, err := b.command(gate.Actor{}, "r1"); err != nil {
			var input *gate.InputError
			if !errors.As(err, &input) {
				t.Fatalf("error %T is no input error: %v", err, err)
			}
		}
	})
}
