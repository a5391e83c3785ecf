package ui

import (
	"strconv"

	"tollgate/gate"
	"tollgate/views"
)

// View implements tea.Model. It changes nothing.
func (m *Model) View() string {
	p := m.page()
	switch where := m.where(); where {
	case inHelp:
		return views.Help(p, m.helpView())
	case inForm:
		return m.viewForm(p)
	default:
	}
	switch c := m.here(); c.place {
	case inRuns:
		return m.viewRuns(p)
	case inLedger:
		return m.viewLedger(p)
	case inDependencies:
		return m.viewDependencies(p)
	case inRecord:
		return m.viewRecord(p, c.record)
	case inRun:
		return m.viewRun(p, c.run)
	case inReview:
		return m.viewReview(p, c.review)
	default:
		return m.viewQueue(p)
	}
}

// page returns what every screen has in common.
func (m *Model) page() views.Page {
	where := m.where()
	p := views.Page{
		Width: m.width, Height: m.height, Theme: m.Theme, Now: m.now,
		Header: m.header(), Notice: m.news(where), Keys: m.footer(where),
	}
	return p
}

func (m *Model) header() views.Header {
	h := views.Header{
		Attached: m.Attached, Place: m.Place,
		Operator: m.Who.Name, Source: m.Who.ID, ReadOnly: m.ReadOnly,
		Paused: m.feed.frozen, Lost: m.feed.away(m.now) != "", AsOf: m.feed.asOf,
		Counts: m.counts, Current: -1,
	}
	if h.Operator == "" {
		h.Operator, h.Source = m.Who.ID, m.Who.Source
	}
	h.Tabs = []views.Tab{
		{Key: "1", Name: "queue", Note: count(m.counts.Open())},
		{Key: "2", Name: "runs", Note: count(m.counts.Runs)},
		{Key: "3", Name: "ledger"},
		{Key: "4", Name: "dependencies"},
	}
	switch m.path[0].place {
	case inQueue:
		h.Current = 0
	case inRuns:
		h.Current = 1
	case inLedger:
		h.Current = 2
	case inDependencies:
		h.Current = 3
	default:
	}
	return h
}

// news returns the line above the keys: a lost store before everything, then
// what is being typed, then the newest answer to a key.
func (m *Model) news(where place) views.Notice {
	switch away := m.feed.away(m.now); {
	case where == inPrompt:
		return m.promptNotice()
	case m.notice.Text != "" && (m.refused == nil || m.why(m.refused) != ""):
		return m.notice
	case away != "":
		return views.Notice{Text: away + m.Theme.Dot() + "verbs off, reconnecting", Tone: views.Loud}
	}
	return views.Notice{}
}

func (m *Model) viewForm(p views.Page) string {
	f, r := m.form, m.here().review
	title := views.VerbName(f.verb.do, f.verb.asNew)
	if f.verb.asNew {
		title = "approve " + title
	}
	v := views.FormView{
		Title: title + " " + string(f.op), Kind: r.item.Kind,
		What: f.what(r, m.Who.ID), Armed: f.armed, Sending: f.sending, Refused: f.said,
		Fields: make([]views.Field, len(f.fields)),
	}
	if f.verb.do == gate.ActApprove {
		p := views.PreviewOf(f.shown, f.verb.do, f.verb.asNew, f.preview())
		v.Preview, v.AsOf = &p, r.asOf
	}
	for i := range f.fields {
		fd := &f.fields[i]
		v.Fields[i] = views.Field{
			Label: fd.label, Hint: f.hintOf(fd), Options: fd.choices, Chosen: fd.choice, Focused: i == f.at,
			Value: fd.text.Value(), Cursor: fd.text.Position(), Rows: fd.rows(),
		}
		if typing := v.Fields[i].Value != ""; typing || i < f.at {
			v.Fields[i].Problem = f.lacks(fd)
		}
		if v.Fields[i].Problem == "" {
			v.Fields[i].Problem = f.warns(fd)
		}
	}
	if why := m.noSend(); v.Refused == "" && p.Notice.Text == "" && why != "" && !f.sending {
		v.Refused = "ctrl+s is off: " + why
	}
	return views.Form(p, v)
}

// count prints a number for a tab, nothing for none.
func count(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}
