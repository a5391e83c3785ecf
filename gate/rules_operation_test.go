package gate

import (
	"strings"
	"testing"
	"time"
)

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

	for _, bad := range []string{"a b", "a\nb", "a\x1b", "ключ", strings.Repeat("k", 129)} {
		if c := w.asks("c", "pay", mine(bad)); c.Check() == nil {
			t.Errorf("a key of %q is taken, want it refused as an id is", bad)
		}
	}
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
