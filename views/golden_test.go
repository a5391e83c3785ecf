package views

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

// Each screen at each size and look; their special states at the size that is
// tightest in daily use.
func TestGolden(t *testing.T) {
	looks := []struct {
		name  string
		theme *Theme
	}{
		{"colour", NewTheme(Dark, false)},
		{"mono", NewTheme(Mono, false)},
		{"ascii", NewTheme(Plain, true)},
	}
	sizes := [][2]int{{40, 12}, {80, 24}, {120, 36}, {200, 60}}
	everywhere := map[string]bool{
		"queue": true, "runs": true, "run": true, "run-detail": true, "review": true, "form": true, "help": true,
		"ledger": true, "record": true, "dependencies": true, "timeline": true, "ledger-tab": true, "causes": true, "fixtures": true, "playback": true, "compare": true, "bulk": true, "bulk-form": true,
	}
	for name, draw := range screens() {
		for _, size := range sizes {
			if !everywhere[name] && size[0] != 80 {
				continue
			}
			for _, look := range looks {
				file := fmt.Sprintf("%s-%dx%d-%s", name, size[0], size[1], look.name)
				t.Run(file, func(t *testing.T) {
					golden(t, file, draw(samplePage(look.theme, size[0], size[1], 0)))
				})
			}
		}
	}
	for _, name := range []string{"ledger", "record", "dependencies", "timeline", "causes", "fixtures", "playback", "compare", "bulk"} {
		golden(t, name+"-80x24-light", screens()[name](samplePage(NewTheme(Light, false), 80, 24, 0)))
	}
	golden(t, "queue-80x24-light", screens()["queue"](samplePage(NewTheme(Light, false), 80, 24, 0)))
	golden(t, "queue-80x24-sixteen", screens()["queue"](samplePage(NewTheme(Sixteen, false), 80, 24, 0)))
	golden(t, "too-small", screens()["queue"](samplePage(NewTheme(Dark, false), 39, 24, 0)))
	golden(t, "print-tree", PrintTree(sampleRun(), now, 0))
	golden(t, "print-review", PrintReview(sampleReview(), now, 100))
	golden(t, "gauge-100", BudgetGauge(NewTheme(Plain, false), sampleBudget(), now, 100))
	golden(t, "gauge-30", BudgetGauge(NewTheme(Plain, false), sampleBudget(), now, 30))
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, string(want)); diff != "" {
		t.Errorf("%s, got (-) want (+):\n%s", path, diff)
	}
}
