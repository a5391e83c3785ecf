package gate

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// R-C1: the code decides, looked up in the tool's table, its dependency's, the
// policy's, the contract's. One that none lists has class unknown.
func TestRC1CodeDecides(t *testing.T) {
	w := emptyWorld(t)
	w.change(func(k *Contract) {
		k.Tools["search"].Codes = map[Code]CodeRule{"in-all": {Class: ClassTransient}}
		k.Dependencies = map[string]DependencyRule{
			"index": {Codes: map[Code]CodeRule{"in-all": {Class: ClassPermanent}, "in-three": {Class: ClassPermanent, Refused: true}}},
			"web":   {Codes: map[Code]CodeRule{"elsewhere": {Class: ClassTransient}}},
		}
		k.Policies[StarterName].Codes["in-all"] = CodeRule{Class: ClassConditional}
		k.Policies[StarterName].Codes["in-three"] = CodeRule{Class: ClassConditional}
		k.Policies[StarterName].Codes["in-two"] = CodeRule{Class: ClassConditional}
		k.Codes = map[Code]CodeRule{
			"in-all": {Class: ClassPermanent}, "in-three": {Class: ClassTransient},
			"in-two": {Class: ClassPermanent}, "in-one": {Class: ClassTransient},
			NoReport: {Class: ClassPermanent, Refused: true},
		}
	})
	k := w.contract
	for _, row := range []struct {
		code Code
		want CodeRule
		from CodeSource
	}{
		{"in-all", CodeRule{Class: ClassTransient}, FromTool},
		{"in-three", CodeRule{Class: ClassPermanent, Refused: true}, FromDependency},
		{"in-two", CodeRule{Class: ClassConditional}, FromPolicy},
		{"in-one", CodeRule{Class: ClassTransient}, FromContract},
		{"elsewhere", CodeRule{}, FromNowhere},
		{"In-All", CodeRule{}, FromNowhere},
		{"", CodeRule{}, FromNowhere},
		{NoReport, CodeRule{Class: ClassTransient}, FromGate},
	} {
		got, from := k.Classify(k.Policies[StarterName], k.Tools["search"], row.code)
		equal(t, fmt.Sprintf("%q", row.code), got, row.want)
		equal(t, fmt.Sprintf("table of %q", row.code), from, row.from)
	}
	equal(t, "the class of nothing", Class(0), ClassUnknown)
}

// R-C1: a message never decides, and an unlisted code stops.
func TestRC1MessageNeverDecides(t *testing.T) {
	says := func(text string) func(*Report) {
		return func(c *Report) { c.Failure.Message, c.Failure.Status = text, "503" }
	}
	w := newWorld(t)
	w.ask("a", "search")
	d := w.is(w.fail("a", "teapot", says("timeout, please try again")), StopPermanentOrUnknown)
	equal(t, "class", d.Class, ClassUnknown)
	w.ask("b", "search")
	d = w.is(w.fail("b", "timeout", says("invalid input, never retry")), Recorded)
	equal(t, "class", d.Class, ClassTransient)

	// A code is looked up again at the ask: what the contract says then counts.
	w.policy(func(p *Policy) { p.Codes["timeout"] = CodeRule{Class: ClassPermanent} })
	w.is(w.ask("b", "search"), StopPermanentOrUnknown)
}

// R-C3, R-C4: the starter table, with what is refused before execution.
func TestRC3StarterTable(t *testing.T) {
	want := map[Code]CodeRule{
		"invalid_input":         {ClassPermanent, true},
		"policy_block":          {ClassPermanent, true},
		"auth_failure":          {ClassPermanent, true},
		"schema_violation":      {ClassPermanent, false},
		"semantic_mismatch":     {ClassPermanent, false},
		"tool_output_truncated": {ClassConditional, false},
		"parse_error":           {ClassConditional, false},
		"missing_field":         {ClassConditional, false},
		"empty_response":        {ClassConditional, false},
		"rate_limit":            {ClassTransient, true},
		"timeout":               {ClassTransient, false},
		"upstream_5xx":          {ClassTransient, false},
		"connection_reset":      {ClassTransient, false},
	}
	if diff := cmp.Diff(NewContract().Policies[StarterName].Codes, want); diff != "" {
		t.Errorf("starter table (-got +want):\n%s", diff)
	}
	if !Starter().Limits.IsZero() {
		t.Error("the starter policy holds limits (R-B1)")
	}
}

