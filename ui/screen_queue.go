package ui

import (
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"tollgate/gate"
	"tollgate/views"
)

// queueScreen is what waits for a person.
type queueScreen struct {
	list window[gate.ItemID, gate.ItemRow]
	of   int // of queueLists
	by   gate.Filter
	gen  int // number of the list: another filter is another list

	snoozed snoozedItems
}

// queueLists are the lists of items, in the order in which they are gone
// through.
var queueLists = [...]struct {
	name    string
	state   gate.HoldState
	snoozed bool
	empty   string
}{
	{name: "open", state: gate.HoldOpen, empty: "Nothing waits for a person."},
	{name: "snoozed", state: gate.HoldOpen, snoozed: true, empty: "Nothing is snoozed."},
	{name: "dead-letter", state: gate.HoldDeadLetter, empty: "No dead-letters."},
	{name: "resolved", state: gate.HoldResolved, empty: "Nothing has been resolved yet."},
}

func newQueueScreen() queueScreen {
	s := queueScreen{list: newWindow(func(r *gate.ItemRow) gate.ItemID { return r.ID })}
	s.list.pick = true
	return s
}

func (s *queueScreen) wants(w *want) {
	of := &queueLists[s.of]
	w.queue = &gate.ItemsQuery{Window: s.list.query(), State: of.state, Snoozed: of.snoozed, Filter: s.by}
	w.queueGen = s.gen
	for _, r := range s.list.visible() {
		if !s.list.hasLeft(r.ID) {
			w.shown = append(w.shown, listed{r.ID, gate.Ref{Run: r.Run, Op: r.Op}})
		}
	}
}

// filter makes it another list.
func (s *queueScreen) filter(of int, by gate.Filter) {
	s.of, s.by = of, by
	s.snoozed = snoozedItems{}
	s.gen++
	s.list.reset()
	s.list.pick = true
}

func (m *Model) viewQueue(p views.Page) string {
	s := &m.queue
	of := &queueLists[s.of]
	v := views.QueueView{
		Rows: s.list.visible(), Selected: s.list.cur.id, Left: s.list.left, Me: m.Who.ID,
		Snoozed: of.snoozed, Resolved: of.state == gate.HoldResolved, Empty: of.empty,
	}
	switch {
	case !s.list.loaded:
		v.Empty = "Reading."
	case !s.by.IsZero():
		v.Empty = "No item here matches " + s.by.String() + "."
	case s.snoozed.n > 0:
		v.Empty = "Nothing else waits for a person: " + s.snoozed.String() + "."
	}
	p.Notice = m.listNotice(p.Notice, listNews{
		news: s.list.news, moved: s.list.moved, left: len(s.list.left), lost: string(s.list.cur.lost), how: s.list.cur.how,
	})
	if p.Notice.Side == "" {
		p.Notice.Side = s.side(m.Theme.Dot())
	}
	return views.Queue(p, v)
}

// side says which part of which list is seen.
func (s *queueScreen) side(dot string) string {
	if !s.list.loaded {
		return ""
	}
	said := ""
	if !s.by.IsZero() {
		said = "/" + s.by.String() + " "
	}
	said += fmt.Sprintf("%d %s", s.list.total, queueLists[s.of].name)
	if off := s.snoozed.String(); off != "" {
		said += dot + off
	}
	return said
}

// String says how many are put off and until when, empty for none.
func (s snoozedItems) String() string {
	switch {
	case s.n < 1:
		return ""
	case s.n == 1:
		return "1 snoozed until " + s.until.Format("15:04Z")
	}
	return fmt.Sprintf("%d snoozed, the first until %s", s.n, s.until.Format("15:04Z"))
}

// listNews is what a list has to tell about itself.
type listNews struct {
	news, moved, left int
	lost, how         string
}

// listNotice says what a list holds back, and what became of the row that was
// selected. Fresher news come first.
func (m *Model) listNotice(n views.Notice, l listNews) views.Notice {
	held := ""
	for _, part := range []struct {
		n    int
		word string
	}{{l.news, "new"}, {l.moved, "moved"}, {l.left, "left"}} {
		if part.n > 0 {
			if held != "" {
				held += m.Theme.Dot()
			}
			held += fmt.Sprintf("%d %s", part.n, part.word)
		}
	}
	if n.Text != "" {
		if held != "" {
			n.Side = held + m.Theme.Dot() + "R takes them in"
		}
		return n
	}
	if l.lost != "" {
		how := l.how
		if how == "" {
			how = "is no longer in this list"
		}
		n.Text, n.Tone = l.lost+" "+how, views.Loud
		if held != "" {
			n.Text += m.Theme.Dot() + held
		}
	} else {
		n.Text = held
	}
	if held != "" {
		n.Key = views.Key{Key: "R", Does: "takes them in"}
	}
	return n
}

// queueRow returns the item under the cursor, nil for none.
func (m *Model) queueRow() *gate.ItemRow { return m.queue.list.selected() }

// listing returns the list that is shown, nil for none.
func (m *Model) listing() listing {
	switch m.here().place {
	case inQueue:
		return &m.queue.list
	case inRuns:
		return &m.runs.list
	case inLedger:
		return &m.ledger.list
	case inDependencies:
		return &m.dependencies.list
	default:
		return nil
	}
}

// moveIn moves the cursor of the list that is shown.
func (m *Model) moveIn(n int) tea.Cmd {
	if l := m.listing(); l != nil && l.move(n) || m.here().place == inDependencies { // there, what waits is of another one
		m.feed.urgent = true
	}
	m.resize()
	return nil
}

func noItem(m *Model) string {
	switch {
	case m.queueRow() != nil:
		return ""
	case len(m.queue.list.rows) == 0:
		return "the list is empty"
	case m.queue.list.cur.lost != "":
		return "the row that was selected has left; move to another"
	}
	return "nothing is selected; move to a row"
}

// noNews says why there is nothing to take in.
func (m *Model) noNews() string {
	if l := m.listing(); l != nil && l.pending() {
		return ""
	}
	return "nothing is held back"
}

// takeIn takes in what a list holds back.
func (m *Model) takeIn() tea.Cmd {
	m.listing().takeIn()
	m.feed.urgent = true
	return nil
}
