package views

import (
	"time"

	"tollgate/gate"
)

// sampleLedger is the newest part of a ledger: agents, the gate itself and
// people, with what each was charged.
func sampleLedger() []gate.DecisionRow {
	budget := func(attempts, effects int64) *gate.BudgetRow {
		b := sampleBudget()
		b.Attempts.Spent, b.SideEffects = attempts, gate.Spent{Spent: effects, Limit: 2}
		return &b
	}
	transient, class := gate.ClassTransient, gate.ClassUnknown
	agents, dana := gate.Actor{ID: "uid:2000", Name: "agents", Source: "peer-uid"}, gate.Actor{ID: "uid:1001", Name: "dana", Source: "peer-uid"}
	lee := gate.Actor{ID: "uid:1002", Name: "lee", Source: "token"}
	reconcile := gate.RouteReconcile
	ask := func(v gate.Verdict, op gate.OpID, tool string, before, after int64) gate.DecisionRow {
		return gate.DecisionRow{Act: gate.ActAsk, Verdict: v, Run: "run-1", Op: op, Agent: "planner/billing", Actor: agents, Tool: tool, Dependency: "payments-api", Before: budget(before, 0), After: budget(after, 0)}
	}
	rows := []gate.DecisionRow{
		{Act: gate.ActStart, Verdict: gate.Recorded, Run: "run-1", Agent: "planner", Actor: agents, Before: budget(0, 0), After: budget(0, 0)},
		ask(gate.Admit, "plan", "llm.plan", 0, 1),
		ask(gate.Admit, "lookup", "orders.get", 1, 2),
		{Act: gate.ActReport, Verdict: gate.Recorded, Run: "run-1", Op: "lookup", Ordinal: 1, Agent: "planner/billing", Actor: agents, Tool: "orders.get", Code: "rate_limit", Class: &transient, Outcome: gate.OutcomeFailed, Before: budget(2, 0), After: budget(2, 0)},
		ask(gate.Retry, "lookup", "orders.get", 2, 3),
		ask(gate.Admit, "charge-42", "payments.charge", 3, 4),
		{Act: gate.ActReport, Verdict: gate.StopUnsafeToRepeat, Run: "run-1", Op: "charge-42", Ordinal: 1, Agent: "planner/billing", Actor: agents, Tool: "payments.charge", Dependency: "payments-api", Code: "timeout", Class: &transient, Outcome: gate.OutcomeUnknown, Route: &reconcile, Item: gate.ItemIDOf("run-1", "charge-42"), Before: budget(4, 1), After: budget(4, 1)},
		ask(gate.StopTerminal, "charge-42", "payments.charge", 4, 4),
		{Act: gate.ActSweep, Verdict: gate.Recorded, Run: "run-2", Op: "refund-3", Ordinal: 1, Actor: gate.Itself, Tool: "payments.refund", Code: "no_report", Class: &transient, Outcome: gate.OutcomeUnknown, Before: budget(9, 2), After: budget(9, 2)},
		{Act: gate.ActNote, Verdict: gate.Recorded, Run: "run-1", Op: "charge-42", Actor: dana, Item: gate.ItemIDOf("run-1", "charge-42"), Before: budget(4, 1), After: budget(4, 1)},
		{Act: gate.ActReconcile, Verdict: gate.Resolved, Run: "run-1", Op: "charge-42", Actor: dana, Finding: gate.FindingDidNotHappen, Reason: "not in the export", Item: gate.ItemIDOf("run-1", "charge-42"), Before: budget(4, 1), After: budget(4, 1)},
		{Act: gate.ActApprove, Verdict: gate.Retry, Run: "run-1", Op: "charge-42", Path: gate.PathManual, Actor: lee, Tool: "payments.charge", Item: gate.ItemIDOf("run-1", "charge-42"), Before: budget(4, 1), After: budget(5, 2)},
		{Act: gate.ActAsk, Verdict: gate.StopApprovalRequired, Run: "deploy-2026-01-05-staging", Op: "drop-env-old", Agent: "infra", Actor: agents, Tool: "infra.destroy", Item: "i-1", Before: budget(0, 0), After: budget(0, 0)},
		{Act: gate.ActAsk, Verdict: gate.StopPermanentOrUnknown, Run: "evil\x1b[2J\u202etxt", Op: "a\nb", Agent: "日本語/エージェント", Actor: gate.Actor{ID: "uid:9\x9b31m"}, Tool: "crm.更新", Code: "x\r", Class: &class, Before: budget(1234567, 0), After: budget(1234568, 0)},
		ask(gate.StopAttemptBudget, "a-very-long-operation-name-that-nobody-can-read-at-a-glance", "some.namespace.with.many.parts.of.a.tool", 10, 10),
		{Act: gate.ActAdopt, Verdict: gate.Recorded, Actor: gate.Itself},
	}
	for i := range rows {
		rows[i].Seq = uint64(4696 + i)
		rows[i].At = gate.InstantOf(now.Add(time.Duration(i-len(rows)) * 37 * time.Second).Add(time.Duration(i) * 13 * time.Millisecond))
	}
	rows[0].At = gate.InstantOf(now.Add(-26 * time.Hour))
	return rows
}

