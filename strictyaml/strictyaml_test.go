package strictyaml

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/goccy/go-yaml/ast"
	"github.com/google/go-cmp/cmp"
)

// sheet is what the tests read: a few fields of different types.
type sheet struct {
	Size  int64
	Name  string
	About string
	On    bool
	Share float64
	Tags  []string
	Extra string // JSON
	Lines []string
}

func read(file string, data []byte) (sheet, error) {
	var s sheet
	d := Parse(file, data)
	d.Root().Object(Fields{
		"size":  func(v Value) { s.Size = v.Count(1, 6) },
		"name":  func(v Value) { s.Name = v.Str("a name") },
		"about": func(v Value) { s.About = v.Text(20) },
		"on":    func(v Value) { s.On = v.Flag() },
		"share": func(v Value) { s.Share = v.Share() },
		"tags": func(v Value) {
			v.List(func(_ int, v Value) { s.Tags = append(s.Tags, v.Str("a tag")) })
		},
		"extra": func(v Value) { s.Extra = string(v.Raw()) },
		"lines": func(v Value) {
			v.Named(func(name string, key, v Value) {
				switch line, ok := v.Line(); {
				case v.IsNull():
					s.Lines = append(s.Lines, name)
				case ok:
					s.Lines = append(s.Lines, name+"="+line)
				default:
					key.At("here").Refuse("no line at "+v.Place().Path, "one")
				}
			})
		},
	}, "name")
	return s, d.Err()
}

// base is a sheet that reads. The rows of TestValueFaults change one thing.
const base = `size: 4
name: base
about: "42"
on: true
share: 0.5
tags: [a, b c]
extra: {n: 1e3}
lines: {a: x y, b: 7, c: 0x10, d: "q", "e e": }
`

// LF and CRLF, YAML and JSON mean the same.
func TestParse(t *testing.T) {
	want := sheet{
		Size: 4, Name: "base", About: "42", On: true, Share: 0.5, Tags: []string{"a", "b c"}, Extra: `{"n":1e3}`,
		Lines: []string{"a=x y", "b=7", "c=0x10", "d=q", "e e"},
	}
	for name, data := range map[string]string{
		"LF":   base,
		"CRLF": strings.ReplaceAll(base, "\n", "\r\n"),
		"JSON": `{"size": 4, "name": "base", "about": "42", "on": true, "share": 0.5, "tags": ["a", "b c"], "extra": {"n": 1e3},
			"lines": {"a": "x y", "b": 7, "c": "0x10", "d": "q", "e e": null}}`,
	} {
		got, err := read("f", []byte(data))
		if diff := cmp.Diff(got, want); diff != "" || err != nil {
			t.Errorf("%s: %v (-got +want)\n%s", name, err, diff)
		}
	}
}

// Every row is one fault, and the whole of the line that it gets.
func TestValueFaults(t *testing.T) {
	const name = "(in quotes if it looks like something else)"
	for _, row := range []struct{ name, old, new, want string }{
		{"unknown field", "name: base", "Name: base", `2:1: found the field "Name", expected one of about, extra, lines, name, on, share, size, tags`},
		{"missing field", "name: base\n", "", `1:1: found no field name, expected it to be given`},
		{"duplicate key", "on: true", "on: true\non: false", `5:1: found the key "on" again, expected it once (the first is on line 4, column 1)`},
		{"duplicate in brackets", "n: 1e3", "n: 1, n: 2", `7:15: extra: found the key "n" again, expected it once (the first is on line 7, column 9)`},
		{"key that is a number", "n: 1e3", "7: 1", `7:9: extra: found 7, expected a name ` + name},
		{"merge key", "n: 1e3", "<<: {}", `7:9: extra: found a merge key, expected a name ` + name},
		{"anchor", "name: base", "name: &a base", `2:7: name: found an anchor or alias, expected a name`},
		{"alias", "name: base", "name: *a", `2:7: name: found an anchor or alias, expected a name`},
		{"tag", "name: base", "name: !!str base", `2:7: name: found a tag, expected a name`},
		{"second document", "on: true", "---\non: true", `4:1: found a second document, expected the end of the file`},
		{"too much", "size: 4", "size: 7", `1:7: size: found 7, expected a whole number from 1 to 6`},
		{"too little", "size: 4", "size: 0", `1:7: size: found 0, expected a whole number from 1 to 6`},
		{"fraction", "size: 4", "size: 4.0", `1:7: size: found 4.0, expected a whole number from 1 to 6`},
		{"hexadecimal", "size: 4", "size: 0x4", `1:7: size: found 0x4, expected a whole number from 1 to 6`},
		{"underscore", "size: 4", "size: 0_4", `1:7: size: found 0_4, expected a whole number from 1 to 6`},
		{"number in quotes", "size: 4", `size: "4"`, `1:7: size: found "4", expected a whole number from 1 to 6`},
		{"share of more", "share: 0.5", "share: 1.1", `5:8: share: found 1.1, expected a number from 0 to 1`},
		{"share that is none", "share: 0.5", "share: .nan", `5:8: share: found .nan, expected a number from 0 to 1`},
		{"yes for true", "on: true", "on: yes", `4:5: on: found "yes", expected true or false`},
		{"True for true", "on: true", "on: True", `4:5: on: found True, expected true or false`},
		{"number for a text", `about: "42"`, "about: 42", `3:8: about: found 42, expected a text ` + name},
		{"long text", `about: "42"`, "about: " + strings.Repeat("x", 21), `3:8: about: found 21 bytes, expected at most 20`},
		{"nothing", "name: base", "name:", `2:6: name: found nothing, expected a name`},
		{"list for a mapping", "lines: {", "lines: [a]\n#", `8:8: lines: found a list, expected a mapping`},
		{"mapping for a list", "tags: [a, b c]", "tags: {}", `6:7: tags: found a mapping, expected a list`},
		{"second of a list", "b c", "1e3", `6:11: tags[1]: found 1e3, expected a tag`},
		{"not JSON", "n: 1e3", "n: 0x10", `7:12: extra.n: found 0x10, expected a value that JSON can hold`},
		{"another path", "a: x y", "a: [x]", `8:9: here: found no line at lines.a, expected one`},
		{"path in quotes", `"e e": `, `"e e": 1.5`, `8:40: here: found no line at lines."e e", expected one`},
		{"the first counts", "size: 4\nname: base", "size: 9\nname:", `1:7: size: found 9, expected a whole number from 1 to 6`},
	} {
		t.Run(row.name, func(t *testing.T) {
			data := strings.Replace(base, row.old, row.new, 1)
			if data == base {
				t.Fatalf("no %q in the base", row.old)
			}
			_, err := read("f.yaml", []byte(data))
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("error %v is a %T, want an *Error", err, err)
			}
			if got, want := err.Error(), "f.yaml:"+row.want; got != want {
				t.Errorf("error:\n got %s\nwant %s", got, want)
			}
		})
	}
}

