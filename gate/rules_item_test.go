package gate

import (
	"fmt"
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
		if want := fmt.Sprintf("request_id %q:", c.ID); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("another %s: error = %v, want one about the %s", name, err, want)
		}
	}
}

// R-P6: in which order caps are given makes no other act.
func TestRP6OrderOfCaps(t *testing.T) {
	w := newWorld(t)
	w.ask("a", "charge")
	w.fail("a", "timeout")
	c := w.verb(ActNewRun, "a", func(c *Verb) {
		c.NewRun, c.Limits = "r2", limits(9, 2, time.Minute)
		c.Caps = []Cap{{Agent: "x", Attempts: 1}, {Agent: "y", Attempts: 2}}
	})
	first := w.is(w.do(c), Resolved)
	c.Caps = []Cap{{Agent: "y", Attempts: 2}, {Agent: "x", Attempts: 1}}
	again, err := w.try(c)
	if err != nil || again.Seq != first.Seq {
		t.Errorf("again: seq %d, %v; want the decision %d", again.Seq, err, first.Seq)
	}
	c.Caps[0].Attempts++
	_, err = w.try(c)
	fails(t, "another cap", err, ErrReused)
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
