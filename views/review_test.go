package views

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tollgate/escalation"
	"tollgate/gate"
)

// R-P1: an item carries the whole contract, and the review shows all of it.
func TestReviewShowsTheWholeContract(t *testing.T) {
	class := gate.ClassPermanent
	until := now.Add(9 * time.Second)
	it := &escalation.Item{
		ItemRow: gate.ItemRow{
			ID: "i-0123456789", Version: 17, Kind: gate.KindExhausted, State: gate.HoldDeadLetter, Run: "run-0", Op: "op-1", Agent: "agent-2", Tool: "tool-3",
			Dependency: "dep-4", Effect: gate.EffectWrite, RetrySafety: gate.SafetyKey, Key: "key-9", Code: "code-5", Class: gate.ClassConditional, Outcome: gate.OutcomeUnknown,
			Verdict: gate.StopTokenBudget, Attempts: gate.Spent{Spent: 61, Limit: 62}, Permits: 9, Deadline: gate.InstantOf(now.Add(63 * time.Second)),
			Claim: &gate.ClaimRow{By: "holder-6", ID: "uid:6", Until: gate.InstantOf(now.Add(5 * time.Minute))}, NeedsTwo: true, Duplicate: true,
			Approvals: []gate.GrantRow{{By: gate.Actor{ID: "uid:15", Name: "approver-15"}, At: gate.InstantOf(now)}},
		},
		Path: gate.PathFallback, Parent: "parent-7", Input: []byte(`{"input":8}`), KeyGiven: true,
		FirstFailure: &gate.Failure{Code: "first-10", Message: "first-message-11"}, LastFailure: &gate.Failure{Code: "last-12"},
		Asker: gate.Actor{ID: "uid:13", Name: "asker-13", Source: "source-14"}, Tokens: 4321,
		Budget: gate.BudgetRow{
			Attempts: gate.Spent{Spent: 61, Limit: 62}, SideEffects: gate.Spent{Spent: 64, Limit: 65}, RetryTokens: &gate.Spent{Spent: 66, Limit: 67},
			Started: gate.InstantOf(now.Add(-time.Hour)), Deadline: gate.InstantOf(now.Add(63 * time.Second)), ReserveMS: 1500, Overdrawn: true,
		},
		RunState: gate.RunExhausted, Breaker: gate.BreakerOpen, BreakerUntil: until, SameCause: 68,
		Dispatches: []gate.AttemptRow{{Ordinal: 69, Permitted: gate.InstantOf(now), NotBefore: gate.InstantOf(now), ReportedAt: gate.InstantOf(now.Add(70 * time.Second)), Inner: 71, Outcome: gate.OutcomeFailed, Class: &class, Refused: true, Failure: &gate.Failure{Code: "last-12", Message: "last-message-16", Status: "status-17", Suggest: "suggest-18"}}},
		Route:      new(gate.RouteDeadLetter), Cause: 7272, LastNote: "note-19", Runbook: "https://runbook-20",
		Findings: []escalation.Finding{
			{Ordinal: 21, Finding: gate.FindingDidNotHappen, Seq: 2222, At: gate.InstantOf(now.Add(-23 * time.Minute)), By: gate.Actor{ID: "uid:24", Name: "finder-24"}, Reason: "reason-25", Evidence: "evidence-26"},
			{Ordinal: 22, Finding: gate.FindingDidNotHappen, Seq: 2222, Reason: "reason-25", Evidence: "evidence-26"},
			{Ordinal: 27, Finding: gate.FindingCannotTell},
		},
		Changed: gate.ChangedRow{Seq: 28, At: gate.InstantOf(now.Add(-29 * time.Minute)), By: gate.Actor{ID: "uid:30", Name: "changer-30"}, Act: gate.ActApprove, Verdict: gate.Recorded, Reason: "reason-31", Evidence: "evidence-32"},
	}
	got := PrintReview(ReviewOf(it, "uid:1"), now, 0)
	for _, want := range []string{
		"i-0123456789", "v17", "exhausted", "dead-letter", "run-0", "op-1", "agent-2", "tool-3", "dep-4", "write", "retry safety by idempotency key",
		"code-5", "conditional", "outcome unknown", "STOP_TOKEN_BUDGET", "attempts 61/62", "deadline in 01:03", "holder-6, 5m left", "1 of 2", "approver-15",
		"done twice", "path fallback", "parent-7", `{"input":8}`, "key-9", "the caller's own", "first-10", "first-message-11", "asker-13", "uid:13", "source-14",
		"4321", "side effects 64/65", "retry tokens 66/67", "reserve 1.5s", "overdrawn", "breaker open", "half-open in 00:09", "68 items share dep-4 · code-5",
		"attempt 69", "last-12 after 01:10", "71 attempts inside", "permanent", "refused before it ran", "last-message-16", "status-17", "suggest-18",
		"8 older attempts", "route dead-letter", "decision 7272", "note-19", "https://runbook-20",
		"found          attempt 21   ✗ did not happen   by finder-24   23m ago, 08:49:44.000Z   decision 2222\n", "because        reason-25", "evidence       evidence-26",
		"found          attempt 22   ✗ did not happen   decision 2222\n", "found          attempt 27   ? cannot tell\n",
		"changed        approve by changer-30   29m ago, 08:43:44.000Z   RECORDED\n because        reason-31\n evidence       evidence-32\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the review does not show %q", want)
		}
	}
	if n := strings.Count(got, "reason-25"); n != 1 {
		t.Errorf("what was written with one decision is shown %d times", n)
	}
	if t.Failed() {
		t.Log(got)
	}
}

