package cli

import (
	"strings"
	"testing"
	"time"

	"tollgate/escalation"
	"tollgate/gate"
	"tollgate/views"
)

// R-P3: a resolved item says who decided what, on which ground, what was found,
// and offers no verb; a pipe gets it in 80 columns.
func TestQueueShowOfAResolvedItem(t *testing.T) {
	w := newWorld(t, "their log of noon")
	item := string(gate.ItemIDOf("run-2", "charge-43"))
	out, errs := shown(t, 0, "queue", "show", item, "--socket", w.socket)
	if errs != "" {
		t.Fatal(errs)
	}
	for _, want := range []string{
		"stopped by     STOP_UNSAFE_TO_REPEAT   timeout   transient",
		"because        their log of noon",
		"verbs are off: the item is resolved",
		"found          attempt 1   ✗ did not happen   by you",
		"route reconcile",
		"evidence       their log of noon",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the item lacks %q:\n%s", want, out)
		}
	}
	for _, no := range []string{"what each verb would do", " changed "} {
		if strings.Contains(out, no) {
			t.Errorf("a resolved item has %q:\n%s", no, out)
		}
	}
	for line := range strings.Lines(out) {
		if n := views.Width(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d cells in a pipe, want 80 at most: %s", n, line)
		}
	}
}

// The list of resolved items says how each ended, by whom and when, in place of
// what is left and who has it.
func TestQueueListOfResolvedItems(t *testing.T) {
	w := newWorld(t, "their log of noon")
	item := string(gate.ItemIDOf("run-2", "charge-43"))
	out, errs := shown(t, 200, "queue", "list", "--state", "resolved", "--socket", w.socket)
	rows := strings.Split(out, "\n")
	if errs != "" || len(rows) != 3 {
		t.Fatalf("%d rows, %s:\n%s", len(rows), errs, out)
	}
	if got, want := strings.Join(strings.Fields(rows[0]), " "), "ITEM RUN OPERATION TOOL CODE ATTEMPTS ENDED BY AT"; got != want {
		t.Errorf("heads %s, want %s", got, want)
	}
	for _, want := range []string{item, "charge-43", "reject  " + self().Name, instant(time.Now().UTC())[:len("2006-01-02T15")]} {
		if !strings.Contains(rows[1], want) {
			t.Errorf("the row lacks %q: %s", want, rows[1])
		}
	}
	w.do("run-1", "charge-42", escalation.Act{Verb: gate.ActReconcile, Version: 1, Finding: gate.FindingHappened, Evidence: "ch_1", Reason: "found"})
	if out, _ := shown(t, 0, "queue", "list", "--state", "resolved", "--limit", "1", "--socket", w.socket); !strings.Contains(out, "\treconcile: happened\t"+self().Name+"\t") {
		t.Errorf("the newest does not say what was found: %s", out)
	}
}

// Items that are put off are a list of their own, which says when they come
// back.
func TestQueueListOfSnoozedItems(t *testing.T) {
	w := newWorld(t, "text")
	until := time.Now().UTC().Add(time.Hour).Truncate(time.Second)
	w.do("run-1", "charge-42", escalation.Act{Verb: gate.ActSnooze, Version: 1, Until: until})
	snoozed, _ := shown(t, 200, "queue", "list", "--state", "snoozed", "--socket", w.socket)
	for _, want := range []string{"BACK AT", "charge-42", instant(until)} {
		if !strings.Contains(snoozed, want) {
			t.Errorf("the list lacks %q:\n%s", want, snoozed)
		}
	}
	open, _ := shown(t, 200, "queue", "list", "--socket", w.socket)
	if strings.Contains(snoozed, "deploy-3") || strings.Contains(open, "charge-42") || !strings.Contains(open, "deploy-3") {
		t.Errorf("snoozed:\n%s\nopen:\n%s", snoozed, open)
	}
	if _, errs := shown(t, 200, "queue", "list", "--state", "asleep", "--socket", w.socket); !strings.Contains(errs, "open, snoozed, dead-letter, resolved") {
		t.Errorf("a state that is none: %s", errs)
	}
}
