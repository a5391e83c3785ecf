package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tollgate/escalation"
	"tollgate/gate"
)

// yesFlag adds --yes-N, which has the number in its name: a count that was
// typed for this call, and not a habit.
func yesFlag(cmd *cobra.Command, into **int64) {
	const name = "yes-N"
	f := cmd.Flags()
	f.SetNormalizeFunc(func(_ *pflag.FlagSet, given string) pflag.NormalizedName {
		count, ok := strings.CutPrefix(given, "yes-")
		if ok && (&countValue{n: into, least: 1, most: gate.MaxCount}).Set(count) == nil {
			return name
		}
		return pflag.NormalizedName(given)
	})
	f.Bool(name, false, "with --filter: N, such as --yes-12, is how many items match, no more and no fewer")
}

// many reports whether the verb goes to a set of items.
func (v *verb) many() bool { return v.chosen() || len(v.picks) > 1 }

// chosen reports whether a filter chooses the items.
func (v *verb) chosen() bool { return v.cmd.Flags().Changed("filter") }

// takes says what is wrong with the number of arguments.
func (v *verb) takes(cmd *cobra.Command, args []string) error {
	items, last := v.split(args)
	switch {
	case v.chosen() && len(items) > 0:
		return misused(cmd, "--filter and %q: want one of them, got both", items[0])
	case v.single && len(args) > 2:
		return misused(cmd, "unexpected argument %q", args[2])
	case !v.chosen() && len(args) == 0:
		return misused(cmd, "missing ITEM")
	case v.last != "" && (last == "" && len(args) == 0 || !v.chosen() && len(items) == 0):
		return misused(cmd, "missing %s", v.last)
	}
	return nil
}

// split parts the items from the argument behind them.
func (v *verb) split(args []string) (items []string, last string) {
	if v.last == "" || len(args) == 0 {
		return args, ""
	}
	return args[:len(args)-1], args[len(args)-1]
}

// pick reads the items and their versions: of one in --version, or of each
// behind an @.
func (v *verb) pick(cmd *cobra.Command, items []string) error {
	switch {
	case v.chosen() && v.version != nil:
		return misused(cmd, "--version: want none with --filter, got %d", *v.version)
	case !v.chosen() && !v.single && cmd.Flags().Changed("yes-N"):
		return misused(cmd, "--yes-N: want it with --filter, got it without")
	}
	v.picks = nil
	for _, item := range items {
		id, text, versioned := strings.Cut(item, "@")
		version := v.version
		switch {
		case version != nil && versioned:
			return misused(cmd, "--version and %q: want one of them, got both", item)
		case version != nil && len(items) > 1:
			return misused(cmd, "--version: want ITEM@VERSION for each of several items, got %d for all", *version)
		case versioned:
			if err := (&countValue{n: &version, least: 1, most: 1<<63 - 1}).Set(text); err != nil {
				return misused(cmd, "version of %q: %w, got %q", id, err, text)
			}
		case version == nil && v.act.Verb.Decides() && len(items) > 1:
			return misused(cmd, "missing version of %q: want ITEM@VERSION, as tollgate queue show prints it", id)
		case version == nil && v.act.Verb.Decides():
			return misused(cmd, "missing --version: tollgate queue show %s prints it", id)
		}
		p := escalation.Pick{ID: gate.ItemID(id)}
		if version != nil {
			p.Version = *version
		}
		v.picks = append(v.picks, p)
	}
	return nil
}

