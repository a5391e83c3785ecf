package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"tollgate/escalation"
	"tollgate/gate"
)

// The bodies of requests. Both ends use them: the server reads them strictly,
// the client writes them. Absent is left out, never null.

type startBody struct {
	Run    string             `json:"run"`
	Agent  string             `json:"agent,omitempty"`
	Policy string             `json:"policy,omitempty"`
	Limits *limitsBody        `json:"limits,omitempty"`
	Caps   map[string]capBody `json:"caps,omitempty"` // by agent
}

type limitsBody struct {
	Attempts    *int64 `json:"attempts,omitempty"`
	Deadline    *span  `json:"deadline,omitempty"` // from the run's start
	Reserve     *span  `json:"reserve,omitempty"`
	SideEffects *int64 `json:"side_effects,omitempty"`
	RetryTokens *int64 `json:"retry_tokens,omitempty"`
}

type capBody struct {
	Attempts int64 `json:"attempts"`
}

type askBody struct {
	AskID       string          `json:"ask_id"`
	Op          string          `json:"op,omitempty"`
	Agent       string          `json:"agent,omitempty"`
	Path        gate.Path       `json:"path,omitempty"`
	Tool        string          `json:"tool"`
	Parent      string          `json:"parent,omitempty"`
	Input       json.RawMessage `json:"input,omitempty"`
	InputDigest string          `json:"input_digest,omitempty"`
	Tokens      int64           `json:"tokens,omitempty"`
	Key         string          `json:"key,omitempty"`
	Traceparent string          `json:"traceparent,omitempty"`
}

type reportBody struct {
	Op            string       `json:"op"`
	Ordinal       int64        `json:"ordinal"`
	OK            *bool        `json:"ok,omitempty"`
	Failure       *failureBody `json:"failure,omitempty"`
	HTTP          *HTTPAnswer  `json:"http,omitempty"`
	InnerAttempts int64        `json:"inner_attempts,omitempty"`
	ResultRef     string       `json:"result_ref,omitempty"`
}

type failureBody struct {
	Code       string `json:"code"`
	Message    string `json:"message,omitempty"`
	Status     string `json:"status,omitempty"`
	Field      string `json:"field,omitempty"`
	Suggest    string `json:"suggest,omitempty"`
	RetryAfter string `json:"retry_after,omitempty"` // a duration, or the header's text
}

type endBody struct {
	Reason string `json:"reason,omitempty"`
}

type verbBody struct {
	actBody
	Version int64 `json:"version"`
}

// bulkBody is that of a verb on many items, each with its version (R-P9).
type bulkBody struct {
	actBody
	Items []escalation.Pick `json:"items"`
}

type actBody struct {
	RequestID   string             `json:"request_id"`
	Reason      string             `json:"reason,omitempty"`
	Evidence    string             `json:"evidence,omitempty"`
	Finding     gate.Finding       `json:"finding,omitempty"`
	Ruling      gate.Ruling        `json:"ruling,omitempty"`
	AsNewAction bool               `json:"as_new_action,omitempty"`
	TakeOver    bool               `json:"take_over,omitempty"`
	Run         string             `json:"run,omitempty"` // of a new-run
	Limits      *limitsBody        `json:"limits,omitempty"`
	Caps        map[string]capBody `json:"caps,omitempty"`
	Until       time.Time          `json:"until,omitzero"`
}

// span is a duration as requests write it.
type span time.Duration

// MarshalText writes a Go duration.
func (s span) MarshalText() ([]byte, error) { return []byte(time.Duration(s).String()), nil }

// UnmarshalText reads a Go duration.
func (s *span) UnmarshalText(b []byte) error {
	d, err := time.ParseDuration(string(b))
	if err != nil {
		return &gate.InputError{Field: "duration", Want: "a duration such as 30s", Got: short(fmt.Sprintf("%q", b))}
	}
	*s = span(d)
	return nil
}

func (b *limitsBody) limits() gate.Limits {
	if b == nil {
		return gate.Limits{}
	}
	return gate.Limits{
		Attempts: b.Attempts, Deadline: (*time.Duration)(b.Deadline), Reserve: (*time.Duration)(b.Reserve),
		SideEffects: b.SideEffects, RetryTokens: b.RetryTokens,
	}
}

