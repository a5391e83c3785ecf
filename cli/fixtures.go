package cli

import (
	"errors"
	"io/fs"
	"slices"

	"github.com/spf13/cobra"

	"tollgate/fixtures"
)

func (a *app) fixturesCommand() *cobra.Command {
	return family("fixtures", "The embedded fixtures: scripts of agent runs", groupConsole,
		a.fixturesListCommand(), a.fixturesShowCommand())
}

// fixtureRow is a fixture as a list shows it.
type fixtureRow struct {
	Name  string `json:"name"`
	About string `json:"about,omitempty"`
	Runs  int    `json:"runs"`
	Calls int    `json:"calls"`
}

func (a *app) fixturesListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the embedded fixtures",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			t := newTable([]column{
				{head: "FIXTURE"},
				{head: "RUNS", number: true, rank: 1},
				{head: "CALLS", number: true, rank: 2},
				{head: "ABOUT", least: 32},
			})
			for _, name := range fixtures.Names() {
				f, err := fixtures.Open(name)
				if err != nil {
					return err
				}
				row := fixtureRow{Name: f.Name, About: f.About, Runs: len(f.Runs)}
				for i := range f.Runs {
					row.Calls += len(f.Runs[i].Calls)
				}
				if a.json {
					if err := a.object(row); err != nil {
						return err
					}
				}
				t.row(row.Name, number(row.Runs), number(row.Calls), row.About)
			}
			if a.json {
				return nil
			}
			return a.print(t)
		},
	}
}

func (a *app) fixturesShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "show NAME",
		Short:             "Print the text of an embedded fixture",
		Args:              takes("NAME"),
		ValidArgsFunction: completeFixtures,
		RunE: func(_ *cobra.Command, args []string) error {
			text, err := fixtures.Source(args[0])
			if err != nil {
				return noFixture(err)
			}
			if a.json {
				return a.object(struct {
					Name   string `json:"name"`
					Source string `json:"source"`
				}{args[0], string(text)})
			}
			_, err = a.out.Write(text) // the program's own text
			return err
		},
	}
}

func noFixture(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &fault{code: exitUsage, err: err, hint: "tollgate fixtures list shows them"}
	}
	return err
}

func completeFixtures(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return fixtures.Names(), cobra.ShellCompDirectiveNoFileComp
}

// openFixtures decodes fixtures, all of them or none: an embedded one by its
// name, and any other by its file.
func openFixtures(args []string) ([]*fixtures.Fixture, error) {
	all := make([]*fixtures.Fixture, len(args))
	for i, arg := range args {
		var err error
		if all[i], err = openFixture(arg); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func openFixture(arg string) (*fixtures.Fixture, error) {
	if slices.Contains(fixtures.Names(), arg) {
		return fixtures.Open(arg)
	}
	data, err := readFile(arg)
	var bad *fault
	if errors.As(err, &bad) {
		bad.hint = "tollgate fixtures list shows the embedded ones"
	}
	if err != nil {
		return nil, err
	}
	return fixtures.Decode(arg, data)
}
