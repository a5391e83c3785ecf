package gate

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

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
	equal(t, "found by", w.op("a").Attempts[0].Found, d.Seq)
	equal(t, "known effect", w.op("a").KnownEffect(), KnownHappened)
	equal(t, "result for the agent", w.ask("a", "charge").Result, "receipt 9")

	w = lost(t)
	equal(t, "known effect", w.op("a").KnownEffect(), KnownUnknown)
	d = w.reconcile("a", FindingDidNotHappen)
	equal(t, "outcome", d.Outcome, OutcomeFailed)
	equal(t, "finding", w.op("a").Attempts[0].Finding, FindingDidNotHappen)
	equal(t, "found by", w.op("a").Attempts[0].Found, d.Seq)
	w.reconcile("a", FindingDidNotHappen)
	equal(t, "found by the first", w.op("a").Attempts[0].Found, d.Seq)
	equal(t, "known effect", w.op("a").KnownEffect(), KnownNotHappened)

	d = w.reconcile("a", FindingHappened) // after all
	equal(t, "corrected finding", w.op("a").Attempts[0].Finding, FindingHappened)
	equal(t, "corrected outcome", w.op("a").Attempts[0].Outcome, OutcomeSucceeded)
	equal(t, "corrected by", w.op("a").Attempts[0].Found, d.Seq)

	w = lost(t) // of two attempts, the second is what the second finding is about
	first := w.reconcile("a", FindingDidNotHappen)
	w.is(w.approve("a"), Retry)
	w.lose("a")
	second := w.reconcile("a", FindingHappened)
	equal(t, "the first finding stands", w.op("a").Attempts[0].Found, first.Seq)
	equal(t, "the first attempt failed", w.op("a").Attempts[0].Outcome, OutcomeFailed)
	equal(t, "the second finding", w.op("a").Attempts[1].Found, second.Seq)

	w = lost(t)
	w.reconcile("a", FindingCannotTell)
	equal(t, "known effect", w.op("a").KnownEffect(), KnownUnknown)
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

// R-P10: an act is on record with who did it and where that is known from.
func TestRP10IdentityIsOnRecord(t *testing.T) {
	w := lost(t)
	d := w.act(ActNote, "a")
	equal(t, "actor", d.Command.Who(), Actor{ID: "uid:1001", Name: "dana", Source: "peer-uid"})
	w.act(ActReject, "a")
	equal(t, "who moved the item", w.op("a").Hold.Changed.By, dana)
	equal(t, "who swept", Sweep{}.Who().Source, "gate")
}

// R-L1: a person's act is recorded with the code and the class of the newest
// failure, whatever has been dispatched since.
func TestRL1VerbSaysTheNewestFailure(t *testing.T) {
	for _, row := range []struct {
		name    string
		since   func(w *world)
		code    Code
		class   Class
		outcome Outcome
	}{
		{"nothing since", func(*world) {}, "rate_limit", ClassTransient, OutcomeFailed},
		{"a repeat is out", func(w *world) { w.is(w.ask("a", "wire"), Retry) }, "rate_limit", ClassTransient, OutcomePending},
		{"a repeat failed", func(w *world) {
			w.is(w.ask("a", "wire"), Retry)
			w.fail("a", "teapot")
		}, "teapot", ClassUnknown, OutcomeUnknown},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t) // an item that waits although its agent may repeat
			w.ask("a", "wire")
			w.approve("a")
			w.approve("a", as(eli))
			w.change(func(k *Contract) { k.Tools["wire"].Approval = ApprovalNone })
			w.fail("a", "rate_limit")
			row.since(w)
			d := w.is(w.act(ActNote, "a"), Recorded)
			equal(t, "code", d.Code, row.code)
			equal(t, "class", d.Class, row.class)
			equal(t, "outcome", d.Outcome, row.outcome)
			if row.code == "rate_limit" {
				d = w.is(w.act(ActReject, "a"), Resolved)
				equal(t, "class of the typed outcome", d.Terminal.FailureClass, row.class)
			}
		})
	}

	w := newWorld(t) // what turned out to have succeeded is no failure any more
	w.ask("a", "charge")
	w.lose("a")
	w.reconcile("a", FindingDidNotHappen)
	w.is(w.approve("a"), Retry)
	w.ok("a", ordinal(1))
	d := w.is(w.act(ActNote, "a"), Recorded)
	equal(t, "code after a late success", d.Code, "")
	equal(t, "class after a late success", d.Class, ClassUnknown)
}
