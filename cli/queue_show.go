package cli

import (
	"io"
	"time"

	"github.com/spf13/cobra"

	"tollgate/gate"
	"tollgate/views"
)

// pipeCells is how wide a review is that goes to a pipe.
const pipeCells = 80

func (a *app) queueShowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:               "show ITEM",
		Short:             "Show one item whole, with what the gate would answer to each verb now",
		Args:              takes("ITEM"),
		ValidArgsFunction: a.completeItems,
	}
	cmd.RunE = a.calling(func(cmd *cobra.Command, g *gateway, args []string) error {
		it, err := g.Item(cmd.Context(), gate.ItemID(args[0]))
		if err != nil {
			return err
		}
		if a.json {
			return a.object(it)
		}
		cells := a.cells
		if cells < 1 {
			cells = pipeCells
		}
		_, err = io.WriteString(a.out, views.PrintReview(views.ReviewOf(&it, self().ID), time.Now().UTC(), cells))
		return err
	})
	a.clientFlags(cmd)
	return cmd
}
