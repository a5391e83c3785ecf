package cli

import (
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"tollgate/gate"
)

// hostile is what a provider or an agent may send to take over a terminal: its
// clipboard, its title, its screen, the order and the place of its letters.
const hostile = "\x1b]52;c;eA==\x07\x1b[2J\u009b31m\u009d0;t\u009c\r\b\n\v\f\x0e\u202eevil\u2066\u200b\u200d\U000e0041\x7f"

// Whatever text comes from outside, and whichever command shows it, a terminal,
// a pipe and a log get nothing but what they can only show.
func TestHostileText(t *testing.T) {
	w := newWorld(t, hostile)
	item, settled := string(gate.ItemIDOf("run-1", "charge-42")), string(gate.ItemIDOf("run-2", "charge-43"))
	files := map[string]string{
		"evil\x1b[2J\u202e.yaml": "contract: 1\n\"a\\e[2J\\u009b\\u202eevil\": 1\n",
		"about.yaml": "fixture: 1\nname: evil\nabout: \"\\e[2J\\u202e\"\ntools: {search: {effect: read, timeout: 2s}}\n" +
			"runs: [{id: r1, limits: {attempts: 2, deadline: 10s, side_effects: 0}, calls: [{op: s, tool: search, answers: [{fail: timeout, message: \"\\e[2J\\u202eevil\"}]}]}]\n" +
			"expect: {runs: {r1: {ops: {s: {terminal: {lastFailure: {message: \"\\e[3J\\u202eevil\"}}}}}}}\n",
		"bad.yaml": "fixture: 1\nname: evil\nruns: \"\\e[2J\\u009b\\u202eevil\"\n",
	}
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range []struct {
		args  []string
		shows bool // the text, in a pipe
	}{
		{[]string{"runs", "list"}, true},
		{[]string{"runs", "show", "run-2"}, true},
		{[]string{"runs", "tree", "run-1"}, false},
		{[]string{"queue", "list"}, true},
		{[]string{"queue", "show", item}, true},
		{[]string{"queue", "show", settled}, true},
		{[]string{"ledger", "tail"}, true},
		{[]string{"ledger", "tail", "--json"}, true},
		{[]string{"handover"}, true},
		{[]string{"handover", "--json"}, true},
		{[]string{"runs", "show", "run-1", "--json"}, true},
		{[]string{"queue", "show", item, "--json"}, true},
		{[]string{"ledger", "show", "4"}, true},  // the result of search-7
		{[]string{"ledger", "show", "6"}, true},  // the failure of charge-42
		{[]string{"ledger", "show", "8"}, true},  // the note
		{[]string{"ledger", "show", "13"}, true}, // the finding

		// What is given on the command line comes back in errors.
		{[]string{"runs", "show", hostile}, true},
		{[]string{"runs", "tree", "\x9b2J evil"}, true},
		{[]string{"queue", "show", hostile}, true},
		{[]string{"queue", "claim", hostile}, true},
		{[]string{"queue", "list", "--run", hostile}, false},
		{[]string{"queue", "list", "--state", hostile}, true},
		{[]string{"queue", "list", "--\x1b[2J\u202eevil"}, true},
		{[]string{"ledger", "tail", "--from", hostile}, true},
		{[]string{"ledger", "show", hostile}, true},
		{[]string{"ask", "run-1", hostile, "--op", "x"}, true},
		{[]string{"ask", "run-1", "search", "--op", hostile}, true},
		{[]string{"ask", "run-1", "search", "--op", "x", "--agent", hostile}, true},
		{[]string{"ask", "run-1", "search", "--op", "x", "--key", hostile}, true},
		{[]string{"ask", "run-1", "search", "--op", "x", "--traceparent", hostile}, true},
		{[]string{"ask", "run-1", "search", "--input", "@" + strings.Trim(hostile, "\x7f")}, true},
		{[]string{"report", "run-2", "search-8", "1", "--fail", hostile}, false},
		{[]string{"report", "run-1", hostile, "1", "--ok"}, true},
		{[]string{"runs", "start", hostile, "--attempts", "1"}, true},
		{[]string{"runs", "start", "run-3", "--policy", hostile}, true},
		{[]string{"runs", "list", "--socket", hostile}, true},
		{[]string{"runs", "list", "--store", hostile}, true},
		{[]string{hostile}, true},
		{[]string{"help", hostile}, true},
		{[]string{"completion", hostile}, true},
		{[]string{"policy", "explain", hostile}, true},
		{[]string{"policy", "explain", "timeout", "--tool", hostile}, true},
		{[]string{"policy", "check", "evil\x1b[2J\u202e.yaml"}, true},
		{[]string{"fixtures", "show", hostile}, true},
		{[]string{"replay", hostile}, true},
		{[]string{"replay", "bad.yaml"}, true},
		{[]string{"replay", "about.yaml"}, true}, // a difference holds the text
		{[]string{"replay", "about.yaml", "--json"}, true},
		{[]string{"replay", "lost-response", "--compare", "gate," + hostile}, true},
		{[]string{"verify", "--store", hostile}, true},
		{[]string{"init", "--store", "evil\x1b[2J\u202e.yaml/s"}, true},
		{[]string{"__complete", "queue", "show", "i-"}, false},
		{[]string{"__complete", "runs", "show", hostile}, false},
	} {
		args := row.args
		if client := slices.Contains([]string{"runs", "queue", "ledger", "handover", "ask", "report"}, args[0]); client && !slices.Contains(args, "--socket") && !slices.Contains(args, "--store") {
			args = append(slices.Clone(args), "--socket", w.socket)
		}
		for _, cells := range []int{0, 80, 200} {
			out, errs := shown(t, cells, args...)
			for _, text := range []string{out, errs} {
				if at := strings.IndexFunc(text, obeyed); at >= 0 || !utf8.ValidString(text) {
					t.Errorf("%q at %d cells prints %q", row.args, cells, text[max(0, at-40):])
				}
			}
			if has := strings.Contains(out+errs, "evil"); cells == 0 && has != row.shows {
				t.Errorf("%q shows the text: %v, want %v: %q", row.args, has, row.shows, out+errs)
			}
		}
	}
}

// obeyed reports whether a terminal acts on a character, or hides it, or lets
// it change what stands beside it. A pipe has tabs between its fields.
func obeyed(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == utf8.RuneError)
}
