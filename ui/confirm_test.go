package ui

import (
	"errors"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"tollgate/escalation"
	"tollgate/gate"
)

// Rule 5: Enter never decides; Ctrl+S does, once the form is armed and full.
func TestRule5OnlyCtrlSDecides(t *testing.T) {
	h, _ := incident(t)
	h.press("enter")
	h.fill("x", "no use")
	for _, key := range []string{"enter", "enter", "tab", "down", "up", "shift+tab", "enter", "space", "right"} {
		h.press(key)
	}
	if len(h.acts) != 0 {
		t.Fatalf("a key that is not ctrl+s decided: %+v", h.acts)
	}
	h.press("ctrl+s")
	if len(h.acts) != 1 || h.acts[0].Verb != gate.ActReject {
		t.Fatalf("ctrl+s sent %+v, want one reject", h.acts)
	}
	h.press("ctrl+s", "ctrl+s")
	if len(h.acts) != 1 {
		t.Errorf("ctrl+s again sent another: %+v", h.acts)
	}
}

// Rule 5: a form arms when no key has come for 400 ms. Until then every key
// falls into nothing, and begins the 400 ms anew.
func TestRule5AFormArmsInAQuietMoment(t *testing.T) {
	h, _ := incident(t)
	h.press("enter", "x", "x", "x")
	h.write("jjj")
	h.press("enter", "ctrl+s")
	h.paste("meant for the list")
	if got := h.m.form.value(partReason); got != "" {
		t.Fatalf("keys before the form is armed wrote %q", got)
	}
	var arms []timer
	for _, timer := range h.timers {
		if _, ok := timer.msg().(armMsg); ok {
			arms = append(arms, timer)
			if timer.after != 400*time.Millisecond {
				t.Errorf("a form waits %s, want 400ms", timer.after)
			}
		}
	}
	for i, timer := range arms {
		if h.m.form.armed {
			t.Fatalf("armed by the quiet after key %d of %d", i, len(arms))
		}
		h.send(timer.msg())
	}
	if !h.m.form.armed {
		t.Fatal("not armed after 400ms without a key")
	}
	h.write("now")
	if got := h.m.form.value(partReason); got != "now" {
		t.Errorf("armed, and typed %q, want now", got)
	}
}

// Rule 5, case 24: what arrives in the instant in which a form appears does
// nothing, whatever it is.
func TestRule5NothingArrivesInTheInstant(t *testing.T) {
	for _, key := range []string{"enter", "space", "y", "ctrl+s", "tab", "right", "x"} {
		h, _ := incident(t)
		h.press("enter", "r", key)
		f := h.m.form
		if f == nil || f.at != 0 || f.choice(partFinding) != -1 || len(h.acts) != 0 {
			t.Errorf("%s did something: %+v, %+v", key, f, h.acts)
		}
	}
}

// Rule 5: a paste goes into text fields, and into nothing else.
func TestRule5PastesGoIntoTextOnly(t *testing.T) {
	h, ids := incident(t)
	for _, in := range [][]string{nil, {"2"}, {"enter"}, {"1", "enter"}} {
		h.press(in...)
		before := h.m.where()
		for _, text := range []string{"c", "q", "xy\n", "1", "?", "\x13", "j"} {
			h.paste(text)
		}
		if h.quit || h.m.where() != before || len(h.acts) != 0 {
			t.Fatalf("in %v a paste did something", before)
		}
	}
	h.press("r")
	h.wait()
	h.paste("happened")
	if h.m.form.choice(partFinding) != -1 {
		t.Error("a paste chose a finding")
	}
	h.press("left", "enter")
	h.paste("line one\nline two\x13")
	if got := h.m.form.value(partEvidence); !strings.HasPrefix(got, "line one line two") || h.m.form.at != 1 {
		t.Errorf("the paste became %q in field %d; want it as one line in field 1", got, h.m.form.at)
	}
	h.press("enter")
	h.write("looked")
	h.press("ctrl+s") // as the end of a paste would bring it
	if len(h.acts) != 0 {
		t.Errorf("ctrl+s within 400ms of a paste decided %s: %+v", ids[0], h.acts)
	}
	h.wait()
	h.press("ctrl+s")
	if len(h.acts) != 1 {
		t.Errorf("ctrl+s after a quiet moment sent %d", len(h.acts))
	}
}

