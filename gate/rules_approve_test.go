package gate

import (
	"testing"
	"time"
)

// R-A6: a tool that asks for approval is dispatched by an approve and in no
// other way; each dispatch needs its own.
func TestRA6ApprovalForEachDispatch(t *testing.T) {
	w := newWorld(t)
	d := w.is(w.ask("a", "refund"), StopApprovalRequired)
	equal(t, "spent", w.spent(), Counters{})
	equal(t, "item", d.Item(), ItemIDOf("r1", "a"))
	equal(t, "kind", w.op("a").Hold.Kind, KindApproval)
	equal(t, "state", w.op("a").Hold.State, HoldOpen)
	w.is(w.ask("a", "refund"), StopApprovalRequired)
	equal(t, "version after a second ask", w.op("a").Hold.Version, 1)

	d = w.is(w.approve("a"), Admit)
	equal(t, "ordinal", d.Permit.Ordinal, 1)
	equal(t, "path", d.Path, PathManual)
	equal(t, "tokens", d.Charge, Counters{Attempts: 1, SideEffects: 1})
	equal(t, "item after the approve", w.op("a").Hold.State, HoldResolved)
	w.is(w.ask("a", "refund"), StopInFlight) // the agent that waits has its permit

	w.fail("a", "timeout")
	equal(t, "item after the failure", w.op("a").Hold.State, HoldOpen)
	w.is(w.ask("a", "refund"), StopApprovalRequired) // the first approve is used up
	w.is(w.approve("a"), Retry)
	w.ok("a")
	w.is(w.ask("a", "refund"), AlreadyDone)
	equal(t, "spent", w.spent(), Counters{Attempts: 2, SideEffects: 2})
}

// R-A6: on a write the digest is fixed by the ask that opened the item; on a
// read another one replaces it, voids the approvals and moves the item.
func TestRA6ChangedRequestWhileItWaits(t *testing.T) {
	w := newWorld(t)
	w.ask("a", "refund")
	w.is(w.ask("a", "refund", input(`{"n":2}`)), StopKeyConflict)
	equal(t, "version of the write's item", w.op("a").Hold.Version, 1)

	w.ask("b", "audit")
	w.is(w.approve("b", as(eli)), Recorded)
	shown := w.op("b").Hold.Version
	w.is(w.ask("b", "audit"), StopApprovalRequired)
	equal(t, "approvals after the same ask", len(w.op("b").Hold.Approvals), 1)
	equal(t, "version after the same ask", w.op("b").Hold.Version, shown)
	w.is(w.ask("b", "audit", input(`{"n":2}`)), StopApprovalRequired)
	equal(t, "approvals after a changed ask", len(w.op("b").Hold.Approvals), 0)
	equal(t, "version after a changed ask", w.op("b").Hold.Version, shown+1)
	w.is(w.approve("b", version(shown)), Stale)
	w.is(w.approve("b"), Recorded)
	d := w.is(w.approve("b", as(eli)), Admit)
	equal(t, "digest that was approved", d.Digest, w.op("b").Digest)
	if d.Digest == w.asksDigest("b", "audit") {
		t.Error("the approve is about the request that was replaced")
	}
}

