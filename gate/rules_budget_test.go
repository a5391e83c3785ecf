package gate

import (
	"testing"
	"time"
)

// R-B1: the reserve is kept out of the time for calls.
func TestRB1ReserveIsKept(t *testing.T) {
	w := emptyWorld(t)
	l, reserve := limits(4, 2, 10*time.Second), 3*time.Second
	l.Reserve = &reserve
	w.start("r1", l)
	b := w.header().Budget
	equal(t, "left at the start", b.Left(noon), 7*time.Second)
	equal(t, "left at the reserve", b.Left(noon.Add(7*time.Second)), 0)
	equal(t, "left after the deadline", b.Left(noon.Add(time.Hour)), 0)
}

// R-B3: counters only grow, limits and deadline stay, and no attempt goes.
func TestRB3NothingIsEverLowered(t *testing.T) {
	w := newWorld(t)
	acts := []func(){
		func() { w.ask("a", "charge") },
		func() { w.fail("a", "timeout") },
		func() { w.act(ActClaim, "a") },
		func() { w.act(ActNote, "a") },
		func() { w.act(ActSnooze, "a") },
		func() { w.act(ActRelease, "a") },
		func() { w.reconcile("a", FindingDidNotHappen) },
		func() { w.is(w.approve("a"), Retry) },
		func() { w.fail("a", "invalid_input", inner(2)) },
		func() { w.act(ActReject, "a") },
		func() { w.ask("b", "charge") },
		func() { w.lose("b") },
		func() { w.is(w.approve("b", asNew), Admit) },
		func() { w.ok("b~2") },
		func() { w.ok("b", ordinal(1)) },
		func() { w.reconcile("b", FindingCannotTell) },
		func() { w.end() },
	}
	was := w.header().Budget
	attempts := map[OpID]int{}
	for i, act := range acts {
		act()
		b := w.header().Budget
		if b.Spent.Attempts < was.Spent.Attempts || b.Spent.SideEffects < was.Spent.SideEffects {
			t.Fatalf("act %d: spent = %+v, less than %+v", i, b.Spent, was.Spent)
		}
		was.Spent = b.Spent
		if b != was {
			t.Fatalf("act %d: budget = %+v, want its limits as they were: %+v", i, b, was)
		}
		for _, op := range w.live.Ops("r1") {
			if len(op.Attempts) < attempts[op.ID] {
				t.Fatalf("act %d: %s has lost an attempt", i, op.ID)
			}
			attempts[op.ID] = len(op.Attempts)
		}
	}
	equal(t, "spent", w.spent(), Counters{Attempts: 5, SideEffects: 5})
}

// R-B4: charged with the decision that permits: an attempt, for a write a side
// effect, for a repeat the call's tokens.
func TestRB4ChargedBeforeTheDispatch(t *testing.T) {
	for _, row := range []struct {
		name          string
		tool          string
		first, repeat Counters
	}{
		{"a read", "search", Counters{Attempts: 1}, Counters{Attempts: 1, RetryTokens: 700}},
		{"a write", "pay", Counters{Attempts: 1, SideEffects: 1}, Counters{Attempts: 1, SideEffects: 1, RetryTokens: 700}},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := emptyWorld(t)
			l, most := limits(10, 5, time.Minute), int64(1000)
			l.RetryTokens = &most
			w.start("r1", l)
			d := w.is(w.ask("a", row.tool, tokens(700)), Admit)
			equal(t, "charge of the first", d.Charge, row.first)
			equal(t, "spent before its report", w.spent(), row.first)
			w.fail("a", "timeout")
			d = w.is(w.ask("a", row.tool, tokens(700)), Retry)
			equal(t, "charge of the repeat", d.Charge, row.repeat)
			equal(t, "spent", w.spent(), row.first.Plus(row.repeat))
			equal(t, "before", d.Before.Spent, row.first)
			equal(t, "after", d.After().Spent, w.spent())
			d = w.ask("a", row.tool, tokens(700))
			equal(t, "charge of a stop", d.Charge, Counters{})
		})
	}
}

// R-B4: the tokens of a repeat are those of its own ask.
func TestRB4EachRepeatCostsWhatItSays(t *testing.T) {
	w := emptyWorld(t)
	l, most := limits(10, 5, time.Minute), int64(1000)
	l.RetryTokens = &most
	w.start("r1", l)
	w.ask("a", "search", tokens(999))
	w.fail("a", "timeout")
	equal(t, "tokens", w.ask("a", "search").Charge.RetryTokens, 0)
	w.fail("a", "timeout")
	equal(t, "tokens", w.ask("a", "search", tokens(3)).Charge.RetryTokens, 3)
}

