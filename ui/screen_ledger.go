package ui

import (
	"slices"
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"tollgate/gate"
	"tollgate/views"
)

// decisionID is the seq of a decision as the id of a row.
type decisionID string

func decisionIDOf(seq uint64) decisionID { return decisionID(strconv.FormatUint(seq, 10)) }

// seq returns 0 for the empty id.
func (id decisionID) seq() uint64 {
	n, _ := strconv.ParseUint(string(id), 10, 64) // ids are made by decisionIDOf
	return n
}

// tail is a window of decisions. It holds the newest first, since a window
// follows at its beginning; on the screen the newest is the last row.
type tail struct {
	window[decisionID, gate.DecisionRow]
}

func newTail() tail {
	return tail{newWindow(func(d *gate.DecisionRow) decisionID { return decisionIDOf(d.Seq) })}
}

// come selects nothing: whoever comes to a tail sees it follow.
func (t *tail) come() { t.adopt = true }

func (t *tail) move(n int) (short bool) { return t.window.move(-n) }

func (t *tail) visible() []gate.DecisionRow {
	rows := slices.Clone(t.window.visible())
	slices.Reverse(rows)
	return rows
}

// take brings in one answer. What has come since is what lies between the
// newest row that is held and the newest there is.
func (t *tail) take(p page[decisionID, gate.DecisionRow]) {
	t.window.take(p)
	if !t.prior && t.total >= 0 && len(t.rows) > 0 {
		t.news = int(uint64(t.total) - t.rows[0].Seq) //nolint:gosec // seqs of one ledger
	}
}

// ledgerScreen is the list of decisions.
type ledgerScreen struct {
	list tail
	by   gate.Filter
	gen  int // number of the list: another filter is another list
}

func newLedgerScreen() ledgerScreen { return ledgerScreen{list: newTail()} }

func (s *ledgerScreen) wants(w *want) {
	w.ledger = &ledgerWant{window: s.list.query(), by: s.by}
	w.ledgerGen = s.gen
}

// filter makes it another list.
func (s *ledgerScreen) filter(by gate.Filter) {
	s.by = by
	s.gen++
	s.list.reset()
}

// view returns what the list shows.
func (s *ledgerScreen) view(me string) views.LedgerView {
	c := &s.list.cur
	v := views.LedgerView{Rows: s.list.visible(), Selected: c.id.seq(), Following: !c.inList(), Me: me}
	switch {
	case !s.list.loaded:
		v.Empty = "Reading."
	case !s.by.IsZero() && s.list.more:
		v.Empty = "No decision matches " + s.by.String() + " among the newest that were looked at."
	case !s.by.IsZero():
		v.Empty = "No decision matches " + s.by.String() + "."
	}
	return v
}

// news is what the list has to tell about itself.
func (s *ledgerScreen) news() listNews {
	n := listNews{news: s.list.news, moved: s.list.moved, left: len(s.list.left), how: s.list.cur.how}
	if lost := s.list.cur.lost; lost != "" {
		n.lost = "decision " + string(lost)
	}
	return n
}

func (m *Model) viewLedger(p views.Page) string {
	s := &m.ledger
	p.Notice = m.listNotice(p.Notice, s.news())
	if p.Notice.Side == "" && !s.by.IsZero() {
		p.Notice.Side = "/" + s.by.String()
	}
	return views.Ledger(p, s.view(m.Who.ID))
}

// decision returns the decision under the cursor, nil for none.
func (m *Model) decision() *gate.DecisionRow {
	if m.here().place == inLedger {
		return m.ledger.list.selected()
	}
	return nil
}

func noRecord(m *Model) string {
	switch {
	case m.decision() != nil:
		return ""
	case len(m.ledger.list.rows) == 0:
		return "the list is empty"
	}
	return "nothing is selected; move to a row"
}

// openRecord opens the decision under the cursor.
func (m *Model) openRecord() tea.Cmd {
	d := *m.decision()
	m.enter(crumb{place: inRecord, record: newRecordScreen(d.Seq, &d)})
	return nil
}
