package views

import (
	"fmt"
	"maps"
	"time"

	"tollgate/escalation"
	"tollgate/gate"
)

// What the goldens show: one afternoon of a payments incident, at a fixed time.
var now = time.Date(2026, 1, 5, 9, 12, 44, 0, time.UTC)

func sampleHeader(current int) Header {
	return Header{
		Place: "/home/dana/.local/state/tollgate", Operator: "dana", Source: "uid 1001",
		Tabs:    []Tab{{Key: "1", Name: "queue", Note: "14"}, {Key: "2", Name: "runs", Note: "212"}},
		Current: current,
		Counts:  gate.Counts{Seq: 4711, Runs: 212, OutcomeUnknown: 6, Approval: 2, Exhausted: 4, Stopped: 2, Oldest: gate.InstantOf(now.Add(-41 * time.Minute)), BreakersOpen: 1},
	}
}

var queueKeys = []Key{
	{Key: "up/down", Does: "move"},
	{Key: "enter", Does: "review"},
	{Key: "c", Does: "claim"},
	{Key: "n", Does: "note"},
	{Key: "/", Does: "filter"},
	{Key: ":", Does: "command", Off: "nothing to command"},
	{Key: "space", Does: "freeze"},
	{Key: "?", Does: "help"},
}

func samplePage(th *Theme, w, h, tab int) Page {
	return Page{
		Width: w, Height: h, Theme: th, Now: now, Header: sampleHeader(tab), Keys: queueKeys,
		Notice: Notice{Text: "12 new, 3 moved", Key: Key{Key: "R", Does: "takes them in"}, Side: "1-11 of 14"},
	}
}

func sampleItems() []gate.ItemRow {
	row := func(op, tool string, code gate.Code, spent, limit int64, left, age time.Duration) gate.ItemRow {
		return gate.ItemRow{
			ID: gate.ItemIDOf("run-1", gate.OpID(op)), Version: 3, Kind: gate.KindOutcomeUnknown, State: gate.HoldOpen,
			Run: "run-1", Op: gate.OpID(op), Agent: "planner/billing", Tool: tool, Dependency: "payments-api",
			Effect: gate.EffectWrite, RetrySafety: gate.SafetyNever, Code: code, Class: gate.ClassTransient,
			Outcome: gate.OutcomeUnknown, Verdict: gate.StopUnsafeToRepeat, Attempts: gate.Spent{Spent: spent, Limit: limit},
			Permits: 1, Opened: gate.InstantOf(now.Add(-age)), Deadline: gate.InstantOf(now.Add(left)),
		}
	}
	items := []gate.ItemRow{
		row("charge-42", "payments.charge", "timeout", 2, 6, 4*time.Minute+12*time.Second, 41*time.Minute),
		row("charge-57", "payments.charge", "timeout", 1, 6, 6*time.Minute+40*time.Second, 38*time.Minute),
		row("refund-3", "payments.refund", "no_report", 1, 4, 8*time.Minute+2*time.Second, 12*time.Minute),
		row("charge-61", "payments.charge", "timeout", 1, 6, 9*time.Minute+55*time.Second, 6*time.Minute),
		row("drop-env-old", "infra.destroy", "", 0, 5, 22*time.Minute+10*time.Second, 3*time.Minute),
		row("plan", "llm.plan", "rate_limit", 5, 5, 90*time.Second, time.Hour),
		row("sync-9", "crm.update", "parse_error", 2, 8, 90*time.Second, 9*time.Minute),
		row("訂單-同步", "crm.更新", "日本語のエラー", 2, 8, 26*time.Hour, 49*time.Hour),
		row("evil\x1b[2J\u202etxt", "a\nb\tc", "x\x9b31m", 1234567, 10_000_000, 500*time.Hour, 2*time.Second),
		row("a-very-long-operation-name-that-nobody-can-read-at-a-glance", "some.namespace.with.many.parts.of.a.tool", "a_code_as_long_as_a_sentence_of_words", 9999, 10000, -time.Second, 400*24*time.Hour),
		row("late-1", "mail.send", "timeout", 3, 3, -7*time.Minute, 20*time.Minute),
	}
	items[0].Claim = &gate.ClaimRow{ID: "uid:1001", By: "dana", Until: gate.InstantOf(now.Add(14 * time.Minute))}
	items[2].Claim = &gate.ClaimRow{ID: "uid:1002", By: "lee", Until: gate.InstantOf(now.Add(3 * time.Minute))}
	items[4].Kind, items[4].Approvals, items[4].NeedsTwo, items[4].Class, items[4].Outcome = gate.KindApproval, make([]gate.GrantRow, 1), true, 0, 0
	items[4].Verdict = gate.StopApprovalRequired
	items[5].Kind, items[5].Effect = gate.KindExhausted, gate.EffectRead
	items[6].Kind, items[6].Class = gate.KindStopped, gate.ClassConditional
	items[7].Kind, items[7].State = gate.KindStopped, gate.HoldDeadLetter
	items[8].Kind, items[8].Snoozed = gate.KindStopped, gate.InstantOf(now.Add(time.Hour))
	items[9].Claim = &gate.ClaimRow{ID: "uid:3", By: "somebody-with-a-long-name", Until: gate.InstantOf(now.Add(time.Minute))}
	items[10].Duplicate = true
	return items
}

