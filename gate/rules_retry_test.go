package gate

import (
	"testing"
	"time"
)

// paths are the ways an agent's ask can come.
var paths = []Path{PathModel, PathSubagent, PathQueue, PathResume, PathFallback}

// R-D0: a terminal stop is stored, and every later ask finds it with the
// stored outcome, on every path but manual.
func TestRD0StoredStop(t *testing.T) {
	w := newWorld(t)
	w.ask("a", "search")
	first := w.fail("a", "teapot")
	w.change(func(k *Contract) { k.Codes = map[Code]CodeRule{"teapot": {Class: ClassTransient}} })
	for _, p := range paths {
		w.after(time.Second)
		d := w.is(w.ask("a", "search", path(p), input(`{"n":2}`)), StopTerminal)
		if d.Terminal == nil || *d.Terminal != *first.Terminal {
			t.Errorf("%v: typed outcome = %+v, want the stored one %+v", p, d.Terminal, first.Terminal)
		}
		equal(t, "route", d.Route, first.Route)
	}
	equal(t, "stored stop", w.op("a").Stop, StopPermanentOrUnknown)
	equal(t, "version of the item", w.op("a").Hold.Version, 1)
	w.is(w.approve("a"), Retry) // the manual path goes on to the steps
	w.is(w.ask("a", "search"), StopTerminal)
	w.fail("a", "timeout")
	w.is(w.ask("a", "search"), StopTerminal) // other paths keep finding it
	w.is(w.approve("a"), Retry)
	w.ok("a")
	equal(t, "stored stop after a success", w.op("a").Stop, 0)
	w.is(w.ask("a", "search"), Admit) // a read again
}

// R-D0: on the manual path STOP_TERMINAL holds for what has been closed, and
// in a run that has ended.
func TestRD0ManualPath(t *testing.T) {
	for _, row := range []struct {
		name string
		then func(w *world)
		want Verdict
	}{
		{"open", func(*world) {}, Retry},
		{"the run has ended", func(w *world) { w.end() }, StopTerminal},
		{"the run is ending", func(w *world) { w.ask("b", "search"); w.end() }, StopTerminal},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			w.ask("a", "charge")
			w.fail("a", "rate_limit")
			row.then(w)
			w.is(w.approve("a"), row.want)
		})
	}

	w := newWorld(t) // dead-letter is as open as open
	w.policy(func(p *Policy) { p.Routes.Unsafe = RouteDeadLetter })
	w.ask("a", "charge")
	w.fail("a", "rate_limit")
	equal(t, "item", w.op("a").Hold.State, HoldDeadLetter)
	w.is(w.approve("a"), Retry)
}

// R-D0: what was closed stays closed, for asks; its item is stale for people.
func TestRD0ClosedOperations(t *testing.T) {
	for name, act := range map[string]func(w *world){
		"rejected":   func(w *world) { w.act(ActReject, "a") },
		"unresolved": func(w *world) { w.reconcile("a", FindingCannotTell) },
		"superseded": func(w *world) { w.is(w.approve("a", asNew), Admit) },
		"gone on":    func(w *world) { w.goOn("a", "r2", limits(9, 9, time.Minute)); w.run = "r1" },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.ask("a", "charge")
			w.fail("a", "timeout")
			act(w)
			spent := w.spent()
			for _, p := range paths {
				d := w.is(w.ask("a", "charge", path(p)), StopTerminal)
				if d.Terminal == nil {
					t.Errorf("%v: no typed outcome", p)
				}
			}
			w.is(w.approve("a"), Stale)
			equal(t, "spent", w.spent(), spent)
		})
	}
}

// R-D0: in an ended run a write that succeeded is still found done; a read and
// a new operation are refused.
func TestRD0EndedRun(t *testing.T) {
	w := newWorld(t)
	w.ask("write", "pay")
	w.ok("write", result("r"))
	w.ask("read", "search")
	w.ok("read")
	w.ask("blocked", "pay")
	w.fail("blocked", "policy_block")
	w.end()
	w.is(w.ask("write", "pay"), AlreadyDone)
	for _, op := range []OpID{"read", "new", "blocked"} {
		d := w.is(w.ask(op, "search"), StopTerminal)
		if d.Terminal == nil || d.Terminal.NextAction != RouteReturn {
			t.Errorf("%s: typed outcome = %+v, want one that goes back to the caller", op, d.Terminal)
		}
	}
	equal(t, "reason of the stored stop", w.op("blocked").Terminal.Reason, "STOP_PERMANENT_OR_UNKNOWN")
	equal(t, "items", w.header().OpenItems, 0)
}

