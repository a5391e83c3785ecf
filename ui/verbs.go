package ui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"tollgate/escalation"
	"tollgate/gate"
	"tollgate/views"
)

// snoozed is for how long an item is put off.
const snoozed = time.Hour

// undo takes one mark back.
type undo struct {
	item gate.ItemID
	op   gate.OpID
	act  escalation.Act
}

// onItem returns the item that one key would act on, nil for none.
func (m *Model) onItem() *gate.ItemRow {
	switch c := m.here(); c.place {
	case inQueue:
		return m.queueRow()
	case inReview:
		if c.review.item != nil {
			return &c.review.item.ItemRow
		}
	default:
	}
	return nil
}

// held returns an item that is on a screen, nil for none.
func (m *Model) held(id gate.ItemID) *gate.ItemRow {
	if r := m.reviewing(id); r != nil && r.item != nil {
		return &r.item.ItemRow
	}
	if at := m.queue.list.index(m.queue.list.rows, id); at >= 0 {
		return &m.queue.list.rows[at]
	}
	return nil
}

// noMark says why an item cannot be claimed or snoozed now.
func (m *Model) noMark() string {
	if m.here().place == inReview {
		return m.noVerb()
	}
	switch row := m.onItem(); {
	case m.offline() != "":
		return m.offline()
	case row == nil:
		return noItem(m)
	case row.State == gate.HoldResolved:
		return "the item is resolved"
	}
	return ""
}

// noClaim is noMark for a claim: the lease of somebody else is not taken by one
// key.
func (m *Model) noClaim() string {
	if why := m.noMark(); why != "" {
		return why
	}
	if row := m.onItem(); row.Claim.HeldAgainst(m.Who, m.now) {
		return heldBy(row, m.now) + "; a decision can take it over"
	}
	return ""
}

// heldBy says who holds the claim on an item, empty for nobody.
func heldBy(row *gate.ItemRow, now time.Time) string {
	c := row.Claim
	if !c.Holds(now) {
		return ""
	}
	return "held by " + c.By + ", " + views.Ago(c.Until.Sub(now)) + " left"
}

// mark sends a verb that charges nothing and can be taken back.
func (m *Model) mark(act escalation.Act) tea.Cmd {
	row := m.onItem()
	act.RequestID, act.Version = m.request(), row.Version
	return m.out.do(row.ID, row.Op, act, nil)
}

// mine reports whether the operator holds the claim on an item.
func (m *Model) mine(row *gate.ItemRow) bool {
	return row.Claim.Holds(m.now) && row.Claim.ID == m.Who.ID
}

// claim takes the lease on an item, or gives the operator's own back.
func (m *Model) claim() tea.Cmd { return m.mark(escalation.Act{Verb: m.claimVerb(m.onItem())}) }

func (m *Model) claimVerb(row *gate.ItemRow) gate.Act {
	if m.mine(row) {
		return gate.ActRelease
	}
	return gate.ActClaim
}

func nameOfClaim(m *Model) (does, says string) {
	if m.mine(m.onItem()) {
		return "release", "give your claim back; U undoes"
	}
	return "claim", "claim the item for you; U undoes"
}

// snooze puts an item off, or takes back that it was.
func (m *Model) snooze() tea.Cmd {
	until := m.now.Add(snoozed)
	if m.asleep(m.onItem()) {
		until = m.now
	}
	return m.mark(escalation.Act{Verb: gate.ActSnooze, Until: gate.Truncated(until)})
}

func (m *Model) asleep(row *gate.ItemRow) bool { return m.now.Before(row.Snoozed.Time) }

func nameOfSnooze(m *Model) (does, says string) {
	if m.asleep(m.onItem()) {
		return "wake", "bring the item back into the queue"
	}
	return "snooze", "hide the item for an hour; the run's deadline runs on; U undoes"
}

// marked says what a mark came to, and how it can be taken back.
func (m *Model) marked(msg answerMsg) {
	if msg.row.Verdict != gate.Recorded {
		n := views.Answer(msg.row, m.Who.ID, m.now)
		n.Text = msg.act.Verb.String() + " " + string(msg.op) + ": " + n.Text
		if msg.held != "" {
			n.Text += ", " + msg.held
		}
		m.announce(n)
		return
	}
	back := undo{item: msg.item, op: msg.op, act: escalation.Act{Version: msg.act.Version}}
	switch msg.act.Verb {
	case gate.ActClaim:
		m.say(views.Good, "claimed "+string(msg.op))
		back.act.Verb = gate.ActRelease
	case gate.ActRelease:
		m.say(views.Good, "released "+string(msg.op))
		back.act.Verb = gate.ActClaim
	case gate.ActSnooze:
		if !msg.act.Until.After(m.now) {
			m.say(views.Good, string(msg.op)+" is back in the queue")
			m.undo = nil
			return
		}
		m.say(views.Good, "snoozed "+string(msg.op)+" until "+msg.act.Until.Format("15:04:05Z"))
		if row := m.held(msg.item); row != nil && row.Deadline.After(m.now) && msg.act.Until.After(row.Deadline.Time) {
			m.notice.Text += ", " + views.Ago(msg.act.Until.Sub(row.Deadline.Time)) + " after the run's deadline"
			m.notice.Tone = views.Loud
		}
		back.act.Verb, back.act.Until = gate.ActSnooze, msg.act.Until.Add(-snoozed)
	default:
		m.say(views.Good, "noted on "+string(msg.op))
		return
	}
	m.undo = &back
	m.notice.Key = views.Key{Key: "U", Does: "undoes"}
}

func (m *Model) noUndo() string {
	switch {
	case m.offline() != "":
		return m.offline()
	case m.undo == nil:
		return "there is nothing to undo"
	}
	return ""
}

// outdated is told of an item that has moved on: a mark on it is no longer
// there to be taken back.
func (m *Model) outdated(id gate.ItemID) {
	if m.undo != nil && m.undo.item == id {
		m.undo = nil
	}
}

// takeBack undoes the newest mark.
func (m *Model) takeBack() tea.Cmd {
	u := *m.undo
	m.undo = nil
	u.act.RequestID = m.request()
	return m.out.do(u.item, u.op, u.act, nil)
}

func noRunOf(m *Model) string {
	if m.onItem() == nil {
		return "no item is selected"
	}
	return ""
}

func (m *Model) openRunOf() tea.Cmd {
	row := m.onItem()
	return m.toRun(row.Run, row.Op)
}
