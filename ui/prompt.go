package ui

import (
	"strings"

	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"

	"tollgate/gate"
	"tollgate/views"
)

// prompt is the line in which a filter is typed.
type prompt struct{ text textinput.Model }

// openPrompt opens the filter of the list that is shown.
func (m *Model) openPrompt() tea.Cmd {
	t := textField(partReason, "", "", false).text
	t.CharLimit = 128
	t.SetValue(m.queue.text)
	if m.here().place == inRuns {
		t.SetValue(m.runs.text)
	}
	t.Focus()
	m.prompt = &prompt{text: t}
	return nil
}

func (m *Model) closePrompt() tea.Cmd {
	m.prompt = nil
	return nil
}

// applyPrompt filters the list. The empty text takes the filter away.
func (m *Model) applyPrompt() tea.Cmd {
	text := strings.TrimSpace(m.prompt.text.Value())
	m.prompt = nil
	if m.here().place == inRuns {
		m.runs.filter(m.runs.state, text)
	} else {
		m.queue.filter(m.queue.of, text)
	}
	m.feed.urgent = true
	return nil
}

// nextList goes on to the next list of what is shown.
func (m *Model) nextList() tea.Cmd {
	if m.here().place == inRuns {
		m.runs.filter((m.runs.state+1)%(gate.RunEnded+1), m.runs.text)
	} else {
		m.queue.filter((m.queue.of+1)%len(queueLists), m.queue.text)
	}
	m.feed.urgent = true
	return nil
}

// promptNotice shows what is being typed, with the cursor.
func (m *Model) promptNotice() views.Notice {
	runes := []rune(m.prompt.text.Value())
	at := min(m.prompt.text.Position(), len(runes))
	return views.Notice{Text: "filter: " + string(runes[:at]) + "_" + string(runes[at:])}
}
