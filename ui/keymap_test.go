package ui

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"tollgate/escalation"
	"tollgate/gate"
	"tollgate/views"
)

// The table is whole: a key has one meaning in a place, what is printed in the
// footer can be pressed, and the help says what each key does.
func TestKeymap(t *testing.T) {
	keys := keymap()
	for _, p := range []place{inQueue, inRuns, inLedger, inDependencies, inRun, inReview, inRecord, inForm, inPrompt, inHelp} {
		seen := map[string]bool{}
		for _, b := range keys {
			if b.in&p == 0 {
				continue
			}
			if b.do == nil {
				t.Errorf("%s in %b does nothing", b.keys, p)
			}
			if b.does != "" && (b.show == "" || b.says == "") || b.show != "" && b.says == "" {
				t.Errorf("%s in %b: footer %q, printed as %q, help %q", b.keys, p, b.does, b.show, b.says)
			}
			for _, k := range strings.Fields(b.keys) {
				if seen[k] {
					t.Errorf("%s has two meanings in %b", k, p)
				}
				seen[k] = true
			}
		}
		if !seen["ctrl+z"] || !seen["esc"] {
			t.Errorf("no way out of %b: ctrl+z %v, esc %v", p, seen["ctrl+z"], seen["esc"])
		}
	}
}

// Ctrl+S is bound where a decision is made and nowhere else, and nothing else
// is bound to what it does.
func TestCtrlSIsTheOnlyKeyThatDecides(t *testing.T) {
	for _, b := range keymap() {
		if has(b.keys, "ctrl+s") && (b.in != inForm || b.keys != "ctrl+s") {
			t.Errorf("ctrl+s is bound as %q in %b", b.keys, b.in)
		}
	}
	h, _ := incident(t)
	h.press("enter")
	h.fill("x", "no use")
	for _, b := range h.m.keys {
		if b.in&inForm == 0 {
			continue
		}
		for _, k := range strings.Fields(b.keys) {
			if _, ok := named[k]; ok && !slices.Contains([]string{"ctrl+s", "esc", "ctrl+c", "ctrl+z"}, k) {
				h.press(k)
			}
		}
	}
	if len(h.acts) != 0 {
		t.Errorf("a key of the form decided: %+v", h.acts)
	}
}

// A key that is off says why, in the help and when it is pressed; the footer
// leaves it away.
func TestAKeyThatIsOffSaysWhy(t *testing.T) {
	h := sit(newWorld(t))
	h.press("1")
	h.wantRow("/ filter")
	h.wantNoRow("c claim")
	h.press("c")
	h.wantRow("c does nothing now", "the list is empty")
	h.press("?")
	h.wantRow("c", "claim", "not now", "the list is empty")
	h.press("esc")
	if h.m.help != nil {
		t.Error("esc does not close the help")
	}
}

// Several runes that come at once are one held key for moving, and nothing at
// all for anything else.
func TestAHeldKey(t *testing.T) {
	h, ids := incident(t)
	h.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("jj")})
	if got := h.m.queue.list.cur.id; got != ids[2] {
		t.Errorf("jj selected %s, want %s", got, ids[2])
	}
	for _, text := range []string{"cc", "jk", "zz", "qq", "??", "11", "c1"} {
		h.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(text)})
	}
	if len(h.acts) != 0 || h.quit || h.m.help != nil || h.m.queue.list.cur.id != ids[2] {
		t.Errorf("runes that came at once did something: %+v", h.acts)
	}
}

// q quits from a list; further in it says that esc goes back.
func TestQuit(t *testing.T) {
	h, _ := incident(t)
	h.press("enter", "q")
	if h.quit {
		t.Fatal("q quit from a review")
	}
	h.wantRow("q does nothing now", "esc goes back")
	h.press("esc", "q")
	if !h.quit {
		t.Error("q does not quit from the queue")
	}
}

// ctrl+c quits from every screen, and from the help that says so; a form or a
// filter it leaves first, with what was typed.
func TestCtrlCQuits(t *testing.T) {
	for _, keys := range [][]string{nil, {"2"}, {"enter"}, {"v"}, {"3"}, {"3", "k", "enter"}, {"4"}, {"?"}, {"enter", "?"}} {
		h, _ := incident(t)
		h.press(keys...)
		h.press("ctrl+c")
		if !h.quit {
			t.Errorf("after %v ctrl+c does not quit", keys)
		}
	}
	for _, keys := range [][]string{{"enter", "x"}, {"/"}} {
		h, _ := incident(t)
		h.press(keys...)
		h.press("ctrl+c")
		if h.quit || h.m.form != nil || h.m.prompt != nil {
			t.Errorf("after %v ctrl+c quit %v, want it to leave what is being typed", keys, h.quit)
		}
		h.press("?")
		h.wantRow("ctrl+c", "quit", "leaves that first")
	}
}