// R-B5: a charge stays: unused, refused, or found not to have happened.
func TestRB5NothingIsGivenBack(t *testing.T) {
	for _, row := range []struct {
		name string
		then func(w *world)
	}{
		{"unused: its permit lapses", func(w *world) { w.lose("a") }},
		{"refused before execution", func(w *world) { w.fail("a", "rate_limit") }},
		{"found not to have happened", func(w *world) { w.fail("a", "timeout"); w.reconcile("a", FindingDidNotHappen) }},
		{"rejected", func(w *world) { w.fail("a", "timeout"); w.act(ActReject, "a") }},
		{"gone on elsewhere", func(w *world) { w.fail("a", "timeout"); w.goOn("a", "r2", limits(1, 1, time.Hour)); w.run = "r1" }},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			w.ask("a", "charge")
			row.then(w)
			equal(t, "spent", w.spent(), Counters{Attempts: 1, SideEffects: 1})
		})
	}
}

// R-B6: one deadline runs through calls, waits, handoffs and the queue.
func TestRB6TheDeadlineRunsThroughEverything(t *testing.T) {
	for _, row := range []struct {
		name string
		then func(w *world) Decision
		want Verdict
	}{
		{"in time", func(w *world) Decision { w.fail("a", "timeout"); return w.ask("a", "search") }, Retry},
		{"a long call", func(w *world) Decision {
			w.after(time.Minute)
			w.fail("a", "timeout")
			return w.ask("a", "search")
		}, StopTimeBudget},
		{"a wait in the agent", func(w *world) Decision {
			w.fail("a", "timeout")
			w.after(time.Minute)
			return w.ask("a", "search")
		}, StopTimeBudget},
		{"a handoff and a queue", func(w *world) Decision {
			w.fail("a", "timeout")
			w.after(time.Minute)
			return w.ask("a", "search", by("main/child"), path(PathQueue))
		}, StopTimeBudget},
		{"a person who takes a minute", func(w *world) Decision {
			w.fail("a", "teapot")
			w.after(time.Minute)
			return w.approve("a", cleared)
		}, StopTimeBudget},
		{"a person who takes less", func(w *world) Decision {
			w.fail("a", "teapot")
			w.after(58 * time.Second)
			return w.approve("a", cleared)
		}, Retry},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			w.ask("a", "search")
			w.is(row.then(w), row.want)
		})
	}
}

// R-B7: all limits that apply must allow it; none stands in for another.
func TestRB7LimitsAreAndedTogether(t *testing.T) {
	short := 500 * time.Millisecond
	for _, row := range []struct {
		name string
		l    Limits
		tool string
		want Verdict
	}{
		{"all left", limits(2, 2, time.Minute), "pay", Admit},
		{"no attempt", limits(1, 9, time.Minute), "pay", StopAttemptBudget},
		{"no time", limits(9, 9, short), "pay", StopTimeBudget},
		{"no side effect", limits(9, 1, time.Minute), "pay", StopSideEffectBudget},
		{"no side effect, and none is needed", limits(9, 1, time.Minute), "search", Admit},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := emptyWorld(t)
			w.start("r1", row.l)
			w.ask("first", "pay")
			w.is(w.ask("a", row.tool), row.want)
		})
	}
}

// R-B8: what a client repeats inside a dispatch is charged when it says so,
// even past the limit; the permit says how many it may make.
func TestRB8SurplusIsCharged(t *testing.T) {
	for _, row := range []struct {
		name      string
		tool      string
		inner     int64
		spent     Counters
		overdrawn bool
	}{
		{"not said", "put", 0, Counters{Attempts: 1, SideEffects: 1}, false},
		{"one, the charged one", "put", 1, Counters{Attempts: 1, SideEffects: 1}, false},
		{"two more of a write", "put", 3, Counters{Attempts: 3, SideEffects: 3}, false},
		{"two more of a read", "search", 3, Counters{Attempts: 3}, false},
		{"up to the limit", "search", 10, Counters{Attempts: 10}, false},
		{"past the attempts", "search", 11, Counters{Attempts: 11}, true},
		{"past the side effects", "put", 6, Counters{Attempts: 6, SideEffects: 6}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			w.ask("a", row.tool)
			w.fail("a", "timeout", inner(row.inner))
			equal(t, "spent", w.spent(), row.spent)
			equal(t, "overdrawn", w.header().Overdrawn, row.overdrawn)
			equal(t, "the operation's own attempts", w.op("a").Permits, 1)
			if got, want := w.op("a").Attempts[0].Inner, max(1, row.inner); got != want {
				t.Errorf("inner attempts = %d, want %d", got, want)
			}
		})
	}
}