// A file without a value is empty; one that cannot be read is not.
func TestEmpty(t *testing.T) {
	for data, want := range map[string]bool{
		"": true, "\n": true, "# nothing\n": true, "---\n": true,
		"{}": false, "null": false, "a: 1": false, "\x00": false, "a: [": false,
	} {
		if got := Parse("f", []byte(data)).Empty(); got != want {
			t.Errorf("%q is empty: %v, want %v", data, got, want)
		}
	}
}

// Every row is the whole of the line that a file gets, and costs little.
func TestParseFaults(t *testing.T) {
	for _, row := range []struct{ name, data, want string }{
		{"empty", "", "1:1: found an empty file, expected a document"},
		{"white space", " \n\n", "1:1: found an empty document, expected a mapping"},
		{"comment", "# nothing\n", "1:1: found an empty document, expected a mapping"},
		{"a list", "[]", "1:1: found a list, expected a mapping"},
		{"null", "null", "1:1: found nothing, expected a mapping"},
		{"byte order mark", "\xef\xbb\xbfname: x\n", "1:1: found a byte order mark, expected UTF-8 without one"},
		{"UTF-16", "\xff\xfef\x00i\x00", "1:1: found UTF-16, expected UTF-8"},
		{"UTF-16 without a mark", "f\x00i\x00x\x00", "1:1: found UTF-16, expected UTF-8"},
		{"UTF-16, the other way round", "\xfe\xff\x00f\x00i", "1:1: found UTF-16, expected UTF-8"},
		{"UTF-16 without a mark, the other way round", "\x00f\x00i\x00x", "1:1: found UTF-16, expected UTF-8"},
		{"not UTF-8", "size: 1\nname: a\xffb\n", "2:8: found the byte 0xff, expected UTF-8"},
		{"surrogate in UTF-8", "name: \xed\xa0\x80\n", "1:7: found the byte 0xed, expected UTF-8"},
		{"NUL", "size: 1\nname: a\x00b\n", "2:8: found the control character 0x00, expected text"},
		{"escape", "name: \x1b[2J\n", "1:7: found the control character 0x1b, expected text"},
		{"carriage return", "size: 1\rname: x\n", "1:8: found a carriage return by itself, expected a line feed, or both"},
		{"directive", "%YAML 1.2\n---\nsize: 1\n", "1:1: found a directive, expected a document without one"},
		{"truncated object", `{"size": 1, "runs": [{"id":`, `1:27: found a syntax error (could not find map value), expected a YAML document`},
		{"truncated text", `{"size": 1, "name": "ba`, `1:21: found a syntax error (could not find end character of double-quoted text), expected a YAML document`},
		{"trailing garbage", `{"size": 1} x`, `1:13: found a syntax error (value is not allowed in this context), expected a YAML document`},
		{"lone surrogate", `{"name": "\ud800"}`, `1:11: found a syntax error (not enough length for escaped UTF-16 surrogate pair), expected a YAML document`},
		{"half a pair and more", `{"name": "\ud83dabcdef"}`, `1:11: found a syntax error (found unexpected character after high surrogate for UTF-16 surrogate pair), expected a YAML document`},
		{"two first halves", `{"name": "\ud83d\ud83d"}`, `1:11: found a syntax error (found unexpected low surrogate after high surrogate), expected a YAML document`},
		{"the other half", `{"name": "\ude00"}`, `1:10: found half of a surrogate pair, expected text`},
		{"the other half in a key", `{"a\\\ude00": 1}`, `1:2: found half of a surrogate pair, expected text`},
		{"a half of eight digits", `name: "\U0000d83d\U0000de00\U0000de00"`, `1:7: found half of a surrogate pair, expected text`},
		{"NUL by its escape", `{"size": 1, "name": "x", "about": "\u0000"}`, `1:35: about: found a NUL, expected text`},
		{"second document of JSON", "{}\n{}", `2:1: found a syntax error (value is not allowed in this context), expected a YAML document`},
		{"depth 33", "a: " + strings.Repeat("[", 32) + strings.Repeat("]", 32), "1:35: found lists and mappings nested 33 deep, expected at most 32"},
		{"depth 33 in blocks", strings.Repeat("- ", 33) + "x", "1:65: found lists and mappings nested 33 deep, expected at most 32"},
		{"depth 10,001", strings.Repeat("[", 10_001), "1:33: found lists and mappings nested 33 deep, expected at most 32"},
		{"depth 100,000", strings.Repeat("{a: ", 100_000), "1:100001: found more than 50000 values, expected a smaller file"},
		{"many values", "[" + strings.Repeat("[],", 300_000) + "]", "1:50001: found more than 50000 values, expected a smaller file"},
		{"many fields", strings.Repeat("a: b\n", 10_001), "10001:2: found more than 10000 entries, expected fewer in one list or mapping"},
		{"large", "# " + strings.Repeat("x", 1<<20), "1:1: found 1048578 bytes, expected at most 1048576"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := read("f.yaml", []byte(row.data))
			runtime.ReadMemStats(&after)
			if err == nil {
				t.Fatal("no error")
			}
			if got, want := err.Error(), "f.yaml:"+row.want; got != want {
				t.Errorf("error:\n got %s\nwant %s", got, want)
			}
			if got, most := after.TotalAlloc-before.TotalAlloc, uint64(64<<20); got > most {
				t.Errorf("%d bytes allocated, want at most %d", got, most)
			}
		})
	}
}

