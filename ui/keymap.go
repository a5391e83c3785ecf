package ui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"tollgate/gate"
	"tollgate/views"
)

// binding is one key, or a few that do the same, in some places. The table of
// bindings is all there is: it drives dispatch, the footer and the help.
type binding struct {
	in   place
	keys string // as bubbletea names them, with blanks between
	show string // as printed
	does string // in the footer; empty keeps it out of there
	says string // in the help
	kept bool   // it stays in the footer where others have to go

	// what it does as things stand, in place of does and says; nil: always those
	now func(*Model) (does, says string)

	off  func(*Model) string // why it does nothing now; nil or empty: it works
	do   func(*Model) tea.Cmd
	held bool // a held key may come as several at once
	tiny bool // also on a terminal that is too small for any screen
}

// keymap returns the table. Of two bindings for a key in one place the first
// one counts.
func keymap() []binding {
	step := func(n int) func(*Model) tea.Cmd { return func(m *Model) tea.Cmd { return m.step(n) } }
	leap := func(n int) func(*Model) tea.Cmd { return func(m *Model) tea.Cmd { return m.leap(n) } }
	decide := func(v verb) (off func(*Model) string, do func(*Model) tea.Cmd) {
		return func(m *Model) string { return m.noDecision(v) }, func(m *Model) tea.Cmd { return m.openForm(v) }
	}
	offReconcile, doReconcile := decide(verb{do: gate.ActReconcile})
	offApprove, doApprove := decide(verb{do: gate.ActApprove})
	offAsNew, doAsNew := decide(verb{do: gate.ActApprove, asNew: true})
	offReject, doReject := decide(verb{do: gate.ActReject})
	offNewRun, doNewRun := decide(verb{do: gate.ActNewRun})
	offNote, doNote := decide(verb{do: gate.ActNote})

	return []binding{
		// The form: nothing here but Ctrl+S decides.
		{in: inForm, keys: "ctrl+s", show: "ctrl+s", does: "decide", says: "send this decision to the gate; nothing else does", kept: true, off: (*Model).noSend, do: (*Model).send},
		{in: inForm, keys: "enter tab down", show: "enter", does: "next field", says: "go to the next field; it never decides", off: lastField, do: func(m *Model) tea.Cmd { return m.nextField(1) }},
		{in: inForm, keys: "shift+tab up", show: "shift+tab", says: "go to the field before", do: func(m *Model) tea.Cmd { return m.nextField(-1) }},
		{in: inForm, keys: "right", show: "left/right", does: "choose", says: "choose, in a field with a choice", off: notAChoice, do: func(m *Model) tea.Cmd { m.form.choose(1); return nil }},
		{in: inForm, keys: "left", off: notAChoice, do: func(m *Model) tea.Cmd { m.form.choose(-1); return nil }},
		{in: inForm, keys: "esc", show: "esc", does: "leave, draft kept", says: "decide nothing; what was typed is kept", kept: true, do: (*Model).leaveForm, tiny: true},
		{in: inForm, keys: "ctrl+c", do: (*Model).leaveForm, tiny: true},

		// The filter.
		{in: inPrompt, keys: "enter", show: "enter", does: "filter", says: "show what matches this filter", off: wrongFilter, do: (*Model).applyPrompt},
		{in: inPrompt, keys: "tab", show: "tab", does: "complete", says: "complete a name or a value", off: noCompletion, do: (*Model).completePrompt},
		{in: inPrompt, keys: "esc ctrl+c", show: "esc", does: "leave", says: "leave the list as it is", do: (*Model).closePrompt, tiny: true},

		// The help.
		{in: inHelp, keys: "esc q ? enter", show: "esc", does: "close", says: "close the help", do: (*Model).closeHelp, tiny: true},

		// The review.
		{in: inReview, keys: "r", show: "r", does: "reconcile", says: "say what really happened", off: offReconcile, do: doReconcile},
		{in: inReview, keys: "a", show: "a", does: "approve", says: "approve one more dispatch of the same operation", off: offApprove, do: doApprove},
		{in: inReview, keys: "A", show: "A", does: "new action", says: "approve as a new action, and accept that it may happen twice", off: offAsNew, do: doAsNew},
		{in: inReview, keys: "x", show: "x", does: "reject", says: "close the operation and return its typed outcome", off: offReject, do: doReject},
		{in: inReview, keys: "n", show: "n", does: "new run", says: "go on in a new run, with limits of its own", off: offNewRun, do: doNewRun},
		{in: inReview, keys: "t", show: "t", does: "note", says: "write a note for whoever comes next", off: offNote, do: doNote},
		{in: inReview, keys: "u", show: "u", does: "load", says: "load the item as it is now", now: nameOfLoad, off: (*Model).noLoad, do: (*Model).loadNew},

		// Lists.
		{in: lists | inRun, keys: "down j", show: "up/down", does: "move", says: "move, also with j and k", do: step(1), held: true},
		{in: inQueue, keys: "enter", show: "enter", does: "review", says: "review the item: what happened, and what each verb would do", off: noItem, do: func(m *Model) tea.Cmd { return m.toReview(m.queueRow().ID) }},
		{in: inRuns, keys: "enter", show: "enter", does: "open", says: "open the run: its gauges, and every attempt", off: noRun, do: func(m *Model) tea.Cmd { return m.toRun(m.runs.list.cur.id, "") }},
		{in: inLedger, keys: "enter", show: "enter", does: "open", says: "open the decision: what it was made from, and what it leads to", off: noRecord, do: (*Model).openRecord},
		{in: inDependencies, keys: "enter", show: "enter", does: "what waits", says: "open the queue with what waits on the dependency", off: noDependency, do: (*Model).openWaiting},
		{in: inQueue | inReview, keys: "c", show: "c", does: "claim", says: "claim the item for you; U undoes", now: nameOfClaim, off: (*Model).noClaim, do: (*Model).claim},
		{in: inQueue | inReview, keys: "z", show: "z", does: "snooze", says: "hide the item for an hour; the run's deadline runs on; U undoes", now: nameOfSnooze, off: (*Model).noMark, do: (*Model).snooze},
		{in: inQueue | inReview, keys: "U", show: "U", does: "undo", says: "undo the newest claim, release or snooze of yours", off: (*Model).noUndo, do: (*Model).takeBack},
		{in: lists, keys: "R", show: "R", says: "take in what has come, moved or left; the cursor stays with its row", off: (*Model).noNews, do: (*Model).takeIn},
		{in: sought, keys: "/", show: "/", does: "filter", says: "show only what matches a filter", do: (*Model).openPrompt},
		{in: several, keys: "f", show: "f", does: "lists", says: "the next list; queue: open, snoozed, dead-letter, resolved; runs: any, active, exhausted, ended", do: (*Model).nextList},

		// One run.
		{in: inRun, keys: "left h", show: "left/right", does: "fold", says: "fold and unfold a node of the tree", do: func(m *Model) tea.Cmd { m.here().run.fold(); return m.tell(m.here().run) }},
		{in: inRun, keys: "right l", do: func(m *Model) tea.Cmd { m.here().run.unfold(); return m.tell(m.here().run) }},
		{in: inRun, keys: "enter", show: "enter", does: "review", says: "review what waits about this operation", off: noHeld, do: func(m *Model) tea.Cmd { return m.toReview(m.here().run.op().Item) }},
		{in: inRun, keys: "tab", show: "tab", does: "pane", says: "move in the tree, or in the detail beside it", do: otherPane},
		{in: inRun, keys: "]", show: "[ ]", does: "sibling", says: "go to the next node, or the one before, at the same level", do: func(m *Model) tea.Cmd { m.here().run.sibling(1); return m.tell(m.here().run) }},
		{in: inRun, keys: "[", do: func(m *Model) tea.Cmd { m.here().run.sibling(-1); return m.tell(m.here().run) }},

		// One decision.
		{in: inRecord, keys: "tab", show: "tab", does: "next link", says: "go to the next place that the decision leads to", off: noLink, do: func(m *Model) tea.Cmd { return m.stepLink(1) }},
		{in: inRecord, keys: "shift+tab", show: "shift+tab", says: "go to the place before", off: noLink, do: func(m *Model) tea.Cmd { return m.stepLink(-1) }},
		{in: inRecord, keys: "enter", show: "enter", does: "follow", says: "open the place that the decision leads to", now: nameOfLink, off: noLink, do: (*Model).follow},

		// Everywhere.
		{in: inReview | inRecord | inHelp, keys: "down j", show: "up/down", does: "scroll", says: "scroll, also with j and k", do: step(1), held: true},
		{in: screens | inHelp, keys: "up k", do: step(-1), held: true},
		{in: screens | inHelp, keys: "pgdown ctrl+f", show: "pgup/pgdn", says: "move by a screen", do: leap(1)},
		{in: screens | inHelp, keys: "pgup ctrl+b", do: leap(-1)},
		{in: screens | inHelp, keys: "home", show: "home/end", says: "move to the first or the last row that is held", do: leap(-1 << 20)},
		{in: screens | inHelp, keys: "end G", do: leap(1 << 20)},
		{in: inQueue | inReview, keys: "v", show: "v", does: "run", says: "open the run of the item", off: noRunOf, do: (*Model).openRunOf},
		{in: screens, keys: "y", show: "y", says: "copy the id to the clipboard", off: noID, do: (*Model).copyID},
		{in: screens, keys: "Y", show: "Y", says: "copy it as JSON to the clipboard", off: noID, do: (*Model).copyJSON},
		{in: screens, keys: "space", show: "space", does: "freeze", says: "freeze the rows; clocks go on", now: nameOfFreeze, do: (*Model).freeze},
		{in: screens, keys: "1", show: "1", says: "the queue", do: func(m *Model) tea.Cmd { return m.root(inQueue) }},
		{in: screens, keys: "2", show: "2", says: "the runs", do: func(m *Model) tea.Cmd { return m.root(inRuns) }},
		{in: screens, keys: "3", show: "3", says: "the ledger", do: func(m *Model) tea.Cmd { return m.root(inLedger) }},
		{in: screens, keys: "4", show: "4", says: "the dependencies", do: func(m *Model) tea.Cmd { return m.root(inDependencies) }},
		{in: inner, keys: "esc", show: "esc", does: "back", says: "go back", kept: true, do: (*Model).escape, tiny: true},
		{in: lists, keys: "esc", show: "esc", does: "back", kept: true, says: "take the cursor out of the list, which then follows by itself", now: nameOfEscape, do: (*Model).escape, tiny: true},
		{in: lists, keys: "q", show: "q", does: "quit", says: "quit", kept: true, off: notAtRoot, do: func(*Model) tea.Cmd { return tea.Quit }, tiny: true},
		{in: inner, keys: "q", show: "q", says: "quit, from a list only", off: notAtRoot, do: func(*Model) tea.Cmd { return tea.Quit }, tiny: true},
		{in: screens | inHelp, keys: "ctrl+c", show: "ctrl+c", says: "quit; in a form or a filter it leaves that first", do: func(*Model) tea.Cmd { return tea.Quit }, tiny: true},
		{in: screens, keys: "?", show: "?", does: "help", says: "the keys of this place", kept: true, do: (*Model).openHelp},
		{in: screens | inForm | inPrompt | inHelp, keys: "ctrl+z", show: "ctrl+z", says: "suspend to the shell", do: func(*Model) tea.Cmd { return tea.Suspend }, tiny: true},
	}
}

