package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tollgate/gate"
)

// misused is a command that was called wrongly: exit code 2, with its use line.
func misused(cmd *cobra.Command, format string, args ...any) error {
	return &fault{
		code:  exitUsage,
		err:   fmt.Errorf(format, args...),
		hint:  cmd.CommandPath() + " --help says what it takes",
		usage: cmd.UseLine(),
	}
}

// badFlag says what is wrong with a flag in our own form: the flag, what was
// expected, what was given.
func badFlag(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	var filter *gate.FilterError
	switch {
	case errors.As(err, &invalid) && errors.As(invalid.Unwrap(), &filter):
		return badFilter(cmd, invalid.GetFlag().Name, invalid.GetValue(), filter)
	case invalid != nil:
		return misused(cmd, "--%s: %w, got %q", invalid.GetFlag().Name, invalid.Unwrap(), invalid.GetValue())
	}
	return misused(cmd, "%w", err)
}

// asFlag names a field that is wrong as the command's flag, where it has one
// for it.
func asFlag(cmd *cobra.Command, err error) error {
	var input *gate.InputError
	if !errors.As(err, &input) {
		return err
	}
	name := strings.ReplaceAll(strings.TrimPrefix(input.Field, "limits."), "_", "-")
	if strings.HasPrefix(name, "caps") {
		name = "cap"
	}
	if cmd.Flags().Lookup(name) == nil {
		return err
	}
	return misused(cmd, "--%s: want %s, got %s", name, input.Want, input.Got)
}

// noArgs refuses arguments. A word after a command that has verbs is a verb
// that does not exist.
func noArgs(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case !cmd.HasAvailableSubCommands():
		return misused(cmd, "unexpected argument %q", args[0])
	}
	cmd.SuggestionsMinimumDistance = 2
	err := misused(cmd, "unknown command %q for %q", args[0], cmd.CommandPath())
	if like := cmd.SuggestionsFor(args[0]); len(like) > 0 {
		err.(*fault).hint = "did you mean " + strings.Join(like, " or ") + "?" //nolint:errorlint // made above
	}
	return err
}

// needVerb is the action of a command that only holds others.
func needVerb(cmd *cobra.Command, _ []string) error {
	var verbs []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			verbs = append(verbs, c.Name())
		}
	}
	return misused(cmd, "%q needs one of %s", cmd.CommandPath(), strings.Join(verbs, ", "))
}

// takes refuses any other number of arguments than the names given; a last
// name that ends in "…" takes any number.
func takes(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		many := len(names) > 0 && strings.HasSuffix(names[len(names)-1], "…")
		switch {
		case !many && len(args) > len(names):
			return misused(cmd, "unexpected argument %q", args[len(names)])
		case many && len(args) >= len(names)-1:
			return nil
		case len(args) < len(names):
			return misused(cmd, "missing %s", names[len(args)])
		}
		return nil
	}
}

// oneOf refuses a word that is none of those given.
func oneOf(what string, words ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := takes(what)(cmd, args); err != nil {
			return err
		}
		for _, w := range words {
			if args[0] == w {
				return nil
			}
		}
		return misused(cmd, "%s: want one of %s, got %q", what, strings.Join(words, ", "), args[0])
	}
}
