package cli

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
)

// tried runs the command line in this process, in a place of its own.
func tried(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	a := &app{in: strings.NewReader(""), out: &o, errs: &e}
	root := a.root()
	root.SetArgs(args)
	code = complain(&e, safely(func() error { return root.ExecuteContext(t.Context()) }))
	return code, o.String(), e.String()
}

// away moves to an empty directory that is home too.
func away(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"} {
		t.Setenv(name, dir)
	}
}

// A value outside its range: exit code 2, with the flag and the range, before
// any store is looked at. The base case passes all of that: there is no store.
func TestFlagRanges(t *testing.T) {
	const (
		aCount   = "a whole number from 1 to 1000000"
		anEffect = "a whole number from 0 to 1000000"
		tokens   = "a whole number from 0 to 1000000000000"
		deadline = "a duration with its unit from 1ms to 8760h, such as 30s"
		reserve  = "a duration with its unit from 0s to 8760h, such as 30s"
		hiding   = "a duration with its unit from 1s to 8760h, such as 30s"
		aSeq     = "a whole number from 1 to 9223372036854775807"
		aCap     = "AGENT=N with N from 0 to 1000000"
	)
	counts := []string{"-1", "1e9", "9223372036854775808", "1000001", "3.5", "NaN", "+1", "01", "", " 1", "0x1", "١"}
	spans := []string{"-5s", "10000h", "5", "soon", "1e3s", "9999999999999h", "", "5 s", "NaN"}
	for _, row := range []struct {
		command, flag string
		good          string
		bad           []string
		want          string
	}{
		{"runs start r1", "attempts", "1000000", append(counts, "0"), aCount},
		{"runs start r1", "side-effects", "0", counts, anEffect},
		{"runs start r1", "retry-tokens", "1000000000000", []string{"-1", "1e9", "9223372036854775808", "1000000000001", "3.5", "NaN"}, tokens},
		{"runs start r1", "deadline", "8760h", append(spans, "0", "0s", "999us"), deadline},
		{"runs start r1", "reserve", "0s", spans, reserve},
		{"runs start r1", "cap", "planner/a=1", []string{"planner", "planner=-1", "=1", "planner=1.5", "a b=1"}, aCap},
		{"ask r1 t --op o", "tokens", "0", []string{"-1", "3.5"}, tokens},
		{"ask r1 t --op o", "path", "queue", []string{"manual", "sideways", ""}, "one of model, subagent, queue, resume, fallback"},
		{"report r1 o 1 --ok", "inner-attempts", "1", []string{"0", "-1", "1e9"}, aCount},
		{"report r1 o 1 --fail timeout", "retry-after", "1500ms", []string{"-5s", "5"}, reserve},
		{"queue snooze i", "for", "1h", []string{"5", "10000h", "1ms"}, hiding},
		{"queue snooze i", "until", "2026-01-05T09:00:00Z", []string{"tomorrow", "09:00"}, "an instant such as 2026-01-05T09:00:00Z"},
		{"queue list", "limit", "1000000", []string{"0", "-1", "NaN", "1000001"}, aCount},
		{"queue list", "state", "dead-letter", []string{"unknown", ""}, "one of open, snoozed, dead-letter, resolved"},
		{"queue list", "kind", "approval", []string{"unknown"}, "one of outcome-unknown, approval, exhausted, stopped"},
		{"runs list", "state", "ended", []string{"running"}, "one of active, exhausted, ended"},
		{"ledger tail", "from", "9223372036854775807", []string{"0", "-1", "9223372036854775808"}, aSeq},
		{"queue claim i", "version", "1", []string{"0", "-1", "v1"}, aSeq},
		{"queue approve i --version 1 --reason r", "ruling", "cause-cleared", []string{"", "fine"}, "one of cause-cleared"},
	} {
		t.Run(row.command+" --"+row.flag, func(t *testing.T) {
			away(t)
			args := append(strings.Fields(row.command), "--"+row.flag)
			if row.command == "runs start r1" { // a run that has all of its limits
				args = append(strings.Fields(row.command+" --attempts 1 --deadline 1m --side-effects 1"), "--"+row.flag)
			}
			if code, _, errs := tried(t, append(args, row.good)...); code != exitNoStore {
				t.Errorf("%q: exit code = %d, want %d: %s", row.good, code, exitNoStore, errs)
			}
			for _, value := range row.bad {
				code, out, errs := tried(t, append(args, value)...)
				want := fmt.Sprintf("tollgate: --%s: want %s, got %q", row.flag, row.want, value)
				if line, _, _ := strings.Cut(errs, "\n"); code != exitUsage || line != strings.ReplaceAll(want, "١", "\u0661") || out != "" {
					t.Errorf("%q: exit code = %d, want %d; error\n  %s\nwant\n  %s", value, code, exitUsage, line, want)
				}
			}
			untouched(t)
		})
	}
}

