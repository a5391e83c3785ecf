package ui

import (
	tea "github.com/charmbracelet/bubbletea"

	"tollgate/gate"
	"tollgate/views"
)

// answered: the gate has answered an act of the operator, or could not be
// asked.
func (m *Model) answered(msg answerMsg) tea.Cmd {
	if r := m.reviewing(msg.item); r != nil && msg.act.Verb.Decides() {
		if r.asked = false; msg.err != nil {
			r.unanswered()
		}
	}
	if f := msg.form; f != nil {
		f.sending = false
		if msg.err != nil {
			f.said = fault(msg.err, answerWithin)
			if m.form != f {
				m.say(views.Loud, string(f.item)+": "+f.said)
			}
			return nil
		}
		f.request = "" // it has been answered: the next one is another
	}
	if msg.err != nil {
		m.say(views.Loud, msg.act.Verb.String()+" "+string(msg.op)+": "+fault(msg.err, answerWithin))
		return nil
	}
	m.feed.urgent = true
	if !msg.act.Verb.Decides() {
		m.marked(msg)
	} else if !msg.row.Verdict.IsStop() {
		m.outdated(msg.item)
	}
	if msg.form == nil {
		return m.showMark(msg.item)
	}
	if !msg.row.Verdict.IsStop() && msg.row.Verdict != gate.Stale {
		delete(m.drafts, draftOf{msg.item, msg.form.verb})
	}
	if m.form == msg.form {
		m.form = nil
	}
	return m.showAnswer(msg)
}

// reviewing returns the review of an item, if it is on the way; nil for none.
func (m *Model) reviewing(id gate.ItemID) *reviewScreen {
	for i := range m.path {
		if r := m.path[i].review; r != nil && r.id == id {
			return r
		}
	}
	return nil
}

// showAnswer shows the answer to a form where the item is reviewed; from
// anywhere else it is one line of news.
func (m *Model) showAnswer(msg answerMsg) tea.Cmd {
	r := m.reviewing(msg.item)
	if !msg.act.Verb.Decides() {
		return m.showMark(msg.item)
	}
	m.announce(views.Notice{})
	if r == nil || r != m.here().review {
		n := views.Answer(msg.row, m.Who.ID, m.now)
		n.Text = string(msg.op) + ": " + n.Text
		if msg.held != "" {
			n.Text += ", " + msg.held
		}
		m.announce(n)
	}
	if r == nil || r.item == nil {
		return nil
	}
	row := msg.row
	r.answer, r.held, r.ref, r.came = &row, msg.held, gate.Ref{}, nil
	if p := row.Permit; p != nil {
		r.ref = gate.Ref{Run: row.Run, Op: row.Op}
		if p.Op != "" {
			r.ref.Op = p.Op
		}
	}
	if row.Verdict == gate.Stale { // somebody was faster: the banner says who
		var by gate.DecisionRow
		if row.Changed != nil {
			by = views.ChangedBy(*row.Changed)
		}
		r.movedOn(by, r.item.State)
		return nil
	}
	r.reload = true
	return m.out.item(r.id)
}

// showMark shows a mark where the item is reviewed.
func (m *Model) showMark(id gate.ItemID) tea.Cmd {
	if r := m.reviewing(id); r != nil && r.item != nil {
		return m.out.item(id)
	}
	return nil
}