// asksDigest is the digest of the usual input.
func (w *world) asksDigest(op OpID, tool string) Digest {
	d, err := w.asks(op, tool).request(w.contract.Tools[tool])
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

// R-A6: an approve is about the tool that was asked for, also when another
// tool of the operation was dispatched before.
func TestRA6ApproveIsForTheToolThatWaits(t *testing.T) {
	w := newWorld(t)
	w.ask("a", "search")
	w.fail("a", "timeout")
	w.is(w.ask("a", "peek", path(PathFallback)), StopApprovalRequired)
	equal(t, "kind", w.op("a").Hold.Kind, KindApproval)
	d := w.is(w.approve("a"), Retry)
	equal(t, "tool of the permit", d.Tool, "peek")
	equal(t, "tool of the attempt", w.op("a").Newest().Tool, "peek")
	equal(t, "went through two tools", w.op("a").Mixed, true)

	w.ask("b", "crawl") // never dispatched before: in flight, then another tool's approval
	w.fail("b", "timeout")
	w.is(w.ask("b", "peek"), StopApprovalRequired)
	w.is(w.ask("b", "crawl"), Retry) // the first tool needs nobody
	equal(t, "tool of the attempt", w.op("b").Newest().Tool, "crawl")
}

// R-A6, R-A7: a read that has succeeded and needs approval waits again for
// each further dispatch, and an approve lets it go.
func TestRA6ApprovedReadAskedForAgain(t *testing.T) {
	w := newWorld(t)
	w.ask("a", "peek")
	w.is(w.approve("a"), Admit)
	w.ok("a")
	w.is(w.ask("a", "peek"), StopApprovalRequired)
	equal(t, "item", w.op("a").Hold.State, HoldOpen)
	equal(t, "state", w.op("a").State(w.now), OpSucceeded)
	w.is(w.approve("a"), Admit)
	equal(t, "ordinal", w.op("a").Newest().Ordinal, 2)
}

// R-P3: an approve that is let go and fails brings the item back, whatever the
// class; other paths keep finding the stored stop.
func TestRP3ApprovedAndFailedComesBack(t *testing.T) {
	for code, want := range map[Code]Verdict{
		"timeout":       Recorded,
		"rate_limit":    Recorded,
		"invalid_input": StopPermanentOrUnknown, // whose route is return
		"teapot":        StopPermanentOrUnknown,
		"parse_error":   Recorded,
	} {
		t.Run(string(code), func(t *testing.T) {
			w := newWorld(t)
			w.ask("a", "search")
			w.fail("a", "teapot")
			shown := w.op("a").Hold.Version
			w.is(w.approve("a", cleared), Retry)
			w.is(w.fail("a", code), want)
			equal(t, "item", w.op("a").Hold.State, HoldOpen)
			if got := w.op("a").Hold.Version; got <= shown {
				t.Errorf("version = %d, want more than %d", got, shown)
			}
			w.is(w.ask("a", "search"), StopTerminal)
		})
	}
	w := newWorld(t) // and a success closes it
	w.ask("a", "search")
	w.fail("a", "teapot")
	w.approve("a", cleared)
	w.ok("a")
	equal(t, "item", w.op("a").Hold.State, HoldResolved)
	equal(t, "items", w.header().OpenItems, 0)
}

// R-P3: a new action supersedes the old: a new operation, a new key, the same
// budget, no tokens.
func TestRP3NewAction(t *testing.T) {
	w := lost(t)
	d := w.is(w.approve("a", asNew), Admit)
	equal(t, "new operation", d.NewOp, "a~2")
	equal(t, "permit", d.Permit.Op, "a~2")
	equal(t, "ordinal", d.Permit.Ordinal, 1)
	equal(t, "risk accepted", d.Command.(Verb).AsNewAction, true)
	if d.Permit.Key == w.op("a").Key || d.Permit.Key != w.op("a~2").Key {
		t.Errorf("key = %q, want a new one", d.Permit.Key)
	}
	equal(t, "charge", d.Charge, Counters{Attempts: 1, SideEffects: 1})
	equal(t, "successor", w.op("a").Successor, Ref{"r1", "a~2"})
	equal(t, "before", w.op("a~2").Before, Ref{"r1", "a"})
	equal(t, "operations", w.header().Operations, 2)
	w.is(w.ask("a~2", "charge"), StopInFlight) // it may be asked about
	w.fail("a~2", "timeout")
	equal(t, "its item", w.op("a~2").Hold.Kind, KindOutcomeUnknown)
	d = w.is(w.approve("a~2", asNew), Admit)
	equal(t, "the next", d.NewOp, "a~3")
	w.ok("a~3")
	w.is(w.ask("a~3", "charge"), AlreadyDone)
	w.is(w.ask("a", "charge"), StopTerminal)

	w = lost(t) // a name and a key are never used twice, along the line of runs
	w.approve("a", asNew)
	w.fail("a~2", "timeout")
	first := w.op("a~2").Key
	w.goOn("a~2", "r2", limits(9, 9, time.Hour))
	w.is(w.ask("a", "charge"), StopTerminal) // what it was superseded by goes on there
	w.is(w.ask("a~2", "charge"), StopUnsafeToRepeat)
	d = w.is(w.approve("a~2", asNew), Admit)
	equal(t, "a name that is free", d.NewOp, "a~3")
	if w.op("a~3").Key == first || w.op("a~2").Key != first {
		t.Errorf("keys = %q and %q, want the old and another", w.op("a~2").Key, w.op("a~3").Key)
	}
	_, err := w.try(w.asks("a~4", "charge")) // only the gate makes such names
	names(t, err, "op")
	_, err = w.try(w.asks("~", "charge"))
	names(t, err, "op")
}

// R-P4: cause-cleared makes one failure repeatable, for that approve only; the
// second step still decides, and policy_block stands.
func TestRP4CauseCleared(t *testing.T) {
	for _, row := range []struct {
		name string
		tool string
		code Code
		with []func(*Verb)
		want Verdict
	}{
		{"permanent", "search", "auth_failure", nil, StopPermanentOrUnknown},
		{"permanent, cleared", "search", "auth_failure", []func(*Verb){cleared}, Retry},
		{"unlisted, cleared", "search", "teapot", []func(*Verb){cleared}, Retry},
		{"blocked by policy, cleared", "search", "policy_block", []func(*Verb){cleared}, StopPermanentOrUnknown},
		{"permanent write under its key, cleared", "pay", "auth_failure", []func(*Verb){cleared}, Retry},
		{"write under its key, outcome unknown, cleared", "pay", "schema_violation", []func(*Verb){cleared}, Retry},
		{"a failed reply of a write under its key, cleared", "pay", "parse_error", []func(*Verb){cleared}, Retry},
		{"a failed reply of such a write", "pay", "parse_error", nil, StopUnsafeToRepeat},
		{"an unsafe write, outcome unknown, cleared", "charge", "schema_violation", []func(*Verb){cleared}, StopUnsafeToRepeat},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			w.policy(func(p *Policy) { p.Routes.Permanent = RouteEscalate; p.AttemptsPerCall = 9 })
			w.ask("a", row.tool)
			w.fail("a", row.code)
			d := w.is(w.approve("a", row.with...), row.want)
			equal(t, "ruling on record", d.Command.(Verb).Ruling == RulingCauseCleared, len(row.with) > 0)
			if d.Verdict != Retry {
				return
			}
			w.fail("a", row.code) // the same again: the ruling is used up
			if d := w.approve("a"); !d.Verdict.IsStop() {
				t.Errorf("an approve without the ruling: %v, want a stop", d.Verdict)
			}
		})
	}
	w := newWorld(t) // a failed reply of a read
	w.ask("a", "search")
	w.fail("a", "parse_error")
	w.ask("a", "search", changed)
	w.fail("a", "parse_error")
	w.is(w.approve("a"), StopRepeatedRefusal)
	w.is(w.approve("a", cleared), Retry)
}

