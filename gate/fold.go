package gate

// Fold applies a decision to the state that it was decided on and returns the
// state after it. It decides nothing. The error is ErrDamaged: the state lacks
// what the decision changes.
//
// Slices and maps of s are not changed; what changes is copied.
func Fold(s State, d Decision) (State, error) { return s, nil }

// WantOf names the aggregates that Fold changes for a decision.
func WantOf(d *Decision) Want { return Want{Run: d.Run, Op: d.Op} }