// Of a resolved item the review says who resolved it, on which ground, and what
// else was found before; each decision once.
func TestReviewOfAResolvedItem(t *testing.T) {
	it := sampleItem()
	it.State = gate.HoldResolved
	it.Changed = gate.ChangedRow{Seq: 830, At: gate.InstantOf(now), By: gate.Actor{ID: "uid:9", Name: "nora"}, Act: gate.ActReconcile, Verdict: gate.Resolved, Finding: gate.FindingHappened, Reason: "found it", Evidence: "their log of noon"}
	it.Findings = []escalation.Finding{
		{Ordinal: 1, Finding: gate.FindingDidNotHappen, Seq: 820, At: gate.InstantOf(now.Add(-time.Minute)), By: gate.Actor{ID: "uid:8", Name: "lee"}, Reason: "looked too soon", Evidence: "their log of eleven"},
		{Ordinal: 2, Finding: gate.FindingHappened, Seq: 830, At: gate.InstantOf(now), By: it.Changed.By, Reason: "found it", Evidence: "their log of noon"},
	}
	got := PrintReview(ReviewOf(it, "uid:1001"), now, 0)
	for _, want := range []string{
		"resolved       reconcile by nora   0s ago, 09:12:44.000Z   RESOLVED   happened\n because        found it\n evidence       their log of noon\n",
		"found          attempt 1   ✗ did not happen   by lee   1m ago, 09:11:44.000Z   decision 820\n because        looked too soon\n evidence       their log of eleven\n",
		"found          attempt 2   ✓ happened   decision 830\n",
		"verbs are off: the item is resolved",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the review does not show %q", want)
		}
	}
	for _, once := range []string{"found it", "their log of noon", "looked too soon", "nora"} {
		if n := strings.Count(got, once); n != 1 {
			t.Errorf("%q is shown %d times", once, n)
		}
	}
	if strings.Contains(got, "what each verb would do") || t.Failed() {
		t.Errorf("verbs of a resolved item:\n%s", got)
	}
}

// What a verb would do is the gate's answer: a stop with its checks, a yes
// with the counters before and after, and what could never be, as such.
func TestReviewShowsWhatEachVerbWouldDo(t *testing.T) {
	v := sampleReview()
	v.Verbs[4].Never, v.Verbs[4].Says = true, "the run has ended"
	got := PrintReview(v, now, 0)
	for _, want := range []string{
		"asked by       planner/billing   agents   uid:2000, known by peer-uid", // the agent first
		"r reconcile      it happened, it did not, or nobody can tell; needs evidence, reason",
		"a approve        ✗ STOP_UNSAFE_TO_REPEAT",
		"✓ 1 class           timeout is transient",
		"✗ 2 safe to repeat  write, retry safety never, no finding",
		"A as new action  ✓ ADMIT",
		"permits charge-42~2, a new action: it may happen twice",
		"✓ 3 attempts        6/10 → 7/10",
		"✓ 4 time            4m12s − reserve 2s ≥ delay of at most 0s + timeout 2s",
		"✓ 3 attempts, 4 time, 5 side effects: as above",
		"x reject         closes the operation as rejected and returns RetryStopped to its caller; needs reason\n                  outcome still unknown: reconcile first\n",
		"n new run        not possible: the run has ended",
		"c release   t note\n",
		"z snooze         the gate is not to be had",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the review does not show %q", want)
		}
	}
	late := sampleReview()
	late.Item.Deadline = gate.InstantOf(now.Add(-130 * time.Second))
	late.Verbs[1].Never = true
	got += PrintReview(late, now, 0)
	for _, want := range []string{"deadline passed 2m ago · nothing can be dispatched any more", "✗ STOP_UNSAFE_TO_REPEAT  not possible"} {
		if !strings.Contains(got, want) {
			t.Errorf("after the deadline the review does not show %q", want)
		}
	}
	if t.Failed() {
		t.Log(got)
	}
}