func sampleBudget() gate.BudgetRow {
	return gate.BudgetRow{
		Attempts: gate.Spent{Spent: 4, Limit: 10}, SideEffects: gate.Spent{Spent: 1, Limit: 1}, RetryTokens: &gate.Spent{Spent: 12000, Limit: 60000},
		Started: gate.InstantOf(now.Add(-13 * time.Minute)), Deadline: gate.InstantOf(now.Add(4*time.Minute + 12*time.Second)), ReserveMS: 2000,
	}
}

func sampleRuns() []gate.RunRow {
	rows := []gate.RunRow{{Run: "run-1", Agent: "planner", State: gate.RunActive, Budget: sampleBudget(), OpenItems: 1, InFlight: 1, LastCode: "timeout", LastAt: gate.InstantOf(now.Add(-time.Minute))}}
	for i := range 60 {
		r := gate.RunRow{Run: gate.RunID(fmt.Sprintf("run-%d", i+2)), Agent: "crawler", State: gate.RunActive, Budget: sampleBudget()}
		r.Budget.Attempts = gate.Spent{Spent: int64(i), Limit: 60}
		r.Budget.SideEffects = gate.Spent{Spent: int64(i % 3), Limit: int64(i % 4)}
		r.Budget.RetryTokens = nil
		r.Budget.Deadline = gate.InstantOf(now.Add(time.Duration(i-10) * 7 * time.Minute))
		switch i % 5 {
		case 1:
			r.State, r.LastCode, r.OpenItems = gate.RunExhausted, "rate_limit", int64(i)
		case 2:
			r.State, r.Ended = gate.RunEnded, gate.InstantOf(now.Add(-time.Hour))
		case 3:
			r.Ending, r.LastCode = true, "日本\x1b[m"
		case 4:
			r.Budget.Overdrawn, r.Budget.Attempts.Spent = true, 61
			r.Run, r.Agent = "nightly-reconciliation-of-all-invoices-2026-01", "batch/nightly/reconcile/invoices"
		}
		rows = append(rows, r)
	}
	return rows
}

