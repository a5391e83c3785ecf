package gate

import "fmt"

// Verdict is the answer of one gate decision. The zero value is not a verdict,
// so a decision that was never filled in can't be read as a permission.
type Verdict uint8

// The verdicts: the two that permit, the four that permit nothing and refuse
// nothing, and the stops in the order in which they are looked at.
const (
	Admit                  Verdict = iota + 1 // ADMIT: a first dispatch may go
	Retry                                     // RETRY_WITH_SHARED_CONTEXT: a repeat may go
	AlreadyDone                               // ALREADY_DONE: the write has succeeded before
	Recorded                                  // RECORDED: noted, nothing decided
	Resolved                                  // RESOLVED: a person has settled it
	Stale                                     // STALE: what was shown has moved
	StopClaimed                               // STOP_CLAIMED
	StopTerminal                              // STOP_TERMINAL
	StopKeyConflict                           // STOP_KEY_CONFLICT
	StopInFlight                              // STOP_IN_FLIGHT
	StopClock                                 // STOP_CLOCK
	StopApprovalRequired                      // STOP_APPROVAL_REQUIRED
	StopSamePerson                            // STOP_SAME_PERSON
	StopPermanentOrUnknown                    // STOP_PERMANENT_OR_UNKNOWN, step 1
	StopUnsafeToRepeat                        // STOP_UNSAFE_TO_REPEAT, step 2
	StopRepeatedRefusal                       // STOP_REPEATED_REFUSAL
	StopUnchangedRequest                      // STOP_UNCHANGED_REQUEST
	StopAttemptBudget                         // STOP_ATTEMPT_BUDGET, step 3
	StopTimeBudget                            // STOP_TIME_BUDGET, step 4
	StopSideEffectBudget                      // STOP_SIDE_EFFECT_BUDGET, step 5
	StopCallLimit                             // STOP_CALL_LIMIT
	StopCap                                   // STOP_CAP
	StopTokenBudget                           // STOP_TOKEN_BUDGET
	StopRetryRatio                            // STOP_RETRY_RATIO
	StopBreakerOpen                           // STOP_BREAKER_OPEN
)

var verdictNames = [...]string{
	Admit: "ADMIT", Retry: "RETRY_WITH_SHARED_CONTEXT",
	AlreadyDone: "ALREADY_DONE", Recorded: "RECORDED", Resolved: "RESOLVED", Stale: "STALE",
	StopClaimed: "STOP_CLAIMED", StopTerminal: "STOP_TERMINAL", StopKeyConflict: "STOP_KEY_CONFLICT",
	StopInFlight: "STOP_IN_FLIGHT", StopClock: "STOP_CLOCK", StopApprovalRequired: "STOP_APPROVAL_REQUIRED",
	StopSamePerson: "STOP_SAME_PERSON", StopPermanentOrUnknown: "STOP_PERMANENT_OR_UNKNOWN",
	StopUnsafeToRepeat: "STOP_UNSAFE_TO_REPEAT", StopRepeatedRefusal: "STOP_REPEATED_REFUSAL",
	StopUnchangedRequest: "STOP_UNCHANGED_REQUEST", StopAttemptBudget: "STOP_ATTEMPT_BUDGET",
	StopTimeBudget: "STOP_TIME_BUDGET", StopSideEffectBudget: "STOP_SIDE_EFFECT_BUDGET",
	StopCallLimit: "STOP_CALL_LIMIT", StopCap: "STOP_CAP", StopTokenBudget: "STOP_TOKEN_BUDGET",
	StopRetryRatio: "STOP_RETRY_RATIO", StopBreakerOpen: "STOP_BREAKER_OPEN",
}

// String returns the verdict's name as it is printed, sent and stored.
func (v Verdict) String() string { return nameOf(verdictNames[:], v, "Verdict") }

// MarshalText writes the name.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads a name; an unlisted one is an InputError.
func (v *Verdict) UnmarshalText(text []byte) error {
	return parseName(verdictNames[:], v, "verdict", string(text))
}

// Permits reports whether the verdict lets one dispatch go.
func (v Verdict) Permits() bool { return v == Admit || v == Retry }

// IsStop reports whether the verdict refuses.
func (v Verdict) IsStop() bool { return v >= StopClaimed && v <= StopBreakerOpen }

// Ends reports whether the stop is terminal for its operation: it is stored,
// and later asks find it (R-D0, R-D10).
func (v Verdict) Ends() bool {
	switch v {
	case StopPermanentOrUnknown, StopUnsafeToRepeat, StopAttemptBudget, StopTimeBudget,
		StopSideEffectBudget, StopCallLimit, StopTokenBudget, StopRepeatedRefusal:
		return true
	default:
		return false
	}
}

// Exhausts names the limit of the run that the verdict found spent: attempts,
// elapsed_time, side_effects or retry_tokens; empty for any other (R-T1).
func (v Verdict) Exhausts() string {
	switch v {
	case StopAttemptBudget:
		return "attempts"
	case StopTimeBudget:
		return "elapsed_time"
	case StopSideEffectBudget:
		return "side_effects"
	case StopTokenBudget:
		return "retry_tokens"
	default:
		return ""
	}
}

// enum is what the small enumerations of this package have in common: a name
// per value, and a zero value that the table leaves empty or names.
type enum interface{ ~uint8 }

func nameOf[E enum](names []string, e E, kind string) string {
	if int(e) < len(names) && (names[e] != "" || e == 0) {
		return names[e]
	}
	return fmt.Sprintf("%s(%d)", kind, e)
}

func parseName[E enum](names []string, e *E, what, s string) error {
	for i, n := range names {
		if n == s && (n != "" || i == 0) {
			*e = E(i) //nolint:gosec // the tables are shorter than 256
			return nil
		}
	}
	want := ""
	for _, n := range names {
		if n == "" {
			continue
		}
		if want != "" {
			want += ", "
		}
		want += n
	}
	return &InputError{Field: what, Want: "one of " + want, Got: fmt.Sprintf("%q", s)}
}
