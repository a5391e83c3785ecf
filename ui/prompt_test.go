package ui

import (
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
)

// A filter that is none yet is said under it while it is typed, with a caret
// where it is wrong, and cannot be applied.
func TestFilterThatIsWrong(t *testing.T) {
	h, _ := incident(t)
	h.press("/")
	h.wantRow("filter: _", "kind state agent run op tool dep code class key claim since")
	h.wantRow("complete", "leave")
	h.write("payments kind:sad")
	h.wantRow("filter: payments kind:sad_", "esc leave")
	rows := strings.Split(h.screen(), "\n")
	last := rows[len(rows)-1]
	if got, want := strings.Index(last, "^"), strings.Index(rows[len(rows)-2], "sad"); got != want || !strings.Contains(last, `^ want one of outcome-unknown, approval, exhausted, stopped, got "sad"`) {
		t.Errorf("under the filter: %q, want a caret at %d and what was wanted", last, want)
	}
	h.press("enter")
	h.wantRow("filter: payments kind:sad_")
	h.wantNoRow("/payments")
	h.press("backspace", "backspace", "backspace")
	h.wantRow("want one of outcome-unknown", "got nothing")
	h.write("stopped")
	h.wantNoRow("want one of")
	h.press("left")
	h.wantRow("filter: payments kind:stoppe_d")
	h.press("enter")
	h.wantRow("/payments kind:stopped 0 open")
	h.wantRow("No item here matches payments kind:stopped.")
	h.press("2", "/")
	h.wantRow("filter: _", "state agent run dep tool code key op ref since")
	h.write("kind:stopped")
	h.wantRow("want one of the names state, agent, run, dep, tool, code, key, op, ref, since", `got "kind"`)
	h.press("esc")
	h.wantNoRow("filter:")
}

// The caret stays under the place when the cursor stands before it, or the text
// takes more cells than characters; without room for both it is left out.
func TestFilterCaret(t *testing.T) {
	h, _ := incident(t)
	h.press("/")
	h.write("op:注文 kind:sad")
	h.press("home")
	rows := strings.Split(h.screen(), "\n")
	text := rows[len(rows)-2]
	if got, want := strings.Index(rows[len(rows)-1], "^"), strings.Index(text, "sad"); got != want {
		t.Errorf("caret at %d, want %d, under sad in %q", got, want, text)
	}
	h.send(tea.WindowSizeMsg{Width: 60, Height: 20})
	h.wantRow(" want one of outcome-unknown, approval, exhausted, stopped")
	h.wantNoRow("^")
	h.send(tea.WindowSizeMsg{Width: 60, Height: 12}) // few rows: the keys have gone, and it is one line
	h.wantRow("filter: _op:\\u{6ce8}\\u{6587} kind:sad  want one of outcome")
}

// A filter with names chooses what has them, in the queue and among the runs.
func TestFilterByName(t *testing.T) {
	h, _ := incident(t)
	h.press("/")
	h.write("op:charge-2 code:time*")
	h.press("enter")
	h.wantRow("/op:charge-2 code:time* 1 open")
	h.wantRow("charge-2", "payments")
	h.wantNoRow("charge-1 ", "payments")
	h.press("2", "/")
	h.write("op:charge-1")
	h.press("enter")
	h.wantRow("/op:charge-1")
	h.wantRow("run-1", "planner")
	h.press("/")
	h.write("00")
	h.press("enter")
	h.wantRow("No run matches.")
}

// Tab completes a name, and a value where the name has some, as far as it is
// certain.
func TestFilterIsCompleted(t *testing.T) {
	h, _ := incident(t)
	h.press("/")
	h.write("!cl")
	h.press("tab") // class and claim
	h.wantRow("filter: !cla_")
	h.write("s")
	h.press("tab")
	h.wantRow("filter: !class:_")
	h.write("tr")
	h.press("tab")
	h.wantRow("filter: !class:transient_")
	h.press("tab")
	h.wantRow("filter: !class:transient_")
	h.write(" k")
	h.press("tab")
	h.wantRow("filter: !class:transient k_") // kind and key
}

// An item that has come not to match a filter leaves the list as any other
// does: it is said, and taken in with R.
func TestItemThatNoLongerMatches(t *testing.T) {
	h, _ := incident(t)
	h.press("/")
	h.write(`claim:""`)
	h.press("enter", "j")
	h.wantRow(">", "charge-2")
	h.press("c")
	h.poke()
	h.wantRow("1 left", "R takes them in")
	h.press("R")
	h.wantNoRow("charge-2 ", "payments")
	h.wantNoRow(">", "charge-")
	h.wantRow("charge-1 ", "payments")
	h.wantRow("does not match the filter any more")
}
