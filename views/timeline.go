package views

import "tollgate/gate"

// TimelineScreen is one run as a timeline: attempts, backoff, waits for a
// person and what people did, to scale from the run's start to its deadline.
type TimelineScreen struct {
	Run       *gate.RunView
	Tree      Tree               // the operations among its nodes are the lanes, in its order
	Selected  NodeID             // empty when nothing is selected
	Top       int                // the first node shown, attempts left aside: see TimelineNodes
	Decisions []gate.DecisionRow // of the run, oldest first, as far as they have been read
	Me        string             // id of the operator
}

// TimelineNodes returns the nodes of a tree that have a row in a timeline: all
// but attempts.
func TimelineNodes(t Tree) []Node {
	nodes := make([]Node, 0, len(t.Nodes))
	for _, n := range t.Nodes {
		if n.Attempt == nil {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// nodes returns those to show, at most most of them.
func (v *TimelineScreen) nodes(most int) []*Node {
	nodes := make([]*Node, 0, max(0, most))
	skip := v.Top
	for i := range v.Tree.Nodes {
		n := &v.Tree.Nodes[i]
		if n.Attempt != nil {
			continue
		}
		if skip--; skip < 0 && len(nodes) < most {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// TimelineRows returns how many nodes a page shows at once.
func TimelineRows(p Page) int { return max(0, RunRows(p)-axisRows(p)-legendRows(p)) }

func axisRows(p Page) int {
	if p.low() {
		return 1
	}
	return 2
}

func legendRows(p Page) int {
	if p.low() {
		return 0
	}
	return 2
}

// Timeline draws one run as a timeline.
func Timeline(p Page, v TimelineScreen) string {
	return p.draw(func(b *block, rows int) {
		if v.Run == nil {
			b.say("This run is not here.")
			return
		}
		b.runHead(p, v.Run, &v.Tree, runTabs, tabTimeline)
		most := rows - runTop(p) - axisRows(p) - legendRows(p)
		nodes := v.nodes(most)
		l := newLanes(b, v, nodes, p.Now)
		l.axis(b, p)
		if len(v.Tree.Nodes) == 0 {
			b.say("Nothing has been asked for yet.")
		}
		start := len(b.rows)
		for _, n := range nodes {
			l.node(b, n, v.Selected)
		}
		if legendRows(p) > 0 {
			b.blank(start + most + legendRows(p) - 1 - len(b.rows))
			l.legend(b)
		}
	})
}

// runTabs are the tabs of a run.
var runTabs = []string{tabTree: "tree", tabTimeline: "timeline", tabLedger: "ledger"}

const (
	tabTree = iota
	tabTimeline
	tabLedger
)