// Rule 5: Esc decides nothing and keeps the draft.
func TestRule5EscKeepsTheDraft(t *testing.T) {
	h, _ := incident(t)
	h.press("enter", "r")
	h.wait()
	h.press("right", "right", "enter")
	h.write("their log says no")
	h.press("esc", "esc", "2", "1", "enter", "r")
	h.wait()
	if len(h.acts) != 0 {
		t.Fatalf("esc decided: %+v", h.acts)
	}
	if f := h.m.form; f.value(partEvidence) != "their log says no" || f.choice(partFinding) != 1 {
		t.Errorf("the draft came back as %q, choice %d", f.value(partEvidence), f.choice(partFinding))
	}
	if got := h.m.form.at; h.m.form.fields[got].part != partEvidence {
		t.Errorf("the cursor came back in field %d, want the evidence, where it was left", got)
	}
	h.press("left", "esc", "r")
	h.wait()
	h.write("!")
	if got := h.m.form.value(partEvidence); got != "their log says n!o" {
		t.Errorf("typed where the cursor was left: %q", got)
	}
}

// Rule 5: only left and right choose. A blank, or any letter of a sentence
// that was meant for a text, leaves a choice as it is.
func TestRule5OnlyArrowsChoose(t *testing.T) {
	h, _ := incident(t)
	h.press("enter", "r")
	h.wait()
	h.press("right")
	h.write("a sentence, of some words")
	if got := h.m.form.choice(partFinding); got != 0 {
		t.Errorf("a sentence typed at a choice made it %d, want 0", got)
	}
	h.press("right")
	if got := h.m.form.choice(partFinding); got != 1 {
		t.Errorf("right made it %d, want 1", got)
	}
}

// Rule 6: what can be taken back takes one key, and says how.
func TestRule6MarksTakeOneKeyAndAnUndo(t *testing.T) {
	h, ids := incident(t)
	h.press("c")
	if got := h.w.item(ids[0]).Claim; got == nil || got.ID != dana.ID {
		t.Fatalf("claim = %+v, want dana's", got)
	}
	h.wantRow("claimed charge-1", "U undoes")
	h.press("U")
	if got := h.w.item(ids[0]).Claim; got != nil {
		t.Errorf("claim after undo = %+v, want none", got)
	}
	h.press("z")
	h.poke()
	if got := h.w.item(ids[0]).Snoozed; !got.Equal(h.m.now.Add(time.Hour)) {
		t.Errorf("snoozed until %s, want an hour", got)
	}
	h.wantRow("snoozed charge-1", "U undoes")
	h.press("U")
	if got := h.w.item(ids[0]).Snoozed; got.After(h.m.now) {
		t.Errorf("after undo it is snoozed until %s", got)
	}
}

// Rule 6: a mark on an item that has moved on is not offered to be undone.
func TestRule6UndoEndsWithTheVersion(t *testing.T) {
	h, _ := incident(t)
	h.press("c", "enter")
	h.wantRow("U undo")
	h.fill("x", "no use")
	h.press("ctrl+s")
	h.wantNoRow("U undo")
	h.press("U")
	h.wantRow("U does nothing now", "there is nothing to undo")

	// Somebody else moves it, while it is in the list and under review.
	absent := escalation.Act{Verb: gate.ActReconcile, Finding: gate.FindingDidNotHappen, Reason: "looked", Evidence: "their log", TakeOver: true}
	for _, review := range []bool{false, true} {
		h, ids := incident(t)
		h.press("c")
		if review {
			h.press("enter")
		}
		h.w.act(lee, ids[0], absent)
		h.poke()
		if h.press("U"); len(h.acts) != 1 {
			t.Errorf("in a review %v: undo was sent for an item that has moved on", review)
		}
	}
}

