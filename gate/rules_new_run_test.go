package gate

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// R-P3: a new run goes on with what is unfinished; the old one's counters
// stay.
func TestRP3NewRun(t *testing.T) {
	w := newWorld(t)
	w.ask("done", "pay")
	w.ok("done")
	w.ask("lost", "charge")
	w.fail("lost", "timeout")
	w.ask("found", "charge")
	w.fail("found", "timeout")
	w.reconcile("found", FindingDidNotHappen)
	w.ask("flying", "search")
	w.ask("closed", "charge")
	w.fail("closed", "timeout")
	w.act(ActReject, "closed")
	w.policy(func(p *Policy) { p.AttemptsPerCall = 1 })
	w.ask("limited", "search")
	w.fail("limited", "timeout")
	w.is(w.ask("limited", "search"), StopCallLimit)
	old := w.header()
	cause := w.op("lost").Hold.Cause
	d := w.is(w.goOn("lost", "r2", limits(7, 3, time.Hour)), Resolved)
	equal(t, "cause", d.Cause, cause)

	r2 := w.header()
	equal(t, "its cause", r2.Cause, d.Seq)
	equal(t, "its parent", r2.Parent, "r1")
	equal(t, "its root", r2.Root, "r1")
	equal(t, "its counters", r2.Budget.Spent, Counters{})
	equal(t, "its limits", r2.Budget.MaxAttempts, 7)
	equal(t, "its operations", r2.Operations, 4)
	equal(t, "in flight there", r2.InFlight, 1)
	r1, _ := w.live.Run("r1")
	equal(t, "the old counters", r1.Budget, old.Budget)
	equal(t, "the old items", r1.OpenItems, 0)
	equal(t, "the old in flight", r1.InFlight, 0)
	equal(t, "next", r1.Next, "r2")

	for _, op := range []OpID{"lost", "found", "flying", "limited"} {
		before, _ := w.live.Op(Ref{"r1", op})
		after := w.op(op)
		equal(t, string(op)+": state in the old run", before.State(w.now), OpSuperseded)
		equal(t, string(op)+": key", after.Key, before.Key)
		equal(t, string(op)+": digest", after.Digest, before.Digest)
		equal(t, string(op)+": attempts", cmp.Equal(after.Attempts, before.Attempts), true)
		equal(t, string(op)+": stored stop", after.Stop, 0)
		equal(t, string(op)+": item", after.Hold.State, HoldNone)
	}
	// What is finished stays finished there, and is none of its operations
	// (R-T3, R-A3).
	for _, op := range []OpID{"done", "closed"} {
		equal(t, string(op)+": carried", w.op(op).Carried, true)
		equal(t, string(op)+": attempts here", w.header().InFlight, 1)
	}
	w.is(w.ask("done", "pay"), AlreadyDone)
	w.is(w.ask("done", "pay", input(`{"n":2}`)), StopKeyConflict)
	w.is(w.ask("closed", "charge"), StopTerminal)
	w.is(w.ask("lost", "charge"), StopUnsafeToRepeat) // still unknown, still unsafe
	w.is(w.ask("found", "charge"), StopUnsafeToRepeat)
	w.is(w.approve("found"), Retry)
	equal(t, "ordinals go on", w.op("found").Newest().Ordinal, 2)
	w.is(w.ask("limited", "search"), Retry) // a fresh call limit
	w.fail("limited", "timeout")
	w.is(w.ask("limited", "search"), StopCallLimit)
	w.is(w.ask("flying", "search"), StopInFlight)

	// What is still out is reported to either run, and paid by the first.
	w.run = "r1"
	w.is(w.ask("flying", "search"), StopTerminal)
	rep := w.is(w.fail("flying", "timeout", inner(2)), Recorded)
	equal(t, "who pays the surplus", rep.Run, "r1")
	r2 = w.header()
	w.run = "r2"
	w.policy(func(p *Policy) { p.AttemptsPerCall = 9 })
	w.is(w.ask("flying", "search"), Retry)
	equal(t, "in flight", w.header().InFlight, 2)
}

