package gate

import (
	"testing"
	"time"
)

// R-C5: how long a permit is good, and when silence becomes no_report.
func TestRC5SilenceBecomesNoReport(t *testing.T) {
	for _, row := range []struct {
		tool    string
		outcome Outcome
		verdict Verdict
		next    Verdict
	}{
		{"search", OutcomeFailed, Recorded, Retry},
		{"put", OutcomeUnknown, Recorded, Retry},
		{"charge", OutcomeUnknown, StopUnsafeToRepeat, StopTerminal},
	} {
		t.Run(row.tool, func(t *testing.T) {
			w := newWorld(t)
			w.policy(func(p *Policy) { p.PermitTTL, p.ReportGrace = 5*time.Second, 2*time.Second })
			p := w.ask("a", row.tool).Permit
			equal(t, "not after", p.NotAfter, noon.Add(5*time.Second))
			equal(t, "expires", p.Expires, noon.Add((5+1+2)*time.Second))
			equal(t, "due", w.op("a").Due(ptr(w.header())), p.Expires)

			n := len(w.ledger)
			w.now = p.Expires.Add(-time.Millisecond)
			if d, err := w.try(Sweep{Run: "r1", Op: "a"}); err != nil || d.Verdict != 0 || len(w.ledger) != n {
				t.Fatalf("a sweep too early: %v, %v, want nothing", d.Verdict, err)
			}
			w.now = p.Expires
			d := w.is(w.sweep("a"), row.verdict)
			equal(t, "code", d.Code, NoReport)
			equal(t, "class", d.Class, ClassTransient)
			equal(t, "outcome", d.Outcome, row.outcome)
			equal(t, "by", d.Command.Who(), Itself)
			w.is(w.ask("a", row.tool), row.next)
		})
	}
}

// R-C5: a permit with a wait is good from its not_before, and never beyond the
// last instant at which the call fits.
func TestRC5PermitNeverOutlivesTheBudget(t *testing.T) {
	for _, row := range []struct {
		name     string
		left     time.Duration
		delay    time.Duration
		notAfter time.Duration // from the ask
	}{
		{"far from the deadline", time.Minute, 0, 10 * time.Second},
		{"after a wait", time.Minute, 3 * time.Second, 13 * time.Second},
		{"near it", 8 * time.Second, 0, 5 * time.Second},
		{"a wait, near it", 8 * time.Second, 3 * time.Second, 5 * time.Second},
		{"just fits", 6 * time.Second, 3 * time.Second, 3 * time.Second},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := emptyWorld(t)
			l, reserve := limits(9, 9, row.left), 2*time.Second
			l.Reserve = &reserve
			w.start("r1", l)
			w.policy(func(p *Policy) {
				p.Backoff = Backoff{Base: row.delay, Cap: row.delay, Jitter: JitterNone}
			})
			w.ask("a", "search")
			w.fail("a", "timeout")
			p := w.is(w.ask("a", "search"), Retry).Permit
			equal(t, "not before", p.NotBefore, noon.Add(row.delay))
			equal(t, "not after", p.NotAfter, noon.Add(row.notAfter))
		})
	}
}

