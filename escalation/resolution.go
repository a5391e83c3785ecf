package escalation

import (
	"fmt"
	"time"

	"tollgate/gate"
)

// Act is what a person does to an item: a verb and what belongs to it, as a
// form or a request gives it. Who acts is not in it: that comes from the
// operating system or the transport, never from a form (R-P10).
type Act struct {
	Verb        gate.Act
	RequestID   string // the same id gets the same answer (R-P6); required
	Version     int64  // of the item, as it was shown (R-P5)
	Reason      string
	Evidence    string       // reconcile
	Finding     gate.Finding // reconcile
	Ruling      gate.Ruling  // approve
	AsNewAction bool         // approve
	TakeOver    bool         // although another holds the claim (R-P7)
	NewRun      gate.RunID   // new-run
	Limits      gate.Limits  // new-run
	Caps        []gate.Cap   // new-run
	Until       time.Time    // snooze
}

// Command returns the one command of the gate that an act is (R-P3). The error
// is an *gate.InputError: not a verb of a person, no request id, or a part that
// belongs to another verb, which would be lost in silence.
func (a Act) Command(who gate.Actor, about gate.Ref) (gate.Verb, error) {
	if !a.Verb.IsVerb() {
		return gate.Verb{}, &gate.InputError{
			Field: "verb", Want: "claim, release, snooze, note, reconcile, approve, reject or new-run", Got: fmt.Sprintf("%q", a.Verb),
		}
	}
	if err := gate.CheckID("request_id", a.RequestID); err != nil {
		return gate.Verb{}, err
	}
	for _, part := range [...]struct {
		of    gate.Act
		name  string
		given bool
	}{
		{gate.ActReconcile, "evidence", a.Evidence != ""},
		{gate.ActReconcile, "finding", a.Finding != gate.FindingNone},
		{gate.ActApprove, "ruling", a.Ruling != gate.RulingNone},
		{gate.ActApprove, "as_new_action", a.AsNewAction},
		{gate.ActNewRun, "run", a.NewRun != ""},
		{gate.ActNewRun, "limits", !a.Limits.IsZero()},
		{gate.ActNewRun, "caps", len(a.Caps) > 0},
		{gate.ActSnooze, "until", !a.Until.IsZero()},
	} {
		if part.given && part.of != a.Verb {
			return gate.Verb{}, &gate.InputError{
				Field: part.name, Want: fmt.Sprintf("none with %s; it belongs to %s", a.Verb, part.of), Got: "one",
			}
		}
	}
	v := gate.Verb{
		Actor: who, Do: a.Verb, ID: a.RequestID, Run: about.Run, Op: about.Op, Version: a.Version,
		Reason: a.Reason, Evidence: a.Evidence, Finding: a.Finding, Ruling: a.Ruling,
		AsNewAction: a.AsNewAction, TakeOver: a.TakeOver, Until: a.Until,
		NewRun: a.NewRun, Limits: a.Limits, Caps: a.Caps,
	}
	return v, v.Check()
}
