package views

import (
	"strings"
	"time"

	"tollgate/gate"
)

// lanes draws the rows of a timeline. From the start to the deadline it is to
// scale; what is later stands behind the deadline, to a scale of its own.
type lanes struct {
	at                   int // where the time begins, in cells
	cells                []laneCell
	start, deadline, end time.Time
	now                  time.Time
	due                  int // the cell of the deadline
	nowAt                int
	waits                map[gate.OpID][]wait
	acts                 map[gate.OpID][]time.Time
}

// laneCell is one cell of a lane; no glyph is a blank.
type laneCell struct {
	glyph string
	style style
	mark  bool // an outcome, an act: what lines do not cover
}

// wait is a time during which an item waited for a person.
type wait struct {
	from, to time.Time // to is zero while it waits
	kind     gate.Kind
}

// laneGlyphs are what only a timeline has.
type laneGlyphs struct{ waits, now, deadline, passed, ahead string }

func (t *Theme) lane() laneGlyphs {
	if t.ascii {
		return laneGlyphs{waits: "~", now: "|", deadline: "!", passed: "-", ahead: "."}
	}
	return laneGlyphs{waits: "┄", now: "│", deadline: "┃", passed: "─", ahead: "┈"}
}

// What stands left of the time: mark, glyph, name and attempts.
const (
	laneName  = 5
	laneCount = 4
)

