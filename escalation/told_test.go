package escalation_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tollgate/escalation"
	"tollgate/gate"
)

// stopped is what an item says of what stopped its operation.
type stopped struct {
	Verdict gate.Verdict
	Code    gate.Code
	Class   gate.Class
	Route   string
	Cause   uint64
}

func stoppedBy(it *escalation.Item) stopped {
	s := stopped{it.Verdict, it.Code, it.Class, "", it.Cause}
	if it.Route != nil {
		s.Route = it.Route.String()
	}
	return s
}

// R-P1: what stopped an operation stands on its item as it was, however the
// item was resolved and whatever came of it.
func TestResolvedItemSaysWhatStoppedIt(t *testing.T) {
	var (
		didNot   = escalation.Act{Verb: gate.ActReconcile, Finding: gate.FindingDidNotHappen, Reason: "looked", Evidence: "their log"}
		happened = escalation.Act{Verb: gate.ActReconcile, Finding: gate.FindingHappened, Reason: "looked", Evidence: "ch_42"}
		approve  = escalation.Act{Verb: gate.ActApprove, Reason: "again"}
	)
	ok := func(f *floor) { f.do(gate.Report{Actor: agent, Run: "r1", Op: "charge-42", Ordinal: 2, OK: true}) }
	for _, row := range []struct {
		name string
		do   func(f *floor, id gate.ItemID)
	}{
		{"still open", func(*floor, gate.ItemID) {}},
		{"a repeat is out", func(f *floor, id gate.ItemID) { f.act(dana, id, didNot); f.act(dana, id, approve) }},
		{"the repeat succeeded", func(f *floor, id gate.ItemID) { f.act(dana, id, didNot); f.act(dana, id, approve); ok(f) }},
		{"found to have happened", func(f *floor, id gate.ItemID) { f.act(dana, id, happened) }},
		{"nobody can tell", func(f *floor, id gate.ItemID) {
			f.act(dana, id, escalation.Act{Verb: gate.ActReconcile, Finding: gate.FindingCannotTell, Reason: "no log"})
		}},
		{"rejected", func(f *floor, id gate.ItemID) {
			f.act(dana, id, escalation.Act{Verb: gate.ActReject, Reason: "no longer wanted"})
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := open(t)
			f.run("r1", 6, 2, 30*time.Second)
			id := f.lost("r1", "charge-42")
			row.do(f, id)
			it := f.item(id)
			want := stopped{gate.StopUnsafeToRepeat, "timeout", gate.ClassTransient, "reconcile", 4}
			if diff := cmp.Diff(stoppedBy(&it), want); diff != "" {
				t.Errorf("stopped by (-got +want):\n%s", diff)
			}
		})
	}
}

// R-P2: an item is outcome-unknown exactly while the outcome is.
func TestOutcomeFoundIsNoLongerUnknown(t *testing.T) {
	f := open(t)
	f.run("r1", 6, 2, 30*time.Second)
	id := f.lost("r1", "charge-42")
	f.act(dana, id, escalation.Act{Verb: gate.ActReconcile, Finding: gate.FindingHappened, Reason: "looked", Evidence: "ch_42"})
	if it := f.item(id); it.Kind != gate.KindStopped || it.Outcome != gate.OutcomeSucceeded {
		t.Errorf("after a finding the item is %s, outcome %s; want stopped, succeeded", it.Kind, it.Outcome)
	}

	f.run("r2", 6, 2, 30*time.Second)
	id = f.lost("r2", "charge-42")
	f.act(dana, id, escalation.Act{Verb: gate.ActReject, Reason: "gone"})
	if it := f.item(id); it.Kind != gate.KindOutcomeUnknown {
		t.Errorf("rejected while nobody knew, the item is %s, want outcome-unknown", it.Kind)
	}
}

// R-P5: an answer of STALE says what moved the item, and nothing false of it.
func TestStaleSaysNoClass(t *testing.T) {
	f := open(t)
	f.run("r1", 6, 2, 30*time.Second)
	id := f.lost("r1", "charge-42")
	f.act(dana, id, escalation.Act{Verb: gate.ActReconcile, Finding: gate.FindingDidNotHappen, Reason: "looked", Evidence: "their log"})
	f.act(dana, id, escalation.Act{Verb: gate.ActApprove, Reason: "again"})
	got := f.act(dana, id, escalation.Act{Verb: gate.ActReject, Reason: "late", Version: 2})
	if got.Verdict != gate.Stale || got.Class != nil {
		t.Errorf("verdict %s, class %v; want STALE, none", got.Verdict, got.Class)
	}
	if got.Changed == nil || got.Changed.Act != gate.ActApprove {
		t.Errorf("changed = %+v, want by the approve", got.Changed)
	}
}

