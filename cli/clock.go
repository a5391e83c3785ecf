package cli

import (
	"math/rand/v2"
	"time"

	"golang.org/x/sys/unix"

	"tollgate/gate"
)

// systemClock is the gate's clock on a real machine. Elapsed is read from a
// clock that goes on while the machine sleeps, so that a suspended laptop does
// not lengthen a run (R-B10).
type systemClock struct{}

var _ gate.Clock = systemClock{}

// Wall returns the wall clock.
func (systemClock) Wall() time.Time { return time.Now() }

// Elapsed returns the time since the machine started.
func (systemClock) Elapsed() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(clockWithSleep, &ts); err != nil {
		panic("the clock that counts sleep cannot be read: " + err.Error())
	}
	return time.Duration(ts.Nano())
}

// jitter returns fractions in [0, 1) for the gate, which stores them.
func jitter() float64 { return rand.Float64() }
