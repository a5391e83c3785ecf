package views

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
)

func TestEscape(t *testing.T) {
	rows := []struct{ name, in, want string }{
		{"empty", "", ""},
		{"plain", `payments.charge \n`, `payments.charge \n`},
		{"rows and tabs", "a\nb\r\n\tc", `a\nb\r\n\tc`},
		{"clipboard", "\x1b]52;c;cm0=\x07", `\e]52;c;cm0=\x07`},
		{"unterminated link", "x\x1b]8;;http://", `x\e]8;;http://`},
		{"clear", "\x1b[2J\x1b[H", `\e[2J\e[H`},
		{"C1 as a rune", "\u009b31m\u009d", `\u{9b}31m\u{9d}`},
		{"C1 as a byte", "\x9b31m", `\x9b31m`},
		{"DEL, BS, NUL", "\x7f\b\x00", `\x7f\x08\x00`},
		{"cut UTF-8", "a\xe6\x97", `a\xe6\x97`},
		{"surrogate", "\xed\xa0\x80", `\xed\xa0\x80`},
		{"replacement", "\ufffd", `\u{fffd}`},
		{"bidi", "a\u202eb\u2066c\u200f\u061c", `a\u{202e}b\u{2066}c\u{200f}\u{61c}`},
		{"zero width", "\u200b\u200d\u2060\ufeff", `\u{200b}\u{200d}\u{2060}\u{feff}`},
		{"line separators", "\u2028\u2029\u0085", `\u{2028}\u{2029}\u{85}`},
		{"tags", "\U000e0041\U000e007f", `\u{e0041}\u{e007f}`},
		{"selectors", "❤\ufe0f\U000e0100", `❤\u{fe0f}\u{e0100}`},
		{"blanks", "\u00a0\u2003\u3000\u2800\u3164\u115f\uffa0", `\u{a0}\u{2003}\u{3000}\u{2800}\u{3164}\u{115f}\u{ffa0}`},
		{"soft hyphen", "a\u00adb", `a\u{ad}b`},
		{"private, unassigned", "\ue000\U0010ffff", `\u{e000}\u{10ffff}`},
		{"letters of the world", "日本 naïve Ελ Привет 가 👍", "日本 naïve Ελ Привет 가 👍"},
		{"marks", "e\u0301a\u0300\u0301", "e\u0301a\u0300\u0301"},
		{"tower", "e\u0301\u0301\u0301\u0301", "e\u0301\u0301" + `\u{301}\u{301}`},
		{"mark at the beginning", "\u0301a", `\u{301}a`},
		{"mark on a blank", "a \u0301", `a \u{301}`},
		{"mark on an escape", "\n\u0301", `\n\u{301}`},
		{"jamo", "\u1112\u1161\u11ab", "\u1112\u1161\u11ab"},
		{"jamo chain", "\u1100\u1100\u1100", "\u1100" + `\u{1100}` + "\u1100"},
		{"flag, skin tone", "🇩👍🏽", `\u{1f1e9}👍\u{1f3fd}`},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			got := Escape(r.in)
			if got != r.want {
				t.Errorf("Escape(%q) = %q, want %q", r.in, got, r.want)
			}
			if again := Escape(got); again != got {
				t.Errorf("escaped again: %q, want %q", again, got)
			}
		})
	}
}

func TestFit(t *testing.T) {
	rows := []struct {
		in          string
		width       int
		left, right string
	}{
		{"abc", 5, "abc  ", "  abc"},
		{"abc", 3, "abc", "abc"},
		{"abcd", 3, "ab…", "ab…"},
		{"abc", 1, "…", "…"},
		{"a", 1, "a", "a"},
		{"", 2, "  ", "  "},
		{"abc", 0, "", ""},
		{"abc", -1, "", ""},
		{"日本語", 6, "日本語", "日本語"},
		{"日本語", 5, "日本…", "日本…"},
		{"日本語", 4, "日… ", " 日…"},
		{"日本", 1, "…", "…"},
		{"a\nb", 4, `a\nb`, `a\nb`},
		{"a\nb", 6, `a\nb  `, `  a\nb`},
		{"e\u0301e\u0301", 2, "e\u0301e\u0301", "e\u0301e\u0301"},
		{"abcde\u0301", 5, "abcde\u0301", "abcde\u0301"},
		{strings.Repeat("क्", 999), 4, "", ""},
	}
	for _, r := range rows {
		got, right := Fit(r.in, r.width), FitRight(r.in, r.width)
		if r.left != "" || r.width < 1 {
			if got != r.left || right != r.right {
				t.Errorf("Fit(%q, %d) = %q, %q, want %q, %q", r.in, r.width, got, right, r.left, r.right)
			}
		}
		if w := ansi.StringWidth(got); w != max(0, r.width) {
			t.Errorf("Fit(%q, %d) takes %d cells", r.in, r.width, w)
		}
	}
}