// R-P3: what is still out is swept in the new run, and a late report settles
// the whole line.
func TestRP3LateReportSettlesTheLine(t *testing.T) {
	for _, reported := range []RunID{"r1", "r2"} {
		t.Run("reported to "+string(reported), func(t *testing.T) {
			w := newWorld(t)
			w.ask("a", "charge")
			w.ask("other", "charge")
			w.fail("other", "timeout")
			w.goOn("other", "r2", limits(9, 9, time.Hour))
			due, _ := w.live.Due(w.now.Add(time.Minute), 9)
			if diff := cmp.Diff(due, []Ref{{"r2", "a"}}); diff != "" {
				t.Errorf("due (-got +want):\n%s", diff)
			}
			w.is(w.lose("a"), StopUnsafeToRepeat)
			equal(t, "item in the new run", w.op("a").Hold.Kind, KindOutcomeUnknown)
			was, _ := w.live.Op(Ref{"r1", "a"})
			equal(t, "item in the old run", was.Hold.State, HoldNone)
			equal(t, "outcome in the old run", was.Attempts[0].Outcome, OutcomeUnknown)
			w.run = reported
			w.ok("a", result("late"))
			for _, run := range []RunID{"r1", "r2"} {
				w.run = run
				d := w.is(w.ask("a", "charge"), AlreadyDone)
				equal(t, "result in "+string(run), d.Result, "late")
			}
			equal(t, "item", w.op("a").Hold.State, HoldResolved)
		})
	}
	w := lost(t) // a run id that is taken
	w.start("r2", limits(1, 1, time.Minute))
	w.run = "r1"
	_, err := w.try(w.verb(ActNewRun, "a", func(c *Verb) { c.NewRun, c.Limits = "r2", limits(1, 1, time.Minute) }))
	fails(t, "a run that exists", err, ErrReused)
	_, err = w.try(w.verb(ActNewRun, "a", func(c *Verb) { c.NewRun, c.Limits = "r1", limits(1, 1, time.Minute) }))
	fails(t, "itself", err, ErrReused)
	_, err = w.try(w.verb(ActNewRun, "a", func(c *Verb) { c.NewRun = "r3" }))
	names(t, err, "limits.attempts") // explicit limits
}

// R-A2, R-P3: a call without a name is the same operation in each run of a
// line: its key and its unknown outcome are found again.
func TestRA2SameCallInTheNextRun(t *testing.T) {
	for name, report := range map[string]func(w *world, op OpID){
		"outcome unknown": func(w *world, op OpID) { w.fail(op, "timeout") },
		"still out":       func(*world, OpID) {},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			first := w.is(w.ask("", "charge", input(`{"n":1}`)), Admit)
			report(w, first.Op)
			w.ask("other", "charge")
			w.fail("other", "timeout")
			w.goOn("other", "r2", limits(9, 9, time.Hour))
			again := w.ask("", "charge", input(`{"n":1}`))
			equal(t, "operation", again.Op, first.Op)
			equal(t, "key", again.Key, first.Key)
			equal(t, "permitted", again.Verdict.Permits(), false)
		})
	}
}

// R-T3: what a person closed stays closed under its name in the next run.
func TestRT3ClosedStaysClosedInTheNextRun(t *testing.T) {
	w := newWorld(t)
	for _, op := range []OpID{"new-action", "unresolved", "rejected", "other"} {
		w.ask(op, "charge")
		w.fail(op, "timeout")
	}
	w.is(w.approve("new-action", func(c *Verb) { c.AsNewAction = true }), Admit)
	w.reconcile("unresolved", FindingCannotTell)
	w.act(ActReject, "rejected")
	w.ask("undispatched", "refund")
	w.act(ActReject, "undispatched")
	w.goOn("other", "r2", limits(9, 9, time.Hour))
	for _, op := range []OpID{"new-action", "unresolved", "rejected"} {
		w.is(w.ask(op, "charge"), StopTerminal)
	}
	w.is(w.ask("undispatched", "refund"), StopTerminal) // it has no stored stop
	w.is(w.ask("new-action~2", "charge"), StopInFlight)
	w.run = "r1" // a late success settles them in both runs (R-C6)
	w.ok("new-action~2", ordinal(1))
	for _, run := range []RunID{"r1", "r2"} {
		w.run = run
		w.is(w.ask("new-action~2", "charge"), AlreadyDone)
	}
}

// R-C6: a late success of what a new action has superseded may have been done
// twice, in the next run as well.
func TestRC6DoneTwiceInTheNextRun(t *testing.T) {
	w := newWorld(t)
	w.ask("a", "charge")
	w.lose("a")
	w.is(w.approve("a", asNew), Admit)
	w.lose("a~2")
	w.goOn("a~2", "r2", limits(9, 9, time.Hour))
	equal(t, "successor", w.op("a").Successor, Ref{"r2", "a~2"})
	w.is(w.ok("a", ordinal(1)), Recorded)
	equal(t, "waits", w.op("a").Hold.Waits(), true)
	equal(t, "may be done twice", w.op("a").Hold.Duplicate, true)
	equal(t, "kind", w.op("a").Hold.Kind, KindOutcomeUnknown)
	w.is(w.ask("a", "charge"), AlreadyDone)
}
