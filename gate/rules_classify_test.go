package gate

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// R-C1: the code decides, looked up in the tool's table, its dependency's, the
// policy's, the contract's. One that none lists has class unknown.
func TestRC1CodeDecides(t *testing.T) {
	w := emptyWorld(t)
	w.change(func(k *Contract) {
		k.Tools["search"].Codes = map[Code]CodeRule{"in-all": {Class: ClassTransient}}
		k.Dependencies = map[string]DependencyRule{
			"index": {Codes: map[Code]CodeRule{"in-all": {Class: ClassPermanent}, "in-three": {Class: ClassPermanent, Refused: true}}},
			"web":   {Codes: map[Code]CodeRule{"elsewhere": {Class: ClassTransient}}},
		}
		k.Policies[StarterName].Codes["in-all"] = CodeRule{Class: ClassConditional}
		k.Policies[StarterName].Codes["in-three"] = CodeRule{Class: ClassConditional}
		k.Policies[StarterName].Codes["in-two"] = CodeRule{Class: ClassConditional}
		k.Codes = map[Code]CodeRule{
			"in-all": {Class: ClassPermanent}, "in-three": {Class: ClassTransient},
			"in-two": {Class: ClassPermanent}, "in-one": {Class: ClassTransient},
			NoReport: {Class: ClassPermanent, Refused: true},
		}
	})
	k := w.contract
	for _, row := range []struct {
		code Code
		want CodeRule
		from CodeSource
	}{
		{"in-all", CodeRule{Class: ClassTransient}, FromTool},
		{"in-three", CodeRule{Class: ClassPermanent, Refused: true}, FromDependency},
		{"in-two", CodeRule{Class: ClassConditional}, FromPolicy},
		{"in-one", CodeRule{Class: ClassTransient}, FromContract},
		{"elsewhere", CodeRule{}, FromNowhere},
		{"In-All", CodeRule{}, FromNowhere},
		{"", CodeRule{}, FromNowhere},
		{NoReport, CodeRule{Class: ClassTransient}, FromGate},
	} {
		got, from := k.Classify(k.Policies[StarterName], k.Tools["search"], row.code)
		equal(t, fmt.Sprintf("%q", row.code), got, row.want)
		equal(t, fmt.Sprintf("table of %q", row.code), from, row.from)
	}
	equal(t, "the class of nothing", Class(0), ClassUnknown)
}

// R-C1: a message never decides, and an unlisted code stops.
func TestRC1MessageNeverDecides(t *testing.T) {
	says := func(text string) func(*Report) {
		return func(c *Report) { c.Failure.Message, c.Failure.Status = text, "503" }
	}
	w := newWorld(t)
	w.ask("a", "search")
	d := w.is(w.fail("a", "teapot", says("timeout, please try again")), StopPermanentOrUnknown)
	equal(t, "class", d.Class, ClassUnknown)
	w.ask("b", "search")
	d = w.is(w.fail("b", "timeout", says("invalid input, never retry")), Recorded)
	equal(t, "class", d.Class, ClassTransient)

	// A code is looked up again at the ask: what the contract says then counts.
	w.policy(func(p *Policy) { p.Codes["timeout"] = CodeRule{Class: ClassPermanent} })
	w.is(w.ask("b", "search"), StopPermanentOrUnknown)
}

// R-C3, R-C4: the starter table, with what is refused before execution.
func TestRC3StarterTable(t *testing.T) {
	want := map[Code]CodeRule{
		"invalid_input":         {ClassPermanent, true},
		"policy_block":          {ClassPermanent, true},
		"auth_failure":          {ClassPermanent, true},
		"schema_violation":      {ClassPermanent, false},
		"semantic_mismatch":     {ClassPermanent, false},
		"tool_output_truncated": {ClassConditional, false},
		"parse_error":           {ClassConditional, false},
		"missing_field":         {ClassConditional, false},
		"empty_response":        {ClassConditional, false},
		"rate_limit":            {ClassTransient, true},
		"timeout":               {ClassTransient, false},
		"upstream_5xx":          {ClassTransient, false},
		"connection_reset":      {ClassTransient, false},
	}
	if diff := cmp.Diff(NewContract().Policies[StarterName].Codes, want); diff != "" {
		t.Errorf("starter table (-got +want):\n%s", diff)
	}
	if !Starter().Limits.IsZero() {
		t.Error("the starter policy holds limits (R-B1)")
	}
}

// R-C4: whether it happened is apart from the class: on a write every failure
// leaves it unknown unless its code is refused.
func TestRC4OutcomeIsApartFromClass(t *testing.T) {
	for _, row := range []struct {
		tool string
		code Code
		want Outcome
	}{
		{"put", "timeout", OutcomeUnknown},
		{"put", "upstream_5xx", OutcomeUnknown},
		{"put", "rate_limit", OutcomeFailed},
		{"put", "invalid_input", OutcomeFailed},
		{"put", "policy_block", OutcomeFailed},
		{"put", "auth_failure", OutcomeFailed},
		{"put", "schema_violation", OutcomeUnknown},
		{"put", "semantic_mismatch", OutcomeUnknown},
		{"put", "parse_error", OutcomeUnknown},
		{"put", "teapot", OutcomeUnknown},
		{"search", "timeout", OutcomeFailed},
		{"search", "teapot", OutcomeFailed},
		{"search", "parse_error", OutcomeFailed},
	} {
		t.Run(row.tool+" "+string(row.code), func(t *testing.T) {
			w := newWorld(t)
			w.ask("a", row.tool)
			d := w.fail("a", row.code)
			equal(t, "outcome", d.Outcome, row.want)
			equal(t, "of the attempt", w.op("a").Attempts[0].Outcome, row.want)
			equal(t, "refused", d.Refused, row.want == OutcomeFailed && row.tool == "put")
		})
	}
}
