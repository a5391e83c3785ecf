package views

import (
	"strings"
	"testing"

	"tollgate/gate"
)

// R-P9, case 25. The form of a bulk verb names the frozen set by cause and
// kind, and what matches by now and is not in it.
func TestBulkForm(t *testing.T) {
	set := &BulkSet{
		Items: 12, New: 3, First: []gate.ItemID{"i-1", "i-2"},
		Parts: []BulkPart{
			{CauseID{"pay", "timeout", gate.ClassTransient}, gate.KindOutcomeUnknown, 10},
			{CauseID{"infra", "", 0}, gate.KindApproval, 2},
		},
	}
	draw := func() string {
		return Form(samplePage(NewTheme(Plain, true), 80, 24, 0), FormView{Title: "approve 12 items", Armed: true, Bulk: set, Fields: []Field{{Label: "to confirm", Hint: "type 12"}}})
	}
	for _, want := range []string{
		"12 items, each through the gate alone", "10  ? outcome unknown  pay - timeout - transient", "2  @ approval         infra", "i-1  i-2  ~", "3 more match by now and are not in it", "type 12",
	} {
		if got := draw(); !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	set.New = 1
	if got := draw(); !strings.Contains(got, "1 more matches by now and is not in it") {
		t.Errorf("one more:\n%s", got)
	}
	set.New = 0
	if got := draw(); strings.Contains(got, "not in it") {
		t.Errorf("none more:\n%s", got)
	}
	for range 5 {
		set.Parts = append(set.Parts, BulkPart{CauseID{"dep", "x", gate.ClassPermanent}, gate.KindStopped, 7})
	}
	if got := draw(); !strings.Contains(got, "21  of 3 further causes") || strings.Count(got, "dep - x") != 2 {
		t.Errorf("seven causes:\n%s", got)
	}
}

// R-P9. The result is a line per item, whatever became of it, and the line
// above counts them.
func TestBulkLines(t *testing.T) {
	p := samplePage(NewTheme(Plain, true), 160, 30, 0)
	rows := strings.Split(bulkScreens()["bulk"](p), "\n")
	if got, want := strings.Join(strings.Fields(rows[3]), " "), "approve 12 items o 8 of 12 v 3 allowed # 2 stopped o 1 had moved x 1 no answer - 1 not sent 3 more match by now"; got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
	for i, want := range []string{
		"v i-4rcrb4v10t charge-42 RETRY_WITH_SHARED_CONTEXT attempt 2, dispatch from 09:12:45.000Z",
		"> v i-v9zp7f096t charge-57 RETRY_WITH_SHARED_CONTEXT attempt 2, dispatch from 09:12:45.000Z",
		"v i-vrcvqq9xn4 refund-3 RESOLVED happened",
		"# i-ckcw8fc7hq charge-61 STOP_ATTEMPT_BUDGET attempts 10/10",
		"# i-55av69f3qj drop-env-old STOP_ATTEMPT_BUDGET attempts 10/10",
		"o i-h9v0zyqwcp plan STALE moved by lee\\e[m 12s ago: reconcile",
		"x i-p4qsddsvs0 sync-9 no answer no answer within 10s\\r\\n",
	} {
		if got := strings.Join(strings.Fields(rows[6+i]), " "); got != want {
			t.Errorf("line %d: %q\nwant %q", i, got, want)
		}
	}
	if !strings.Contains(rows[13], "not sent") || !strings.Contains(rows[13], "the breaker of payments-api has opened") || !strings.Contains(rows[14], "asked") {
		t.Errorf("the last lines:\n%s\n%s", rows[13], rows[14])
	}
}
