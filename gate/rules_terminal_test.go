package gate

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// R-T1: a spent limit returns RetryBudgetExhausted with its reason; any other
// terminal stop RetryStopped with its verdict. Both have all fields.
func TestRT1TypedOutcome(t *testing.T) {
	for _, row := range []struct {
		name   string
		l      Limits
		p      func(*Policy)
		code   Code // of the first attempt
		typ    string
		reason string
		class  Class
		next   Route
	}{
		{"attempts", limits(1, 9, time.Minute), func(*Policy) {}, "rate_limit", TypeExhausted, "attempts", ClassTransient, RouteEscalate},
		{"elapsed time", limits(9, 9, 3*time.Second), func(*Policy) {}, "rate_limit", TypeExhausted, "elapsed_time", ClassTransient, RouteReturn},
		{"side effects", limits(9, 1, time.Minute), func(*Policy) {}, "rate_limit", TypeExhausted, "side_effects", ClassTransient, RouteEscalate},
		{"retry tokens", Limits{ptr[int64](9), ptr(time.Minute), nil, ptr[int64](9), ptr[int64](4)}, func(*Policy) {}, "rate_limit", TypeExhausted, "retry_tokens", ClassTransient, RouteEscalate},
		{"call limit", limits(9, 9, time.Minute), func(p *Policy) { p.AttemptsPerCall = 1 }, "rate_limit", TypeStopped, "STOP_CALL_LIMIT", ClassTransient, RouteEscalate},
		{"permanent", limits(9, 9, time.Minute), func(*Policy) {}, "auth_failure", TypeStopped, "STOP_PERMANENT_OR_UNKNOWN", ClassPermanent, RouteReturn},
		{"unlisted", limits(9, 9, time.Minute), func(*Policy) {}, "teapot", TypeStopped, "STOP_PERMANENT_OR_UNKNOWN", ClassUnknown, RouteReconcile},
		{"conditional", limits(9, 9, time.Minute), func(*Policy) {}, "parse_error", TypeStopped, "STOP_UNSAFE_TO_REPEAT", ClassConditional, RouteReconcile},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := emptyWorld(t)
			w.policy(row.p)
			w.start("r1", row.l)
			w.ask("a", "pay")
			w.after(2 * time.Second)
			failure := Failure{Code: row.code, Message: "m", Status: "429", Field: "f", Suggest: "s"}
			d := w.fail("a", row.code, func(c *Report) { c.Failure = failure })
			if d.Verdict == Recorded {
				w.after(500 * time.Millisecond)
				d = w.ask("a", "pay", tokens(5))
			}
			want := &Terminal{
				Type: row.typ, Operation: "a", Reason: row.reason, FailureClass: row.class,
				AttemptsUsed: 1, SideEffectAttemptsUsed: 1, ElapsedTimeUsed: w.now.Sub(noon).Milliseconds(),
				LastFailure: failure, IdempotencyReference: w.op("a").Key, NextAction: row.next,
			}
			if diff := cmp.Diff(d.Terminal, want); diff != "" {
				t.Errorf("typed outcome (-got +want):\n%s", diff)
			}
			if diff := cmp.Diff(w.ask("a", "pay").Terminal, want); diff != "" {
				t.Errorf("typed outcome of a later ask (-got +want):\n%s", diff)
			}
		})
	}
}

// R-T1: the surplus of the very report that stops counts in its outcome.
func TestRT1CountsItsOwnSurplus(t *testing.T) {
	w := newWorld(t)
	w.ask("a", "charge")
	d := w.fail("a", "timeout", inner(3))
	equal(t, "attempts used", d.Terminal.AttemptsUsed, 3)
	equal(t, "side effects used", d.Terminal.SideEffectAttemptsUsed, 3)
}

// R-T2: exhaustion blocks its own dimension; each ask is measured by its own
// price, and the run's state only shows that a limit has refused one.
func TestRT2ExhaustionBlocksItsOwnDimension(t *testing.T) {
	w := emptyWorld(t)
	l := limits(9, 1, time.Minute)
	l.RetryTokens = ptr[int64](10)
	w.start("r1", l)
	w.is(w.ask("w1", "pay"), Admit)
	equal(t, "state", ptr(w.header()).State(), RunActive)
	w.is(w.ask("w2", "pay"), StopSideEffectBudget)
	equal(t, "state", ptr(w.header()).State(), RunExhausted)
	w.is(w.ask("a", "search"), Admit) // a read goes on
	w.fail("a", "timeout")
	w.ask("b", "search")
	w.fail("b", "timeout")
	w.is(w.ask("a", "search", tokens(11)), StopTokenBudget)
	w.is(w.ask("b", "search", tokens(10)), Retry) // a smaller repeat goes on
	w.is(w.ask("c", "search", tokens(99)), Admit) // a first dispatch, too
	equal(t, "state", ptr(w.header()).State(), RunExhausted)
	w.end()
	w.ok("b")
	w.ok("c")
	w.ok("w1")
	equal(t, "state", ptr(w.header()).State(), RunEnded)

	w = newWorld(t) // other stops do not show
	w.ask("a", "search")
	w.fail("a", "teapot")
	w.ask("a", "search")
	equal(t, "state", ptr(w.header()).State(), RunActive)
}

