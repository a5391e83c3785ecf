package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"tollgate/gate"
	"tollgate/strictyaml"
	"tollgate/ui"
	"tollgate/views"
)

// filterLists are the lists that filters can be saved for.
var filterLists = []struct {
	name string
	list gate.FilterList
	of   func(*ui.Filters) *map[string]string
}{
	{"queue", gate.FilterQueue, func(f *ui.Filters) *map[string]string { return &f.Queue }},
	{"runs", gate.FilterRuns, func(f *ui.Filters) *map[string]string { return &f.Runs }},
	{"ledger", gate.FilterLedger, func(f *ui.Filters) *map[string]string { return &f.Ledger }},
}

// maxKey bounds the name of a key, in bytes.
const maxKey = 32

// decodePreferences reads preferences. file is its name, for messages. An
// empty file, and one of comments alone, sets nothing.
//
// The error is a *strictyaml.Error: one line with line and column.
func decodePreferences(file string, data []byte) (p ui.Preferences, err error) {
	d := strictyaml.Parse(file, data)
	if d.Empty() {
		return p, nil
	}
	where := map[string][]strictyaml.Value{} // of the keys of each action; first the action itself
	word := func(into *string, words []string) func(strictyaml.Value) {
		return func(v strictyaml.Value) { *into = choice(v, words) }
	}
	d.Root().Object(strictyaml.Fields{
		"theme":   word(&p.Theme, ui.Themes),
		"color":   word(&p.Color, ui.Colors),
		"landing": word(&p.Landing, ui.Landings),
		"ascii":   func(v strictyaml.Value) { p.ASCII = new(v.Flag()) },
		"bell":    func(v strictyaml.Value) { p.Bell = v.Flag() },
		"mouse":   func(v strictyaml.Value) { p.Mouse = v.Flag() },
		"keys": func(v strictyaml.Value) {
			p.Keys = map[string][]string{}
			v.Named(func(action string, key, v strictyaml.Value) {
				where[action], p.Keys[action] = []strictyaml.Value{key}, []string{}
				v.List(func(_ int, v strictyaml.Value) {
					where[action] = append(where[action], v)
					p.Keys[action] = append(p.Keys[action], oneLine(v, maxKey))
				})
			})
		},
		"filters": func(v strictyaml.Value) { v.Object(filters(&p.Filters)) },
	})
	var wrong *ui.KeyError
	if !d.Failed() && errors.As(ui.CheckKeys(p.Keys), &wrong) {
		where[wrong.Action][wrong.At+1].At("keys").Refuse(wrong.Found, wrong.Want)
	}
	var refused *strictyaml.Error
	if errors.As(d.Err(), &refused) {
		refused.Path, refused.Found = views.Escape(refused.Path), views.Escape(refused.Found)
		return ui.Preferences{}, refused
	}
	return p, nil
}

// filters reads the saved filters of each list.
func filters(f *ui.Filters) strictyaml.Fields {
	lists := strictyaml.Fields{}
	for _, l := range filterLists {
		lists[l.name] = func(v strictyaml.Value) {
			saved := map[string]string{}
			v.Named(func(name string, key, v strictyaml.Value) {
				if name == "" || len(name) > 64 || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' }) || views.Escape(name) != name {
					key.Refuse("the name "+strictyaml.Quote(name), "1 to 64 bytes without blanks")
				}
				saved[name] = savedFilter(v, l.list)
			})
			*l.of(f) = saved
		}
	}
	return lists
}

// savedFilter reads the text of a filter.
func savedFilter(v strictyaml.Value, list gate.FilterList) string {
	text := oneLine(v, gate.MaxFilter)
	var wrong *gate.FilterError
	if _, err := gate.ParseFilter(list, text); errors.As(err, &wrong) {
		v.Refuse(fmt.Sprintf("%s at byte %d of the filter", wrong.Got, wrong.At), wrong.Want)
	}
	return text
}

// choice reads one of some words, of which one looks like a number.
func choice(v strictyaml.Value, words []string) string {
	s, ok := v.Line()
	switch {
	case !ok:
		v.Fail("one of " + strings.Join(words, ", "))
	case !slices.Contains(words, s):
		v.Refuse(strictyaml.Quote(s), "one of "+strings.Join(words, ", "))
	}
	return s
}

// oneLine reads a text of 1 to most bytes. A key that is a digit needs no quotes.
func oneLine(v strictyaml.Value, most int) string {
	s, ok := v.Line()
	switch {
	case !ok:
		v.Fail("a text (in quotes if it looks like something else)")
	case s == "" || len(s) > most:
		v.Refuse(fmt.Sprintf("%d bytes", len(s)), fmt.Sprintf("1 to %d", most))
	}
	return s
}
