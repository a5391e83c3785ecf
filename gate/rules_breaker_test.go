package gate

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// guarded is a world whose dependencies have a breaker: three failures in ten
// seconds that are half of the requests, and a cool-down of five seconds.
func guarded(t *testing.T) *world {
	w := emptyWorld(t)
	w.policy(func(p *Policy) {
		p.Breaker = &BreakerRule{Window: 10 * time.Second, Failures: 3, Share: 0.5, CoolDown: 5 * time.Second}
		p.AttemptsPerCall = 99
	})
	w.start("r1", limits(99, 99, time.Hour))
	return w
}

// once dispatches a read of its own and reports it; "" is a success.
func (w *world) once(code Code) Decision {
	w.t.Helper()
	op := OpID(w.id())
	w.is(w.ask(op, "search"), Admit)
	if code == "" {
		return w.ok(op)
	}
	return w.fail(op, code)
}

func (w *world) breaker(name string) Breaker {
	for _, d := range w.live.Deps() {
		if d.Name == name {
			return d.Breaker
		}
	}
	return Breaker{}
}

// R-K1: it trips on a transient failure when there are enough of them in the
// window, and they are a large enough share of its requests.
func TestRK1Trips(t *testing.T) {
	const ok, bad = "", "timeout"
	for _, row := range []struct {
		name  string
		codes []Code
		want  BreakerState
	}{
		{"three failures", []Code{bad, bad, bad}, BreakerOpen},
		{"two", []Code{bad, bad}, BreakerClosed},
		{"half of the requests", []Code{ok, ok, ok, bad, bad, bad}, BreakerOpen},
		{"less than half", []Code{ok, ok, ok, ok, bad, bad, bad}, BreakerClosed},
		{"a success never trips it", []Code{ok, ok, ok, ok, bad, bad, bad, ok}, BreakerClosed},
		{"permanent ones do not count", []Code{"invalid_input", "invalid_input", "invalid_input", "teapot"}, BreakerClosed},
		{"nor conditional ones", []Code{"parse_error", "parse_error", "parse_error"}, BreakerClosed},
		{"but they are requests", []Code{bad, bad, "invalid_input", "invalid_input", "invalid_input", "invalid_input", bad}, BreakerClosed},
		{"rate limits are transient", []Code{"rate_limit", "upstream_5xx", "connection_reset"}, BreakerOpen},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := guarded(t)
			var d Decision
			for _, code := range row.codes {
				d = w.once(code)
			}
			equal(t, "state", w.breaker("index").State, row.want)
			equal(t, "change is in the record", d.Depends.Breaker != nil, row.want == BreakerOpen)
		})
	}
}

// R-K1: silence counts; each attempt counts once; the window rolls; it is the
// dependency's, over agents and runs; and the dependency's own rule wins.
func TestRK1WhatCounts(t *testing.T) {
	w := guarded(t) // silence
	for _, op := range []OpID{"a", "b", "c"} {
		w.ask(op, "search")
	}
	for _, op := range []OpID{"a", "b", "c"} {
		w.lose(op)
	}
	equal(t, "after three losses", w.breaker("index").State, BreakerOpen)

	w = guarded(t) // once
	w.ask("a", "search")
	w.lose("a")
	w.fail("a", "timeout")
	w.fail("a", "timeout")
	w.once("timeout")
	equal(t, "requests seen", w.once("").Reading.Requests, 2)
	equal(t, "state", w.breaker("index").State, BreakerClosed)

	w = guarded(t) // the window
	w.once("timeout")
	w.once("timeout")
	w.after(10*time.Second + bucketWidth)
	d := w.once("timeout")
	equal(t, "failures seen", d.Reading.Failures, 0)
	equal(t, "state", w.breaker("index").State, BreakerClosed)

	w = guarded(t) // agents, runs, tools; not other dependencies
	w.ask("a", "search", by("main/a"))
	w.fail("a", "timeout")
	w.once("timeout")
	w.start("r2", limits(99, 99, time.Hour))
	w.ask("p", "crawl")
	w.fail("p", "timeout")
	equal(t, "after another dependency's", w.breaker("index").State, BreakerClosed)
	w.once("timeout")
	equal(t, "after three of one", w.breaker("index").State, BreakerOpen)
	equal(t, "the other's", w.breaker("web").State, BreakerClosed)

	w = guarded(t) // its own rule
	w.change(func(k *Contract) {
		k.Dependencies = map[string]DependencyRule{"index": {Breaker: &BreakerRule{Window: time.Minute, Failures: 1, CoolDown: time.Second}}}
	})
	w.once("timeout")
	equal(t, "with its own rule", w.breaker("index").State, BreakerOpen)
	equal(t, "until", w.breaker("index").Until, noon.Add(time.Second))
}