// R-D0: a stop given to an approve is recorded only.
func TestRD0RefusedApproveChangesNothing(t *testing.T) {
	for _, row := range []struct {
		name string
		with []func(*Verb)
	}{
		{"a repeat", nil},
		{"a repeat with a ruling", []func(*Verb){cleared}},
		{"a new action", []func(*Verb){asNew}},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			w.ask("a", "charge")
			w.fail("a", "teapot")
			w.after(time.Hour) // past the deadline
			before, n := *w.op("a"), len(w.ledger)
			d := w.approve("a", row.with...)
			if !d.Verdict.IsStop() {
				t.Fatalf("verdict = %v, want a stop", d.Verdict)
			}
			after := w.op("a")
			equal(t, "recorded", len(w.ledger), n+1)
			equal(t, "stored stop", after.Stop, before.Stop)
			equal(t, "typed outcome", after.Terminal, before.Terminal)
			equal(t, "version", after.Hold.Version, before.Hold.Version)
			equal(t, "kind", after.Hold.Kind, before.Hold.Kind)
			equal(t, "operations", w.header().Operations, 1)
			equal(t, "spent", w.spent().Attempts, 1)
		})
	}
}

// R-D0: a stop never changes a succeeded operation: a read that may not be
// asked for again stays succeeded, and nobody is called.
func TestRD0StopNeverChangesASuccess(t *testing.T) {
	w := emptyWorld(t)
	w.start("r1", limits(2, 0, time.Minute))
	w.ask("a", "search")
	w.ok("a", result("r"))
	w.ask("a", "search")
	w.ok("a", result("r2"))
	for range 3 {
		d := w.is(w.ask("a", "search"), StopAttemptBudget)
		equal(t, "type", d.Terminal.Type, TypeExhausted)
		equal(t, "next", d.Terminal.NextAction, RouteReturn)
	}
	equal(t, "state", w.op("a").State(w.now), OpSucceeded)
	equal(t, "stored stop", w.op("a").Stop, 0)
	equal(t, "result", w.op("a").Result, "r2")
	equal(t, "items", w.header().OpenItems, 0)
}

// R-D1: only a transient failure is repeated; a conditional one goes by R-R.
func TestRD1OnlyTransientIsRepeated(t *testing.T) {
	for code, want := range map[Code]Verdict{
		"timeout":          Retry,
		"rate_limit":       Retry,
		"upstream_5xx":     Retry,
		"connection_reset": Retry,
		"invalid_input":    StopPermanentOrUnknown,
		"policy_block":     StopPermanentOrUnknown,
		"auth_failure":     StopPermanentOrUnknown,
		"schema_violation": StopPermanentOrUnknown,
		"teapot":           StopPermanentOrUnknown,
		"parse_error":      StopUnchangedRequest,
	} {
		t.Run(string(code), func(t *testing.T) {
			w := newWorld(t)
			w.ask("a", "search")
			report := w.fail("a", code)
			d := w.ask("a", "search")
			if want == StopPermanentOrUnknown {
				w.is(report, want)
				w.is(d, StopTerminal)
				return
			}
			w.is(d, want)
		})
	}
}

// R-D2: a write is repeated only if it is idempotent by contract or repeatable
// under its key.
func TestRD2OnlySafeWritesAreRepeated(t *testing.T) {
	for _, row := range []struct {
		tool string
		code Code
		want Verdict
	}{
		{"search", "timeout", Recorded},
		{"put", "timeout", Recorded},
		{"pay", "timeout", Recorded},
		{"charge", "timeout", StopUnsafeToRepeat},
		{"charge", "rate_limit", StopUnsafeToRepeat}, // refused, but only a person may say so
	} {
		t.Run(row.tool+" "+string(row.code), func(t *testing.T) {
			w := newWorld(t)
			w.ask("a", row.tool)
			w.is(w.fail("a", row.code), row.want)
			if row.want == Recorded {
				w.is(w.ask("a", row.tool), Retry)
			}
		})
	}

	w := newWorld(t) // a key that went through another tool is not that key
	w.ask("a", "put")
	w.fail("a", "rate_limit")
	w.is(w.ask("a", "refund"), StopApprovalRequired)
	w.is(w.approve("a"), Retry) // by hand: every earlier attempt was refused
	w.is(w.fail("a", "rate_limit"), StopUnsafeToRepeat)

	w = newWorld(t) // what the catalog says when it is asked counts
	w.ask("a", "pay")
	w.fail("a", "timeout")
	w.change(func(k *Contract) { k.Tools["pay"].Safety = SafetyNever })
	w.is(w.ask("a", "pay"), StopUnsafeToRepeat)
}

