package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"tollgate/gate"
	"tollgate/views"
)

// filterFlag adds the flag that chooses rows of a list, and says in the help of
// the command what a filter is.
func filterFlag(cmd *cobra.Command, list gate.FilterList, into *gate.Filter, what string) {
	filterVar(cmd, list, into, "only "+what+" that match these terms")
	cmd.Long = cmd.Short + `.

A filter is made of terms between blanks; what it chooses matches all of them. A term is
name:value, or a text that is a part of any name of a row. In a value * stands for any
text, and quotes hold one with blanks; ! before a term negates it. Names here:
` + strings.Join(list.Names(), " ")
}

// filterVar adds the flag, and completes it.
func filterVar(cmd *cobra.Command, list gate.FilterList, into *gate.Filter, usage string) {
	cmd.Flags().Var(&filterValue{list, into}, "filter", usage)
	complete := func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return list.Complete(begun), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	if err := cmd.RegisterFlagCompletionFunc("filter", complete); err != nil {
		panic(err) // the flag has just been added
	}
}

// filterValue is the filter of a list.
type filterValue struct {
	list gate.FilterList
	into *gate.Filter
}

func (v *filterValue) Set(s string) (err error) {
	*v.into, err = gate.ParseFilter(v.list, s)
	return err
}

func (v *filterValue) String() string {
	if v.into == nil {
		return ""
	}
	return v.into.String()
}

func (v *filterValue) Type() string { return "TEXT" }

// badFilter says what is wrong with a filter, and shows where.
func badFilter(cmd *cobra.Command, flag, text string, wrong *gate.FilterError) error {
	err := misused(cmd, "--%s: want %s, got %s", flag, wrong.Want, wrong.Got)
	var f *fault
	if errors.As(err, &f) {
		f.shows = pointed(text, wrong.At)
	}
	return err
}

// How many characters of a text are shown before the place that is pointed at,
// and how many cells from there on.
const (
	mostBefore = 48
	mostAfter  = 24
)

// pointed returns a text and under it a caret at a byte of it, both ready for a
// terminal. Of a long text it is the part around that place.
func pointed(text string, at int) string {
	before := text[:at]
	if runes := []rune(before); len(runes) > mostBefore {
		before = "…" + string(runes[len(runes)-mostBefore:])
	}
	after := strings.TrimRight(views.Fit(text[at:], mostAfter), " ")
	return "  " + views.Escape(before) + after + "\n  " + strings.Repeat(" ", views.Width(before)) + "^"
}
