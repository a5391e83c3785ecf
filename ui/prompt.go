package ui

import (
	"errors"
	"fmt"
	"strings"

	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"

	"tollgate/gate"
	"tollgate/views"
)

// prompt is the line in which the filter of a list is typed.
type prompt struct {
	text textinput.Model
	list gate.FilterList
}

// openPrompt opens the filter of the list that is shown.
func (m *Model) openPrompt() tea.Cmd {
	p := &prompt{text: textField(partReason, "", "", false).text, list: gate.FilterQueue}
	p.text.CharLimit = gate.MaxFilter
	is := m.queue.by
	switch m.here().place {
	case inRuns:
		p.list, is = gate.FilterRuns, m.runs.by
	case inLedger:
		p.list, is = gate.FilterLedger, m.ledger.by
	default:
	}
	p.text.SetValue(is.String())
	p.text.Focus()
	m.prompt = p
	return nil
}

func (m *Model) closePrompt() tea.Cmd {
	m.prompt = nil
	return nil
}

// wrongFilter says why what is typed is no filter yet.
func wrongFilter(m *Model) string {
	if wrong := m.prompt.wrong(); wrong != nil {
		return said(wrong)
	}
	return ""
}

// wrong returns what is wrong with what is typed, nil for nothing.
func (p *prompt) wrong() *gate.FilterError {
	var wrong *gate.FilterError
	_, err := gate.ParseFilter(p.list, p.text.Value())
	errors.As(err, &wrong)
	return wrong
}

func said(wrong *gate.FilterError) string {
	return fmt.Sprintf("want %s, got %s", wrong.Want, wrong.Got)
}

// applyPrompt filters the list. The empty text takes the filter away.
func (m *Model) applyPrompt() tea.Cmd {
	by, _ := gate.ParseFilter(m.prompt.list, m.prompt.text.Value()) // the key is off while it is wrong
	m.prompt = nil
	switch m.here().place {
	case inRuns:
		m.runs.filter(m.runs.state, by)
	case inLedger:
		m.ledger.filter(by)
	default:
		m.queue.filter(m.queue.of, by)
	}
	m.feed.urgent = true
	return nil
}

// nextList goes on to the next list of what is shown.
func (m *Model) nextList() tea.Cmd {
	if m.here().place == inRuns {
		m.runs.filter((m.runs.state+1)%(gate.RunEnded+1), m.runs.by)
	} else {
		m.queue.filter((m.queue.of+1)%len(queueLists), m.queue.by)
	}
	m.feed.urgent = true
	return nil
}

// completePrompt completes the term that is typed as far as it is certain.
func (m *Model) completePrompt() tea.Cmd {
	p := m.prompt
	if all := p.list.Complete(p.text.Value()); len(all) > 0 {
		p.text.SetValue(common(all))
		p.text.CursorEnd()
	}
	return nil
}

// noCompletion says why there is nothing to complete.
func noCompletion(m *Model) string {
	if len(m.prompt.list.Complete(m.prompt.text.Value())) == 0 {
		return "nothing here begins like that"
	}
	return ""
}

// common returns what some texts begin with alike.
func common(texts []string) string {
	is := texts[0]
	for _, t := range texts[1:] {
		for !strings.HasPrefix(t, is) {
			is = is[:len(is)-1]
		}
	}
	return is
}

// promptNotice shows what is being typed, with the cursor, and under it what is
// wrong with it.
func (m *Model) promptNotice() views.Notice {
	const label, cursor = "filter: ", "_"
	p := m.prompt
	runes := []rune(p.text.Value())
	at := min(p.text.Position(), len(runes))
	before, after := string(runes[:at]), string(runes[at:])
	n := views.Notice{Text: label + before + cursor + after}
	switch wrong := p.wrong(); {
	case wrong != nil:
		n.Under, n.At = said(wrong), len(label)+wrong.At
		if wrong.At > len(before) {
			n.At += len(cursor)
		}
		n.Key = views.Key{Key: "esc", Does: "leave"}
	case len(runes) == 0:
		n.Side = strings.Join(p.list.Names(), " ")
	}
	return n
}
