package gate

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// R-A1: every path asks the same question and gets the same answer.
func TestRA1EveryPathAsksTheSameQuestion(t *testing.T) {
	for _, p := range []Path{PathModel, PathSubagent, PathQueue, PathResume, PathFallback} {
		t.Run(p.String(), func(t *testing.T) {
			w := newWorld(t)
			w.is(w.ask("a", "search", path(p)), Admit)
			w.is(w.ask("a", "search", path(p)), StopInFlight)
			w.fail("a", "timeout")
			d := w.is(w.ask("a", "search", path(p)), Retry)
			equal(t, "path", d.Path, p)
			equal(t, "ordinal", d.Ordinal, 2)
			equal(t, "spent", w.spent().Attempts, 2)
			w.fail("a", "auth_failure")
			w.is(w.ask("a", "search", path(p)), StopTerminal)
		})
	}
	w := newWorld(t)
	_, err := w.try(w.asks("a", "search", path(PathManual)))
	names(t, err, "path") // an agent has no manual path
	_, err = w.try(w.asks("a", "search", func(c *Ask) { c.Run = "absent" }))
	fails(t, "ask of a run that is not there", err, ErrNoRun)
}

// R-A1, R-B2: a child asks for its parent's run, and a parent is an operation
// that has asked there: any other name is bad input, and nothing is charged.
func TestRA1ParentHasAskedBefore(t *testing.T) {
	parent := func(op OpID) func(*Ask) { return func(c *Ask) { c.Parent = op } }
	for _, row := range []struct {
		name string
		ask  func(w *world) Ask
		bad  bool
	}{
		{"none", func(w *world) Ask { return w.asks("a", "search") }, false},
		{"one that has asked", func(w *world) Ask { w.ask("p", "search"); return w.asks("a", "search", parent("p")) }, false},
		{"one that was refused", func(w *world) Ask {
			w.is(w.ask("p", "refund"), StopApprovalRequired)
			return w.asks("a", "search", parent("p"))
		}, false},
		{"a new action", func(w *world) Ask {
			w.ask("p", "charge")
			w.fail("p", "timeout")
			w.approve("p", asNew)
			return w.asks("a", "search", parent("p~2"))
		}, false},
		{"one whose name was derived", func(w *world) Ask {
			return w.asks("a", "search", parent(w.ask("", "search").Op))
		}, false},
		{"one that goes on from the run before", func(w *world) Ask {
			w.ask("p", "charge")
			w.fail("p", "timeout")
			w.goOn("p", "r2", limits(9, 9, time.Hour))
			return w.asks("a", "search", parent("p"))
		}, false},
		{"one that was closed in the run before", func(w *world) Ask {
			w.ask("p", "charge")
			w.ok("p")
			w.ask("other", "charge")
			w.fail("other", "timeout")
			w.goOn("other", "r2", limits(9, 9, time.Hour))
			return w.asks("a", "search", parent("p"))
		}, false},
		{"one that nobody has asked for", func(w *world) Ask { return w.asks("a", "search", parent("p")) }, true},
		{"at a later ask", func(w *world) Ask {
			w.ask("p", "search")
			w.ask("a", "search", parent("p"))
			w.fail("a", "timeout")
			return w.asks("a", "search", parent("q"))
		}, true},
		{"one of another run", func(w *world) Ask {
			w.ask("p", "search")
			w.start("r2", limits(9, 9, time.Minute))
			return w.asks("a", "search", parent("p"))
		}, true},
		{"one that the run before went on to ask for", func(w *world) Ask {
			w.ask("other", "charge")
			w.fail("other", "timeout")
			w.goOn("other", "r2", limits(9, 9, time.Hour))
			w.run = "r1"
			w.ask("p", "search")
			w.run = "r2"
			return w.asks("a", "search", parent("p"))
		}, true},
		{"itself", func(w *world) Ask { return w.asks("a", "search", parent("a")) }, true},
		{"itself at a later ask", func(w *world) Ask {
			w.ask("a", "search")
			w.fail("a", "timeout")
			return w.asks("a", "search", parent("a"))
		}, true},
		{"itself by its derived name", func(w *world) Ask {
			op := w.ask("", "search").Op
			w.fail(op, "timeout")
			return w.asks("", "search", parent(op))
		}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			c := row.ask(w)
			spent, n := w.spent(), len(w.ledger)
			d, err := w.try(c)
			if !row.bad {
				if err != nil {
					t.Fatal(err)
				}
				w.is(d, Admit)
				equal(t, "parent", w.op(c.Op).Parent, c.Parent)
				return
			}
			names(t, err, "parent")
			equal(t, "spent", w.spent(), spent)
			equal(t, "records", len(w.ledger), n)
		})
	}
}

