package views

import (
	"time"

	"tollgate/gate"
)

// RunScreen is one run: its budget, its retry tree, and what is selected there
// in full.
type RunScreen struct {
	Run       *gate.RunView
	Tree      Tree
	Selected  NodeID             // empty when nothing is selected
	Top       int                // the first node shown
	Decisions []gate.DecisionRow // of the selected operation, as far as they have been read
	Detail    bool               // on a narrow terminal: show the detail in place of the tree
	DetailTop int                // the first row of the detail shown
	Me        string             // id of the operator
}

// wide is from where on two panes stand side by side.
const wide = 80

// RunTwoPanes reports whether tree and detail stand side by side.
func RunTwoPanes(p Page) bool { return p.Width >= wide }

// RunRows returns how many nodes of the tree a page shows at once.
func RunRows(p Page) int { return max(0, p.Body()-runTop(p)) }

// runTop returns the rows above the tree.
func runTop(p Page) int {
	if runBrief(p) {
		return 3
	}
	return 3 + gaugeRows(p.Width)
}

// runBrief reports whether the gauges have to be words.
func runBrief(p Page) bool { return p.Body()-3-gaugeRows(p.Width) < 6 }

// Run draws one run.
func Run(p Page, v RunScreen) string {
	return p.draw(func(b *block, rows int) {
		if v.Run == nil {
			b.say("This run is not here.")
			return
		}
		tabs, current := []string{"tree"}, 0
		if !RunTwoPanes(p) {
			tabs = append(tabs, "detail")
			if v.Detail {
				current = 1
			}
		}
		b.runHead(p, v.Run, &v.Tree, tabs, current)

		rows -= runTop(p)
		tree, detail := b.panes(v, p)
		for i := range rows {
			if tree != nil {
				b.add(tree, i)
			} else {
				b.gap(1)
			}
			if detail != nil {
				if tree != nil {
					b.glyph(faint, b.th.g.split)
					b.gap(1)
				}
				if further := len(detail.rows) - v.DetailTop - rows; i == rows-1 && further > 0 {
					b.put(dim, b.th.g.tail+" "+plural(int64(further+1), "further row", "further rows"))
				} else {
					b.add(detail, v.DetailTop+i)
				}
			}
			b.end()
		}
	})
}

// RunDetail returns how many rows the detail of the selected node has, and how
// many of them are seen at once.
func RunDetail(p Page, v RunScreen) (rows, seen int) {
	if v.Run == nil || TooSmall(p.Width, p.Height) {
		return 0, 0
	}
	v.Detail = true
	_, detail := newBlock(p.Theme, p.Width, 0).panes(v, p)
	return len(detail.rows), RunRows(p)
}

// panes draws what stands below the gauges: the tree, the detail, or both.
func (b *block) panes(v RunScreen, p Page) (tree, detail *block) {
	two, rows := RunTwoPanes(p), RunRows(p)
	width := b.width
	if two {
		width = treeWidth(b.width)
	}
	if two || !v.Detail {
		tree = newBlock(b.th, width, rows)
		for i := max(0, v.Top); i < min(len(v.Tree.Nodes), v.Top+rows); i++ {
			node := &v.Tree.Nodes[i]
			tree.selected(node.ID == v.Selected && v.Selected != "")
			tree.gap(1)
			if tree.sel {
				tree.glyph(press, b.th.g.mark)
			}
			tree.to(3)
			tree.node(node, v.Run.Budget.Attempts.Spent, p.Now)
			tree.end()
		}
	}
	switch {
	case two:
		detail = newBlock(b.th, b.width-width-2, rows)
	case v.Detail:
		detail = newBlock(b.th, b.width-1, rows)
	default:
		return tree, nil
	}
	detail.detail(v, p.Now)
	return tree, detail
}

// treeWidth returns the cells of the tree beside its detail.
func treeWidth(width int) int { return min(width*54/100, 90) }

