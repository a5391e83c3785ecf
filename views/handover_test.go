package views

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tollgate/gate"
)

// handoverOf is a report in which every text that others may choose is the
// given one.
func handoverOf(text string) *Handover {
	at := func(minutes int) gate.Instant { return gate.InstantOf(now.Add(time.Duration(minutes) * time.Minute)) }
	run, op, item := gate.RunID(text), gate.OpID(text), gate.ItemID(text)
	act := HandoverAct{
		Seq: 7, At: at(-90), Actor: gate.Actor{ID: "uid:1", Name: text}, Act: gate.ActReconcile, Verdict: gate.Resolved,
		Finding: gate.FindingDidNotHappen, Item: item, Run: run, Op: op, NewOp: op, NewRun: run, Reason: text, Evidence: text,
	}
	row := gate.ItemRow{
		ID: item, Kind: gate.KindStopped, Run: run, Op: op, Tool: text, Dependency: text, Code: gate.Code(text),
		Opened: at(-300), Snoozed: at(30),
	}
	return &Handover{
		Since: at(-480), At: at(0), Seq: 9, Cut: []string{text},
		Decided:     []HandoverAct{act},
		Open:        []HandoverCause{{Dependency: text, Code: gate.Code(text), Items: 3, Runs: 2, Oldest: at(-41), Claims: []HandoverClaim{{text, 2}}}},
		Notes:       []HandoverAct{act},
		DeadLetters: []gate.ItemRow{row},
		Snoozed:     []gate.ItemRow{row},
		Breakers:    []gate.DependencyRow{{Name: text, Breaker: gate.BreakerOpen, Since: at(-5), Until: at(1)}},
		Budgets:     []HandoverBudget{{Run: run, Attempts: gate.Spent{Spent: 6, Limit: 6}, Overdrawn: true}},
	}
}

// cellEnds are the bars that Markdown takes for the ends of cells.
var cellEnds = regexp.MustCompile(`(^|[^\\])(\\\\)*\|`)

// No text of others can add a line, a cell, a heading or a rule to the report:
// its shape is that of a report with plain words in their place.
func TestHandoverCannotBeForged(t *testing.T) {
	shape := func(text string) []string {
		var lines []string
		for line := range strings.Lines(handoverOf(text).Markdown()) {
			ends := len(cellEnds.FindAllString(line, -1))
			if ends == 0 && !strings.Contains(line, "Cut:") {
				lines = append(lines, line)
				continue
			}
			lines = append(lines, strings.Repeat("|", ends))
		}
		return lines
	}
	want := shape("plain")
	for _, text := range []string{
		"a\n# Handover", "a\r\n## Still open: 0", "a | b | c", `a \| b`, `a \\| b`, `ends in \`, "a\n\n| x | y |\n|---|---|",
		"\u2028# a", "\u0085# a", "\v# a", "|", `\`, "", "# a", "---", strings.Repeat("|\n", 5000),
	} {
		if diff := cmp.Diff(shape(text), want); diff != "" {
			t.Errorf("with %.40q the report has another shape (-got +want):\n%s", text, diff)
		}
	}
}

// What others wrote is text to Markdown and to a terminal.
func TestMarkdownOfForeignText(t *testing.T) {
	for _, r := range []struct{ text, want string }{
		{"charge-42", "charge-42"},
		{"payments.charge/1:2", "payments.charge/1:2"},
		{"größer, 日本語", "größer, 日本語"},
		{"*a* _b_ `c` ~d~", "\\*a\\* \\_b\\_ \\`c\\` \\~d\\~"},
		{"[a](b) ![c](d)", `\[a\](b) \!\[c\](d)`},
		{"<script> &lt;", `\<script\> \&lt;`},
		{"https://evil.example www.evil.example a@evil.example", `https\://evil.example www\.evil.example a\@evil.example`},
		{"policy_block a__b _a a_ _", `policy_block a\_\_b \_a a\_ \_`},
		{"a|b", `a\|b`},
		{"# a", `\# a`},
		{"$x$", `\$x\$`},
		{`a\|b`, `a\\\|b`},
		{"a\nb", `a\\nb`},
		{"\x1b[2J", `\\e\[2J`},
		{strings.Repeat("x", 5000), strings.Repeat("x", markdownCells-1) + "…"},
	} {
		if got := markdown(r.text); got != r.want {
			t.Errorf("markdown(%.40q) = %s, want %s", r.text, got, r.want)
		}
	}
}

// Empty parts of a report say that they are.
func TestHandoverOfAQuietShift(t *testing.T) {
	got := (&Handover{Since: gate.InstantOf(now.Add(-8 * time.Hour)), At: gate.InstantOf(now)}).Markdown()
	for _, want := range []string{"(8h)", "## Decided by people: 0\n\nNobody decided anything.\n", "## Still open: 0\n\nNothing waits.\n", "All are closed."} {
		if !strings.Contains(got, want) {
			t.Errorf("the report lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "|") || strings.Contains(got, "Cut") {
		t.Errorf("a quiet shift has a table, or was cut:\n%s", got)
	}
}