// choose freezes the set (R-P9): what the filter matches now, or the items of
// the arguments, a mark on each as it is.
func (v *verb) choose(cmd *cobra.Command, g *gateway) error {
	if v.chosen() {
		page, err := g.Items(cmd.Context(), v.matching())
		switch {
		case err != nil:
			return err
		case v.yes == nil:
			return misused(cmd, "missing --yes-N: %s now; nothing was sent", match(page.Total))
		case page.Total != *v.yes:
			return misused(cmd, "--yes-%d: %s now; nothing was sent", *v.yes, match(page.Total))
		case page.Total > gate.MaxWindow:
			return misused(cmd, "--filter: want at most %d items, got %d; nothing was sent", gate.MaxWindow, page.Total)
		}
		for _, row := range page.Rows {
			v.picks = append(v.picks, escalation.Pick{ID: row.ID, Version: row.Version})
		}
		return nil
	}
	for i := range v.picks {
		if p := &v.picks[i]; p.Version == 0 {
			item, err := g.Item(cmd.Context(), p.ID)
			if err != nil {
				return err
			}
			p.Version = item.Version
		}
	}
	return nil
}

func (v *verb) matching() gate.ItemsQuery {
	return gate.ItemsQuery{Now: time.Now().UTC(), State: gate.HoldOpen, Filter: v.filter}
}

func match(n int64) string {
	if n == 1 {
		return "1 item matches"
	}
	return strconv.FormatInt(n, 10) + " items match"
}

var bulkColumns = []column{
	{head: "ITEM"},
	{head: "ANSWER"},
	{head: "SEQ", number: true, rank: 1},
	{head: "", least: 20},
}

// bulk sends the verb to the set and prints a line per item as they come. The
// exit code is the highest of those of the lines.
func (v *verb) bulk(cmd *cobra.Command, g *gateway) error {
	var wrong error
	code, t := exitDone, newTable(bulkColumns)
	for _, p := range v.picks { // all widths are known before the first line
		t.natural[0] = max(t.natural[0], len(p.ID))
	}
	t.natural[1] = len(gate.Retry.String())
	err := g.Bulk(cmd.Context(), self(), v.picks, v.act, func(line escalation.BulkLine) {
		code = max(code, exitOfLine(&line))
		if wrong != nil {
			return
		}
		if v.app.json {
			wrong = v.app.object(line)
			return
		}
		t.row(bulkRow(&line)...)
		wrong = v.app.print(t)
	})
	if err == nil {
		err = wrong
	}
	if err == nil && v.chosen() {
		err = v.nameNew(cmd, g)
	}
	if err == nil && code != exitDone {
		return silent(code)
	}
	return err
}

// nameNew names what matches by now and was not in the set.
func (v *verb) nameNew(cmd *cobra.Command, g *gateway) error {
	page, err := g.Items(cmd.Context(), v.matching())
	if err != nil {
		return err
	}
	var ids []string
	for _, row := range page.Rows {
		if !slices.ContainsFunc(v.picks, func(p escalation.Pick) bool { return p.ID == row.ID }) {
			ids = append(ids, string(row.ID))
		}
	}
	if len(ids) > 0 {
		v.app.warn("new, and not in the set: %s", strings.Join(ids, " "))
	}
	return nil
}

func exitOfLine(l *escalation.BulkLine) int {
	switch {
	case l.Skipped != "":
		return exitStopped
	case l.Row == nil:
		return exitUnexpected
	case l.Row.Verdict == gate.Stale:
		return exitMoved
	case l.Row.Verdict.IsStop():
		return exitStopped
	}
	return exitDone
}

func bulkRow(l *escalation.BulkLine) []string {
	d := l.Row
	switch {
	case l.Skipped != "":
		return []string{string(l.ID), "skipped", "", l.Skipped}
	case d == nil:
		return []string{string(l.ID), "error", "", l.Err}
	}
	says := ""
	switch {
	case d.Changed != nil:
		says = fmt.Sprintf("%s by %s at %s", d.Changed.Act, actor(d.Changed.By), instant(d.Changed.At.Time))
	case d.NewOp != "":
		says = "permits " + string(d.NewOp) + ", a new action"
	case d.Permit != nil:
		says = "permits attempt " + strconv.FormatInt(d.Permit.Ordinal, 10)
	case !d.RetryAt.IsZero():
		says = "can succeed from " + instant(d.RetryAt.Time)
	}
	return []string{string(l.ID), d.Verdict.String(), seq(d.Seq), says}
}
