package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tollgate/gate"
	"tollgate/views"
)

// A shell that waits for ids is not kept waiting, nor told what went wrong.
const (
	completeWithin = 2 * time.Second
	completeMost   = 50
)

// completeRuns completes the id of a run, and after it nothing.
func (a *app) completeRuns(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	return a.complete(cmd, len(args) == 0, func(ctx context.Context, r gate.Reader) (words []string, err error) {
		q := gate.RunsQuery{Now: time.Now().UTC(), Filter: gate.FilterBy(gate.FilterRuns, [2]string{"", begun})}
		q.After = completeMost
		page, err := r.Runs(ctx, q)
		for _, row := range page.Rows {
			if strings.HasPrefix(string(row.Run), begun) {
				words = append(words, completion(string(row.Run), row.State.String()+" "+row.Agent))
			}
		}
		return words, err
	})
}

// completeItems completes the id of the first item.
func (a *app) completeItems(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	return a.complete(cmd, len(args) == 0, func(ctx context.Context, r gate.Reader) (words []string, err error) {
		for _, state := range []gate.HoldState{gate.HoldOpen, gate.HoldDeadLetter} {
			q := gate.ItemsQuery{Now: time.Now().UTC(), State: state, Filter: gate.FilterBy(gate.FilterQueue, [2]string{"", begun})}
			q.After = completeMost
			page, err := r.Items(ctx, q)
			if err != nil {
				return nil, err
			}
			for _, row := range page.Rows {
				if strings.HasPrefix(string(row.ID), begun) {
					words = append(words, completion(string(row.ID), views.KindWord(row.Kind)+" "+string(row.Op)))
				}
			}
		}
		return words, nil
	})
}

// completeReport completes a run and then an operation of it.
func (a *app) completeReport(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return a.completeRuns(cmd, args, begun)
	}
	return a.complete(cmd, len(args) == 1, func(ctx context.Context, r gate.Reader) (words []string, err error) {
		run, err := r.Run(ctx, gate.RunID(args[0]), time.Now().UTC())
		for i := range run.Ops {
			if o := &run.Ops[i]; strings.HasPrefix(string(o.Op), begun) {
				words = append(words, completion(string(o.Op), o.State.String()+" "+o.Tool))
			}
		}
		return words, err
	})
}

func (a *app) complete(cmd *cobra.Command, ask bool, read func(context.Context, gate.Reader) ([]string, error)) ([]string, cobra.ShellCompDirective) {
	if !ask {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, stop := context.WithTimeout(context.Background(), completeWithin)
	defer stop()
	cmd.SetContext(ctx)
	var words []string
	err := a.calling(func(_ *cobra.Command, g *gateway, _ []string) (err error) {
		words, err = read(ctx, g)
		return err
	})(cmd, nil)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError | cobra.ShellCompDirectiveNoFileComp
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// completion is one word with what a shell shows beside it.
func completion(word, about string) string {
	return word + "\t" + views.Escape(about)
}
