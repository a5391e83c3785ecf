// Command mutants plants one small fault at a time in the rules and requires
// a test to notice it: a check that no test would miss is not tested.
//
// The faults stand in the .mutants files beside this one (the format is at
// the type mutant). Each is applied through the go tool's overlay, so the
// work tree is never touched. The command fails if a fault goes unnoticed,
// no longer applies, or does not compile, and if a clause of docs/rules.md
// that has to have a fault has none.
//
// Usage, from the root of the module:
//
//	go run ./gate/testdata/mutants [CLAUSE…]
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

const dir = "gate/testdata/mutants"

func main() {
	if err := run(".", os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// run tries the mutants of the module at root, those of the given clauses
// only if there are any, and reports on out.
func run(root string, clauses []string, out io.Writer) error {
	all, err := parseDir(filepath.Join(root, dir))
	if err != nil {
		return err
	}
	missing, err := withoutMutant(root, all)
	if err != nil {
		return err
	}
	if len(clauses) > 0 {
		missing = nil
		all = slices.DeleteFunc(all, func(m mutant) bool { return !slices.Contains(clauses, m.clause) })
	}

	// If the tests fail on the code as it is, each fault would seem noticed.
	var unchanged []string
	for _, m := range all {
		unchanged = append(unchanged, packages(root, m.file)...)
	}
	slices.Sort(unchanged)
	for _, pkg := range slices.Compact(unchanged) {
		if test, err := failing(root, "", pkg); err != nil || test != "" {
			return errors.Join(fmt.Errorf("%s fails without a fault (%s)", pkg, test), err)
		}
	}

	type result struct {
		test string
		err  error
	}
	results := make([]chan result, len(all))
	next := make(chan int, len(all))
	for i := range all {
		results[i] = make(chan result, 1)
		next <- i
	}
	close(next)
	for range runtime.NumCPU() {
		go func() {
			for i := range next {
				test, err := try(root, all[i])
				results[i] <- result{test, err}
			}
		}()
	}

	noticed := 0
	var errs []error
	for i, c := range results {
		r := <-c
		switch {
		case r.err != nil:
			fmt.Fprintf(out, "ERROR      %v\n", all[i])
			errs = append(errs, r.err)
		case r.test == "":
			fmt.Fprintf(out, "UNNOTICED  %v\n", all[i])
			errs = append(errs, fmt.Errorf("%s: no test notices it", all[i].where))
		default:
			noticed++
			fmt.Fprintf(out, "noticed    %v (%s)\n", all[i], r.test)
		}
	}
	for _, clause := range missing {
		errs = append(errs, fmt.Errorf("%s has no mutant", clause))
	}
	fmt.Fprintf(out, "%d mutants, %d noticed\n", len(all), noticed)
	return errors.Join(errs...)
}

// mustHave finds a clause that has to have a mutant, and whether it says that
// it is not built yet: then it needs none.
var mustHave = regexp.MustCompile(`\*\*(R-[BACDRTKP][0-9]+)\*\*( \(not built yet)?`)

// withoutMutant returns the clauses of docs/rules.md that have to have a
// mutant and have none.
func withoutMutant(root string, all []mutant) ([]string, error) {
	rules, err := os.ReadFile(filepath.Join(root, "docs", "rules.md"))
	if err != nil {
		return nil, err
	}
	var missing []string
	for _, match := range mustHave.FindAllStringSubmatch(string(rules), -1) {
		clause, notBuilt := match[1], match[2] != ""
		if !notBuilt && !slices.ContainsFunc(all, func(m mutant) bool { return m.clause == clause }) {
			missing = append(missing, clause)
		}
	}
	return missing, nil
}

// try plants one fault and returns the name of the first test that fails, or
// "" if none does.
func try(root string, m mutant) (string, error) {
	name, err := filepath.Abs(filepath.Join(root, filepath.FromSlash(m.file)))
	if err != nil {
		return "", err
	}
	source, err := os.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("%s: %w", m.where, err)
	}
	changed, err := m.apply(string(source))
	if err != nil {
		return "", err
	}

	temp, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	replacement, overlay := filepath.Join(temp, path.Base(m.file)), filepath.Join(temp, "overlay.json")
	table, err := json.Marshal(map[string]any{"Replace": map[string]string{name: replacement}})
	if err != nil {
		return "", err
	}
	if err := errors.Join(os.WriteFile(replacement, []byte(changed), 0o600), os.WriteFile(overlay, table, 0o600)); err != nil {
		return "", err
	}

	for _, pkg := range packages(root, m.file) {
		test, err := failing(root, overlay, pkg)
		if err != nil {
			return "", fmt.Errorf("%s: %w", m.where, err)
		}
		if test != "" {
			return test, nil
		}
	}
	return "", nil
}

// packages returns the packages whose tests ought to notice a fault in file,
// its own first. Those without tests are left out.
func packages(root, file string) []string {
	all := []string{path.Dir(file)}
	for _, pkg := range []string{"gate", "escalation", "fixtures"} {
		if pkg != all[0] {
			all = append(all, pkg)
		}
	}
	return slices.DeleteFunc(all, func(pkg string) bool {
		tests, err := filepath.Glob(filepath.Join(root, pkg, "*_test.go"))
		return err != nil || len(tests) == 0
	})
}

var failure = regexp.MustCompile(`(?m)^--- FAIL: (\S+)|^(?:panic|fatal error): (.*)`)

// failing runs the tests of pkg under the overlay, if there is one, and
// returns the name of the first that fails, or "" if all pass. A package that
// does not compile is an error, not a failing test.
func failing(root, overlay, pkg string) (string, error) {
	args := []string{"test", "-vet=off", "-short", "-failfast", "-timeout=3m"}
	if overlay != "" {
		args = append(args, "-overlay="+overlay)
	}
	cmd := exec.Command("go", append(args, "./"+pkg)...)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	if err == nil {
		return "", nil
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) || strings.Contains(string(out), "[build failed]") || strings.Contains(string(out), "[setup failed]") {
		return "", fmt.Errorf("the tests of %s do not run: %w\n%s", pkg, err, out)
	}
	match := failure.FindStringSubmatch(string(out))
	if match == nil {
		return "", fmt.Errorf("the tests of %s fail without naming one: %w\n%s", pkg, err, out)
	}
	return match[1] + match[2], nil // one of the two is empty
}