func limitsOf(l gate.Limits) *limitsBody {
	if l.IsZero() {
		return nil
	}
	return &limitsBody{
		Attempts: l.Attempts, Deadline: (*span)(l.Deadline), Reserve: (*span)(l.Reserve),
		SideEffects: l.SideEffects, RetryTokens: l.RetryTokens,
	}
}

// capsFrom returns the caps by agent: the same body is the same command.
func capsFrom(b map[string]capBody) []gate.Cap {
	var out []gate.Cap
	for _, agent := range slices.Sorted(maps.Keys(b)) {
		out = append(out, gate.Cap{Agent: agent, Attempts: b[agent].Attempts})
	}
	return out
}

func capsOf(caps []gate.Cap) map[string]capBody {
	var out map[string]capBody
	for _, c := range caps {
		if out == nil {
			out = map[string]capBody{}
		}
		out[c.Agent] = capBody{c.Attempts}
	}
	return out
}

func (b *startBody) command(who gate.Actor) gate.Start {
	return gate.Start{
		Actor: who, Run: gate.RunID(b.Run), Agent: b.Agent, Policy: b.Policy, Limits: b.Limits.limits(), Caps: capsFrom(b.Caps),
	}
}

func startOf(c gate.Start) *startBody {
	return &startBody{Run: string(c.Run), Agent: c.Agent, Policy: c.Policy, Limits: limitsOf(c.Limits), Caps: capsOf(c.Caps)}
}

func (b *askBody) command(who gate.Actor, run gate.RunID) (gate.Ask, error) {
	c := gate.Ask{
		Actor: who, Run: run, ID: b.AskID, Op: gate.OpID(b.Op), Agent: b.Agent, Path: b.Path, Tool: b.Tool,
		Parent: gate.OpID(b.Parent), Input: b.Input, Tokens: b.Tokens, Key: b.Key,
	}
	if b.Input != nil && b.InputDigest != "" {
		return c, &gate.InputError{Field: "input_digest", Want: "none beside an input", Got: "one"}
	}
	var err error
	if c.InputDigest, err = gate.ParseDigest("input_digest", b.InputDigest); err != nil {
		return c, err
	}
	c.Trace, err = gate.ParseTrace(b.Traceparent)
	return c, err
}

func askOf(c gate.Ask) *askBody {
	b := &askBody{
		AskID: c.ID, Op: string(c.Op), Agent: c.Agent, Path: c.Path, Tool: c.Tool, Parent: string(c.Parent),
		Input: c.Input, Tokens: c.Tokens, Key: c.Key,
	}
	if c.Input == nil {
		b.InputDigest = c.InputDigest.String()
	}
	if c.Trace != "" {
		b.Traceparent = "00-" + c.Trace + "-0000000000000001-00"
	}
	return b
}

func reportOf(c gate.Report) *reportBody {
	b := &reportBody{Op: string(c.Op), Ordinal: c.Ordinal, InnerAttempts: c.Inner, ResultRef: c.Result}
	if c.OK {
		b.OK = &c.OK
		return b
	}
	f := c.Failure
	b.Failure = &failureBody{Code: string(f.Code), Message: f.Message, Status: f.Status, Field: f.Field, Suggest: f.Suggest}
	if f.RetryAfter > 0 {
		b.Failure.RetryAfter = f.RetryAfter.String()
	}
	return b
}

func (b *actBody) act(verb gate.Act) escalation.Act {
	return escalation.Act{
		Verb: verb, RequestID: b.RequestID, Reason: b.Reason, Evidence: b.Evidence,
		Finding: b.Finding, Ruling: b.Ruling, AsNewAction: b.AsNewAction, TakeOver: b.TakeOver,
		NewRun: gate.RunID(b.Run), Limits: b.Limits.limits(), Caps: capsFrom(b.Caps), Until: b.Until,
	}
}

func actOf(a escalation.Act) actBody {
	return actBody{
		RequestID: a.RequestID, Reason: a.Reason, Evidence: a.Evidence,
		Finding: a.Finding, Ruling: a.Ruling, AsNewAction: a.AsNewAction, TakeOver: a.TakeOver,
		Run: string(a.NewRun), Limits: limitsOf(a.Limits), Caps: capsOf(a.Caps), Until: a.Until,
	}
}