// R-K1: a policy with a short window does not make another's forget.
func TestRK1LongestWindowIsKept(t *testing.T) {
	w := guarded(t)
	w.once("timeout")
	w.once("timeout")
	w.after(5 * time.Second)
	w.change(func(k *Contract) {
		short := *k.Policies[StarterName]
		short.Breaker = &BreakerRule{Window: time.Second, Failures: 9, CoolDown: time.Second}
		k.Policies["short"] = &short
	})
	w.do(Start{Actor: agent, Run: "r2", Policy: "short", Limits: limits(9, 9, time.Hour)})
	w.run = "r2"
	w.once("")
	w.run = "r1"
	w.once("timeout")
	equal(t, "state", w.breaker("index").State, BreakerOpen)
}

// opened is guarded with the breaker of "index" just tripped, and one attempt
// of it, "old", still out.
func opened(t *testing.T) *world {
	w := guarded(t)
	w.ask("old", "search")
	for range 3 {
		w.once("timeout")
	}
	equal(t, "state", w.breaker("index").State, BreakerOpen)
	return w
}

// R-K2: open for a cool-down; then one probe at a time.
func TestRK2OpenThenOneProbe(t *testing.T) {
	w := opened(t)
	until := noon.Add(5 * time.Second)
	d := w.is(w.ask("a", "search"), StopBreakerOpen)
	equal(t, "retry at", d.RetryAt, until)
	equal(t, "spent", w.spent().Attempts, 4)
	w.is(w.ask("b", "crawl"), Admit) // another dependency
	w.now = until.Add(-time.Millisecond)
	w.is(w.ask("a", "search"), StopBreakerOpen)
	w.now = until
	probe := w.is(w.ask("a", "search"), Admit)
	equal(t, "state", w.breaker("index").State, BreakerHalfOpen)
	d = w.is(w.ask("c", "search"), StopBreakerOpen)
	equal(t, "retry at the end of the probe's lease", d.RetryAt, probe.Permit.Expires)
	equal(t, "the probe is out", d.Reading.Probing, true)
	w.ok("a")
	equal(t, "state", w.breaker("index").State, BreakerClosed)
	w.is(w.ask("c", "search"), Admit)
}

// R-K2: what a probe's answer does.
func TestRK2ProbesAnswer(t *testing.T) {
	for _, row := range []struct {
		name   string
		answer func(w *world)
		want   BreakerState
	}{
		{"a success", func(w *world) { w.ok("a") }, BreakerClosed},
		{"a permanent failure: it answers", func(w *world) { w.fail("a", "invalid_input") }, BreakerClosed},
		{"a reply that cannot be used", func(w *world) { w.fail("a", "parse_error") }, BreakerClosed},
		{"an unlisted code", func(w *world) { w.fail("a", "teapot") }, BreakerClosed},
		{"a transient failure", func(w *world) { w.fail("a", "upstream_5xx") }, BreakerOpen},
		{"silence", func(w *world) { w.lose("a") }, BreakerOpen},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := opened(t)
			w.after(5 * time.Second)
			w.is(w.ask("a", "search"), Admit)
			row.answer(w)
			b := w.breaker("index")
			equal(t, "state", b.State, row.want)
			if row.want == BreakerOpen {
				equal(t, "until", b.Until, w.now.Add(5*time.Second))
				w.is(w.ask("b", "search"), StopBreakerOpen)
				w.after(5 * time.Second)
				w.is(w.ask("b", "search"), Admit) // never closed off for good
				return
			}
			w.is(w.ask("b", "search"), Admit)
			equal(t, "failures in the emptied window", w.once("timeout").Reading.Failures, 0)
		})
	}
}

