package gate

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// lost is a world with the write "a" of a tool that must not be repeated: its
// outcome is unknown, and its item waits.
func lost(t *testing.T) *world {
	w := newWorld(t)
	w.ask("a", "charge")
	w.fail("a", "timeout")
	return w
}

// R-P1: one item per operation: reopened, never doubled; it keeps when it was
// first opened, names the newest stop as its cause, and first and last failure
// are kept apart.
func TestRP1OneItemPerOperation(t *testing.T) {
	w := newWorld(t)
	w.policy(func(p *Policy) { p.AttemptsPerCall = 9 })
	w.ask("a", "pay", by("main/a"))
	w.fail("a", "timeout")
	w.ask("a", "pay", by("main/b"), path(PathQueue))
	first := w.fail("a", "schema_violation")
	id := first.Item()
	equal(t, "item", id, ItemIDOf("r1", "a"))
	w.reconcile("a", FindingDidNotHappen)
	w.approve("a", cleared)
	w.after(time.Second)
	second := w.fail("a", "teapot")
	h := w.op("a").Hold
	equal(t, "item when it is back", second.Item(), id)
	equal(t, "items", w.header().OpenItems, 1)
	equal(t, "first opened by", h.Opened, first.Seq)
	equal(t, "cause", h.Cause, second.Seq)
	equal(t, "since", h.Since, w.now)
	op := w.op("a")
	equal(t, "first failure", op.FirstError.Code, "timeout")
	equal(t, "last failure", op.LastError.Code, "teapot")
	equal(t, "permits", op.Permits, 3)
	equal(t, "input", string(op.Input), `{"n":1}`)
	equal(t, "who asked first", op.Agent, "main/a")
	equal(t, "its path", op.Path, PathModel)

	if ItemIDOf("r1", "a") == ItemIDOf("r", "1a") || ItemIDOf("r1", "a") == ItemIDOf("r1", "b") {
		t.Error("two operations have the same item")
	}
}

// R-P2: an item is outcome-unknown exactly while its write's outcome is
// unknown; otherwise the stored stop gives its kind.
func TestRP2Kinds(t *testing.T) {
	for _, row := range []struct {
		name string
		play func(w *world)
		want Kind
	}{
		{"a lost write", func(w *world) { w.ask("a", "charge"); w.fail("a", "timeout") }, KindOutcomeUnknown},
		{"an approval", func(w *world) { w.ask("a", "refund") }, KindApproval},
		{"an approved one that was refused", func(w *world) { w.ask("a", "refund"); w.approve("a"); w.fail("a", "rate_limit") }, KindApproval},
		{"an approved one that was lost", func(w *world) { w.ask("a", "refund"); w.approve("a"); w.fail("a", "timeout") }, KindOutcomeUnknown},
		{"an approved one that was blocked", func(w *world) { w.ask("a", "refund"); w.approve("a"); w.fail("a", "policy_block") }, KindStopped},
		{"a spent limit", func(w *world) {
			w.ask("a", "search")
			w.fail("a", "timeout", inner(10))
			w.is(w.ask("a", "search"), StopAttemptBudget)
		}, KindExhausted},
		{"a spent limit, outcome unknown", func(w *world) {
			w.ask("a", "pay")
			w.fail("a", "timeout", inner(10))
			w.is(w.ask("a", "pay"), StopAttemptBudget)
		}, KindOutcomeUnknown},
		{"a call limit", func(w *world) {
			w.policy(func(p *Policy) { p.AttemptsPerCall = 1 })
			w.ask("a", "search")
			w.fail("a", "timeout")
			w.is(w.ask("a", "search"), StopCallLimit)
		}, KindStopped},
		{"any other stop", func(w *world) { w.ask("a", "search"); w.fail("a", "teapot") }, KindStopped},
		{"found not to have happened", func(w *world) {
			w.ask("a", "charge")
			w.fail("a", "timeout")
			w.reconcile("a", FindingDidNotHappen)
		}, KindStopped},
		{"a spent limit, found not to have happened", func(w *world) {
			w.ask("a", "pay")
			w.fail("a", "timeout", inner(10))
			w.ask("a", "pay")
			w.reconcile("a", FindingDidNotHappen)
		}, KindExhausted},
		{"repeated by its agent while it waits, and lost", func(w *world) {
			w.ask("a", "wire")
			w.approve("a")
			w.approve("a", as(eli))
			w.change(func(k *Contract) { k.Tools["wire"].Approval = ApprovalNone })
			w.fail("a", "rate_limit")
			w.is(w.ask("a", "wire"), Retry)
			w.fail("a", "timeout")
		}, KindOutcomeUnknown},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			row.play(w)
			h := w.op("a").Hold
			equal(t, "waits", h.Waits(), true)
			equal(t, "kind", h.Kind, row.want)
		})
	}
}

