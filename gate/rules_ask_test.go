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

// R-A2: the operation is the logical action: the caller's id, or else run,
// tool and canonical input less its volatile fields.
func TestRA2OperationIsTheLogicalAction(t *testing.T) {
	base := func(c *Ask) { c.Op, c.Input = "", []byte(`{"id":1,"at":"noon","who":{"b":1,"a":2}}`) }
	for _, row := range []struct {
		name string
		with func(*Ask)
		same bool
	}{
		{"the same call", func(*Ask) {}, true},
		{"in another turn, by another agent", func(c *Ask) { c.Agent, c.Path, c.ID = "main/b", PathSubagent, "turn-2" }, true},
		{"keys in another order, with spaces", func(c *Ask) { c.Input = []byte(` { "who": {"a":2, "b":1}, "at":"noon", "id":1 } `) }, true},
		{"another time of day, a volatile field", func(c *Ask) { c.Input = []byte(`{"id":1,"at":"one","who":{"b":1,"a":2}}`) }, true},
		{"without the volatile field", func(c *Ask) { c.Input = []byte(`{"id":1,"who":{"b":1,"a":2}}`) }, true},
		{"another key", func(c *Ask) { c.Key = "mine" }, true},
		{"other tokens and trace", func(c *Ask) { c.Tokens, c.Trace = 9, "t" }, true},
		{"another input", func(c *Ask) { c.Input = []byte(`{"id":2,"at":"noon","who":{"b":1,"a":2}}`) }, false},
		{"a field deeper down, not volatile there", func(c *Ask) { c.Input = []byte(`{"id":1,"who":{"b":1,"a":2,"at":1}}`) }, false},
		{"another spelling of a number", func(c *Ask) { c.Input = []byte(`{"id":1.0,"who":{"b":1,"a":2}}`) }, false},
		{"another tool", func(c *Ask) { c.Tool = "crawl" }, false},
		{"another run", func(c *Ask) { c.Run = "r2" }, false},
		{"an id of its own", func(c *Ask) { c.Op = "mine" }, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			w.start("r2", limits(9, 9, time.Minute))
			w.start("r3", limits(9, 9, time.Minute))
			w.change(func(k *Contract) {
				k.Tools["search"].Volatile, k.Tools["crawl"].Volatile = []string{"at"}, []string{"at"}
			})
			first := w.is(w.ask("", "search", base), Admit)
			again := w.ask("", "search", base, row.with)
			equal(t, "the same operation", again.Op == first.Op && again.Run == first.Run, row.same)
			equal(t, "held by the first", again.Verdict == StopInFlight, row.same)
		})
	}
}

