package ui

import (
	"fmt"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// Rates of the feed.
const (
	rest     = 100 * time.Millisecond // at least, between two reads that follow the store
	again    = time.Second            // between two tries to reach a store that was lost
	patience = 2 * time.Second        // after which a read that has not come back counts as lost
)

// feed decides when the store is read. A change of the store pokes it; it then
// asks for one read of what is on the screen, and for no other before that one
// has come back and rested. A key that needs other rows is served at once.
// Nothing is read while nothing moves, and a frozen feed reads only what a key
// asks for.
//
// The feed itself does no I/O and has no clock: its times come with messages.
type feed struct {
	frozen  bool // by the operator
	reading bool // a read is under way
	resting bool // the last one has just come back
	dirty   bool // the store has moved since the last read began
	urgent  bool // a key needs other rows than the last read brought

	began time.Time // the read that is under way
	asOf  time.Time // the data: when it was last known to be the newest
	lost  error     // why the store cannot be read; nil while it can
}

// due reports whether a read should begin now.
func (f *feed) due() bool {
	return !f.reading && f.lost == nil && (f.urgent || f.dirty && !f.frozen && !f.resting)
}

// begin is told that a read begins.
func (f *feed) begin(now time.Time) {
	f.reading, f.dirty, f.urgent, f.began = true, false, false, now
}

// done is told that a read has come back; at is when it began.
func (f *feed) done(at time.Time, err error) {
	f.reading = false
	if f.lost = err; err == nil {
		f.asOf, f.resting = at, true
	}
}

// tick is told the time. Data that no poke has come for is as new as can be.
func (f *feed) tick(now time.Time) {
	if f.lost == nil && !f.frozen && !f.dirty && !f.reading {
		f.asOf = now
	}
}

// away says why the store is not to be had, empty while it is.
func (f *feed) away(now time.Time) string {
	switch {
	case f.lost != nil:
		return fault(f.lost, readWithin)
	case f.reading && now.Sub(f.began) > patience:
		return fmt.Sprintf("the gate has not answered for %d s", int(now.Sub(f.began).Seconds()))
	}
	return ""
}

// pump begins the read that is due.
func (m *Model) pump() tea.Cmd {
	if !m.feed.due() {
		return nil
	}
	m.feed.begin(m.now)
	return m.out.read(m.wants())
}

// open opens a new watch in place of the one before.
func (m *Model) open() tea.Cmd {
	if m.unwatch != nil {
		m.unwatch()
	}
	m.watch++
	m.listening, m.changes, m.unwatch = false, nil, nil
	return m.out.listen(m.watch)
}

// watching: a watch is up.
func (m *Model) watching(msg watchingMsg) tea.Cmd {
	if msg.watch != m.watch {
		msg.end()
		return nil
	}
	m.changes, m.unwatch = msg.changes, msg.end
	return m.hear()
}

// hear waits for the next change, once.
func (m *Model) hear() tea.Cmd {
	if m.listening || m.changes == nil {
		return nil
	}
	m.listening = true
	return m.out.next(m.watch, m.changes)
}

// poked: the store has moved. It is listened to again when what has moved has
// been read, and with a frozen feed now and then, so that a connection that
// ends is noticed.
func (m *Model) poked(msg seqMsg) tea.Cmd {
	if msg.watch != m.watch {
		return nil
	}
	m.listening = false
	if !msg.ok {
		m.changes = nil
		m.feed.lost = errClosed
		return m.out.tryAgain()
	}
	m.feed.dirty = true
	if m.feed.frozen {
		return m.out.restFor(again)
	}
	return nil
}

// took: a read has come back.
func (m *Model) took(msg readMsg) tea.Cmd {
	back := m.feed.lost != nil
	m.feed.done(msg.at, msg.err)
	m.tick(msg.at)
	if msg.err != nil {
		return m.out.tryAgain()
	}
	m.apply(msg)
	cmd := m.out.restFor(max(rest, 4*msg.took))
	if r := m.here().review; back && r != nil && r.failed != "" {
		return tea.Batch(cmd, m.out.item(r.id)) // it could not be read while the store was lost
	}
	if r := m.here().run; r != nil {
		return tea.Batch(cmd, m.tell(r))
	}
	return cmd
}

// rested: the store may be followed again.
func (m *Model) rested() tea.Cmd {
	m.feed.resting = false
	return m.hear()
}

// again looks for a store that was lost. What has moved meanwhile has poked
// nobody, so it is read whole.
func (m *Model) again() tea.Cmd {
	if m.feed.lost == nil || m.feed.reading {
		return nil
	}
	m.feed.begin(m.now)
	return tea.Batch(m.open(), m.out.read(m.wants()))
}

// freeze stops the rows, or lets them go on.
func (m *Model) freeze() tea.Cmd {
	m.feed.frozen = !m.feed.frozen
	return nil
}

func nameOfFreeze(m *Model) (does, says string) {
	if m.feed.frozen {
		return "go on", "let the rows go on"
	}
	return "freeze", "freeze the rows; clocks go on"
}
