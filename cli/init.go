package cli

import (
	"github.com/spf13/cobra"

	"tollgate/runstore"
)

// initRow says what init has made.
type initRow struct {
	Store string `json:"store"`
}

func (a *app) initCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Make a store",
		Long: `Make a store: an empty ledger in a directory that does not exist yet or is empty.
No other command makes one.`,
		Example: `  tollgate init --store ./store`,
		GroupID: groupStore,
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			dir, err := a.at.storeDir()
			if err != nil {
				return err
			}
			if err := runstore.Init(dir, ""); err != nil {
				if code, _ := exitOf(err); code == exitUnexpected {
					err = &fault{code: exitNoStore, err: err}
				}
				return err
			}
			if a.json {
				return a.object(initRow{Store: dir})
			}
			return a.say("made a store at %s", dir)
		},
	}
	a.storeFlag(cmd)
	return cmd
}
