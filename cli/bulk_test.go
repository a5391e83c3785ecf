package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"tollgate/api"
	"tollgate/escalation"
	"tollgate/gate"
)

// waiting is a gate with n items that wait, of runs r1 to rn.
func waiting(t *testing.T, n int) (w *world, ids []string) {
	t.Helper()
	socket := running(t, worldContract)
	w = &world{t: t, socket: socket, client: api.NewClient(socket), text: "no answer"}
	t.Cleanup(func() {
		if err := w.client.Close(); err != nil {
			t.Error(err)
		}
	})
	for i := range n {
		run, op := gate.RunID(fmt.Sprintf("r%d", i+1)), gate.OpID(fmt.Sprintf("charge-%d", i+1))
		w.run(run)
		w.ask(run, op, "payments.charge")
		w.report(run, op, w.failed("timeout"))
		ids = append(ids, string(gate.ItemIDOf(run, op)))
	}
	return w, ids
}

// said is how many decisions the ledger has.
func (w *world) said() uint64 {
	w.t.Helper()
	counts, err := w.client.Counts(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return counts.Seq
}

// R-P9: several items, a line each; the exit code is 0, 6 or 7, the highest.
func TestVerbOnSeveralItems(t *testing.T) {
	w, ids := waiting(t, 6)
	w.do("r2", "charge-2", escalation.Act{Verb: gate.ActReject, Version: 1, Reason: "first"})
	for _, row := range []struct {
		command string
		code    int
		answers []string
	}{
		{"claim 1 3", exitDone, []string{"RECORDED", "RECORDED"}},
		{"approve 3@1 4@1 --reason r", exitStopped, []string{"STOP_UNSAFE_TO_REPEAT", "STOP_UNSAFE_TO_REPEAT"}},
		{"approve 3@1 2@1 4@1 --reason r", exitMoved, []string{"STOP_UNSAFE_TO_REPEAT", "STALE", "STOP_UNSAFE_TO_REPEAT"}},
		{"reject 1@1 2@1 3@1 --reason r", exitMoved, []string{"RESOLVED", "STALE", "RESOLVED"}},
		{"reconcile 4@1 5@1 did-not-happen --evidence e --reason r", exitDone, []string{"RESOLVED", "RESOLVED"}},
		{"approve 4@2 i-0000000000@1 --reason r", exitUnexpected, []string{"RETRY_WITH_SHARED_CONTEXT", "error"}},
	} {
		args := []string{"queue"}
		for _, arg := range strings.Fields(row.command) {
			if n := int(arg[0] - '0'); n >= 1 && n <= len(ids) {
				arg = ids[n-1] + arg[1:]
			}
			args = append(args, arg)
		}
		code, out, errs := tried(t, append(args, "--socket", w.socket)...)
		lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
		if code != row.code || errs != "" || len(lines) != len(row.answers) {
			t.Errorf("%s: exit code %d, want %d, and %d lines; errors %q:\n%s", row.command, code, row.code, len(row.answers), errs, out)
			continue
		}
		for i, want := range row.answers {
			if cells := strings.Split(lines[i], "\t"); len(cells) != 4 || cells[1] != want || !strings.HasPrefix(cells[0], "i-") {
				t.Errorf("%s: line %q, want %s", row.command, lines[i], want)
			}
		}
	}
	_, out, _ := tried(t, "queue", "note", ids[4], ids[5], "--reason", "n", "--json", "--socket", w.socket)
	for i, line := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
		var l escalation.BulkLine
		if err := json.Unmarshal([]byte(line), &l); err != nil || string(l.ID) != ids[4+i] || l.Row == nil || l.Row.Verdict != gate.Recorded {
			t.Errorf("JSON line %q, %v", line, err)
		}
	}
}

// R-P9, case 25: a filter chooses the set, and its exact count confirms it.
// With any other count nothing is sent, and the count that there is is said.
func TestVerbOnAFilter(t *testing.T) {
	w, ids := waiting(t, 3)
	w.ask("r1", "deploy-3", "cluster.deploy")
	before := w.said()
	for _, row := range []struct{ args, says string }{
		{"", "missing --yes-N: 3 items match now; nothing was sent"},
		{"--yes-N", "missing --yes-N: 3 items match now; nothing was sent"},
		{"--yes-2", "--yes-2: 3 items match now; nothing was sent"},
		{"--yes-4", "--yes-4: 3 items match now; nothing was sent"},
		{"--yes-0", "unknown flag: --yes-0"},
		{"--yes-03", "unknown flag: --yes-03"},
		{"--yes-3 --version 1", "--version: want none with --filter, got 1"},
		{"--yes-3 " + ids[0], "want one of them, got both"},
	} {
		args := append([]string{"queue", "reject", "--filter", "dep:payments*", "--reason", "r", "--socket", w.socket}, strings.Fields(row.args)...)
		code, out, errs := tried(t, args...)
		if code != exitUsage || out != "" || !strings.Contains(errs, row.says) {
			t.Errorf("%q: exit code %d, %q, errors %q; want 2 and %q", row.args, code, out, errs, row.says)
		}
	}
	if got := w.said(); got != before {
		t.Errorf("the ledger grew by %d, want 0", got-before)
	}
	code, out, errs := tried(t, "queue", "reject", "--filter", "dep:payments*", "--yes-3", "--reason", "r", "--socket", w.socket)
	if code != exitDone || errs != "" || strings.Count(out, "\tRESOLVED\t") != 3 || strings.Count(out, "\n") != 3 {
		t.Errorf("exit code %d, errors %q:\n%s", code, errs, out)
	}
	if got := w.said(); got != before+3 {
		t.Errorf("the ledger grew by %d, want 3", got-before)
	}
	code, out, _ = tried(t, "queue", "reconcile", "cannot-tell", "--filter", "kind:outcome-unknown", "--yes-1", "--reason", "r", "--socket", w.socket)
	if code != exitUsage || out != "" {
		t.Errorf("of a filter that matches nothing: exit code %d, %q", code, out)
	}
}