// At 120 columns and 36 rows a review of an unknown outcome is seen whole, its
// verbs beside it; below 120 the keys of the verbs stand in the same row,
// however long the review is.
func TestReviewKeepsItsVerbsInSight(t *testing.T) {
	p := samplePage(NewTheme(Plain, true), 120, 36, 0)
	v := sampleReview()
	if rows, seen := ReviewScroll(p, v); rows > seen {
		t.Errorf("%d rows of %d are seen:\n%s", seen, rows, Review(p, v))
	}
	for _, size := range [][2]int{{40, 10}, {40, 12}, {80, 15}, {80, 24}, {119, 36}, {119, 100}} {
		p := samplePage(NewTheme(Plain, true), size[0], size[1], 0)
		for _, top := range []int{0, 3, 999} {
			v.Top = top
			if row := strings.Split(Review(p, v), "\n")[4]; !strings.Contains(row, "x reject ") && !strings.Contains(row, "verbs  r   a x") {
				t.Errorf("at %v from row %d the verbs are not in their row: %q", size, top, row)
			}
		}
	}
}

// The checks of a verb keep their order, though some stand above already.
func TestChecksThatStandAbove(t *testing.T) {
	above := []gate.Check{{Step: "3 attempts", OK: true, Says: "1/6 → 2/6"}, {Step: "4 time", OK: true, Says: "soon"}, {Step: "call limit", OK: true, Says: "1 of 3"}}
	b := newBlock(plainTheme, 100, 8)
	b.checks(&Preview{Checks: []gate.Check{above[0], above[1], {Step: "5 side effects", Says: "1/1 spent"}, above[2], {Step: "cap", OK: true, Says: "a 1/2"}}}, above)
	const want = `   ✓ 3 attempts, 4 time: as above
   ✗ 5 side effects    1/1 spent
   ✓ call limit: as above
   ✓ cap               a 1/2
`
	if got := string(b.buf); got != want {
		t.Errorf("checks:\n%s\nwant:\n%s", got, want)
	}
}

// What a form asks for stands together, whatever the width.
func TestWhatAVerbNeedsStandsTogether(t *testing.T) {
	v := sampleReview()
	for width := 80; width <= 200; width++ {
		for row := range strings.Lines(PrintReview(v, now, width)) {
			row = strings.TrimSpace(row)
			if strings.HasSuffix(row, "needs") || strings.HasSuffix(row, ";") && strings.Contains(row, "caller") || row == "reason" {
				t.Errorf("at %d: %q", width, row)
			}
		}
	}
}

// Items share a dependency, and a code where there was a failure.
func TestAlsoOpen(t *testing.T) {
	v := sampleReview()
	v.Item.Code = ""
	if got, want := PrintReview(v, now, 0), "also open      3 items share payments-api\n"; !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
}

// Whatever the size and the news, a form names what is decided on and the key
// that decides.
func TestFormNamesItselfAndItsKey(t *testing.T) {
	for _, size := range [][2]int{{40, 10}, {40, 12}, {60, 15}, {80, 24}, {120, 36}} {
		for news, change := range map[string]func(*Page, *FormView){
			"":               func(*Page, *FormView) {},
			"reason: needed": func(_ *Page, f *FormView) { f.Refused = "reason: needed" },
			"disconnected":   func(p *Page, _ *FormView) { p.Notice = Notice{Text: "disconnected", Tone: Loud} },
			"the gate is gone ": func(p *Page, _ *FormView) {
				p.Notice = Notice{Text: "the gate is gone " + strings.Repeat("and gone ", 40)}
			},
		} {
			p, f := samplePage(NewTheme(Plain, true), size[0], size[1], 0), sampleForm()
			p.Notice = Notice{}
			p.Keys = []Key{{Key: "ctrl+s", Does: "decide", Kept: true}, {Key: "enter", Does: "next field"}, {Key: "esc", Does: "leave, draft kept", Kept: true}}
			change(&p, &f)
			got := Form(p, f)
			for _, want := range []string{"reconcile charge-42", "ctrl+s decide", "esc leave", "> evidence", news} {
				if !strings.Contains(got, want) {
					t.Errorf("at %v with %q no %q:\n%s", size, news, want, got)
				}
			}
		}
	}
}

// An agent that asked under its own name is named once.
func TestAskerIsNamedOnce(t *testing.T) {
	v := sampleReview()
	v.Asker = gate.Actor{ID: v.Item.Agent, Name: v.Item.Agent, Source: "fixture"}
	if got, want := PrintReview(v, now, 0), "asked by       "+v.Item.Agent+"   known by fixture\n"; !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
}

