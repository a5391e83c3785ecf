// Package ui is the console: a bubbletea program for people who decide on what
// agents may not. One Model holds everything; screens are plain structs; keys
// come from one table (keymap.go); whatever talks to the store, the gate, the
// clock or the terminal is a command (commands.go), so that a key is answered
// though the store hangs.
//
// The console knows the store by two small interfaces, [Source] and [Desk]. An
// owner of a store and a client of its socket give it the same ones.
package ui

import (
	"context"
	"crypto/rand"
	"strconv"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"tollgate/escalation"
	"tollgate/gate"
	"tollgate/views"
)

// Source is what the console reads. Its methods may block and fail; a store
// that comes back is found again.
type Source interface {
	gate.Reader

	// Item returns one item in full, with the gate's preview of every verb,
	// or gate.ErrNoItem.
	Item(ctx context.Context, id gate.ItemID) (escalation.Item, error)
}

// Desk is what the console may do to an item. The gate is behind it: each call
// is one command, one decision, one row of the ledger. A stop is an answer and
// not an error.
type Desk interface {
	Do(ctx context.Context, who gate.Actor, id gate.ItemID, act escalation.Act) (gate.DecisionRow, error)
}

// Options are what a console is made of.
type Options struct {
	Source Source
	Desk   Desk
	Who    gate.Actor       // the operator, as the store's owner sees them (R-P10)
	Clock  func() time.Time // the gate's time in UTC; asked by commands only
	Theme  *views.Theme

	Place    string // path of the store, or of its owner's socket
	Attached bool   // Place is a socket
	ReadOnly bool   // enforced behind the console too (R-P11)
}

// Model is the whole state of the console. Make one with New.
type Model struct {
	Options
	out *outside

	now           time.Time // from the newest message that told the time
	width, height int

	feed      feed
	watch     int // number of the watch that counts
	changes   <-chan uint64
	unwatch   func() // ends the watch
	listening bool   // a command waits for the store to move

	counts gate.Counts
	landed bool // the first read has come

	keys         []binding
	path         []crumb // where the operator is; the last one is on the screen
	queue        queueScreen
	runs         runsScreen
	ledger       ledgerScreen
	dependencies dependenciesScreen
	form         *form // over the review; nil for none
	prompt       *prompt
	help         *help

	drafts   map[draftOf]*form
	session  string // begins the ids of this console's requests
	requests int
	notice   views.Notice
	refused  *binding // a key that was off: the notice says why, as long as that holds
	undo     *undo
}

// draftOf says whose draft it is.
type draftOf struct {
	item gate.ItemID
	verb verb
}

// New returns a console that has read nothing yet. ctx ends what it waits for.
func New(ctx context.Context, o Options) *Model {
	m := &Model{
		Options:      o,
		out:          &outside{ctx: ctx, source: o.Source, desk: o.Desk, who: o.Who, clock: o.Clock, after: after},
		now:          o.Clock(),
		keys:         keymap(),
		path:         []crumb{{place: inQueue}},
		queue:        newQueueScreen(),
		runs:         newRunsScreen(),
		ledger:       newLedgerScreen(),
		dependencies: newDependenciesScreen(),
		drafts:       map[draftOf]*form{},
		session:      rand.Text(),
	}
	m.feed.asOf, m.feed.urgent = m.now, true
	return m
}

// Init implements tea.Model.
func (m *Model) Init() tea.Cmd {
	return tea.Batch(m.out.tick(), m.open(), m.pump())
}

// Update implements tea.Model. It does no I/O and reads no clock.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.KeyMsg:
		cmd = m.press(msg)
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.resize()
		m.feed.urgent = true // more rows may be seen
	case clockMsg:
		m.tick(msg.now)
		m.feed.tick(m.now)
		m.ripen()
		cmd = m.out.tick()
	case watchingMsg:
		cmd = m.watching(msg)
	case seqMsg:
		cmd = m.poked(msg)
	case readMsg:
		cmd = m.took(msg)
	case restMsg:
		cmd = m.rested()
	case againMsg:
		cmd = m.again()
	case itemMsg:
		cmd = m.opened(msg)
	case decisionsMsg:
		cmd = m.decided(msg)
	case answerMsg:
		cmd = m.answered(msg)
	case armMsg:
		if msg.form != nil {
			msg.form.arm(msg)
		}
	case copiedMsg:
		m.copied(msg)
	}
	return m, tea.Batch(cmd, m.pump())
}

// tick moves the time forward; messages may come out of order.
func (m *Model) tick(now time.Time) {
	if now.After(m.now) {
		m.now = now
	}
}

// request makes the id of a new request.
func (m *Model) request() string {
	m.requests++
	return m.session + "-" + strconv.Itoa(m.requests)
}

// offline says why nothing can be decided now, whatever the screen shows;
// empty when it can.
func (m *Model) offline() string {
	switch {
	case views.TooSmall(m.width, m.height):
		return "the terminal is too small"
	case m.ReadOnly:
		return "this console is read-only"
	case m.feed.away(m.now) != "":
		return "disconnected"
	}
	return ""
}

// say puts one line of news above the keys.
func (m *Model) say(tone views.Tone, text string) { m.announce(views.Notice{Text: text, Tone: tone}) }

// announce is say for a notice with more to it.
func (m *Model) announce(n views.Notice) { m.notice, m.refused = n, nil }
