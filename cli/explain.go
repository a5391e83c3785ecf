package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tollgate/gate"
	"tollgate/runstore/memstore"
	"tollgate/views"
)

// explanation is what a contract makes of one code. It is the gate's own
// answer to a call that failed with it, in a store in memory.
type explanation struct {
	Code     gate.Code        `json:"code"`
	Class    gate.Class       `json:"class"`
	Listed   gate.CodeSource  `json:"listed_by,omitempty"` // the table whose row said so; absent for an unlisted code
	Refused  bool             `json:"refused"`             // before execution (R-C4)
	Tool     string           `json:"tool"`
	Effect   gate.Effect      `json:"effect"`
	Safety   gate.RetrySafety `json:"retry_safety"`
	Outcome  gate.Outcome     `json:"outcome"`
	Verdict  gate.Verdict     `json:"verdict"`             // of the report
	Repeat   gate.Verdict     `json:"repeat"`              // of the next ask, with a changed request
	Route    *gate.Route      `json:"route,omitempty"`     // of the stop
	ItemKind gate.Kind        `json:"item_kind,omitempty"` // of the item that it opens
}

func (a *app) policyExplainCommand() *cobra.Command {
	var tool, policy string
	cmd := &cobra.Command{
		Use:   "explain CODE",
		Short: "Say what a contract makes of a code: class, refused or not, what follows, and which row said so",
		Long: `Say what a contract makes of a code. One call that fails with it is put to the gate,
in memory: with --tool that tool's, otherwise one for each effect and retry safety.
The call has budget enough, so that what stops it is the code.`,
		Example: `  tollgate policy explain timeout --contract contract.yaml --tool payments.charge`,
		Args:    takes("CODE"),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, _, err := a.at.readContract()
		if err != nil {
			return err
		}
		if err := gate.CheckID("CODE", args[0]); err != nil {
			return err
		}
		tools := samples()
		if tool != "" {
			t, err := c.Tool(tool)
			if err != nil {
				return err
			}
			tools = []sample{{tool, *t}}
		}
		var all []explanation
		for _, t := range tools {
			e, err := explain(cmd.Context(), c, policy, gate.Code(args[0]), t)
			if err != nil {
				return err
			}
			all = append(all, e)
		}
		return a.printExplanations(all)
	}
	f := cmd.Flags()
	f.StringVar(&tool, "tool", "", "a tool of the contract, with its own codes and its dependency's")
	f.StringVar(&policy, "policy", "", "a policy of the contract (default: starter)")
	f.StringVar(&a.at.contract, "contract", "", "contract file (default: as of serve; without any, the built-in policy)")
	return cmd
}

var explanationColumns = []column{
	{head: "TOOL", least: 16},
	{head: "EFFECT", rank: 4},
	{head: "RETRY SAFETY", rank: 3},
	{head: "CLASS"},
	{head: "LISTED BY"},
	{head: "REFUSED"},
	{head: "OUTCOME", rank: 1},
	{head: "VERDICT"},
	{head: "ASKED AGAIN"},
	{head: "ROUTE"},
	{head: "ITEM", rank: 2},
}

// ofTheCode are the columns that say the same for all samples: they have no
// codes of their own.
const ofTheCode, ofTheCall = 3, 6

// printExplanations prints what becomes of a code. On a terminal what is true
// of the code stands above the table, and one tool has no table.
func (a *app) printExplanations(all []explanation) error {
	if a.json {
		for _, e := range all {
			if err := a.object(e); err != nil {
				return err
			}
		}
		return nil
	}
	columns, from, to := explanationColumns, 0, 0
	if a.terminal {
		if from, to = 0, len(columns); len(all) > 1 {
			from, to = ofTheCode, ofTheCall
		}
		f := new(fields)
		f.add("code", string(all[0].Code))
		for i, part := range all[0].parts()[from:to] {
			f.add(strings.ToLower(columns[from+i].head), part)
		}
		if err := a.printFields(f); err != nil || len(all) == 1 {
			return err
		}
		if err := a.say(""); err != nil {
			return err
		}
	}
	t := newTable(slices.Delete(slices.Clone(columns), from, to))
	for _, e := range all {
		t.row(slices.Delete(e.parts(), from, to)...)
	}
	return a.print(t)
}