func newLanes(b *block, v TimelineScreen, nodes []*Node, now time.Time) *lanes {
	l := &lanes{
		start: v.Run.Budget.Started.Time, deadline: v.Run.Budget.Deadline.Time, now: asOf(&v.Run.RunRow, now),
		waits: map[gate.OpID][]wait{}, acts: map[gate.OpID][]time.Time{},
	}
	l.at = laneName + max(8, min(b.width/4, 36)) + laneCount + 1
	l.cells = make([]laneCell, max(4, b.width-1-l.at))
	l.read(v, nodes)
	l.end = l.deadline
	for i := range v.Run.Ops {
		for k := range v.Run.Ops[i].Attempts {
			l.end = later(l.end, v.Run.Ops[i].Attempts[k].ReportedAt.Time)
		}
	}
	for i := range v.Decisions {
		if v.Decisions[i].Act.IsVerb() {
			l.end = later(l.end, v.Decisions[i].At.Time)
		}
	}
	l.end = later(l.end, l.now)
	l.due = len(l.cells) - 1
	if l.end.After(l.deadline) {
		l.due -= max(2, len(l.cells)/8)
	}
	l.nowAt = l.cell(l.now)
	return l
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// read takes from the decisions when items waited and when people acted, for
// the lanes that are shown.
func (l *lanes) read(v TimelineScreen, nodes []*Node) {
	shown := make(map[gate.OpID]*gate.OpRow, len(nodes))
	for _, n := range nodes {
		if n.Op != nil {
			shown[n.Op.Op] = n.Op
		}
	}
	for i := range v.Decisions {
		d := &v.Decisions[i]
		if shown[d.Op] == nil {
			continue
		}
		if d.Act.IsVerb() {
			l.acts[d.Op] = append(l.acts[d.Op], d.At.Time)
		}
		if d.Item == "" {
			continue
		}
		ws := l.waits[d.Op]
		open := len(ws) > 0 && ws[len(ws)-1].to.IsZero()
		switch closes := l.closes(d); {
		case open && closes:
			ws[len(ws)-1].to = d.At.Time
		case !open && !closes && !d.Act.IsVerb():
			l.waits[d.Op] = append(ws, wait{from: d.At.Time})
		}
	}
	for _, o := range shown {
		ws := l.waits[o.Op]
		for k := range ws {
			ws[k].kind = o.Kind
		}
		stands := o.ItemState == gate.HoldOpen || o.ItemState == gate.HoldDeadLetter
		open := len(ws) > 0 && ws[len(ws)-1].to.IsZero()
		switch last := len(o.Attempts) - 1; {
		case open && !stands: // how it ended has not been read, or it went on in another run
			ws[len(ws)-1].to = l.now
		case stands && !open && last >= 0 && !o.Attempts[last].ReportedAt.IsZero():
			l.waits[o.Op] = append(ws, wait{from: o.Attempts[last].ReportedAt.Time, kind: o.Kind})
		}
	}
}

// closes reports whether an item no longer waits after a decision about it.
func (l *lanes) closes(d *gate.DecisionRow) bool {
	switch {
	case d.Verdict == gate.Resolved:
		return d.Finding != gate.FindingDidNotHappen
	case d.Act == gate.ActApprove:
		return d.Verdict.Permits()
	}
	return d.Outcome == gate.OutcomeSucceeded
}

// cell returns the cell of an instant.
func (l *lanes) cell(t time.Time) int {
	part := func(from, to time.Time, cells int) int {
		if span := to.Sub(from); span > 0 {
			return int(float64(t.Sub(from)) / float64(span) * float64(cells))
		}
		return 0
	}
	if !t.After(l.deadline) {
		return max(0, min(l.due, part(l.start, l.deadline, l.due)))
	}
	rest := len(l.cells) - 1 - l.due
	return min(len(l.cells)-1, l.due+max(min(1, rest), part(l.deadline, l.end, rest)))
}

// line draws a glyph from one instant to another, under the marks.
func (l *lanes) line(s style, glyph string, from, to time.Time) {
	for i := l.cell(from); i <= l.cell(to); i++ {
		if !l.cells[i].mark {
			l.cells[i] = laneCell{glyph: glyph, style: s}
		}
	}
}

// mark draws a glyph at an instant. What waits is never covered.
func (l *lanes) mark(s style, glyph string, at time.Time) {
	if c := &l.cells[l.cell(at)]; !c.mark || c.style != waits {
		*c = laneCell{glyph: glyph, style: s, mark: true}
	}
}

// node appends the row of an agent or an operation.
func (l *lanes) node(b *block, n *Node, selected NodeID) {
	b.selected(n.ID == selected && selected != "")
	b.gap(1)
	if b.sel {
		b.glyph(press, b.th.g.mark)
	}
	b.to(3)
	name := text
	if b.sel {
		name = strong
	}
	until := l.at - laneCount - 1
	b.gap(min(n.Depth, 4))
	if n.Op == nil {
		path := n.Agent
		if n.Depth > 0 {
			path = path[strings.LastIndexByte(path, '/')+1:]
		}
		b.fold(n)
		b.id(dim, path, max(0, until-b.x))
		clear(l.cells)
	} else {
		glyph, _, look := b.th.stateLook(n.Op)
		b.glyph(look, glyph)
		b.gap(1)
		b.id(name, string(n.Op.Op), max(0, until-b.x))
		b.tmp = appendCount(b.tmp[:0], n.Op.Permits)
		b.rightNumber(dim, laneCount)
		l.operation(b.th, n.Op)
	}
	l.lines(b.th)
	b.to(l.at)
	for _, c := range l.cells {
		if c.glyph == "" {
			b.gap(1)
		} else {
			b.glyph(c.style, c.glyph)
		}
	}
	b.end()
}

// operation fills the lane of an operation.
func (l *lanes) operation(th *Theme, o *gate.OpRow) {
	clear(l.cells)
	for _, w := range l.waits[o.Op] {
		to := w.to
		if to.IsZero() {
			to = l.now
		}
		_, look := th.kindLook(w.kind)
		l.line(look, th.lane().waits, w.from, to)
	}
	for i := range o.Attempts {
		a := &o.Attempts[i]
		glyph, _, look := th.attemptLook(a)
		begun := later(a.Permitted.Time, a.NotBefore.Time)
		l.line(dim, th.g.space, a.Permitted.Time, begun)
		switch {
		case !a.ReportedAt.IsZero():
			l.line(look, th.measures().length, begun, a.ReportedAt.Time)
			l.mark(look, glyph, a.ReportedAt.Time)
		case begun.After(l.now):
			l.mark(press, th.g.hold, begun)
		default:
			l.line(look, th.measures().length, begun, l.now)
			l.mark(look, glyph, l.now)
		}
	}
	for _, t := range l.acts[o.Op] {
		i := l.cell(t)
		if i > 0 && l.cells[i].mark && !l.cells[i-1].mark {
			i-- // what came of it in the same cell is seen, and so is the act
		}
		if !l.cells[i].mark {
			l.cells[i] = laneCell{glyph: th.personGlyph(), style: press, mark: true}
		}
	}
}

// lines draws the now-line and the deadline through a lane.
func (l *lanes) lines(th *Theme) {
	if c := &l.cells[l.due]; !c.mark {
		*c = laneCell{glyph: th.lane().deadline, style: waits}
	}
	if c := &l.cells[l.nowAt]; !c.mark {
		*c = laneCell{glyph: th.lane().now, style: here}
	}
}

// axis appends the times above the lanes, and how much of it has passed.
func (l *lanes) axis(b *block, p Page) {
	clock := func(t time.Time) string { return t.UTC().Format("15:04:05") }
	deadline, nowSays := "deadline "+clock(l.deadline), "now "+clock(l.now)
	if l.now.Before(p.Now) {
		nowSays = "ended " + clock(l.now)
	}
	if l.at+len(deadline)+len(nowSays)+4 > b.width {
		deadline, nowSays = "", nowSays[:strings.IndexByte(nowSays, ' ')]
	}
	start, edge := "start "+clock(l.start), b.width-1
	due := min(l.at+l.due+1, edge) - len(deadline)
	at := min(l.at+l.nowAt-len(nowSays)/2, edge-len(nowSays))
	switch {
	case deadline == "":
	case l.now.After(l.deadline): // in the order of their lines
		at = max(at, min(due+len(deadline)+2, edge-len(nowSays)))
		due = min(due, at-2-len(deadline))
	case at+len(nowSays)+2 > due:
		at = due - 2 - len(nowSays)
	}
	first := at
	if deadline != "" {
		first = min(at, due)
	}
	if l.at+len(start)+2 <= first {
		b.to(l.at)
		b.put(dim, start)
	} else if 1+len(start)+2 <= first {
		b.gap(1)
		b.put(dim, start)
	}
	if deadline != "" && due < at {
		b.to(due)
		b.put(waits, deadline)
	}
	b.to(at)
	b.put(here, nowSays)
	if deadline != "" && due > at {
		b.to(due)
		b.put(waits, deadline)
	}
	b.end()
	if axisRows(p) < 2 {
		return
	}
	b.to(l.at)
	g := b.th.lane()
	for i := range l.cells {
		switch {
		case i == l.nowAt:
			b.glyph(here, g.now)
		case i == l.due:
			b.glyph(waits, g.deadline)
		case i < l.nowAt:
			b.glyph(faint, g.passed)
		default:
			b.glyph(dim, g.ahead)
		}
	}
	b.end()
}

// legend appends what the glyphs mean, as many as there is room for.
func (l *lanes) legend(b *block) {
	g := b.th.lane()
	b.gap(1)
	for _, e := range []struct {
		glyph string
		style style
		says  string
	}{
		{b.th.measures().length, text, "attempt"},
		{b.th.g.space, dim, "backoff"},
		{g.waits, waits, "waits for a person"},
		{b.th.personGlyph(), press, "a person"},
		{g.now, here, "now"},
		{g.deadline, waits, "deadline"},
	} {
		if b.rest() < len(e.says)+5 {
			break
		}
		b.gap(2 * min(b.x-1, 1))
		b.glyph(e.style, e.glyph)
		b.gap(1)
		b.put(dim, e.says)
	}
	if l.due > 0 {
		says := "a cell is " + took(l.deadline.Sub(l.start)/time.Duration(l.due))
		if b.rest() > len(says)+3 {
			b.gap(b.rest() - len(says) - 1)
			b.put(dim, says)
		}
	}
	b.end()
}
