package ui

import (
	"errors"

	tea "github.com/charmbracelet/bubbletea"

	"tollgate/gate"
	"tollgate/views"
)

// place is where keys go; the values are bits, so that one key can be of
// several places.
type place uint16

const (
	inQueue place = 1 << iota
	inRuns
	inLedger
	inDependencies
	inRun
	inReview
	inRecord
	inForm
	inPrompt
	inHelp

	several = inQueue | inRuns   // those that are several lists
	sought  = several | inLedger // those with a filter
	lists   = sought | inDependencies
	inner   = inRun | inReview | inRecord
	screens = lists | inner
)

// crumb is one step of the way from a root screen to where the operator is.
type crumb struct {
	place  place
	run    *runScreen
	review *reviewScreen
	record *recordScreen
}

// same reports whether two crumbs are of the same thing.
func (c crumb) same(d crumb) bool {
	switch {
	case c.place != d.place:
		return false
	case c.run != nil:
		return c.run.id == d.run.id
	case c.review != nil:
		return c.review.id == d.review.id
	case c.record != nil:
		return c.record.seq == d.record.seq
	}
	return false
}

// here returns the screen that is shown.
func (m *Model) here() *crumb { return &m.path[len(m.path)-1] }

// where returns the place that has the keys.
func (m *Model) where() place {
	switch {
	case m.help != nil:
		return inHelp
	case m.prompt != nil:
		return inPrompt
	case m.form != nil:
		return inForm
	}
	return m.here().place
}

// root switches to a root screen.
func (m *Model) root(p place) tea.Cmd {
	m.path = append(m.path[:0:0], crumb{place: p})
	m.arrive()
	return nil
}

// enter goes one step further; to a place that is on the way already it goes
// back.
func (m *Model) enter(c crumb) {
	for i, old := range m.path {
		if old.same(c) {
			m.path = m.path[:i+1]
			m.arrive()
			return
		}
	}
	m.path = append(m.path, c)
	m.arrive()
}

// back goes one crumb back.
func (m *Model) back() tea.Cmd {
	if len(m.path) > 1 {
		m.path = m.path[:len(m.path)-1]
		m.arrive()
	}
	return nil
}

// arrive is told that another screen is shown. A list takes in what it has
// held back while nobody looked; its cursor stays with its id.
func (m *Model) arrive() {
	m.form = nil
	if l := m.listing(); l != nil {
		l.come()
	}
	m.resize()
	m.feed.urgent = true
}

// resize tells the screens how many rows are seen.
func (m *Model) resize() {
	p := views.Page{Width: m.width, Height: m.height}
	m.queue.list.resize(views.QueueRows(p))
	m.runs.list.resize(views.RunsRows(p))
	m.ledger.list.resize(views.LedgerRows(p))
	m.dependencies.resize(p)
	for i := range m.path {
		if r := m.path[i].run; r != nil {
			r.resize(p)
		}
	}
}

// wants says what the next read has to bring.
func (m *Model) wants() want {
	var w want
	switch c := m.here(); c.place {
	case inQueue:
		m.queue.wants(&w)
	case inRuns:
		m.runs.wants(&w)
	case inLedger:
		m.ledger.wants(&w)
	case inDependencies:
		m.dependencies.wants(&w)
	case inRun:
		w.run = c.run.id
	case inReview:
		c.review.wants(&w)
	case inRecord:
		if c.record.row == nil {
			w.record = c.record.seq
		}
	default:
	}
	return w
}

