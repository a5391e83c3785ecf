package ui

import (
	"slices"
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"tollgate/gate"
	"tollgate/views"
)

// recordScreen is one decision in full. A record never changes, so it is read
// once.
type recordScreen struct {
	seq  uint64
	row  *gate.DecisionRow // nil until it has been read
	none bool              // there is no such decision
	link views.RecordLink  // that is selected; zero: none
	top  int
}

// newRecordScreen returns the screen of a decision; row is nil where it has to
// be read.
func newRecordScreen(seq uint64, row *gate.DecisionRow) *recordScreen {
	r := &recordScreen{seq: seq}
	r.take(row)
	return r
}

// take brings the decision in, and selects the first place that it leads to.
func (r *recordScreen) take(row *gate.DecisionRow) {
	if r.row != nil || row == nil {
		return
	}
	r.row = row
	r.nextLink(1)
}

// nextLink selects the next place that the decision leads to, or the one
// before.
func (r *recordScreen) nextLink(step int) {
	links := views.RecordLinks(r.row)
	if len(links) == 0 {
		return
	}
	at := slices.Index(links, r.link)
	if at < 0 && step < 0 {
		at = 0
	}
	r.link = links[(at+step+len(links))%len(links)]
}

func (m *Model) recordView(r *recordScreen) views.RecordView {
	return views.RecordView{Row: r.row, Selected: r.link, Me: m.Who.ID, Top: r.top}
}

func (m *Model) viewRecord(p views.Page, r *recordScreen) string {
	if r.row == nil && !r.none && p.Notice.Text == "" {
		p.Notice.Text = "reading decision " + strconv.FormatUint(r.seq, 10)
	}
	return views.Record(p, m.recordView(r))
}

func (m *Model) scrollRecord(n int) tea.Cmd {
	r := m.here().record
	rows, seen := views.RecordScroll(m.page(), m.recordView(r))
	r.top = max(0, min(r.top+n, rows-seen))
	return nil
}

// stepLink goes to another link; those stand at the top of a record.
func (m *Model) stepLink(step int) tea.Cmd {
	r := m.here().record
	r.nextLink(step)
	r.top = 0
	return nil
}

// noLink says why there is nothing to follow.
func noLink(m *Model) string {
	switch r := m.here().record; {
	case r.row == nil:
		return "the decision is not here"
	case r.link == 0:
		return "it leads nowhere"
	}
	return ""
}

func nameOfLink(m *Model) (does, says string) {
	switch m.here().record.link {
	case views.LinkItem:
		return "review", "review the item that the decision is about"
	case views.LinkMoved:
		return "what moved it", "open the decision that moved the item"
	case views.LinkCause:
		return "cause", "open the decision that this one answers"
	case views.LinkNewRun:
		return "new run", "open the run that goes on from it"
	case views.LinkRun:
	}
	return "run", "open the run of the decision"
}

// follow goes to the place that is selected.
func (m *Model) follow() tea.Cmd {
	r := m.here().record
	switch r.link {
	case views.LinkItem:
		return m.toReview(r.row.Item)
	case views.LinkRun:
		return m.toRun(r.row.Run, r.row.Op)
	case views.LinkMoved:
		return m.toRecord(r.row.Changed.Seq)
	case views.LinkCause:
		return m.toRecord(r.row.Cause)
	case views.LinkNewRun:
		return m.toRun(r.row.NewRun, "")
	}
	return nil
}

// toRecord opens a decision that has to be read.
func (m *Model) toRecord(seq uint64) tea.Cmd {
	m.enter(crumb{place: inRecord, record: newRecordScreen(seq, nil)})
	return nil
}
