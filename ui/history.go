package ui

import "tollgate/gate"

// What the newest decisions about an operation say of its item; the newest
// come first.

// movedBy returns the newest decision that can have moved an item.
func movedBy(latest []gate.DecisionRow) gate.DecisionRow {
	if d := decisive(latest); d != nil {
		return *d
	}
	return gate.DecisionRow{}
}

// decisive returns the newest decision that changed something about an
// operation, nil if there is none: refusals, marks and asks are passed over.
func decisive(latest []gate.DecisionRow) *gate.DecisionRow {
	for i := range latest {
		d := &latest[i]
		switch {
		case d.Verdict == gate.Stale:
		case d.Act.Decides() && !d.Verdict.IsStop(), d.Act == gate.ActReport, d.Act == gate.ActSweep:
			return d
		}
	}
	return nil
}

// putOff reports whether the newest decision hides an item for a while.
func putOff(latest []gate.DecisionRow) bool {
	return len(latest) > 0 && latest[0].Act == gate.ActSnooze && !latest[0].Verdict.IsStop()
}

// resolver returns what resolved an item that is resolved: the newest verb that
// did, unless a report has opened it again since; then the report that closed
// it. Nil if it is not among the decisions.
func resolver(latest []gate.DecisionRow) *gate.DecisionRow {
	var report *gate.DecisionRow
	opened := false
	for i := range latest {
		d := &latest[i]
		switch {
		case d.Act == gate.ActReport, d.Act == gate.ActSweep:
			if report == nil {
				report = d
			}
			opened = opened || d.Outcome != gate.OutcomeSucceeded
		case !d.Act.Decides(), d.Verdict != gate.Resolved && !d.Verdict.Permits():
		case report != nil && (opened || d.Finding == gate.FindingDidNotHappen):
			return report
		default:
			return d
		}
	}
	return report
}

// howItLeft says in a few words why an item is no longer in a list.
func howItLeft(op *gate.OpRow, latest []gate.DecisionRow, me string) string {
	if op == nil {
		return "is no longer here"
	}
	switch d := resolver(latest); {
	case op.ItemState != gate.HoldResolved && putOff(latest):
		return "was snoozed by " + actorName(latest[0].Actor, me)
	case op.ItemState != gate.HoldResolved:
		return "is now " + op.ItemState.String()
	case d == nil:
		return "was resolved"
	case d.Act.IsVerb():
		return "was resolved by " + actorName(d.Actor, me) + " (" + d.Act.String() + ")"
	default:
		return "was settled by a late report"
	}
}

func actorName(a gate.Actor, me string) string {
	switch {
	case a.ID == me && me != "":
		return "you"
	case a.Name != "":
		return a.Name
	}
	return a.ID
}
