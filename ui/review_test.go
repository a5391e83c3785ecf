package ui

import (
	"context"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"tollgate/escalation"
	"tollgate/gate"
)

// Rules 4 and 8 of hand and eye: a review is a frozen copy, and the gate's
// answer stands beside it.

// Rule 4: a review is a frozen copy. When the item moves on, a banner says
// what changed and by whom, verbs are off, and u loads the new one.
func TestRule4ReviewIsAFrozenCopy(t *testing.T) {
	h, ids := incident(t)
	h.press("enter")
	h.wantRow("review", string(ids[0]), "v1")
	h.w.act(lee, ids[0], notHappened)
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
	h.fill("x", "no use")
	h.w.act(lee, ids[0], notHappened)
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
	h.press("enter")
	h.fill("x", "no use")
	h.w.act(lee, ids[0], notHappened)
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
	h.press("enter")
	h.fill("r", "→→", "their log", "looked")
	h.press("ctrl+s")
	h.wantRow("RESOLVED", "did not happen")
	h.fill("a", "once more", string(ids[0][len(ids[0])-4:]))
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
	h.press("enter")
	h.fill("a", "reviewed")
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
	h.send(tea.WindowSizeMsg{Width: 120, Height: 36})
	h.wantNoRow("in flight") // of the attempt that has just been said to have succeeded
	h.wantRow("attempt 1", "succeeded")
}

// Rules 4 and 8: the operator's own decision moves the item too. It is not said
// that somebody else did, whether the news or the answer comes first; when no
// answer comes it is said who did.
func TestRule8OnesOwnDecisionIsNoNews(t *testing.T) {
	for _, lost := range []bool{false, true} {
		h, ids := incident(t)
		h.press("enter")
		h.fill("r", "→→", "their log", "looked")
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
	h.press("f", "f", "f", "enter")
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
	h, _ := incident(t)
	h.press("enter")
	h.fill("a", "try it")
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