// Case 25: what matches by then is named as new, and is not in the set.
func TestWhatIsNewIsNamed(t *testing.T) {
	w, ids := waiting(t, 2)
	v := &verb{app: &app{out: new(strings.Builder), errs: new(strings.Builder)}, picks: []escalation.Pick{{ID: gate.ItemID(ids[0])}}}
	cmd := v.app.root()
	cmd.SetContext(t.Context())
	if err := v.nameNew(cmd, &gateway{Client: w.client}); err != nil {
		t.Fatal(err)
	}
	if got, want := v.app.errs.(*strings.Builder).String(), "tollgate: new, and not in the set: "+ids[1]+"\n"; got != want {
		t.Errorf("errors = %q, want %q", got, want)
	}
}

// Several items that are given wrongly: exit code 2 before any store is looked
// at.
func TestSeveralItemsGivenWrongly(t *testing.T) {
	away(t)
	for _, row := range []struct{ args, says string }{
		{"reject --reason r", "missing ITEM"},
		{"reconcile --filter x --yes-1 --reason r", "missing FINDING"},
		{"reconcile i-1 --reason r", "missing FINDING"},
		{"reject i-1 i-2 --version 1 --reason r", "--version: want ITEM@VERSION for each of several items, got 1 for all"},
		{"reject i-1@1 i-2 --reason r", `missing version of "i-2": want ITEM@VERSION`},
		{"reject i-1@x --reason r", `version of "i-1": want a whole number from 1 to`},
		{"reject i-1@1 --version 1 --reason r", `--version and "i-1@1": want one of them, got both`},
		{"reject i-1@1 i-2@1 --yes-2 --reason r", "--yes-N: want it with --filter"},
		{"reject i-1@1 i-2@1", "--reason: want a reason"},
		{"new-run i-1 r9 x --reason r", `unexpected argument "x"`},
		{"new-run r9 --filter x --reason r", "unknown flag: --filter"},
	} {
		code, out, errs := tried(t, append([]string{"queue"}, strings.Fields(row.args)...)...)
		if code != exitUsage || out != "" || !strings.Contains(errs, row.says) {
			t.Errorf("%s: exit code %d, %q, errors %q; want 2 and %q", row.args, code, out, errs, row.says)
		}
	}
	if code, _, errs := tried(t, "queue", "reject", "i-1@1", "i-2@3", "--reason", "r"); code != exitNoStore {
		t.Errorf("as it is: exit code %d, want %d: %s", code, exitNoStore, errs)
	}
}

// The queue by cause: rows, on a terminal with the line above them that answers
// whether it is one dependency, in JSON with the set of each cause.
func TestQueueByCause(t *testing.T) {
	w, _ := waiting(t, 3)
	w.ask("r1", "deploy-3", "cluster.deploy")
	_, out, errs := tried(t, "queue", "list", "--group", "--socket", w.socket)
	lines := strings.Split(out, "\n")
	if errs != "" || len(lines) != 3 || !strings.HasPrefix(lines[0], "3\tpayments-api\ttimeout\ttransient\t3\t") || !strings.HasPrefix(lines[1], "1\tcluster\t\t\t1\t") {
		t.Errorf("rows, errors %q:\n%s", errs, out)
	}
	out, _ = shown(t, 80, "queue", "list", "--group", "--socket", w.socket)
	if lines := strings.Split(out, "\n"); !strings.Contains(lines[0], "payments-api has 3 of ") || !strings.HasPrefix(lines[1], "ITEMS") {
		t.Errorf("on a terminal:\n%s", out)
	}
	_, out, _ = tried(t, "queue", "list", "--group", "--filter", "dep:cluster", "--json", "--socket", w.socket)
	var page escalation.CausesPage
	if err := json.Unmarshal([]byte(out), &page); err != nil || page.Items != 1 || len(page.Causes) != 1 || len(page.Causes[0].Picks) != 1 {
		t.Errorf("JSON = %s, %v", out, err)
	}
	for _, flag := range []string{"--state resolved", "--kind approval", "--run r1", "--limit 3"} {
		code, _, errs := tried(t, append([]string{"queue", "list", "--group", "--socket", w.socket}, strings.Fields(flag)...)...)
		if code != exitUsage || !strings.Contains(errs, "want none with --group") {
			t.Errorf("--group %s: exit code %d, %s", flag, code, errs)
		}
	}
}
