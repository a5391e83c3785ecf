package gate

import (
	"testing"
	"time"
)

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
