package ui

import (
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"tollgate/escalation"
	"tollgate/gate"
)

// Rule 7: reasons and evidence are required.
func TestRule7ReasonAndEvidence(t *testing.T) {
	it := escalation.Item{ItemRow: gate.ItemRow{ID: "i-1234abcd", Effect: gate.EffectWrite, RetrySafety: gate.SafetyKey}}
	for _, r := range []struct {
		name string
		verb gate.Act
		fill map[part]string
		it   int // the choice of a finding
		want part
		well bool
	}{
		{"reconcile, all there", gate.ActReconcile, map[part]string{partEvidence: "log", partReason: "looked"}, 0, 0, true},
		{"no finding", gate.ActReconcile, map[part]string{partEvidence: "log", partReason: "looked"}, -1, partFinding, false},
		{"no evidence", gate.ActReconcile, map[part]string{partReason: "looked"}, 1, partEvidence, false},
		{"blank evidence", gate.ActReconcile, map[part]string{partEvidence: "  ", partReason: "looked"}, 1, partEvidence, false},
		{"cannot tell needs none", gate.ActReconcile, map[part]string{partReason: "looked"}, 2, 0, true},
		{"cannot tell needs a reason", gate.ActReconcile, nil, 2, partReason, false},
		{"no reason", gate.ActReconcile, map[part]string{partEvidence: "log"}, 0, partReason, false},
		{"reject", gate.ActReject, map[part]string{partReason: "no use"}, 0, 0, true},
		{"reject without a reason", gate.ActReject, nil, 0, partReason, false},
		{"approve without a reason", gate.ActApprove, nil, 0, partReason, false},
		{"new run without limits", gate.ActNewRun, map[part]string{partReason: "go on"}, 0, partAttempts, false},
		{"a reason that is too long", gate.ActReject, map[part]string{partReason: strings.Repeat("ü", gate.MaxReason)}, 0, partReason, false},
	} {
		t.Run(r.name, func(t *testing.T) {
			f := newForm(verb{do: r.verb}, &it, dana.ID, noon)
			for p, text := range r.fill {
				f.field(p).text.SetValue(text)
			}
			if fd := f.field(partFinding); fd != nil {
				fd.choice = r.it
			}
			_, at, lacks := f.act()
			switch {
			case r.well && lacks != "":
				t.Errorf("%s: %s", f.fields[at].label, lacks)
			case !r.well && lacks == "":
				t.Error("it would have been sent")
			case !r.well && f.fields[at].part != r.want:
				t.Errorf("the cursor goes to %q, want another field", f.fields[at].label)
			}
		})
	}
}

// What ends the wait about a lost write leaves its outcome unknown: the review
// and the form say so, and what to do first.
func TestTheOutcomeIsStillUnknown(t *testing.T) {
	for _, r := range []struct{ key, verb string }{{"x", "reject"}, {"n", "new run"}} {
		h, ids := incident(t)
		h.send(tea.WindowSizeMsg{Width: 110, Height: 60})
		h.press("enter")
		if got := h.text(); strings.Count(got, "outcome still unknown: reconcile first") != 2 {
			t.Errorf("the review does not say of reject and new run that the outcome is still unknown:\n%s", got)
		}
		h.press(r.key)
		if got := h.text(); !strings.Contains(got, "Whether it happened is still unknown") || !strings.Contains(got, "(esc, r)") {
			t.Errorf("the form of %s does not say that the outcome is still unknown:\n%s", r.verb, got)
		}
		h.press("esc")
		h.w.act(lee, ids[0], notHappened)
		h.poke()
		h.press("u", r.key)
		if got := h.text(); strings.Contains(got, "still unknown") {
			t.Errorf("the form of %s says that a known outcome is unknown:\n%s", r.verb, got)
		}
	}
}

// A limit that the gate would not take is flagged where it is typed.
func TestALimitOutOfRangeIsFlagged(t *testing.T) {
	h, _ := incident(t)
	h.press("enter", "n")
	h.wait()
	h.press("enter")
	for _, r := range []struct{ text, want string }{
		{"0", "limits.attempts: want 1 to 1000000, got 0"},
		{"0s", "limits.deadline: want 1ms to 8760h, got 0s"},
		{"-1", "limits.side_effects: want 0 to 1000000, got -1"},
		{"-1s", "limits.reserve"},
		{"-1", "limits.retry_tokens"},
	} {
		h.wantNoRow(r.want)
		h.write(r.text)
		h.wantRow(r.want)
		for range r.text {
			h.press("backspace")
		}
		h.press("enter")
	}
}

// A finding says what it comes to once it is chosen, and that the evidence of
// what happened goes to the agent.
func TestEvidenceBecomesTheResult(t *testing.T) {
	h, _ := incident(t)
	h.press("enter", "r")
	h.wait()
	h.wantRow("choose one with left and right")
	h.wantNoRow("result_ref")
	h.press("right")
	h.wantRow("closes the operation as succeeded; the evidence is the result that its agent gets")
	h.wantRow("becomes the stored result (result_ref) that the agent gets")
	h.press("enter")
	h.write("ch_42")
	h.wantRow("closes the operation as succeeded")
	h.wantRow("becomes the stored result (result_ref) that the agent gets")
	h.press("shift+tab", "right")
	h.wantRow("nothing is given back; the item stays open")
	h.wantNoRow("result_ref")
	h.press("right")
	h.wantRow("closes the operation as unresolved")
}
