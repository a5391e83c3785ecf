package gate

import (
	"testing"
	"time"
)

// R-A2, R-P3: a call without a name is the same operation in each run of a
// line: its key and its unknown outcome are found again.
func TestRA2SameCallInTheNextRun(t *testing.T) {
	for name, report := range map[string]func(w *world, op OpID){
		"outcome unknown": func(w *world, op OpID) { w.fail(op, "timeout") },
		"still out":       func(*world, OpID) {},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			first := w.is(w.ask("", "charge", input(`{"n":1}`)), Admit)
			report(w, first.Op)
			w.ask("other", "charge")
			w.fail("other", "timeout")
			w.goOn("other", "r2", limits(9, 9, time.Hour))
			again := w.ask("", "charge", input(`{"n":1}`))
			equal(t, "operation", again.Op, first.Op)
			equal(t, "key", again.Key, first.Key)
			equal(t, "permitted", again.Verdict.Permits(), false)
		})
	}
}

// R-T3: what a person closed stays closed under its name in the next run.
func TestRT3ClosedStaysClosedInTheNextRun(t *testing.T) {
	w := newWorld(t)
	for _, op := range []OpID{"new-action", "unresolved", "rejected", "other"} {
		w.ask(op, "charge")
		w.fail(op, "timeout")
	}
	w.is(w.approve("new-action", func(c *Verb) { c.AsNewAction = true }), Admit)
	w.reconcile("unresolved", FindingCannotTell)
	w.act(ActReject, "rejected")
	w.ask("undispatched", "refund")
	w.act(ActReject, "undispatched")
	w.goOn("other", "r2", limits(9, 9, time.Hour))
	for _, op := range []OpID{"new-action", "unresolved", "rejected"} {
		w.is(w.ask(op, "charge"), StopTerminal)
	}
	w.is(w.ask("undispatched", "refund"), StopTerminal) // it has no stored stop
	w.is(w.ask("new-action~2", "charge"), StopInFlight)
	w.run = "r1" // a late success settles them in both runs (R-C6)
	w.ok("new-action~2", ordinal(1))
	for _, run := range []RunID{"r1", "r2"} {
		w.run = run
		w.is(w.ask("new-action~2", "charge"), AlreadyDone)
	}
}

// R-C6: a late success of what a new action has superseded may have been done
// twice, in the next run as well.
func TestRC6DoneTwiceInTheNextRun(t *testing.T) {
	w := newWorld(t)
	w.ask("a", "charge")
	w.lose("a")
	w.is(w.approve("a", asNew), Admit)
	w.lose("a~2")
	w.goOn("a~2", "r2", limits(9, 9, time.Hour))
	equal(t, "successor", w.op("a").Successor, Ref{"r2", "a~2"})
	w.is(w.ok("a", ordinal(1)), Recorded)
	equal(t, "waits", w.op("a").Hold.Waits(), true)
	equal(t, "may be done twice", w.op("a").Hold.Duplicate, true)
	equal(t, "kind", w.op("a").Hold.Kind, KindOutcomeUnknown)
	w.is(w.ask("a", "charge"), AlreadyDone)
}

// R-T6: an outcome that becomes unknown after its operation was closed is not
// lost either.
func TestRT6UnknownAfterTheEnd(t *testing.T) {
	w := newWorld(t)
	w.ask("a", "put")
	w.fail("a", "rate_limit")
	w.is(w.ask("a", "refund", path(PathFallback)), StopApprovalRequired)
	w.after(3 * time.Second)
	w.is(w.ask("a", "put"), Retry)
	w.is(w.act(ActReject, "a"), Resolved) // while the attempt is out
	w.fail("a", "timeout")
	r := w.header()
	equal(t, "due", w.op("a").Due(&r), r.Budget.Deadline)
	w.now = r.Budget.Deadline
	d := w.is(w.sweep("a"), Recorded)
	equal(t, "kind", d.Hold.Kind, KindOutcomeUnknown)
	equal(t, "state", w.op("a").Settled, SettledRejected)
	w.reconcile("a", FindingCannotTell)
	equal(t, "waits", w.op("a").Hold.Waits(), false)
	equal(t, "due again", w.op("a").Due(&r).IsZero(), true)
}

