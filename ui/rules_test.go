package ui

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"tollgate/escalation"
	"tollgate/gate"
)

// The rules of hand and eye, each on the whole program: a gate in memory, its
// desk, and an operator's keys.

// incident is a queue of three lost payments, the first one selected.
func incident(t testing.TB) (*hand, []gate.ItemID) {
	t.Helper()
	w := newWorld(t)
	w.run("run-1", 8, 4, 10*time.Minute)
	ids := []gate.ItemID{w.lost("run-1", "charge-1"), w.lost("run-1", "charge-2"), w.lost("run-1", "charge-3")}
	return sit(w), ids
}

// What others find out about an item.
var (
	happened    = escalation.Act{Verb: gate.ActReconcile, Finding: gate.FindingHappened, Reason: "found it", Evidence: "their log"}
	notHappened = escalation.Act{Verb: gate.ActReconcile, Finding: gate.FindingDidNotHappen, Reason: "looked", Evidence: "their log"}
)

// Rule 1: selection is an id. If the id has gone, nothing is selected, it is
// said who resolved it, and verbs are off until the operator moves.
func TestRule1SelectionIsAnID(t *testing.T) {
	h, ids := incident(t)
	h.press("j")
	h.wantRow(">", "charge-2")
	h.w.act(lee, ids[1], happened)
	h.poke()
	h.wantNoRow(">", "charge")
	h.wantRow(string(ids[1]), "was resolved by lee")
	for _, key := range []string{"c", "z", "enter"} {
		h.press(key)
		h.wantRow(key+" does nothing now", "the row that was selected has left")
	}
	if len(h.acts) != 0 || h.m.here().place != inQueue {
		t.Fatalf("a verb went to %+v, or %v was opened: never the neighbour", h.acts, h.m.here().place)
	}
	h.press("j", "c")
	if claim := h.w.item(ids[2]).Claim; len(h.acts) != 1 || claim == nil || claim.ID != dana.ID {
		t.Errorf("after a step, claim went to %+v; want charge-3", h.acts)
	}
}

// Rule 1: a row that somebody puts off has left the list; one that has only
// gone far down has not.
func TestRule1WhatHasLeftAndWhatHasNot(t *testing.T) {
	h, ids := incident(t)
	h.press("j")
	h.w.act(lee, ids[1], escalation.Act{Verb: gate.ActSnooze, Until: noon.Add(time.Hour)})
	h.poke()
	h.wantRow(string(ids[1]), "was snoozed by lee")

	h, ids = incident(t)
	h.send(tea.WindowSizeMsg{Width: 80, Height: 12})
	h.press("j")
	h.w.run("run-0", 60, 60, time.Minute) // less time left: all of these come before
	for i := range 40 {
		h.w.ask("run-0", gate.OpID(fmt.Sprintf("charge-x%02d", i)), "", "payments.charge")
		h.w.fail("run-0", gate.OpID(fmt.Sprintf("charge-x%02d", i)), 1, "timeout")
	}
	h.poke()
	if got := h.m.queue.list; got.cur.id != ids[1] || len(got.left) != 0 || got.news != 40 {
		t.Errorf("selected %q, %d left, %d new; want %s, 0, 40", got.cur.id, len(got.left), got.news, ids[1])
	}
	h.press("R")
	if got := h.m.queue.list.cur.id; got != ids[1] {
		t.Errorf("taken in, %q is selected, want %s", got, ids[1])
	}
}

// Rule 1: on a reorder the cursor follows its id.
func TestRule1TheCursorFollowsItsID(t *testing.T) {
	h, ids := incident(t)
	h.press("j")
	h.w.run("run-0", 6, 1, time.Minute) // less time left: before the others
	h.w.lost("run-0", "charge-0")
	h.poke()
	h.press("R")
	h.wantRow(">", "charge-2")
	if got := h.m.queue.list.cur.id; got != ids[1] {
		t.Errorf("selected %s, want %s", got, ids[1])
	}
	h.wantRow("charge-0")
}

