package ui

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"

	"tollgate/gate"
	"tollgate/views"
)

// dialogs are the ways to everything that can be open.
var dialogs = map[string][]string{
	"queue":            nil,
	"filter":           {"/", "p", "a", "y"},
	"dead-letters":     {"f"},
	"help of queue":    {"?", "j"},
	"runs":             {"2"},
	"help of runs":     {"2", "?"},
	"run":              {"v"},
	"run, folded":      {"v", "home", "left"},
	"run, detail":      {"v", "tab", "j"},
	"ledger":           {"3", "k", "k"},
	"ledger, filter":   {"3", "/", "v", "e"},
	"help of ledger":   {"3", "?"},
	"record":           {"3", "k", "enter"},
	"record, scrolled": {"3", "k", "enter", "tab", "pgdown"},
	"help of record":   {"3", "k", "enter", "?"},
	"dependencies":     {"4", "j"},
	"help of deps":     {"4", "?"},
	"waiting on one":   {"4", "enter"},
	"review":           {"enter"},
	"review, scrolled": {"enter", "pgdown"},
	"help of review":   {"enter", "?", "pgdown"},
	"reconcile":        {"enter", "r", "", "right", "enter", "x", "y"},
	"approve":          {"enter", "a", "", "x"},
	"as new action":    {"enter", "A", "", "x", "enter", "z"},
	"reject":           {"enter", "x", "", "n", "o"},
	"new run":          {"enter", "n", "", "enter", "9", "enter", "x"},
	"note":             {"enter", "t", "", "h", "i"},
	"unarmed":          {"enter", "r"},
	"refused":          {"enter", "r", "", "ctrl+s"},
}

// goTo opens a dialog from the queue; an empty key lets a form arm.
func (h *hand) goTo(keys []string) {
	for _, k := range keys {
		if k == "" {
			h.wait()
			continue
		}
		h.press(k)
	}
}

// wellFormed fails unless a frame is height rows of at most width cells.
func wellFormed(t testing.TB, what, frame string, width, height int) {
	t.Helper()
	if width < 1 || height < 1 {
		return
	}
	rows := strings.Split(frame, "\n")
	if len(rows) != height {
		t.Errorf("%s at %dx%d: %d rows", what, width, height, len(rows))
	}
	for i, row := range rows {
		if got := ansi.StringWidth(row); got > width {
			t.Errorf("%s at %dx%d: row %d is %d cells: %q", what, width, height, i, got, row)
		}
	}
}

// Rule 11: every size from 1×1 to 300×100, with every dialog open: no panic,
// no row too many or too wide.
func TestRule11EverySizeWithEveryDialogOpen(t *testing.T) {
	sizes := [][2]int{{0, 0}, {1, 1}, {1, 100}, {300, 1}, {2, 2}, {39, 10}, {40, 9}, {40, 10}, {41, 11}, {79, 23}, {80, 24}, {119, 35}, {120, 36}, {200, 60}, {300, 100}}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		sizes = append(sizes, [2]int{1 + rnd.IntN(300), 1 + rnd.IntN(100)})
	}
	for name, keys := range dialogs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, _ := incident(t)
			h.goTo(keys)
			for _, s := range sizes {
				h.send(tea.WindowSizeMsg{Width: s[0], Height: s[1]})
				wellFormed(t, name, h.m.View(), s[0], s[1])
			}
		})
	}
}

// Rule 10, by what a terminal makes of it: beside an item whose texts are
// hostile every other row is what it is beside a harmless one.
func TestRule10OtherRowsAreUntouched(t *testing.T) {
	rows := func(message string) []string {
		w := newWorld(t)
		w.run("run-1", 8, 4, 10*time.Minute)
		w.ask("run-1", "charge-1", "planner", "payments.charge")
		w.do(gate.Report{Actor: agents, Run: "run-1", Op: "charge-1", Ordinal: 1, Failure: gate.Failure{Code: "timeout", Message: message}})
		h := sit(w, func(o *Options) { o.Theme = views.NewTheme(views.Dark, false) })
		h.press("v")
		term := vt.NewEmulator(120, 36)
		if _, err := term.WriteString(strings.ReplaceAll(h.m.View(), "\n", "\r\n")); err != nil {
			t.Fatal(err)
		}
		var rows []string
		for y := range 36 {
			var row strings.Builder
			for x := 0; x < 120; {
				cell := term.CellAt(x, y)
				if cell == nil || cell.Width == 0 {
					x++
					continue
				}
				row.WriteString(cell.Content)
				x += cell.Width
			}
			rows = append(rows, row.String())
		}
		return rows
	}
	for _, hostile := range []string{
		"\x1b[2J\x1b[1;1Howned", "\x1b]52;c;ZXZpbA==\x07", "\u009b2J", "\x9b2J", "\r\r\r>>>", "\n\n\n", "\x08\x08\x08\x08", "\x1b]0;title",
		"\u202eevil", "e" + strings.Repeat("\u0301", 400), strings.Repeat("\U0001F468\u200D", 200), "\x1b[?1003h", "\x1b#8", strings.Repeat("世", 4000),
	} {
		plain, got := rows("no answer"), rows(hostile)
		said := slices.IndexFunc(plain, func(row string) bool { return strings.Contains(row, "said ") })
		if said < 0 || got[said] == plain[said] {
			t.Fatalf("%q is not shown", hostile)
		}
		for i := range plain {
			left, _, two := strings.Cut(plain[i], "│")
			switch {
			case i < said && got[i] != plain[i]:
				t.Errorf("%q changed row %d from %q to %q", hostile, i, plain[i], got[i])
			case two && !strings.HasPrefix(got[i], left+"│"): // from there on the detail moves down, and nothing else
				t.Errorf("%q changed the tree in row %d from %q to %q", hostile, i, left, got[i])
			case !two && got[i] != plain[i]:
				t.Errorf("%q changed row %d from %q to %q", hostile, i, plain[i], got[i])
			}
		}
	}
}