// R-P4: a verb that could never succeed is shown as such, with the reason.
func TestRP4PreviewShowsWhatCannotSucceed(t *testing.T) {
	for _, row := range []struct {
		name string
		play func(w *world)
		with []func(*Verb)
		step string // of the first check that is not OK
	}{
		{"it could", func(w *world) { w.fail("a", "rate_limit") }, nil, ""},
		{"call limit", func(w *world) { w.fail("a", "rate_limit"); w.policy(func(p *Policy) { p.AttemptsPerCall = 1 }) }, nil, "call limit"},
		{"after the deadline", func(w *world) { w.fail("a", "rate_limit"); w.after(time.Hour) }, nil, "4 time"},
		{"a new action after the deadline", func(w *world) { w.fail("a", "rate_limit"); w.after(time.Hour) }, []func(*Verb){asNew}, "4 time"},
		{"a new action at the call limit", func(w *world) { w.fail("a", "rate_limit"); w.policy(func(p *Policy) { p.AttemptsPerCall = 1 }) }, []func(*Verb){asNew}, ""},
		{"blocked by policy", func(w *world) { w.fail("a", "teapot") }, nil, "1 class"},
		{"no finding", func(w *world) { w.fail("a", "timeout") }, nil, "2 safe to repeat"},
		{"spent", func(w *world) { w.fail("a", "rate_limit", inner(10)) }, nil, "3 attempts"},
		{"no side effect", func(w *world) { w.fail("a", "rate_limit", inner(5)) }, nil, "5 side effects"},
		{"closed", func(w *world) { w.fail("a", "timeout"); w.act(ActReject, "a") }, nil, "operation"},
		{"ended", func(w *world) { w.fail("a", "timeout"); w.end() }, nil, "run"},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			w.ask("a", "charge")
			row.play(w)
			v := w.verb(ActApprove, "a", row.with...)
			s, err := w.load(v)
			if err != nil {
				t.Fatal(err)
			}
			checks, err := ChecksOf(s, v, w.inputs())
			if err != nil {
				t.Fatal(err)
			}
			first := Check{}
			for _, c := range checks {
				if !c.OK {
					first = c
					break
				}
			}
			equal(t, "first check that is not OK", first.Step, row.step)
			equal(t, "it says why", first.Says != "", row.step != "")
		})
	}
}

