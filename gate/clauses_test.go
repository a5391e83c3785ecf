package gate_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// uncited are the clauses that no test has to cite, each with its reason.
var uncited = map[string]string{
	"R-P9": "bulk is not built yet",
	"R-L4": "bodies kept apart are not built yet",
}

// Every clause of docs/rules.md is cited by a test, and every clause that a
// test cites exists.
func TestEveryClauseIsCited(t *testing.T) {
	unproven, unknown, err := clauseCoverage(os.DirFS(".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, clause := range unproven {
		if uncited[clause] == "" {
			t.Errorf("no test cites %s", clause)
		}
	}
	for _, citation := range unknown {
		t.Errorf("docs/rules.md has no clause for %s", citation)
	}
	for clause, reason := range uncited {
		if !slices.Contains(unproven, clause) {
			t.Errorf("%s is cited, and needs no exemption any more (%s)", clause, reason)
		}
	}
}

func TestClauseCoverage(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	module := fstest.MapFS{
		"docs/rules.md":                file("**R-B1** **R-B10** (see R-B2) **R-B2** **R-B3** **R-B4** **R-B5**"),
		"gate/budget.go":               file("// R-B1"),
		"gate/budget_test.go":          file("// R-B10 begins like another id.\n"),
		"gate/clauses_test.go":         file("R-B1"),
		"fixtures/a.yaml":              file("about: R-B2\n"),
		"runstore/storetest/suite.go":  file("// R-B3"),
		"cli/testdata/a.txtar":         file("# R-B4 and R-Z9\n"),
		"gate/testdata/mutants/b.text": file("R-B5"),
	}

	unproven, unknown, err := clauseCoverage(module)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"R-B1", "R-B5"}, unproven); diff != "" {
		t.Errorf("clauses without a test (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"R-Z9 in cli/testdata/a.txtar"}, unknown); diff != "" {
		t.Errorf("citations without a clause (-want +got):\n%s", diff)
	}

	module["docs/rules.md"] = file("No clauses.")
	if _, _, err := clauseCoverage(module); err == nil {
		t.Error("rules without a clause are accepted, want an error")
	}
}

// clauseCoverage returns the clauses of docs/rules.md, in its order, that no
// test of the module cites, and the citations of clauses that it does not
// have. Fixtures, test scripts and the conformance suite are tests too.
func clauseCoverage(module fs.FS) (unproven, unknown []string, err error) {
	rules, err := fs.ReadFile(module, "docs/rules.md")
	if err != nil {
		return nil, nil, err
	}
	var clauses []string
	for _, match := range regexp.MustCompile(`\*\*(R-[A-Z][0-9]+)\*\*`).FindAllStringSubmatch(string(rules), -1) {
		clauses = append(clauses, match[1])
	}
	if len(clauses) == 0 {
		return nil, nil, fmt.Errorf("docs/rules.md: no clause is marked like **R-B1**")
	}

	citation := regexp.MustCompile(`\bR-[A-Z][0-9]+\b`)
	cited := map[string]bool{}
	err = fs.WalkDir(module, ".", func(name string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.IsDir() && name != "." && strings.HasPrefix(entry.Name(), ".") {
			return fs.SkipDir
		}
		if err != nil || entry.IsDir() || !isTest(name) {
			return err
		}
		text, err := fs.ReadFile(module, name)
		if err != nil {
			return err
		}
		for _, clause := range citation.FindAllString(string(text), -1) {
			if !cited[clause] && !slices.Contains(clauses, clause) {
				unknown = append(unknown, clause+" in "+name)
			}
			cited[clause] = true
		}
		return nil
	})
	unproven = slices.DeleteFunc(clauses, func(clause string) bool { return cited[clause] })
	return unproven, unknown, err
}

// isTest reports whether the file can cite a clause that it tests.
func isTest(name string) bool {
	switch dir := path.Dir(name); {
	case name == "gate/clauses_test.go", dir == "gate/testdata/mutants":
		return false // these name clauses that they do not test
	case dir == "runstore/storetest":
		return path.Ext(name) == ".go"
	case dir == "fixtures":
		return path.Ext(name) == ".yaml" || strings.HasSuffix(name, "_test.go")
	default:
		return path.Ext(name) == ".txtar" || strings.HasSuffix(name, "_test.go")
	}
}
