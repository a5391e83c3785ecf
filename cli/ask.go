package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tollgate/api"
	"tollgate/gate"
)

func (a *app) askCommand() *cobra.Command {
	var (
		ask           gate.Ask
		op, parent    string
		input, digest string
		tokens        *int64
		traceparent   string
	)
	cmd := &cobra.Command{
		Use:   "ask RUN TOOL",
		Short: "Ask the gate whether a tool call may be dispatched now",
		Long: `Ask the gate whether a tool call may be dispatched now. A yes is charged to the
run's budget before it is printed, with the key to send, the instant to wait for
and the instant after which it is too late.

The exit code is 0 only when the dispatch may go, and 6 for every other answer.`,
		Example: `  tollgate ask r1 payments.charge --op charge-42 --ask-id a1 --input '{"order":42}'`,
		GroupID: groupAgents,
		Args:    takes("RUN", "TOOL"),
	}
	cmd.ValidArgsFunction = a.completeRuns
	cmd.PreRunE = func(cmd *cobra.Command, args []string) (err error) {
		ask.Actor, ask.Run, ask.Tool = self(), gate.RunID(args[0]), args[1]
		ask.Op, ask.Parent = gate.OpID(op), gate.OpID(parent)
		if ask.ID == "" {
			ask.ID = newID()
		}
		if tokens != nil {
			ask.Tokens = *tokens
		}
		if ask.Input, err = a.inputOf(cmd, input); err != nil {
			return err
		}
		if ask.InputDigest, err = gate.ParseDigest("input-digest", digest); err != nil {
			return asFlag(cmd, err)
		}
		if ask.Trace, err = gate.ParseTrace(traceparent); err != nil {
			return asFlag(cmd, err)
		}
		return asFlag(cmd, ask.Check())
	}
	cmd.RunE = a.calling(func(cmd *cobra.Command, g *gateway, _ []string) error {
		d, err := g.Ask(cmd.Context(), ask)
		if err != nil {
			return err
		}
		if err := a.printAnswer(&d); err != nil {
			return err
		}
		if d.Verdict.Permits() {
			return nil
		}
		return silent(exitStopped)
	})
	a.clientFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&op, "op", "", "the logical action (default: made from run, tool and input)")
	f.StringVar(&ask.ID, "ask-id", "", "the same id gets the same answer and one charge (default: a random one)")
	f.StringVar(&input, "input", "", "the call's input as JSON; @FILE reads a file, - standard input")
	f.StringVar(&digest, "input-digest", "", "sha256:… of the input, instead of it")
	f.StringVar(&ask.Agent, "agent", "", "who asks, as a path in the tree (default: the run's agent)")
	f.Var(&wordValue{into: &ask.Path, kind: "PATH", words: []string{"model", "subagent", "queue", "resume", "fallback"}}, "path", "model (the default), subagent, queue, resume or fallback")
	f.StringVar(&parent, "parent", "", "the operation that this one serves")
	f.Var(&countValue{n: &tokens, most: gate.MaxTokens}, "tokens", "what one repeat costs")
	f.StringVar(&ask.Key, "key", "", "an idempotency key of the caller's own; counts at the first ask only")
	f.StringVar(&traceparent, "traceparent", "", "W3C trace context of the call")
	return cmd
}

// inputOf returns the bytes that --input names, nil when it was not given.
func (a *app) inputOf(cmd *cobra.Command, s string) ([]byte, error) {
	var (
		data []byte
		err  error
		from = "--input"
	)
	switch file, isFile := strings.CutPrefix(s, "@"); {
	case !cmd.Flags().Changed("input"):
		return nil, nil
	case s == "-":
		from = "--input -"
		if data, err = io.ReadAll(io.LimitReader(a.in, gate.MaxInput+1)); err != nil {
			return nil, fmt.Errorf("standard input: %w", err)
		}
	case isFile:
		from = fmt.Sprintf("--input %q", s)
		if data, err = readFile(file); err != nil {
			return nil, err
		}
	default:
		data = []byte(s)
	}
	if len(data) > gate.MaxInput {
		return data, nil // the ask's own check says so
	}
	var wrong *gate.InputError
	if err = api.CheckInput(data); errors.As(err, &wrong) {
		if in := strings.TrimPrefix(wrong.Field, "input"); in != "" {
			from += ": input" + in
		}
		err = misused(cmd, "%s: want %s, got %s", from, wrong.Want, wrong.Got)
	}
	return data, err
}