// Rule 6: where a dispatch of a write may follow that is not safe to repeat,
// and for two-person and as-new-action, the last four characters of the id are
// typed as well.
func TestRule6WhatIsTyped(t *testing.T) {
	base := escalation.Item{ItemRow: gate.ItemRow{ID: "i-1234abcd", Effect: gate.EffectWrite, RetrySafety: gate.SafetyKey}}
	never := func(it *escalation.Item) { it.RetrySafety = gate.SafetyNever }
	two := func(it *escalation.Item) { it.NeedsTwo = true }
	read := func(it *escalation.Item) { it.Effect, it.RetrySafety = gate.EffectRead, gate.SafetyIdempotent }
	says := func(name string, v gate.Verdict) func(*escalation.Item) {
		return func(it *escalation.Item) {
			it.RetrySafety = gate.SafetyNever
			it.Preview = map[string]escalation.Preview{name: {Verdict: v}}
		}
	}
	for _, r := range []struct {
		name   string
		verb   verb
		change func(*escalation.Item)
		want   bool
	}{
		{"approve, safe under its key", verb{do: gate.ActApprove}, nil, false},
		{"approve, never safe", verb{do: gate.ActApprove}, never, true},
		{"approve of a read", verb{do: gate.ActApprove}, read, false},
		{"approve of two", verb{do: gate.ActApprove}, two, true},
		{"as a new action", verb{do: gate.ActApprove, asNew: true}, nil, true},
		{"new run, never safe", verb{do: gate.ActNewRun}, never, true},
		{"new run, safe under its key", verb{do: gate.ActNewRun}, nil, false},
		{"new run of two", verb{do: gate.ActNewRun}, two, false},
		{"reject", verb{do: gate.ActReject}, never, false},
		{"reconcile", verb{do: gate.ActReconcile}, never, false},
		{"note", verb{do: gate.ActNote}, never, false},

		// What the gate refuses for good dispatches nothing; what may go by does not refuse.
		{"approve, a yes", verb{do: gate.ActApprove}, says("approve", gate.Retry), true},
		{"approve, unsafe to repeat", verb{do: gate.ActApprove}, says("approve", gate.StopUnsafeToRepeat), false},
		{"approve, nothing left", verb{do: gate.ActApprove}, says("approve", gate.StopSideEffectBudget), false},
		{"approve, the same person", verb{do: gate.ActApprove}, says("approve", gate.StopSamePerson), false},
		{"as a new action, nothing left", verb{do: gate.ActApprove, asNew: true}, says("approve as-new-action", gate.StopAttemptBudget), false},
		{"as a new action, while approve is refused", verb{do: gate.ActApprove, asNew: true}, says("approve", gate.StopUnsafeToRepeat), true},
		{"new run, while approve is refused", verb{do: gate.ActNewRun}, says("approve", gate.StopUnsafeToRepeat), true},
		{"new run, refused", verb{do: gate.ActNewRun}, says("new-run", gate.StopTerminal), false},
		{"approve, claimed by another", verb{do: gate.ActApprove}, says("approve", gate.StopClaimed), true},
		{"approve, the breaker is open", verb{do: gate.ActApprove}, says("approve", gate.StopBreakerOpen), true},
		{"approve, no time by this jitter", verb{do: gate.ActApprove}, says("approve", gate.StopTimeBudget), true},
	} {
		it := base
		if r.change != nil {
			r.change(&it)
		}
		f := newForm(r.verb, &it, dana.ID, noon)
		if got := f.field(partTyped) != nil; got != r.want {
			t.Errorf("%s: typed %v, want %v", r.name, got, r.want)
		}
		if !r.want {
			continue
		}
		fd := f.field(partTyped)
		for text, well := range map[string]bool{"": false, "abc": false, "abcde": false, "1234": false, "ABCD": false, "abcd": true, " abcd ": true} {
			fd.text.SetValue(text)
			if got := f.lacks(fd) == ""; got != well {
				t.Errorf("%s: typed %q is well %v, want %v", r.name, text, got, well)
			}
		}
	}
}

