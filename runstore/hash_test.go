package runstore

import (
	"testing"
	"time"

	"tollgate/gate"
)

// R-L1: an answer carries the hash of its record, the same that the ledger
// shows, and a repeated answer too.
func TestAnswersCarryTheirHash(t *testing.T) {
	s, story := begunStore(t, Options{})
	one, deadline := int64(1), time.Minute
	start := gate.Start{Run: "hashed", Limits: gate.Limits{Attempts: &one, Deadline: &deadline, SideEffects: &one}}
	for _, what := range []string{"first", "again"} {
		d, err := tellOne(t, s, story, start)
		if err != nil {
			t.Fatal(err)
		}
		page, err := s.Ledger(t.Context(), gate.LedgerQuery{From: d.Seq, Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Hash.String(); got == "" || got != page.Rows[0].Hash {
			t.Errorf("%s: hash = %q, want the ledger's %q", what, got, page.Rows[0].Hash)
		}
	}
}