// R-P2: an item that is opened again returns to the state that it had.
func TestRP2ReturnsToItsState(t *testing.T) {
	for _, route := range []Route{RouteEscalate, RouteDeadLetter} {
		w := newWorld(t)
		w.policy(func(p *Policy) { p.Routes.Unlisted = route; p.AttemptsPerCall = 9 })
		w.ask("a", "search")
		w.fail("a", "teapot")
		was := w.op("a").Hold.State
		w.approve("a", cleared)
		equal(t, "in flight", w.op("a").Hold.State, HoldResolved)
		w.policy(func(p *Policy) { p.Routes.Unlisted = RouteEscalate; p.AttemptsPerCall = 9 })
		w.fail("a", "teapot")
		equal(t, "back", w.op("a").Hold.State, was)
	}
}

// R-P3: what each verb does, and that no dispatch follows but on a yes.
func TestRP3Verbs(t *testing.T) {
	for _, row := range []struct {
		name    string
		act     func(w *world) Decision
		verdict Verdict
		hold    HoldState
		state   OpState
		permit  bool
		next    Verdict // of the agent's next ask
	}{
		{"reconcile happened", func(w *world) Decision { return w.reconcile("a", FindingHappened) }, Resolved, HoldResolved, OpSucceeded, false, AlreadyDone},
		{"reconcile did-not-happen", func(w *world) Decision { return w.reconcile("a", FindingDidNotHappen) }, Resolved, HoldOpen, OpHeld, false, StopTerminal},
		{"reconcile cannot-tell", func(w *world) Decision { return w.reconcile("a", FindingCannotTell) }, Resolved, HoldResolved, OpUnresolved, false, StopTerminal},
		{"approve", func(w *world) Decision { return w.approve("a") }, StopUnsafeToRepeat, HoldOpen, OpHeld, false, StopTerminal},
		{"approve after a finding", func(w *world) Decision {
			w.reconcile("a", FindingDidNotHappen)
			return w.approve("a")
		}, Retry, HoldResolved, OpInFlight, true, StopTerminal},
		{"approve as a new action", func(w *world) Decision { return w.approve("a", asNew) }, Admit, HoldResolved, OpSuperseded, true, StopTerminal},
		{"reject", func(w *world) Decision { return w.act(ActReject, "a") }, Resolved, HoldResolved, OpRejected, false, StopTerminal},
		{"claim", func(w *world) Decision { return w.act(ActClaim, "a") }, Recorded, HoldOpen, OpHeld, false, StopTerminal},
		{"release", func(w *world) Decision { return w.act(ActRelease, "a") }, Recorded, HoldOpen, OpHeld, false, StopTerminal},
		{"snooze", func(w *world) Decision { return w.act(ActSnooze, "a") }, Recorded, HoldOpen, OpHeld, false, StopTerminal},
		{"note", func(w *world) Decision { return w.act(ActNote, "a") }, Recorded, HoldOpen, OpHeld, false, StopTerminal},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := lost(t)
			cause := w.op("a").Hold.Cause
			spent := w.spent()
			d := w.is(row.act(w), row.verdict)
			equal(t, "item", w.op("a").Hold.State, row.hold)
			equal(t, "state", w.op("a").State(w.now), row.state)
			equal(t, "a permit", !d.Permit.IsZero(), row.permit)
			equal(t, "charged", w.spent() != spent, row.permit)
			equal(t, "actor", d.Command.Who(), dana)
			equal(t, "path", d.Path, PathManual)
			equal(t, "reason", d.Command.(Verb).Reason, "because")
			equal(t, "cause", d.Cause, cause)
			equal(t, "item of the record", d.Item(), ItemIDOf("r1", "a"))
			if row.permit && row.state == OpInFlight {
				w.fail("a", "timeout")
			}
			w.is(w.ask("a", "charge"), row.next)
		})
	}
}