// untouched fails if anything has been made.
func untouched(t *testing.T) {
	t.Helper()
	made, err := os.ReadDir(".")
	if err != nil || len(made) > 0 {
		t.Errorf("made %v, want nothing (%v)", made, err)
	}
}

// Arguments that cannot be meant: exit code 2, one line, and nothing touched.
func TestMisuse(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for _, row := range []struct {
		args []string
		want string // how the error begins
	}{
		{[]string{"report", "r1", "o", "0", "--ok"}, `ORDINAL: want a whole number from 1 to 1000000, got "0"`},
		{[]string{"report", "r1", "o", "1"}, "want one of --ok and --fail CODE"},
		{[]string{"report", "r1", "o", "1", "--ok", "--fail", "timeout"}, "want one of --ok and --fail CODE"},
		{[]string{"report", "r1", "o", "1", "--fail", "no_report"}, "failure.code: want a code of the provider's"},
		{[]string{"ask", "r 1", "t", "--op", "o"}, `run: want letters, digits and . _ : / @ + = # , -, got "r 1"`},
		{[]string{"ask", "r1", "t"}, "--input: want an input, an input_digest or an op, got none of them"},
		{[]string{"ask", "r1", "t", "--input", "{"}, "--input: want one JSON value, got its end at byte 1"},
		{[]string{"ask", "r1", "t", "--input", "{} {}"}, "--input: want one JSON value, got something after it at byte 3"},
		{[]string{"ask", "r1", "t", "--input", ""}, "--input: want one JSON value, got its end at byte 0"},
		{[]string{"ask", "r1", "t", "--input", "-"}, "--input -: want one JSON value, got its end at byte 0"}, // nothing comes
		{[]string{"ask", "r1", "t", "--input", "\ufeff{}"}, "--input: want JSON, got a byte order mark at byte 0"},
		{[]string{"ask", "r1", "t", "--input", `{"order": 42,}`}, "--input: want JSON, got invalid character '}' looking for beginning of object key string after byte 13"},
		{[]string{"ask", "r1", "t", "--input", `"\ud800"`}, "--input: want whole surrogate pairs, got a lone surrogate at byte 1"},
		{[]string{"ask", "r1", "t", "--input", "\"\xff\""}, "--input: want UTF-8, got something else at byte 1"},
		{[]string{"ask", "r1", "t", "--input", `{"a":1,"a":2}`}, "--input: input.a: want a key once, got twice, again at byte 7"},
		{[]string{"ask", "r1", "t", "--input", strings.Repeat("[", 10_001)}, "--input: input" + strings.Repeat("[0]", 25) + "...: want at most 64 levels, got more at byte 64"},
		{[]string{"ask", "r1", "t", "--input", "@absent.json"}, `no file at "absent.json"`},
		{[]string{"ask", "r1", "t", "--input", `"` + strings.Repeat("x", 64<<10) + `"`}, "--input: want at most 65536 bytes, got 65538 bytes"},
		{[]string{"ask", "r1", "t", "--input-digest", "sha256:abc"}, `--input-digest: want sha256: and 64 hex digits, got "sha256:abc"`},
		{[]string{"ask", "r1", "t", "--op", "o", "--key", "a\nb"}, "--key: want letters, digits and . _ : / @ + = # , -"},
		{[]string{"ask", "r1", "t", "--op", "o", "--traceparent", "nonsense"}, "--traceparent: want version-trace-parent-flags in lower-case hex"},
		{[]string{"ask", "r1", "t", "--op", "o", "--input-digest", strings.Repeat("0", 64)}, "--input-digest: want sha256: and 64 hex digits"},
		{[]string{"runs", "start", "r1", "--attempts", "1", "--deadline", "1m", "--side-effects", "1", "--cap", "a=1", "--cap", "a=2"}, "--cap: want one cap for an agent, got two"},
		{[]string{"runs", "end", "r1", "--reason", long}, "--reason: want at most 4096 bytes, got 5000 bytes"},
		{[]string{"report", "r1", "o", "1", "--ok", "--result-ref", long}, "--result-ref: want at most 4096 bytes, got 5000 bytes"},
		{[]string{"ledger", "show", "x"}, `SEQ: want a whole number from 1 to 9223372036854775807, got "x"`},
		{[]string{"ledger", "tail", "--op", "o"}, "--op needs --run"},

		// What decides carries the version that was shown (R-P5), and a reason.
		{[]string{"queue", "approve", "i-1", "--reason", "r"}, "missing --version: tollgate queue show i-1 prints it"},
		{[]string{"queue", "approve", "i-1", "--version", "1"}, "--reason: want a reason, got nothing"},
		{[]string{"queue", "reject", "i-1", "--version", "1", "--reason", " "}, "--reason: want a reason, got nothing"},
		{[]string{"queue", "reconcile", "i-1", "perhaps", "--version", "1", "--reason", "r"}, `FINDING: want one of happened, did-not-happen, cannot-tell, got "perhaps"`},
		{[]string{"queue", "reconcile", "i-1", "happened", "--version", "1", "--reason", "r"}, "--evidence: want what shows it, got nothing"},
		{[]string{"queue", "new-run", "i-1", "r2", "--version", "1", "--reason", "r"}, "--attempts: want a limit"},
		{[]string{"queue", "new-run", "i-1", "r 2", "--version", "1", "--reason", "r", "--attempts", "1"}, "run: want letters"},
		{[]string{"queue", "snooze", "i-1"}, "missing --until or --for"},
		{[]string{"queue", "snooze", "i-1", "--for", "1h", "--until", "2026-01-05T09:00:00Z"}, "--for and --until: want one of them, got both"},
		{[]string{"queue", "note", "i-1"}, "--reason: want the note's text, got nothing"},
		{[]string{"queue", "note", "i-1", "--reason", long}, "--reason: want at most 4096 bytes, got 5000 bytes"},
		{[]string{"queue", "claim", "i-1", "--request-id", "a b"}, "--request-id: want letters"},

		// Both places at once; a socket that no kernel takes.
		{[]string{"runs", "list", "--store", "s", "--socket", "k"}, "--store and --socket: want one of them, got both"},
		{[]string{"runs", "list", "--socket", strings.Repeat("s", 108)}, strings.Repeat("s", 108) + ": 108 bytes, at most 107: the path of the socket is too long"},
		{[]string{"serve", "--socket", strings.Repeat("s", 108)}, strings.Repeat("s", 108) + ": 108 bytes, at most 107: the path of the socket is too long"},
		{[]string{"serve", "--store", strings.Repeat("s", 100)}, strings.Repeat("s", 100) + "/gate.sock: 110 bytes, at most 107: the path of the socket is too long"},
		{[]string{"policy", "explain", "a b"}, "CODE: want letters"},
		{[]string{"policy", "explain", "timeout", "--policy", "nope"}, `policy "nope": the contract has no such policy`},
		{[]string{"policy", "explain", "timeout", "--tool", "nope"}, `tool "nope": the catalog has no such tool`},
	} {
		t.Run(strings.Join(row.args, " ")[:min(60, len(strings.Join(row.args, " ")))], func(t *testing.T) {
			away(t)
			code, out, errs := tried(t, row.args...)
			if code != exitUsage || !strings.HasPrefix(errs, "tollgate: "+row.want) || out != "" {
				t.Errorf("exit code = %d, want %d; error\n  %.300s\nwant\n  tollgate: %s", code, exitUsage, errs, row.want)
			}
			untouched(t)
		})
	}
}
