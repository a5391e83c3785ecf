package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tollgate/escalation"
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
		_, err = io.WriteString(a.out, review(&it, time.Now().UTC(), cells))
		return err
	})
	a.clientFlags(cmd)
	return cmd
}

// review prints an item whole. One that is resolved offers no verb.
func review(it *escalation.Item, now time.Time, cells int) string {
	v := views.ReviewOf(it, self().ID)
	if it.Route != nil { // a rejection has an outcome of its own
		v.Route = it.Route.String()
	}
	if v.Resolved != nil {
		v.Resolved.Reason, v.Resolved.Evidence, v.Resolved.Finding = it.Changed.Reason, it.Changed.Evidence, it.Changed.Finding
		v.Verbs = []views.Preview{{Off: "the item is resolved"}}
	}
	var b strings.Builder
	b.WriteString(views.PrintReview(v, now, cells))
	for _, f := range it.Findings {
		said := fmt.Sprintf("attempt %d %s", f.Ordinal, f.Finding)
		if f.Seq > 0 {
			said += fmt.Sprintf(", by %s at %s, decision %d", actor(f.By), instant(f.At.Time), f.Seq)
		}
		b.WriteByte('\n')
		reviewPart(&b, "found", said, cells)
		reviewPart(&b, "because", f.Reason, cells)
		reviewPart(&b, "evidence", f.Evidence, cells)
	}
	return b.String()
}

// reviewPart writes one more part of a review, in its columns.
func reviewPart(b *strings.Builder, name, value string, cells int) {
	const at, most = 16, 400
	if value == "" {
		return
	}
	label := " " + views.Fit(name, at-1)
	for _, line := range views.Wrap(value, max(cells-at, 8), most) {
		b.WriteString(strings.TrimRight(label+line, " ") + "\n")
		label = strings.Repeat(" ", at)
	}
}
