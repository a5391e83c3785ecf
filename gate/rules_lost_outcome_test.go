package gate

import (
	"testing"
	"time"
)

// R-T6: no unknown outcome is lost: it gets an item when its run ends or its
// deadline passes, or if it becomes unknown later; without a queue a record.
func TestRT6NoUnknownOutcomeIsLost(t *testing.T) {
	unknown := func(w *world) { w.ask("a", "put"); w.fail("a", "timeout") } // safe: no stop, no item
	for _, row := range []struct {
		name string
		then func(w *world)
		due  bool
	}{
		{"its run goes on", func(w *world) { unknown(w) }, false},
		{"its run ends", func(w *world) { unknown(w); w.end() }, true},
		{"its run ends, and other records follow", func(w *world) {
			w.ask("b", "search")
			unknown(w)
			w.end()
			w.after(time.Second)
			w.ask("b", "search")
			w.ok("b")
		}, true},
		{"its deadline passes", func(w *world) { unknown(w); w.after(time.Minute) }, true},
		{"a moment before", func(w *world) { unknown(w); w.after(time.Minute - time.Millisecond) }, false},
		{"it is reported after the deadline", func(w *world) { w.ask("a", "put"); w.after(time.Hour); w.fail("a", "timeout") }, true},
		{"it is never reported", func(w *world) { w.ask("a", "put"); w.after(time.Hour); w.sweep("a") }, true},
		{"it is known not to have happened", func(w *world) { w.ask("a", "put"); w.fail("a", "rate_limit"); w.end() }, false},
		{"it succeeded", func(w *world) { w.ask("a", "put"); w.ok("a"); w.end() }, false},
		{"it was a read", func(w *world) { w.ask("a", "search"); w.fail("a", "timeout"); w.end() }, false},
		{"it has an item", func(w *world) { w.ask("a", "charge"); w.fail("a", "timeout"); w.end() }, false},
		{"a person has closed it", func(w *world) {
			w.ask("a", "charge")
			w.fail("a", "timeout")
			w.reconcile("a", FindingCannotTell)
			w.end()
		}, false},
		{"the policy returns it", func(w *world) {
			w.policy(func(p *Policy) { p.Routes.OutcomeUnknown = RouteReturn })
			w.ask("a", "charge")
			w.fail("a", "timeout")
			w.end()
		}, true},
	} {
		for _, queue := range []bool{true, false} {
			name := row.name
			if !queue {
				name += ", no queue"
			}
			t.Run(name, func(t *testing.T) {
				w := newWorld(t)
				row.then(w)
				due, _ := w.live.Due(w.now, 9)
				equal(t, "due", len(due), map[bool]int{true: 1}[row.due])
				if !row.due {
					return
				}
				w.policy(func(p *Policy) { p.QueueOff = !queue })
				n := len(w.ledger)
				d := w.is(w.sweep("a"), Recorded)
				equal(t, "outcome", d.Outcome, OutcomeUnknown)
				equal(t, "waits", w.op("a").Hold.Waits(), queue)
				equal(t, "recorded", len(w.ledger), n+1)
				if queue {
					equal(t, "kind", w.op("a").Hold.Kind, KindOutcomeUnknown)
				}
				due, next := w.live.Due(w.now.Add(time.Hour), 9)
				if len(due) > 0 || !next.IsZero() {
					t.Errorf("due again: %v, next %v, want never", due, next)
				}
			})
		}
	}
}

// R-T6: late evidence that leaves nothing unknown resolves such an item.
func TestRT6LostOutcomeBecomesKnown(t *testing.T) {
	for _, row := range []struct {
		name string
		say  func(w *world)
		want HoldState
	}{
		{"it succeeded", func(w *world) { w.ok("a") }, HoldResolved},
		{"it was refused", func(w *world) { w.fail("a", "rate_limit") }, HoldResolved},
		{"it was blocked", func(w *world) { w.fail("a", "policy_block") }, HoldResolved},
		{"nobody knows", func(w *world) { w.fail("a", "upstream_5xx") }, HoldOpen},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			w.ask("a", "put")
			w.lose("a")
			w.end()
			w.sweep("a")
			equal(t, "item", w.op("a").Hold.State, HoldOpen)
			row.say(w)
			equal(t, "item after the late report", w.op("a").Hold.State, row.want)
		})
	}
}

// R-T6: a run that ends waits for what is in flight; new asks are refused.
func TestRT6EndingWaits(t *testing.T) {
	for name, done := range map[string]func(w *world){
		"a report": func(w *world) { w.fail("a", "timeout") },
		"a sweep":  func(w *world) { w.lose("a") },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.ask("a", "charge")
			w.is(w.end(), Recorded)
			r := w.header()
			equal(t, "ended", !r.Ended.IsZero(), false)
			w.is(w.ask("b", "search"), StopTerminal)
			w.is(w.ask("a", "charge"), StopTerminal)
			done(w)
			r = w.header()
			equal(t, "ended", r.Ended, w.now)
			equal(t, "state", r.State(), RunEnded)
			equal(t, "item of the unknown outcome", w.op("a").Hold.Kind, KindOutcomeUnknown)
			was := r.Ended
			w.after(time.Second)
			w.is(w.end(), Recorded) // a second time changes nothing
			equal(t, "ended", w.header().Ended, was)
			w.is(w.reconcile("a", FindingHappened), Resolved)
		})
	}
	w := newWorld(t)
	w.end()
	equal(t, "ended at once", w.header().Ended, w.now)
	w.do(Start{Actor: agent, Run: "r1"}) // and is still found
	w.is(w.ask("a", "search"), StopTerminal)
	_, err := w.try(End{Actor: agent, Run: "absent"})
	fails(t, "end of no run", err, ErrNoRun)
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
