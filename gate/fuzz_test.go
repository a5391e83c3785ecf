package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// An identifier that passes is short, plain and survives as it is; a refusal
// never panics and shows the text escaped.
func FuzzCheckID(f *testing.F) {
	for _, id := range []string{"", "r1", "a/b:c@d+e=f#g,h-i_j.k", "OP~2", "é", "a b", "\x1b]52;c;\a", "\u202eabc", strings.Repeat("x", maxID), strings.Repeat("x", maxID+1)} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		err := CheckID("run", id)
		if err == nil {
			if id == "" || len(id) > maxID || strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '~' }) {
				t.Errorf("%q is accepted", id)
			}
			return
		}
		var e *InputError
		if !errors.As(err, &e) || e.Field != "run" {
			t.Errorf("error = %v, want one about run", err)
		}
		if says := err.Error(); strings.ContainsFunc(says, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\u202e' }) || !utf8.ValidString(says) {
			t.Errorf("error of %q holds it raw: %q", id, says)
		}
	})
}

// An input has one digest, whatever its spaces and the order of its keys, and
// what is not one JSON value has none.
func FuzzDigestInput(f *testing.F) {
	for _, in := range []string{`{}`, `{"b":1,"a":[1.0,1e3,{"c":null}]}`, `[`, `{} {}`, `"é😀"`, `{"at":1,"n":{"at":2}}`, ` 1 `, `"\ud800"`, "\"\xff\"", `{"a":1,"a":2}`, `{"<&>":"\u2028"}`} {
		f.Add([]byte(in))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		digest, err := digestInput(in, []string{"at"})
		if err != nil {
			var e *InputError
			if !errors.As(err, &e) {
				t.Errorf("error = %v, want an InputError", err)
			}
			return
		}
		if !json.Valid(in) || !utf8.Valid(in) {
			t.Fatalf("%q has a digest", in)
		}
		var wide bytes.Buffer
		if err := json.Indent(&wide, in, " ", "\t"); err != nil {
			t.Fatal(err)
		}
		if again, err := digestInput(wide.Bytes(), []string{"at"}); err != nil || again != digest {
			t.Errorf("with other spaces: %v, %v, want %v", again, err, digest)
		}
		var fields map[string]json.RawMessage
		if json.Unmarshal(in, &fields) != nil || fields == nil {
			return
		}
		delete(fields, "at")
		sorted, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := digestInput(sorted, nil); err != nil || again != digest {
			t.Errorf("without its volatile field: %v, %v, want %v", again, err, digest)
		}
	})
}

// A delay is never negative, never longer than what no deadline holds, and
// never shorter than what the provider asked for within that.
func FuzzDelay(f *testing.F) {
	f.Add(int64(1), 0.5, int64(250e6), int64(2e9), int64(0))
	f.Add(int64(1<<62), 0.999, int64(1<<62), int64(1<<63-1), int64(1<<63-1))
	f.Fuzz(func(t *testing.T, n int64, jitter float64, base, most, floor int64) {
		if !(jitter >= 0 && jitter < 1) {
			t.Skip("a caller's bug")
		}
		b := Backoff{Base: max(0, time.Duration(base)), Cap: max(0, time.Duration(most))}
		got := b.Delay(n, jitter, time.Duration(floor))
		if got < 0 || got > 2*maxDelay+1e6 {
			t.Errorf("delay = %v", got)
		}
		if want := min(maxDelay, time.Duration(floor)); want > 0 && got < want {
			t.Errorf("delay = %v, below its floor %v", got, want)
		}
	})
}
