package ui

import (
	tea "github.com/charmbracelet/bubbletea"

	"tollgate/gate"
	"tollgate/views"
)

// dependenciesScreen is what is known of each dependency, and what waits on
// the selected one.
type dependenciesScreen struct {
	list      window[dependencyName, gate.DependencyRow]
	waitingOn dependencyName // whose items are held
	waiting   []gate.ItemRow
}

// dependencyName is the id of a dependency's row.
type dependencyName string

func newDependenciesScreen() dependenciesScreen {
	return dependenciesScreen{list: newWindow(func(r *gate.DependencyRow) dependencyName { return dependencyName(r.Name) })}
}

func (s *dependenciesScreen) wants(w *want) {
	w.dependencies = &dependenciesWant{window: s.list.query(), on: s.list.cur.id}
}

// take brings in one answer.
func (s *dependenciesScreen) take(got *dependenciesRead) {
	s.list.take(got.page)
	s.waitingOn, s.waiting = got.on, got.waiting
}

// view returns what the screen shows. What waits on another dependency than
// the selected one is not shown.
func (s *dependenciesScreen) view(me string) views.DependenciesView {
	v := views.DependenciesView{Selected: string(s.list.cur.id), Me: me}
	if s.list.cur.id == s.waitingOn {
		v.Waiting = s.waiting
	}
	for i := range s.list.rows {
		v.Failures += s.list.rows[i].Failures
	}
	rows := s.list.visible()
	v.Rows = make([]views.Dependency, len(rows))
	for i := range rows {
		v.Rows[i].DependencyRow = rows[i]
	}
	if !s.list.loaded {
		v.Empty = "Reading."
	}
	return v
}

// resize tells the list how many rows are seen above what waits.
func (s *dependenciesScreen) resize(p views.Page) {
	v := views.DependenciesView{}
	if s.list.cur.id == s.waitingOn {
		v.Waiting = s.waiting
	}
	s.list.resize(views.DependenciesRows(p, v))
}

func (m *Model) viewDependencies(p views.Page) string {
	l := &m.dependencies.list
	p.Notice = m.listNotice(p.Notice, listNews{
		news: l.news, moved: l.moved, left: len(l.left), lost: string(l.cur.lost), how: l.cur.how,
	})
	return views.Dependencies(p, m.dependencies.view(m.Who.ID))
}

func noDependency(m *Model) string {
	switch l := &m.dependencies.list; {
	case l.cur.id != "":
		return ""
	case len(l.rows) == 0:
		return "the list is empty"
	}
	return "nothing is selected; move to a row"
}

// openWaiting opens the queue with what waits on the selected dependency.
func (m *Model) openWaiting() tea.Cmd {
	name := string(m.dependencies.list.cur.id)
	m.queue.filter(0, gate.FilterBy(gate.FilterQueue, [2]string{"dep", name}))
	m.enter(crumb{place: inQueue})
	return nil
}