// The way in and back: number keys, enter, v and esc.
func TestTheWay(t *testing.T) {
	h, ids := incident(t)
	for _, s := range []struct {
		key  string
		want string
	}{
		{"enter", "queue review"},
		{"v", "queue review run"},
		{"enter", "queue review"}, // the review that is on the way already
		{"v", "queue review run"},
		{"esc", "queue review"},
		{"esc", "queue"},
		{"esc", "queue"},
		{"2", "runs"},
		{"j", "runs"},
		{"enter", "runs run"},
		{"1", "queue"},
		{"4", "dependencies"},
		{"enter", "dependencies queue"},
		{"q", "dependencies queue"},
		{"j", "dependencies queue"},
		{"enter", "dependencies queue review"},
		{"esc", "dependencies queue"},
		{"esc", "dependencies"},
		{"3", "ledger"},
		{"k", "ledger"},
		{"enter", "ledger record"},
		{"esc", "ledger"},
		{"1", "queue"},
	} {
		h.press(s.key)
		var way []string
		for _, c := range h.m.path {
			way = append(way, map[place]string{inQueue: "queue", inRuns: "runs", inRun: "run", inReview: "review", inLedger: "ledger", inRecord: "record", inDependencies: "dependencies"}[c.place])
		}
		if got := strings.Join(way, " "); got != s.want {
			t.Fatalf("after %s: %s, want %s", s.key, got, s.want)
		}
	}
	if len(ids) != 3 {
		t.Fatal("three items")
	}
}

// A filter is typed, applied and taken away.
func TestFilter(t *testing.T) {
	h, _ := incident(t)
	h.wantRow("3 open")
	h.press("/")
	h.write("charge-2")
	h.wantRow("filter: charge-2_")
	h.press("enter")
	h.wantRow("charge-2", "payments")
	h.wantNoRow("charge-1 ", "payments")
	h.wantRow("/charge-2 1 open")
	h.press("/", "esc")
	h.wantRow("/charge-2 1 open")
	h.press("/", "backspace", "backspace", "backspace", "backspace", "backspace", "backspace", "backspace", "backspace", "enter")
	h.wantRow("charge-1 ", "payments")
	h.press("f")
	h.wantRow("Nothing is snoozed.")
	h.wantRow("0 snoozed")
	h.press("f")
	h.wantRow("No dead-letters.")
	h.wantRow("0 dead-letter")
	h.press("c")
	h.wantRow("c does nothing now: the list is empty")
	h.press("f")
	h.wantRow("Nothing has been resolved yet.")
	h.wantRow("OPERATION", "ENDED", "BY", "AGO")
	h.press("f")
	h.wantRow("charge-1 ", "payments")
}

// A run that a filter no longer lets through is not the selected one any more.
func TestARunThatNoLongerMatches(t *testing.T) {
	w := newWorld(t)
	w.run("run-1", 1, 0, 10*time.Minute)
	w.run("run-2", 9, 0, 10*time.Minute)
	h := sit(w)
	h.press("f", "j", "j") // active ones; the newest comes first
	h.wantRow(">", "run-1")
	w.ask("run-1", "look-1", "", "orders.get")
	w.ask("run-1", "look-2", "", "orders.get")
	h.poke()
	h.wantNoRow(">", "run-")
	h.wantRow("run-1 is no longer in this list", "1 left", "R takes them in")
	h.press("enter")
	h.wantRow("enter does nothing now")
	h.press("R")
	h.wantNoRow("exhausted")
	h.wantNoRow("run-1", "planner")
}

// The tree of a run folds; the cursor stays with its node while the run moves
// on.
func TestRunTree(t *testing.T) {
	w := newWorld(t)
	w.run("run-1", 8, 4, 10*time.Minute)
	w.ask("run-1", "lookup", "planner", "orders.get")
	w.fail("run-1", "lookup", 1, "rate_limit")
	w.lost("run-1", "charge-1")
	h := sit(w)
	h.press("v")
	h.wantRow(">", "charge-1")
	h.wantRow("attempt 1", "outcome unknown")
	w.ask("run-1", "lookup", "planner", "orders.get")
	h.poke()
	h.wantRow(">", "charge-1")
	h.press("down")
	h.wantRow(">", "1 timeout")
	h.press("left", "left")
	if got := h.m.here().run.sel; got != views.OpNode("charge-1") || !h.m.here().run.folded[got] {
		t.Errorf("selected %s, folded %v; want charge-1 folded", got, h.m.here().run.folded)
	}
	h.wantNoRow("1 timeout", "transient")
	h.press("right")
	h.wantRow("1 timeout", "transient")
	h.press("home", "right", "]", "[")
	h.wantRow(">", "lookup")
	h.press("enter")
	h.wantRow("enter does nothing now", "nothing waits about this operation")
	h.press("y")
	if len(h.copied) != 1 || h.copied[0] != "lookup" {
		t.Errorf("copied %q, want lookup", h.copied)
	}
	h.press("Y")
	if len(h.copied) != 2 || !strings.Contains(h.copied[1], `"op":"lookup"`) {
		t.Errorf("copied %q, want the JSON", h.copied)
	}
	h.send(tea.WindowSizeMsg{Width: 60, Height: 24})
	h.press("tab")
	h.wantRow("tool", "orders.get")
	h.press("esc")
}