// R-P3: what a finding leaves behind.
func TestRP3Findings(t *testing.T) {
	w := lost(t)
	d := w.reconcile("a", FindingHappened, func(c *Verb) { c.Evidence = "receipt 9" })
	equal(t, "result", w.op("a").Result, "receipt 9")
	equal(t, "outcome", d.Outcome, OutcomeSucceeded)
	equal(t, "finding", w.op("a").Attempts[0].Finding, FindingHappened)
	equal(t, "known effect", w.op("a").KnownEffect(), "happened")
	equal(t, "result for the agent", w.ask("a", "charge").Result, "receipt 9")

	w = lost(t)
	equal(t, "known effect", w.op("a").KnownEffect(), "unknown")
	d = w.reconcile("a", FindingDidNotHappen)
	equal(t, "outcome", d.Outcome, OutcomeFailed)
	equal(t, "finding", w.op("a").Attempts[0].Finding, FindingDidNotHappen)
	equal(t, "known effect", w.op("a").KnownEffect(), "did-not-happen")

	w = lost(t)
	w.reconcile("a", FindingCannotTell)
	equal(t, "known effect", w.op("a").KnownEffect(), "unknown")
	equal(t, "evidence", w.op("a").Evidence, FindingCannotTell)

	w = newWorld(t) // a read has no effect to find, and nothing was dispatched here
	w.ask("a", "search")
	w.fail("a", "teapot")
	w.ask("b", "refund")
	for _, op := range []OpID{"a", "b"} {
		_, err := w.try(w.verb(ActReconcile, op, func(c *Verb) { c.Finding = FindingHappened }))
		names(t, err, "finding")
	}
}

