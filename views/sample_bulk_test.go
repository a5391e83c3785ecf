package views

import (
	"time"

	"tollgate/gate"
)

func sampleBulkSet() *BulkSet {
	s := &BulkSet{Items: 12, New: 3}
	for _, c := range sampleCauses() {
		s.Parts = append(s.Parts, BulkPart{CauseID: c.CauseID, Kind: gate.KindOutcomeUnknown, Items: c.Items})
	}
	s.Parts = append(s.Parts, s.Parts[1])
	s.Parts[1].Kind, s.Parts[2].Kind = gate.KindStopped, gate.KindApproval
	for _, it := range sampleItems()[:5] {
		s.First = append(s.First, it.ID)
	}
	return s
}

func bulkScreens() map[string]func(Page) string {
	ledger := sampleLedger()
	permit, stop := ledger[11], ledger[14]
	permit.Permit = &gate.PermitRow{Ordinal: 2, NotBefore: gate.InstantOf(now.Add(time.Second))}
	stale := gate.DecisionRow{Verdict: gate.Stale, Changed: &gate.ChangedRow{At: gate.InstantOf(now.Add(-12 * time.Second)), By: gate.Actor{ID: "uid:1002", Name: "lee\x1b[m"}, Act: gate.ActReconcile}}
	done := gate.DecisionRow{Verdict: gate.Resolved, Finding: gate.FindingHappened}
	v := BulkView{Title: "approve 12 items", Total: 12, Allowed: 3, Stopped: 2, Moved: 1, Failed: 1, Skipped: 1, New: 3, Me: "uid:1001"}
	for i, it := range sampleItems() {
		l := BulkLine{ID: it.ID, Run: it.Run, Op: it.Op}
		switch i {
		case 0, 1:
			l.Row = &permit
		case 2:
			l.Row = &done
		case 3, 4:
			l.Row = &stop
		case 5:
			l.Row = &stale
		case 6:
			l.Err = "no answer within 10s\r\n"
		case 7:
			l.Skipped = "the breaker of payments-api has opened"
		case 8, 9:
		default:
			l.Op = ""
		}
		v.Lines = append(v.Lines, l)
	}
	v.Selected = v.Lines[1].ID
	on := func(draw func(Page) string) func(Page) string {
		return func(p Page) string { p.Header.Current = -1; return draw(p) }
	}
	return map[string]func(Page) string{
		"bulk":       on(func(p Page) string { return Bulk(p, v) }),
		"bulk-empty": on(func(p Page) string { return Bulk(p, BulkView{Title: "reject 1 item", Total: 1}) }),
		"bulk-form": on(func(p Page) string {
			return Form(p, FormView{
				Title: "approve 12 items", Armed: true, Bulk: sampleBulkSet(), What: []string{"A dispatch of a write may follow."},
				Fields: []Field{{Label: "reason", Hint: "why, for whoever reads the ledger", Focused: true, Rows: 2}, {Label: "to confirm", Hint: "type 12, the number of items"}},
			})
		}),
	}
}
