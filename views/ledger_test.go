package views

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tollgate/gate"
)

// ledgerRow draws one decision at a width, as its words.
func ledgerRow(width int, d gate.DecisionRow, v LedgerView) string {
	p := samplePage(NewTheme(Plain, true), width, 24, 0)
	v.Rows = []gate.DecisionRow{d}
	return strings.Join(strings.Fields(strings.Split(Ledger(p, v), "\n")[p.headRows()+ledgerTop(p)+1]), " ")
}

// A row says when, what, the answer, about what, what was charged and by whom;
// what people did is marked, and the operator is "you".
func TestLedgerRow(t *testing.T) {
	before, after := sampleBudget(), sampleBudget()
	after.Attempts.Spent = 5
	base := gate.DecisionRow{
		Seq: 812, At: gate.InstantOf(now), Act: gate.ActAsk, Verdict: gate.Admit, Run: "run-1", Op: "charge-42", Agent: "planner/billing",
		Actor: gate.Actor{ID: "uid:2000", Name: "agents"}, Before: &before, After: &after,
	}
	for _, r := range []struct {
		name string
		with func(*gate.DecisionRow, *LedgerView)
		want string
	}{
		{"as it is", func(*gate.DecisionRow, *LedgerView) {}, "* 812 09:12:44 ask ADMIT run-1/charge-42 4->5/10 billing"},
		{"of one run", func(_ *gate.DecisionRow, v *LedgerView) { v.OneRun = true }, "* 812 09:12:44 ask ADMIT charge-42 4->5/10 billing"},
		{"a person", func(d *gate.DecisionRow, _ *LedgerView) { d.Act, d.Actor.Name = gate.ActApprove, "lee" }, "& 812 09:12:44 approve ADMIT run-1/charge-42 4->5/10 lee"},
		{"the operator", func(d *gate.DecisionRow, v *LedgerView) { d.Act, v.Me = gate.ActNote, "uid:2000" }, "& 812 09:12:44 note ADMIT run-1/charge-42 4->5/10 you"},
		{"the gate", func(d *gate.DecisionRow, _ *LedgerView) { d.Actor = gate.Itself }, "* 812 09:12:44 ask ADMIT run-1/charge-42 4->5/10 gate"},
		{"a stop", func(d *gate.DecisionRow, _ *LedgerView) { d.Verdict = gate.StopCap }, "# 812 09:12:44 ask STOP_CAP run-1/charge-42 4->5/10 billing"},
		{"an approval", func(d *gate.DecisionRow, _ *LedgerView) { d.Verdict = gate.StopApprovalRequired }, "@ 812 09:12:44 ask STOP_APPROVAL_REQUIRED run-1/charge-42 4->5/10 billing"},
		{"no charge", func(d *gate.DecisionRow, _ *LedgerView) { d.After = d.Before }, "* 812 09:12:44 ask ADMIT run-1/charge-42 4/10 billing"},
		{"no budget", func(d *gate.DecisionRow, _ *LedgerView) { d.Before = nil }, "* 812 09:12:44 ask ADMIT run-1/charge-42 - billing"},
		{"no operation", func(d *gate.DecisionRow, _ *LedgerView) { d.Op = "" }, "* 812 09:12:44 ask ADMIT run-1 4->5/10 billing"},
		{"another day", func(d *gate.DecisionRow, _ *LedgerView) { d.At = gate.InstantOf(now.Add(-24 * time.Hour)) }, "* 812 01-04 ask ADMIT run-1/charge-42 4->5/10 billing"},
		{"more than the limit", func(d *gate.DecisionRow, _ *LedgerView) { d.After.Attempts.Spent = 12345 }, "* 812 09:12:44 ask ADMIT run-1/charge-42 4->12k/10 billing"},
		{"a limit left away", func(d *gate.DecisionRow, _ *LedgerView) { d.After.Attempts = gate.Spent{Spent: 5} }, "* 812 09:12:44 ask ADMIT run-1/charge-42 4->5/10 billing"},
	} {
		d, v, with := base, LedgerView{}, after
		d.After = &with
		r.with(&d, &v)
		if got := ledgerRow(94, d, v); got != r.want {
			t.Errorf("%s:\n got %s\nwant %s", r.name, got, r.want)
		}
	}
}

// Rule 1. The selected decision is the one with the seq, wherever it stands.
func TestLedgerSelectionIsASeq(t *testing.T) {
	rows := sampleLedger()
	rows[3].Seq = 0
	for sel, want := range map[uint64]string{rows[5].Seq: "[4701]", 1: "[]", 0: "[]"} {
		marks := []string{}
		for row := range strings.SplitSeq(Ledger(samplePage(NewTheme(Plain, true), 120, 36, 0), LedgerView{Rows: rows, Selected: sel}), "\n") {
			if strings.HasPrefix(row, " >") {
				marks = append(marks, strings.Fields(row)[2])
			}
		}
		if got := fmt.Sprint(marks); got != want {
			t.Errorf("selected %d: marked %s, want %s", sel, got, want)
		}
	}
}

// The line above says whether the list goes on by itself, and how far the
// chain has been verified.
func TestLedgerSaysHowFarItIsVerified(t *testing.T) {
	rows := sampleLedger()
	for _, r := range []struct {
		v    LedgerView
		want string
	}{
		{LedgerView{Rows: rows, Following: true, Verified: Verified{Seq: 4690, At: now.Add(-3 * time.Minute)}}, "* following v chain verified up to seq 4690, 3m ago"},
		{LedgerView{Rows: rows}, "= from seq 4696 to 4711"},
		{LedgerView{}, "nothing is shown"},
		{LedgerView{Rows: rows, Following: true, Verified: Verified{Seq: 9, Broken: "record 10: its hash does not follow"}}, "* following x chain broken after seq 9: record 10: its hash does not follow"},
	} {
		p := samplePage(NewTheme(Plain, true), 100, 24, 0)
		if got := strings.Join(strings.Fields(strings.Split(Ledger(p, r.v), "\n")[p.headRows()]), " "); got != r.want {
			t.Errorf("got %q, want %q", got, r.want)
		}
	}
}

// As many rows as LedgerRows says, and no more.
func TestLedgerRows(t *testing.T) {
	rows := make([]gate.DecisionRow, 200)
	for i := range rows {
		rows[i] = gate.DecisionRow{Seq: uint64(i + 1), Act: gate.ActReport, Verdict: gate.Recorded}
	}
	for _, h := range []int{10, 12, 15, 16, 24, 60} {
		p := samplePage(NewTheme(Plain, true), 80, h, 0)
		if got := strings.Count(Ledger(p, LedgerView{Rows: rows}), "RECORDED"); got != LedgerRows(p) {
			t.Errorf("a page of %d rows shows %d decisions, want %d", h, got, LedgerRows(p))
		}
	}
}
