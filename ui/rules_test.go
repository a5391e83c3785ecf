package ui

import (
	"context"
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

var happened = escalation.Act{Verb: gate.ActReconcile, Finding: gate.FindingHappened, Reason: "found it", Evidence: "their log"}

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
	if len(h.acts) != 1 || h.w.item(ids[2]).ClaimID != dana.ID {
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

// Rule 4: a review is a frozen copy. When the item moves on, a banner says
// what changed and by whom, verbs are off, and u loads the new one.
func TestRule4ReviewIsAFrozenCopy(t *testing.T) {
	h, ids := incident(t)
	h.press("enter")
	h.wantRow("review", string(ids[0]), "v1")
	h.w.act(lee, ids[0], escalation.Act{Verb: gate.ActReconcile, Finding: gate.FindingDidNotHappen, Reason: "looked", Evidence: "their log"})
	h.poke()
	h.wantRow("moved on", "reconcile", "lee")
	h.wantRow("v1")
	h.wantRow("outcome unknown") // what was shown is still shown
	for _, key := range []string{"r", "a", "A", "x", "n", "c"} {
		h.press(key)
		if h.m.form != nil {
			t.Fatalf("%s opened a form on an item that has moved on", key)
		}
	}
	h.press("u")
	h.wantRow("review", "v2")
	h.wantNoRow("moved on")
	h.press("a")
	if h.m.form == nil {
		t.Error("after u the form of approve does not open")
	}
}

// Rule 4: what is shown changes by the operator's hand only. An item that comes
// for another reason – a mark, a store that is back – does not take its place
// under an open form.
func TestRule4NothingSlipsUnderAForm(t *testing.T) {
	h, ids := incident(t)
	h.press("enter")
	h.m.here().review.failed = "the store was away" // for an item that was read before
	h.m.feed.lost = errClosed
	h.press("esc", "enter")
	h.m.feed.lost = nil
	h.press("x")
	h.wait()
	h.write("no use")
	h.w.act(lee, ids[0], escalation.Act{Verb: gate.ActReconcile, Finding: gate.FindingDidNotHappen, Reason: "looked", Evidence: "their log"})
	h.run(h.m.out.item(ids[0]))
	if got := h.m.here().review.item.Version; got != 1 {
		t.Fatalf("v%d is shown under the form, want v1", got)
	}
	h.press("ctrl+s")
	if len(h.acts) != 0 {
		t.Errorf("sent %+v on an item that has moved on", h.acts)
	}
	h.wantRow("moved on", "reconcile by lee")
}

// Rule 4, R-P5: a verb carries the version that was shown, and an item that
// moved in the last instant is decided by nobody.
func TestRule4TheVersionShownIsSent(t *testing.T) {
	h, ids := incident(t)
	h.press("enter", "x")
	h.wait()
	h.write("no use")
	h.w.act(lee, ids[0], escalation.Act{Verb: gate.ActReconcile, Finding: gate.FindingDidNotHappen, Reason: "looked", Evidence: "their log"})
	h.press("ctrl+s") // the console has not heard of it yet
	if len(h.acts) != 1 || h.acts[0].Version != 1 {
		t.Fatalf("sent %+v, want version 1", h.acts)
	}
	if got := h.w.item(ids[0]); got.State != gate.HoldOpen || got.Version != 2 {
		t.Errorf("the item is %s v%d, want open v2: nothing happens", got.State, got.Version)
	}
	h.wantRow("STALE", "lee")
	h.wantRow("moved on", "reconcile", "lee")
}

// Rule 8: a yes is shown as permission, with its numbers, and later what
// really came of it.
func TestRule8AnAnswerAndThenWhatCameOfIt(t *testing.T) {
	h, ids := incident(t)
	h.press("enter", "r")
	h.wait()
	h.press("right", "right", "enter")
	h.write("their log")
	h.press("enter")
	h.write("looked")
	h.press("ctrl+s")
	h.wantRow("RESOLVED", "did not happen")
	h.press("a")
	h.wait()
	h.write("once more")
	h.press("enter")
	h.write(string(ids[0][len(ids[0])-4:]))
	h.press("ctrl+s")
	h.wantRow("you: approve", "RETRY_WITH_SHARED_CONTEXT", "attempt 2", "dispatch from 12:00:0")
	h.wantRow("came of it", "nobody has reported yet")
	h.w.fail("run-1", "charge-1", 2, "timeout")
	h.poke()
	h.wantRow("you: approve", "RETRY_WITH_SHARED_CONTEXT")
	h.wantRow("came of it", "outcome unknown", "timeout", "transient")
	h.wantRow("moved on", "by what came of it", "STOP_UNSAFE_TO_REPEAT")
	h.wantNoRow("report by")
	h.wantRow("attempt 2", "in flight") // what was shown stands as it was
	h.press("u")
	h.wantNoRow("came of it")
	h.wantRow("outcome unknown", "timeout after 0ms")
}

// Rule 8, case 28: it says succeeded when the agent has said so, not before.
func TestRule8SuccessIsTheAgentsWord(t *testing.T) {
	w := newWorld(t)
	w.run("run-1", 8, 4, 10*time.Minute)
	w.ask("run-1", "deploy-1", "planner", "infra.deploy")
	h := sit(w)
	h.press("enter", "a")
	h.wait()
	h.write("reviewed")
	h.press("ctrl+s")
	h.wantRow("you: approve", "ADMIT", "attempt 1")
	h.wantRow("because", "reviewed")
	h.wantNoRow("resolved", "approve by")
	h.wantRow("came of it", "nobody has reported yet")
	for _, size := range [][2]int{{120, 36}, {80, 24}, {40, 12}} {
		h.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		h.wantNoRow("succeeded")
	}
	w.clock.advance(3 * time.Second)
	w.succeed("run-1", "deploy-1", 1)
	h.poke()
	h.wantNoRow("moved on")
	for _, size := range [][2]int{{120, 36}, {80, 24}, {40, 12}} { // by itself, and whole
		h.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		h.wantRow("came of it", "succeeded")
		h.wantRow("ref-deploy-1")
	}
}

// Rules 4 and 8: the operator's own decision moves the item too. It is not said
// that somebody else did, whether the news or the answer comes first; when no
// answer comes it is said who did.
func TestRule8OnesOwnDecisionIsNoNews(t *testing.T) {
	for _, lost := range []bool{false, true} {
		h, ids := incident(t)
		h.press("enter", "r")
		h.wait()
		h.press("right", "right", "enter")
		h.write("their log")
		h.press("enter")
		h.write("looked")
		h.unread = func() {
			h.poke()
			h.wantNoRow("moved on")
			h.wantNoRow("The item has moved on")
			if lost {
				h.reader.fault = func() error { return context.DeadlineExceeded }
			}
		}
		if lost { // it is decided, and the answer does not arrive
			h.m.out.desk = deaf{h.m.out.desk}
		}
		h.press("ctrl+s")
		if got := h.w.item(ids[0]).Version; got != 2 {
			t.Fatalf("the item is v%d, want v2", got)
		}
		if !lost {
			h.wantNoRow("moved on")
			h.wantRow("you: reconcile", "RESOLVED")
			h.wantRow("v2")
			continue
		}
		h.wantRow("the gate did not answer within 30 s")
		h.press("esc")
		h.wantRow("moved on", "reconcile by you")
	}
}

// deaf decides, and loses the answer.
type deaf struct{ Desk }

func (d deaf) Do(ctx context.Context, who gate.Actor, id gate.ItemID, act escalation.Act) (gate.DecisionRow, error) {
	if _, err := d.Desk.Do(ctx, who, id, act); err != nil {
		return gate.DecisionRow{}, err
	}
	return gate.DecisionRow{}, context.DeadlineExceeded
}

// A resolved item says who resolved it, how, when and why, however it was
// resolved.
func TestAResolvedReviewSaysWhy(t *testing.T) {
	h, ids := incident(t)
	h.w.act(lee, ids[0], happened)
	h.press("f", "f", "j", "enter")
	h.wantRow("resolved", "reconcile by lee", "0s ago, 12:00:06", "RESOLVED", "happened")
	h.wantRow("because", "found it")
	h.wantRow("evidence", "their log")
	h.wantRow("verbs are off: the item is resolved")

	// By a new run that was decided on another item of the run.
	w := newWorld(t)
	w.run("run-1", 8, 4, 10*time.Minute)
	first, second := w.lost("run-1", "charge-1"), w.lost("run-1", "charge-2")
	n, d := int64(4), 10*time.Minute
	w.act(lee, first, escalation.Act{Verb: gate.ActNewRun, NewRun: "run-2", Limits: gate.Limits{Attempts: &n, SideEffects: &n, Deadline: &d}, Reason: "they wait"})
	h = sit(w)
	h.run(h.m.toReview(second))
	h.wantRow("resolved", "new-run by lee", "RESOLVED")
	h.wantRow("because", "they wait")

	// By an approve whose attempt has been reported since.
	w = newWorld(t)
	w.run("run-1", 8, 4, 10*time.Minute)
	w.ask("run-1", "deploy-1", "planner", "infra.deploy")
	id := gate.ItemIDOf("run-1", "deploy-1")
	h = sit(w)
	w.act(dana, id, escalation.Act{Verb: gate.ActApprove, Reason: "reviewed"})
	w.succeed("run-1", "deploy-1", 1)
	h.poke()
	h.wantRow(string(id), "was resolved by you (approve)")
	h.run(h.m.toReview(id))
	h.wantRow("resolved", "approve by you", "ADMIT")
	h.wantRow("because", "reviewed")
}

// A review that somebody else resolves says why as well.
func TestRule4TheBannerSaysWhy(t *testing.T) {
	h, ids := incident(t)
	h.press("enter")
	h.w.act(lee, ids[0], happened)
	h.poke()
	h.wantRow("moved on", "reconcile by lee", "RESOLVED", "happened")
	h.wantRow("because", "found it")
	h.wantRow("It no longer waits", "u loads what is there now")
	h.press("u")
	h.wantRow("resolved", "reconcile by lee")
}

// Rule 8: a stop is an answer too, with its numbers.
func TestRule8AStopIsAnAnswer(t *testing.T) {
	h, ids := incident(t)
	h.press("enter", "a")
	h.wait()
	h.write("try it")
	h.press("enter")
	h.write(string(ids[0][len(ids[0])-4:]))
	h.press("ctrl+s")
	h.wantRow("STOP_UNSAFE_TO_REPEAT", "timeout is transient", "outcome unknown")
	if h.m.form != nil {
		t.Error("the form is still open over the answer")
	}
}

// What a verb would do was asked when the item was read, and the deadline beside
// it runs on: the screen says of when it is, u asks again, and a yes does not
// stand when the deadline has passed.
func TestAPreviewSaysOfWhenItIs(t *testing.T) {
	w := newWorld(t)
	w.run("run-1", 8, 4, 10*time.Minute)
	w.ask("run-1", "deploy-1", "planner", "infra.deploy")
	h := sit(w)
	h.press("enter")
	h.wantRow("what each verb would do, as of 12:00:00Z")
	h.tick(5 * time.Second)
	h.wantRow("deadline in 09:55")
	h.wantRow("as of 12:00:00Z")
	h.press("a")
	h.wait()
	h.wantRow("the gate would say, as of 12:00:00Z", "ADMIT")
	h.press("esc", "u")
	h.wantRow("what each verb would do, as of 12:00:05Z")
	h.wantRow("a approve", "ADMIT")
	h.tick(10 * time.Minute)
	h.wantRow("deadline passed", "nothing can be dispatched any more")
	h.wantRow("a approve", "not possible: the deadline has passed")
	h.wantNoRow("ADMIT")
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
	h.press("enter")
	h.write(tail)
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
