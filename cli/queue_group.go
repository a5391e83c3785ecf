package cli

import (
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"tollgate/escalation"
	"tollgate/gate"
	"tollgate/views"
)

var causeColumns = []column{
	{head: "ITEMS", number: true},
	{head: "DEPENDENCY", least: 10},
	{head: "CODE", least: 12},
	{head: "CLASS", rank: 2},
	{head: "RUNS", number: true},
	{head: "FIRST", rank: 3},
	{head: "LAST", rank: 1},
	{head: "BREAKER"},
}

// queueByCause prints the open queue by cause: on a terminal with the line that
// says whether it is one dependency, in JSON as one object.
func (a *app) queueByCause(cmd *cobra.Command, r gate.Reader, filter gate.Filter) error {
	for _, other := range []string{"state", "kind", "run", "limit"} {
		if cmd.Flags().Changed(other) {
			return misused(cmd, "--%s: want none with --group, which is of all that is open; --filter chooses among it", other)
		}
	}
	page, err := escalation.Causes(cmd.Context(), r, time.Now().UTC(), filter)
	if err != nil {
		return err
	}
	if a.json {
		return a.object(page)
	}
	if a.terminal && page.Says != "" {
		if err := a.say("%s", page.Says); err != nil {
			return err
		}
	}
	t := newTable(causeColumns)
	for i := range page.Causes {
		t.row(causeRow(&page.Causes[i])...)
	}
	return a.print(t)
}

func causeRow(c *escalation.Cause) []string {
	class := "" // of an approval nothing has failed
	if c.Code != "" {
		class = views.ClassWord(c.Class)
	}
	return []string{
		strconv.FormatInt(c.Items, 10), c.Dependency, string(c.Code), class, strconv.FormatInt(c.Runs, 10),
		instant(c.First), instant(c.Last), c.Breaker.String(),
	}
}