// R-A8: what has been answered is said again, whatever is asked of a parent by
// now: a ledger may hold names that nobody had asked for.
func TestRA8AnswerOfAnUnknownParent(t *testing.T) {
	w := newWorld(t)
	c := w.asks("a", "search")
	first := w.do(c)
	c.Parent = "p"
	op := w.op("a")
	op.Asks = []Memo{{ID: c.ID, Body: c.body(), Seq: first.Seq}}
	s := State{Runs: []Run{w.header()}, Ops: []Operation{*op}, Said: []Decision{first}}
	again, err := Step(s, c, w.inputs())
	if err != nil || !again.Repeats() {
		t.Fatalf("the same ask again: repeats = %v, %v", again.Repeats(), err)
	}
}

// R-A5: a tool that the catalog lacks is an error that names it; no charge.
func TestRA5UnknownToolIsRefused(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"delete-all", "Search", "search "} {
		n := len(w.ledger)
		_, err := w.try(w.asks("a", name))
		if name == "search " {
			names(t, err, "tool")
		} else {
			fails(t, name, err, ErrUnknownTool)
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("error = %v, want one that names %s", err, name)
			}
		}
		equal(t, "records", len(w.ledger), n)
	}
	equal(t, "spent", w.spent(), Counters{})
	_, err := Step(everything(&w.live), w.asks("a", "delete-all"), w.inputs())
	fails(t, "Step itself", err, ErrUnknownTool)
}

// R-A7: in flight: no charge, and when the permit lapses at the latest.
func TestRA7InFlightHoldsTheOperation(t *testing.T) {
	w := newWorld(t)
	first := w.ask("a", "pay")
	for _, p := range []Path{PathModel, PathQueue, PathResume} {
		d := w.is(w.ask("a", "pay", path(p)), StopInFlight)
		equal(t, "retry at", d.RetryAt, first.Permit.Expires)
	}
	equal(t, "spent", w.spent().Attempts, 1)
}

// R-A7: a write that has succeeded is already done, with its reference.
func TestRA7SucceededWriteIsAlreadyDone(t *testing.T) {
	w := newWorld(t)
	w.ask("a", "pay")
	w.ok("a", result("receipt-9"))
	for _, p := range []Path{PathModel, PathQueue, PathResume} {
		d := w.is(w.ask("a", "pay", path(p)), AlreadyDone)
		equal(t, "result", d.Result, "receipt-9")
		equal(t, "outcome", d.Outcome, OutcomeSucceeded)
	}
	equal(t, "spent", w.spent().Attempts, 1)
}

// R-A7: a read may be asked for again: an admission, charged, without tokens
// and outside the call limit; when it fails, the next ask is a repeat, and
// everything counts from the latest admission.
func TestRA7SucceededReadMayBeAskedForAgain(t *testing.T) {
	w := emptyWorld(t)
	l, most := limits(20, 0, time.Minute), int64(100)
	l.RetryTokens = &most
	w.start("r1", l)
	for i := range 5 { // more than the call limit
		d := w.is(w.ask("a", "search", tokens(60)), Admit)
		equal(t, "charge", d.Charge, Counters{Attempts: 1})
		equal(t, "ordinal", d.Ordinal, int64(i+1))
		w.ok("a")
	}
	w.is(w.ask("a", "search", tokens(60)), Admit)
	w.fail("a", "parse_error")
	w.is(w.ask("a", "search"), StopUnchangedRequest)
	w.is(w.ask("a", "search", input(`{"n":2}`), tokens(60)), Retry)
	w.ok("a")
	w.is(w.ask("a", "search"), Admit)
	w.is(w.fail("a", "parse_error"), Recorded) // the first of its series again
	w.is(w.ask("a", "search", input(`{"n":3}`)), Retry)
	w.is(w.fail("a", "parse_error"), StopRepeatedRefusal)

	w.policy(func(p *Policy) {
		p.Backoff = Backoff{Base: time.Second, Cap: time.Minute, Jitter: JitterNone}
	})
	w.ask("b", "search")
	w.ok("b")
	w.is(w.ask("b", "search"), Admit)
	w.fail("b", "timeout")
	equal(t, "delay after the second attempt, the first of its series", w.ask("b", "search").Delay, time.Second)
	w.after(time.Second)
	w.fail("b", "timeout")
	equal(t, "delay after the next", w.ask("b", "search").Delay, 2*time.Second)
	w.after(2 * time.Second)
	w.fail("b", "timeout")
	w.is(w.ask("b", "search"), StopCallLimit) // three permits since its latest admission
	equal(t, "permits", w.op("b").Permits, 4)
}

