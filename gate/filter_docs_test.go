package gate

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The page about filters names every name with its values, and each of its
// examples is a filter.
func TestDocsOfFilters(t *testing.T) {
	text, err := os.ReadFile("../docs/filters.md")
	if err != nil {
		t.Fatal(err)
	}
	first := regexp.MustCompile("(?m)^\\| `(.+?)` \\| (.*) \\|$")
	for list, head := range map[FilterList]string{FilterQueue: "## The queue\n", FilterRuns: "## Runs\n", FilterLedger: "## The ledger\n"} {
		_, section, ok := strings.Cut(string(text), head)
		if !ok {
			t.Fatalf("no %q", head)
		}
		section, _, _ = strings.Cut(section, "\n## ")
		table, examples, _ := strings.Cut(section, "| example |")
		var names []string
		for _, row := range first.FindAllStringSubmatch(table, -1) {
			names = append(names, row[1])
			for _, v := range list.Values(row[1]) {
				if row[1] != "verdict" && !strings.Contains(row[2], v) {
					t.Errorf("%s: %s lacks %s", list, row[1], v)
				}
			}
		}
		if !slices.Equal(names, list.Names()) {
			t.Errorf("%s: names = %v, want %v", list, names, list.Names())
		}
		rows := first.FindAllStringSubmatch(examples, -1)
		if len(rows) < 4 {
			t.Errorf("%s: %d examples", list, len(rows))
		}
		for _, row := range rows {
			if _, err := ParseFilter(list, row[1]); err != nil {
				t.Errorf("%s: %s: %v", list, row[1], err)
			}
		}
	}
	calls := regexp.MustCompile(`tollgate (queue list|runs list|ledger tail) --filter '(.+?)'`).FindAllStringSubmatch(string(text), -1)
	if len(calls) != 3 {
		t.Errorf("calls = %v", calls)
	}
	for _, call := range calls {
		list := map[string]FilterList{"queue list": FilterQueue, "runs list": FilterRuns, "ledger tail": FilterLedger}[call[1]]
		if _, err := ParseFilter(list, call[2]); err != nil {
			t.Errorf("%s: %v", call[0], err)
		}
	}
}