// R-T3: a terminal outcome sticks: no path, alias, agent, restart or new throw
// of the jitter makes a dispatch of it.
func TestRT3TerminalOutcomeSticks(t *testing.T) {
	for _, row := range []struct {
		name string
		stop func(w *world)
	}{
		{"permanent", func(w *world) { w.ask("a", "search"); w.fail("a", "invalid_input") }},
		{"unlisted", func(w *world) { w.ask("a", "search"); w.fail("a", "teapot") }},
		{"out of time by its jitter", func(w *world) {
			w.policy(func(p *Policy) { p.Backoff = Backoff{Base: time.Minute, Cap: time.Minute} })
			w.ask("a", "search")
			w.fail("a", "timeout")
			w.jitter = 0.999
			w.is(w.ask("a", "search"), StopTimeBudget)
			w.jitter = 0
		}},
		{"call limit", func(w *world) {
			w.policy(func(p *Policy) { p.AttemptsPerCall = 1 })
			w.ask("a", "search")
			w.fail("a", "timeout")
			w.is(w.ask("a", "search"), StopCallLimit)
			w.policy(func(p *Policy) { p.AttemptsPerCall = 9 })
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			row.stop(w)
			spent := w.spent()
			for _, p := range paths {
				w.is(w.ask("a", "search", path(p), by("main/other")), StopTerminal)
				w.is(w.ask("a", "crawl", path(p)), StopTerminal) // an alias
				w.is(w.ask("a", "search", path(p), changed), StopTerminal)
			}
			w.do(Start{Actor: agent, Run: "r1"}) // a resume
			w.is(w.ask("a", "search", path(PathResume)), StopTerminal)
			equal(t, "spent", w.spent(), spent)
		})
	}
}

// R-T4: the route is the policy's, by why it stopped; an unknown outcome of a
// write wins over every other.
func TestRT4RouteByWhyItStopped(t *testing.T) {
	all := Routes{}
	for _, row := range []struct {
		v     Verdict
		class Class
		set   func(*Routes)
	}{
		{StopAttemptBudget, ClassTransient, func(r *Routes) { r.Attempts = RouteDeadLetter }},
		{StopTimeBudget, ClassTransient, func(r *Routes) { r.ElapsedTime = RouteDeadLetter }},
		{StopSideEffectBudget, ClassTransient, func(r *Routes) { r.SideEffects = RouteDeadLetter }},
		{StopTokenBudget, ClassTransient, func(r *Routes) { r.RetryTokens = RouteDeadLetter }},
		{StopCallLimit, ClassTransient, func(r *Routes) { r.CallLimit = RouteDeadLetter }},
		{StopPermanentOrUnknown, ClassPermanent, func(r *Routes) { r.Permanent = RouteDeadLetter }},
		{StopPermanentOrUnknown, ClassUnknown, func(r *Routes) { r.Unlisted = RouteDeadLetter }},
		{StopRepeatedRefusal, ClassConditional, func(r *Routes) { r.Repeated = RouteDeadLetter }},
		{StopUnsafeToRepeat, ClassTransient, func(r *Routes) { r.Unsafe = RouteDeadLetter }},
	} {
		p := Policy{Routes: all}
		row.set(&p.Routes)
		equal(t, row.v.String(), p.route(row.v, row.class, false), RouteDeadLetter)
		p.Routes = Routes{RouteDeadLetter, RouteDeadLetter, RouteDeadLetter, RouteDeadLetter, RouteDeadLetter, RouteDeadLetter, RouteDeadLetter, RouteDeadLetter, RouteDeadLetter, RouteReconcile}
		row.set = nil
		equal(t, row.v.String()+", outcome unknown", p.route(row.v, row.class, true), RouteReconcile)
		p.QueueOff = true
		equal(t, row.v.String()+", no queue", p.route(row.v, row.class, true), RouteReturn)
	}
}