// Any keys at any sizes: no panic, and a frame of the right size.
func FuzzKeysAndSizes(f *testing.F) {
	alphabet := []string{
		"j", "k", "enter", "esc", "tab", "r", "a", "A", "x", "n", "t", "c", "z", "U", "u", "v", "R", "f", "/", "?", "1", "2", "3", "4", "space", "shift+tab",
		"left", "right", "up", "down", "home", "end", "pgdown", "pgup", "]", "[", "y", "Y", "ctrl+s", "backspace", "q", "é", "世",
	}
	for _, keys := range dialogs {
		var seed []byte
		for _, k := range keys {
			for i, a := range alphabet {
				if a == k {
					seed = append(seed, byte(i)) //nolint:gosec // 40 keys
				}
			}
		}
		f.Add(seed, uint16(80), uint16(24))
	}
	f.Fuzz(func(t *testing.T, keys []byte, width, height uint16) {
		h, _ := incident(t)
		w, ht := int(width%301), int(height%101)
		h.send(tea.WindowSizeMsg{Width: w, Height: ht})
		for _, k := range keys[:min(len(keys), 60)] {
			switch {
			case k < 200:
				h.press(alphabet[int(k)%len(alphabet)])
			case k < 220:
				h.wait()
			case k < 240:
				h.poke()
			case k < 250:
				h.tick(time.Second)
			default:
				w, ht = 1+int(k)*7%300, 1+int(k)*3%100
				h.send(tea.WindowSizeMsg{Width: w, Height: ht})
			}
			wellFormed(t, string(keys), h.m.View(), w, ht)
		}
		for _, a := range h.acts {
			if a.Verb.Decides() && a.Reason == "" {
				t.Errorf("decided without a reason: %+v", a)
			}
		}
	})
}

// crowd is a console on many runs and a long queue, at 200×60.
func crowd(t testing.TB) *hand {
	w := newWorld(t)
	for i := range 80 {
		run := gate.RunID(fmt.Sprintf("run-%03d", i))
		w.run(run, 40, 40, 10*time.Minute)
		for k := range 3 {
			op := gate.OpID(fmt.Sprintf("charge-%d-%d", i, k))
			w.ask(run, op, fmt.Sprintf("planner/agent-%d", k), "payments.charge")
			w.fail(run, op, 1, "timeout")
		}
	}
	h := sit(w, func(o *Options) { o.Theme = views.NewTheme(views.Dark, false) })
	h.send(tea.WindowSizeMsg{Width: 200, Height: 60})
	return h
}

var frames = []struct {
	name string
	keys []string
}{
	{"queue", nil},
	{"runs", []string{"2"}},
	{"run", []string{"v"}},
	{"ledger", []string{"3", "k"}},
	{"record", []string{"3", "k", "enter"}},
	{"dependencies", []string{"4"}},
	{"review", []string{"enter"}},
	{"form", []string{"enter", "a", "", "x", "y"}},
	{"help", []string{"?"}},
}

// A frame of 200×60 costs 500 allocations at most.
func TestFrameAllocations(t *testing.T) {
	for _, f := range frames {
		h := crowd(t)
		h.goTo(f.keys)
		if got := testing.AllocsPerRun(20, func() { _ = h.m.View() }); got > 500 {
			t.Errorf("%s: %.0f allocations for a frame, want 500 at most", f.name, got)
		}
	}
}

func BenchmarkView(b *testing.B) {
	for _, f := range frames {
		b.Run(f.name, func(b *testing.B) {
			h := crowd(b)
			h.goTo(f.keys)
			b.ReportAllocs()
			for b.Loop() {
				_ = h.m.View()
			}
		})
	}
}

func BenchmarkKey(b *testing.B) {
	h := crowd(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		h.m.Update(keyOf([]string{"j", "k"}[i%2]))
		_ = h.m.View()
	}
}
