package ui

import (
	tea "github.com/charmbracelet/bubbletea"

	"tollgate/views"
)

// help is the page of the keys of the place below it.
type help struct{ top int }

func (m *Model) openHelp() tea.Cmd {
	m.help = &help{}
	return nil
}

func (m *Model) closeHelp() tea.Cmd {
	m.help = nil
	return nil
}

// below returns the place that the help is about.
func (m *Model) below() place {
	open := m.help
	m.help = nil
	where := m.where()
	m.help = open
	return where
}

func (m *Model) helpView() views.HelpView {
	where := m.below()
	v := views.HelpView{Title: placeName(where), Top: m.help.top}
	here := views.HelpSection{Name: "here"}
	everywhere := views.HelpSection{Name: "everywhere"}
	for i := range m.keys {
		b := &m.keys[i]
		if b.in&where == 0 || b.show == "" {
			continue
		}
		_, says := m.named(b)
		k := views.Key{Key: b.show, Does: says, Off: m.why(b)}
		if b.in&screens == screens {
			everywhere.Keys = append(everywhere.Keys, k)
		} else {
			here.Keys = append(here.Keys, k)
		}
	}
	v.Sections = []views.HelpSection{here, everywhere}
	return v
}

func placeName(p place) string {
	switch p {
	case inQueue:
		return "of the queue"
	case inRuns:
		return "of the runs"
	case inRun:
		return "of one run"
	case inReview:
		return "of a review"
	case inLedger:
		return "of the ledger"
	case inDependencies:
		return "of the dependencies"
	case inRecord:
		return "of one decision"
	default:
		return ""
	}
}

func (m *Model) scrollHelp(n int) tea.Cmd {
	rows, seen := views.HelpScroll(m.page(), m.helpView())
	m.help.top = max(0, min(m.help.top+n, rows-seen))
	return nil
}