// R-T4: with the starter's routes: the item, its state and its kind.
func TestRT4ItemsOfStops(t *testing.T) {
	for _, row := range []struct {
		name string
		tool string
		code Code
		p    func(*Policy)
		hold HoldState
		kind Kind
		next Route
	}{
		{"to a person", "search", "teapot", func(*Policy) {}, HoldOpen, KindStopped, RouteEscalate},
		{"to its caller", "search", "invalid_input", func(*Policy) {}, HoldNone, 0, RouteReturn},
		{"set aside", "search", "teapot", func(p *Policy) { p.Routes.Unlisted = RouteDeadLetter }, HoldDeadLetter, KindStopped, RouteDeadLetter},
		{"unknown outcome wins", "pay", "schema_violation", func(*Policy) {}, HoldOpen, KindOutcomeUnknown, RouteReconcile},
		{"refused: known", "pay", "invalid_input", func(*Policy) {}, HoldNone, 0, RouteReturn},
		{"no queue", "charge", "timeout", func(p *Policy) { p.QueueOff = true }, HoldNone, 0, RouteReturn},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			w.policy(row.p)
			w.ask("a", row.tool)
			d := w.fail("a", row.code)
			equal(t, "item", w.op("a").Hold.State, row.hold)
			equal(t, "kind", w.op("a").Hold.Kind, row.kind)
			equal(t, "route", d.Route, row.next)
			equal(t, "next action", d.Terminal.NextAction, row.next)
			equal(t, "an item is claimed to exist", d.Item() != "", row.hold != HoldNone)
		})
	}
}

// R-T4: an admission that is refused opens no item, save for approval.
func TestRT4RefusedAdmissionOpensNoItem(t *testing.T) {
	w := emptyWorld(t)
	w.start("r1", limits(9, 0, time.Minute), Cap{Agent: "main/a"})
	for _, d := range []Decision{w.ask("a", "pay"), w.ask("b", "search", by("main/a"))} {
		if !d.Verdict.IsStop() || d.Item() != "" {
			t.Errorf("%v: item = %q, want a stop without one", d.Verdict, d.Item())
		}
	}
	equal(t, "next action", w.op("a").Terminal.NextAction, RouteReturn)
	equal(t, "items", w.header().OpenItems, 0)
	w.ask("c", "refund")
	equal(t, "items after an approval", w.header().OpenItems, 1)
}

// R-T5: dead-letter is a state of the item: it keeps what it had, an approve
// or reject takes it up, and it comes back there.
func TestRT5DeadLetter(t *testing.T) {
	w := newWorld(t)
	w.policy(func(p *Policy) { p.Routes.Unlisted = RouteDeadLetter; p.AttemptsPerCall = 9 })
	w.ask("a", "search")
	w.fail("a", "teapot")
	equal(t, "state", w.op("a").Hold.State, HoldDeadLetter)
	equal(t, "dead letters", w.header().DeadLetters, 1)
	key := w.op("a").Key
	d := w.is(w.approve("a", cleared), Retry)
	equal(t, "key", d.Permit.Key, key)
	equal(t, "ordinal", d.Ordinal, 2)
	equal(t, "dead letters while in flight", w.header().DeadLetters, 0)
	w.fail("a", "timeout") // whatever its class
	equal(t, "state when it is back", w.op("a").Hold.State, HoldDeadLetter)
	equal(t, "spent goes on", w.spent().Attempts, 2)
	w.is(w.approve("a"), Retry)
	w.fail("a", "teapot")
	equal(t, "state when it is back again", w.op("a").Hold.State, HoldDeadLetter)
	w.is(w.act(ActReject, "a"), Resolved)
	equal(t, "dead letters", w.header().DeadLetters, 0)
	equal(t, "state of the operation", w.op("a").State(w.now), OpRejected)
}

// R-P2, R-T4: the route is said by every stop, and an unknown outcome wins in
// it; but where an item stands that is opened again is not the route's to say:
// it returns to the state that it had. So what was set aside stays there, as an
// item of kind outcome-unknown, also when it is a late success that opens it.
func TestRT5DeadLetterOpensAgainThere(t *testing.T) {
	for _, row := range []struct {
		name  string
		tool  string
		play  func(w *world) Decision
		route Route // of the decision that opens it again
	}{
		{"a stop whose outcome is unknown", "charge", func(w *world) Decision {
			w.fail("a", "auth_failure")
			w.approve("a", cleared)
			return w.is(w.lose("a"), StopUnsafeToRepeat)
		}, RouteReconcile},
		{"an unknown outcome that is no stop", "pay", func(w *world) Decision {
			w.fail("a", "auth_failure")
			w.approve("a", cleared)
			return w.is(w.lose("a"), Recorded)
		}, RouteReturn},
		{"a late success that may have been done twice", "charge", func(w *world) Decision {
			w.policy(func(p *Policy) { p.Routes.OutcomeUnknown = RouteDeadLetter })
			w.lose("a")
			w.approve("a", asNew)
			w.policy(func(p *Policy) { p.Routes.OutcomeUnknown = RouteReconcile })
			return w.is(w.ok("a"), Recorded)
		}, RouteReturn},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			w.policy(func(p *Policy) { p.Routes.Permanent = RouteDeadLetter })
			w.ask("a", row.tool)
			d := row.play(w)
			equal(t, "route", d.Route, row.route)
			equal(t, "state", w.op("a").Hold.State, HoldDeadLetter)
			equal(t, "kind", w.op("a").Hold.Kind, KindOutcomeUnknown)
			equal(t, "dead letters", w.header().DeadLetters, 1)
		})
	}
}