// R-D2: on the manual path a write is also safe when it is known that no
// earlier attempt took effect; R-R does not apply then.
func TestRD2ManualPath(t *testing.T) {
	for _, row := range []struct {
		name string
		code Code
		then func(w *world)
		with []func(*Verb)
		want Verdict
	}{
		{"outcome unknown", "timeout", func(*world) {}, nil, StopUnsafeToRepeat},
		{"refused", "rate_limit", func(*world) {}, nil, Retry},
		{"found not to have happened", "timeout", func(w *world) { w.reconcile("a", FindingDidNotHappen) }, nil, Retry},
		{"a reply that could not be used", "parse_error", func(*world) {}, nil, StopUnsafeToRepeat},
		{"such a reply, found not to have happened", "parse_error", func(w *world) { w.reconcile("a", FindingDidNotHappen) }, nil, Retry},
		{"permanent and refused, ruled cleared", "invalid_input", func(*world) {}, []func(*Verb){cleared}, Retry},
		{"permanent, ruled cleared, outcome unknown", "schema_violation", func(*world) {}, []func(*Verb){cleared}, StopUnsafeToRepeat},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			w.policy(func(p *Policy) { p.Routes.Permanent = RouteEscalate })
			w.ask("a", "charge")
			w.fail("a", row.code)
			row.then(w)
			w.is(w.approve("a", row.with...), row.want)
		})
	}

	w := newWorld(t) // every earlier attempt, not the last one
	w.ask("a", "pay")
	w.fail("a", "timeout")
	w.change(func(k *Contract) { k.Tools["pay"].Safety = SafetyNever })
	w.is(w.ask("a", "pay"), StopUnsafeToRepeat)
	w.reconcile("a", FindingDidNotHappen)
	w.approve("a")
	w.fail("a", "timeout")
	w.is(w.approve("a"), StopUnsafeToRepeat)
	w.reconcile("a", FindingDidNotHappen)
	w.is(w.approve("a"), Retry)
}

// R-D3: total attempts of the run.
func TestRD3Attempts(t *testing.T) {
	for most, want := range map[int64]Verdict{1: StopAttemptBudget, 2: StopAttemptBudget, 3: Retry} {
		w := emptyWorld(t)
		w.start("r1", limits(most, 9, time.Minute))
		w.ask("a", "search")
		w.fail("a", "timeout")
		if most > 1 {
			w.ask("b", "search") // a sibling spends from the same
		}
		w.is(w.ask("a", "search"), want)
	}
}

// R-D4: the wait and the call must end before the reserve; it fits at
// equality, and is said at once.
func TestRD4Time(t *testing.T) {
	const timeout, wait, reserve = time.Second, 3 * time.Second, 2 * time.Second
	for _, row := range []struct {
		name     string
		deadline time.Duration
		first    Verdict
		repeat   Verdict
	}{
		{"much", time.Minute, Admit, Retry},
		{"just fits", timeout + wait + reserve, Admit, Retry},
		{"one millisecond less", timeout + wait + reserve - time.Millisecond, Admit, StopTimeBudget},
		{"the first just fits", timeout + reserve, Admit, StopTimeBudget},
		{"one millisecond less for the first", timeout + reserve - time.Millisecond, StopTimeBudget, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := emptyWorld(t)
			l := limits(9, 9, row.deadline)
			l.Reserve = ptr(reserve)
			w.start("r1", l)
			w.policy(func(p *Policy) { p.Backoff = Backoff{Base: wait, Cap: wait, Jitter: JitterNone} })
			w.is(w.ask("a", "search"), row.first)
			if row.repeat == 0 {
				return
			}
			w.fail("a", "timeout")
			w.is(w.ask("a", "search"), row.repeat)
		})
	}
	w := newWorld(t) // a provider that says to wait longer than there is time
	w.ask("a", "search")
	w.fail("a", "rate_limit", func(c *Report) { c.Failure.RetryAfter = time.Minute })
	w.is(w.ask("a", "search"), StopTimeBudget)
	w.is(w.ask("b", "search"), Admit) // there is time left for others
}

