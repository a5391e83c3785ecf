package gate

import (
	"time"
	"unicode/utf8"
)

// Code is a provider's or a normaliser's name for a cause of failure, such as
// "rate_limit". It alone decides the class, never the message (R-C1).
type Code string

// NoReport is the gate's own code for an attempt that nobody reported (R-C5).
const NoReport Code = "no_report"

// Class says what a cause of failure is like. The zero value is the class of a
// code that the contract does not list; it stops. On screens it is "unlisted
// code", never a bare "unknown".
type Class uint8

// The classes.
const (
	ClassUnknown     Class = iota // not listed: stop
	ClassTransient                // may clear by itself
	ClassConditional              // the reply could not be used: one changed repeat
	ClassPermanent                // the same input gets the same refusal
)

var classNames = [...]string{ClassUnknown: "unknown", ClassTransient: "transient", ClassConditional: "conditional", ClassPermanent: "permanent"}

// String returns the name, "unknown" for the zero value.
func (c Class) String() string { return nameOf(classNames[:], c, "Class") }

// MarshalText writes the name.
func (c Class) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads a name.
func (c *Class) UnmarshalText(b []byte) error {
	return parseName(classNames[:], c, "class", string(b))
}

// Outcome says what is known of an attempt's effect. It is apart from the
// class of its cause (R-C4). The zero value is an attempt not settled yet.
type Outcome uint8

// The outcomes.
const (
	OutcomePending   Outcome = iota // nobody has reported yet
	OutcomeSucceeded                // it happened
	OutcomeFailed                   // it did not happen
	OutcomeUnknown                  // nobody knows whether the write happened
)

var outcomeNames = [...]string{OutcomePending: "", OutcomeSucceeded: "succeeded", OutcomeFailed: "failed", OutcomeUnknown: "unknown"}

// String returns the name, empty for the zero value.
func (o Outcome) String() string { return nameOf(outcomeNames[:], o, "Outcome") }

// MarshalText writes the name.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads a name.
func (o *Outcome) UnmarshalText(b []byte) error {
	return parseName(outcomeNames[:], o, "outcome", string(b))
}

// Failure is a structured error of one attempt, as its caller reported it.
// Everything but the code is evidence for people and decides nothing, save
// RetryAfter, which is a floor for the delay (R-D7). All text is hostile. The
// zero Failure is none.
type Failure struct {
	Code       Code          `json:"code"`
	Message    string        `json:"message,omitempty"` // cut at MaxMessage bytes, and then Cut is set
	Cut        bool          `json:"cut,omitempty"`     // the message, or another of its texts, was longer
	Status     string        `json:"status,omitempty"`  // the provider's, such as "504"
	Field      string        `json:"field,omitempty"`   // the offending field
	Suggest    string        `json:"suggest,omitempty"` // a suggested repair
	RetryAfter time.Duration `json:"-"`                 // from the provider; 0: none, or not in the future
}

// How much is kept of what a report says, in bytes (R-C7). A code that has been
// cut is longer than any that a contract lists, and so stays unlisted.
const (
	MaxMessage = 8 << 10 // of a failure's message
	MaxDetail  = 1 << 10 // of its status, field and suggestion, each
	MaxCode    = 256     // of its code
	MaxResult  = 4 << 10 // of the reference of a result: a longer one is refused
)

// cut returns the failure with each text as long as it may be, and says so: no
// report is refused for its size (R-C7).
func (f Failure) cut() Failure {
	keep := func(text string, most int) string {
		if len(text) <= most {
			return text
		}
		n := most
		for n > most-utf8.UTFMax && !utf8.RuneStart(text[n]) {
			n--
		}
		f.Cut = true
		return text[:n]
	}
	f.Code, f.Message = Code(keep(string(f.Code), MaxCode)), keep(f.Message, MaxMessage)
	f.Status, f.Field, f.Suggest = keep(f.Status, MaxDetail), keep(f.Field, MaxDetail), keep(f.Suggest, MaxDetail)
	return f
}