// Rule 6: what has to be typed follows what the form says: a ruling can turn a
// refusal into a dispatch.
func TestRule6TypedFollowsTheForm(t *testing.T) {
	it := escalation.Item{
		ItemRow: gate.ItemRow{ID: "i-1234abcd", Effect: gate.EffectWrite, RetrySafety: gate.SafetyNever, Code: "auth_failure", Class: gate.ClassPermanent},
		Preview: map[string]escalation.Preview{
			"approve": {Verdict: gate.StopPermanentOrUnknown}, "approve cause-cleared": {Verdict: gate.Retry},
		},
	}
	f := newForm(verb{do: gate.ActApprove}, &it, dana.ID, noon)
	for i, want := range []bool{false, true, false} {
		if got := f.field(partTyped) != nil; got != want {
			t.Errorf("after %d changes of the ruling: typed %v, want %v", i, got, want)
		}
		f.choose(1)
	}
	f.focus(len(f.fields) - 1)
	f.fields[0].choice = 0
	f.changed()
	if f.at >= len(f.fields) || f.field(partTyped) != nil {
		t.Errorf("field %d of %d has the keys after the typed one has gone", f.at, len(f.fields))
	}
}

// Rule 6: without the typed characters nothing is sent.
func TestRule6UntypedIsNotSent(t *testing.T) {
	h, ids := incident(t)
	h.press("enter")
	h.fill("A", "they wait")
	h.press("ctrl+s")
	if len(h.acts) != 0 || h.m.form == nil {
		t.Fatalf("sent %+v without the typed characters", h.acts)
	}
	h.wantRow("confirm", "the last four characters of "+string(ids[0]))
	h.wantRow("confirm: needed")
	h.write(string(ids[0][len(ids[0])-4:]))
	h.press("ctrl+s")
	if len(h.acts) != 1 || !h.acts[0].AsNewAction {
		t.Errorf("sent %+v, want the new action", h.acts)
	}
}

// Rule 7: a draft survives a resize and a refused answer.
func TestRule7DraftsSurvive(t *testing.T) {
	h, ids := incident(t)
	h.w.act(lee, ids[0], escalation.Act{Verb: gate.ActClaim})
	h.press("enter", "x")
	h.wait()
	h.press("enter")
	h.write("no use")
	for _, size := range [][2]int{{80, 24}, {20, 5}, {1, 1}, {200, 60}} {
		h.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		h.m.View()
	}
	if got := h.m.form.value(partReason); got != "no use" {
		t.Fatalf("after resizing the draft is %q", got)
	}
	h.press("ctrl+s") // nothing is chosen beforehand about the claim
	h.wantRow("claim: lee holds it: choose with left and right")
	if len(h.acts) != 0 {
		t.Fatalf("sent %+v with no choice about the claim", h.acts)
	}
	h.press("right")
	h.wantRow("STOP_CLAIMED as long as lee holds the claim")
	h.press("tab", "ctrl+s")
	h.wantRow("STOP_CLAIMED")
	h.press("x")
	h.wait()
	if got := h.m.form.value(partReason); got != "no use" {
		t.Errorf("after a refusal the draft is %q", got)
	}
	h.press("shift+tab", "right") // take over
	h.press("ctrl+s")
	if len(h.acts) != 2 || !h.acts[1].TakeOver || h.acts[1].RequestID == h.acts[0].RequestID {
		t.Errorf("sent %+v, want a take-over as a request of its own", h.acts)
	}
	if got := h.w.item(ids[0]).State; got != gate.HoldResolved {
		t.Errorf("the item is %s, want resolved", got)
	}
}

// Rule 7, R-P6: a decision that got no answer is sent again as the same
// request; one that has been changed is another.
func TestRule7TheSameDecisionIsTheSameRequest(t *testing.T) {
	h, ids := incident(t)
	h.press("enter")
	h.fill("x", "no use")
	h.reader.fault = func() error { return errors.New("broken pipe") }
	h.press("ctrl+s")
	h.wantRow("broken pipe")
	h.press("ctrl+s")
	h.write(" at all")
	h.press("ctrl+s")
	h.reader.fault = nil
	h.press("ctrl+s")
	if len(h.acts) != 4 {
		t.Fatalf("sent %d requests, want 4", len(h.acts))
	}
	a := h.acts
	if a[0].RequestID != a[1].RequestID || a[1].RequestID == a[2].RequestID || a[2].RequestID != a[3].RequestID {
		t.Errorf("request ids %s %s %s %s, want the first two and the last two alike", a[0].RequestID, a[1].RequestID, a[2].RequestID, a[3].RequestID)
	}
	if got := h.w.item(ids[0]).State; got != gate.HoldResolved {
		t.Errorf("the item is %s, want resolved", got)
	}
}
