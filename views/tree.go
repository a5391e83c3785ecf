package views

import (
	"strconv"
	"strings"
	"time"

	"tollgate/gate"
)

// NodeID names a node of a retry tree, and stays the same while the run moves
// on: "a:planner/billing", "o:charge-42", "t:charge-42#1". The empty NodeID is
// no node.
type NodeID string

// OpNode returns the node of an operation.
func OpNode(op gate.OpID) NodeID { return NodeID("o:" + string(op)) }

// Node is one row of a retry tree: an agent, an operation or an attempt.
type Node struct {
	ID     NodeID
	Parent NodeID // empty at the top
	Depth  int
	Folds  bool // has nodes below it
	Folded bool // and they are left away

	Agent   string           // of an agent, its whole path
	Op      *gate.OpRow      // of an operation, and of an attempt
	Attempt *gate.AttemptRow // of an attempt
	Spent   int64            // attempts spent here and below, of the run's one budget

	last bool   // the last of its parent's
	past uint64 // bit d: the ancestor at depth d has further ones below it
}

// Pin is a failure kept in sight.
type Pin struct {
	Code gate.Code
	At   time.Time
}

// Tree is the retry tree of a run, flattened: what stands under a folded node
// is left away. It is made when the run or a fold changes, not for each frame.
type Tree struct {
	Nodes       []Node
	First, Last Pin // failures; zero when nothing failed
}

// Find returns the place of a node, -1 if it is not there.
func (t *Tree) Find(id NodeID) int {
	for i := range t.Nodes {
		if t.Nodes[i].ID == id && id != "" {
			return i
		}
	}
	return -1
}

// NewTree builds the tree: agents by their paths, under them the operations
// that they asked for, under those the operations that serve them and their
// attempts. A parent that is not there, or a circle of parents, hangs an
// operation under its agent. The tree points into run. folded says which nodes
// are folded; nil folds none.
func NewTree(run *gate.RunView, folded func(NodeID) bool) Tree {
	b := treeBuilder{folded: folded, agents: map[string]*agentNode{}, served: map[gate.OpID][]int{}, run: run}
	if b.folded == nil {
		b.folded = func(NodeID) bool { return false }
	}
	b.agent(run.Agent)
	byID := make(map[gate.OpID]int, len(run.Ops))
	for i := range run.Ops {
		byID[run.Ops[i].Op] = i
	}
	for i := range run.Ops {
		o := &run.Ops[i]
		b.pin(o)
		if serves(run, byID, i) {
			b.served[o.Parent] = append(b.served[o.Parent], i)
			continue
		}
		agent := o.Agent
		if agent == "" {
			agent = run.Agent
		}
		n := b.agent(agent)
		n.ops = append(n.ops, i)
	}
	for i, root := range b.roots {
		b.addAgent(root, "", 0, i == len(b.roots)-1, 0)
	}
	return b.tree
}

// serves reports whether an operation can hang under its parent: the parent is
// there, and the way up from it does not come back. An operation is opened
// after its parent, so a parent that is not older is none.
func serves(run *gate.RunView, byID map[gate.OpID]int, i int) bool {
	p, ok := byID[run.Ops[i].Parent]
	return ok && run.Ops[i].Parent != "" && p < i
}

type agentNode struct {
	path  string
	below []*agentNode
	ops   []int
}

type treeBuilder struct {
	run    *gate.RunView
	folded func(NodeID) bool
	agents map[string]*agentNode
	roots  []*agentNode
	served map[gate.OpID][]int
	tree   Tree
}

// agent returns the node of a path, with those above it.
func (b *treeBuilder) agent(path string) *agentNode {
	if n, ok := b.agents[path]; ok {
		return n
	}
	n := &agentNode{path: path}
	b.agents[path] = n
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		up := b.agent(path[:i])
		up.below = append(up.below, n)
	} else {
		b.roots = append(b.roots, n)
	}
	return n
}

// add appends a node, and returns its place.
func (b *treeBuilder) add(n Node) int {
	b.tree.Nodes = append(b.tree.Nodes, n)
	return len(b.tree.Nodes) - 1
}

func (b *treeBuilder) addAgent(a *agentNode, parent NodeID, depth int, last bool, past uint64) int64 {
	n := Node{ID: NodeID("a:" + a.path), Parent: parent, Depth: depth, Agent: a.path, last: last, past: past}
	n.Folds = len(a.ops)+len(a.below) > 0
	n.Folded = n.Folds && b.folded(n.ID)
	at := b.add(n)
	past = below(past, depth, last)
	var sum int64
	for i, op := range a.ops {
		sum += b.addOp(op, n.ID, depth+1, i == len(a.ops)-1 && len(a.below) == 0, past)
	}
	for i, sub := range a.below {
		sum += b.addAgent(sub, n.ID, depth+1, i == len(a.below)-1, past)
	}
	b.close(at, sum, n.Folded)
	return sum
}

