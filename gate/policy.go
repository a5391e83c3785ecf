package gate

import "time"

// Policy holds the limits and the narrower guards that a run is decided by.
// Durations are whole milliseconds; the ranges are those of a contract file,
// which begins with the starter policy. The zero Policy permits nothing.
type Policy struct {
	Limits          Limits            `json:"limits"`            // for runs that name it; may be empty
	AttemptsPerCall int64             `json:"attempts_per_call"` // permits per operation, the first included (R-D6); 1 to MaxCount
	Backoff         Backoff           `json:"backoff"`
	Codes           map[Code]CodeRule `json:"codes"`             // the starter rows and what is laid over them
	Breaker         *BreakerRule      `json:"breaker,omitempty"` // for dependencies without their own
	RetryRatio      *RatioRule        `json:"retry_ratio,omitempty"`
	Routes          Routes            `json:"routes"`
	QueueOff        bool              `json:"queue_off,omitempty"` // no person waits: typed failures are returned (R-T4)
	PermitTTL       time.Duration     `json:"permit_ttl"`          // how long a permit may wait to be used (R-C5); 1ms to 1h
	ReportGrace     time.Duration     `json:"report_grace"`        // how much later than its call's timeout a report may come (R-C5); 0 to 1h
}

// BreakerRule says when a dependency's breaker trips and for how long (R-K1,
// R-K2).
type BreakerRule struct {
	Window   time.Duration `json:"window"`    // 1s to 10m
	Failures int64         `json:"failures"`  // at least this many transient failures in the window; >= 1
	Share    float64       `json:"share"`     // and at least this share of its requests; 0 to 1
	CoolDown time.Duration `json:"cool_down"` // > 0
}

// RatioRule bounds the share of repeats among a dependency's permits (R-D6).
type RatioRule struct {
	Share  float64       `json:"share"`  // 0 to 1
	Window time.Duration `json:"window"` // 1s to 10m
	Min    int64         `json:"min"`    // below this many permits it is not looked at
}

// Route is where a stopped operation goes. The zero value is return.
type Route uint8

// The routes, named as the typed outcome's nextAction.
const (
	RouteReturn     Route = iota // the caller gets the typed failure
	RouteReconcile               // a person finds out what happened
	RouteEscalate                // a person decides
	RouteDeadLetter              // set aside, with budget state and key
)

var routeNames = [...]string{RouteReturn: "return", RouteReconcile: "reconcile", RouteEscalate: "escalate", RouteDeadLetter: "dead-letter"}

// String returns the name.
func (r Route) String() string { return nameOf(routeNames[:], r, "Route") }

// MarshalText writes the name.
func (r Route) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads a name.
func (r *Route) UnmarshalText(b []byte) error {
	return parseName(routeNames[:], r, "route", string(b))
}

// Routes says, before the run, where each kind of stop goes (R-T4, [A8]).
type Routes struct {
	Attempts       Route `json:"attempts"`
	ElapsedTime    Route `json:"elapsed_time"`
	SideEffects    Route `json:"side_effects"`
	RetryTokens    Route `json:"retry_tokens"`
	CallLimit      Route `json:"call_limit"`
	Permanent      Route `json:"permanent"`
	Unlisted       Route `json:"unlisted"`
	Repeated       Route `json:"repeated"`
	Unsafe         Route `json:"unsafe"`
	OutcomeUnknown Route `json:"outcome_unknown"`
}

// Starter returns the built-in policy: everything but limits, which no policy
// of ours may invent (R-B1).
//
// Source: [B] for the codes, the backoff and the hard cap of two repeats.
func Starter() *Policy {
	return &Policy{
		AttemptsPerCall: 3,
		Backoff:         Backoff{Base: 250 * time.Millisecond, Cap: 2 * time.Second, Jitter: JitterFull},
		Codes:           starterCodes(),
		Routes: Routes{
			Attempts: RouteEscalate, ElapsedTime: RouteReturn, SideEffects: RouteEscalate, RetryTokens: RouteEscalate,
			CallLimit: RouteEscalate, Permanent: RouteReturn, Unlisted: RouteEscalate, Repeated: RouteEscalate,
			Unsafe: RouteEscalate, OutcomeUnknown: RouteReconcile,
		},
		PermitTTL:   10 * time.Second,
		ReportGrace: time.Second,
	}
}

// starterCodes is the table of R-C3, with R-C4's column.
func starterCodes() map[Code]CodeRule {
	return map[Code]CodeRule{
		"invalid_input":     {Class: ClassPermanent, Refused: true},
		"policy_block":      {Class: ClassPermanent, Refused: true},
		"auth_failure":      {Class: ClassPermanent, Refused: true},
		"schema_violation":  {Class: ClassPermanent},
		"semantic_mismatch": {Class: ClassPermanent},

		"tool_output_truncated": {Class: ClassConditional},
		"parse_error":           {Class: ClassConditional},
		"missing_field":         {Class: ClassConditional},
		"empty_response":        {Class: ClassConditional},

		"rate_limit":       {Class: ClassTransient, Refused: true},
		"timeout":          {Class: ClassTransient},
		"upstream_5xx":     {Class: ClassTransient},
		"connection_reset": {Class: ClassTransient},
	}
}

// route is the policy's, by why it stopped. An unknown outcome wins over every
// other; where no person waits the typed failure is returned (R-T4).
func (p *Policy) route(v Verdict, class Class, outcomeUnknown bool) Route {
	switch {
	case p.QueueOff:
		return RouteReturn
	case outcomeUnknown:
		return p.Routes.OutcomeUnknown
	}
	switch v {
	case StopPermanentOrUnknown:
		if class == ClassPermanent {
			return p.Routes.Permanent
		}
		return p.Routes.Unlisted
	case StopUnsafeToRepeat:
		return p.Routes.Unsafe
	case StopRepeatedRefusal:
		return p.Routes.Repeated
	case StopAttemptBudget:
		return p.Routes.Attempts
	case StopTimeBudget:
		return p.Routes.ElapsedTime
	case StopSideEffectBudget:
		return p.Routes.SideEffects
	case StopTokenBudget:
		return p.Routes.RetryTokens
	case StopCallLimit:
		return p.Routes.CallLimit
	default:
		return RouteReturn
	}
}
