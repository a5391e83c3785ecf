package ui

import (
	"sync/atomic"

	tea "github.com/charmbracelet/bubbletea"
)

// guarded keeps a panic of the console from taking the terminal with it: the
// program ends in its own way, which puts the terminal back, and Run says what
// happened.
type guarded struct {
	tea.Model
	quit   func()
	broken atomic.Pointer[Broken]
}

// Init implements tea.Model.
func (g *guarded) Init() tea.Cmd { return guard(g.Model.Init()) }

// Update implements tea.Model.
func (g *guarded) Update(msg tea.Msg) (_ tea.Model, cmd tea.Cmd) {
	defer func() {
		if b := recovered(recover()); b != nil {
			g.broken.CompareAndSwap(nil, b)
			cmd = tea.Quit
		}
	}()
	if b, ok := msg.(brokenMsg); ok {
		g.broken.CompareAndSwap(nil, b.broken)
		return g, tea.Quit
	}
	_, cmd = g.Model.Update(msg)
	return g, guard(cmd)
}

// View implements tea.Model.
func (g *guarded) View() (frame string) {
	defer func() {
		if b := recovered(recover()); b != nil {
			if g.broken.CompareAndSwap(nil, b) {
				go g.quit()
			}
			frame = ""
		}
	}()
	if g.broken.Load() != nil {
		return ""
	}
	return g.Model.View()
}

// guard makes a panic of a command a message.
func guard(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		defer func() {
			if b := recovered(recover()); b != nil {
				msg = brokenMsg{b}
			}
		}()
		msg = cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			for i := range batch {
				batch[i] = guard(batch[i])
			}
		}
		return msg
	}
}
