package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"tollgate/api"
	"tollgate/gate"
)

func (a *app) ledgerCommand() *cobra.Command {
	return family("ledger", "The ledger: every decision of the gate", groupPeople,
		a.ledgerTailCommand(), a.ledgerShowCommand())
}

func (a *app) ledgerTailCommand() *cobra.Command {
	var (
		q       gate.LedgerQuery
		from    *int64
		limit   int64
		run, op string
		follow  bool
	)
	cmd := &cobra.Command{
		Use:     "tail",
		Short:   "Print the newest decisions, oldest of them first; with --from, those from a seq on",
		Example: "  tollgate ledger tail --filter 'manual:yes verdict:STOP_* since:8h'",
		Args:    noArgs,
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			if op != "" && run == "" {
				return misused(cmd, "--op needs --run: an operation is named within its run")
			}
			return nil
		},
		RunE: a.reading(func(cmd *cobra.Command, r gate.Reader, _ []string) error {
			q.Run, q.Op, q.Now = gate.RunID(run), gate.OpID(op), time.Now().UTC()
			rows, next, err := newestOrFrom(cmd.Context(), r, q, from, limit)
			if err != nil {
				return err
			}
			t := newTable(decisionColumns)
			if err := a.printLedger(t, rows); err != nil || !follow {
				return err
			}
			return a.followLedger(cmd.Context(), r, q, next, t)
		}),
	}
	a.clientFlags(cmd)
	f := cmd.Flags()
	f.Var(&countValue{n: &from, least: 1, most: 1<<63 - 1}, "from", "print from this seq on")
	f.StringVar(&run, "run", "", "only this run")
	f.StringVar(&op, "op", "", "only this operation of the run")
	f.BoolVarP(&follow, "follow", "f", false, "go on printing what comes")
	filterFlag(cmd, gate.FilterLedger, &q.Filter, "decisions")
	limitFlag(cmd, &limit, "decisions")
	return cmd
}

// newestOrFrom returns the decisions to begin with, in their order, and the
// seq from which what comes later is read.
func newestOrFrom(ctx context.Context, r gate.Reader, q gate.LedgerQuery, from *int64, limit int64) (rows []gate.DecisionRow, next uint64, err error) {
	q.Back = from == nil
	if from != nil {
		q.From = uint64(*from)
	}
	for limit > 0 {
		q.Limit = int(min(limit, gate.MaxWindow))
		page, err := r.Ledger(ctx, q)
		if err != nil {
			return nil, 0, err
		}
		rows, limit = append(rows, page.Rows...), limit-int64(len(page.Rows))
		if page.Next == 0 || page.Next == q.From {
			break
		}
		q.From = page.Next
	}
	if q.Back {
		slices.Reverse(rows)
	}
	if len(rows) > 0 {
		return rows, rows[len(rows)-1].Seq + 1, nil
	}
	if from != nil {
		return nil, uint64(*from), nil
	}
	return nil, 1, nil
}

// followLedger prints what is committed from next on, until it is interrupted
// or the gate has gone.
func (a *app) followLedger(ctx context.Context, r gate.Reader, q gate.LedgerQuery, next uint64, t *table) error {
	client, ok := r.(*api.Client)
	if !ok {
		return &fault{code: exitNoStore, err: errors.New("--follow: no gate is running, so nothing more will come"), hint: "tollgate serve runs a gate"}
	}
	for {
		q.From, q.Back, q.Limit, q.Now = next, false, gate.MaxWindow, time.Now().UTC()
		page, err := client.WaitLedger(ctx, q, time.Minute)
		switch {
		case ctx.Err() != nil:
			return nil // it was asked to stop
		case err != nil:
			return err
		}
		if err := a.printLedger(t, page.Rows); err != nil {
			return err
		}
		next = max(next, page.Next)
	}
}

var decisionColumns = []column{
	{head: "SEQ", number: true},
	{head: "AT (UTC)"},
	{head: "RUN", least: 8},
	{head: "OPERATION", least: 9},
	{head: "ATTEMPT", number: true, rank: 2},
	{head: "ACT"},
	{head: "VERDICT"},
	{head: "CODE", least: 12, rank: 1},
	{head: "BUDGET", number: true, rank: 3},
	{head: "ACTOR", least: 8, rank: 4},
}

// printLedger prints decisions. A terminal is told when they were to the
// second, and not the year: ledger show has the whole of it.
func (a *app) printLedger(t *table, rows []gate.DecisionRow) error {
	if a.json {
		for i := range rows {
			if err := a.object(&rows[i]); err != nil {
				return err
			}
		}
		return nil
	}
	for i := range rows {
		d := &rows[i]
		at, budget := instant(d.At.Time), ""
		if a.terminal {
			at = d.At.UTC().Format("01-02 15:04:05")
		}
		if d.After != nil {
			budget = spent(d.After.Attempts)
		}
		t.row(seq(d.Seq), at, string(d.Run), string(d.Op), number(d.Ordinal), d.Act.String(), d.Verdict.String(), string(d.Code), budget, name(d.Actor))
	}
	return a.print(t)
}

func name(a gate.Actor) string {
	if a.Name != "" {
		return a.Name
	}
	return a.ID
}

func (a *app) ledgerShowCommand() *cobra.Command {
	var n *int64
	cmd := &cobra.Command{
		Use:   "show SEQ",
		Short: "Show one decision whole, with its inputs and its hash",
		Args:  takes("SEQ"),
		PreRunE: func(cmd *cobra.Command, args []string) error {
			if err := (&countValue{n: &n, least: 1, most: 1<<63 - 1}).Set(args[0]); err != nil {
				return misused(cmd, "SEQ: %w, got %q", err, args[0])
			}
			return nil
		},
		RunE: a.reading(func(cmd *cobra.Command, r gate.Reader, _ []string) error {
			at := uint64(*n)
			page, err := r.Ledger(cmd.Context(), gate.LedgerQuery{From: at, Limit: 1})
			switch {
			case err != nil:
				return err
			case len(page.Rows) == 0 || page.Rows[0].Seq != at:
				return fmt.Errorf("seq %d: %w", at, gate.ErrNoDecision)
			}
			return a.printDecision(&page.Rows[0])
		}),
	}
	a.clientFlags(cmd)
	return cmd
}
