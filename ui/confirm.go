package ui

import (
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"tollgate/escalation"
	"tollgate/gate"
)

// quiet is how long no key must have come before a form takes any: type-ahead,
// a held key and a paste meant for the list fall into nothing.
const quiet = 400 * time.Millisecond

// verb is what a form decides.
type verb struct {
	do    gate.Act
	asNew bool // approve as a new action
}

// form is one decision in the making. Enter goes from field to field and never
// decides; Ctrl+S decides, and nothing else does. A form that is closed stays
// as a draft until its decision has been made.
type form struct {
	verb   verb
	item   gate.ItemID
	op     gate.OpID
	shown  *escalation.Item // what is decided on
	fields []field
	at     int // the field that has the keys

	armed  bool // it takes keys
	key    int  // number of the newest key while it was not armed
	pasted bool // something was pasted just now: Ctrl+S waits as well
	paste  int  // number of the newest paste

	sending bool   // the gate has not answered yet
	request string // id of the request as it stands; empty when it was changed since
	version int64  // of the item, for which request stands
	said    string // why Ctrl+S did nothing, or what came back
}

// field returns a field, nil if the form has none of the kind.
func (f *form) field(p part) *field {
	for i := range f.fields {
		if f.fields[i].part == p {
			return &f.fields[i]
		}
	}
	return nil
}

func (f *form) value(p part) string {
	if fd := f.field(p); fd != nil {
		return strings.TrimSpace(fd.text.Value())
	}
	return ""
}

func (f *form) choice(p part) int {
	if fd := f.field(p); fd != nil {
		return fd.choice
	}
	return -1
}

// carry takes the values of an earlier draft of the same verb over, and the
// cursor to where it was left. What was typed to be sure has to be typed again.
func (f *form) carry(old *form) {
	for i := range f.fields {
		fd := &f.fields[i]
		from := old.field(fd.part)
		if from == nil || fd.part == partTyped {
			continue
		}
		if fd.choices == nil {
			fd.text.SetValue(from.text.Value())
			fd.text.SetCursor(from.text.Position())
		} else if from.choice < len(fd.choices) {
			fd.choice = from.choice
		}
	}
	f.settle()
	f.focus(f.place(old.fields[old.at].part))
}

// focus gives the keys to field i.
func (f *form) focus(i int) {
	f.fields[f.at].text.Blur()
	f.at = max(0, min(i, len(f.fields)-1))
	if fd := &f.fields[f.at]; fd.choices == nil {
		fd.text.Focus()
	}
}

// changed is told that a field is not what it was.
func (f *form) changed() {
	f.request, f.said = "", ""
	f.settle()
}

// stir is told of a key that came before the form was armed; it returns what
// has to come back when it has been quiet.
func (f *form) stir() armMsg {
	f.key++
	return armMsg{form: f, quiet: f.key, paste: f.paste}
}

// arm is told that it has been quiet since some key or paste.
func (f *form) arm(msg armMsg) {
	if msg.quiet == f.key {
		f.armed = true
	}
	if msg.paste == f.paste {
		f.pasted = false
	}
}

// choose moves the choice of the field that has the keys.
func (f *form) choose(n int) bool {
	fd := &f.fields[f.at]
	if fd.choices == nil {
		return false
	}
	switch {
	case fd.choice < 0 && n < 0:
		fd.choice = len(fd.choices) - 1
	default:
		fd.choice = (fd.choice + n + len(fd.choices)) % len(fd.choices)
	}
	f.changed()
	return true
}

// write hands a key to the field that has the keys.
func (f *form) write(msg tea.KeyMsg) {
	fd := &f.fields[f.at]
	if fd.choices != nil {
		return
	}
	before := fd.text.Value()
	fd.text, _ = fd.text.Update(msg)
	if fd.text.Value() != before {
		f.changed()
	}
}

// insert hands a paste to the field that has the keys. A paste can hold what
// ends it, and after that what would decide: so Ctrl+S waits until it has been
// quiet, for which the answer has to come back.
func (f *form) insert(msg tea.KeyMsg) armMsg {
	f.write(msg)
	f.paste++
	f.pasted = true
	return armMsg{form: f, quiet: f.key, paste: f.paste}
}

func (f *form) place(p part) int {
	for i := range f.fields {
		if f.fields[i].part == p {
			return i
		}
	}
	return 0
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

func lastField(m *Model) string {
	if m.form.at == len(m.form.fields)-1 {
		return "this is the last field; ctrl+s decides"
	}
	return ""
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
	m.here().review.asked = act.Verb.Decides()
	return m.out.do(f.item, f.op, act, f)
}

func notAChoice(m *Model) string {
	if m.form.fields[m.form.at].choices == nil {
		return "this field has no choice"
	}
	return ""
}
