package gate

import "time"

// RowOfRun returns a run as a list shows it, with the time left as of now.
func RowOfRun(r *Run, now time.Time) RunRow {
	row := RunRow{
		Run: r.ID, Agent: r.Agent, Policy: r.Policy, State: r.State(), Ending: r.Ending,
		Budget:     rowOfBudget(r.Budget, now),
		Operations: r.Operations, InFlight: r.InFlight, OpenItems: r.OpenItems, DeadLetters: r.DeadLetters,
		LastCode: r.LastCode, LastAt: Instant{r.LastAt}, Ended: Instant{r.Ended},
		Parent: r.Parent, Next: r.Next, Cause: r.Cause, Opened: r.Opened,
	}
	row.Budget.Overdrawn = r.Overdrawn || row.Budget.Overdrawn
	for _, c := range r.Caps {
		row.Caps = append(row.Caps, CapRow{Agent: c.Agent, Attempts: Spent{c.Spent, c.Attempts}})
	}
	return row
}

func rowOfBudget(b Budget, now time.Time) BudgetRow {
	row := BudgetRow{
		Attempts:    Spent{b.Spent.Attempts, b.MaxAttempts},
		SideEffects: Spent{b.Spent.SideEffects, b.MaxSideEffects},
		Started:     Instant{b.Started}, Deadline: Instant{b.Deadline},
		ReserveMS: b.Reserve.Milliseconds(), LeftMS: b.Left(now).Milliseconds(),
		Overdrawn: b.Overdrawn(),
	}
	if b.TokensLimited {
		row.RetryTokens = &Spent{b.Spent.RetryTokens, b.MaxRetryTokens}
	}
	return row
}

// RowOfOp returns an operation of a run as it is shown at now.
func RowOfOp(o *Operation, r *Run, now time.Time) OpRow {
	row := OpRow{
		Run: o.Run, Op: o.ID, State: o.State(now), Agent: agentOf(o, r), Path: o.Path, Parent: o.Parent,
		Tool: o.Tool, Dependency: o.Dependency, Effect: o.Effect, RetrySafety: o.Safety,
		KnownEffect: o.KnownEffect(), Key: o.Key, Digest: o.Digest.String(), Permits: o.Permits,
		Attempts: make([]AttemptRow, len(o.Attempts)),
		Stop:     o.Stop, Terminal: o.Terminal, Result: o.Result, Last: o.Last,
	}
	for i := range o.Attempts {
		row.Attempts[i] = rowOfAttempt(&o.Attempts[i])
		if paid := o.Attempts[i].Run; paid != o.Run {
			row.Attempts[i].PaidBy = paid
		}
	}
	if last := o.Newest(); last != nil && last.InFlight() {
		row.Permit = &PermitRow{
			Ordinal: last.Ordinal, Key: o.Key,
			NotBefore: Instant{last.NotBefore}, NotAfter: Instant{last.NotAfter}, Inner: innerLeft(o, last, r),
		}
	}
	if o.Hold.State != HoldNone {
		row.Item, row.ItemState = ItemIDOf(o.Run, o.ID), o.Hold.State
		row.Kind, row.Version = o.Hold.Kind, o.Hold.Version
	}
	if !o.Successor.IsZero() {
		next := o.Successor
		row.Successor = &next
	}
	return row
}

// innerLeft is how many attempts the client of a dispatch in flight may make
// inside it as its run stands now: what is left, and the one that has been
// charged (R-B8). It is never more than its permit said.
func innerLeft(o *Operation, a *Attempt, r *Run) int64 {
	n := r.Budget.AttemptsLeft()
	if o.Effect == EffectWrite {
		n = min(n, r.Budget.SideEffectsLeft())
	}
	for i := range r.Caps {
		if r.Caps[i].covers(a.Agent) {
			n = min(n, r.Caps[i].Attempts-r.Caps[i].Spent)
		}
	}
	return 1 + max(0, n)
}

// agentOf returns who asked first: a path in the run's tree (R-A1).
func agentOf(o *Operation, r *Run) string {
	if o.Agent == "" {
		return r.Agent
	}
	return o.Agent
}

func rowOfAttempt(a *Attempt) AttemptRow {
	row := AttemptRow{
		Ordinal: a.Ordinal, Seq: a.Seq, Tool: a.Tool, Agent: a.Agent, Path: a.Path,
		Permitted: Instant{a.Permitted}, NotBefore: Instant{a.NotBefore}, NotAfter: Instant{a.NotAfter},
		Outcome: a.Outcome, Finding: a.Finding, Result: a.Result,
	}
	if a.InFlight() {
		return row
	}
	row.ReportedAt, row.Inner = Instant{a.ReportedAt}, a.Inner
	if a.Failure.Code != "" {
		class, failure := a.Class, a.Failure
		row.Class, row.Refused, row.Failure = &class, a.Refused, &failure
	}
	return row
}

// row returns the claim as rows show it, nil for nobody's.
func (k Claim) row() *ClaimRow {
	if k.By.ID == "" {
		return nil
	}
	return &ClaimRow{By: shownName(k.By), ID: k.By.ID, Until: Instant{k.Until}}
}