func (b *treeBuilder) addOp(i int, parent NodeID, depth int, last bool, past uint64) int64 {
	o := &b.run.Ops[i]
	served := b.served[o.Op]
	n := Node{ID: OpNode(o.Op), Parent: parent, Depth: depth, Op: o, last: last, past: past}
	n.Folds = len(o.Attempts)+len(served) > 0
	n.Folded = n.Folds && b.folded(n.ID)
	at := b.add(n)
	past = below(past, depth, last)
	sum := max(0, o.Permits-int64(len(o.Attempts))) // older ones are only counted
	for k := range o.Attempts {
		a := &o.Attempts[k]
		made := max(1, a.Inner)
		if a.PaidBy == "" { // an earlier run's budget is not this one's
			sum += made
		}
		b.add(Node{
			ID:     NodeID("t:" + string(o.Op) + "#" + strconv.FormatInt(a.Ordinal, 10)),
			Parent: n.ID, Depth: depth + 1, Op: o, Attempt: a, Spent: made,
			last: k == len(o.Attempts)-1 && len(served) == 0, past: past,
		})
	}
	for k, op := range served {
		sum += b.addOp(op, n.ID, depth+1, k == len(served)-1, past)
	}
	b.close(at, sum, n.Folded)
	return sum
}

// close fills in what a node's parts came to, and leaves them away if it is folded.
func (b *treeBuilder) close(at int, sum int64, folded bool) {
	b.tree.Nodes[at].Spent = sum
	if folded {
		b.tree.Nodes = b.tree.Nodes[:at+1]
	}
}

// below returns the lines that pass by the nodes under a node.
func below(past uint64, depth int, last bool) uint64 {
	if depth > 63 || last {
		return past
	}
	return past | 1<<depth
}

// pin keeps the first and the last failure of the run.
func (b *treeBuilder) pin(o *gate.OpRow) {
	for i := range o.Attempts {
		a := &o.Attempts[i]
		if a.Failure == nil {
			continue
		}
		at := a.ReportedAt
		if first := &b.tree.First; first.At.IsZero() || at.Before(first.At) {
			*first = Pin{a.Failure.Code, at.Time}
		}
		if last := &b.tree.Last; !at.Before(last.At) {
			*last = Pin{a.Failure.Code, at.Time}
		}
	}
}

// node appends the cells of one node of the tree.
func (b *block) node(n *Node, total int64, now time.Time) {
	b.lines(n)
	const numbers = 9
	room := max(0, b.width-numbers-1)
	switch {
	case n.Attempt != nil:
		b.attemptNode(n, room, now)
	case n.Op != nil:
		b.opNode(n, room)
	default:
		name := n.Agent
		if n.Depth > 0 {
			name = name[strings.LastIndexByte(name, '/')+1:]
		}
		b.fold(n)
		b.cell(text, name, room-b.x)
		b.tmp = appendCount(b.tmp[:0], n.Spent)
		b.tmp = append(b.tmp, " of "...)
		b.tmp = appendCount(b.tmp, total)
		b.rightNumber(dim, numbers)
	}
}

// lines appends the branches to the left of a node. A tree deeper than its
// pane shows its nearest branches.
func (b *block) lines(n *Node) {
	skip := max(0, n.Depth-max(1, (b.width-24)/2))
	for d := skip + 1; d < n.Depth; d++ {
		if d < 64 && n.past&(1<<d) != 0 {
			b.glyph(faint, b.th.g.through)
		} else {
			b.gap(1)
		}
		b.gap(1)
	}
	switch {
	case n.Depth == 0:
	case n.last:
		b.glyph(faint, b.th.g.last)
		b.gap(1)
	default:
		b.glyph(faint, b.th.g.branch)
		b.gap(1)
	}
}

func (b *block) fold(n *Node) {
	if n.Folded {
		b.glyph(press, b.th.g.fold)
		b.gap(1)
	}
}

func (b *block) opNode(n *Node, room int) {
	b.fold(n)
	glyph, _, look := b.th.stateLook(n.Op)
	b.glyph(look, glyph)
	b.gap(1)
	name := text
	if b.sel {
		name = strong
	}
	b.nameBeside(name, string(n.Op.Op), n.Op.Tool, room)
	b.tmp = appendCount(b.tmp[:0], n.Spent)
	b.rightNumber(text, b.rest()-1)
}

// nameBeside appends a name, and beside it what there is room for: the name is
// never cut for it. Below each other they line up where names are short.
func (b *block) nameBeside(s style, name, beside string, until int) {
	const least = 6
	from := max(b.x+b.measure(name, until-b.x)+1, b.width*45/100)
	if beside == "" || until-from < min(least, b.measure(beside, least)) {
		b.id(s, name, until-b.x)
		return
	}
	b.cell(s, name, from-b.x)
	b.cell(dim, beside, until-from)
}

func (b *block) attemptNode(n *Node, room int, now time.Time) {
	a := n.Attempt
	glyph, word, look := b.th.attemptLook(a)
	b.glyph(look, glyph)
	b.gap(1)
	b.integer(text, a.Ordinal)
	b.gap(1)
	if a.Failure != nil {
		word = string(a.Failure.Code)
	}
	class := ""
	if a.Class != nil {
		class = ClassWord(*a.Class)
	}
	b.nameBeside(text, word, class, room)
	b.tmp = appendTook(b.tmp[:0], attemptTook(a, now))
	b.rightNumber(dim, b.rest()-1)
}

// attemptTook returns how long an attempt took, or has been under way; -1 if
// it has not begun.
func attemptTook(a *gate.AttemptRow, now time.Time) time.Duration {
	begun := a.NotBefore
	if begun.Before(a.Permitted.Time) {
		begun = a.Permitted
	}
	until := a.ReportedAt
	if until.IsZero() {
		until = gate.InstantOf(now)
	}
	if until.Before(begun.Time) {
		return -1
	}
	return until.Sub(begun.Time)
}
