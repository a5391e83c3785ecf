package cli

import "github.com/spf13/cobra"

func (a *app) console(cmd *cobra.Command, _ []string) error {
	return needTerminal()
}