func TestRaw(t *testing.T) {
	for _, row := range []struct{ in, want string }{
		{"{b: 1, a: [x, null, true]}", `{"a":["x",null,true],"b":1}`},
		{`{n: 1e3, m: 99999999999999999999, f: 1.50}`, `{"f":1.50,"m":99999999999999999999,"n":1e3}`},
		{`{s: "1e3", t: '7', u: "\u00e9"}`, `{"s":"1e3","t":"7","u":"é"}`},
		{`{"pair": "\ud83d\ude00 x"}`, `{"pair":"😀 x"}`},
		{`{"é": "\ufffd � \\ude00"}`, `{"é":"� � \\ude00"}`},
		{`{n: null}`, `{"n":null}`},
		{"null", "null"},
		{"[]", "[]"},
	} {
		v := Parse("f", []byte(row.in)).Root()
		if got := string(v.Raw()); got != row.want || v.Failed() {
			t.Errorf("%s = %s, %v; want %s", row.in, got, v.Document().Err(), row.want)
		}
	}
}

func TestErrorIsOneSafeLine(t *testing.T) {
	_, err := read("a\x1b]0;x\a\nb.yaml", []byte("size: 1\n\"x\\e[2J\\u202e\\n\": 1\n"))
	if err == nil {
		t.Fatal("no error")
	}
	for _, r := range err.Error() {
		if r < ' ' || r == 0x7f || r == 0x202e {
			t.Errorf("error holds %U: %q", r, err.Error())
		}
	}
}

// Whatever the bytes, they are a document within the bounds, or one line.
func FuzzParse(f *testing.F) {
	f.Add([]byte(base))
	files, _ := filepath.Glob("../fixtures/*.yaml")
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d := Parse("f", data)
		if v := d.Root(); !d.Failed() {
			if got := depthOf(v.node); got > maxDepth {
				t.Errorf("a document nested %d deep, want at most %d", got, maxDepth)
			}
			v.Raw()
		}
		_, err := read("f", data)
		for _, err := range []error{d.Err(), err} {
			var e *Error
			if err != nil && (!errors.As(err, &e) || e.Line < 1 || e.Column < 1 || strings.ContainsAny(err.Error(), "\n\r\x1b")) {
				t.Errorf("error %#v, want one line with a position", err)
			}
		}
	})
}

// depthOf counts the lists and mappings around the innermost value.
func depthOf(n ast.Node) int {
	deepest := 0
	switch n := n.(type) {
	case *ast.MappingNode:
		for _, e := range n.Values {
			deepest = max(deepest, depthOf(e.Value))
		}
	case *ast.MappingValueNode:
		deepest = depthOf(n.Value)
	case *ast.SequenceNode:
		for _, e := range n.Values {
			deepest = max(deepest, depthOf(e))
		}
	case *ast.TagNode:
		return depthOf(n.Value)
	case *ast.AnchorNode:
		return depthOf(n.Value)
	default:
		return 0
	}
	return deepest + 1
}