// Rule 2: rows are not sorted again under the cursor; a line says what is held
// back; counters stay live.
func TestRule2RowsStayUnderTheCursor(t *testing.T) {
	h, ids := incident(t)
	h.w.run("run-0", 6, 1, time.Minute)
	h.w.lost("run-0", "charge-0")
	h.w.act(lee, ids[2], happened)
	h.w.act(lee, ids[0], escalation.Act{Verb: gate.ActClaim})
	h.poke()
	h.wantNoRow("charge-0")
	h.wantRow("1 new - 1 left", "R takes them in")
	h.wantRow("charge-1", "lee")                // what is shown is live
	h.wantRow("1 queue 3", "3 outcome unknown") // and so are the counters
	rows := names2(h.m.queue.list.visible())
	if got, want := rows, "charge-1 charge-2 charge-3"; got != want {
		t.Errorf("rows = %s, want %s", got, want)
	}
	h.press("R")
	if got, want := names2(h.m.queue.list.rows), "charge-0 charge-1 charge-2"; got != want {
		t.Errorf("rows after R = %s, want %s", got, want)
	}
	h.wantNoRow("takes them in")
}

func names2(rows []gate.ItemRow) string {
	var ops []string
	for _, r := range rows {
		ops = append(ops, string(r.Op))
	}
	return strings.Join(ops, " ")
}

// Rule 3: nothing that needs a decision pops up: whatever happens, the place
// that has the keys is the one where the operator went.
func TestRule3NothingPopsUp(t *testing.T) {
	h, ids := incident(t)
	for _, at := range []struct {
		keys []string
		want place
	}{
		{nil, inQueue},
		{[]string{"2"}, inRuns},
		{[]string{"j", "enter"}, inRun},
		{[]string{"1", "enter"}, inReview},
		{[]string{"x"}, inForm},
	} {
		h.press(at.keys...)
		h.w.run(gate.RunID("run-of-"+strings.Join(at.keys, "-")+"x"), 6, 1, time.Minute)
		h.w.lost(gate.RunID("run-of-"+strings.Join(at.keys, "-")+"x"), "charge-9")
		h.poke()
		h.tick(time.Second)
		if got := h.m.where(); got != at.want {
			t.Errorf("after %v and a new item the keys are in %v, want %v", at.keys, got, at.want)
		}
	}
	if len(ids) != 3 {
		t.Fatal("the incident has three items")
	}
}

// Rule 10: nothing that others wrote reaches the terminal as anything but
// visible text, on any screen.
func TestRule10HostileTextIsShownAndNotObeyed(t *testing.T) {
	hostile := "\x1b]52;c;ZXZpbA==\x07\x1b[2J\u009b31m\x9b1m\u202egnp.exe\r\nA\tB\x1b]8;;http://evil\x1b\\\u200b\U000E0041"
	w := newWorld(t)
	w.run("run-1", 8, 4, 10*time.Minute)
	w.ask("run-1", "charge-1", "planner", "payments.charge")
	w.do(gate.Report{Actor: agents, Run: "run-1", Op: "charge-1", Ordinal: 1, Failure: gate.Failure{
		Code: "timeout", Message: hostile, Status: hostile, Field: hostile, Suggest: hostile,
	}})
	h := sit(w)
	look := func(where string) {
		t.Helper()
		frame := h.m.View() // the theme has no sequences of its own
		for _, r := range frame {
			if r != '\n' && (r < ' ' || r >= 0x7f) {
				t.Fatalf("%s: %U in the frame\n%q", where, r, frame)
			}
		}
		if got := strings.Count(frame, "\n") + 1; got != 36 {
			t.Errorf("%s: %d rows, want 36", where, got)
		}
	}
	look("queue")
	h.press("enter")
	look("review")
	h.press("x")
	h.wait()
	h.paste(hostile)
	look("form")
	h.press("esc", "v", "tab")
	look("run")
	h.reader.fault = func() error { return errors.New(hostile) }
	h.poke()
	look("disconnected")
	h.press("esc", "esc", "/")
	h.paste(hostile)
	look("filter")
	h.reader.fault = nil
	h.w.act(gate.Actor{ID: "uid:9", Name: hostile}, gate.ItemIDOf("run-1", "charge-1"), happened)
	h.press("esc")
	h.look()
	h.poke()
	look("queue of a row that has left")
}

