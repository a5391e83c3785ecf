package gate

import "time"

// Reading returns what a decision at now sees of the dependency. A nil
// dependency has seen nothing. Whether an open breaker may be probed follows
// from the time (R-K2).
func (d *Dependency) Reading(now time.Time, b *BreakerRule, r *RatioRule) Reading {
	out := Reading{Guarded: b != nil || r != nil}
	if !out.Guarded || d == nil {
		return out
	}
	if b != nil {
		out.Breaker, out.Until = d.Breaker.At(now), d.Breaker.Until
		out.Probing = d.Breaker.State == BreakerHalfOpen && d.Breaker.Ordinal > 0
		out.Requests, out.Failures = d.requests(now, b.Window)
	}
	if r != nil {
		out.Permits, out.Repeats = d.permits(now, r.Window)
	}
	return out
}

// window is how much of a dependency's past its guards look at.
func window(b *BreakerRule, r *RatioRule) time.Duration {
	var w time.Duration
	if b != nil {
		w = b.Window
	}
	if r != nil {
		w = max(w, r.Window)
	}
	return w
}

// At returns the breaker's state at now: an open one whose cool-down has ended
// is half-open.
func (b *Breaker) At(now time.Time) BreakerState {
	if b.State == BreakerOpen && !now.Before(b.Until) {
		return BreakerHalfOpen
	}
	return b.State
}

func (d *Dependency) requests(now time.Time, window time.Duration) (requests, failures int64) {
	from := now.Add(-window).UnixMilli()
	for i := range d.Buckets {
		if k := &d.Buckets[i]; k.Start+bucketWidth.Milliseconds() > from {
			requests, failures = requests+k.Requests, failures+k.Failures
		}
	}
	return requests, failures
}

func (d *Dependency) permits(now time.Time, window time.Duration) (permits, repeats int64) {
	from := now.Add(-window).UnixMilli()
	for i := range d.Buckets {
		if k := &d.Buckets[i]; k.Start+bucketWidth.Milliseconds() > from {
			permits, repeats = permits+k.Permits, repeats+k.Repeats
		}
	}
	return permits, repeats
}

// afterReport returns the breaker as a report leaves it, nil if it does not
// change: a probe that fails transiently opens it afresh, any other answer of
// the probe closes it; a closed one trips when, on a transient failure, the
// window holds enough of them. Reports of other attempts never move a breaker
// that is not closed.
//
// Source: [B] (circuit breaker), R-K1, R-K2.
func (d *Dependency) afterReport(now time.Time, rule *BreakerRule, probe, transient bool, seen Reading) *Breaker {
	opened := &Breaker{State: BreakerOpen, Since: now, Until: now.Add(rule.CoolDown)}
	switch {
	case probe && transient:
		return opened
	case probe:
		return &Breaker{State: BreakerClosed, Since: now}
	case d != nil && d.Breaker.State != BreakerClosed, !transient:
		return nil
	}
	failures, requests := seen.Failures+1, seen.Requests+1
	if failures >= rule.Failures && float64(failures) >= rule.Share*float64(requests) {
		return opened
	}
	return nil
}

// fold adds what a decision did to the window and the breaker.
func (d Dependency) fold(at time.Time, c *DependencyChange) Dependency {
	d.Rev++
	d.Window = max(d.Window, c.Window, bucketWidth) // another policy may look further back
	if c.Permit || c.Request {
		d.Buckets = d.counted(at, c)
	}
	if c.Breaker != nil {
		d.Breaker = *c.Breaker
	}
	if c.Empties {
		d.Buckets = nil
	}
	return d
}

// counted returns the buckets with one more decision in them, and without
// those that have left the window. The old slice is not changed.
func (d *Dependency) counted(at time.Time, c *DependencyChange) []Bucket {
	width := bucketWidth.Milliseconds()
	start := at.UnixMilli() / width * width
	from := at.Add(-d.Window).UnixMilli()
	out := make([]Bucket, 0, len(d.Buckets)+1)
	for _, k := range d.Buckets {
		if k.Start+width > from {
			out = append(out, k)
		}
	}
	// Chains of different runs may come a moment out of order.
	i := len(out)
	for i > 0 && out[i-1].Start >= start {
		i--
	}
	if i == len(out) || out[i].Start != start {
		out = append(out, Bucket{})
		copy(out[i+1:], out[i:])
		out[i] = Bucket{Start: start}
	}
	k := &out[i]
	for _, one := range [...]struct {
		on bool
		n  *int64
	}{{c.Permit, &k.Permits}, {c.Repeat, &k.Repeats}, {c.Request, &k.Requests}, {c.Failure, &k.Failures}} {
		if one.on {
			*one.n++
		}
	}
	return out
}