func sampleRun() *gate.RunView {
	tr, cond := gate.ClassTransient, gate.ClassConditional
	at := func(s string) time.Time {
		t, err := time.Parse("15:04:05.000", s)
		if err != nil {
			panic(err)
		}
		return time.Date(2026, 1, 5, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
	}
	attempt := func(n int64, from, to string, o gate.Outcome, code gate.Code, class *gate.Class) gate.AttemptRow {
		a := gate.AttemptRow{Ordinal: n, Permitted: gate.InstantOf(at(from)), NotBefore: gate.InstantOf(at(from)), NotAfter: gate.InstantOf(at(from).Add(time.Second)), Outcome: o, Class: class}
		if to != "" {
			a.ReportedAt = gate.InstantOf(at(to))
		}
		if code != "" {
			a.Failure = &gate.Failure{Code: code, Message: "upstream said: try later\x1b[2J\r\nrequest id 8f1c", Status: "504"}
		}
		return a
	}
	run := &gate.RunView{RunRow: sampleRuns()[0]}
	run.Operations, run.Budget.Attempts.Spent = 5, 6
	run.Caps = []gate.CapRow{{Agent: "planner/billing", Attempts: gate.Spent{Spent: 3, Limit: 4}}}
	op := func(name, agent, tool string, e gate.Effect, s gate.OpState, as ...gate.AttemptRow) *gate.OpRow {
		run.Ops = append(run.Ops, gate.OpRow{
			Run: "run-1", Op: gate.OpID(name), Agent: agent, Tool: tool, Dependency: tool[:2] + "-api", Effect: e, State: s,
			Key: "8f1c2d3e4f5061728394a5b6c7d8e9e0", Digest: "sha256:1c8f", Permits: int64(len(as)), Attempts: as,
		})
		return &run.Ops[len(run.Ops)-1]
	}
	op("plan", "planner", "llm.plan", gate.EffectRead, gate.OpSucceeded, attempt(1, "08:45:58.000", "08:46:01.200", gate.OutcomeSucceeded, "", nil))
	op("lookup", "planner/billing", "orders.get", gate.EffectRead, gate.OpSucceeded,
		attempt(1, "08:46:02.000", "08:46:02.040", gate.OutcomeFailed, "rate_limit", &tr),
		attempt(2, "08:46:03.000", "08:46:03.400", gate.OutcomeSucceeded, "", nil))
	charge := op("charge-42", "planner/billing", "payments.charge", gate.EffectWrite, gate.OpHeld,
		attempt(1, "08:46:29.000", "08:46:31.000", gate.OutcomeUnknown, "timeout", &tr))
	charge.Kind, charge.Stop, charge.Item, charge.ItemState, charge.Version, charge.KnownEffect = gate.KindOutcomeUnknown, gate.StopUnsafeToRepeat, gate.ItemIDOf("run-1", "charge-42"), gate.HoldOpen, 3, gate.KnownUnknown
	charge.Terminal = &gate.Terminal{Type: gate.TypeStopped, Reason: "STOP_UNSAFE_TO_REPEAT", NextAction: gate.RouteReconcile}
	fetch := op("fetch-rates", "planner/billing", "fx.rates", gate.EffectRead, gate.OpInFlight, attempt(1, "09:12:40.000", "", gate.OutcomePending, "", nil))
	fetch.Parent = "lookup"
	op("crm-sync\u202e", "planner/crm/日本語", "crm.update", gate.EffectWrite, gate.OpFailed, attempt(1, "08:50:00.000", "08:50:03.000", gate.OutcomeFailed, "parse_error", &cond)).Stop = gate.StopUnsafeToRepeat
	return run
}

func sampleDecisions() []gate.DecisionRow {
	b, a := sampleBudget(), sampleBudget()
	b.Attempts.Spent, b.SideEffects.Spent = 3, 0
	route := gate.RouteReconcile
	return []gate.DecisionRow{
		{Seq: 812, At: gate.InstantOf(now.Add(-26 * time.Minute)), Act: gate.ActAsk, Verdict: gate.Admit, Ordinal: 1, Before: &b, After: &a},
		{Seq: 813, At: gate.InstantOf(now.Add(-25 * time.Minute)), Act: gate.ActReport, Verdict: gate.StopUnsafeToRepeat, Ordinal: 1, Route: &route},
	}
}

func sampleReview() ReviewView {
	v := ReviewOf(sampleItem(), "uid:1001")
	for i, key := range []string{"r", "a", "A", "x", "n"} {
		v.Verbs[i].Key = key
	}
	v.Verbs = append(v.Verbs, Preview{Key: "c", Do: gate.ActRelease}, Preview{Key: "z", Do: gate.ActSnooze, Off: "the gate is not to be had"}, Preview{Key: "t", Do: gate.ActNote})
	return v
}

func sampleForm() FormView {
	r := sampleReview()
	return FormView{
		Title: "reconcile charge-42", Kind: gate.KindOutcomeUnknown, Armed: true, Preview: &r.Verbs[1],
		What: []string{"Says what really happened to the write. Nothing is given back and nothing is dispatched by it."},
		Fields: []Field{
			{Label: "finding", Options: []string{"happened", "did not happen", "cannot tell"}, Chosen: 1},
			{Label: "evidence", Value: "ledger export 2026-01-05 09:00\x1b[2J, no charge for order 42 by the payment provider; 日本語も", Cursor: 20, Rows: 2, Focused: true},
			{Label: "reason", Hint: "why, for whoever reads the ledger", Rows: 3, Problem: "a reason is needed"},
			{Label: "to confirm", Hint: "type the last four characters of i-e45x"},
		},
	}
}

func sampleHelp() HelpView {
	return HelpView{Title: "queue", Sections: []HelpSection{
		{Name: "move", Keys: []Key{{Key: "up/down", Does: "to the next item"}, {Key: "enter", Does: "opens the item; nothing is decided by it"}, {Key: "g", Does: "to the top"}}},
		{Name: "act", Keys: []Key{
			{Key: "c", Does: "claims the item for 15 minutes"},
			{Key: "a", Does: "approve", Off: "the gate would say STOP_UNSAFE_TO_REPEAT"},
			{Key: "ctrl+s", Does: "decides, in a form, and nothing else does"},
		}},
		{Name: "anywhere", Keys: []Key{{Key: "space", Does: "freezes what is shown"}, {Key: "q", Does: "quits, at the root only"}}},
	}}
}

// screens are every screen with something on it, and its special states.
func screens() map[string]func(Page) string {
	run := sampleRun()
	tree := NewTree(run, func(n NodeID) bool { return n == OpNode("plan") })
	items, runs, ds := sampleItems(), sampleRuns(), sampleDecisions()
	review, form, help := sampleReview(), sampleForm(), sampleHelp()
	gone := sampleReview()
	gone.Moved = &gate.DecisionRow{
		Seq: 901, At: gate.InstantOf(now.Add(-12 * time.Second)), Actor: gate.Actor{ID: "uid:1002", Name: "lee\x1b[m"}, Act: gate.ActReconcile, Verdict: gate.Resolved,
		Finding: gate.FindingHappened, Reason: "the bank\r\nhas the money",
	}
	gone.Gone = true
	over := sampleItem()
	over.State, over.Changed = gate.HoldResolved, gate.ChangedRow{
		Seq: 901, At: gone.Moved.At, By: gone.Moved.Actor, Act: gate.ActReconcile, Verdict: gate.Resolved,
		Finding: gate.FindingHappened, Reason: gone.Moved.Reason, Evidence: "ch_42",
	}
	over.Findings = []escalation.Finding{{
		Ordinal: 1, Finding: gate.FindingDidNotHappen, Seq: 880, At: gate.InstantOf(now.Add(-4 * time.Minute)), By: gate.Actor{ID: "uid:1001", Name: "dana"},
		Reason: "not in the export of 09:00", Evidence: "ledger export 2026-01-05 09:00",
	}}
	resolved := ReviewOf(over, "uid:1001")
	answered := sampleReview()
	answered.AsOf = now.Add(-8 * time.Second)
	answered.Answer = &gate.DecisionRow{
		Act: gate.ActApprove, Verdict: gate.Retry, Run: "run-1", Op: "charge-42",
		Permit: &gate.PermitRow{Ordinal: 2, NotBefore: gate.InstantOf(now.Add(-6 * time.Second))},
	}
	answered.Came = &gate.AttemptRow{Ordinal: 2, Outcome: gate.OutcomeSucceeded, ReportedAt: gate.InstantOf(now.Add(-2 * time.Second)), Result: "ch_42\x1b[2J"}
	screen := func(r RunScreen) func(Page) string {
		return func(p Page) string { p.Header.Current = -1; return Run(p, r) }
	}
	all := map[string]func(Page) string{
		"queue": func(p Page) string {
			return Queue(p, QueueView{Rows: items, Selected: items[0].ID, Me: "uid:1001", Marked: map[gate.ItemID]bool{items[3].ID: true}})
		},
		"queue-left": func(p Page) string {
			rows := sampleItems()
			return Queue(p, QueueView{Rows: rows, Me: "uid:1001", Left: map[gate.ItemID]string{rows[1].ID: "was resolved by dana\r (reconcile)"}})
		},
		"queue-snoozed": func(p Page) string {
			rows := sampleItems()[:2]
			for i := range rows {
				rows[i].Snoozed = gate.InstantOf(now.Add(time.Duration(i+1) * 12 * time.Minute))
			}
			return Queue(p, QueueView{Rows: rows, Selected: rows[1].ID, Me: "uid:1001", Snoozed: true})
		},
		"queue-resolved": func(p Page) string {
			rows := sampleItems()[:4]
			for i, how := range []struct {
				act     gate.Act
				finding gate.Finding
				by      string
			}{{gate.ActReconcile, gate.FindingHappened, "nora"}, {gate.ActApprove, 0, "dana"}, {gate.ActReconcile, gate.FindingCannotTell, "lee\x1b[m"}, {gate.ActReport, 0, "somebody-with-a-long-name"}} {
				r := &rows[i]
				r.State, r.Ended, r.Finding, r.EndedBy = gate.HoldResolved, how.act, how.finding, how.by
				r.Resolved = gate.InstantOf(now.Add(-time.Duration(i+1) * 12 * time.Minute))
			}
			return Queue(p, QueueView{Rows: rows, Selected: rows[1].ID, Me: "uid:1001", Resolved: true})
		},
		"queue-empty": func(p Page) string {
			p.Header = Header{Place: "/run/tollgate/gate.sock", Attached: true, Operator: "lee", Source: "uid 1002", ReadOnly: true, Tabs: p.Header.Tabs, Lost: true, AsOf: now.Add(-90 * time.Second)}
			p.Notice = Notice{Text: "i-abcdefghij was resolved by dana\r\x1b[2J", Tone: Loud}
			return Queue(p, QueueView{})
		},
		"runs":            func(p Page) string { p.Header.Current = 1; return Runs(p, RunsView{Rows: runs, Selected: "run-1"}) },
		"runs-empty":      func(p Page) string { p.Header.Paused, p.Header.AsOf = true, now; return Runs(p, RunsView{}) },
		"run":             screen(RunScreen{Run: run, Tree: tree, Selected: OpNode("charge-42"), Decisions: ds}),
		"run-detail":      screen(RunScreen{Run: run, Tree: tree, Selected: "t:charge-42#1", Decisions: ds, Detail: true}),
		"run-agent":       screen(RunScreen{Run: run, Tree: tree, Selected: "a:planner/billing", Detail: true, Top: 2, DetailTop: 1}),
		"run-gone":        screen(RunScreen{Run: run, Tree: tree, Selected: "o:gone"}),
		"run-none":        screen(RunScreen{}),
		"review":          func(p Page) string { return Review(p, review) },
		"review-resolved": func(p Page) string { return Review(p, resolved) },
		"review-answered": func(p Page) string { return Review(p, answered) },
		"review-gone":     func(p Page) string { return Review(p, gone) },
		"review-end": func(p Page) string {
			v := review
			v.Top, v.Item.Deadline = 999, gate.InstantOf(now.Add(-130*time.Second))
			return Review(p, v)
		},
		"form": func(p Page) string { return Form(p, form) },
		"help": func(p Page) string { return Help(p, help) },
	}
	for _, more := range []map[string]func(Page) string{ledgerScreens(), dependencyScreens(), timelineScreens(), causeScreens(), fixtureScreens(), bulkScreens()} {
		maps.Copy(all, more)
	}
	return all
}
