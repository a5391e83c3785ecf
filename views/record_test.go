package views

import (
	"strings"
	"testing"
	"time"

	"tollgate/gate"
)

// R-L1. A record shows each thing that the decision holds, at every width.
func TestRecordShowsAll(t *testing.T) {
	d := sampleRecord()
	d.Finding, d.NewOp, d.NewRun, d.Result = gate.FindingCannotTell, "charge-42~2", "run-1.2", "ch_42"
	d.RetryAt = gate.InstantOf(now.Add(5 * time.Second))
	d.Changed = &gate.ChangedRow{Seq: 4699, By: gate.Actor{Name: "nora"}, Act: gate.ActReject, Verdict: gate.Resolved, At: d.At}
	for _, width := range []int{60, 80, 120, 200} {
		p := samplePage(NewTheme(Plain, true), width, 100, 0)
		got := strings.Join(strings.Fields(Record(p, RecordView{Row: d})), " ")
		for _, want := range []string{
			"decision 4707", "approve", "RETRY_WITH_SHARED_CONTEXT", "charge-42", "attempt 2", "payments.charge", "payments-api", string(d.Item), "run-1", "planner/billing",
			"lee", "uid:1002", "known by token", "path manual", "timeout", "transient", "outcome unknown", "ch_42", "reconcile", "RetryStopped", "left open", "until 09:12:53.000Z",
			"decision 4699", "nora", "reject got RESOLVED", "decision 4702", "cannot tell", "cause-cleared", `42\r\n`, "ledger export", "charge-42~2", "run-1.2",
			"4/10 -> 5/10", "1/2 -> 2/2", "12k/60k", "07:16 left", "reserve 2.0s", "3 attempts", "09:09:39.555Z to", "2026-01-05 09:09:39.143Z", "0.8240112", "delay 412ms",
			d.Key, "the caller's own differs", d.Trace, "version 2", "not before 09:12:49.000Z",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("at %d the record has no %q:\n%s", width, want, got)
			}
		}
		for _, digest := range []string{d.Contract, d.Hash} {
			if whole := strings.ReplaceAll(got, " ", ""); width < 120 && !strings.Contains(whole, digest) {
				t.Errorf("at %d the record has not the whole of %s", width, digest)
			}
		}
	}
}

// The links of a record are those that it has, in the order of its rows, and
// the one row with the selected one is marked.
func TestRecordLinks(t *testing.T) {
	d := sampleRecord()
	d.NewRun, d.Changed = "run-1.2", &gate.ChangedRow{Seq: 4699}
	names := map[RecordLink]string{LinkItem: "item", LinkRun: "run", LinkMoved: "moved by", LinkCause: "caused by", LinkNewRun: "goes on in"}
	links := RecordLinks(d)
	if len(links) != len(names) {
		t.Errorf("links %v, want %d", links, len(names))
	}
	p, last := samplePage(NewTheme(Plain, true), 80, 60, 0), 0
	for _, link := range links {
		at := 0
		for i, row := range strings.Split(Record(p, RecordView{Row: d, Selected: link}), "\n") {
			if rest, ok := strings.CutPrefix(row, " > "); ok {
				if at > 0 || !strings.HasPrefix(rest, names[link]) {
					t.Errorf("link %d: row %d is marked: %q", link, i, row)
				}
				at = i
			}
		}
		if at <= last {
			t.Errorf("link %d stands in row %d, want one below %d", link, at, last)
		}
		last = at
	}
	if got := RecordLinks(&gate.DecisionRow{Act: gate.ActAdopt}); got != nil {
		t.Errorf("a decision about nothing has links %v", got)
	}
}

// A record says whether it stands in the part of the chain that has been
// verified.
func TestRecordSaysWhetherItIsVerified(t *testing.T) {
	d := sampleRecord()
	for seq, want := range map[uint64]string{d.Seq - 1: "not yet verified", d.Seq: "v verified"} {
		row := strings.Split(Record(samplePage(NewTheme(Plain, true), 80, 24, 0), RecordView{Row: d, Verified: Verified{Seq: seq, At: now}}), "\n")[3]
		if !strings.HasSuffix(strings.TrimRight(row, " "), want) {
			t.Errorf("verified up to %d: %q, want %q", seq, row, want)
		}
	}
}