// R-C6: a report after the sweep is evidence.
func TestRC6LateReportIsEvidence(t *testing.T) {
	for _, row := range []struct {
		name    string
		tool    string
		report  Report
		verdict Verdict
		outcome Outcome
		state   OpState
		hold    HoldState
	}{
		{"a write that succeeded", "charge", Report{OK: true, Result: "r-1"}, Recorded, OutcomeSucceeded, OpSucceeded, HoldResolved},
		{"a write that was refused, for the caller", "charge", Report{Failure: Failure{Code: "invalid_input"}}, StopPermanentOrUnknown, OutcomeFailed, OpFailed, HoldResolved},
		{"a write that was refused, for a person", "charge", Report{Failure: Failure{Code: "rate_limit"}}, StopUnsafeToRepeat, OutcomeFailed, OpHeld, HoldOpen},
		{"a write that failed otherwise", "charge", Report{Failure: Failure{Code: "schema_violation"}}, Recorded, OutcomeUnknown, OpHeld, HoldOpen},
		{"a write with an unlisted code", "charge", Report{Failure: Failure{Code: "teapot"}}, Recorded, OutcomeUnknown, OpHeld, HoldOpen},
		{"a safe write that was refused", "pay", Report{Failure: Failure{Code: "rate_limit"}}, Recorded, OutcomeFailed, OpFailed, HoldNone},
		{"a safe write that was blocked", "pay", Report{Failure: Failure{Code: "policy_block"}}, StopPermanentOrUnknown, OutcomeFailed, OpFailed, HoldNone},
		{"a read that succeeded", "search", Report{OK: true}, Recorded, OutcomeSucceeded, OpSucceeded, HoldNone},
		{"a read that failed otherwise", "search", Report{Failure: Failure{Code: "teapot"}}, Recorded, OutcomeFailed, OpFailed, HoldNone},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			w.ask("a", row.tool)
			w.lose("a")
			w.after(time.Second)
			before := *w.op("a")
			row.report.Actor, row.report.Run, row.report.Op, row.report.Ordinal = agent, "r1", "a", 1
			d := w.is(w.do(row.report), row.verdict)
			op := w.op("a")
			equal(t, "outcome", op.Attempts[0].Outcome, row.outcome)
			equal(t, "state", op.State(w.now), row.state)
			equal(t, "item", op.Hold.State, row.hold)
			if row.hold != HoldNone {
				equal(t, "version moves with the outcome", op.Hold.Version != before.Hold.Version, row.outcome != OutcomeUnknown)
			}
			if d.Verdict == Recorded && row.outcome == before.Attempts[0].Outcome {
				equal(t, "stored stop", op.Stop, before.Stop)
				equal(t, "failure", op.Attempts[0].Failure, before.Attempts[0].Failure)
			}
		})
	}
}

// R-C6, R-T4: a late refusal is routed by its own code, also when an item waits
// already: that one goes where the route says.
func TestRC6LateRefusalIsRoutedByItsOwnCode(t *testing.T) {
	for _, row := range []struct {
		name         string
		lost, itself Route // of the unknown outcome, of the permanent code
		was, is      HoldState
	}{
		{"to a person, from a person", RouteReconcile, RouteEscalate, HoldOpen, HoldOpen},
		{"set aside, from a person", RouteReconcile, RouteDeadLetter, HoldOpen, HoldDeadLetter},
		{"to its caller, from a person", RouteReconcile, RouteReturn, HoldOpen, HoldResolved},
		{"to a person, from where it was set aside", RouteDeadLetter, RouteEscalate, HoldDeadLetter, HoldOpen},
		{"set aside, from there", RouteDeadLetter, RouteDeadLetter, HoldDeadLetter, HoldDeadLetter},
		{"to its caller, from where it was set aside", RouteDeadLetter, RouteReturn, HoldDeadLetter, HoldResolved},
		{"to a person, from its caller", RouteReturn, RouteEscalate, HoldNone, HoldOpen},
		{"set aside, from its caller", RouteReturn, RouteDeadLetter, HoldNone, HoldDeadLetter},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			w.policy(func(p *Policy) { p.Routes.OutcomeUnknown, p.Routes.Permanent = row.lost, row.itself })
			w.ask("a", "charge")
			w.is(w.lose("a"), StopUnsafeToRepeat)
			was := w.op("a").Hold
			equal(t, "item before", was.State, row.was)
			d := w.is(w.fail("a", "auth_failure"), StopPermanentOrUnknown)
			equal(t, "route", d.Route, row.itself)
			h := w.op("a").Hold
			equal(t, "item", h.State, row.is)
			equal(t, "version", h.Version, was.Version+1)
			if h.Waits() {
				equal(t, "kind", h.Kind, KindStopped)
				equal(t, "cause", h.Cause, d.Seq)
			}
		})
	}
}

