package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"tollgate/escalation"
	"tollgate/gate"
	"tollgate/views"
)

// The ledger follows by itself, the newest decision last, until a cursor is in
// it; then what comes is counted and taken in with R.
//
// Rule 2.
func TestRule2LedgerHoldsStill(t *testing.T) {
	h, _ := incident(t)
	h.press("3")
	h.wantRow("following")
	h.w.run("run-2", 8, 4, 10*time.Minute)
	h.poke()
	rows := h.m.ledger.list.visible()
	last := rows[len(rows)-1].Seq
	if rows[len(rows)-1].Run != "run-2" || rows[0].Seq != 1 {
		t.Fatalf("the list goes from %d to a decision of %s, want from 1 to the newest", rows[0].Seq, rows[len(rows)-1].Run)
	}
	h.press("k") // the first step goes to the row at hand: the newest
	h.wantRow(">", fmt.Sprint(last))
	h.wantNoRow("following")
	h.press("k")
	before := h.screen()
	for i := range 3 {
		h.w.run(gate.RunID(fmt.Sprintf("later-%d", i)), 8, 4, time.Minute)
	}
	h.poke()
	h.wantRow("3 new", "R takes them in")
	h.wantNoRow("later-0")
	if got := h.m.ledger.list.cur.id.seq(); got != last-1 || marked(before) != marked(h.screen()) {
		t.Errorf("the cursor went from %d to %d, or its row moved", last-1, got)
	}
	h.press("R")
	h.wantRow("later-2", "start")
	if got := h.m.ledger.list.cur.id.seq(); got != last-1 {
		t.Errorf("taken in, the cursor is on %d, want %d", got, last-1)
	}
	h.wantNoRow("3 new")
	h.press("esc")
	h.wantRow("following")
}

// marked returns the row of a screen on which the cursor is.
func marked(screen string) int {
	return slices.IndexFunc(strings.Split(screen, "\n"), func(row string) bool { return strings.HasPrefix(strings.TrimSpace(row), ">") })
}

// A row that a filter no longer lets through is not the selected one any more,
// and no neighbour is.
//
// Rule 1.
func TestRule1LedgerSelectsASeq(t *testing.T) {
	h, _ := incident(t)
	h.w.clock.advance(time.Minute)
	h.w.run("run-2", 8, 4, 10*time.Minute)
	h.poke()
	h.press("3", "/")
	h.write("since:90s")
	h.press("enter", "k", "k")
	was := h.m.ledger.list.cur.id
	if was == "" {
		t.Fatal("nothing is selected")
	}
	h.tick(80 * time.Second)
	h.w.run("run-3", 8, 4, 10*time.Minute)
	h.poke()
	h.press("R")
	if got := h.m.ledger.list.cur; got.id != "" || got.lost != was {
		t.Fatalf("selected %q, lost %q; want nothing, and %q lost", got.id, got.lost, was)
	}
	h.wantRow("decision " + string(was) + " is no longer in this list")
	h.press("enter")
	h.wantRow("enter does nothing now")
	if h.m.here().place != inLedger {
		t.Error("a neighbour was opened")
	}
}

// The way from a decision to what it leads to, and back.
func TestRecordLeadsOn(t *testing.T) {
	h, ids := incident(t)
	h.w.act(lee, ids[0], happened)
	h.poke()
	h.press("3", "k", "enter")
	r := h.m.here().record
	if r == nil || r.row == nil || r.row.Act != gate.ActReconcile {
		t.Fatalf("the newest decision was not opened: %+v", r)
	}
	h.wantRow("reconcile", "RESOLVED")
	h.wantRow("evidence", "their log")
	seq := fmt.Sprint(r.seq)
	h.press("y", "Y")
	if len(h.copied) != 2 || h.copied[0] != seq || !strings.Contains(h.copied[1], `"act":"reconcile"`) {
		t.Errorf("copied %q, want %s and the JSON", h.copied, seq)
	}
	for _, link := range []struct {
		of    views.RecordLink
		does  string
		place place
	}{
		{views.LinkItem, "enter review", inReview},
		{views.LinkRun, "enter run", inRun},
	} {
		for range 5 {
			if r.link != link.of {
				h.press("tab")
			}
		}
		h.wantRow(link.does)
		h.press("enter")
		if got := h.m.here().place; got != link.place {
			t.Errorf("link %d leads to %b, want %b", link.of, got, link.place)
		}
		h.press("esc")
		if h.m.here().record != r {
			t.Fatal("esc does not lead back to the decision")
		}
	}
	h.press("tab", "shift+tab")
	if r.link != views.LinkRun {
		t.Errorf("tab and shift+tab lead to link %d, want the run again", r.link)
	}
	h.press("esc")
	h.wantRow(">", seq)
}