// R-C4: whether it happened is apart from the class: on a write every failure
// leaves it unknown unless its code is refused.
func TestRC4OutcomeIsApartFromClass(t *testing.T) {
	for _, row := range []struct {
		tool string
		code Code
		want Outcome
	}{
		{"put", "timeout", OutcomeUnknown},
		{"put", "upstream_5xx", OutcomeUnknown},
		{"put", "rate_limit", OutcomeFailed},
		{"put", "invalid_input", OutcomeFailed},
		{"put", "policy_block", OutcomeFailed},
		{"put", "auth_failure", OutcomeFailed},
		{"put", "schema_violation", OutcomeUnknown},
		{"put", "semantic_mismatch", OutcomeUnknown},
		{"put", "parse_error", OutcomeUnknown},
		{"put", "teapot", OutcomeUnknown},
		{"search", "timeout", OutcomeFailed},
		{"search", "teapot", OutcomeFailed},
		{"search", "parse_error", OutcomeFailed},
	} {
		t.Run(row.tool+" "+string(row.code), func(t *testing.T) {
			w := newWorld(t)
			w.ask("a", row.tool)
			d := w.fail("a", row.code)
			equal(t, "outcome", d.Outcome, row.want)
			equal(t, "of the attempt", w.op("a").Attempts[0].Outcome, row.want)
			equal(t, "refused", d.Refused, row.want == OutcomeFailed && row.tool == "put")
		})
	}
}

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

func ptr[V any](v V) *V { return &v }

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

// R-C7: a report is answered at once, as far as it can be: with a stop, its
// route and its item, or else RECORDED.
func TestRC7ReportIsAnsweredAtOnce(t *testing.T) {
	for _, row := range []struct {
		name   string
		tool   string
		code   Code
		want   Verdict
		route  Route
		waits  bool
		budget Limits
	}{
		{"R-D1 permanent", "search", "invalid_input", StopPermanentOrUnknown, RouteReturn, false, limits(9, 9, time.Minute)},
		{"R-D1 unlisted", "search", "teapot", StopPermanentOrUnknown, RouteEscalate, true, limits(9, 9, time.Minute)},
		{"R-D1 permanent, on a write that may have happened", "pay", "schema_violation", StopPermanentOrUnknown, RouteReconcile, true, limits(9, 9, time.Minute)},
		{"R-D2", "charge", "timeout", StopUnsafeToRepeat, RouteReconcile, true, limits(9, 9, time.Minute)},
		{"R-D2, known not to have happened", "charge", "rate_limit", StopUnsafeToRepeat, RouteEscalate, true, limits(9, 9, time.Minute)},
		{"R-R3", "pay", "parse_error", StopUnsafeToRepeat, RouteReconcile, true, limits(9, 9, time.Minute)},
		{"a transient one", "pay", "timeout", Recorded, RouteReturn, false, limits(9, 9, time.Minute)},
		{"a first conditional one", "search", "parse_error", Recorded, RouteReturn, false, limits(9, 9, time.Minute)},
		{"no attempt left: said at the ask", "pay", "timeout", Recorded, RouteReturn, false, limits(1, 1, time.Minute)},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := emptyWorld(t)
			w.start("r1", row.budget)
			w.ask("a", row.tool)
			d := w.is(w.fail("a", row.code), row.want)
			equal(t, "route", d.Route, row.route)
			equal(t, "waits", w.op("a").Hold.Waits(), row.waits)
			equal(t, "stop is stored", w.op("a").Stop != 0, d.Verdict != Recorded)
			equal(t, "typed outcome", d.Terminal != nil, d.Verdict != Recorded)
		})
	}
	w := newWorld(t) // R-R2
	w.ask("a", "search")
	w.fail("a", "parse_error")
	w.ask("a", "search", input(`{"n":2}`))
	w.is(w.fail("a", "missing_field"), StopRepeatedRefusal)
	equal(t, "waits", w.op("a").Hold.Waits(), true)
	w.ask("b", "pay")
	w.is(w.ok("b"), Recorded)
}

