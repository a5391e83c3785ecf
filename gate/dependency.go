package gate

import "time"

// BreakerState is the state of a dependency's breaker. The zero value is
// closed: requests pass.
type BreakerState uint8

// The states.
const (
	BreakerClosed   BreakerState = iota // requests pass
	BreakerOpen                         // none pass until the cool-down ends
	BreakerHalfOpen                     // one probe at a time passes
)

var breakerNames = [...]string{BreakerClosed: "closed", BreakerOpen: "open", BreakerHalfOpen: "half-open"}

// String returns the name.
func (s BreakerState) String() string { return nameOf(breakerNames[:], s, "BreakerState") }

// MarshalText writes the name.
func (s BreakerState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a name.
func (s *BreakerState) UnmarshalText(b []byte) error {
	return parseName(breakerNames[:], s, "breaker", string(b))
}

// Dependency is the shared downstream of one or more tools: a rolling window
// of what went to it, and its breaker. It is kept only for dependencies that a
// breaker or a ratio guards. The zero value has seen nothing and is closed.
type Dependency struct {
	Name    string
	Rev     uint64 // grows with every decision that touches it
	Breaker Breaker
	Window  time.Duration // how much of the past is kept
	Buckets []Bucket      // oldest first; none empty
}

// Breaker is the stored part of a breaker. Whether an open one may be probed
// follows from the time (Reading).
type Breaker struct {
	State   BreakerState
	Since   time.Time // of the last change
	Until   time.Time // open: when the cool-down ends
	Probe   Ref       // half-open: the operation whose attempt probes
	Ordinal int64     // of the probe
}

// bucketWidth is the grain of the window. What is at most one grain older than
// the window still counts.
const bucketWidth = 100 * time.Millisecond

// Bucket counts what happened in one grain of time.
type Bucket struct {
	Start    int64 // Unix ms, a multiple of the grain
	Permits  int64
	Repeats  int64 // permits that repeat
	Requests int64 // attempts reported, each once
	Failures int64 // of them transient
}

// Reading is what a decision saw of a dependency (R-K3). The zero value is the
// reading of one that nothing guards.
type Reading struct {
	Guarded  bool // a breaker or a ratio applies
	Breaker  BreakerState
	Probing  bool      // half-open, and the one probe is out
	Until    time.Time // open: when the cool-down ends; probing: when the probe's lease ends, if known
	Requests int64     // in the breaker's window
	Failures int64
	Permits  int64 // in the ratio's window
	Repeats  int64
}

// DependencyChange is what a decision adds to a dependency's window, and the
// change of its breaker. The zero value changes nothing.
type DependencyChange struct {
	On      string        // the dependency; empty for none
	Window  time.Duration // how much of the past to keep
	Permit  bool
	Repeat  bool
	Request bool
	Failure bool
	Breaker *Breaker // as it stands after, if it changed
	Empties bool     // the window is emptied (the breaker closed)
}