// press answers a key. It is the only way from a key to what it does.
func (m *Model) press(msg tea.KeyMsg) tea.Cmd {
	where, name := m.where(), keyName(msg)
	if f := m.form; where == inForm && !f.armed && name != "esc" && name != "ctrl+c" && name != "ctrl+z" {
		return m.out.armAfter(f.stir()) // type-ahead, a held key, a paste meant for the list
	}
	if msg.Paste {
		return m.write(where, msg)
	}
	if b := m.bound(where, name); b != nil {
		return m.run(b, 1)
	}
	if n, one := repeated(msg); n > 1 {
		if b := m.bound(where, one); b != nil && b.held {
			return m.run(b, n)
		}
	}
	return m.write(where, msg)
}

// run does what a key is bound to, unless it is off: then it says why.
func (m *Model) run(b *binding, times int) (cmd tea.Cmd) {
	if views.TooSmall(m.width, m.height) && !b.tiny {
		return nil
	}
	if b.off != nil {
		if why := b.off(m); why != "" {
			m.say(views.Loud, b.show+" does nothing now: "+why)
			m.refused = b
			return nil
		}
	}
	m.announce(views.Notice{})
	for range min(times, 200) {
		cmd = tea.Batch(cmd, b.do(m))
	}
	return cmd
}

