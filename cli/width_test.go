package cli

import (
	"slices"
	"strings"
	"testing"

	"tollgate/gate"
	"tollgate/views"
)

// On a terminal of 80 cells and of more, a list shows whole what a person goes
// on by, and no line is wider than the terminal.
func TestListsFit(t *testing.T) {
	w := newWorld(t, "nobody_knows")
	item := string(gate.ItemIDOf("run-1", "charge-42"))
	for _, row := range []struct {
		command string
		always  []string // heads, or texts
		wide    []string // at 120 cells too
		cut     bool     // a text is cut, and may be
	}{
		{
			"runs list --socket S",
			[]string{"RUN", "STATE", "ATTEMPTS", "SIDE EFFECTS", "DEADLINE", "OPEN ITEMS", "run-1", "active", "2/6", "1/2", "8759h59m left"},
			[]string{"AGENT", "LAST CODE", "planner", "nobody_knows"},
			false,
		},
		{
			"queue list --socket S",
			[]string{"ITEM", "KIND", "RUN", "OPERATION", "DEADLINE", "CLAIMED BY", item, "outcome unknown", "approval", "run-1", "charge-42", "deploy-3", name(gate.Actor{Name: self().Name, ID: self().ID})},
			[]string{"VERSION", "CODE", "TOOL", "timeout", "payments.charge"},
			false,
		},
		{
			"queue list --state resolved --socket S",
			[]string{"ITEM", "charge-43"},
			nil, false,
		},
		{
			"ledger tail --socket S",
			[]string{"SEQ", "AT (UTC)", "RUN", "OPERATION", "ACT", "VERDICT", "run-1", "charge-42", "reconcile", "STOP_UNSAFE_TO_REPEAT", "STOP_PERMANENT_OR_UNKNOWN"},
			[]string{"CODE", "ATTEMPT", "BUDGET", "ACTOR", "nobody_knows", "1/6"},
			false,
		},
		{
			"runs show run-1 --socket S",
			[]string{"OPERATION", "STATE", "KNOWN EFFECT", "STOP", "ITEM", "charge-42", "held", "outcome unknown", "STOP_UNSAFE_TO_REPEAT", item},
			[]string{"TOOL", "payments.charge", "EFFECT", "ATTEMPTS"},
			false,
		},
		{"runs tree run-1 --socket S", []string{"planner", "billing", "charge-42", "payments.charge", "timeout"}, nil, false},
		{"queue show " + item + " --socket S", []string{item, "charge-42", "STOP_UNSAFE_TO_REPEAT"}, nil, true},
		{"ledger show 5 --socket S", []string{"verdict", "sha256:"}, nil, false},
		{"policy explain timeout", []string{"transient", "the policy's codes", "TOOL", "VERDICT", "ASKED AGAIN", "ROUTE", "idempotent-write", "STOP_UNSAFE_TO_REPEAT", "RETRY_WITH_SHARED_CONTEXT", "reconcile"}, []string{"OUTCOME", "outcome unknown"}, false},
		{"policy explain nobody_knows", []string{"unlisted code", "no table", "STOP_PERMANENT_OR_UNKNOWN", "STOP_TERMINAL", "escalate"}, nil, false},
		{"policy explain parse_error --contract contract.yaml --tool payments.charge", []string{"conditional", "payments.charge", "never", "STOP_UNSAFE_TO_REPEAT", "outcome unknown", "reconcile"}, nil, false},
		{"replay lost-response five-deep-stack", []string{"FIXTURE", "RESULT", "DISPATCHES", "lost-response", "passed"}, []string{"DECISIONS", "VIRTUAL TIME", "LEDGER", "1.31s"}, true},
		{"replay --compare gate,blanket:2,ungated five-deep-stack", []string{"FIXTURE", "RULES", "DISPATCHES", "REPEATS", "RETRY TOKENS", "DOUBLE EFFECTS", "five-deep-stack", "blanket:2", "243"}, []string{"ITEMS", "VIRTUAL TIME", "24.3s"}, false},
		{"fixtures list", []string{"FIXTURE", "ABOUT", "lost-response", "concurrent-calls-cannot-share-a-slot"}, []string{"RUNS", "CALLS"}, true},
	} {
		for _, cells := range []int{80, 100, 120} {
			args := strings.Fields(strings.ReplaceAll(row.command, " S", " "+w.socket))
			out, errs := shown(t, cells, args...)
			if errs != "" {
				t.Fatalf("%s: %s", row.command, errs)
			}
			want := row.always
			if cells == 120 {
				want = slices.Concat(want, row.wide)
			}
			missing := slices.DeleteFunc(slices.Clone(want), func(s string) bool { return strings.Contains(out, s) })
			if len(missing) > 0 || !row.cut && strings.Contains(out, "…") {
				t.Errorf("%s at %d cells lacks %q, or cuts:\n%s", row.command, cells, missing, out)
			}
			for line := range strings.Lines(out) {
				if n := views.Width(strings.TrimSuffix(line, "\n")); n > cells {
					t.Errorf("%s: a line of %d cells, want at most %d: %s", row.command, n, cells, line)
				}
			}
		}
	}
}
