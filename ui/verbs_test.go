package ui

import (
	"testing"
	"time"

	"tollgate/escalation"
	"tollgate/gate"
)

// An item that is put off is in a list of its own, the first to come back first;
// that there are some, and until when, is said where they would be, and in their
// reviews.
func TestSnoozed(t *testing.T) {
	w := newWorld(t)
	w.run("run-1", 8, 4, 10*time.Minute)
	w.lost("run-1", "charge-1")
	h := sit(w)
	h.press("z")
	h.wantRow("snoozed charge-1 until 13:00:02Z, 50m after the run's deadline", "U undoes")
	h.poke()
	h.press("j", "R")
	h.wantRow("Nothing else waits for a person: 1 snoozed until 13:00Z.")
	h.run(h.m.toReview(gate.ItemIDOf("run-1", "charge-1")))
	h.wantRow("snoozed", "until 13:00:02Z, for 1h more")
	h.wantRow("50m after the run's deadline")

	w.run("run-2", 8, 4, 4*time.Hour)
	second, third := w.lost("run-2", "charge-2"), w.lost("run-2", "charge-3")
	w.act(lee, second, escalation.Act{Verb: gate.ActSnooze, Until: noon.Add(30 * time.Minute)})
	h.press("1")
	h.poke()
	h.wantRow("charge-3")
	h.wantRow("2 snoozed, the first until 12:30Z")
	h.press("f")
	h.wantRow("OPERATION", "LEFT", "BACK")
	h.wantRow(">", "charge-2", "29m")
	h.wantRow("charge-1", "59m")
	h.wantNoRow("charge-3")
	h.wantRow("2 snoozed")
	h.press("j", "z")
	h.wantRow("charge-1 is back in the queue")
	h.poke()
	h.wantRow("charge-1", "is back in the queue")
	h.press("R")
	h.wantRow("1 snoozed")
	h.press("f", "f", "f")
	h.wantRow(">", "charge-1")
	h.press("z")
	h.poke()
	h.wantRow("charge-1", "was snoozed by you")
	h.press("R", "j", "z")
	h.wantRow("snoozed charge-3 until", "U undoes")
	h.wantNoRow("snoozed charge-3", "deadline")
	h.w.act(lee, third, escalation.Act{Verb: gate.ActSnooze, Until: noon})
	h.run(h.m.toReview(third))
	h.press("u")
	h.wantNoRow("snoozed")
}