// R-K2: reports of other attempts never move it; an approve may be the probe,
// and is stopped like any ask otherwise.
func TestRK2OnlyTheProbeMovesIt(t *testing.T) {
	w := opened(t)
	before := w.breaker("index")
	w.after(time.Second)
	w.fail("old", "timeout")
	if diff := cmp.Diff(w.breaker("index"), before); diff != "" {
		t.Errorf("an open breaker after another failure (-got +before):\n%s", diff)
	}

	w = opened(t)
	w.after(5 * time.Second)
	w.ask("a", "search")
	before = w.breaker("index")
	w.after(time.Second)
	w.ok("old")
	if diff := cmp.Diff(w.breaker("index"), before); diff != "" {
		t.Errorf("a half-open breaker after another success (-got +before):\n%s", diff)
	}

	w = opened(t) // a lost probe that succeeded after all is evidence, no probe any more
	w.after(5 * time.Second)
	w.ask("a", "search")
	w.lose("a")
	w.ok("a")
	equal(t, "state after a late success of the probe", w.breaker("index").State, BreakerOpen)

	w = guarded(t)
	w.ask("p", "search")
	w.fail("p", "teapot") // waits for a person
	for range 3 {
		w.once("timeout")
	}
	w.is(w.ask("q", "search"), StopBreakerOpen)
	d := w.is(w.approve("p", cleared), StopBreakerOpen)
	equal(t, "retry at", d.RetryAt, noon.Add(5*time.Second))
	w.after(5 * time.Second)
	w.is(w.approve("p", cleared), Retry)
	equal(t, "state", w.breaker("index").State, BreakerHalfOpen)
	equal(t, "probe", w.breaker("index").Probe, Ref{"r1", "p"})
	w.fail("p", "timeout")
	equal(t, "state", w.breaker("index").State, BreakerOpen)
	w.after(5 * time.Second)
	w.ask("waits", "peek")
	w.is(w.approve("waits"), Admit) // the first dispatch of an approval, too
	equal(t, "probe", w.breaker("index").Probe, Ref{"r1", "waits"})
	w.ask("other", "peek")
	w.is(w.approve("other"), StopBreakerOpen)
}

// R-K3: the reading is stored with the decision, and every change of state is
// in a record; a restart finds it.
func TestRK3ReadingsAndChangesAreOnRecord(t *testing.T) {
	w := guarded(t)
	w.once("")
	w.once("timeout")
	d := w.ask("a", "search")
	equal(t, "reading", d.Reading, Reading{Guarded: true, Requests: 2, Failures: 1})
	w.fail("a", "timeout")
	w.once("timeout")
	w.after(5 * time.Second)
	w.ask("b", "search")
	w.ok("b")
	var changes []BreakerState
	for i := range w.ledger {
		if b := w.ledger[i].Depends.Breaker; b != nil {
			changes = append(changes, b.State)
		}
	}
	if diff := cmp.Diff(changes, []BreakerState{BreakerOpen, BreakerHalfOpen, BreakerClosed}); diff != "" {
		t.Errorf("changes on record (-got +want):\n%s", diff)
	}
	w = opened(t)
	var l Live
	for i := range w.ledger {
		if _, err := l.Fold(w.ledger[i]); err != nil {
			t.Fatal(err)
		}
	}
	w.live = l
	w.is(w.ask("a", "search"), StopBreakerOpen)
	w = newWorld(t) // what nothing guards is not read
	equal(t, "reading", w.ask("a", "search").Reading, Reading{})
	equal(t, "dependencies", len(w.live.Deps()), 0)
}
