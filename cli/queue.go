package cli

import (
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"tollgate/gate"
	"tollgate/views"
)

func (a *app) queueCommand() *cobra.Command {
	queue := family("queue", "The queue: what waits for a person, and every verb on it", groupPeople,
		append([]*cobra.Command{a.queueListCommand(), a.queueShowCommand()}, a.verbCommands()...)...)
	queue.Long = `The queue: what waits for a person, and every verb on it. queue show prints an item
with its version; what decides takes that version, so that what was seen is what is
decided on.

A verb takes several items, each as ITEM@VERSION, or with --filter those that match,
which --yes-N counts. The set is frozen then, each goes through the gate alone, and there
is a line per item. When a breaker opens, the rest is skipped.

The exit code of a verb is 6 when the gate says stop, or skips an item, and 7 when an
item had moved; of many the highest counts.`
	return queue
}

func (a *app) queueListCommand() *cobra.Command {
	var (
		q     gate.ItemsQuery
		run   string
		limit int64
		group bool
	)
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List what waits for a person, in the order of the queue; what is resolved, the newest first",
		Example: "  tollgate queue list --filter 'dep:payments* !code:timeout since:1h'",
		Args:    noArgs,
		RunE: a.reading(func(cmd *cobra.Command, r gate.Reader, _ []string) error {
			if group {
				return a.queueByCause(cmd, r, q.Filter)
			}
			q.Now, q.Run = time.Now().UTC(), gate.RunID(run)
			columns, row := itemColumns, itemRow
			switch {
			case q.Snoozed:
				columns, row = snoozedColumns, snoozedRow
			case q.State == gate.HoldResolved:
				columns, row = resolvedColumns, resolvedRow
			}
			t := newTable(columns)
			err := list(limit, &q.Window, func(i *gate.ItemRow) string { return string(i.ID) },
				func() ([]gate.ItemRow, bool, error) {
					page, err := r.Items(cmd.Context(), q)
					return page.Rows, page.More, err
				},
				func(i *gate.ItemRow) error {
					if a.json {
						return a.object(i)
					}
					t.row(row(i, q.Now)...)
					return nil
				})
			if err != nil || a.json {
				return err
			}
			return a.print(t)
		}),
	}
	a.clientFlags(cmd)
	f := cmd.Flags()
	f.Var(&wordValue{into: stateValue{&q}, kind: "STATE", words: []string{"open", "snoozed", "dead-letter", "resolved"}}, "state", "items in this state: open (the default), snoozed (open, and put off), dead-letter or resolved")
	f.Var(&wordValue{into: &q.Kind, kind: "KIND", words: []string{"outcome-unknown", "approval", "exhausted", "stopped"}}, "kind", "only this kind: outcome-unknown, approval, exhausted or stopped")
	f.StringVar(&run, "run", "", "only this run")
	f.BoolVar(&group, "group", false, "what is open by cause: dependency, code and class, the largest first")
	filterFlag(cmd, gate.FilterQueue, &q.Filter, "items")
	limitFlag(cmd, &limit, "items")
	return cmd
}

// stateValue is the state of an item as the lists have it: those that are put
// off have one of their own.
type stateValue struct{ q *gate.ItemsQuery }

// UnmarshalText implements encoding.TextUnmarshaler.
func (v stateValue) UnmarshalText(b []byte) error {
	if v.q.Snoozed = string(b) == "snoozed"; v.q.Snoozed {
		b = []byte(gate.HoldOpen.String())
	}
	return v.q.State.UnmarshalText(b)
}

var itemColumns = []column{
	{head: "ITEM"},
	{head: "KIND"},
	{head: "VERSION", number: true, rank: 3},
	{head: "RUN", least: 8},
	{head: "OPERATION", least: 9},
	{head: "TOOL", least: 15, rank: 2},
	{head: "CODE", least: 12, rank: 1},
	{head: "ATTEMPTS", number: true, rank: 4},
	{head: "DEADLINE"},
	{head: "OPENED", rank: 5},
	{head: "CLAIMED BY", least: 10},
}

func itemRow(i *gate.ItemRow, now time.Time) []string {
	holder := ""
	if i.Claim.Holds(now) {
		holder = i.Claim.By
	}
	return []string{
		string(i.ID), views.KindWord(i.Kind), strconv.FormatInt(i.Version, 10), string(i.Run), string(i.Op), i.Tool,
		string(i.Code), strconv.FormatInt(i.Permits, 10), left(i.Deadline.Time, now), instant(i.Opened.Time), holder,
	}
}

// snoozedColumns say when an item comes back where itemColumns say since when it
// waits.
var snoozedColumns = func() []column {
	columns := slices.Clone(itemColumns)
	columns[itemOpened] = column{head: "BACK AT", rank: 1}
	return columns
}()

const itemOpened = 9 // the column of itemColumns

func snoozedRow(i *gate.ItemRow, now time.Time) []string {
	row := itemRow(i, now)
	row[itemOpened] = instant(i.Snoozed.Time)
	return row
}

// resolvedColumns say how, by whom and when where itemColumns say what is left
// and who has it.
var resolvedColumns = []column{
	{head: "ITEM"},
	{head: "RUN", least: 8},
	{head: "OPERATION", least: 9},
	{head: "TOOL", least: 15, rank: 2},
	{head: "CODE", least: 12, rank: 3},
	{head: "ATTEMPTS", number: true, rank: 4},
	{head: "ENDED"},
	{head: "BY", least: 10},
	{head: "AT", rank: 1},
}

func resolvedRow(i *gate.ItemRow, _ time.Time) []string {
	return []string{
		string(i.ID), string(i.Run), string(i.Op), i.Tool, string(i.Code), strconv.FormatInt(i.Permits, 10),
		views.EndedWord(i), i.EndedBy, instant(i.Resolved.Time),
	}
}