// R-B8: the surplus comes with a success, with a late report, and out of the
// caps; the call limit does not see it.
func TestRB8SurplusOfEveryReport(t *testing.T) {
	w := emptyWorld(t)
	w.start("r1", limits(20, 5, time.Minute), Cap{Agent: "main/a", Attempts: 6})
	w.ask("a", "search", by("main/a"))
	w.ok("a", inner(2))
	equal(t, "after a success", w.header().Caps[0].Spent, 2)
	w.ask("b", "search", by("main/a"))
	w.lose("b")
	w.fail("b", "timeout", inner(3))
	equal(t, "after a late report", w.header().Caps[0].Spent, 5)
	equal(t, "of the run", w.spent().Attempts, 5)
	w.is(w.ask("b", "search", by("main/b")), Retry)
	w.fail("b", "timeout", inner(9))
	w.is(w.ask("b", "search", by("main/b")), Retry) // the third permit of three
	equal(t, "of the run", w.spent().Attempts, 15)
}

// R-B8: a permit says how many attempts may be made inside it.
func TestRB8PermitBoundsInnerAttempts(t *testing.T) {
	w := emptyWorld(t)
	w.start("r1", limits(7, 3, time.Minute), Cap{Agent: "main/a", Attempts: 2})
	equal(t, "a read: attempts", w.ask("a", "search").Permit.Inner, 7)
	equal(t, "a write: side effects", w.ask("b", "put").Permit.Inner, 3)
	equal(t, "under a cap", w.ask("c", "search", by("main/a")).Permit.Inner, 2)
	equal(t, "under a cap, the last", w.ask("d", "search", by("main/a/x")).Permit.Inner, 1)
	equal(t, "what is left", w.ask("e", "search").Permit.Inner, 3)
}

// R-B9: a cap narrows, for its agent and those below; the run's limits hold
// for the sum.
func TestRB9CapsOnlyNarrow(t *testing.T) {
	for _, row := range []struct {
		name  string
		agent string
		want  Verdict
	}{
		{"another agent", "main/b", Admit},
		{"the run's own", "", Admit},
		{"the capped one", "main/a", StopCap},
		{"one below it", "main/a/deep", StopCap},
		{"one with a longer name", "main/ab", Admit},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := emptyWorld(t)
			w.start("r1", limits(9, 5, time.Minute), Cap{Agent: "main/a", Attempts: 2})
			w.is(w.ask("1", "search", by("main/a")), Admit)
			w.is(w.ask("2", "search", by("main/a/deep")), Admit)
			w.is(w.ask("3", "search", by(row.agent)), row.want)
		})
	}

	w := emptyWorld(t)
	w.start("r1", limits(3, 0, time.Minute), Cap{Agent: "main/a", Attempts: 2}, Cap{Agent: "main/b", Attempts: 2})
	w.is(w.ask("1", "search", by("main/a")), Admit)
	w.is(w.ask("2", "search", by("main/a")), Admit)
	w.is(w.ask("3", "search", by("main/b")), Admit)
	w.is(w.ask("4", "search", by("main/b")), StopAttemptBudget) // its cap has one left
	equal(t, "spent", w.spent().Attempts, 3)

	w = emptyWorld(t)
	w.start("r1", limits(9, 0, time.Minute), Cap{Agent: "main", Attempts: 1}, Cap{Agent: "main/a", Attempts: 5})
	w.ask("1", "search", by("main/a"))
	w.is(w.ask("2", "search", by("main/a")), StopCap) // the narrower of two

	w = emptyWorld(t)
	w.start("r1", limits(9, 0, time.Minute), Cap{Agent: "main/a"})
	w.is(w.ask("1", "search", by("main/a")), StopCap) // a cap of nothing
}

// R-B10: while the gate's time stands still, new permits are refused and what
// has happened may still be said. The time itself is tested at the door.
func TestRB10NoPermitWhileTheClockIsBehind(t *testing.T) {
	w := newWorld(t)
	w.ask("done", "pay")
	w.ok("done", result("ref-1"))
	w.ask("lost", "charge")
	w.fail("lost", "timeout")
	w.ask("flying", "search")
	w.behind = true
	w.is(w.ask("new", "search"), StopClock)
	w.is(w.ask("done", "pay"), AlreadyDone)
	w.is(w.ask("flying", "search"), StopInFlight)
	w.is(w.ok("flying"), Recorded)
	w.is(w.ask("flying", "search"), StopClock)
	w.is(w.approve("lost"), StopClock)
	w.is(w.reconcile("lost", FindingDidNotHappen), Resolved)
	w.is(w.approve("lost"), StopClock)
	equal(t, "spent", w.spent().Attempts, 3)
	w.behind = false
	w.is(w.ask("new", "search"), Admit)
	w.is(w.approve("lost"), Retry)
}
