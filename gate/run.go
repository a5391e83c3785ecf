package gate

import (
	"strings"
	"time"
)

// Run is the header of one run: its budget, and what screens show of it
// without reading its operations. The zero Run is not a run.
type Run struct {
	ID     RunID
	Root   RunID  // the first run of its line (new-run); its own id otherwise
	Parent RunID  // the run that it goes on from; empty otherwise
	Next   RunID  // the run that goes on from it; empty otherwise
	Rev    uint64 // grows with every decision of the run
	Opened uint64 // seq of the decision that started it
	Last   uint64 // seq of its newest decision
	Cause  uint64 // seq of the decision that a new-run answers; 0 otherwise

	Agent     string // who runs it
	Policy    string // the named policy; empty is the starter
	Limits    Digest // of the explicit limits and caps asked for (R-B2)
	Budget    Budget
	Caps      []Cap // sorted by agent; nil for none
	Refused   bool  // one of its limits has refused an ask (R-T2)
	Overdrawn bool  // R-B8
	Ending    bool  // asked to end; new asks are refused
	Ended     time.Time

	InFlight    int64 // attempts that nobody has reported
	Operations  int64
	OpenItems   int64 // open and dead-letter
	DeadLetters int64
	LastCode    Code // of the last failure reported
	LastAt      time.Time
}

// Cap is a share of a run's attempts set aside for an agent path and the
// paths below it. It only narrows (R-B9). Attempts is 0 to MaxCount, and 0 lets
// that path dispatch nothing; a command with a zero Cap is refused.
type Cap struct {
	Agent    string
	Attempts int64
	Spent    int64
}

// covers reports whether the cap bounds an agent: the path itself or one below.
func (c Cap) covers(agent string) bool {
	return agent == c.Agent || strings.HasPrefix(agent, c.Agent+"/")
}

// RunState is what a run looks like from outside.
type RunState uint8

// The states of a run.
const (
	RunActive    RunState = iota + 1 // may ask
	RunExhausted                     // one of its limits has refused an ask; others may still pass (R-T2)
	RunEnded                         // closed by its owner; nothing is in flight
)

var runStateNames = [...]string{RunActive: "active", RunExhausted: "exhausted", RunEnded: "ended"}

// String returns the name.
func (s RunState) String() string { return nameOf(runStateNames[:], s, "RunState") }

// MarshalText writes the name.
func (s RunState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a name.
func (s *RunState) UnmarshalText(b []byte) error {
	return parseName(runStateNames[:], s, "state", string(b))
}

// State returns the run's state.
func (r *Run) State() RunState {
	switch {
	case !r.Ended.IsZero():
		return RunEnded
	case r.Refused:
		return RunExhausted
	default:
		return RunActive
	}
}

// Idle reports whether nothing more can happen to the run by itself: it has
// ended, or its deadline has passed, and nothing is in flight. A store may let
// it go from memory then.
func (r *Run) Idle(now time.Time) bool {
	return r.InFlight == 0 && (!r.Ended.IsZero() || now.After(r.Budget.Deadline))
}
