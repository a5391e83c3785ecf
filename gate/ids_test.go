package gate

import (
	"errors"
	"strings"
	"testing"
)

// A digest is read as it is written, and in no other form.
func TestParseDigest(t *testing.T) {
	digits := strings.Repeat("0a", 32)
	want := Digest{}
	for i := range want {
		want[i] = 0x0a
	}
	for _, row := range []struct {
		name string
		text string
		want Digest
		ok   bool
	}{
		{"as written", want.String(), want, true},
		{"in capitals", "sha256:" + strings.ToUpper(digits), want, true},
		{"none", "", Digest{}, true},
		{"without its name", digits, Digest{}, false},
		{"by another name", "sha512:" + digits, Digest{}, false},
		{"a digit short", "sha256:" + digits[1:], Digest{}, false},
		{"a byte short", "sha256:" + digits[2:], Digest{}, false},
		{"a byte long", "sha256:" + digits + "00", Digest{}, false},
		{"no digits", "sha256:" + strings.Repeat("g", 64), Digest{}, false},
		{"its name alone", "sha256:", Digest{}, false},
	} {
		got, err := ParseDigest("input_digest", row.text)
		if got != row.want || (err == nil) != row.ok {
			t.Errorf("%s: %v, %v; want %v, ok %v", row.name, got, err, row.want, row.ok)
		}
		var input *InputError
		if err != nil && (!errors.As(err, &input) || input.Field != "input_digest") {
			t.Errorf("%s: error = %v, want bad input about input_digest", row.name, err)
		}
	}
}

// R-L1: the trace id of a W3C traceparent, which is in lower case.
func TestRL1ParseTrace(t *testing.T) {
	const id = "4bf92f3577b34da6a3ce929d0e0e4736"
	for _, row := range []struct {
		name string
		text string
		want string
		ok   bool
	}{
		{"a traceparent", "00-" + id + "-00f067aa0ba902b7-01", id, true},
		{"of a later version, with more", "01-" + id + "-00f067aa0ba902b7-01-more", id, true},
		{"none", "", "", true},
		{"in capitals", "00-" + strings.ToUpper(id) + "-00f067aa0ba902b7-01", "", false},
		{"no hex", "00-" + strings.Repeat("x", 32) + "-00f067aa0ba902b7-01", "", false},
		{"a short trace", "00-" + id[1:] + "-00f067aa0ba902b7-01", "", false},
		{"a short parent", "00-" + id + "-0067aa0ba902b7-01", "", false},
		{"no version", "0-" + id + "-00f067aa0ba902b7-01", "", false},
		{"no flags", "00-" + id + "-00f067aa0ba902b7", "", false},
		{"the id alone", id, "", false},
	} {
		got, err := ParseTrace(row.text)
		if got != row.want || (err == nil) != row.ok {
			t.Errorf("%s: %q, %v; want %q, ok %v", row.name, got, err, row.want, row.ok)
		}
	}
}
