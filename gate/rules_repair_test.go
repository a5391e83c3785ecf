package gate

import (
	"testing"
	"time"
)

// changed is another request than the usual one.
var changed = input(`{"n":2}`)

// R-R1: one repeat of a failed reply, and its request must differ.
func TestRR1RepairHasToDiffer(t *testing.T) {
	for _, code := range []Code{"parse_error", "missing_field", "tool_output_truncated", "empty_response"} {
		t.Run(string(code), func(t *testing.T) {
			w := newWorld(t)
			w.ask("a", "search")
			w.is(w.fail("a", code), Recorded)
			w.is(w.ask("a", "search"), StopUnchangedRequest)
			w.is(w.ask("a", "search", input(` { "n" : 1 } `)), StopUnchangedRequest)
			equal(t, "spent", w.spent().Attempts, 1)
			w.is(w.ask("a", "search", changed), Retry)
			w.ok("a")
		})
	}

	w := newWorld(t) // it must differ from what failed, not from what was asked first
	w.ask("a", "search")
	w.fail("a", "timeout")
	w.ask("a", "search", changed)
	w.fail("a", "parse_error")
	w.is(w.ask("a", "search", changed), StopUnchangedRequest)
	w.is(w.ask("a", "search"), Retry)

	w = newWorld(t) // nothing but volatile fields is no change
	w.change(func(k *Contract) { k.Tools["search"].Volatile = []string{"at"} })
	w.ask("a", "search", input(`{"at":1}`))
	w.fail("a", "parse_error")
	w.is(w.ask("a", "search", input(`{"at":2}`)), StopUnchangedRequest)
}

// R-R2: a second failed reply stops, whatever its code, also when something
// else came between; the boundary is two.
func TestRR2SecondRefusalStops(t *testing.T) {
	for name, codes := range map[string][]Code{
		"the same code": {"parse_error", "parse_error"},
		"another code":  {"parse_error", "empty_response"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.ask("a", "search")
			w.fail("a", codes[0])
			w.ask("a", "search", changed)
			d := w.is(w.fail("a", codes[1]), StopRepeatedRefusal)
			equal(t, "type", d.Terminal.Type, TypeStopped)
			equal(t, "failure class", d.Terminal.FailureClass, ClassConditional)
			w.is(w.ask("a", "search", input(`{"n":3}`)), StopTerminal)
			w.is(w.approve("a"), StopRepeatedRefusal)
			w.is(w.approve("a", cleared), Retry)
		})
	}
	w := newWorld(t)
	w.policy(func(p *Policy) { p.AttemptsPerCall = 9 })
	w.ask("a", "search")
	w.fail("a", "parse_error")
	w.ask("a", "search", changed)
	w.is(w.fail("a", "timeout"), Recorded)
	w.is(w.ask("a", "search", changed), Retry) // a transient one is no refusal
	w.is(w.fail("a", "parse_error"), StopRepeatedRefusal)

	w = newWorld(t) // also across a new run
	w.ask("a", "search")
	w.fail("a", "parse_error")
	w.ask("b", "charge")
	w.fail("b", "timeout")
	w.goOn("b", "r2", limits(9, 9, time.Minute))
	w.is(w.ask("a", "search", changed), Retry)
	w.is(w.fail("a", "parse_error"), StopRepeatedRefusal)
}

// R-R3: on a write a reply that could not be used means that the effect
// probably happened.
func TestRR3FailedReplyOfAWrite(t *testing.T) {
	for _, tool := range []string{"pay", "put", "charge"} {
		t.Run(tool, func(t *testing.T) {
			w := newWorld(t)
			w.ask("a", tool)
			d := w.is(w.fail("a", "parse_error"), StopUnsafeToRepeat)
			equal(t, "outcome", d.Outcome, OutcomeUnknown)
			equal(t, "route", d.Route, RouteReconcile)
			equal(t, "kind", w.op("a").Hold.Kind, KindOutcomeUnknown)
			w.is(w.ask("a", tool), StopTerminal)
			w.is(w.ask("a", tool, changed), StopTerminal)
			w.is(w.approve("a"), StopUnsafeToRepeat)
		})
	}
	// Refused before execution, it did not happen; a changed request is a
	// conflict all the same.
	w := newWorld(t)
	w.policy(func(p *Policy) { p.Codes["bad_shape"] = CodeRule{Class: ClassConditional, Refused: true} })
	w.ask("a", "pay")
	w.is(w.fail("a", "bad_shape"), StopUnsafeToRepeat)
	equal(t, "kind", w.op("a").Hold.Kind, KindStopped)
}

// R-R4: a repair meets steps 3 to 5 and the guards, and names its operation.
func TestRR4RepairMeetsTheRest(t *testing.T) {
	for _, row := range []struct {
		name string
		l    Limits
		p    func(*Policy)
		want Verdict
	}{
		{"all well", limits(9, 0, time.Minute), func(*Policy) {}, Retry},
		{"no attempt", limits(1, 0, time.Minute), func(*Policy) {}, StopAttemptBudget},
		{"no time", limits(9, 0, 1500*time.Millisecond), func(*Policy) {}, StopTimeBudget},
		{"no call", limits(9, 0, time.Minute), func(p *Policy) { p.AttemptsPerCall = 1 }, StopCallLimit},
		{"no token", Limits{Attempts: ptr[int64](9), SideEffects: new(int64), Deadline: ptr(time.Minute), RetryTokens: ptr[int64](4)}, func(*Policy) {}, StopTokenBudget},
		{"no repeats", limits(9, 0, time.Minute), func(p *Policy) { p.RetryRatio = &RatioRule{Window: time.Second} }, StopRetryRatio},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := emptyWorld(t)
			w.policy(row.p)
			w.start("r1", row.l)
			w.ask("a", "search")
			w.after(time.Second)
			w.fail("a", "parse_error")
			d := w.is(w.ask("a", "search", changed, tokens(5)), row.want)
			if d.Verdict == Retry {
				equal(t, "charge", d.Charge, Counters{Attempts: 1, RetryTokens: 5})
			}
		})
	}
	w := newWorld(t) // without an id a changed input is another operation
	first := w.ask("", "search")
	w.do(Report{Actor: agent, Run: "r1", Op: first.Op, Ordinal: 1, Failure: Failure{Code: "parse_error"}})
	other := w.is(w.ask("", "search", changed), Admit)
	if other.Op == first.Op {
		t.Error("a changed input without an id is the same operation")
	}
}