// R-P5, R-A6: a refused ask does not move what an open item shows and an
// approve would dispatch.
func TestRP5RefusedAskMovesNothing(t *testing.T) {
	w := newWorld(t)
	w.is(w.ask("a", "peek", input(`{"q":"harmless"}`)), StopApprovalRequired)
	shown := w.op("a")
	w.behind = true
	w.is(w.ask("a", "peek", input(`{"q":"other"}`)), StopClock)
	w.behind = false
	equal(t, "version", w.op("a").Hold.Version, shown.Hold.Version)
	d := w.is(w.approve("a"), Admit)
	equal(t, "what was dispatched", d.Digest, shown.Digest)
	equal(t, "its input", string(w.op("a").Input), string(shown.Input))
}

// R-B2: the same start finds its run although the contract has changed since.
func TestRB2SameStartAfterTheContractChanged(t *testing.T) {
	zero := time.Duration(0)
	holdsMore := func(p *Policy) {
		tokens, reserve := int64(9), time.Second
		p.Limits = Limits{RetryTokens: &tokens, Reserve: &reserve}
	}
	for _, row := range []struct {
		name   string
		change func(k *Contract)
		again  func(c *Start)
		bad    bool
	}{
		{"nothing has changed", func(*Contract) {}, func(*Start) {}, false},
		{"its policy holds limits now", func(k *Contract) { holdsMore(k.Policies["tight"]) }, func(*Start) {}, false},
		{"its policy is gone", func(k *Contract) { delete(k.Policies, "tight") }, func(*Start) {}, false},
		{
			"its policy is gone, and nothing is asked for", func(k *Contract) { delete(k.Policies, "tight") },
			func(c *Start) { c.Limits, c.Policy = Limits{}, "" }, false,
		},
		{"nothing is asked for but its policy", func(*Contract) {}, func(c *Start) { c.Limits = Limits{} }, false},
		{"the same in other words", func(*Contract) {}, func(c *Start) { c.Limits.Reserve = &zero }, false},
		{"the same in other words, of a policy that is gone", func(k *Contract) { delete(k.Policies, "tight") }, func(c *Start) { c.Limits.Reserve = &zero }, true},
		{"the same limits by another policy that holds more", func(k *Contract) { holdsMore(k.Policies[StarterName]) }, func(c *Start) { c.Policy = "" }, true},
		{"nothing but another policy", func(*Contract) {}, func(c *Start) { c.Limits, c.Policy = Limits{}, StarterName }, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := emptyWorld(t)
			w.change(func(k *Contract) { k.Policies["tight"] = Starter() })
			start := Start{Actor: agent, Run: "r1", Policy: "tight", Limits: limits(3, 3, time.Minute)}
			first := w.do(start)
			w.change(row.change)
			row.again(&start)
			d, err := w.try(start)
			if row.bad {
				fails(t, "start", err, ErrReused)
			} else if err != nil || d.Seq != first.Seq {
				t.Errorf("start = seq %d, %v; want the run of seq %d", d.Seq, err, first.Seq)
			}
		})
	}

	w := newWorld(t) // of the starter policy, by no name and by its own
	start := w.ledger[0].Command.(Start)
	start.Policy = StarterName
	w.policy(holdsMore)
	equal(t, "seq", w.do(start).Seq, 1)
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

// R-P6: agents' ask ids and a person's request ids are two lists.
func TestRP6AskIDsDoNotReplaceRequestIDs(t *testing.T) {
	w := newWorld(t)
	w.ask("a", "charge")
	w.fail("a", "timeout")
	note := Verb{Actor: dana, Do: ActNote, ID: "same", Run: "r1", Op: "a", Version: w.op("a").Hold.Version, Reason: "seen"}
	first, err := w.try(note)
	if err != nil {
		t.Fatal(err)
	}
	for range MaxMemos + 1 {
		w.ask("a", "charge")
	}
	again, err := w.try(note)
	if err != nil || again.Seq != first.Seq {
		t.Errorf("again: seq %d, %v; want the decision %d", again.Seq, err, first.Seq)
	}
}

// R-A4, R-A9: a fallback that writes is held to the request of the read before
// it, and a late success of that read does not settle the write.
func TestRA4ReadThatFallsBackToAWrite(t *testing.T) {
	w := newWorld(t)
	w.ask("a", "search", input(`{"q":1}`))
	w.lose("a")
	w.is(w.ask("a", "put", path(PathFallback), input(`{"q":2}`)), StopKeyConflict)
	w.is(w.ask("a", "put", path(PathFallback), input(`{"q":1}`)), Retry)
	w.is(w.ok("a", ordinal(1)), Recorded)
	equal(t, "settled", w.op("a").Settled, NotSettled)
	w.fail("a", "timeout")
	equal(t, "outcome unknown", w.op("a").Unknowns, 1)
}
