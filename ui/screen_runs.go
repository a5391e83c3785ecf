package ui

import (
	"fmt"

	"tollgate/gate"
	"tollgate/views"
)

// runsScreen is the list of runs.
type runsScreen struct {
	list  window[gate.RunID, gate.RunRow]
	state gate.RunState // zero: any
	by    gate.Filter
	gen   int // number of the list: another filter is another list
}

func newRunsScreen() runsScreen {
	return runsScreen{list: newWindow(func(r *gate.RunRow) gate.RunID { return r.Run })}
}

func (s *runsScreen) wants(w *want) {
	w.runs = &gate.RunsQuery{Window: s.list.query(), State: s.state, Filter: s.by}
	w.runsGen = s.gen
	for _, r := range s.list.visible() {
		w.shownRuns = append(w.shownRuns, r.Run)
	}
}

// filter makes it another list.
func (s *runsScreen) filter(state gate.RunState, by gate.Filter) {
	s.state, s.by = state, by
	s.gen++
	s.list.reset()
	s.list.pick = true
}

func (m *Model) viewRuns(p views.Page) string {
	s := &m.runs
	v := views.RunsView{Rows: s.list.visible(), Selected: s.list.cur.id}
	switch {
	case !s.list.loaded:
		v.Empty = "Reading."
	case !s.by.IsZero() || s.state != 0:
		v.Empty = "No run matches."
	}
	p.Notice = m.listNotice(p.Notice, listNews{
		news: s.list.news, moved: s.list.moved, left: len(s.list.left), lost: string(s.list.cur.lost), how: s.list.cur.how,
	})
	if p.Notice.Side == "" {
		p.Notice.Side = s.side()
	}
	return views.Runs(p, v)
}

// side says which part of which list is seen.
func (s *runsScreen) side() string {
	said := ""
	if s.state != 0 {
		said = s.state.String() + " "
	}
	if !s.by.IsZero() {
		said += "/" + s.by.String() + " "
	}
	if said == "" && s.list.total > int64(s.list.height) {
		said = fmt.Sprintf("%d in all", s.list.total)
	}
	return said
}

func noRun(m *Model) string {
	switch {
	case m.runs.list.cur.id != "":
		return ""
	case len(m.runs.list.rows) == 0:
		return "the list is empty"
	}
	return "nothing is selected; move to a row"
}
