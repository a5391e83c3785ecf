package cli

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"tollgate/fixtures"
	"tollgate/gate"
)

// replay is one call of the command.
type replay struct {
	app      *app
	check    bool
	compare  []rules
	contract *gate.Contract // nil: each fixture's own
	engine   string
	store    string
	watch    bool
	speed    float64
}

func (a *app) replayCommand() *cobra.Command {
	r := &replay{app: a, engine: "memory", speed: 1}
	var compare, contract string
	cmd := &cobra.Command{
		Use:   "replay [FILE|NAME…]",
		Short: "Play fixtures through the gate under a virtual clock, and compare with what they expect",
		Long: `Play fixtures through the gate, the ledger and the queue under a virtual clock, and
compare with what they expect. A NAME is an embedded fixture; without any, all of
them. The exit code is 1 when an expectation differs.

--compare plays the same script by other rules too, with commas between them: gate;
ungated, where every repeat of every layer is dispatched; blanket:N, N repeats of
each failed call and no gate; or the path of a contract file, for the gate to go by.`,
		Example: `  tollgate replay --check
  tollgate replay --compare gate,blanket:2,ungated five-deep-stack`,
		GroupID: groupConsole,
		Args:    takes("FILE…"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return fixtures.Names(), cobra.ShellCompDirectiveDefault
		},
	}
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) (err error) {
		if r.compare, err = parseRules(compare); err != nil {
			return err
		}
		if contract != "" {
			if r.contract, err = readContract(contract); err != nil {
				return err
			}
		}
		return r.checkFlags(cmd)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			args = fixtures.Names()
		}
		all, err := openFixtures(args)
		if err != nil {
			return err
		}
		return r.run(cmd.Context(), all)
	}
	f := cmd.Flags()
	f.BoolVar(&r.check, "check", false, "play on memory and on bbolt, and compare the heads of their ledgers too")
	f.StringVar(&compare, "compare", "", "rules to play by, side by side: gate, ungated, blanket:N, FILE, with commas between")
	f.StringVar(&contract, "contract", "", "contract file to play under, in place of the fixture's policy and tools")
	f.StringVar(&r.engine, "engine", r.engine, "what to play on: memory or bbolt")
	f.StringVar(&r.store, "store", "", "play into this store, from now on, with the fixture's name before each run")
	f.BoolVar(&r.watch, "watch", false, "open the console on it while it plays")
	f.Float64Var(&r.speed, "speed", r.speed, "of --watch: 1 is real time")
	return cmd
}

func (r *replay) checkFlags(cmd *cobra.Command) error {
	set := cmd.Flags().Changed
	switch {
	case r.engine != "memory" && r.engine != "bbolt":
		return misused(cmd, "--engine: want memory or bbolt, got %q", r.engine)
	case !(r.speed >= 0.01 && r.speed <= 1000):
		return misused(cmd, "--speed: want a number from 0.01 to 1000, got %v", r.speed)
	case set("speed") && !r.watch:
		return misused(cmd, "--speed goes with --watch: without it the virtual clock does not wait")
	}
	for _, pair := range [][2]string{
		{"check", "compare"},
		{"check", "watch"},
		{"check", "engine"},
		{"check", "store"},
		{"compare", "watch"},
		{"compare", "contract"},
		{"compare", "engine"},
		{"compare", "store"},
		{"store", "engine"},
	} {
		if set(pair[0]) && set(pair[1]) {
			return misused(cmd, "--%s and --%s: want one of them, got both", pair[0], pair[1])
		}
	}
	return nil
}

// run plays all fixtures and prints a line for each.
func (r *replay) run(ctx context.Context, all []*fixtures.Fixture) error {
	switch {
	case r.watch:
		return watch(ctx, all, r.contract, r.speed)
	case r.compare != nil:
		return r.compareAll(ctx, all)
	}
	results, err := r.playAll(ctx, all)
	if err != nil {
		return err
	}
	passed := true
	t := newTable(replayColumns)
	for _, result := range results {
		passed = passed && result.Passed
		if r.app.json {
			if err := r.app.object(result); err != nil {
				return err
			}
			continue
		}
		r.app.warnDifferences(result)
		word, records, head := "passed", "", ""
		switch {
		case !result.Passed:
			word = "differs"
		case r.contract != nil:
			word = "played" // what is expected is what the fixture's own contract makes of it
		}
		if l := result.Ledger; l != nil {
			records, head = strconv.FormatUint(l.Records, 10), l.Head
		}
		t.row(result.Fixture, word, strconv.FormatInt(result.Dispatches, 10), records, virtual(result), head)
	}
	return r.finish(t, passed)
}

var replayColumns = []column{
	{head: "FIXTURE", least: 16},
	{head: "RESULT"},
	{head: "DISPATCHES", number: true},
	{head: "DECISIONS", number: true, rank: 1},
	{head: "VIRTUAL TIME", rank: 2},
	{head: "LEDGER", least: 16, rank: 3},
}

// finish prints the table and says by the exit code whether all was as expected.
func (r *replay) finish(t *table, passed bool) error {
	if !r.app.json {
		if err := r.app.print(t); err != nil {
			return err
		}
	}
	if !passed {
		return silent(exitUnexpected)
	}
	return nil
}

// warnDifferences prints what differs on standard error, a line each.
func (a *app) warnDifferences(r *fixtures.Result) {
	for _, d := range r.Differences {
		a.warn("%s: %s", r.Fixture, d)
	}
}
