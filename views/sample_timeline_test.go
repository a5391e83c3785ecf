package views

import (
	"time"

	"tollgate/gate"
)

// sampleTimeline is a run with everything that a timeline tells, and its
// decisions.
func sampleTimeline() (*gate.RunView, []gate.DecisionRow) {
	run := sampleRun()
	run.Budget.Started, run.Budget.Deadline = gate.InstantOf(now.Add(-28*time.Minute)), gate.InstantOf(now.Add(9*time.Minute))
	transient := gate.ClassTransient
	at := func(d time.Duration) gate.Instant { return gate.InstantOf(now.Add(d)) }
	failed := func(n int64, permitted, begun, reported time.Duration, o gate.Outcome) gate.AttemptRow {
		a := gate.AttemptRow{Ordinal: n, Permitted: at(permitted), NotBefore: at(begun), NotAfter: at(begun + time.Minute), Outcome: o}
		if o != gate.OutcomePending {
			a.ReportedAt = at(reported)
		}
		if o == gate.OutcomeFailed {
			a.Class, a.Failure = &transient, &gate.Failure{Code: "rate_limit"}
		}
		return a
	}
	run.Ops[1].Attempts = []gate.AttemptRow{
		failed(1, -26*time.Minute, -26*time.Minute, -24*time.Minute, gate.OutcomeFailed),
		failed(2, -24*time.Minute, -21*time.Minute, -20*time.Minute, gate.OutcomeFailed),
		failed(3, -20*time.Minute, -14*time.Minute, -12*time.Minute, gate.OutcomeSucceeded),
	}
	run.Ops[1].Permits = 3
	run.Ops[3].Attempts[0] = failed(1, -4*time.Minute, -4*time.Minute, 0, gate.OutcomePending)
	run.Ops[4].Attempts = append(run.Ops[4].Attempts, failed(2, -time.Minute, 3*time.Minute, 0, gate.OutcomePending))
	run.Ops[4].State = gate.OpWaiting
	drop := gate.OpRow{
		Run: "run-1", Op: "drop-env-old", Agent: "planner/infra", Tool: "infra.destroy", Effect: gate.EffectWrite, State: gate.OpSucceeded, Kind: gate.KindApproval,
		Item: "i-2", ItemState: gate.HoldResolved, Permits: 1, Attempts: []gate.AttemptRow{failed(1, -8*time.Minute, -8*time.Minute, -7*time.Minute, gate.OutcomeSucceeded)},
	}
	run.Ops = append(run.Ops, drop)
	item := gate.ItemIDOf("run-1", "charge-42")
	return run, []gate.DecisionRow{
		{Seq: 1, At: at(-25 * time.Minute), Act: gate.ActReport, Verdict: gate.StopUnsafeToRepeat, Op: "charge-42", Item: item, Outcome: gate.OutcomeUnknown},
		{Seq: 2, At: at(-22 * time.Minute), Act: gate.ActAsk, Verdict: gate.StopApprovalRequired, Op: "drop-env-old", Item: "i-2"},
		{Seq: 3, At: at(-15 * time.Minute), Act: gate.ActNote, Verdict: gate.Recorded, Op: "charge-42", Item: item},
		{Seq: 4, At: at(-8 * time.Minute), Act: gate.ActApprove, Verdict: gate.Admit, Op: "drop-env-old", Item: "i-2"},
	}
}

func timelineScreens() map[string]func(Page) string {
	run, ds := sampleTimeline()
	tree := NewTree(run, nil)
	late, lateDs := sampleTimeline()
	late.Budget.Deadline = gate.InstantOf(now.Add(-6 * time.Minute))
	ended, _ := sampleTimeline()
	ended.State, ended.Ended = gate.RunEnded, gate.InstantOf(now.Add(-3*time.Minute))
	empty := &gate.RunView{RunRow: run.RunRow}
	on := func(v TimelineScreen) func(Page) string {
		return func(p Page) string { p.Header.Current = -1; return Timeline(p, v) }
	}
	return map[string]func(Page) string{
		"timeline":       on(TimelineScreen{Run: run, Tree: tree, Decisions: ds, Selected: OpNode("charge-42")}),
		"timeline-late":  on(TimelineScreen{Run: late, Tree: NewTree(late, nil), Decisions: lateDs}),
		"timeline-ended": on(TimelineScreen{Run: ended, Tree: NewTree(ended, nil), Decisions: ds, Top: 2}),
		"timeline-empty": on(TimelineScreen{Run: empty}),
		"timeline-none":  on(TimelineScreen{}),
		"ledger-tab": func(p Page) string {
			p.Header.Current = -1
			return RunLedger(p, run, tree, LedgerView{Rows: sampleLedger()[:8], Selected: 4702, Me: "uid:1001"})
		},
		"ledger-tab-none": func(p Page) string { return RunLedger(p, nil, Tree{}, LedgerView{}) },
	}
}