// R-A8: the same ask id gets the same decision, with one charge; another body
// is a conflict; the newest 32 are remembered.
func TestRA8SameAskSameAnswer(t *testing.T) {
	w := newWorld(t)
	c := w.asks("a", "pay", askID("ask-1"))
	first := w.do(c)
	w.fail("a", "timeout")
	w.after(time.Second)
	n := len(w.ledger)
	d := w.do(c)
	if diff := cmp.Diff(d, first, cmp.Comparer(sameContract)); diff != "" {
		t.Errorf("the second answer (-got +first):\n%s", diff)
	}
	c.Actor, c.Trace = eli, "another" // neither is part of what was asked
	equal(t, "seq for another sender", w.do(c).Seq, first.Seq)
	equal(t, "records", len(w.ledger), n)
	equal(t, "spent", w.spent().Attempts, 1)

	for name, change := range map[string]func(*Ask){
		"agent":  func(c *Ask) { c.Agent = "main/b" },
		"path":   func(c *Ask) { c.Path = PathQueue },
		"tool":   func(c *Ask) { c.Tool = "put" },
		"parent": func(c *Ask) { c.Parent = "p" },
		"input":  func(c *Ask) { c.Input = []byte(`{"n":2}`) },
		"digest": func(c *Ask) { c.InputDigest = Digest{1} },
		"tokens": func(c *Ask) { c.Tokens = 1 },
		"key":    func(c *Ask) { c.Key = "k" },
	} {
		other := c
		change(&other)
		_, err := w.try(other)
		fails(t, "another "+name, err, ErrReused)
	}
	equal(t, "records after conflicts", len(w.ledger), n)

	stop := w.asks("a", "pay", askID("ask-2"), input(`{"n":2}`))
	w.is(w.do(stop), StopKeyConflict)
	equal(t, "a stop is remembered", w.do(stop).Seq, w.ledger[len(w.ledger)-1].Seq)

	for i := range 32 - 2 {
		w.ask("a", "pay", askID(fmt.Sprint("more-", i)), input(`{"n":3}`))
	}
	equal(t, "the oldest of 32", w.do(c).Seq, first.Seq)
	w.ask("a", "pay", askID("one-more"), input(`{"n":3}`))
	w.is(w.do(c), Retry) // forgotten: a new question
}

// R-A8: the answer outlives the process: only the ledger is needed.
func TestRA8SameAnswerAfterARestart(t *testing.T) {
	w := newWorld(t)
	c := w.asks("a", "pay")
	first := w.do(c)
	var l Live
	for i := range w.ledger {
		if _, err := l.Fold(w.ledger[i]); err != nil {
			t.Fatal(err)
		}
	}
	w.live = l
	equal(t, "seq", w.do(c).Seq, first.Seq)
	equal(t, "spent", w.spent().Attempts, 1)
}

// R-A9: another tool for the same operation is a repeat of it; for a write it
// is unsafe while an earlier outcome is unknown, whatever the tool promises.
func TestRA9AnotherToolIsARepeat(t *testing.T) {
	for _, row := range []struct {
		name     string
		tool     string
		code     Code
		fallback string
		want     Verdict
	}{
		{"the same tool", "put", "timeout", "put", Retry},
		{"an idempotent one after a lost write", "pay", "timeout", "put", StopUnsafeToRepeat},
		{"an idempotent one after a refused write", "pay", "rate_limit", "put", Retry},
		{"one with a key after a refused write: not its key", "put", "rate_limit", "pay", StopUnsafeToRepeat},
		{"one with a key after a lost write", "put", "timeout", "pay", StopUnsafeToRepeat},
		{"one that must not be repeated", "put", "rate_limit", "charge", StopUnsafeToRepeat},
		{"a read for a read", "search", "timeout", "crawl", Retry},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			w.is(w.ask("a", row.tool), Admit)
			w.is(w.fail("a", row.code), Recorded)
			d := w.is(w.ask("a", row.fallback, path(PathFallback)), row.want)
			if d.Verdict == Retry {
				equal(t, "ordinal", d.Ordinal, 2)
				equal(t, "key", d.Permit.Key, w.op("a").Key)
			}
			equal(t, "operations", w.header().Operations, 1)
		})
	}

	// The new tool's own loss is another matter: it is the same tool then.
	w := newWorld(t)
	w.ask("a", "put")
	w.fail("a", "rate_limit")
	w.is(w.ask("a", "store"), Retry)
	w.is(w.fail("a", "timeout"), Recorded)
	w.policy(func(p *Policy) { p.AttemptsPerCall = 9 })
	w.is(w.ask("a", "store"), Retry)
	w.is(w.fail("a", "rate_limit"), Recorded)
	w.is(w.ask("a", "put"), StopUnsafeToRepeat) // the second attempt's outcome is still unknown
}
