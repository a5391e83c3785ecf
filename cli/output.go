package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"tollgate/views"
)

// object prints one JSON object on one line. The text in it is what was
// stored; what a terminal would act on or not show is written as \u escapes,
// which JSON readers undo.
func (a *app) object(v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("answer as JSON: %w", err)
	}
	_, err := a.out.Write(shownJSON(b.Bytes()))
	return err
}

func shownJSON(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		switch {
		case r == '\n', r >= ' ' && r <= '~', r > '~' && views.Escape(string(r)) == string(r):
			out = append(out, b[:n]...)
		case r > 0xffff:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		b = b[n:]
	}
	return out
}

// say prints one line of text, whatever its arguments hold.
func (a *app) say(format string, args ...any) error {
	_, err := fmt.Fprintln(a.out, views.Escape(fmt.Sprintf(format, args...)))
	return err
}

// warn prints one line on standard error, beside the answer.
func (a *app) warn(format string, args ...any) {
	fmt.Fprintln(a.errs, "tollgate: "+views.Escape(fmt.Sprintf(format, args...)))
}