// apply brings a read to the screens. What came for a screen that has been
// left, or for a list of something else, is dropped.
func (m *Model) apply(msg readMsg) {
	m.counts = msg.counts
	if msg.queue != nil && msg.queueGen == m.queue.gen {
		m.queue.list.take(*msg.queue)
		m.queue.snoozed = msg.snoozed
		for i := range msg.queue.rows {
			if u, row := m.undo, &msg.queue.rows[i]; u != nil && row.ID == u.item && row.Version > u.act.Version {
				m.outdated(row.ID)
			}
		}
	}
	if msg.runs != nil && msg.runsGen == m.runs.gen {
		m.runs.list.take(*msg.runs)
	}
	if msg.ledger != nil && msg.ledgerGen == m.ledger.gen {
		m.ledger.list.take(*msg.ledger)
	}
	if msg.dependencies != nil {
		m.dependencies.take(msg.dependencies)
		m.resize()
		if d := &m.dependencies; d.waitingOn != d.list.cur.id {
			m.feed.urgent = true // the cursor has come, or moved on, meanwhile
		}
	}
	for i := range m.path {
		if r := m.path[i].run; r != nil && r.id == msg.runID {
			r.take(msg.run)
		}
		if r := m.path[i].record; r != nil && r.seq == msg.recordSeq {
			r.take(msg.record)
			r.none = r.row == nil
		}
		if r := m.path[i].review; r != nil && r.about() == msg.review && !msg.review.IsZero() {
			r.take(msg)
			if r.moved != nil {
				m.outdated(r.id)
			}
		}
	}
	if !m.landed {
		m.landed = true
		if m.counts.Open() == 0 && len(m.path) == 1 && m.here().place == inQueue {
			m.root(inRuns)
		}
	}
}

// ripen reads again what the passing of time alone has changed.
func (m *Model) ripen() {
	if r := m.here().run; r != nil && r.ripe(m.now) {
		m.feed.dirty = true
	}
}

// toRun opens a run.
func (m *Model) toRun(id gate.RunID, op gate.OpID) tea.Cmd {
	r := newRunScreen(id)
	r.sel = ""
	if op != "" {
		r.sel = views.OpNode(op)
	}
	m.enter(crumb{place: inRun, run: r})
	return nil
}

// toReview opens the review of an item: a frozen copy, which is read now.
func (m *Model) toReview(id gate.ItemID) tea.Cmd {
	m.enter(crumb{place: inReview, review: newReviewScreen(id)})
	return m.out.item(id)
}

// opened: an item has come for the review. It is shown if the operator asked
// for it; otherwise it is there for the marks on it, and a copy that has moved
// on is only told of.
func (m *Model) opened(msg itemMsg) tea.Cmd {
	m.tick(msg.at)
	for i := range m.path {
		r := m.path[i].review
		if r == nil || r.id != msg.id {
			continue
		}
		switch {
		case errors.Is(msg.err, gate.ErrNoItem):
			r.failed = "there is no such item any more"
		case msg.err != nil:
			r.failed = fault(msg.err, readWithin)
		case r.item == nil || r.reload:
			r.load(msg)
			m.feed.urgent = true
		case r.item.Version == msg.item.Version:
			r.mark(msg.item)
		default:
			r.movedOn(views.ChangedBy(msg.item.Changed), msg.item.State)
		}
	}
	return nil
}

// escape goes back; at a root it takes the cursor out of the list.
func (m *Model) escape() tea.Cmd {
	if len(m.path) > 1 {
		return m.back()
	}
	if l := m.listing(); l != nil {
		l.release()
	}
	m.feed.urgent = true
	return nil
}

// step moves by rows, and leap by screens.
func (m *Model) step(n int) tea.Cmd {
	switch where := m.where(); where {
	case inHelp:
		return m.scrollHelp(n)
	case inRun:
		return m.moveRun(n)
	case inReview:
		return m.scrollReview(n)
	case inRecord:
		return m.scrollRecord(n)
	default:
		return m.moveIn(n)
	}
}

func (m *Model) leap(screens int) tea.Cmd {
	rows := max(1, m.page().Body()-2)
	if screens < -1 || screens > 1 {
		return m.step(screens)
	}
	return m.step(screens * rows)
}

// nameOfEscape: a list that was opened from another screen leads back to it.
func nameOfEscape(m *Model) (does, says string) {
	if len(m.path) > 1 {
		return "back", "go back"
	}
	return "", "take the cursor out of the list, which then follows by itself"
}

func notAtRoot(m *Model) string {
	if len(m.path) > 1 {
		return "esc goes back first"
	}
	return ""
}
