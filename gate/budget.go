package gate

import (
	"fmt"
	"time"
)

// Limits are what a run may spend, as its owner asks for them. They are made
// into a Budget when the run starts.
//
//	Attempts      1 to 1,000,000 dispatches, the first of each operation included
//	Deadline      1 ms to 8,760 h from the run's start
//	Reserve       0 or more, less than Deadline
//	SideEffects   0 to 1,000,000 dispatches of writes
//	RetryTokens   0 to 10^12; nil: repeats are not limited by tokens
//
// A nil field other than RetryTokens and Reserve was not given, which is an
// error that names it: no numbers are built in (R-B1).
type Limits struct {
	Attempts    *int64
	Deadline    *time.Duration
	Reserve     *time.Duration
	SideEffects *int64
	RetryTokens *int64
}

// The largest limits.
const (
	MaxCount    = 1_000_000
	MaxTokens   = 1_000_000_000_000
	MaxDeadline = 8760 * time.Hour
)

// IsZero reports whether no limit is given at all.
func (l Limits) IsZero() bool { return l == Limits{} }

// Check returns an InputError that names the first limit that is missing or
// out of its range.
func (l Limits) Check() error {
	switch {
	case l.Attempts == nil:
		return missingLimit("attempts")
	case l.Deadline == nil:
		return missingLimit("deadline")
	case l.SideEffects == nil:
		return missingLimit("side_effects")
	}
	if err := checkCount("limits.attempts", *l.Attempts, 1, MaxCount); err != nil {
		return err
	}
	switch {
	case *l.Deadline < time.Millisecond || *l.Deadline > MaxDeadline:
		return outOfRange("limits.deadline", fmt.Sprintf("1ms to %gh", MaxDeadline.Hours()), l.Deadline.String())
	case l.Reserve != nil && (*l.Reserve < 0 || *l.Reserve >= *l.Deadline):
		return outOfRange("limits.reserve", "0s or more and less than the deadline", l.Reserve.String())
	}
	if err := checkCount("limits.side_effects", *l.SideEffects, 0, MaxCount); err != nil || l.RetryTokens == nil {
		return err
	}
	return checkCount("limits.retry_tokens", *l.RetryTokens, 0, MaxTokens)
}

func missingLimit(name string) error {
	return &InputError{Field: "limits." + name, Want: "a limit, or a policy that holds one", Got: "nothing"}
}

// checkCount says that a number of things is out of its range.
func checkCount(field string, n, least, most int64) error {
	if n < least || n > most {
		return outOfRange(field, fmt.Sprintf("%d to %d", least, most), fmt.Sprint(n))
	}
	return nil
}

func outOfRange(field, want, got string) error {
	return &InputError{Field: field, Want: want, Got: got}
}

// Budget returns the budget of a run that starts at now. l has passed Check.
func (l Limits) Budget(now time.Time) Budget {
	b := Budget{
		MaxAttempts: *l.Attempts, MaxSideEffects: *l.SideEffects,
		Started: now, Deadline: now.Add(l.Deadline.Truncate(time.Millisecond)),
	}
	if l.Reserve != nil {
		b.Reserve = l.Reserve.Truncate(time.Millisecond)
	}
	if l.RetryTokens != nil {
		b.MaxRetryTokens, b.TokensLimited = *l.RetryTokens, true
	}
	return b
}

// Budget is the one allowance of a run. Every agent, sub-agent, queue message
// and resumed worker of the run spends from the same Budget; none makes its own.
//
// The limits are an AND gate: a dispatch needs all that apply to it. Limits
// are absolute and counters only grow, so a Budget read later is never more
// generous than one read earlier (R-B3, R-B7).
//
//	limit         unit        charged                                 source step
//	attempts      dispatches  before every dispatch, the first too    2
//	deadline      UTC time    never; it passes                        2, 7
//	side effects  dispatches  before every dispatch of a write        2
//	retry tokens  tokens      before every repeat                     [B]
//
// The zero Budget allows nothing.
//
// Source: [A2] (table), [A3] (reserve), [B] (tokens), R-B1 to R-B8.
type Budget struct {
	MaxAttempts    int64         // total dispatches in the run; >= 1
	MaxSideEffects int64         // total dispatches of writes; >= 0
	MaxRetryTokens int64         // total tokens of repeats; >= 0; counts only if TokensLimited
	TokensLimited  bool          // whether repeats are limited by tokens
	Started        time.Time     // UTC; elapsed time counts from here
	Deadline       time.Time     // UTC; the instant by which the run must have answered
	Reserve        time.Duration // part of the deadline kept for the answer; >= 0

	Spent Counters // only grows; past a limit only by a reported surplus (R-B8)
}

// Counters are what has been spent. SideEffects is at most Attempts.
type Counters struct {
	Attempts    int64
	SideEffects int64
	RetryTokens int64
}

// Plus returns the sum.
func (c Counters) Plus(d Counters) Counters {
	return Counters{c.Attempts + d.Attempts, c.SideEffects + d.SideEffects, c.RetryTokens + d.RetryTokens}
}

// AttemptsLeft returns the dispatches left to the whole run, at least 0.
func (b Budget) AttemptsLeft() int64 { return max(0, b.MaxAttempts-b.Spent.Attempts) }

// SideEffectsLeft returns the dispatches of writes left, at least 0.
func (b Budget) SideEffectsLeft() int64 { return max(0, b.MaxSideEffects-b.Spent.SideEffects) }

// TokensFit reports whether a repeat that costs n tokens fits in what is left.
func (b Budget) TokensFit(n int64) bool {
	return !b.TokensLimited || n <= b.MaxRetryTokens-b.Spent.RetryTokens
}

// Fits reports whether a call that starts at notBefore and may take timeout
// ends before the reserve begins. It fits at equality (R-D4).
func (b Budget) Fits(notBefore time.Time, timeout time.Duration) bool {
	return !notBefore.Add(timeout).After(b.Deadline.Add(-b.Reserve))
}

// Left returns the time until the deadline less the reserve, at least 0.
func (b Budget) Left(now time.Time) time.Duration {
	return max(0, b.Deadline.Add(-b.Reserve).Sub(now))
}

// Overdrawn reports whether a counter stands past its limit, which only a
// reported surplus can bring about (R-B8).
func (b Budget) Overdrawn() bool {
	return b.Spent.Attempts > b.MaxAttempts || b.Spent.SideEffects > b.MaxSideEffects
}