// runLine appends what the run is, and what waits in it.
func (b *block) runLine(r *gate.RunView, now time.Time) {
	glyph, word, look := b.th.runLook(&r.RunRow)
	b.ends(3,
		func(o *block, level int) {
			o.id(strong, string(r.Run), o.measure(string(r.Run), o.rest()))
			if r.Agent != "" && level < 3 {
				o.gap(1)
				o.put(dim, r.Agent)
			}
			o.gap(3)
			o.glyph(look, glyph)
			o.gap(1)
			o.put(look, word)
			if r.InFlight > 0 && level < 2 {
				o.gap(3)
				o.glyph(live, b.th.g.flying)
				o.put(live, " "+plural(r.InFlight, "attempt", "attempts")+" in flight")
			}
		},
		func(o *block, level int) {
			if n := r.OpenItems - r.DeadLetters; n > 0 {
				o.put(waits, plural(n, "waits for you", "wait for you"))
			}
			if r.DeadLetters > 0 && level < 2 {
				o.gap(2)
				o.put(dim, plural(r.DeadLetters, "dead-letter", "dead-letters"))
			}
			switch {
			case level >= 1:
			case r.Next != "":
				o.gap(3)
				o.put(dim, "goes on in ")
				o.put(text, string(r.Next))
			case r.Parent != "":
				o.gap(3)
				o.put(dim, "goes on from ")
				o.put(text, string(r.Parent))
			case !r.Ended.IsZero():
				o.gap(3)
				o.put(dim, "ended ")
				o.put(text, moment(r.Ended.Time, now))
			}
		},
	)
}

// budgetWords appends the limits in words, in one row.
func (b *block) budgetWords(r gate.BudgetRow, now time.Time) {
	b.ends(3,
		func(o *block, level int) {
			o.put(dim, []string{"attempts ", "attempts ", "att ", "att "}[level])
			o.tmp = appendSpent(o.tmp[:0], r.Attempts)
			o.number(spentStyle(r.Attempts))
			o.gap(2)
			o.tmp = appendLeft(o.tmp[:0], r.Deadline.Sub(now))
			o.number(text)
			if level < 2 && !now.After(r.Deadline.Time) {
				o.put(dim, " left")
			}
			o.gap(2)
			o.put(dim, []string{"side effects ", "effects ", "effects ", "eff "}[level])
			o.tmp = appendSpent(o.tmp[:0], r.SideEffects)
			o.number(spentStyle(r.SideEffects))
		},
		func(o *block, level int) {
			if r.RetryTokens != nil && level < 3 {
				o.put(dim, "tokens ")
				o.tmp = appendSpent(o.tmp[:0], *r.RetryTokens)
				o.number(spentStyle(*r.RetryTokens))
			}
		},
	)
}

func spentStyle(s gate.Spent) style {
	if s.Limit > 0 && s.Spent >= s.Limit {
		return waits
	}
	return text
}

// runHead appends what stands above each tab of a run: the run itself, its
// gauges, and the tabs with the first and the last failure.
func (b *block) runHead(p Page, r *gate.RunView, t *Tree, tabs []string, current int) {
	b.runLine(r, p.Now)
	at := asOf(&r.RunRow, p.Now)
	if runBrief(p) {
		b.budgetWords(r.Budget, at)
	} else {
		b.gauges(r.Budget, at, 1)
		b.rule()
	}
	b.ends(3,
		func(o *block, _ int) {
			for i, name := range tabs {
				look := dim
				if i == current {
					look = here
				}
				o.gap(2 * min(i, 1))
				o.put(look, name)
			}
		},
		func(o *block, level int) {
			switch first, last := t.First, t.Last; {
			case last.At.IsZero():
				o.put(dim, "nothing has failed")
			case first == last:
				o.pin("failed", last, p.Now, level)
			default:
				if level < 2 {
					o.pin("first", first, p.Now, level)
					o.gap(3)
				}
				o.pin("last", last, p.Now, level)
			}
		},
	)
}

func (b *block) pin(label string, p Pin, now time.Time, level int) {
	if level < 3 {
		b.put(dim, label+" ")
	}
	b.put(text, string(p.Code))
	if level < 1 {
		b.gap(1)
		b.put(dim, moment(p.At, now))
	}
}