// RowOfItem returns the item of an operation as the queue shows it. The
// operation's hold is not the zero one.
func RowOfItem(o *Operation, r *Run) ItemRow {
	h := &o.Hold
	row := ItemRow{
		ID: ItemIDOf(o.Run, o.ID), Version: h.Version, Kind: h.Kind, State: h.State,
		Run: o.Run, Op: o.ID, Agent: agentOf(o, r), Tool: o.LastTool, Dependency: o.Dependency,
		Effect: o.Effect, RetrySafety: o.Safety, Key: o.Key, Code: o.LastError.Code, Verdict: o.heldBy(),
		Attempts: Spent{r.Budget.Spent.Attempts, r.Budget.MaxAttempts}, Permits: o.Permits,
		Opened: Instant{h.Since}, Deadline: Instant{r.Budget.Deadline},
		Claim: h.Claim.row(), Snoozed: Instant{h.Snoozed},
		Approvals: make([]GrantRow, len(h.Approvals)), NeedsTwo: o.Approval == ApprovalTwoPerson,
		Duplicate: h.Duplicate,
	}
	for i, g := range h.Approvals {
		row.Approvals[i] = GrantRow{By: g.By, Seq: g.Seq, At: Instant{g.At}}
	}
	if last := o.lastFailed(); last != nil {
		row.Class = last.Class
	}
	if last := o.lastReported(); last != nil {
		row.Outcome = last.Outcome
	}
	switch {
	case o.Settled == SettledSucceeded && o.Effect == EffectWrite:
		row.Outcome = OutcomeSucceeded
	case o.Unknowns > 0:
		row.Outcome = OutcomeUnknown
	}
	if h.State == HoldResolved {
		row.Resolved, row.Ended = Instant{h.Changed.At}, h.Changed.Act
		row.EndedBy, row.EndedID = shownName(h.Changed.By), h.Changed.By.ID
		if row.Ended == ActReconcile {
			row.Finding = o.Evidence
		}
		if h.Kind == KindOutcomeUnknown && o.Unknowns == 0 {
			row.Kind = KindStopped // the outcome has become known (R-P2)
		}
	}
	return row
}

// heldBy returns the verdict that an item answers: the stored stop, the wish
// for an approval, or else the record of an unknown outcome (R-T6, R-C6).
func (o *Operation) heldBy() Verdict {
	switch {
	case o.Stop != 0:
		return o.Stop
	case o.Hold.Kind == KindApproval:
		return StopApprovalRequired
	default:
		return Recorded
	}
}

func shownName(a Actor) string {
	if a.Name == "" {
		return a.ID
	}
	return a.Name
}

// RowOf returns a decision as it is shown and sent.
func RowOf(d *Decision) DecisionRow {
	row := DecisionRow{
		Seq: d.Seq, At: Instant{d.Inputs.Now}, Act: d.Command.Act(), Verdict: d.Verdict,
		Run: d.Run, Op: d.Op, Ordinal: d.Ordinal, Path: d.Path, Agent: d.Agent, Actor: d.Command.Who(),
		Tool: d.Tool, Dependency: d.Dependency, Effect: d.Effect,
		DelayMS: d.Delay.Milliseconds(), RetryAt: Instant{d.RetryAt},
		Key: d.Key, KeyIgnored: d.KeyIgnored, Code: d.Code, Outcome: d.Outcome,
		Item: d.Item(), Cause: d.Cause, Terminal: d.Terminal, Result: d.Result, NewOp: d.NewOp,
		Jitter: d.Inputs.Jitter, Contract: d.Contract.String(), Rules: d.Rules, Hash: d.Hash.String(),
	}
	row.says(d.Command)
	if !d.Before.Started.IsZero() {
		before, after := rowOfBudget(d.Before, d.Inputs.Now), rowOfBudget(d.After(), d.Inputs.Now)
		row.Before, row.After = &before, &after
	}
	if p := d.Permit; !p.IsZero() {
		row.Permit = &PermitRow{Ordinal: p.Ordinal, Key: p.Key, NotBefore: Instant{p.NotBefore}, NotAfter: Instant{p.NotAfter}, Inner: p.Inner}
		if p.Op != d.Op {
			row.Permit.Op = p.Op
		}
	}
	if d.Code != "" && d.Verdict != Stale { // STALE looks at no class
		class := d.Class
		row.Class = &class
	}
	if d.Terminal != nil || d.Route != RouteReturn {
		route := d.Route
		if d.Terminal != nil {
			route = d.Terminal.NextAction
		}
		row.Route = &route
	}
	if d.NewRun != nil && d.NewRun.ID != d.Run {
		row.NewRun = d.NewRun.ID
	}
	if c := d.Changed; c != nil {
		row.Changed = &ChangedRow{Seq: c.Seq, At: Instant{c.At}, By: c.By, Act: c.Act, Verdict: c.Verdict}
	}
	if b := d.Depends.Breaker; b != nil {
		row.Breaker = &BreakerRow{State: b.State, Until: Instant{b.Until}}
	}
	return row
}

// says takes into a row what the command itself says.
func (row *DecisionRow) says(c Command) {
	switch c := c.(type) {
	case Ask:
		row.Trace = c.Trace
	case End:
		row.Reason = c.Reason
	case Verb:
		row.Reason, row.Evidence, row.Finding, row.Ruling = c.Reason, c.Evidence, c.Finding, c.Ruling
	}
}

// RowOfDependency returns what is known of a dependency at now. How many items
// wait on it is the engine's to fill in.
func RowOfDependency(d *Dependency, now time.Time) DependencyRow {
	row := DependencyRow{
		Name: d.Name, Breaker: d.Breaker.State, Since: Instant{d.Breaker.Since}, Until: Instant{d.Breaker.Until},
		WindowMS: d.Window.Milliseconds(),
	}
	if row.Breaker = d.Breaker.At(now); row.Breaker != d.Breaker.State {
		row.Since = row.Until
	}
	if !d.Breaker.Probe.IsZero() {
		probe := d.Breaker.Probe
		row.Probe = &probe
	}
	row.Requests, row.Failures = d.requests(now, d.Window)
	row.Permits, row.Repeats = d.permits(now, d.Window)
	return row
}
