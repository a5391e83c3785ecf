package ui

import (
	"encoding/json"
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

// mark sends a verb that charges nothing and can be taken back.
func (m *Model) mark(act escalation.Act) tea.Cmd {
	row := m.onItem()
	act.RequestID, act.Version = m.request(), row.Version
	return m.out.do(row.ID, row.Op, act, nil)
}

// claim takes the lease on an item, or gives the operator's own back.
func (m *Model) claim() tea.Cmd {
	row := m.onItem()
	if c := escalation.ClaimOf(*row, m.now); c != nil && c.ID == m.Who.ID {
		return m.mark(escalation.Act{Verb: gate.ActRelease})
	}
	return m.mark(escalation.Act{Verb: gate.ActClaim})
}

func (m *Model) snooze() tea.Cmd {
	return m.mark(escalation.Act{Verb: gate.ActSnooze, Until: gate.Truncated(m.now.Add(snoozed))})
}

// marked says what a mark came to, and how it can be taken back.
func (m *Model) marked(msg answerMsg) {
	if msg.row.Verdict != gate.Recorded {
		n := views.Answer(msg.row, m.now)
		n.Text = msg.act.Verb.String() + " " + string(msg.op) + ": " + n.Text
		m.notice = n
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

// takeBack undoes the newest mark.
func (m *Model) takeBack() tea.Cmd {
	u := *m.undo
	m.undo = nil
	u.act.RequestID = m.request()
	return m.out.do(u.item, u.op, u.act, nil)
}

// openForm opens the form of a decision on what is shown. A draft comes back
// as it was left.
func (m *Model) openForm(v verb) tea.Cmd {
	it := m.here().review.item
	key := draftOf{it.ID, v}
	f := newForm(v, it, m.Who.ID, m.now)
	if old := m.drafts[key]; old != nil {
		if old.sending { // its answer is still to come
			f = old
			f.armed = false
		} else {
			f.carry(old)
			if old.version == it.Version {
				f.request, f.version, f.said = old.request, old.version, old.said
			}
		}
	}
	m.drafts[key], m.form = f, f
	return m.out.armAfter(f.stir())
}

// leaveForm decides nothing and keeps the draft.
func (m *Model) leaveForm() tea.Cmd {
	m.form = nil
	return nil
}

func (m *Model) nextField(n int) tea.Cmd {
	f := m.form
	if at := f.at + n; at >= 0 && at < len(f.fields) {
		f.focus(at)
	}
	return nil
}

// noSend says why Ctrl+S does nothing now.
func (m *Model) noSend() string {
	switch f := m.form; {
	case f.sending:
		return "the gate has not answered yet"
	case f.pasted:
		return "something was pasted just now"
	}
	return m.noDecision(m.form.verb)
}

// send sends the decision. The same decision sent again is the same request,
// and one action at most (R-P6).
func (m *Model) send() tea.Cmd {
	f, it := m.form, m.here().review.item
	act, at, lacks := f.act()
	if lacks != "" {
		f.focus(at)
		f.said = f.fields[at].label + ": " + lacks
		return nil
	}
	if f.request == "" || f.version != it.Version {
		f.request, f.version = m.request(), it.Version
	}
	act.RequestID, act.Version = f.request, f.version
	f.sending, f.said = true, ""
	return m.out.do(f.item, f.op, act, f)
}

func notAChoice(m *Model) string {
	if m.form.fields[m.form.at].choices == nil {
		return "this field has no choice"
	}
	return ""
}

func noItem(m *Model) string {
	switch {
	case m.queueRow() != nil:
		return ""
	case m.queue.list.cur.lost != "":
		return "the row that was selected has left; move to another"
	}
	return "nothing is selected; move to a row"
}

func noRun(m *Model) string {
	if m.runs.list.cur.id == "" {
		return "nothing is selected; move to a row"
	}
	return ""
}

// noHeld says why there is nothing to review in a run.
func noHeld(m *Model) string {
	switch op := m.here().run.op(); {
	case op == nil:
		return "no operation is selected"
	case op.Item == "":
		return "nothing waits about this operation"
	}
	return ""
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

func notAtRoot(m *Model) string {
	if len(m.path) > 1 {
		return "esc goes back first"
	}
	return ""
}

// noNew says why there is nothing new to load.
func (m *Model) noNew() string {
	if r := m.here().review; r.moved == nil && !r.reload && r.failed == "" {
		return "what is shown is what is there"
	}
	return ""
}

// escape goes back; at a root it takes the cursor out of the list.
func (m *Model) escape() tea.Cmd {
	if len(m.path) > 1 {
		return m.back()
	}
	switch m.here().place {
	case inQueue:
		m.queue.list.release()
	case inRuns:
		m.runs.list.release()
	default:
	}
	m.feed.urgent = true
	return nil
}

// noNews says why there is nothing to take in.
func (m *Model) noNews() string {
	if m.here().place == inRuns && m.runs.list.pending() || m.here().place == inQueue && m.queue.list.pending() {
		return ""
	}
	return "nothing is held back"
}

// takeIn takes in what a list holds back.
func (m *Model) takeIn() tea.Cmd {
	if m.here().place == inRuns {
		m.runs.list.takeIn()
	} else {
		m.queue.list.takeIn()
	}
	m.feed.urgent = true
	return nil
}

// step moves by rows, and leap by screens.
func (m *Model) step(n int) tea.Cmd {
	switch where := m.where(); where {
	case inHelp:
		return m.scrollHelp(n)
	case inRun:
		return m.moveRun(n)
	case inReview:
		return m.scrollReview(n)
	default:
		return m.moveIn(n)
	}
}

func (m *Model) leap(screens int) tea.Cmd {
	rows := max(1, m.page().Body()-2)
	if screens < -1 || screens > 1 {
		return m.step(screens)
	}
	return m.step(screens * rows)
}

func otherPane(m *Model) tea.Cmd {
	r := m.here().run
	r.detail, r.detailTop = !r.detail, 0
	return nil
}

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
		m.say(views.Loud, err.Error())
		return nil
	}
	return m.out.copyText("the JSON of "+id, string(text))
}

func (m *Model) copied(msg copiedMsg) {
	if msg.err != nil {
		m.say(views.Loud, msg.what+" was not copied: "+msg.err.Error())
		return
	}
	m.say(views.Quiet, "sent "+msg.what+" to the clipboard")
}
