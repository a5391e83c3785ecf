package gate

import (
	"testing"
	"time"
)

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
