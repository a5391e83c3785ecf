package gate

import (
	"fmt"
	"time"
)

// Jitter says how a delay is spread. The zero value is full jitter.
type Jitter uint8

// The jitters.
const (
	JitterFull Jitter = iota // uniform between zero and the capped step
	JitterNone               // the capped step itself
)

var jitterNames = [...]string{JitterFull: "full", JitterNone: "none"}

// String returns the name.
func (j Jitter) String() string { return nameOf(jitterNames[:], j, "Jitter") }

// MarshalText writes the name.
func (j Jitter) MarshalText() ([]byte, error) { return []byte(j.String()), nil }

// UnmarshalText reads a name.
func (j *Jitter) UnmarshalText(b []byte) error {
	return parseName(jitterNames[:], j, "jitter", string(b))
}

// Backoff is capped exponential backoff: the step before the repeat of the
// n-th attempt is min(Cap, Base·2^(n−1)).
//
// Source: [A7], [B] (the arithmetic), R-D7.
type Backoff struct {
	Base   time.Duration `json:"base"` // >= 0
	Cap    time.Duration `json:"cap"`  // >= Base
	Jitter Jitter        `json:"jitter"`
}

// Delay returns how long to wait after the n-th attempt failed, in whole
// milliseconds. floor is the provider's Retry-After, with the jitter on top;
// a floor that is not positive is none, and one that is longer than any
// deadline is cut to ten times the longest.
//
// n counts from 1. jitter is a fraction in [0, 1); another value is a bug of
// the caller and panics.
func (b Backoff) Delay(n int64, jitter float64, floor time.Duration) time.Duration {
	if !(jitter >= 0 && jitter < 1) {
		panic(fmt.Sprintf("gate: jitter %v is not in [0, 1)", jitter))
	}
	most := min(b.Cap, maxDelay)
	step := min(b.Base, most)
	for i := int64(1); i < n && 0 < step && step < most; i++ {
		step = min(most, 2*step)
	}
	if b.Jitter == JitterFull {
		step = time.Duration(jitter * float64(step))
	}
	step = step.Truncate(time.Millisecond)
	if floor <= 0 {
		return step
	}
	floor = min(maxDelay, floor)
	// A Retry-After that ends within a millisecond has not ended before it.
	if up := floor.Truncate(time.Millisecond); up < floor {
		floor = up + time.Millisecond
	}
	return floor + step
}

// maxDelay keeps sums of an instant, a delay and a timeout far from overflow.
// It is longer than any deadline (MaxDeadline).
const maxDelay = 10 * MaxDeadline
