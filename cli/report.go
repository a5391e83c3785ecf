package cli

import (
	"time"

	"github.com/spf13/cobra"

	"tollgate/gate"
)

func (a *app) reportCommand() *cobra.Command {
	var (
		r          gate.Report
		code       string
		inner      *int64
		retryAfter *time.Duration
	)
	cmd := &cobra.Command{
		Use:   "report RUN OP ORDINAL",
		Short: "Report what became of a dispatch",
		Long: `Report what became of a dispatch that the gate permitted: --ok, or --fail CODE.
The code alone decides what may come next; the rest is evidence for people.

The exit code is 6 when the gate answers with a stop.`,
		Example: `  tollgate report r1 charge-42 1 --fail timeout --status 504`,
		GroupID: groupAgents,
		Args:    takes("RUN", "OP", "ORDINAL"),
	}
	cmd.ValidArgsFunction = a.completeReport
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		var ordinal *int64
		if err := (&countValue{n: &ordinal, least: 1, most: gate.MaxCount}).Set(args[2]); err != nil {
			return misused(cmd, "ORDINAL: %w, got %q", err, args[2])
		}
		if r.OK == (code != "") {
			return misused(cmd, "want one of --ok and --fail CODE")
		}
		r.Actor, r.Run, r.Op, r.Ordinal = self(), gate.RunID(args[0]), gate.OpID(args[1]), *ordinal
		r.Failure.Code = gate.Code(code)
		if inner != nil {
			r.Inner = *inner
		}
		if retryAfter != nil {
			r.Failure.RetryAfter = *retryAfter
		}
		return asFlag(cmd, r.Check())
	}
	cmd.RunE = a.calling(func(cmd *cobra.Command, g *gateway, _ []string) error {
		return a.answered(g.Report(cmd.Context(), r))
	})
	a.clientFlags(cmd)
	f := cmd.Flags()
	f.BoolVar(&r.OK, "ok", false, "it succeeded")
	f.StringVar(&r.Result, "result-ref", "", "with --ok: reference of the stored result")
	f.StringVar(&code, "fail", "", "it failed, with this code")
	f.StringVar(&r.Failure.Message, "message", "", "with --fail: the provider's message")
	f.StringVar(&r.Failure.Status, "status", "", "with --fail: the provider's status, such as 504")
	f.StringVar(&r.Failure.Field, "field", "", "with --fail: the offending field")
	f.StringVar(&r.Failure.Suggest, "suggest", "", "with --fail: a suggested repair")
	f.Var(&spanValue{d: &retryAfter, most: gate.MaxDeadline}, "retry-after", "with --fail: the provider's Retry-After")
	f.Var(&countValue{n: &inner, least: 1, most: gate.MaxCount}, "inner-attempts", "attempts really made inside this dispatch, itself included")
	return cmd
}
