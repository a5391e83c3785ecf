package escalation

import (
	"cmp"
	"time"

	"tollgate/gate"
)

// Compare orders items as the queue does at now: negative when a comes before
// b. It is a total order of items, and the same for every engine and screen.
//
// Open ones come first, then dead-letters, then resolved ones, the newest
// first. Among those that wait: first the items of runs whose
// deadline is still ahead, by kind – an unknown outcome of a write that is not
// safe to repeat before all – and then by time left; after them those whose
// deadline has passed, the oldest first: nothing can be dispatched for them
// any more.
//
// Source: R-P2.
func Compare(a, b gate.ItemRow, now time.Time) int {
	if c := cmp.Compare(a.State, b.State); c != 0 {
		return c
	}
	var c int
	switch late, other := Passed(a, now), Passed(b, now); {
	case a.State == gate.HoldResolved:
		c = b.Resolved.Compare(a.Resolved.Time)
	case late != other && late:
		c = 1
	case late != other:
		c = -1
	case late:
		c = a.Opened.Compare(b.Opened.Time)
	default:
		c = cmp.Or(cmp.Compare(Rank(a), Rank(b)), a.Deadline.Compare(b.Deadline.Time), a.Opened.Compare(b.Opened.Time))
	}
	return cmp.Or(c, cmp.Compare(a.ID, b.ID))
}

// Order returns how the list that a query asks for is ordered: as Compare does
// at its Now; items that are put off by when they come back.
func Order(q gate.ItemsQuery) func(a, b gate.ItemRow) int {
	if q.Snoozed {
		return func(a, b gate.ItemRow) int {
			return cmp.Or(a.Snoozed.Compare(b.Snoozed.Time), cmp.Compare(a.ID, b.ID))
		}
	}
	return func(a, b gate.ItemRow) int { return Compare(a, b, q.Now) }
}

// Passed reports whether the deadline of an item's run is no longer ahead.
func Passed(row gate.ItemRow, now time.Time) bool { return !now.Before(row.Deadline.Time) }

// Rank is the place of an item's kind in the queue, from 0 to that of the last
// kind: an unknown outcome that a repeat could double comes before the other
// kinds and before its own (R-P2).
func Rank(row gate.ItemRow) int {
	if row.Kind == gate.KindOutcomeUnknown && row.RetrySafety == gate.SafetyNever {
		return 0
	}
	return int(row.Kind)
}

// Matches reports whether an item is in the list that a query asks for. An
// open item that somebody has put off is left out until then, and in the list
// of those that are.
func Matches(q gate.ItemsQuery, row gate.ItemRow) bool {
	state := q.State
	if state == gate.HoldNone {
		state = gate.HoldOpen
	}
	return row.State == state &&
		(q.Kind == 0 || row.Kind == q.Kind) &&
		(q.Run == "" || row.Run == q.Run) &&
		(row.State == gate.HoldOpen && q.Now.Before(row.Snoozed.Time)) == q.Snoozed &&
		q.Filter.MatchesItem(&row, q.Now)
}