// parts are the fields of explanationColumns.
func (e explanation) parts() []string {
	listed, refused, item := "no table", "no", ""
	if e.Listed != gate.FromNowhere {
		listed = "the " + string(e.Listed) + "'s codes"
	}
	if e.Refused {
		refused = "before execution"
	}
	if e.ItemKind != 0 {
		item = views.KindWord(e.ItemKind)
	}
	route := ""
	if e.Route != nil {
		route = e.Route.String()
	}
	return []string{
		e.Tool, e.Effect.String(), e.Safety.String(), views.ClassWord(e.Class), listed, refused,
		outcome(e.Outcome), e.Verdict.String(), e.Repeat.String(), route, item,
	}
}

// sample is a tool to explain a code with.
type sample struct {
	name string
	tool gate.Tool
}

// samples are one tool for each effect and retry safety.
func samples() []sample {
	tool := func(e gate.Effect, s gate.RetrySafety) gate.Tool {
		return gate.Tool{Effect: e, Safety: s, Dependency: "any", Timeout: time.Second}
	}
	return []sample{
		{"read", tool(gate.EffectRead, gate.SafetyIdempotent)},
		{"write", tool(gate.EffectWrite, gate.SafetyNever)},
		{"write-by-key", tool(gate.EffectWrite, gate.SafetyKey)},
		{"idempotent-write", tool(gate.EffectWrite, gate.SafetyIdempotent)},
	}
}

// explain puts one failed call of a tool to the gate. Approvals, breakers and
// ratios are left aside: they are not about the code.
func explain(ctx context.Context, c *gate.Contract, policy string, code gate.Code, s sample) (explanation, error) {
	p, err := c.Policy(policy)
	if err != nil {
		return explanation{}, err
	}
	if policy == "" {
		policy = gate.StarterName
	}
	named, tool, quiet := *c, s.tool, *p
	tool.Approval, quiet.Breaker, quiet.RetryRatio, quiet.AttemptsPerCall = gate.ApprovalNone, nil, nil, 10
	named.Tools = map[string]*gate.Tool{s.name: &tool}
	named.Policies = maps.Clone(c.Policies)
	named.Policies[policy] = &quiet
	named.Dependencies = maps.Clone(c.Dependencies)
	if d, ok := named.Dependencies[tool.Dependency]; ok {
		d.Breaker = nil
		named.Dependencies[tool.Dependency] = d
	}

	door, err := gate.NewDoor(ctx, memstore.New("explanation"), &named, stillClock{}, func() float64 { return 0 })
	if err != nil {
		return explanation{}, err
	}
	ten, year := int64(10), gate.MaxDeadline
	ask := gate.Ask{Run: "r", ID: "a1", Op: "op", Tool: s.name, Input: []byte(`{"n":1}`)}
	again := ask
	again.ID, again.Input = "a2", []byte(`{"n":2}`)
	if tool.Effect == gate.EffectWrite {
		again.Input = ask.Input // another request would be a conflict of keys (R-A4)
	}
	var answers []gate.Decision
	for _, command := range []gate.Command{
		gate.Start{Run: "r", Policy: policy, Limits: gate.Limits{Attempts: &ten, SideEffects: &ten, Deadline: &year}},
		ask,
		gate.Report{Run: "r", Op: "op", Ordinal: 1, Failure: gate.Failure{Code: code}},
		again,
	} {
		d, err := door.Do(ctx, command)
		if err != nil {
			return explanation{}, fmt.Errorf("%s: %w", command.Act(), err)
		}
		answers = append(answers, d)
	}
	rule, listed := c.Classify(p, &s.tool, code)
	reported := answers[2]
	e := explanation{
		Code: code, Class: rule.Class, Listed: listed, Refused: rule.Refused,
		Tool: s.name, Effect: tool.Effect, Safety: tool.Safety,
		Outcome: reported.Outcome, Verdict: reported.Verdict, Repeat: answers[3].Verdict,
	}
	if reported.Verdict.IsStop() {
		e.Route = &reported.Route
	}
	if reported.Hold != nil {
		e.ItemKind = reported.Hold.Kind
	}
	return e, nil
}

// stillClock stands still.
type stillClock struct{}

func (stillClock) Wall() time.Time        { return time.Unix(0, 0) }
func (stillClock) Elapsed() time.Duration { return 0 }