func TestWrap(t *testing.T) {
	rows := []struct {
		name        string
		in          string
		width, rows int
		want        []string
	}{
		{"nothing", "", 9, 9, nil},
		{"no room", "a", 9, 0, nil},
		{"one row", "abc", 3, 1, []string{"abc"}},
		{"two rows", "abcd", 3, 2, []string{"abc", "d"}},
		{"line feeds", "ab\ncd\n", 9, 9, []string{`ab\n`, `cd\n`}},
		{"words", "one two three", 9, 9, []string{"one two ", "three"}},
		{"a word in a half-empty row", "one twothreefour", 9, 9, []string{"one twoth", "reefour"}},
		{"wide", "日本語", 5, 9, []string{"日本", "語"}},
		{"wide in one cell", "日a", 1, 9, []string{"…", "a"}},
		{"an escape wider than its column", "\u202e", 3, 9, []string{`\u{`, "202", "e}"}},
		{"more than fits", "abcdefgh", 4, 1, []string{"… 8…"}},
		{"more than fits, two rows", strings.Repeat("a", 90), 30, 2, []string{strings.Repeat("a", 30), "… 90 B, first 30 B shown"}},
		{
			"more than is ever shown", strings.Repeat("é", 10<<20), 4096, 9,
			[]string{strings.Repeat("é", 2048), "… 20 MiB, first 4 KiB shown"},
		},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			if diff := cmp.Diff(Wrap(r.in, r.width, r.rows), r.want); diff != "" {
				t.Errorf("got (-) want (+):\n%s", diff)
			}
		})
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int]string{0: "0 B", 1023: "1023 B", 1024: "1 KiB", 1536: "1.5 KiB", 20 << 20: "20 MiB", 5 << 40: "5120 GiB"} {
		if got := Size(n); got != want {
			t.Errorf("Size(%d) = %q, want %q", n, got, want)
		}
	}
}

// A clean field costs nothing to escape, and a long one no more to fit than a
// short one: what is not shown is not looked at.
func TestCellAllocations(t *testing.T) {
	long := strings.Repeat("日\x1b", 5<<20)
	buf := make([]byte, 0, 4096)
	got := []float64{
		testing.AllocsPerRun(100, func() { Escape("payments.charge") }),
		testing.AllocsPerRun(100, func() { buf = appendFit(buf[:0], "payments.charge", 20, fit{tail: "…"}) }),
		testing.AllocsPerRun(100, func() { buf = appendFit(buf[:0], "日本\x1b[2J", 20, fit{tail: "…"}) }),
		testing.AllocsPerRun(100, func() { buf = appendFit(buf[:0], long, 20, fit{tail: "…"}) }),
	}
	if diff := cmp.Diff(got, []float64{0, 0, 0, 0}); diff != "" {
		t.Errorf("allocations, got (-) want (+):\n%s", diff)
	}
}

// However many runes share a cell, only a beginning of a long text is looked at.
func TestFitLooksAtABeginning(t *testing.T) {
	for _, s := range []string{"क्", "e\u0301", "\u1161", "\x1b", "日", "x"} {
		buf := appendFit(nil, strings.Repeat(s, 1<<20), 10, fit{tail: "…"})
		if got := cap(buf); got > 4096 {
			t.Errorf("to fit %q many times into 10 cells takes %d bytes", s, got)
		}
	}
}

func FuzzCell(f *testing.F) {
	for _, s := range []string{
		"payments.charge", "\x1b]52;c;YQ==\x07", "\u009b2J", "\x9b", "a\u202eb", "e\u0301\u0301\u0301", "日本語", "क्षि", "\u1100\u1161\u11a8\u1100",
		"🇩🇪👍🏽", "a\r\nb\tc", "\xed\xa0\x80", "\u0d4ea", "1\u20e3", "\u2800\u3164", "\U000e0041", "\u17d2\u17d2", "ᆨ", "각ᆨᆨ",
	} {
		f.Add(s, 7)
		f.Add(s, 1)
	}
	f.Fuzz(func(t *testing.T, s string, width int) {
		width = min(max(0, width), 300)
		shown := func(what, got string) {
			t.Helper()
			if !utf8.ValidString(got) {
				t.Errorf("%s of %q = %q is not UTF-8", what, s, got)
			}
			for _, r := range got {
				if r != ' ' && (!unicode.IsGraphic(r) || unicode.In(r, unicode.C, unicode.Z)) || r == utf8.RuneError {
					t.Errorf("%s of %q = %q holds %U", what, s, got, r)
				}
			}
			if ansi.Strip(got) != got {
				t.Errorf("%s of %q = %q holds a sequence", what, s, got)
			}
		}
		esc := Escape(s)
		shown("Escape", esc)
		if again := Escape(esc); again != esc {
			t.Errorf("Escape of %q = %q, again %q", s, esc, again)
		}
		if got, want := Width(s), ansi.StringWidth(esc); got != want {
			t.Errorf("Width of %q = %d, want %d", s, got, want)
		}
		for what, fit := range map[string]func(string, int) string{"Fit": Fit, "FitRight": FitRight} {
			got := fit(s, width)
			shown(what, got)
			if w := ansi.StringWidth(got); w != width {
				t.Errorf("%s of %q = %q takes %d cells, want %d", what, s, got, w, width)
			}
			// Cells of one row stand side by side; none may take from the next.
			if w := ansi.StringWidth(got + "|" + got); w != 2*width+1 {
				t.Errorf("%s of %q = %q takes %d cells twice, want %d", what, s, got, w, 2*width+1)
			}
		}
		for _, row := range Wrap(s, width, 5) {
			shown("Wrap", row)
			if w := ansi.StringWidth(row); w > width {
				t.Errorf("Wrap of %q has a row of %d cells, want at most %d: %q", s, w, width, row)
			}
		}
		if got := len(Wrap(s, width, 5)); got > 5 {
			t.Errorf("Wrap of %q gives %d rows, want at most 5", s, got)
		}
		ascii := string(appendFit(nil, s, width, fit{tail: "~", ascii: true}))
		if !clean(ascii) || len(ascii) != width {
			t.Errorf("in ASCII %q is %q, want %d cells of ASCII", s, ascii, width)
		}
	})
}