// R-P3: reject returns the typed outcome to whoever asks.
func TestRP3RejectReturnsTheTypedOutcome(t *testing.T) {
	w := lost(t)
	was := *w.op("a").Terminal
	w.act(ActReject, "a")
	got := *w.ask("a", "charge").Terminal
	was.NextAction = RouteReturn
	equal(t, "typed outcome", got, was)

	w = newWorld(t) // one that was never let through, too
	w.ask("a", "refund")
	w.act(ActReject, "a")
	d := w.is(w.ask("a", "refund"), StopTerminal)
	equal(t, "type", d.Terminal.Type, TypeStopped)
	equal(t, "reason", d.Terminal.Reason, "STOP_APPROVAL_REQUIRED")
	equal(t, "next", d.Terminal.NextAction, RouteReturn)
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

// R-P3: what a verb must say.
func TestRP3VerbHasToSayWhy(t *testing.T) {
	base := Verb{Actor: dana, Do: ActReject, ID: "v", Run: "r1", Op: "a", Version: 1, Reason: "r", Evidence: "e"}
	for _, row := range []struct {
		name   string
		change func(*Verb)
		field  string
	}{
		{"a reject", func(*Verb) {}, ""},
		{"without a reason", func(c *Verb) { c.Reason = " \n" }, "reason"},
		{"an approve without one", func(c *Verb) { c.Do, c.Reason = ActApprove, "" }, "reason"},
		{"a long reason", func(c *Verb) { c.Reason = strings.Repeat("x", MaxReason+1) }, "reason"},
		{"not text", func(c *Verb) { c.Reason = "\xff" }, "reason"},
		{"a reconcile without a finding", func(c *Verb) { c.Do = ActReconcile }, "finding"},
		{"a finding without evidence", func(c *Verb) { c.Do, c.Finding, c.Evidence = ActReconcile, FindingHappened, " " }, "evidence"},
		{"long evidence", func(c *Verb) { c.Evidence = strings.Repeat("x", MaxReason+1) }, "evidence"},
		{"cannot tell, without evidence", func(c *Verb) { c.Do, c.Finding, c.Evidence = ActReconcile, FindingCannotTell, "" }, ""},
		{"a claim without a reason", func(c *Verb) { c.Do, c.Reason = ActClaim, "" }, ""},
		{"an empty note", func(c *Verb) { c.Do, c.Reason = ActNote, "" }, "reason"},
		{"a snooze without an end", func(c *Verb) { c.Do = ActSnooze }, "until"},
		{"a new run without a name", func(c *Verb) { c.Do = ActNewRun }, "run"},
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
	w.ask("a", "search")
	_, err := w.try(w.verb(ActReject, "a"))
	fails(t, "an operation without an item", err, ErrNoItem)
	_, err = w.try(w.verb(ActReject, "absent"))
	fails(t, "no operation", err, ErrNoItem)
	w.fail("a", "teapot")
	_, err = w.try(w.verb(ActAsk, "a"))
	names(t, err, "verb")
}

// R-P3: a snooze puts an item off until an instant that is still ahead; one
// that is not is bad input, save to bring back what is put off now.
func TestRP3SnoozeIsUntilLater(t *testing.T) {
	const hour = time.Hour
	for _, row := range []struct {
		name  string
		off   time.Duration // how long it has been put off already
		wait  time.Duration
		until time.Duration // from the gate's time at the verb
		bad   bool
	}{
		{"an hour", 0, 0, hour, false},
		{"a moment", 0, 0, time.Millisecond, false},
		{"ten years", 0, 0, 10 * 365 * 24 * hour, false},
		{"another end", hour, 0, 2 * hour, false},
		{"now", 0, 0, 0, true},
		{"less than the gate's time can tell", 0, 0, time.Millisecond - 1, true},
		{"an hour ago", 0, 0, -hour, true},
		{"back at once", hour, hour - time.Millisecond, 0, false},
		{"back as of an hour ago", hour, 0, -hour, false},
		{"back when it is back already", hour, hour, 0, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := lost(t)
			if row.off > 0 {
				w.act(ActSnooze, "a", func(c *Verb) { c.Until = w.now.Add(row.off) })
			}
			w.after(row.wait)
			n, was := len(w.ledger), w.op("a").Hold
			c := w.verb(ActSnooze, "a", func(c *Verb) { c.Until = w.now.Add(row.until) })
			d, err := w.try(c)
			if !row.bad {
				if err != nil {
					t.Fatal(err)
				}
				w.is(d, Recorded)
				equal(t, "put off until", w.op("a").Hold.Snoozed, w.now.Add(row.until))
				return
			}
			names(t, err, "until")
			if now := w.now.Format(time.RFC3339Nano); err == nil || !strings.Contains(err.Error(), now) {
				t.Errorf("error = %v, want one that says the gate's time %s", err, now)
			}
			equal(t, "records", len(w.ledger), n)
			if diff := cmp.Diff(w.op("a").Hold, was); diff != "" {
				t.Errorf("item (-got +before):\n%s", diff)
			}
			c.Until = w.now.Add(hour) // no answer has been given under its id
			w.is(w.do(c), Recorded)
		})
	}
	w := lost(t) // what has moved is said first
	w.is(w.act(ActSnooze, "a", version(7), func(c *Verb) { c.Until = w.now }), Stale)
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

// R-P5: what moves an item's version, and what does not.
func TestRP5WhatMovesAnItem(t *testing.T) {
	for _, row := range []struct {
		name  string
		act   func(w *world)
		moves bool
	}{
		{"a finding", func(w *world) { w.reconcile("a", FindingDidNotHappen) }, true},
		{"a resolution", func(w *world) { w.act(ActReject, "a") }, true},
		{"an approve that is let go", func(w *world) { w.approve("a", asNew) }, true},
		{"a late success", func(w *world) { w.ok("a") }, true},
		{"a late refusal", func(w *world) { w.fail("a", "rate_limit") }, true},
		{"a late report that says nothing new", func(w *world) { w.fail("a", "upstream_5xx") }, false},
		{"time", func(w *world) { w.after(time.Hour) }, false},
		{"a charge of the run", func(w *world) { w.ask("b", "search") }, false},
		{"a claim", func(w *world) { w.act(ActClaim, "a") }, false},
		{"a release", func(w *world) { w.act(ActRelease, "a") }, false},
		{"a snooze", func(w *world) { w.act(ActSnooze, "a") }, false},
		{"a note", func(w *world) { w.act(ActNote, "a") }, false},
		{"a refused ask", func(w *world) { w.ask("a", "charge") }, false},
		{"a refused approve", func(w *world) { w.approve("a") }, false},
		{"a stale one", func(w *world) { w.act(ActReject, "a", version(7)) }, false},
		{"the end of the run", func(w *world) { w.end() }, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			w.ask("a", "charge")
			w.lose("a")
			shown := w.op("a").Hold.Version
			row.act(w)
			equal(t, "moved", w.op("a").Hold.Version != shown, row.moves)
			d := w.do(w.verb(ActNote, "a", version(shown), as(eli)))
			equal(t, "stale for who has seen the old one", d.Verdict == Stale, row.moves)
		})
	}
	w := newWorld(t) // a counted approval
	w.ask("a", "wire")
	w.is(w.approve("a"), Recorded)
	equal(t, "version", w.op("a").Hold.Version, 2)
}

// R-P5, R-P6: the first decision wins; the second gets who, what and when, and
// nothing happens.
func TestRP6FirstDecisionWins(t *testing.T) {
	for name, second := range map[string]func(c *Verb){
		"the same":           func(*Verb) {},
		"another":            func(c *Verb) { c.Do = ActApprove },
		"a taking over":      func(c *Verb) { c.TakeOver = true },
		"a new action":       func(c *Verb) { c.Do, c.AsNewAction = ActApprove, true },
		"with a new version": func(c *Verb) { c.Version++ },
	} {
		t.Run(name, func(t *testing.T) {
			w := lost(t)
			mine, theirs := w.verb(ActReject, "a"), w.verb(ActReject, "a", as(eli))
			second(&theirs)
			w.after(time.Second)
			first := w.is(w.do(mine), Resolved)
			w.after(time.Second)
			spent := w.spent()
			d := w.is(w.do(theirs), Stale)
			want := &Changed{Seq: first.Seq, At: first.Inputs.Now, By: dana, Act: ActReject, Verdict: Resolved}
			if diff := cmp.Diff(d.Changed, want); diff != "" {
				t.Errorf("what changed (-got +want):\n%s", diff)
			}
			equal(t, "spent", w.spent(), spent)
			equal(t, "state", w.op("a").State(w.now), OpRejected)
		})
	}
}

// R-P6: the same request id is one act, with one answer; another body under it
// is a conflict.
func TestRP6SameRequestOneAct(t *testing.T) {
	w := newWorld(t)
	w.ask("a", "charge")
	w.fail("a", "rate_limit")
	c := w.verb(ActApprove, "a")
	first := w.is(w.do(c), Retry)
	n := len(w.ledger)
	equal(t, "seq of the second", w.do(c).Seq, first.Seq)
	equal(t, "records", len(w.ledger), n)
	equal(t, "spent", w.spent().Attempts, 2)
	for name, change := range map[string]func(*Verb){
		"actor":      func(c *Verb) { c.Actor = eli },
		"verb":       func(c *Verb) { c.Do = ActReject },
		"version":    func(c *Verb) { c.Version++ },
		"reason":     func(c *Verb) { c.Reason = "other" },
		"evidence":   func(c *Verb) { c.Evidence = "other" },
		"finding":    func(c *Verb) { c.Finding = FindingHappened },
		"ruling":     cleared,
		"new action": asNew,
		"take over":  takeOver,
		"until":      func(c *Verb) { c.Until = c.Until.Add(time.Second) },
		"new run":    func(c *Verb) { c.NewRun = "r9" },
		"limits":     func(c *Verb) { c.Limits = limits(1, 1, time.Minute) },
		"caps":       func(c *Verb) { c.Caps = []Cap{{Agent: "x", Attempts: 1}} },
	} {
		other := c
		change(&other)
		_, err := w.try(other)
		fails(t, "another "+name, err, ErrReused)
	}
}

// R-P7: a claim is a lease; deciding needs none, and another's stands in the
// way until it ends or is taken over.
func TestRP7Claims(t *testing.T) {
	for _, row := range []struct {
		name string
		do   Act
		with []func(*Verb)
		wait time.Duration
		want Verdict
	}{
		{"its holder decides", ActReject, []func(*Verb){as(eli)}, 0, Resolved},
		{"another decides", ActReject, nil, 0, StopClaimed},
		{"another approves", ActApprove, []func(*Verb){asNew}, 0, StopClaimed},
		{"another reconciles", ActReconcile, []func(*Verb){func(c *Verb) { c.Finding = FindingHappened }}, 0, StopClaimed},
		{"another claims", ActClaim, nil, 0, StopClaimed},
		{"another releases", ActRelease, nil, 0, StopClaimed},
		{"another takes over", ActReject, []func(*Verb){takeOver}, 0, Resolved},
		{"another takes the claim over", ActClaim, []func(*Verb){takeOver}, 0, Recorded},
		{"another notes", ActNote, nil, 0, Recorded},
		{"another puts it off", ActSnooze, nil, 0, Recorded},
		{"a moment before it ends", ActReject, nil, 15*time.Minute - time.Millisecond, StopClaimed},
		{"it has ended", ActReject, nil, 15 * time.Minute, Resolved},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := lost(t)
			w.is(w.act(ActClaim, "a", as(eli)), Recorded)
			until := w.now.Add(15 * time.Minute)
			equal(t, "until", w.op("a").Hold.Claim.Until, until)
			w.after(row.wait)
			d := w.is(w.act(row.do, "a", row.with...), row.want)
			equal(t, "spent", w.spent().Attempts, 1)
			equal(t, "on record", d.Command.(Verb).TakeOver, len(row.with) > 0 && strings.Contains(row.name, "over"))
			if d.Verdict == StopClaimed {
				equal(t, "retry at", d.RetryAt, until)
				equal(t, "held by", w.op("a").Hold.Claim.By, eli)
			}
		})
	}
	w := lost(t) // nobody's claim is needed, and a lease may be another length
	w.change(func(k *Contract) { k.ClaimLease = time.Minute })
	w.act(ActClaim, "a")
	equal(t, "until", w.op("a").Hold.Claim.Until, w.now.Add(time.Minute))
	w.act(ActRelease, "a")
	w.is(w.act(ActReject, "a", as(eli)), Resolved)
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

// R-P10: an act is on record with who did it and where that is known from.
func TestRP10IdentityIsOnRecord(t *testing.T) {
	w := lost(t)
	d := w.act(ActNote, "a")
	equal(t, "actor", d.Command.Who(), Actor{ID: "uid:1001", Name: "dana", Source: "peer-uid"})
	w.act(ActReject, "a")
	equal(t, "who moved the item", w.op("a").Hold.Changed.By, dana)
	equal(t, "who swept", Sweep{}.Who().Source, "gate")
}
