package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
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

// table collects rows of fields, all of them text that may come from outside.
type table struct {
	heads []string
	rows  [][]string
	right []bool // columns of numbers
	bare  bool   // without its heads
}

// newTable returns a table with these columns; a name that begins with ">" is
// a column of numbers.
func newTable(heads ...string) *table {
	t := &table{}
	for _, h := range heads {
		name, number := strings.CutPrefix(h, ">")
		t.heads, t.right = append(t.heads, name), append(t.right, number)
	}
	return t
}

func (t *table) row(fields ...string) { t.rows = append(t.rows, fields) }

// print prints a table: on a terminal with its heads, in aligned columns, cut
// at the width; elsewhere one tab between the fields and no heads.
func (a *app) print(t *table) error {
	var b strings.Builder
	if !a.terminal {
		for _, r := range t.rows {
			for i, f := range r {
				if i > 0 {
					b.WriteByte('\t')
				}
				b.WriteString(views.Escape(f))
			}
			b.WriteByte('\n')
		}
		_, err := a.out.Write([]byte(b.String()))
		return err
	}
	lines := t.rows
	if !t.bare && t.heads != nil {
		lines = append([][]string{t.heads}, t.rows...)
	}
	widths := make([]int, len(t.right))
	for _, r := range lines {
		for i, f := range r {
			widths[i] = max(widths[i], views.Width(f))
		}
	}
	most := a.width()
	for _, r := range lines {
		var row strings.Builder
		for i, f := range r {
			if i > 0 {
				row.WriteString("  ")
			}
			if t.right[i] {
				row.WriteString(views.FitRight(f, widths[i]))
			} else {
				row.WriteString(views.Fit(f, widths[i]))
			}
		}
		s := strings.TrimRight(row.String(), " ")
		if most > 0 && views.Width(s) > most {
			s = strings.TrimRight(views.Fit(s, most), " ")
		}
		b.WriteString(s)
		b.WriteByte('\n')
	}
	_, err := a.out.Write([]byte(b.String()))
	return err
}

// width returns the columns of the terminal, 0 for any number.
func (a *app) width() int {
	if f, ok := a.out.(*os.File); ok {
		return max(0, terminalWidth(f))
	}
	return 0
}