// R-D5: side effects, for writes only.
func TestRD5SideEffects(t *testing.T) {
	for _, row := range []struct {
		tool string
		most int64
		want Verdict
	}{
		{"pay", 2, Retry},
		{"pay", 1, StopSideEffectBudget},
		{"search", 0, Retry},
	} {
		w := emptyWorld(t)
		w.start("r1", limits(9, row.most, time.Minute))
		w.ask("a", row.tool)
		w.fail("a", "rate_limit") // it did not happen, and still has cost its side effect
		w.is(w.ask("a", row.tool), row.want)
	}
	w := emptyWorld(t)
	w.start("r1", limits(9, 0, time.Minute))
	w.is(w.ask("a", "pay"), StopSideEffectBudget)
}

// R-D6: the narrower guards, each at its bound.
func TestRD6Guards(t *testing.T) {
	w := newWorld(t) // permits per operation
	w.policy(func(p *Policy) { p.AttemptsPerCall = 2 })
	w.ask("a", "search")
	w.fail("a", "timeout", inner(5)) // what a client makes inside does not count here
	w.is(w.ask("a", "search"), Retry)
	w.fail("a", "timeout")
	w.is(w.ask("a", "search"), StopCallLimit)

	for price, want := range map[int64]Verdict{0: Retry, 40: Retry, 41: StopTokenBudget} {
		w := emptyWorld(t)
		l := limits(9, 9, time.Minute)
		l.RetryTokens = ptr[int64](100)
		w.start("r1", l)
		w.ask("a", "search")
		w.fail("a", "timeout")
		w.ask("a", "search", tokens(60))
		w.fail("a", "timeout")
		w.is(w.ask("a", "search", tokens(price)), want)
	}

	w = emptyWorld(t) // a cap holds for repeats too
	w.start("r1", limits(9, 9, time.Minute), Cap{Agent: "main/a", Attempts: 1})
	w.ask("a", "search", by("main/a"))
	w.fail("a", "timeout")
	d := w.is(w.ask("a", "search", by("main/a")), StopCap)
	equal(t, "a time is known", d.RetryAt.IsZero(), true)
	w.is(w.ask("a", "search", by("main/b")), Retry) // and passes for another
}

// R-D6: the share of repeats among a dependency's permits, in a rolling
// window, from a least number of permits on.
func TestRD6RetryRatio(t *testing.T) {
	for _, row := range []struct {
		name string
		rule RatioRule
		wait time.Duration
		want Verdict
	}{
		// Four first dispatches and a repeat before: (1+1)/(5+1) = 1/3.
		{"at its share", RatioRule{Share: 2.0 / 6, Window: time.Minute, Min: 5}, 0, Retry},
		{"above it", RatioRule{Share: 0.33, Window: time.Minute, Min: 5}, 0, StopRetryRatio},
		{"too few permits to say", RatioRule{Share: 0.33, Window: time.Minute, Min: 6}, 0, Retry},
		{"in another window", RatioRule{Share: 0.33, Window: time.Second, Min: 5}, 2 * time.Second, Retry},
		{"nothing may be repeated", RatioRule{Share: 0, Window: time.Minute, Min: 0}, 0, StopRetryRatio},
		{"everything may", RatioRule{Share: 1, Window: time.Minute, Min: 0}, 0, Retry},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			loose := row.rule
			loose.Share = 1
			w.policy(func(p *Policy) { p.RetryRatio = &loose })
			for _, op := range []OpID{"a", "b", "c", "d"} {
				w.ask(op, "search")
			}
			w.ask("elsewhere", "crawl") // another dependency
			w.fail("a", "timeout")
			w.is(w.ask("a", "search"), Retry)
			w.fail("b", "timeout")
			w.policy(func(p *Policy) { p.RetryRatio = &row.rule })
			w.after(row.wait)
			d := w.is(w.ask("b", "search"), row.want)
			if row.wait == 0 {
				equal(t, "permits seen", d.Reading.Permits, 5)
				equal(t, "repeats seen", d.Reading.Repeats, 1)
			}
			w.is(w.ask("e", "search"), Admit) // a first dispatch is no repeat
		})
	}
}

