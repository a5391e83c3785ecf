package cli

import (
	"testing"
	"time"

	"tollgate/gate"
)

// R-P7: the list names who holds a claim for as long as it holds.
func TestQueueListNamesTheHolder(t *testing.T) {
	until := time.Date(2026, 1, 5, 9, 15, 0, 0, time.UTC)
	claim := &gate.ClaimRow{By: "dana", ID: "uid:1002", Until: gate.InstantOf(until)}
	for _, row := range []struct {
		name  string
		claim *gate.ClaimRow
		now   time.Time
		want  string
	}{
		{"while it holds", claim, until.Add(-time.Millisecond), "dana"},
		{"at its end", claim, until, ""},
		{"nobody's", nil, until, ""},
	} {
		cells := itemRow(&gate.ItemRow{Claim: row.claim}, row.now)
		if got := cells[len(cells)-1]; got != row.want {
			t.Errorf("%s: claimed by %q, want %q", row.name, got, row.want)
		}
	}
}