// sampleRecord is a decision with a value in every field.
func sampleRecord() *gate.DecisionRow {
	d := sampleLedger()[11]
	class, route := gate.ClassTransient, gate.RouteReconcile
	d.Ordinal, d.Agent, d.Dependency, d.Trace = 2, "planner/billing", "payments-api", "4bf92f3577b34da6a3ce929d0e0e4736"
	d.Code, d.Class, d.Outcome, d.Route, d.Cause = "timeout", &class, gate.OutcomeUnknown, &route, 4702
	d.Terminal = &gate.Terminal{Type: gate.TypeStopped, Reason: "STOP_UNSAFE_TO_REPEAT", NextAction: route}
	d.Permit = &gate.PermitRow{Ordinal: 2, Key: "8f1c2d3e4f5061728394a5b6c7d8e9e0", NotBefore: gate.InstantOf(d.At.Add(412 * time.Millisecond)), NotAfter: gate.InstantOf(d.At.Add(30 * time.Second)), Inner: 3}
	d.DelayMS, d.Jitter, d.Key, d.KeyIgnored = 412, 0.8240112, "8f1c2d3e4f5061728394a5b6c7d8e9e0", true
	d.Reason, d.Evidence, d.Ruling = "the bank has no charge for order 42\r\n\x1b[2Jand says so", "ledger export 2026-01-05 09:00; 日本語", gate.RulingCauseCleared
	d.Breaker = &gate.BreakerRow{State: gate.BreakerOpen, Until: gate.InstantOf(now.Add(9 * time.Second))}
	d.Contract, d.Rules = "sha256:9b1f0c6e0a2d4f5b8c7e6d5a4b3c2d1e0f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c", gate.RulesVersion
	d.Hash = "sha256:1c8f5a0b3d2e4c6f8a9b0c1d2e3f4a5b6c7d8e9f0a1b2c3d4e5f6a7b8c9d0e1f"
	return &d
}

func ledgerScreens() map[string]func(Page) string {
	rows, record := sampleLedger(), sampleRecord()
	verified := Verified{Seq: 4690, At: now.Add(-3 * time.Minute)}
	on := func(draw func(Page) string) func(Page) string {
		return func(p Page) string { p.Header.Current = -1; return draw(p) }
	}
	stale := &gate.DecisionRow{
		Seq: 4720, At: gate.InstantOf(now), Act: gate.ActApprove, Verdict: gate.Stale, Run: "run-1", Op: "charge-42", Actor: rows[9].Actor, NewRun: "run-1.2", NewOp: "charge-42~2",
		Finding: gate.FindingHappened, RetryAt: gate.InstantOf(now.Add(time.Minute)), Result: "ch_42",
		Changed: &gate.ChangedRow{Seq: 4719, At: gate.InstantOf(now.Add(-12 * time.Second)), By: gate.Actor{ID: "uid:1002", Name: "lee\x1b[m"}, Act: gate.ActReconcile, Verdict: gate.Resolved},
	}
	return map[string]func(Page) string{
		"ledger": on(func(p Page) string {
			return Ledger(p, LedgerView{Rows: rows, Selected: rows[10].Seq, Following: true, Verified: verified, Me: "uid:1001"})
		}),
		"ledger-run": on(func(p Page) string {
			return Ledger(p, LedgerView{Rows: rows[:8], OneRun: true, Me: "uid:1001", Verified: Verified{Seq: 4690, Broken: "record 4691: hash\x1b[m does not follow"}})
		}),
		"ledger-empty": on(func(p Page) string { return Ledger(p, LedgerView{}) }),
		"record": on(func(p Page) string {
			return Record(p, RecordView{Row: record, Selected: LinkCause, Verified: verified, Me: "uid:1001"})
		}),
		"record-end": on(func(p Page) string {
			return Record(p, RecordView{Row: record, Top: 999, Verified: Verified{Seq: 4711, At: now}})
		}),
		"record-stale": on(func(p Page) string { return Record(p, RecordView{Row: stale, Selected: LinkMoved, Me: "uid:1001"}) }),
		"record-none":  on(func(p Page) string { return Record(p, RecordView{}) }),
	}
}
