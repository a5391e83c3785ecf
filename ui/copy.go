package ui

import (
	"encoding/json"
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"tollgate/views"
)

// shown returns the id that is selected, and what stands behind it.
func (m *Model) shown() (id string, what any) {
	switch c := m.here(); c.place {
	case inQueue:
		if row := m.queueRow(); row != nil {
			return string(row.ID), row
		}
	case inRuns:
		if row := m.runs.list.selected(); row != nil {
			return string(row.Run), row
		}
	case inRun:
		switch op := c.run.op(); {
		case op != nil:
			return string(op.Op), op
		case c.run.view != nil:
			return string(c.run.id), c.run.view
		}
	case inLedger:
		if row := m.decision(); row != nil {
			return strconv.FormatUint(row.Seq, 10), row
		}
	case inDependencies:
		if row := m.dependencies.list.selected(); row != nil {
			return row.Name, row
		}
	case inRecord:
		if c.record.row != nil {
			return strconv.FormatUint(c.record.seq, 10), c.record.row
		}
	case inReview:
		if c.review.item != nil {
			return string(c.review.id), c.review.item
		}
	default:
	}
	return "", nil
}

func noID(m *Model) string {
	if id, _ := m.shown(); id == "" {
		return "nothing is selected"
	}
	return ""
}

func (m *Model) copyID() tea.Cmd {
	id, _ := m.shown()
	return m.out.copyText(id, id)
}

func (m *Model) copyJSON() tea.Cmd {
	id, what := m.shown()
	text, err := json.Marshal(what)
	if err != nil {
		m.say(views.Loud, id+" is not to be had as JSON: "+err.Error())
		return nil
	}
	return m.out.copyText("the JSON of "+id, string(text))
}

func (m *Model) copied(msg copiedMsg) {
	if msg.err != nil {
		m.say(views.Loud, msg.what+" was not copied: "+fault(msg.err, answerWithin))
		return
	}
	m.say(views.Quiet, "sent "+msg.what+" to the clipboard")
}