// R-D7: capped exponential with full jitter, over a provider's floor, from the
// time of the failure.
func TestRD7Delay(t *testing.T) {
	base := Backoff{Base: 250 * time.Millisecond, Cap: 2 * time.Second}
	const most = 1 - 1e-9
	for _, row := range []struct {
		name   string
		b      Backoff
		n      int64
		jitter float64
		floor  time.Duration
		want   time.Duration
	}{
		{"no jitter thrown", base, 1, 0, 0, 0},
		{"the first, at most", base, 1, most, 0, 249 * time.Millisecond},
		{"the first, half", base, 1, 0.5, 0, 125 * time.Millisecond},
		{"the second", base, 2, 0.5, 0, 250 * time.Millisecond},
		{"the third", base, 3, 0.5, 0, 500 * time.Millisecond},
		{"capped", base, 4, 0.5, 0, time.Second},
		{"capped for good", base, 5, 0.5, 0, time.Second},
		{"a huge n", base, 1 << 62, 0.5, 0, time.Second},
		{"a huge n on nothing", Backoff{Cap: time.Hour}, 1 << 62, 0.5, 0, 0},
		{"a cap without end", Backoff{Base: time.Hour, Cap: 1<<63 - 1, Jitter: JitterNone}, 1 << 62, 0, 0, maxDelay},
		{"a cap between two steps", Backoff{Base: time.Second, Cap: 3 * time.Second, Jitter: JitterNone}, 3, 0, 0, 3 * time.Second},
		{"a cap below its base", Backoff{Base: time.Hour, Cap: time.Minute, Jitter: JitterNone}, 1, 0, 0, time.Minute},
		{"without jitter", Backoff{Base: time.Second, Cap: time.Minute, Jitter: JitterNone}, 3, 0.1, 0, 4 * time.Second},
		{"a floor, jitter on top", base, 1, 0.5, 3 * time.Second, 3125 * time.Millisecond},
		{"a floor that has passed", base, 1, 0.5, -time.Hour, 125 * time.Millisecond},
		{"a floor of a fraction", base, 1, 0, 1500*time.Millisecond + 1, 1501 * time.Millisecond},
		{"ten digits of seconds", base, 1, 0.5, 9_223_372_036 * time.Second, maxDelay + 125*time.Millisecond},
		{"the largest floor", base, 1, most, 1<<63 - 1, maxDelay + 249*time.Millisecond},
		{"the zero value", Backoff{}, 1, 0.5, 0, 0},
	} {
		equal(t, row.name, row.b.Delay(row.n, row.jitter, row.floor), row.want)
	}
	for _, jitter := range []float64{-0.1, 1, 2} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a jitter of %v is accepted", jitter)
				}
			}()
			base.Delay(1, jitter, 0)
		}()
	}
}

// R-D7: not_before is the failure's time and the delay, or now.
func TestRD7NotBefore(t *testing.T) {
	for _, row := range []struct {
		name  string
		asked time.Duration // after the failure
		after time.Duration // the provider's floor
		code  Code
		want  time.Duration
	}{
		{"at once", 0, 0, "timeout", 500 * time.Millisecond},
		{"in the wait", 200 * time.Millisecond, 0, "timeout", 500 * time.Millisecond},
		{"after it", 700 * time.Millisecond, 0, "timeout", 700 * time.Millisecond},
		{"a floor", 200 * time.Millisecond, 2 * time.Second, "rate_limit", 2500 * time.Millisecond},
		{"a floor in the past", 200 * time.Millisecond, -time.Hour, "rate_limit", 500 * time.Millisecond},
		{"an absurd floor", 0, 9_223_372_036 * time.Second, "rate_limit", -1},
		{"a repair waits too", 0, 0, "parse_error", 500 * time.Millisecond},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			w.policy(func(p *Policy) { p.Backoff = Backoff{Base: time.Second, Cap: time.Minute} })
			w.jitter = 0.5
			w.ask("a", "search")
			w.after(3 * time.Second)
			w.fail("a", row.code, func(c *Report) { c.Failure.RetryAfter = row.after })
			failed := w.now
			w.after(row.asked)
			d := w.ask("a", "search", input(`{"n":2}`))
			if row.want < 0 {
				w.is(d, StopTimeBudget)
				return
			}
			w.is(d, Retry)
			equal(t, "not before", d.Permit.NotBefore.Sub(failed), row.want)
			equal(t, "state", w.op("a").State(w.now) == OpWaiting, w.now.Before(d.Permit.NotBefore))
			equal(t, "jitter on record", d.Inputs.Jitter, 0.5)
		})
	}
}

