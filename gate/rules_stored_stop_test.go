package gate

import (
	"testing"
	"time"
)

// R-D0: a terminal stop is stored, and every later ask finds it with the
// stored outcome, on every path but manual.
func TestRD0StoredStop(t *testing.T) {
	w := newWorld(t)
	w.ask("a", "search")
	first := w.fail("a", "teapot")
	w.change(func(k *Contract) { k.Codes = map[Code]CodeRule{"teapot": {Class: ClassTransient}} })
	for _, p := range paths {
		w.after(time.Second)
		d := w.is(w.ask("a", "search", path(p), input(`{"n":2}`)), StopTerminal)
		if d.Terminal == nil || *d.Terminal != *first.Terminal {
			t.Errorf("%v: typed outcome = %+v, want the stored one %+v", p, d.Terminal, first.Terminal)
		}
		equal(t, "route", d.Route, first.Route)
	}
	equal(t, "stored stop", w.op("a").Stop, StopPermanentOrUnknown)
	equal(t, "version of the item", w.op("a").Hold.Version, 1)
	w.is(w.approve("a"), Retry) // the manual path goes on to the steps
	w.is(w.ask("a", "search"), StopTerminal)
	w.fail("a", "timeout")
	w.is(w.ask("a", "search"), StopTerminal) // other paths keep finding it
	w.is(w.approve("a"), Retry)
	w.ok("a")
	equal(t, "stored stop after a success", w.op("a").Stop, 0)
	w.is(w.ask("a", "search"), Admit) // a read again
}

// R-D0: on the manual path STOP_TERMINAL holds for what has been closed, and
// in a run that has ended.
func TestRD0ManualPath(t *testing.T) {
	for _, row := range []struct {
		name string
		then func(w *world)
		want Verdict
	}{
		{"open", func(*world) {}, Retry},
		{"the run has ended", func(w *world) { w.end() }, StopTerminal},
		{"the run is ending", func(w *world) { w.ask("b", "search"); w.end() }, StopTerminal},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			w.ask("a", "charge")
			w.fail("a", "rate_limit")
			row.then(w)
			w.is(w.approve("a"), row.want)
		})
	}

	w := newWorld(t) // dead-letter is as open as open
	w.policy(func(p *Policy) { p.Routes.Unsafe = RouteDeadLetter })
	w.ask("a", "charge")
	w.fail("a", "rate_limit")
	equal(t, "item", w.op("a").Hold.State, HoldDeadLetter)
	w.is(w.approve("a"), Retry)
}

// R-D0: what was closed stays closed, for asks; its item is stale for people.
func TestRD0ClosedOperations(t *testing.T) {
	for name, act := range map[string]func(w *world){
		"rejected":   func(w *world) { w.act(ActReject, "a") },
		"unresolved": func(w *world) { w.reconcile("a", FindingCannotTell) },
		"superseded": func(w *world) { w.is(w.approve("a", asNew), Admit) },
		"gone on":    func(w *world) { w.goOn("a", "r2", limits(9, 9, time.Minute)); w.run = "r1" },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.ask("a", "charge")
			w.fail("a", "timeout")
			act(w)
			spent := w.spent()
			for _, p := range paths {
				d := w.is(w.ask("a", "charge", path(p)), StopTerminal)
				if d.Terminal == nil {
					t.Errorf("%v: no typed outcome", p)
				}
			}
			w.is(w.approve("a"), Stale)
			equal(t, "spent", w.spent(), spent)
		})
	}
}

// R-D0: in an ended run a write that succeeded is still found done; a read and
// a new operation are refused.
func TestRD0EndedRun(t *testing.T) {
	w := newWorld(t)
	w.ask("write", "pay")
	w.ok("write", result("r"))
	w.ask("read", "search")
	w.ok("read")
	w.ask("blocked", "pay")
	w.fail("blocked", "policy_block")
	w.end()
	w.is(w.ask("write", "pay"), AlreadyDone)
	for _, op := range []OpID{"read", "new", "blocked"} {
		d := w.is(w.ask(op, "search"), StopTerminal)
		if d.Terminal == nil || d.Terminal.NextAction != RouteReturn {
			t.Errorf("%s: typed outcome = %+v, want one that goes back to the caller", op, d.Terminal)
		}
	}
	equal(t, "reason of the stored stop", w.op("blocked").Terminal.Reason, "STOP_PERMANENT_OR_UNKNOWN")
	equal(t, "items", w.header().OpenItems, 0)
}

// R-D0: a stop given to an approve is recorded only.
func TestRD0RefusedApproveChangesNothing(t *testing.T) {
	for _, row := range []struct {
		name string
		with []func(*Verb)
	}{
		{"a repeat", nil},
		{"a repeat with a ruling", []func(*Verb){cleared}},
		{"a new action", []func(*Verb){asNew}},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			w.ask("a", "charge")
			w.fail("a", "teapot")
			w.after(time.Hour) // past the deadline
			before, n := *w.op("a"), len(w.ledger)
			d := w.approve("a", row.with...)
			if !d.Verdict.IsStop() {
				t.Fatalf("verdict = %v, want a stop", d.Verdict)
			}
			after := w.op("a")
			equal(t, "recorded", len(w.ledger), n+1)
			equal(t, "stored stop", after.Stop, before.Stop)
			equal(t, "typed outcome", after.Terminal, before.Terminal)
			equal(t, "version", after.Hold.Version, before.Hold.Version)
			equal(t, "kind", after.Hold.Kind, before.Hold.Kind)
			equal(t, "operations", w.header().Operations, 1)
			equal(t, "spent", w.spent().Attempts, 1)
		})
	}
}

// R-D0: a stop never changes a succeeded operation: a read that may not be
// asked for again stays succeeded, and nobody is called.
func TestRD0StopNeverChangesASuccess(t *testing.T) {
	w := emptyWorld(t)
	w.start("r1", limits(2, 0, time.Minute))
	w.ask("a", "search")
	w.ok("a", result("r"))
	w.ask("a", "search")
	w.ok("a", result("r2"))
	for range 3 {
		d := w.is(w.ask("a", "search"), StopAttemptBudget)
		equal(t, "type", d.Terminal.Type, TypeExhausted)
		equal(t, "next", d.Terminal.NextAction, RouteReturn)
	}
	equal(t, "state", w.op("a").State(w.now), OpSucceeded)
	equal(t, "stored stop", w.op("a").Stop, 0)
	equal(t, "result", w.op("a").Result, "r2")
	equal(t, "items", w.header().OpenItems, 0)
}
