package cli

import "github.com/spf13/cobra"

// helpCommand is cobra's, but a command that does not exist is an error.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND…]",
		Short:   "Say what a command does and what it takes",
		GroupID: groupProgram,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			if parent, rest, err := cmd.Root().Find(args); err == nil && len(rest) == 0 {
				for _, c := range parent.Commands() {
					if c.IsAvailableCommand() {
						names = append(names, completion(c.Name(), c.Short))
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return misused(cmd, "unknown command %q", args)
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}
