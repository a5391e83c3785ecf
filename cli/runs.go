package cli

import (
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"tollgate/gate"
	"tollgate/views"
)

func (a *app) runsCommand() *cobra.Command {
	return family("runs", "Runs: their budgets, their operations, their retry trees", groupPeople,
		a.runsListCommand(), a.runsShowCommand(), a.runsTreeCommand(), a.runsStartCommand(), a.runsEndCommand())
}

func (a *app) runsListCommand() *cobra.Command {
	var (
		q     gate.RunsQuery
		limit int64
	)
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List runs: those with open items first, then the newest first",
		Example: "  tollgate runs list --filter 'state:exhausted agent:planner* key:8f1c*'",
		Args:    noArgs,
		RunE: a.reading(func(cmd *cobra.Command, r gate.Reader, _ []string) error {
			q.Now = time.Now().UTC()
			t := newTable(runColumns)
			err := list(limit, &q.Window, func(r *gate.RunRow) string { return string(r.Run) },
				func() ([]gate.RunRow, bool, error) {
					page, err := r.Runs(cmd.Context(), q)
					return page.Rows, page.More, err
				},
				func(row *gate.RunRow) error {
					if a.json {
						return a.object(row)
					}
					t.run(row, q.Now)
					return nil
				})
			if err != nil || a.json {
				return err
			}
			return a.print(t)
		}),
	}
	a.clientFlags(cmd)
	cmd.Flags().Var(&wordValue{into: &q.State, kind: "STATE", words: []string{"active", "exhausted", "ended"}}, "state", "only runs in this state: active, exhausted or ended")
	filterFlag(cmd, gate.FilterRuns, &q.Filter, "runs")
	limitFlag(cmd, &limit, "runs")
	return cmd
}

var runColumns = []column{
	{head: "RUN", least: 8},
	{head: "AGENT", least: 8, rank: 4},
	{head: "STATE"},
	{head: "ATTEMPTS", number: true},
	{head: "SIDE EFFECTS", number: true},
	{head: "TOKENS", number: true, rank: 3},
	{head: "DEADLINE"},
	{head: "OPEN ITEMS", number: true},
	{head: "OPERATIONS", number: true, rank: 5},
	{head: "LAST CODE", least: 12, rank: 2},
}

func (t *table) run(r *gate.RunRow, now time.Time) {
	t.row(string(r.Run), r.Agent, r.State.String()+yes(r.Ending && r.Ended.IsZero(), ", ending"),
		spent(r.Budget.Attempts), spent(r.Budget.SideEffects), tokens(r.Budget.RetryTokens),
		left(r.Budget.Deadline.Time, now), number(r.OpenItems), number(r.Operations), string(r.LastCode))
}

func (a *app) runsShowCommand() *cobra.Command {
	return a.oneRun("show RUN", "Show one run: its budget, and its operations", a.printRun)
}

func (a *app) runsTreeCommand() *cobra.Command {
	return a.oneRun("tree RUN", "Show the retry tree of a run: agents, operations, attempts, and what each spent",
		func(run *gate.RunView, now time.Time) error {
			_, err := io.WriteString(a.out, views.PrintTree(run, now, a.cells))
			return err
		})
}

// oneRun returns a command that prints one run.
func (a *app) oneRun(use, short string, show func(run *gate.RunView, now time.Time) error) *cobra.Command {
	cmd := &cobra.Command{
		Use:               use,
		Short:             short,
		Args:              takes("RUN"),
		ValidArgsFunction: a.completeRuns,
		RunE: a.reading(func(cmd *cobra.Command, r gate.Reader, args []string) error {
			now := time.Now().UTC()
			run, err := r.Run(cmd.Context(), gate.RunID(args[0]), now)
			if err != nil {
				return err
			}
			if a.json {
				return a.object(run)
			}
			return show(&run, now)
		}),
	}
	a.clientFlags(cmd)
	return cmd
}

func (a *app) printRun(run *gate.RunView, now time.Time) error {
	if err := a.printFields(runFields(&run.RunRow, now)); err != nil {
		return err
	}
	if len(run.Ops) == 0 {
		return nil
	}
	if err := a.say(""); err != nil {
		return err
	}
	t := newTable(operationColumns)
	for i := range run.Ops {
		o := &run.Ops[i]
		stop := ""
		if o.Stop != 0 {
			stop = o.Stop.String()
		}
		t.row(string(o.Op), o.State.String(), o.Tool, o.Effect.String(), strconv.FormatInt(o.Permits, 10), known(o.KnownEffect), stop, string(o.Item), o.Key)
	}
	return a.print(t)
}

var operationColumns = []column{
	{head: "OPERATION", least: 9},
	{head: "STATE"},
	{head: "TOOL", least: 15, rank: 1},
	{head: "EFFECT", rank: 3},
	{head: "ATTEMPTS", number: true, rank: 2},
	{head: "KNOWN EFFECT"},
	{head: "STOP"},
	{head: "ITEM"},
	{head: "KEY", rank: 4},
}

// known prints what is known of a write's effect. An unknown one is never
// printed bare.
func known(effect gate.KnownEffect) string {
	if effect == gate.KnownUnknown {
		return views.OutcomeWord(gate.OutcomeUnknown)
	}
	return effect.String()
}

func runFields(r *gate.RunRow, now time.Time) *fields {
	f := new(fields)
	f.add("run", string(r.Run))
	f.add("agent", r.Agent)
	f.add("policy", r.Policy)
	f.add("state", r.State.String()+yes(r.Ending && r.Ended.IsZero(), ", ending"))
	f.add("attempts", spent(r.Budget.Attempts))
	f.add("side effects", spent(r.Budget.SideEffects))
	f.add("retry tokens", tokens(r.Budget.RetryTokens))
	f.add("overdrawn", yes(r.Budget.Overdrawn, "a client reported more attempts than were left"))
	f.add("started", instant(r.Budget.Started.Time))
	f.add("deadline", instant(r.Budget.Deadline.Time)+", "+left(r.Budget.Deadline.Time, now))
	f.add("reserve", millis(r.Budget.ReserveMS))
	for _, c := range r.Caps {
		f.add("cap of "+c.Agent, spent(c.Attempts))
	}
	f.add("operations", number(r.Operations))
	f.add("in flight", number(r.InFlight))
	f.add("open items", number(r.OpenItems))
	f.add("of them in dead-letter", number(r.DeadLetters))
	f.add("last code", string(r.LastCode))
	f.add("ended", instant(r.Ended.Time))
	f.add("goes on from", string(r.Parent))
	f.add("goes on in", string(r.Next))
	f.add("cause", seq(r.Cause))
	f.add("opened", seq(r.Opened))
	return f
}
