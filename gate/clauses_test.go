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

// Every clause of docs/rules.md is cited by a test, but for those that say that
// they are not built yet, and every clause that a test cites exists.
func TestEveryClauseIsCited(t *testing.T) {
	unproven, unknown, err := clauseCoverage(os.DirFS(".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, clause := range unproven {
		t.Errorf("%s", clause)
	}
	for _, citation := range unknown {
		t.Errorf("docs/rules.md has no clause for %s", citation)
	}
}

func TestClauseCoverage(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	module := fstest.MapFS{
		"docs/rules.md":                file("**R-B1** **R-B10** (see R-B2) **R-B2** **R-B3** **R-B4** **R-B5** **R-B6** (not built yet: why) **R-B7** (not built yet)"),
		"gate/budget.go":               file("// R-B1"),
		"gate/budget_test.go":          file("// R-B10 begins like another id.\n// R-B7\n"),
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
	if diff := cmp.Diff([]string{"no test cites R-B1", "no test cites R-B5", "a test cites R-B7, which is not built yet"}, unproven); diff != "" {
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

// clauseCoverage says which clauses of docs/rules.md, in its order, no test of
// the module cites, or one does although it is not built yet; and returns the
// citations of clauses that it does not have. Fixtures, test scripts and the conformance suite are tests too.
func clauseCoverage(module fs.FS) (unproven, unknown []string, err error) {
	rules, err := fs.ReadFile(module, "docs/rules.md")
	if err != nil {
		return nil, nil, err
	}
	var clauses []string
	notBuilt := map[string]bool{}
	for _, match := range regexp.MustCompile(`\*\*(R-[A-Z][0-9]+)\*\*( \(not built yet)?`).FindAllStringSubmatch(string(rules), -1) {
		clauses, notBuilt[match[1]] = append(clauses, match[1]), match[2] != ""
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
	for _, clause := range clauses {
		switch {
		case cited[clause] && notBuilt[clause]:
			unproven = append(unproven, "a test cites "+clause+", which is not built yet")
		case !cited[clause] && !notBuilt[clause]:
			unproven = append(unproven, "no test cites "+clause)
		}
	}
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