// R-C6: a late success settles what a person has closed, too; with a later
// attempt or a successor the item says that there may be a duplicate.
func TestRC6LateSuccessAfterAPerson(t *testing.T) {
	for _, row := range []struct {
		name      string
		tool      string
		then      func(w *world)
		duplicate bool
	}{
		{"nothing since", "charge", func(*world) {}, false},
		{"rejected", "charge", func(w *world) { w.act(ActReject, "a") }, false},
		{"unresolved", "charge", func(w *world) { w.reconcile("a", FindingCannotTell) }, false},
		{"found to have happened", "charge", func(w *world) { w.reconcile("a", FindingHappened) }, false},
		{"found not to have happened", "charge", func(w *world) { w.reconcile("a", FindingDidNotHappen) }, false},
		{"repeated since, in flight", "pay", func(w *world) { w.is(w.ask("a", "pay"), Retry) }, true},
		{"repeated since, refused", "pay", func(w *world) { w.is(w.ask("a", "pay"), Retry); w.fail("a", "rate_limit") }, true},
		{"repeated since, succeeded", "pay", func(w *world) { w.is(w.ask("a", "pay"), Retry); w.ok("a") }, true},
		{"approved since", "charge", func(w *world) {
			w.reconcile("a", FindingDidNotHappen)
			w.is(w.approve("a"), Retry)
		}, true},
		{"superseded by a new action", "charge", func(w *world) { w.is(w.approve("a", asNew), Admit) }, true},
		{"gone on in another run", "charge", func(w *world) { w.goOn("a", "r2", limits(3, 3, time.Hour)) }, false},
		{"gone on and repeated there", "charge", func(w *world) {
			w.goOn("a", "r2", limits(3, 3, time.Hour))
			w.is(w.ask("a", "charge"), StopUnsafeToRepeat)
			w.reconcile("a", FindingDidNotHappen)
			w.is(w.approve("a"), Retry)
		}, true},
		{"gone on, and a new action there", "charge", func(w *world) {
			w.goOn("a", "r2", limits(3, 3, time.Hour))
			w.is(w.ask("a", "charge"), StopUnsafeToRepeat)
			w.is(w.approve("a", asNew), Admit)
		}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			w.ask("a", row.tool)
			w.lose("a")
			row.then(w)
			w.is(w.do(Report{Actor: agent, Run: "r1", Op: "a", Ordinal: 1, OK: true, Result: "late-1"}), Recorded)
			op := w.op("a")
			equal(t, "state", op.State(w.now), OpSucceeded)
			equal(t, "result", op.Result, "late-1")
			equal(t, "duplicate", op.Hold.Duplicate, row.duplicate)
			equal(t, "waits", op.Hold.Waits(), row.duplicate)
			w.is(w.ask("a", row.tool), AlreadyDone)
			if !row.duplicate {
				return
			}
			equal(t, "kind", op.Hold.Kind, KindOutcomeUnknown)
			w.is(w.approve("a"), StopTerminal)
			w.is(w.approve("a", asNew), StopTerminal)
		})
	}
}

// R-C6: any finding or reject resolves such an item and nothing else; nothing
// unsettles a write that has succeeded.
func TestRC6NothingUnsettlesASuccess(t *testing.T) {
	twice := func(t *testing.T) *world {
		w := newWorld(t)
		w.ask("a", "pay")
		w.lose("a")
		w.ask("a", "pay")
		w.ok("a", ordinal(1), result("first"))
		return w
	}
	for name, act := range map[string]func(w *world) Decision{
		"happened":       func(w *world) Decision { return w.reconcile("a", FindingHappened) },
		"did not happen": func(w *world) Decision { return w.reconcile("a", FindingDidNotHappen) },
		"cannot tell":    func(w *world) Decision { return w.reconcile("a", FindingCannotTell) },
		"reject":         func(w *world) Decision { return w.act(ActReject, "a") },
	} {
		t.Run(name, func(t *testing.T) {
			w := twice(t)
			w.is(act(w), Resolved)
			op := w.op("a")
			equal(t, "item", op.Hold.State, HoldResolved)
			equal(t, "state", op.State(w.now), OpSucceeded)
			equal(t, "result", op.Result, "first")
			w.is(w.ask("a", "pay"), AlreadyDone)
		})
	}
	for name, report := range map[string]func(w *world) Decision{
		"the second succeeded too": func(w *world) Decision { return w.ok("a") },
		"the second was refused":   func(w *world) Decision { return w.fail("a", "rate_limit") },
		"the second was lost":      func(w *world) Decision { return w.fail("a", "timeout") },
		"the second was blocked":   func(w *world) Decision { return w.fail("a", "policy_block") },
		"the second is silent":     func(w *world) Decision { return w.lose("a") },
	} {
		t.Run(name, func(t *testing.T) {
			w := twice(t)
			w.is(report(w), Recorded)
			op := w.op("a")
			equal(t, "state", op.State(w.now), OpSucceeded)
			equal(t, "item still says that there may be a duplicate", op.Hold.Waits() && op.Hold.Duplicate, true)
			equal(t, "stored stop", op.Stop, 0)
			w.is(w.ask("a", "pay"), AlreadyDone)
		})
	}
	w := newWorld(t) // a late failure after a person found that it happened
	w.ask("a", "charge")
	w.lose("a")
	w.reconcile("a", FindingHappened)
	w.is(w.fail("a", "invalid_input"), Recorded)
	w.is(w.ask("a", "charge"), AlreadyDone)
}
