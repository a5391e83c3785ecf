package cli

import (
	"github.com/spf13/cobra"

	"tollgate/fixtures"
)

func (a *app) demoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Open the console on the embedded fixtures, playing live in a throw-away store",
		Long: `Open the console on the embedded fixtures: they begin one after another and play in
real time, in a store that is thrown away at the end. Verbs are real: what the gate
permits is dispatched by the script's own caller.`,
		GroupID: groupConsole,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := openFixtures(fixtures.Names())
			if err != nil {
				return err
			}
			return watch(cmd.Context(), all, nil, 1)
		},
	}
}