// R-P8: where two must agree, two different ones must, and neither has asked.
func TestRP8TwoPeople(t *testing.T) {
	w := newWorld(t)
	w.ask("a", "wire", func(c *Ask) { c.Actor = dana })
	w.is(w.approve("a"), StopSamePerson) // dana has asked
	w.is(w.approve("a", as(eli)), Recorded)
	equal(t, "approvals", len(w.op("a").Hold.Approvals), 1)
	equal(t, "spent", w.spent(), Counters{})
	w.is(w.approve("a", as(eli)), StopSamePerson)
	w.is(w.approve("a"), StopSamePerson)
	fay := Actor{ID: "uid:1003", Name: "eli", Source: "peer-uid"} // a name is no identity
	d := w.is(w.approve("a", as(fay)), Admit)
	equal(t, "ordinal", d.Ordinal, 1)
	equal(t, "approvals that are left", len(w.op("a").Hold.Approvals), 0)
	w.fail("a", "rate_limit")
	w.is(w.approve("a", as(eli)), Recorded) // each dispatch needs two again
	w.is(w.approve("a", as(fay)), Retry)

	w = newWorld(t) // who asked for what waits now may not approve it
	w.ask("b", "audit")
	w.ask("b", "audit", changed, func(c *Ask) { c.Actor = eli })
	w.is(w.approve("b", as(eli)), StopSamePerson)
	w.is(w.approve("b"), Recorded)

	w = newWorld(t) // one is enough where one is asked for, even who asked
	w.ask("c", "refund", func(c *Ask) { c.Actor = dana })
	w.is(w.approve("c"), Admit)
}

// R-P8: whoever has asked is none of the two, and two approvals of different
// things are not two approvals.
func TestRP8NobodyWhoAsked(t *testing.T) {
	w := newWorld(t)
	w.is(w.ask("b", "wire", func(c *Ask) { c.Actor = dana }), StopApprovalRequired)
	w.is(w.ask("b", "wire", func(c *Ask) { c.Actor = eli }), StopApprovalRequired)
	w.is(w.approve("b", as(dana)), StopSamePerson)
	w.is(w.approve("b", as(eli)), StopSamePerson)

	w = newWorld(t)
	w.ask("b", "wire")
	w.is(w.approve("b", as(dana)), Recorded)
	w.is(w.approve("b", as(eli), func(c *Verb) { c.AsNewAction = true }), Recorded)
	w.is(w.approve("b", as(dana), func(c *Verb) { c.AsNewAction = true }), Admit)

	w = newWorld(t)
	w.ask("b", "wire")
	w.approve("b", as(dana))
	w.approve("b", as(eli))
	w.fail("b", "auth_failure")
	w.is(w.approve("b", as(dana)), Recorded)
	w.is(w.approve("b", as(eli), cleared), Recorded) // of a ruling that dana has not made
	w.is(w.approve("b", as(dana), cleared), Retry)
}