// R-P3: whoever comes next reads what was found, by whom, when, on which
// evidence and why, in the runs that follow too.
func TestFindingsAreToldWhole(t *testing.T) {
	f := open(t)
	f.run("r1", 6, 3, 30*time.Second)
	id := f.lost("r1", "charge-42")
	first := f.act(dana, id, escalation.Act{Verb: gate.ActReconcile, Finding: gate.FindingDidNotHappen, Reason: "looked", Evidence: "their log"})
	want := []escalation.Finding{{
		Ordinal: 1, Finding: gate.FindingDidNotHappen, Seq: first.Seq, At: first.At, By: first.Actor,
		Reason: "looked", Evidence: "their log",
	}}
	if diff := cmp.Diff(f.item(id).Findings, want); diff != "" {
		t.Errorf("findings (-got +want):\n%s", diff)
	}

	f.act(dana, id, escalation.Act{Verb: gate.ActApprove, Reason: "again"})
	f.clock.advance(time.Second)
	f.fail("r1", "charge-42", 2, "timeout")
	f.clock.advance(time.Second)
	second := f.act(dana, id, escalation.Act{Verb: gate.ActReconcile, Finding: gate.FindingDidNotHappen, Reason: "asked them", Evidence: "ticket 7"})
	want = append(want, escalation.Finding{
		Ordinal: 2, Finding: gate.FindingDidNotHappen, Seq: second.Seq, At: second.At, By: second.Actor,
		Reason: "asked them", Evidence: "ticket 7",
	})
	if diff := cmp.Diff(f.item(id).Findings, want); diff != "" {
		t.Errorf("findings after a second one (-got +want):\n%s", diff)
	}

	attempts, effects, deadline := int64(3), int64(1), time.Minute
	f.act(dana, id, escalation.Act{Verb: gate.ActNewRun, Reason: "r", NewRun: "r2", Limits: gate.Limits{Attempts: &attempts, SideEffects: &effects, Deadline: &deadline}})
	f.ask("r2", "charge-42", "charge")
	if diff := cmp.Diff(f.item(gate.ItemIDOf("r2", "charge-42")).Findings, want); diff != "" {
		t.Errorf("findings in the new run (-got +want):\n%s", diff)
	}
}

// R-P3: however much was written about an operation before and after, a
// finding is told with its reason.
func TestFindingIsToldBesideManyNotes(t *testing.T) {
	f := open(t)
	f.run("r1", 6, 3, 30*time.Second)
	id := f.lost("r1", "charge-42")
	notes := func() {
		version := f.item(id).Version
		for range 1100 {
			f.do(gate.Verb{Actor: dana, Do: gate.ActNote, Run: "r1", Op: "charge-42", Version: version, Reason: "still looking"})
		}
	}
	notes()
	found := f.act(dana, id, escalation.Act{Verb: gate.ActReconcile, Finding: gate.FindingDidNotHappen, Reason: "looked", Evidence: "their log"})
	notes()
	want := []escalation.Finding{{
		Ordinal: 1, Finding: gate.FindingDidNotHappen, Seq: found.Seq, At: found.At, By: found.Actor,
		Reason: "looked", Evidence: "their log",
	}}
	if diff := cmp.Diff(f.item(id).Findings, want); diff != "" {
		t.Errorf("findings (-got +want):\n%s", diff)
	}
}

// R-P3, R-P6: a resolved item says how it was resolved and why.
func TestChangeIsToldWithItsReason(t *testing.T) {
	f := open(t)
	f.run("r1", 6, 2, 30*time.Second)
	id := f.lost("r1", "charge-42")
	by := f.act(dana, id, escalation.Act{Verb: gate.ActReconcile, Finding: gate.FindingHappened, Reason: "looked", Evidence: "ch_42"})
	want := gate.ChangedRow{
		Seq: by.Seq, At: by.At, By: by.Actor, Act: gate.ActReconcile, Verdict: gate.Resolved,
		Reason: "looked", Evidence: "ch_42", Finding: gate.FindingHappened,
	}
	if diff := cmp.Diff(f.item(id).Changed, want); diff != "" {
		t.Errorf("changed (-got +want):\n%s", diff)
	}
}

// R-P3: a note says whose it is, and when it was written.
func TestNoteIsToldWithItsAuthor(t *testing.T) {
	f := open(t)
	f.run("r1", 6, 3, 30*time.Second)
	id := f.lost("r1", "charge-42")
	if it := f.item(id); it.Noted != 0 || !it.NoteAt.IsZero() {
		t.Errorf("without a note: %d at %v", it.Noted, it.NoteAt)
	}
	for _, text := range []string{"looked", "looked again"} {
		f.clock.advance(time.Second)
		d := f.act(dana, id, escalation.Act{Verb: gate.ActNote, Reason: text})
		f.clock.advance(time.Second)
		f.act(dana, id, escalation.Act{Verb: gate.ActClaim})
		if it := f.item(id); it.LastNote != text || it.Noted != d.Seq || it.NoteBy != d.Actor || it.NoteAt != d.At {
			t.Errorf("note = %q of %d by %v at %v, want %q of %d by %v at %v", it.LastNote, it.Noted, it.NoteBy, it.NoteAt, text, d.Seq, d.Actor, d.At)
		}
	}
}