// R-C7: a report is never refused for its size: what is too long is cut at a
// whole letter, and that is said.
func TestRC7LongMessageIsCut(t *testing.T) {
	for _, row := range []struct {
		name    string
		message string
		kept    int
	}{
		{"none", "", 0},
		{"as long as it may be", strings.Repeat("x", MaxMessage), MaxMessage},
		{"one byte more", strings.Repeat("x", MaxMessage+1), MaxMessage},
		{"20 MB", strings.Repeat("x", 20<<20), MaxMessage},
		{"within a letter", strings.Repeat("x", MaxMessage-1) + "é", MaxMessage - 1},
		{"within a long letter", strings.Repeat("x", MaxMessage-3) + "😀", MaxMessage - 3},
		{"not text at all", strings.Repeat("\x80", MaxMessage+9), MaxMessage - 4},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			w.ask("a", "search")
			says := func(c *Report) { c.Failure.Message = row.message }
			d := w.fail("a", "timeout", says)
			f := w.op("a").Attempts[0].Failure
			equal(t, "kept bytes", len(f.Message), row.kept)
			equal(t, "cut", f.Cut, len(row.message) > row.kept)
			equal(t, "in the ledger", len(d.Command.(Report).Failure.Message), row.kept)
			equal(t, "the same report again", w.fail("a", "timeout", says).Seq, d.Seq)
		})
	}
	w := newWorld(t)
	w.ask("a", "search")
	long := strings.Repeat("y", 1<<20)
	w.fail("a", "timeout", func(c *Report) { c.Failure.Status, c.Failure.Field, c.Failure.Suggest = long, long, long })
	f := w.op("a").Attempts[0].Failure
	equal(t, "status", len(f.Status), MaxMessage)
	equal(t, "field", len(f.Field), MaxMessage)
	equal(t, "suggest", len(f.Suggest), MaxMessage)
}

