package gate

import "time"

// Effect says whether a tool changes external state. The zero value is no
// effect and refused in a contract: a tool has to say.
type Effect uint8

// The effects.
const (
	EffectRead  Effect = iota + 1 // changes nothing outside
	EffectWrite                   // may change external state
)

var effectNames = [...]string{EffectRead: "read", EffectWrite: "write"}

// String returns the name.
func (e Effect) String() string { return nameOf(effectNames[:], e, "Effect") }

// MarshalText writes the name.
func (e Effect) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText reads a name.
func (e *Effect) UnmarshalText(b []byte) error {
	return parseName(effectNames[:], e, "effect", string(b))
}

// RetrySafety is a tool's contract about repeating a call. The zero value is
// never: what nobody promised is not safe.
//
// Source: [A5].
type RetrySafety uint8

// The contracts.
const (
	SafetyNever      RetrySafety = iota // a repeat may do it twice
	SafetyKey                           // safe under the same idempotency key
	SafetyIdempotent                    // a repeat changes nothing more
)

var safetyNames = [...]string{SafetyNever: "never", SafetyKey: "idempotency-key", SafetyIdempotent: "idempotent"}

// String returns the name.
func (s RetrySafety) String() string { return nameOf(safetyNames[:], s, "RetrySafety") }

// MarshalText writes the name.
func (s RetrySafety) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a name.
func (s *RetrySafety) UnmarshalText(b []byte) error {
	return parseName(safetyNames[:], s, "retry_safety", string(b))
}

// Approval says who must agree before a tool is dispatched (R-A6, R-P8).
type Approval uint8

// The approvals.
const (
	ApprovalNone      Approval = iota // nobody
	ApprovalRequired                  // one person, for each dispatch
	ApprovalTwoPerson                 // two different people, neither of them the asker
)

var approvalNames = [...]string{ApprovalNone: "none", ApprovalRequired: "required", ApprovalTwoPerson: "two-person"}

// String returns the name.
func (a Approval) String() string { return nameOf(approvalNames[:], a, "Approval") }

// MarshalText writes the name.
func (a Approval) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads a name.
func (a *Approval) UnmarshalText(b []byte) error {
	return parseName(approvalNames[:], a, "approval", string(b))
}

// Tool is one entry of the catalog.
type Tool struct {
	Effect     Effect            `json:"effect"`
	Safety     RetrySafety       `json:"retry_safety"` // a read is idempotent
	Dependency string            `json:"dependency"`   // the shared downstream; the tool's name unless said
	Timeout    time.Duration     `json:"timeout"`      // the call's own timeout; > 0
	Approval   Approval          `json:"approval"`
	Codes      map[Code]CodeRule `json:"codes,omitempty"`      // looked up first (R-C1)
	Volatile   []string          `json:"volatile,omitempty"`   // top-level input fields that do not make another action (R-A2)
	Provenance string            `json:"provenance,omitempty"` // where the entry came from, for people
}

// CodeRule is what a contract says of one code.
type CodeRule struct {
	Class   Class `json:"class"`
	Refused bool  `json:"refused,omitempty"` // documented as refused before execution (R-C4)
}
