package views

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tollgate/gate"
)

// shape prints a tree as ids with their depth and what was spent below them.
func shape(t Tree) []string {
	var out []string
	for _, n := range t.Nodes {
		s := fmt.Sprintf("%s%s %d", strings.Repeat(" ", n.Depth), n.ID, n.Spent)
		if n.Folded {
			s += " folded"
		}
		out = append(out, s)
	}
	return out
}

func treeRun(ops ...gate.OpRow) *gate.RunView {
	return &gate.RunView{RunRow: gate.RunRow{Run: "r", Agent: "planner"}, Ops: ops}
}

func treeOp(op, agent, parent string, attempts int) gate.OpRow {
	o := gate.OpRow{Op: gate.OpID(op), Agent: agent, Parent: gate.OpID(parent), Permits: int64(attempts)}
	for i := range attempts {
		o.Attempts = append(o.Attempts, gate.AttemptRow{Ordinal: int64(i + 1)})
	}
	return o
}

func TestTree(t *testing.T) {
	inner := treeOp("a", "planner", "", 2)
	inner.Attempts[0].Inner, inner.Permits = 3, 5
	rows := []struct {
		name   string
		run    *gate.RunView
		folded NodeID
		want   []string
	}{
		{"nothing asked for", treeRun(), "", []string{"a:planner 0"}},
		{"an operation of the run's agent", treeRun(treeOp("a", "", "", 1)), "", []string{"a:planner 1", " o:a 1", "  t:a#1 1"}},
		{
			"agents by their paths", treeRun(treeOp("a", "planner/billing/tax", "", 1), treeOp("b", "planner", "", 0)), "",
			[]string{"a:planner 1", " o:b 0", " a:planner/billing 1", "  a:planner/billing/tax 1", "   o:a 1", "    t:a#1 1"},
		},
		{"another root", treeRun(treeOp("a", "crawler", "", 1)), "", []string{"a:planner 0", "a:crawler 1", " o:a 1", "  t:a#1 1"}},
		{
			"an operation that serves another", treeRun(treeOp("a", "planner", "", 1), treeOp("b", "planner", "a", 1)), "",
			[]string{"a:planner 2", " o:a 2", "  t:a#1 1", "  o:b 1", "   t:b#1 1"},
		},
		{
			"folded", treeRun(treeOp("a", "planner", "", 1), treeOp("b", "planner", "a", 1), treeOp("c", "planner", "", 0)), "o:a",
			[]string{"a:planner 2", " o:a 2 folded", " o:c 0"},
		},
		{"folded without anything below", treeRun(treeOp("a", "planner", "", 0)), "o:a", []string{"a:planner 0", " o:a 0"}},
		{
			"a parent that is not there, and a circle",
			treeRun(treeOp("a", "planner", "gone", 0), treeOp("b", "planner", "c", 0), treeOp("c", "planner", "b", 0), treeOp("d", "planner", "d", 0)), "",
			[]string{"a:planner 0", " o:a 0", " o:b 0", "  o:c 0", " o:d 0"},
		},
		{
			"attempts inside, and older ones that are only counted", treeRun(inner), "",
			[]string{"a:planner 7", " o:a 7", "  t:a#1 3", "  t:a#2 1"},
		},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			got := NewTree(r.run, func(n NodeID) bool { return n == r.folded })
			if diff := cmp.Diff(shape(got), r.want); diff != "" {
				t.Errorf("got (-) want (+):\n%s", diff)
			}
		})
	}
}

func TestTreePinsFirstAndLastFailure(t *testing.T) {
	got := NewTree(sampleRun(), func(NodeID) bool { return true })
	if got.First.Code != "rate_limit" || got.Last.Code != "parse_error" {
		t.Errorf("first %q, last %q, want rate_limit, parse_error", got.First.Code, got.Last.Code)
	}
	if none := NewTree(treeRun(treeOp("a", "", "", 1)), nil); !none.First.At.IsZero() || !none.Last.At.IsZero() {
		t.Errorf("without failures: first %v, last %v", none.First, none.Last)
	}
}

// A chain of operations far deeper than any pane still has one row each.
func TestDeepTree(t *testing.T) {
	var ops []gate.OpRow
	for i := range 2000 {
		ops = append(ops, treeOp(fmt.Sprint("op-", i), "planner", fmt.Sprint("op-", i-1), 1))
	}
	run := treeRun(ops...)
	tree := NewTree(run, nil)
	if got, want := len(tree.Nodes), 1+2*2000; got != want {
		t.Fatalf("%d nodes, want %d", got, want)
	}
	p := samplePage(NewTheme(Plain, true), 80, 24, -1)
	got := Run(p, RunScreen{Run: run, Tree: tree, Selected: "o:op-1999", Top: len(tree.Nodes) - RunRows(p)})
	if !strings.Contains(got, "op-1999") {
		t.Errorf("the deepest operation is not to be seen:\n%s", got)
	}
}

func TestTreeFind(t *testing.T) {
	tree := NewTree(sampleRun(), nil)
	for id, want := range map[NodeID]bool{"a:planner": true, OpNode("charge-42"): true, "t:lookup#2": true, "o:gone": false, "": false} {
		if got := tree.Find(id) >= 0; got != want {
			t.Errorf("Find(%q) found %v, want %v", id, got, want)
		}
	}
}
