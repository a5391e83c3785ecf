package gate

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

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
	equal(t, "status", len(f.Status), MaxDetail)
	equal(t, "field", len(f.Field), MaxDetail)
	equal(t, "suggest", len(f.Suggest), MaxDetail)
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
