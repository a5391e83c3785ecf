package cli

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"tollgate/fixtures"
	"tollgate/gate"
)

// version is set by the linker (see the Makefile).
var version string

// versionRow says what this program is and which formats it speaks.
type versionRow struct {
	Version string `json:"version"`
	Rules   int    `json:"rules"`   // of the gate, as in each decision
	Fixture int    `json:"fixture"` // format of fixtures and contract files
	Go      string `json:"go"`
	System  string `json:"system"`
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version of the program, of its rules and of its formats",
		GroupID: groupProgram,
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			row := versionRow{
				Version: programVersion(), Rules: gate.RulesVersion, Fixture: fixtures.Version,
				Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH,
			}
			if a.json {
				return a.object(row)
			}
			return a.say("tollgate %s, rules %d, fixture format %d, %s %s", row.Version, row.Rules, row.Fixture, row.Go, row.System)
		},
	}
}

func programVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "of an unversioned build"
}
