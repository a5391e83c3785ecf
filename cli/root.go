package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
)

// The groups of the help.
const (
	groupConsole = "console"
	groupPeople  = "people"
	groupAgents  = "agents"
	groupStore   = "store"
	groupProgram = "program"
)

var (
	errNoTerminal   = errors.New("no terminal here to open the console on")
	errDumbTerminal = errors.New("TERM says that this terminal cannot show the console")
)

// root returns the command line as a whole.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "tollgate",
		Short: "Operations console for the retry budgets of agent tool calls",
		Long: `Operations console for the retry budgets of agent tool calls.

Agents ask one gate before every dispatch; the gate charges the run's one budget
and writes its answer to a ledger. Without a command this opens the console on
the gate that answers, or else owns the store and serves the socket itself.

A list is a table with heads on a terminal, and elsewhere one line a row: every
field, with a tab between two, no heads. --json names the fields.`,
		Args:          noArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          a.console,
	}
	root.AddGroup(
		&cobra.Group{ID: groupConsole, Title: "The console:"},
		&cobra.Group{ID: groupPeople, Title: "For people:"},
		&cobra.Group{ID: groupAgents, Title: "For agents and their scripts:"},
		&cobra.Group{ID: groupStore, Title: "The store:"},
		&cobra.Group{ID: groupProgram, Title: "The program:"},
	)
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print JSON, one object on each line")
	a.ownerFlags(root, "the socket of a gate that runs; with --store: the one to serve")
	// A command that only holds others is never called by itself.
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(), "{{if .Runnable}}", "{{if and .Runnable (or (not .HasParent) (not .HasAvailableSubCommands))}}", 1))
	root.SetFlagErrorFunc(badFlag)
	root.SetOut(a.out)
	root.SetErr(a.errs)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(helpCommand())
	root.AddCommand(
		a.demoCommand(), a.replayCommand(), a.fixturesCommand(),
		a.queueCommand(), a.runsCommand(), a.ledgerCommand(), a.handoverCommand(), a.policyCommand(),
		a.askCommand(), a.reportCommand(),
		a.initCommand(), a.serveCommand(), a.verifyCommand(),
		a.configCommand(), a.versionCommand(), a.completionCommand(),
	)
	return root
}

// family returns a command that only holds others.
func family(use, short, group string, verbs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use + " COMMAND", Short: short, GroupID: group, Args: noArgs, RunE: needVerb}
	c.AddCommand(verbs...)
	return c
}