// Enter on a decision's cause opens that one; on what moved an item, too.
func TestRecordJumpsToItsCause(t *testing.T) {
	h, ids := incident(t)
	it := h.w.item(ids[0])
	h.w.act(lee, ids[0], happened)
	row, err := h.w.desk.Do(t.Context(), dana, ids[0], escalation.Act{Verb: gate.ActReject, RequestID: "late", Version: it.Version, Reason: "no use"})
	if err != nil || row.Verdict != gate.Stale || row.Changed == nil {
		t.Fatalf("a verb on an old version: %+v, %v", row, err)
	}
	h.poke()
	for _, link := range []views.RecordLink{views.LinkMoved, views.LinkCause} {
		var from *gate.DecisionRow
		h.press("3", "esc", "k")
		for range 40 {
			if d := h.m.ledger.list.selected(); slices.Contains(views.RecordLinks(d), link) {
				from = d
				break
			}
			h.press("k")
		}
		if from == nil {
			t.Fatalf("no decision has link %d", link)
		}
		want := from.Cause
		if link == views.LinkMoved {
			want = from.Changed.Seq
		}
		h.press("enter")
		for h.m.here().record.link != link {
			h.press("tab")
		}
		h.press("enter")
		if got := h.m.here().record; got == nil || got.row == nil || got.row.Seq != want {
			t.Errorf("link %d leads to %+v, want decision %d", link, got, want)
		}
	}
}

// The ledger has its filter, with the names of its list.
func TestLedgerFilter(t *testing.T) {
	h, ids := incident(t)
	h.w.act(lee, ids[0], happened)
	h.poke()
	h.press("3", "/")
	h.wantRow("verdict", "manual")
	h.write("manual:yes")
	h.press("enter")
	h.wantRow("/manual:yes")
	h.wantRow("reconcile", "lee")
	h.wantNoRow("ask", "ADMIT")
	h.press("/", "backspace", "backspace", "backspace")
	h.write("maybe")
	h.wantRow("want", "yes", "no")
	h.press("esc", "/")
	h.send(keyOf("backspace"))
	h.press("esc")
	h.wantRow("reconcile", "lee")
	h.press("k", "enter")
	if r := h.m.here().record; r == nil || r.row.Act != gate.ActReconcile {
		t.Errorf("opened %+v, want the reconcile", r)
	}
}

// A long ledger is walked from end to end without a gap, and what is held
// stays bounded; what has come meanwhile is counted wherever the cursor is.
func TestLedgerWalk(t *testing.T) {
	w := newWorld(t)
	const n = 600
	for i := range n {
		w.run(gate.RunID(fmt.Sprintf("run-%03d", i)), 8, 4, time.Hour)
	}
	h := sit(w)
	h.press("3", "k")
	newest := h.m.ledger.list.cur.id.seq()
	for want := newest; want > 1; want-- {
		if got := h.m.ledger.list.cur.id.seq(); got != want {
			t.Fatalf("selected %d, want %d", got, want)
		}
		h.press("k")
		h.rest()
		if len(h.m.ledger.list.rows) > 20*36 {
			t.Fatalf("%d rows are held", len(h.m.ledger.list.rows))
		}
	}
	w.run("later", 8, 4, time.Hour)
	h.poke()
	h.wantRow("1 new")
	for want := uint64(1); want < newest; want++ {
		if got := h.m.ledger.list.cur.id.seq(); got != want {
			t.Fatalf("on the way down selected %d, want %d", got, want)
		}
		h.press("j")
		h.rest()
	}
	if h.press("esc"); h.m.ledger.list.cur.inList() {
		t.Error("esc does not release the cursor")
	}
	h.rest()
	h.wantRow("following")
	h.wantRow("later", "start")
}
