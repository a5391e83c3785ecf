package escalation_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tollgate/escalation"
	"tollgate/gate"
)

// lostMany brings about so many items in runs of their own, and picks them.
func (f *floor) lostMany(n int) []escalation.Pick {
	f.t.Helper()
	var picks []escalation.Pick
	for i := range n {
		run := gate.RunID(fmt.Sprintf("r%d", i+1))
		f.run(run, 6, 2, time.Hour)
		picks = append(picks, escalation.Pick{ID: f.lost(run, "charge-42"), Version: 1})
	}
	return picks
}

// bulk sends an act to the picks and returns its lines.
func (f *floor) bulk(picks []escalation.Pick, a escalation.Act) []escalation.BulkLine {
	f.t.Helper()
	var lines []escalation.BulkLine
	if err := f.desk.Bulk(f.t.Context(), dana, picks, a, func(l escalation.BulkLine) { lines = append(lines, l) }); err != nil {
		f.t.Fatalf("bulk %s: %v", a.Verb, err)
	}
	return lines
}

func answers(lines []escalation.BulkLine) []string {
	var out []string
	for _, l := range lines {
		s := l.Err + l.Skipped
		if l.Row != nil {
			s += l.Row.Verdict.String()
		}
		out = append(out, s)
	}
	return out
}

var rejectAll = escalation.Act{Verb: gate.ActReject, RequestID: "q", Reason: "the provider is down"}