// R-D8: what a yes holds.
func TestRD8Permit(t *testing.T) {
	w := newWorld(t)
	w.policy(func(p *Policy) { p.Backoff = Backoff{Base: time.Second, Cap: time.Minute, Jitter: JitterNone} })
	d := w.is(w.ask("a", "pay"), Admit)
	key := w.op("a").Key
	equal(t, "first permit", d.Permit, Permit{
		Op: "a", Ordinal: 1, Key: key, NotBefore: noon, NotAfter: noon.Add(10 * time.Second), Inner: 5,
		Expires: noon.Add(12 * time.Second),
	})
	w.fail("a", "timeout")
	d = w.is(w.ask("a", "pay"), Retry)
	equal(t, "second permit", d.Permit, Permit{
		Op: "a", Ordinal: 2, Key: key, NotBefore: noon.Add(time.Second), NotAfter: noon.Add(11 * time.Second), Inner: 4,
		Expires: noon.Add(13 * time.Second),
	})
	equal(t, "delay", d.Delay, time.Second)
	equal(t, "charge", d.Charge, Counters{Attempts: 1, SideEffects: 1})
	d = w.ask("a", "pay")
	equal(t, "permit of a stop", d.Permit, Permit{})
	equal(t, "is zero", d.Permit.IsZero(), true)
	equal(t, "the zero Decision permits", Verdict(0).Permits(), false)
	for v := range StopBreakerOpen + 2 {
		equal(t, v.String()+" permits", v.Permits(), v == Admit || v == Retry)
	}
}

// R-D9: an admission has no class to look at, no call limit and no tokens.
func TestRD9Admission(t *testing.T) {
	for _, row := range []struct {
		name string
		l    func(*Limits)
		p    func(*Policy)
		caps []Cap
		want Verdict
	}{
		{"all well", func(*Limits) {}, func(*Policy) {}, nil, Admit},
		{"no call may be made twice", func(*Limits) {}, func(p *Policy) { p.AttemptsPerCall = 0 }, nil, Admit},
		{"no tokens", func(l *Limits) { l.RetryTokens = new(int64) }, func(*Policy) {}, nil, Admit},
		{"no repeats", func(*Limits) {}, func(p *Policy) { p.RetryRatio = &RatioRule{Window: time.Second} }, nil, Admit},
		{"no side effect", func(l *Limits) { l.SideEffects = new(int64) }, func(*Policy) {}, nil, StopSideEffectBudget},
		{"no time", func(l *Limits) { l.Deadline = ptr(time.Millisecond) }, func(*Policy) {}, nil, StopTimeBudget},
		{"no share", func(*Limits) {}, func(*Policy) {}, []Cap{{Agent: "main"}}, StopCap},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := emptyWorld(t)
			l := limits(1, 1, time.Minute)
			row.l(&l)
			w.policy(row.p)
			w.start("r1", l, row.caps...)
			d := w.is(w.ask("a", "pay", tokens(9)), row.want)
			if d.Verdict == Admit {
				equal(t, "delay", d.Delay, 0)
				equal(t, "charge", d.Charge, Counters{Attempts: 1, SideEffects: 1})
			}
		})
	}
}

// R-D10: which stops end an operation, and which pass.
func TestRD10TerminalAndPassing(t *testing.T) {
	ends := map[Verdict]bool{
		StopPermanentOrUnknown: true, StopUnsafeToRepeat: true, StopAttemptBudget: true, StopTimeBudget: true,
		StopSideEffectBudget: true, StopCallLimit: true, StopTokenBudget: true, StopRepeatedRefusal: true,
	}
	for v := range StopBreakerOpen + 2 {
		equal(t, v.String()+" ends", v.Ends(), ends[v])
		equal(t, v.String()+" is a stop", v.IsStop(), v >= StopClaimed && v <= StopBreakerOpen)
	}

	w := newWorld(t) // a passing stop leaves no trace on its operation
	w.ask("a", "pay")
	w.is(w.ask("a", "pay"), StopInFlight)
	w.is(w.ask("a", "pay", input(`{"n":2}`)), StopKeyConflict)
	w.behind = true
	w.is(w.ask("b", "pay"), StopClock)
	w.behind = false
	w.is(w.ask("b", "pay"), Admit)
	w.fail("a", "timeout")
	w.is(w.ask("a", "pay"), Retry)
	equal(t, "items", w.header().OpenItems, 0)

	w = emptyWorld(t) // a terminal one does, though its cause has gone
	w.start("r1", limits(9, 1, time.Minute))
	w.ask("first", "pay")
	w.is(w.ask("a", "pay"), StopSideEffectBudget)
	w.is(w.ask("a", "search"), StopTerminal)
	w.is(w.ask("b", "search"), Admit)
}
