package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A mutant is one small fault: a few lines of a source file, and what they
// are replaced with.
//
// In a .mutants file it is a heading and a hunk without line numbers:
//
//	R-D3 gate/decide_retry.go: one attempt too many is let through
//	-if b.AttemptsRemaining() == 0 {
//	+if b.AttemptsRemaining() < 0 {
//
// The first letter of a hunk's line says where the line stands: '-' in the
// source only, '+' in the mutant only, ' ' in both. An empty line ends the
// hunk; '#' starts a comment between hunks. Indentation does not count, so
// that moving code does not spoil its mutants, but what is left of the lines
// has to be found exactly once in the file.
type mutant struct {
	clause string // R-D3
	file   string // slash-separated, from the root of the module
	fault  string // what is wrong with the mutant, in a few words
	where  string // file:line of the heading
	old    []string
	new    []string
}

func (m mutant) String() string {
	return fmt.Sprintf("%s %s: %s", m.clause, m.file, m.fault)
}

// parse reads the mutants of one .mutants file. name is for error messages.
func parse(name, text string) ([]mutant, error) {
	var (
		all  []mutant
		hunk bool // the last line belongs to a mutant
	)
	scan := bufio.NewScanner(strings.NewReader(text))
	for n := 1; scan.Scan(); n++ {
		line, where := scan.Text(), fmt.Sprintf("%s:%d", name, n)
		switch {
		case strings.TrimSpace(line) == "":
			hunk = false
		case !hunk && line[0] == '#':
		case !hunk:
			place, fault, _ := strings.Cut(line, ": ")
			clause, file, ok := strings.Cut(place, " ")
			if !ok || fault == "" || !strings.HasPrefix(clause, "R-") {
				return nil, fmt.Errorf("%s: got %q, want a heading \"R-D3 gate/decide_retry.go: what is wrong\"", where, line)
			}
			all = append(all, mutant{clause: clause, file: file, fault: fault, where: where})
			hunk = true
		default:
			m, rest := &all[len(all)-1], strings.TrimSpace(line[1:])
			switch line[0] {
			case '-':
				m.old = append(m.old, rest)
			case '+':
				m.new = append(m.new, rest)
			case ' ', '\t':
				m.old, m.new = append(m.old, rest), append(m.new, rest)
			default:
				return nil, fmt.Errorf("%s: got %q, want a line that starts with '-', '+' or a space", where, line)
			}
		}
	}
	if err := scan.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for _, m := range all {
		if len(m.old) == 0 || slices.Equal(m.old, m.new) {
			return nil, fmt.Errorf("%s: the hunk changes nothing", m.where)
		}
	}
	return all, nil
}

// parseDir reads every .mutants file of dir.
func parseDir(dir string) ([]mutant, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.mutants"))
	if err != nil {
		return nil, err
	}
	var all []mutant
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		ms, err := parse(filepath.Base(name), string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, ms...)
	}
	return all, nil
}

// apply returns source with the mutant's lines put in. It is an error if the
// lines to replace are not there, or are there more than once.
func (m mutant) apply(source string) (string, error) {
	lines := strings.Split(source, "\n")
	found := -1
	for i := range len(lines) - len(m.old) + 1 {
		if !slices.EqualFunc(lines[i:i+len(m.old)], m.old, func(line, old string) bool {
			return strings.TrimSpace(line) == old
		}) {
			continue
		}
		if found >= 0 {
			return "", fmt.Errorf("%s: its lines are in %s twice, at %d and %d: add lines around them", m.where, m.file, found+1, i+1)
		}
		found = i
	}
	if found < 0 {
		return "", fmt.Errorf("%s: its lines are not in %s: %q", m.where, m.file, strings.Join(m.old, "\n"))
	}
	return strings.Join(slices.Replace(lines, found, found+len(m.old), m.new...), "\n"), nil
}