// A review whose item has moved on offers no verb.
func TestMovedReviewOffersNothing(t *testing.T) {
	p := samplePage(NewTheme(Plain, true), 120, 36, 0)
	v := sampleReview()
	if got := Review(p, v); !strings.Contains(got, "a approve") || !strings.Contains(got, "STOP_UNSAFE") {
		t.Fatalf("before it moves the review does not offer approve:\n%s", got)
	}
	for name, move := range map[string]func(*ReviewView){
		"moved": func(v *ReviewView) {
			v.Moved = &gate.DecisionRow{At: gate.InstantOf(now), Act: gate.ActReject, Verdict: gate.Resolved}
		},
		"gone": func(v *ReviewView) { v.Gone = true },
	} {
		v := sampleReview()
		move(&v)
		got := Review(p, v)
		if !strings.Contains(got, "verbs are off: the item has moved on") {
			t.Errorf("%s: it is not said that verbs are off:\n%s", name, got)
		}
		for _, is := range []string{"ADMIT", "r reconcile", "a approve"} {
			if strings.Contains(got, is) {
				t.Errorf("%s: %q is still offered:\n%s", name, is, got)
			}
		}
	}
}

// In the fewest cells nothing of what a decision hangs on is cut: a part that
// is too wide for a row is broken, and the verbs keep their keys.
func TestReviewInFewCells(t *testing.T) {
	v := sampleReview()
	p := samplePage(NewTheme(Plain, true), LeastWidth, 100, 0)
	words := func(s string) string { return strings.Join(strings.Fields(s), "") }
	got := words(Review(p, v))
	for _, want := range []string{"? outcome unknown you v1", "write - retry safety never", "a approve x STOP_UNSAFE_TO_REPEAT", "n new run a run with limits of its own goes on"} {
		if !strings.Contains(got, words(want)) {
			t.Errorf("at %d cells the review does not show %q:\n%s", p.Width, want, Review(p, v))
		}
	}
	p.Height = 12
	if got := words(Review(p, v)); !strings.Contains(got, "verbsraxAvxn") {
		t.Errorf("the verbs are not in one row:\n%s", Review(p, v))
	}
}

// Scrolling reaches every row and stops at the last.
func TestReviewScroll(t *testing.T) {
	for _, size := range [][2]int{{40, 12}, {80, 24}, {120, 20}} {
		p := samplePage(NewTheme(Plain, true), size[0], size[1], 0)
		v := sampleReview()
		rows, seen := ReviewScroll(p, v)
		if rows <= seen {
			t.Fatalf("at %v a review of %d rows shows %d: nothing to scroll", size, rows, seen)
		}
		v.Top = rows - seen
		end := Review(p, v)
		v.Top++
		if Review(p, v) != end {
			t.Errorf("at %v the review scrolls past its end", size)
		}
		if want := fmt.Sprintf("rows %d-%d of %d", rows-seen+1, rows, rows); size[0] >= 80 && !strings.Contains(end, want) {
			t.Errorf("at %v the end does not say %q:\n%s", size, want, end)
		}
		if !strings.Contains(strings.TrimSpace(end), "had") { // the gate is not to be
			t.Errorf("at %v the last row is not to be seen:\n%s", size, end)
		}
	}
}

// The field that has the keys is always in sight, and so is its cursor.
func TestFormShowsTheFocusedField(t *testing.T) {
	for _, size := range [][2]int{{40, 10}, {40, 12}, {80, 24}} {
		for at := range sampleForm().Fields {
			f := sampleForm()
			for i := range f.Fields {
				f.Fields[i].Focused = i == at
			}
			if f.Fields[at].Options == nil {
				f.Fields[at].Value = strings.Repeat("long text ", 40) + "END"
				f.Fields[at].Cursor = len(f.Fields[at].Value)
			}
			got := Form(samplePage(NewTheme(Plain, true), size[0], size[1], 0), f)
			for _, want := range []string{"> " + f.Fields[at].Label, map[bool]string{true: "END_", false: "* did not"}[f.Fields[at].Options == nil]} {
				if !strings.Contains(got, want) {
					t.Errorf("at %v with field %d focused %q is not to be seen:\n%s", size, at, want, got)
				}
			}
		}
	}
}

// The cursor stands on the rune that it is before, whatever is escaped or wide.
func TestTypedCursor(t *testing.T) {
	const s = "a\x1b日e\u0301z"
	for cursor, want := range []string{"a", `\e`, "日", "e\u0301", "e\u0301", "z", "", ""} {
		cells, at := typedRows(s, cursor, 3, false)
		if got := cells[at].text; got != want {
			t.Errorf("cursor %d stands on %q, want %q", cursor, got, want)
		}
	}
}
