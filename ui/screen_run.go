package ui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"tollgate/gate"
	"tollgate/views"
)

// runScreen is one run: its gauges and its retry tree, live. The tree only
// grows, and the cursor stays with its node.
type runScreen struct {
	id   gate.RunID
	view *gate.RunView // nil until it has been read
	none bool          // there is no such run
	tree views.Tree

	folded map[views.NodeID]bool
	sel    views.NodeID // empty: nothing is selected
	top    int          // the first node that is seen
	height int

	detail    bool // the keys are in the detail
	detailTop int

	told    decisionsMsg // what the ledger holds about an operation
	telling bool         // it is being asked
}

func newRunScreen(id gate.RunID) *runScreen {
	return &runScreen{id: id, folded: map[views.NodeID]bool{}, height: 1}
}

func (r *runScreen) resize(p views.Page) {
	r.height = max(1, views.RunRows(p))
	r.scroll(0)
}

// take brings in the run as it is now.
func (r *runScreen) take(run *gate.RunView) {
	if run == nil {
		r.none = r.view == nil
		return
	}
	place := r.tree.Find(r.sel) - r.top
	first := r.view == nil
	r.view = run
	r.build()
	switch at := r.tree.Find(r.sel); {
	case at >= 0 && !first:
		r.scroll(at - place)
	case at >= 0:
		r.scroll(at - r.height/2)
	case first && r.sel == "" && len(r.tree.Nodes) > 0:
		r.sel = r.tree.Nodes[0].ID
	default:
		r.sel = "" // never the neighbour
	}
}

func (r *runScreen) build() {
	r.tree = views.NewTree(r.view, func(id views.NodeID) bool { return r.folded[id] })
}

// scroll puts the top of the tree where the selected node is seen.
func (r *runScreen) scroll(top int) {
	if top == 0 {
		top = r.top
	}
	r.top = max(0, min(top, len(r.tree.Nodes)-r.height))
	if at := r.tree.Find(r.sel); at >= 0 {
		r.top = max(min(r.top, at), at-r.height+1)
	}
}

// ripe reports whether a wait has ended by itself since the run was read.
func (r *runScreen) ripe(now time.Time) bool {
	if r.view == nil || r.view.InFlight == 0 {
		return false
	}
	for i := range r.view.Ops {
		o := &r.view.Ops[i]
		if o.State == gate.OpWaiting && o.Permit != nil && !now.Before(o.Permit.NotBefore.Time) {
			return true
		}
	}
	return false
}

// node returns the selected node, nil for none.
func (r *runScreen) node() *views.Node {
	if at := r.tree.Find(r.sel); at >= 0 {
		return &r.tree.Nodes[at]
	}
	return nil
}

// op returns the operation that is selected, nil for none.
func (r *runScreen) op() *gate.OpRow {
	if n := r.node(); n != nil {
		return n.Op
	}
	return nil
}

// move goes n nodes further.
func (r *runScreen) move(n int) {
	at := r.tree.Find(r.sel)
	if at < 0 {
		at, n = r.top, 0
	}
	r.to(at + n)
}

func (r *runScreen) to(at int) {
	if len(r.tree.Nodes) == 0 {
		return
	}
	r.sel = r.tree.Nodes[max(0, min(at, len(r.tree.Nodes)-1))].ID
	r.detailTop = 0
	r.scroll(0)
}

// sibling goes to the next node of the same parent, or to the one before.
func (r *runScreen) sibling(step int) {
	n, at := r.node(), r.tree.Find(r.sel)
	if n == nil {
		return
	}
	for i := at + step; i >= 0 && i < len(r.tree.Nodes) && r.tree.Nodes[i].Depth >= n.Depth; i += step {
		if r.tree.Nodes[i].Depth == n.Depth {
			r.to(i)
			return
		}
	}
}

// fold folds the selected node, or goes to its parent when there is nothing
// to fold.
func (r *runScreen) fold() {
	n := r.node()
	switch {
	case n == nil:
	case n.Folds && !n.Folded:
		r.folded[n.ID] = true
		r.build()
		r.scroll(0)
	case n.Parent != "":
		r.to(r.tree.Find(n.Parent))
	}
}

// unfold unfolds the selected node, or goes to its first child.
func (r *runScreen) unfold() {
	n := r.node()
	switch {
	case n == nil:
	case n.Folded:
		delete(r.folded, n.ID)
		r.build()
		r.scroll(0)
	case n.Folds:
		r.move(1)
	}
}

// tell asks for what the ledger holds about the selected operation, unless it
// is here or under way.
func (m *Model) tell(r *runScreen) tea.Cmd {
	op := r.op()
	if op == nil || r.telling || r.told.ref == (gate.Ref{Run: r.id, Op: op.Op}) && r.told.last == op.Last {
		return nil
	}
	r.telling = true
	return m.out.decisions(gate.Ref{Run: r.id, Op: op.Op}, op.Last)
}

// decided: what the ledger holds about an operation has come.
func (m *Model) decided(msg decisionsMsg) tea.Cmd {
	for i := range m.path {
		r := m.path[i].run
		if r == nil || r.id != msg.ref.Run || !r.telling {
			continue
		}
		r.telling = false
		if msg.err != nil {
			return nil // the feed finds out, and says so
		}
		r.told = msg
		return m.tell(r)
	}
	return nil
}

func (m *Model) runView(r *runScreen) views.RunScreen {
	v := views.RunScreen{
		Run: r.view, Tree: r.tree, Selected: r.sel, Top: r.top,
		Detail: r.detail, DetailTop: r.detailTop, Me: m.Who.ID,
	}
	if op := r.op(); op != nil && r.told.ref.Op == op.Op {
		v.Decisions = r.told.rows
	}
	return v
}

func (m *Model) viewRun(p views.Page, r *runScreen) string {
	if r.view == nil && !r.none && p.Notice.Text == "" {
		p.Notice.Text = "reading " + string(r.id)
	}
	return views.Run(p, m.runView(r))
}

// moveRun moves the cursor in the tree, or scrolls the detail.
func (m *Model) moveRun(n int) tea.Cmd {
	r := m.here().run
	if r.detail {
		rows, seen := views.RunDetail(m.page(), m.runView(r))
		r.detailTop = max(0, min(r.detailTop+n, rows-seen))
		return nil
	}
	r.move(n)
	return m.tell(r)
}

func otherPane(m *Model) tea.Cmd {
	r := m.here().run
	r.detail, r.detailTop = !r.detail, 0
	return nil
}

// noHeld says why there is nothing to review in a run.
func noHeld(m *Model) string {
	switch op := m.here().run.op(); {
	case op == nil:
		return "no operation is selected"
	case op.Item == "":
		return "nothing waits about this operation"
	}
	return ""
}
