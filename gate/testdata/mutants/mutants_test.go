package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sample is a module of one rule and its test.
var sample = map[string]string{
	"go.mod":        "module sample\n\ngo 1.26\n",
	"docs/rules.md": "- **R-B1** Spending has a limit.\n- **R-P9** (not built yet: a reason) In bulk.\n- **R-L1** Needs no fault.\n",
	"gate/budget.go": `package gate

func left(limit, spent int) int {
	if spent > limit {
		return 0
	}
	return limit - spent
}
`,
	"gate/budget_test.go": `package gate

import "testing"

func TestLeft(t *testing.T) {
	if got := left(3, 1); got != 2 {
		t.Errorf("left(3, 1) = %d, want 2", got)
	}
}
`,
}

const noticed = `
# Comments and empty lines may stand between mutants.

R-B1 gate/budget.go: nothing is ever spent
-return limit - spent
+return limit
`

func write(t *testing.T, root, name, text string) {
	t.Helper()
	file := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestRun(t *testing.T) {
	const header = "R-B1 gate/budget.go: a fault\n"
	rows := []struct {
		name    string
		mutants string
		edit    func(root string)
		out     string // part of the report
		err     string // part of the error, "" for none
	}{
		{name: "noticed", mutants: noticed, out: "1 mutants, 1 noticed"},
		{name: "names the test", mutants: noticed, out: "(TestLeft)"},
		{name: "unnoticed", mutants: noticed + "\n" + header + "-if spent > limit {\n+if spent > limit+1 {\n", out: "2 mutants, 1 noticed", err: "no test notices it"},
		{name: "a panic is noticed", mutants: header + "-return limit - spent\n+panic(limit - spent)\n", out: "1 mutants, 1 noticed"},
		{name: "does not apply", mutants: header + "-return limit + spent\n", err: "its lines are not in gate/budget.go"},
		{name: "does not compile", mutants: header + "-return limit - spent\n", err: "the tests of gate do not run"},
		{name: "no such file", mutants: "R-B1 gate/none.go: a fault\n-x\n", err: "none.go: no such file"},
		{name: "clause without a mutant", mutants: "", err: "R-B1 has no mutant"},
		{
			name: "tests fail without a fault", mutants: noticed, err: "gate fails without a fault (TestLeft)",
			edit: func(root string) {
				write(t, root, "gate/budget_test.go", strings.Replace(sample["gate/budget_test.go"], "!= 2", "!= 1", 1))
			},
		},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			root := t.TempDir()
			for name, text := range sample {
				write(t, root, name, text)
			}
			write(t, root, dir+"/sample.mutants", r.mutants)
			if r.edit != nil {
				r.edit(root)
			}

			var out strings.Builder
			err := run(root, nil, &out)
			if !strings.Contains(out.String(), r.out) {
				t.Errorf("report = %q, want it to contain %q", out.String(), r.out)
			}
			switch {
			case r.err == "" && err != nil:
				t.Errorf("error = %v, want none", err)
			case r.err != "" && (err == nil || !strings.Contains(err.Error(), r.err)):
				t.Errorf("error = %v, want it to contain %q", err, r.err)
			}

			for name, want := range sample {
				if name == "gate/budget_test.go" && r.edit != nil {
					continue
				}
				if got, err := os.ReadFile(filepath.Join(root, name)); err != nil || string(got) != want {
					t.Errorf("%s is %q (%v), want it unchanged", name, got, err)
				}
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	rows := []struct{ name, text, want string }{
		{"no clause", "gate/budget.go: a fault\n-a\n", "a.mutants:1: got"},
		{"no fault", "R-B1 gate/budget.go\n-a\n", "a.mutants:1: got"},
		{"no hunk", "R-B1 gate/budget.go: a fault\n", "a.mutants:1: the hunk changes nothing"},
		{"equal sides", "\nR-B1 gate/budget.go: a fault\n-a\n+\ta\n", "a.mutants:2: the hunk changes nothing"},
		{"foreign line", "R-B1 gate/budget.go: a fault\n-a\n~b\n", "a.mutants:3: got"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			if _, err := parse("a.mutants", r.text); err == nil || !strings.HasPrefix(err.Error(), r.want) {
				t.Errorf("error = %v, want it to start with %q", err, r.want)
			}
		})
	}
}

func TestApply(t *testing.T) {
	const source = "a\n\tb\nc\n\tb\nd\n"
	rows := []struct{ name, hunk, want, err string }{
		{"context picks the place", " c\n-b\n+x\n", "a\n\tb\nc\nx\nd\n", ""},
		{"several lines", "-a\n-b\n-c\n+c\n+a\n", "c\na\n\tb\nd\n", ""},
		{"twice", "-b\n", "", "twice, at 2 and 4"},
		{"longer than the file", "-a\n-b\n-c\n-b\n-d\n-e\n-f\n-g\n", "", "are not in f.go"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			ms, err := parse("a.mutants", "R-B1 f.go: a fault\n"+r.hunk)
			if err != nil {
				t.Fatal(err)
			}
			got, err := ms[0].apply(source)
			if got != r.want || (err == nil) != (r.err == "") || err != nil && !strings.Contains(err.Error(), r.err) {
				t.Errorf("apply = %q, %v, want %q, %q", got, err, r.want, r.err)
			}
		})
	}
}

// A mutant that no longer fits the code is found here, long before the next
// run of all of them.
func TestMutantsApply(t *testing.T) {
	const root = "../../.."
	all, err := parseDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		source, err := os.ReadFile(filepath.Join(root, m.file))
		if err != nil {
			t.Errorf("%s: %v", m.where, err)
			continue
		}
		if _, err := m.apply(string(source)); err != nil {
			t.Error(err)
		}
	}
}

// What docs/rules.md says of itself: each of its clauses of rules has a fault,
// but those that are not built yet.
func TestEveryClauseHasAMutant(t *testing.T) {
	all, err := parseDir(".")
	if err != nil {
		t.Fatal(err)
	}
	missing, err := withoutMutant("../../..", all)
	if err != nil {
		t.Fatal(err)
	}
	for _, clause := range missing {
		t.Errorf("%s has no mutant", clause)
	}
}