// write hands a key or a paste to the text field that has the keys, if there
// is one. A paste that has none falls into nothing.
func (m *Model) write(where place, msg tea.KeyMsg) tea.Cmd {
	if views.TooSmall(m.width, m.height) {
		return nil
	}
	switch where {
	case inForm:
		if msg.Paste {
			return m.out.armAfter(m.form.insert(msg))
		}
		m.form.write(msg)
	case inPrompt:
		m.prompt.text, _ = m.prompt.text.Update(msg)
	default:
	}
	return nil
}

// bound returns what a key is bound to in a place, nil for nothing. In a text
// field left and right move in the text.
func (m *Model) bound(where place, name string) *binding {
	if name == "" {
		return nil
	}
	for i := range m.keys {
		b := &m.keys[i]
		if b.in&where == 0 || !has(b.keys, name) {
			continue
		}
		if where == inForm && b.off != nil && (name == "left" || name == "right") && b.off(m) != "" {
			continue
		}
		return b
	}
	return nil
}

// has reports whether a list of words has one of them.
func has(words, word string) bool {
	for len(words) > 0 {
		w, rest, _ := strings.Cut(words, " ")
		if w == word {
			return true
		}
		words = rest
	}
	return false
}

// keyName names a key as the table does; a paste has no name.
func keyName(msg tea.KeyMsg) string {
	switch {
	case msg.Paste:
		return ""
	case msg.Type == tea.KeySpace, msg.Type == tea.KeyRunes && len(msg.Runes) == 1 && msg.Runes[0] == ' ' && !msg.Alt:
		return "space"
	}
	return msg.String()
}

// repeated takes several runes that came at once for one key that is held.
func repeated(msg tea.KeyMsg) (n int, one string) {
	if msg.Type != tea.KeyRunes || msg.Paste || msg.Alt || len(msg.Runes) < 2 {
		return 0, ""
	}
	for _, r := range msg.Runes {
		if r != msg.Runes[0] {
			return 0, ""
		}
	}
	return len(msg.Runes), string(msg.Runes[0])
}

// footer returns the keys of a place for its last row.
func (m *Model) footer(where place) []views.Key {
	keys := make([]views.Key, 0, 12)
	for i := range m.keys {
		if b := &m.keys[i]; b.in&where != 0 && b.does != "" {
			if does, _ := m.named(b); does != "" {
				keys = append(keys, views.Key{Key: b.show, Does: does, Off: m.why(b), Kept: b.kept})
			}
		}
	}
	return keys
}

// named returns what a key does as things stand.
func (m *Model) named(b *binding) (does, says string) {
	if b.now == nil || m.why(b) != "" {
		return b.does, b.says
	}
	return b.now(m)
}

func (m *Model) why(b *binding) string {
	if b.off == nil {
		return ""
	}
	return b.off(m)
}