// R-C7: what a report must say.
func TestRC7ReportHasToSaySomething(t *testing.T) {
	base := Report{Actor: agent, Run: "r1", Op: "a", Ordinal: 1, Failure: Failure{Code: "timeout"}}
	for _, row := range []struct {
		name   string
		change func(*Report)
		field  string
	}{
		{"a failure", func(*Report) {}, ""},
		{"no operation", func(c *Report) { c.Op = "" }, "op"},
		{"no ordinal", func(c *Report) { c.Ordinal = 0 }, "ordinal"},
		{"no code", func(c *Report) { c.Failure.Code = "" }, "failure.code"},
		{"the gate's own code", func(c *Report) { c.Failure.Code = NoReport }, "failure.code"},
		{"ok with a failure", func(c *Report) { c.OK = true }, "failure"},
		{"fewer than no attempts", func(c *Report) { c.Inner = -1 }, "inner_attempts"},
		{"too many attempts", func(c *Report) { c.Inner = MaxCount + 1 }, "inner_attempts"},
		{"a reference", func(c *Report) { c.OK, c.Failure, c.Result = true, Failure{}, strings.Repeat("x", MaxResult) }, ""},
		{"a reference that is none", func(c *Report) { c.OK, c.Failure, c.Result = true, Failure{}, strings.Repeat("x", MaxResult+1) }, "result_ref"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := base
			row.change(&c)
			if err := c.Check(); row.field != "" {
				names(t, err, row.field)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
	w := newWorld(t)
	_, err := w.try(base)
	fails(t, "no operation yet", err, ErrNoOperation)
	w.ask("a", "search")
	_, err = w.try(w.reports("a", ordinal(2), func(c *Report) { c.OK = true }))
	fails(t, "no such attempt", err, ErrNoAttempt)
	base.Run = "absent"
	_, err = w.try(base)
	fails(t, "no such run", err, ErrNoRun)
}

// R-C8: the same report again gets the same answer; another one for a reported
// attempt is a conflict.
func TestRC8SameReportSameAnswer(t *testing.T) {
	w := newWorld(t)
	w.ask("a", "charge")
	c := w.reports("a", func(c *Report) { c.Failure = Failure{Code: "timeout", Message: "m", Status: "504"} })
	first := w.is(w.do(c), StopUnsafeToRepeat)
	before, n := w.header(), len(w.ledger)
	w.after(time.Second)
	if diff := cmp.Diff(w.do(c), first, cmp.Comparer(sameContract)); diff != "" {
		t.Errorf("the second answer (-got +first):\n%s", diff)
	}
	c.Inner = 1 // as before: not said means one
	equal(t, "seq", w.do(c).Seq, first.Seq)
	for name, change := range map[string]func(*Report){
		"code":        func(c *Report) { c.Failure.Code = "rate_limit" },
		"message":     func(c *Report) { c.Failure.Message = "other" },
		"status":      func(c *Report) { c.Failure.Status = "500" },
		"field":       func(c *Report) { c.Failure.Field = "f" },
		"suggestion":  func(c *Report) { c.Failure.Suggest = "s" },
		"retry after": func(c *Report) { c.Failure.RetryAfter = time.Second },
		"inner":       func(c *Report) { c.Inner = 2 },
		"result":      func(c *Report) { c.Result = "r" },
		"success":     func(c *Report) { c.OK, c.Failure = true, Failure{} },
	} {
		other := c
		change(&other)
		_, err := w.try(other)
		fails(t, "another "+name, err, ErrReused)
	}
	equal(t, "records", len(w.ledger), n)
	if diff := cmp.Diff(w.header(), before); diff != "" {
		t.Errorf("the run (-got +before):\n%s", diff)
	}

	w.ask("b", "pay")
	w.lose("b")
	first = w.ok("b")
	equal(t, "a late report again", w.ok("b").Seq, first.Seq)
	_, err := w.try(w.reports("b", func(c *Report) { c.Failure.Code = "timeout" }))
	fails(t, "another late report", err, ErrReused)
}

// R-C8: a report of an ordinal below the highest settles its own attempt only;
// the last failure is that of the highest reported ordinal.
func TestRC8LowerOrdinalSettlesItsOwnAttempt(t *testing.T) {
	w := newWorld(t)
	w.ask("a", "pay")
	w.lose("a")
	w.ask("a", "pay")
	w.is(w.fail("a", "policy_block", ordinal(1)), Recorded) // the second is in flight
	equal(t, "stored stop", w.op("a").Stop, 0)
	equal(t, "outcome of the first", w.op("a").Attempts[0].Outcome, OutcomeFailed)
	equal(t, "last failure", w.op("a").LastError.Code, "policy_block")
	w.fail("a", "timeout")
	equal(t, "last failure", w.op("a").LastError.Code, "timeout")
	w.is(w.ask("a", "pay"), Retry) // by the second attempt's cause

	w = newWorld(t)
	w.ask("b", "pay")
	w.lose("b")
	w.ask("b", "pay")
	w.fail("b", "timeout")
	w.is(w.fail("b", "policy_block", ordinal(1)), Recorded)
	equal(t, "outcome of the first", w.op("b").Attempts[0].Outcome, OutcomeFailed)
	equal(t, "last failure", w.op("b").LastError.Code, "timeout")
	w.is(w.ask("b", "pay"), Retry)

	w.ask("c", "search") // a success settles the operation, of any ordinal
	w.lose("c")
	w.ask("c", "search")
	w.fail("c", "teapot")
	w.ok("c", ordinal(1))
	equal(t, "state", w.op("c").State(w.now), OpSucceeded)
	equal(t, "item", w.op("c").Hold.State, HoldResolved)
	w.is(w.ask("c", "search"), Admit)
}
