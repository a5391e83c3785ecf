package cli

import (
	"time"

	"github.com/spf13/cobra"

	"tollgate/gate"
)

func (a *app) runsStartCommand() *cobra.Command {
	var start gate.Start
	cmd := &cobra.Command{
		Use:   "start RUN",
		Short: "Start a run, or find the one that has this id, and print its budget",
		Long: `Start a run, or find the one that has this id, and print its budget. A run has
explicit limits or names a policy that holds them: no numbers are built in.`,
		Example: `  tollgate runs start r1 --attempts 6 --deadline 30s --reserve 2s --side-effects 1`,
		Args:    takes("RUN"),
	}
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		start.Actor, start.Run = self(), gate.RunID(args[0])
		return asFlag(cmd, start.Check())
	}
	cmd.RunE = a.calling(func(cmd *cobra.Command, g *gateway, _ []string) error {
		run, err := g.Start(cmd.Context(), start)
		if err != nil {
			return err
		}
		if a.json {
			return a.object(run)
		}
		return a.printFields(runFields(&run, time.Now().UTC()))
	})
	a.clientFlags(cmd)
	cmd.Flags().StringVar(&start.Agent, "agent", "", "who runs it: the root of its tree")
	cmd.Flags().StringVar(&start.Policy, "policy", "", "a policy of the contract; may hold the limits")
	limitFlags(cmd, &start.Limits, &start.Caps)
	return cmd
}

func (a *app) runsEndCommand() *cobra.Command {
	var end gate.End
	cmd := &cobra.Command{
		Use:               "end RUN",
		Short:             "End a run; what is in flight is waited for",
		Args:              takes("RUN"),
		ValidArgsFunction: a.completeRuns,
	}
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		end.Actor, end.Run = self(), gate.RunID(args[0])
		return asFlag(cmd, end.Check())
	}
	cmd.RunE = a.calling(func(cmd *cobra.Command, g *gateway, _ []string) error {
		return a.answered(g.End(cmd.Context(), end))
	})
	a.clientFlags(cmd)
	cmd.Flags().StringVar(&end.Reason, "reason", "", "why; stands in the ledger")
	return cmd
}
