package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"tollgate/fixtures"
	"tollgate/gate"
)

// rules are one column of a comparison: by what the same script is played.
type rules struct {
	name     string
	loose    fixtures.Rules // without a gate, if it says so
	contract *gate.Contract // of a gate: nil is the fixture's own
}

// parseRules reads "gate,blanket:2,ungated,FILE".
func parseRules(s string) ([]rules, error) {
	if s == "" {
		return nil, nil
	}
	var all []rules
	for _, name := range strings.Split(s, ",") {
		r := rules{name: name}
		loose, ok, err := fixtures.ParseRules(name)
		switch {
		case err != nil:
			return nil, &fault{code: exitUsage, err: fmt.Errorf("--compare: %w", err)}
		case ok:
			r.loose = loose
		case name != "gate":
			if r.contract, err = readContract(name); err != nil {
				return nil, fmt.Errorf("--compare: %w", err)
			}
		}
		all = append(all, r)
	}
	return all, nil
}

func (r rules) play(ctx context.Context, f *fixtures.Fixture) (*fixtures.Result, error) {
	if r.loose.Ungated {
		return fixtures.PlayLoose(ctx, f, r.loose)
	}
	result, err := inMemory(ctx, f, r.contract)
	if err != nil {
		return nil, err
	}
	result.Rules = r.name
	return result, nil
}

// compareAll plays each fixture by each of the rules, and prints what came of
// it side by side. What a fixture expects is what the gate makes of it.
func (r *replay) compareAll(ctx context.Context, all []*fixtures.Fixture) error {
	passed := true
	t := newTable(compareColumns)
	for _, f := range all {
		for _, by := range r.compare {
			result, err := by.play(ctx, f)
			if err != nil {
				return err
			}
			passed = passed && result.Passed
			if r.app.json {
				if err := r.app.object(result); err != nil {
					return err
				}
				continue
			}
			r.app.warnDifferences(result)
			t.row(result.Fixture, result.Rules, fmt.Sprint(result.Dispatches), fmt.Sprint(result.Repeats), fmt.Sprint(result.RetryTokens),
				fmt.Sprint(result.DoubleEffects), fmt.Sprint(len(result.Items)), virtual(result))
		}
	}
	return r.finish(t, passed)
}

var compareColumns = []column{
	{head: "FIXTURE", least: 15},
	{head: "RULES", least: 10},
	{head: "DISPATCHES", number: true},
	{head: "REPEATS", number: true},
	{head: "RETRY TOKENS", number: true},
	{head: "DOUBLE EFFECTS", number: true},
	{head: "ITEMS", number: true, rank: 1},
	{head: "VIRTUAL TIME", rank: 2},
}

func virtual(r *fixtures.Result) string {
	return gate.Span(time.Duration(r.VirtualMS) * time.Millisecond)
}