// R-P9: the set is frozen at the moment of confirming. What matches by then is
// not in it, nor is what the caller does to its list meanwhile; each item is
// one decision of the person, and has its line.
func TestBulkIsAFrozenSet(t *testing.T) {
	f := open(t)
	picks := f.lostMany(3)
	sent := slices.Clone(picks)
	f.run("late", 6, 2, time.Hour)
	late := f.lost("late", "charge-42")
	before := len(f.store.Decisions())
	var lines []escalation.BulkLine
	err := f.desk.Bulk(t.Context(), dana, sent, rejectAll, func(l escalation.BulkLine) {
		sent[len(sent)-1] = escalation.Pick{ID: late, Version: 1}
		lines = append(lines, l)
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := len(f.store.Decisions()) - before; got != 3 {
		t.Errorf("the ledger grew by %d, want 3", got)
	}
	for i, l := range lines {
		if l.ID != picks[i].ID || l.Row == nil || l.Row.Verdict != gate.Resolved || l.Row.Item != picks[i].ID || l.Row.Actor != dana {
			t.Errorf("line %d = %+v, want RESOLVED of %s by dana", i, l, picks[i].ID)
		}
	}
	if got := f.item(late).State; got != gate.HoldOpen {
		t.Errorf("what came later is %s, want open", got)
	}
}

// R-P9, R-P5: each goes through the gate alone. One that has moved, or that is
// no item, stops none of the others.
func TestBulkGoesOnPastOneThatMoved(t *testing.T) {
	f := open(t)
	picks := f.lostMany(4)
	f.act(eli, picks[1].ID, escalation.Act{Verb: gate.ActReject, Reason: "first"})
	picks[2].ID = "i-0000000000"
	lines := f.bulk(picks, rejectAll)
	want := []string{"RESOLVED", "STALE", `item "i-0000000000": no such item`, "RESOLVED"}
	if diff := cmp.Diff(answers(lines), want); diff != "" {
		t.Errorf("lines (-got +want):\n%s", diff)
	}
	if c := lines[1].Row.Changed; c == nil || c.By != eli {
		t.Errorf("changed = %+v, want by eli", c)
	}
}

// R-P9, R-P8: a verdict of the gate on one item says nothing of another.
func TestBulkIsDecidedItemByItem(t *testing.T) {
	f := open(t)
	picks := f.lostMany(2)
	f.act(eli, picks[1].ID, escalation.Act{Verb: gate.ActReconcile, Finding: gate.FindingDidNotHappen, Reason: "r", Evidence: "their log"})
	picks[1].Version = f.item(picks[1].ID).Version
	got := answers(f.bulk(picks, escalation.Act{Verb: gate.ActApprove, RequestID: "q", Reason: "r"}))
	if diff := cmp.Diff(got, []string{"STOP_UNSAFE_TO_REPEAT", "RETRY_WITH_SHARED_CONTEXT"}); diff != "" {
		t.Errorf("lines (-got +want):\n%s", diff)
	}
}

// R-P9, R-P6: the same call again is one action per item, and answers the same.
func TestBulkAgainIsOneAction(t *testing.T) {
	f := open(t)
	picks := f.lostMany(3)
	note := escalation.Act{Verb: gate.ActNote, RequestID: "q", Reason: "the provider looks into it"}
	first := f.bulk(picks, note)
	before := len(f.store.Decisions())
	again := f.bulk(picks, note)
	if got := len(f.store.Decisions()) - before; got != 0 {
		t.Errorf("the ledger grew by %d, want 0", got)
	}
	if diff := cmp.Diff(again, first); diff != "" {
		t.Errorf("answers (-again +first):\n%s", diff)
	}
	// A caller's own request of the same id is another one, and cannot have these.
	own := note
	own.Version = 1
	if row, err := f.desk.Do(t.Context(), dana, picks[0].ID, own); err != nil || row.Seq <= uint64(before) {
		t.Errorf("request q = decision %d, %v; want one of its own", row.Seq, err)
	}
	own.RequestID = "q~1"
	if _, err := f.desk.Do(t.Context(), dana, picks[0].ID, own); err == nil {
		t.Error("a caller may use the request id q~1, want an error")
	}
	note.Reason = "another"
	for _, l := range f.bulk(picks, note) {
		if !strings.HasSuffix(l.Err, gate.ErrReused.Error()) {
			t.Errorf("line = %+v, want %v", l, gate.ErrReused)
		}
	}
}

// R-P9: it stops if a breaker opens; one that was open before stops nothing.
func TestBulkStopsWhenABreakerOpens(t *testing.T) {
	f := open(t, func(k *gate.Contract) {
		k.Dependencies["search"] = gate.DependencyRule{Breaker: &gate.BreakerRule{Window: time.Minute, Failures: 1, CoolDown: time.Minute}}
		k.Dependencies["cluster"] = k.Dependencies["search"]
		k.Tools["status"] = &gate.Tool{Effect: gate.EffectRead, Safety: gate.SafetyIdempotent, Dependency: "cluster", Timeout: time.Second}
	})
	picks := f.lostMany(4)
	f.run("agents", 6, 2, time.Hour)
	f.ask("agents", "status-1", "status")
	f.fail("agents", "status-1", 1, "timeout") // that of cluster is open
	var lines []escalation.BulkLine
	err := f.desk.Bulk(t.Context(), dana, picks, rejectAll, func(l escalation.BulkLine) {
		if lines = append(lines, l); len(lines) == 2 {
			f.ask("agents", "look-1", "look")
			f.fail("agents", "look-1", 1, "timeout")
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	why := "the breaker of search has opened"
	if diff := cmp.Diff(answers(lines), []string{"RESOLVED", "RESOLVED", why, why}); diff != "" {
		t.Errorf("lines (-got +want):\n%s", diff)
	}
	if got := f.item(picks[2].ID); got.State != gate.HoldOpen || got.Version != 1 || got.Changed.Act.IsVerb() {
		t.Errorf("a skipped item is %s, version %d, changed by %s; want untouched", got.State, got.Version, got.Changed.Act)
	}
}

// R-P9: what is no bulk act is refused whole, before anything is sent.
func TestBulkActsThatAreNone(t *testing.T) {
	f := open(t)
	picks := f.lostMany(2)
	n, span := int64(1), time.Minute
	many := make([]escalation.Pick, gate.MaxWindow+1)
	for i := range many {
		many[i] = escalation.Pick{ID: gate.ItemID(fmt.Sprint("i-", i)), Version: 1}
	}
	for _, row := range []struct {
		name   string
		picks  []escalation.Pick
		change func(*escalation.Act)
		field  string
	}{
		{"no items", nil, func(*escalation.Act) {}, "items"},
		{"too many", many, func(*escalation.Act) {}, "items"},
		{"one twice", []escalation.Pick{picks[0], picks[1], {ID: picks[0].ID, Version: 2}}, func(*escalation.Act) {}, "items"},
		{"no reason", picks, func(a *escalation.Act) { a.Reason = "" }, "reason"},
		{"no request id", picks, func(a *escalation.Act) { a.RequestID = "" }, "request_id"},
		{"a version of its own", picks, func(a *escalation.Act) { a.Version = 1 }, "version"},
		{"an agent's act", picks, func(a *escalation.Act) { a.Verb = gate.ActAsk }, "verb"},
		{"a new run", picks, func(a *escalation.Act) {
			a.Verb, a.NewRun, a.Limits = gate.ActNewRun, "r9", gate.Limits{Attempts: &n, SideEffects: &n, Deadline: &span}
		}, "verb"},
	} {
		t.Run(row.name, func(t *testing.T) {
			act, before := rejectAll, len(f.store.Decisions())
			row.change(&act)
			lines := 0
			err := f.desk.Bulk(t.Context(), dana, row.picks, act, func(escalation.BulkLine) { lines++ })
			var input *gate.InputError
			if !errors.As(err, &input) || input.Field != row.field {
				t.Errorf("error = %v, want one about %s", err, row.field)
			}
			if wrote := len(f.store.Decisions()) - before; lines != 0 || wrote != 0 {
				t.Errorf("%d lines, %d decisions, want none", lines, wrote)
			}
		})
	}
	lines := 0
	err := f.desk.ReadOnly().Bulk(t.Context(), dana, picks, rejectAll, func(escalation.BulkLine) { lines++ })
	if !errors.Is(err, escalation.ErrReadOnly) || lines != 0 {
		t.Errorf("read-only: %v with %d lines, want ErrReadOnly and none", err, lines)
	}
	if got := len(f.bulk(many[:gate.MaxWindow], rejectAll)); got != gate.MaxWindow {
		t.Errorf("as many as there may be: %d lines, want %d", got, gate.MaxWindow)
	}
}
