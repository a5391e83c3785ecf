package gate

import "time"

// gateTime is the gate's time: monotonic from the instant the process began,
// and never below the highest time in the ledger (R-B10).
type gateTime struct {
	high   time.Time // of the ledger when the process began
	base   time.Time // the gate's time at origin
	origin time.Duration
	behind bool // the wall clock is more than ClockTolerance behind high
}

// ClockTolerance is how far the wall clock may be behind the ledger (R-B10).
const ClockTolerance = 2 * time.Second

func newGateTime(high time.Time, c Clock) gateTime {
	g := gateTime{high: high, behind: true}
	g.look(c)
	return g
}

// look reads the wall clock, and starts time when it is not behind.
func (g *gateTime) look(c Clock) {
	wall := Truncated(c.Wall())
	if wall.Before(g.high.Add(-ClockTolerance)) {
		return
	}
	g.behind, g.origin, g.base = false, c.Elapsed(), wall
	if wall.Before(g.high) {
		g.base = g.high
	}
}

// read returns the gate's time, and whether it stands still.
func (g *gateTime) read(c Clock) (now time.Time, behind bool) {
	if g.behind {
		g.look(c)
	}
	if g.behind {
		return g.high, true
	}
	return Truncated(g.base.Add(c.Elapsed() - g.origin)), false
}

// Truncated returns an instant as the gate keeps it: UTC, whole milliseconds.
func Truncated(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