// R-A2: a digest in place of the input is told apart in the same way.
func TestRA2DigestInPlaceOfTheInput(t *testing.T) {
	w := newWorld(t)
	digest := func(b byte) func(*Ask) {
		return func(c *Ask) { c.Op, c.Input, c.InputDigest = "", nil, Digest{b} }
	}
	first := w.ask("", "search", digest(1))
	equal(t, "same digest", w.ask("", "search", digest(1)).Op, first.Op)
	if got := w.ask("", "search", digest(2)).Op; got == first.Op {
		t.Errorf("another digest: op = %s, want another", got)
	}
	_, err := w.try(w.asks("", "search", func(c *Ask) { c.Input = nil }))
	names(t, err, "input") // nothing that could name the action
	for _, bad := range []string{"", "{", "{} {}", "{}x", "\xff", `{"a":"` + "\xff" + `"}`} {
		_, err := w.try(w.asks("", "search", input(bad)))
		names(t, err, "input")
	}
	_, err = w.try(w.asks("", "search", input(`"`+strings.Repeat("a", MaxInput)+`"`)))
	names(t, err, "input")
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

// R-A3: the key is made once, of the logical action, and stays: through
// repeats, handoffs, approvals and new runs.
func TestRA3OneKeyForTheLogicalAction(t *testing.T) {
	w := newWorld(t)
	first := w.is(w.ask("a", "pay"), Admit)
	key := first.Permit.Key
	if key == "" || key != first.Key || key != w.op("a").Key {
		t.Fatalf("key = %q in the permit, %q in the decision, %q stored", key, first.Key, w.op("a").Key)
	}
	w.fail("a", "timeout")
	equal(t, "key of a repeat", w.is(w.ask("a", "pay"), Retry).Permit.Key, key)
	w.fail("a", "rate_limit")
	equal(t, "key after a handoff", w.is(w.ask("a", "pay", by("main/b"), path(PathSubagent)), Retry).Permit.Key, key)
	w.fail("a", "teapot")
	w.policy(func(p *Policy) { p.AttemptsPerCall = 9 })
	equal(t, "key of an approve", w.is(w.approve("a", cleared), Retry).Permit.Key, key)
	w.fail("a", "teapot")
	w.goOn("a", "r2", limits(9, 9, time.Minute))
	equal(t, "key in the new run", w.op("a").Key, key)
	equal(t, "key of its approve", w.ask("a", "pay").Key, key)

	w = newWorld(t)
	equal(t, "made again of the same action", w.ask("a", "pay", askID("another"), by("main/b")).Key, key)
	other := w.ask("b", "pay").Key
	if other == key {
		t.Error("two operations have the same key")
	}
	w.start("r2", limits(9, 9, time.Minute))
	if w.ask("a", "pay").Key == key {
		t.Error("two runs have the same key")
	}
}

// R-A3: parts run together into a key with their lengths, so that other parts
// make another key.
func TestRA3KeyPartsDoNotRunTogether(t *testing.T) {
	keys := map[string][3]string{}
	for _, parts := range [][3]string{{"s", "r1", "a"}, {"s", "r", "1a"}, {"s", "r1a", ""}, {"sr", "1", "a"}, {"", "sr1", "a"}} {
		key := newKey(parts[0], RunID(parts[1]), OpID(parts[2]))
		if other, ok := keys[key]; ok {
			t.Errorf("%v and %v have the same key", parts, other)
		}
		keys[key] = parts
	}
}

// R-A3: the caller's own key counts at the first ask only; a later one is
// ignored, and the answer says so.
func TestRA3CallersKeyCountsAtTheFirstAsk(t *testing.T) {
	mine := func(key string) func(*Ask) { return func(c *Ask) { c.Key = key } }
	w := newWorld(t)
	d := w.ask("a", "pay", mine("order-7"))
	equal(t, "key", d.Permit.Key, "order-7")
	equal(t, "ignored", d.KeyIgnored, false)
	w.fail("a", "timeout")
	d = w.is(w.ask("a", "pay", mine("order-8")), Retry)
	equal(t, "key of the repeat", d.Permit.Key, "order-7")
	equal(t, "another key is ignored", d.KeyIgnored, true)
	w.fail("a", "timeout")
	d = w.is(w.ask("a", "pay", mine("order-7")), Retry)
	equal(t, "its own key is ignored", d.KeyIgnored, false)

	made := w.ask("b", "charge").Key
	w.fail("b", "timeout")
	d = w.is(w.ask("b", "charge", mine("fresh")), StopTerminal)
	equal(t, "key of a refused ask", d.Key, made)
	equal(t, "a fresh key on a lost write is ignored", d.KeyIgnored, true)

	w.start("r2", limits(1, 1, time.Minute))
	w.ask("other", "pay")
	d = w.ask("a", "pay", mine("order-9"))
	w.is(d, StopAttemptBudget)
	equal(t, "stored with a refused first ask", w.op("a").Key, "order-9")
}

// R-A4: a write's request is fixed: another digest is a conflict, on record.
func TestRA4ChangedWriteIsAConflict(t *testing.T) {
	changed := input(`{"n":2}`)
	for _, row := range []struct {
		name   string
		tool   string
		before func(w *world)
		want   Verdict
	}{
		{"a write in flight", "pay", func(*world) {}, StopKeyConflict},
		{"a write that failed", "pay", func(w *world) { w.fail("a", "timeout") }, StopKeyConflict},
		{"a write that was refused", "pay", func(w *world) { w.fail("a", "rate_limit") }, StopKeyConflict},
		{"a write that succeeded", "pay", func(w *world) { w.ok("a") }, StopKeyConflict},
		{"a write with a stored stop", "charge", func(w *world) { w.fail("a", "timeout") }, StopTerminal},
		{"an idempotent write", "put", func(w *world) { w.fail("a", "timeout") }, StopKeyConflict},
		{"a read in flight", "search", func(*world) {}, StopInFlight},
		{"a read that failed", "search", func(w *world) { w.fail("a", "timeout") }, Retry},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			w.ask("a", row.tool)
			row.before(w)
			spent, digest, n := w.spent(), w.op("a").Digest, len(w.ledger)
			d := w.is(w.ask("a", row.tool, changed), row.want)
			equal(t, "recorded", len(w.ledger), n+1)
			if d.Verdict == StopKeyConflict {
				equal(t, "spent", w.spent(), spent)
				equal(t, "digest of the operation", w.op("a").Digest, digest)
				if d.Digest == digest {
					t.Error("the record does not hold the digest that was asked with")
				}
			}
		})
	}

	w := newWorld(t)
	w.change(func(k *Contract) { k.Tools["pay"].Volatile = []string{"at"} })
	w.ask("a", "pay", input(`{"n":1,"at":1}`))
	w.fail("a", "timeout")
	w.is(w.ask("a", "pay", input(`{"at":2,"n":1}`)), Retry) // a volatile field is not part of it
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
