package cli

import (
	"slices"
	"strings"
	"testing"

	"tollgate/gate"
)

// A filter that is wrong: exit code 2, what was wanted, and a caret under the
// place, before any store is looked at.
func TestFilterThatIsWrong(t *testing.T) {
	away(t)
	long := "op:" + strings.Repeat("x", 60) + " kind:sad"
	for _, row := range []struct {
		command, filter string
		says, text      string
		at              int
	}{
		{"queue list", "timeout kind:sad", `--filter: want one of outcome-unknown, approval, exhausted, stopped, got "sad"`, "  timeout kind:sad", 15},
		{"queue list", "op:注文 kind:sad", `got "sad"`, "  op:注文 kind:sad", 15},
		{"queue list", "op:\x1b[2J kind:sad", `got "sad"`, `  op:\e[2J kind:sad`, 16},
		{"queue list", long, `got "sad"`, "  …" + strings.Repeat("x", 42) + " kind:sad", 51},
		{"queue list", "kind:" + strings.Repeat("x", 60), `got "xxx`, "  kind:" + strings.Repeat("x", 23) + "…", 7},
		{"runs list", "kind:approval", "--filter: want one of the names state, agent, run, dep, tool, code, key, op, ref, since, got", "  kind:approval", 2},
		{"ledger tail", "since:", "--filter: want a span such as 90s, 15m, 8h or 1d, got nothing", "  since:", 8},
	} {
		code, out, errs := tried(t, append(strings.Fields(row.command), "--filter", row.filter)...)
		lines := strings.Split(errs, "\n")
		if code != exitUsage || out != "" || len(lines) < 4 {
			t.Errorf("%s of %q: exit code %d, %q, %q", row.command, row.filter, code, out, errs)
			continue
		}
		if !strings.Contains(lines[0], row.says) || lines[1] != row.text || lines[2] != strings.Repeat(" ", row.at)+"^" {
			t.Errorf("%s of %q: errors\n%s\nwant %s, and\n%s\n%s^", row.command, row.filter, errs, row.says, row.text, strings.Repeat(" ", row.at))
		}
	}
	if code, _, errs := tried(t, "queue", "list", "--filter", `kind:approval "a b"`); code != exitNoStore {
		t.Errorf("a filter that is one: exit code %d, want %d: %s", code, exitNoStore, errs)
	}
}

// The shell completes names, and values where there are some.
func TestFilterIsCompleted(t *testing.T) {
	for _, row := range []struct {
		list  gate.FilterList
		begun string
		want  []string
	}{
		{gate.FilterQueue, "c", []string{"code:", "class:", "claim:"}},
		{gate.FilterQueue, "code:timeout !cla", []string{"code:timeout !class:", "code:timeout !claim:"}},
		{gate.FilterQueue, "kind:ST", []string{"kind:stopped"}},
		{gate.FilterQueue, "op:x\u00a0kind:st", []string{"op:x\u00a0kind:stopped"}},
		{gate.FilterQueue, "kind:stopped", nil},
		{gate.FilterQueue, "code:", nil},
		{gate.FilterQueue, "colour:", nil},
		{gate.FilterLedger, "manual:", []string{"manual:yes", "manual:no"}},
	} {
		if got := row.list.Complete(row.begun); !slices.Equal(got, row.want) {
			t.Errorf("%s %q = %q, want %q", row.list, row.begun, got, row.want)
		}
	}
	_, out, _ := tried(t, "__complete", "runs", "list", "--filter", "state:e")
	if want := "state:exhausted\nstate:ended\n"; !strings.HasPrefix(out, want) {
		t.Errorf("completion = %q, want it to begin with %q", out, want)
	}
}