// A key is named for what it does as things stand: in the footer, in the help
// and among the verbs of a review.
func TestAKeyIsNamedForWhatItDoes(t *testing.T) {
	h, ids := incident(t)
	h.wantRow("c claim", "z snooze", "space freeze", "q quit")
	h.press("c")
	h.wantRow("claimed charge-1", "U undoes")
	h.wantRow("c release")
	h.wantNoRow("c claim")
	h.press("?")
	h.wantRow("c ", "give your claim back; U undoes")
	h.press("esc", "enter")
	h.wantRow("claimed by you")
	h.wantRow("c release", "t note")
	h.press("c")
	h.wantRow("released charge-1", "U undoes")
	h.wantRow("c claim", "t note")
	h.wantNoRow("c release")

	h.press("z")
	h.wantRow("z wake", "brings it back")
	h.press("z")
	h.wantRow("charge-1 is back in the queue")
	h.wantRow("z snooze", "hides it for an hour")
	if got := h.w.item(ids[0]).Snoozed; got.After(h.m.now) {
		t.Errorf("snoozed until %s after z z", got)
	}

	h.press("esc", "space")
	h.wantRow("space go on")
	h.press("space")
	h.wantRow("space freeze")

	// A claim that has run out is nobody's.
	h.press("c")
	h.wantRow("c release")
	h.tick(20 * time.Minute)
	h.wantRow("c claim")

	// Somebody else's is not released.
	h.w.act(lee, ids[0], escalation.Act{Verb: gate.ActClaim})
	h.press("c") // before that has been read
	h.wantRow("claim charge-1: STOP_CLAIMED", ", held by lee, 15m left")
	h.poke()
	h.wantNoRow("c claim")
	h.press("c")
	h.wantRow("c does nothing now: held by lee, 15m left; a decision can take it over")
	h.press("enter")
	h.wantRow("c claim", "held by lee, 15m left; a decision can")
	h.wantRow("r reconcile", "another person holds the claim")
	h.press("x")
	h.wait()
	h.press("right", "enter")
	h.write("no use")
	h.press("ctrl+s")
	h.wantRow("you: reject", "STOP_CLAIMED", ", held by lee, 15m left")
}

// The footer shows every verb of a review, and the way out of every screen, at
// the sizes of daily use.
func TestFooter(t *testing.T) {
	h, _ := incident(t)
	for _, r := range []struct {
		keys []string
		want []string
	}{
		{nil, []string{"enter review", "c claim", "q quit", "? help"}},
		{[]string{"enter"}, []string{"A ", "t note", "esc back", "? help"}},
		{[]string{"v"}, []string{"esc back", "? help"}},
		{[]string{"2", "j"}, []string{"enter open", "q quit", "? help"}},
		{[]string{"4"}, []string{"4 dependencies", "enter what waits", "q quit", "? help"}},
		{[]string{"enter"}, []string{"enter review", "esc back", "? help"}},
		{[]string{"3", "k"}, []string{"3 ledger", "enter open", "/ filter", "q quit", "? help"}},
		{[]string{"enter"}, []string{"enter ", "tab next link", "esc back", "? help"}},
	} {
		h.press(r.keys...)
		for _, size := range [][2]int{{80, 24}, {120, 36}, {200, 60}} {
			h.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			for _, want := range r.want {
				h.wantRow(want)
			}
		}
	}
	h.press("1", "enter", "x")
	h.wait()
	for _, size := range [][2]int{{40, 10}, {40, 12}, {60, 20}, {80, 24}, {200, 60}} {
		h.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		h.wantRow("reject charge-1")
		h.wantRow("ctrl+s decide", "esc leave, draft kept")
		h.press("enter") // off on the last field, and says so
		h.wantRow("enter does nothing now")
		h.wantRow("ctrl+s decide", "esc leave, draft kept")
	}
	h.press("esc")
	h.send(tea.WindowSizeMsg{Width: 120, Height: 36})
	h.wantRow("r reconcile", "a approve", "A new action", "x reject", "n new run", "t note", "c claim", "z snooze")
}

// On its last field a form does not offer to go to a next one.
func TestEnterOnTheLastField(t *testing.T) {
	h, _ := incident(t)
	h.press("enter", "x")
	h.wait()
	h.wantRow("ctrl+s decide", "esc leave")
	h.wantNoRow("next field")
	h.press("enter")
	h.wantRow("enter does nothing now", "ctrl+s decides")
	h.press("esc", "r")
	h.wait()
	h.wantRow("enter next field")
	h.press("enter", "enter")
	h.wantNoRow("next field")
	h.press("shift+tab")
	h.wantRow("enter next field")
}

// What a list holds back is said beside fresher news, too.
func TestNewsStandBesideFresherNews(t *testing.T) {
	h, _ := incident(t)
	h.w.run("run-0", 6, 1, time.Minute)
	h.w.lost("run-0", "charge-0")
	h.poke()
	h.press("v", "esc") // a list takes in what has come while nobody looked
	h.w.run("run-9", 6, 1, time.Minute)
	h.w.lost("run-9", "charge-9")
	h.press("U")
	h.poke()
	h.wantRow("U does nothing now", "1 new", "R takes them in")
}
