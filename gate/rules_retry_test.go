package gate

import (
	"testing"
	"time"
)

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