// Rule 12: the mouse does nothing.
func TestRule12TheMouseDoesNothing(t *testing.T) {
	h, _ := incident(t)
	before := h.screen()
	for _, b := range []tea.MouseButton{tea.MouseButtonLeft, tea.MouseButtonRight, tea.MouseButtonWheelDown} {
		h.send(tea.MouseMsg{X: 3, Y: 6, Button: b, Action: tea.MouseActionPress})
	}
	if got := h.screen(); got != before {
		t.Errorf("the mouse changed the screen to\n%s", got)
	}
}

// Rule 12: ctrl+z suspends, wherever the keys are.
func TestRule12CtrlZSuspends(t *testing.T) {
	for _, keys := range [][]string{nil, {"2"}, {"enter"}, {"enter", "x"}, {"?"}, {"/"}} {
		h, _ := incident(t)
		h.press(keys...)
		_, cmd := h.m.Update(keyOf("ctrl+z"))
		if !yields[tea.SuspendMsg](cmd) {
			t.Errorf("after %v ctrl+z does not suspend", keys)
		}
	}
}

// yields reports whether a command comes back with a kind of message.
func yields[M tea.Msg](cmd tea.Cmd) bool {
	if cmd == nil {
		return false
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			if yields[M](c) {
				return true
			}
		}
		return false
	default:
		_, ok := msg.(M)
		return ok
	}
}

// Verbs are off on a terminal that is too small to show what they act on, and
// in a read-only console.
func TestVerbsAreOff(t *testing.T) {
	h, _ := incident(t)
	h.send(tea.WindowSizeMsg{Width: 39, Height: 24})
	h.press("c", "z", "enter", "j", "U")
	if len(h.acts) != 0 || h.m.here().place != inQueue {
		t.Error("a verb went through on a terminal that is too small")
	}
	h.press("q")
	if !h.quit {
		t.Error("q does not quit there")
	}

	w := newWorld(t)
	w.run("run-1", 8, 4, 10*time.Minute)
	w.lost("run-1", "charge-1")
	h = sit(w, func(o *Options) { o.ReadOnly = true })
	h.press("c")
	h.wantRow("c does nothing now", "read-only")
	h.press("enter", "x")
	if h.m.form != nil || len(h.acts) != 0 {
		t.Error("a verb went through in a read-only console")
	}
}

// A whole incident by keys alone: a lost write is claimed, reviewed, found not
// to have happened; approving it is refused, and it goes on in a new run.
func TestAnIncidentByKeysAlone(t *testing.T) {
	w := newWorld(t)
	w.run("run-1", 6, 1, 10*time.Minute)
	id := w.lost("run-1", "charge-42")
	h := sit(w)
	tail := string(id[len(id)-4:])
	h.press("c", "enter")
	h.wantRow("claimed by you")
	h.press("r")
	h.wait()
	h.press("right", "right", "enter")
	h.write("ticket 4711: no charge at the provider")
	h.press("enter")
	h.write("asked the provider")
	h.press("ctrl+s", "a")
	h.wait()
	h.write("try once more")
	h.press("ctrl+s")
	h.wantRow("STOP_SIDE_EFFECT_BUDGET", "1/1")
	h.press("n")
	h.wait()
	for _, text := range []string{"", "4", "10m", "1", "", "", "the customer waits", tail} {
		h.write(text)
		h.press("enter")
	}
	h.press("ctrl+s")
	h.wantRow("RESOLVED", "run-1.2")

	var got []string
	page, err := w.store.Ledger(t.Context(), gate.LedgerQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range page.Rows {
		if d.Act.IsVerb() {
			got = append(got, d.Act.String()+" "+d.Verdict.String()+" "+d.Actor.Name)
		}
	}
	want := "claim RECORDED dana, reconcile RESOLVED dana, approve STOP_SIDE_EFFECT_BUDGET dana, new-run RESOLVED dana"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("the ledger holds %s\nwant %s", s, want)
	}
	if _, err := w.store.Run(t.Context(), "run-1.2", w.clock.Wall()); err != nil {
		t.Errorf("the new run: %v", err)
	}
}
