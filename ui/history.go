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

// snoozer returns the newest decision that put an item off, nil for none.
func snoozer(latest []gate.DecisionRow) *gate.DecisionRow {
	for i := range latest {
		if d := &latest[i]; d.Act == gate.ActSnooze && d.Verdict == gate.Recorded {
			return d
		}
	}
	return nil
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

// howItLeft says in a few words why an item is no longer in the list of q.
func howItLeft(op *gate.OpRow, latest []gate.DecisionRow, q gate.ItemsQuery, me string) string {
	if op == nil {
		return "is no longer here"
	}
	if op.ItemState != gate.HoldResolved {
		d := snoozer(latest)
		switch {
		case op.ItemState != q.State:
			return "is now " + op.ItemState.String()
		case q.Snoozed:
			return "is back in the queue"
		case d != nil:
			return "was snoozed by " + actorName(d.Actor, me)
		}
		return "is snoozed"
	}
	switch d := resolver(latest); {
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
