package ui

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"tollgate/views"
)

// Preferences are what an operator has chosen for their screen; nothing that
// is decided depends on them. The zero value is the default of everything.
type Preferences struct {
	Theme   string              `json:"theme,omitempty"`   // one of Themes; empty is auto
	Color   string              `json:"color,omitempty"`   // one of Colors; empty is auto
	ASCII   *bool               `json:"ascii,omitempty"`   // nil: as the locale says
	Landing string              `json:"landing,omitempty"` // one of Landings; empty is auto
	Bell    bool                `json:"bell,omitempty"`    // ring when an item has come
	Mouse   bool                `json:"mouse,omitempty"`   // wheel and click select; they never decide
	Keys    map[string][]string `json:"keys,omitempty"`    // action → its keys, in place of the usual ones; see CheckKeys
	Filters Filters             `json:"filters,omitzero"`
}

// Filters are saved filters by the list that they are for: name → text.
type Filters struct {
	Queue  map[string]string `json:"queue,omitempty"`
	Runs   map[string]string `json:"runs,omitempty"`
	Ledger map[string]string `json:"ledger,omitempty"`
}

// What a preference may say.
var (
	Themes   = []string{"auto", "dark", "light"}
	Colors   = []string{"auto", "always", "never", "16"}
	Landings = []string{"auto", "queue", "runs", "ledger", "dependencies", "fixtures"}
)

// Action is something that keys can be chosen for.
type Action struct {
	Name string   // as Preferences.Keys names it
	Says string   // what it does, as the help says it
	Keys []string // the usual keys, as bubbletea names them
}

// keyed is a binding of the keymap under the name of its action: the one that
// has this key in these places. Bindings without a name keep their keys: those
// of forms and of the filter, so that nothing but Ctrl+S ever decides, and what
// leaves or suspends the console.
type keyed struct {
	name string
	in   place
	key  string
	says string // where the keymap says nothing, since another key stands for both
}

var actions = []keyed{
	{"reconcile", inReview, "r", ""},
	{"approve", inReview, "a", ""},
	{"new-action", inReview, "A", ""},
	{"reject", inReview, "x", ""},
	{"new-run", inReview, "n", ""},
	{"note", inReview, "t", ""},
	{"load", inReview, "u", ""},
	{"claim", inQueue | inReview, "c", ""},
	{"snooze", inQueue | inReview, "z", ""},
	{"undo", inQueue | inReview, "U", ""},

	{"open", inQueue, "enter", "open what the cursor is on: the review of an item, a run, a decision, or what waits on a dependency"},
	{"open", inRuns, "enter", ""},
	{"open", inRun, "enter", ""},
	{"open", inLedger, "enter", ""},
	{"open", inRecord, "enter", ""},
	{"open", inDependencies, "enter", ""},
	{"run", inQueue | inReview, "v", ""},
	{"back", inner, "esc", ""},
	{"back", lists, "esc", ""},
	{"quit", lists, "q", ""},
	{"quit", inner, "q", ""},
	{"help", screens, "?", ""},

	{"down", lists | inRun, "down", "move down, or scroll"},
	{"down", inReview | inRecord | inHelp, "down", ""},
	{"up", screens | inHelp, "up", "move up, or scroll"},
	{"page-down", screens | inHelp, "pgdown", "move down by a screen"},
	{"page-up", screens | inHelp, "pgup", "move up by a screen"},
	{"first", screens | inHelp, "home", "move to the first row that is held"},
	{"last", screens | inHelp, "end", "move to the last row that is held"},
	{"take-in", lists, "R", ""},
	{"filter", sought, "/", ""},
	{"next-list", several, "f", ""},

	{"fold", inRun, "left", "fold a node of the tree"},
	{"unfold", inRun, "right", "unfold a node of the tree"},
	{"pane", inRun, "tab", ""},
	{"next-sibling", inRun, "]", "go to the next node at the same level"},
	{"previous-sibling", inRun, "[", "go to the node before at the same level"},

	{"next-link", inRecord, "tab", ""},
	{"previous-link", inRecord, "shift+tab", ""},

	{"copy-id", screens, "y", ""},
	{"copy-json", screens, "Y", ""},
	{"freeze", screens, "space", ""},
	{"queue", screens, "1", ""},
	{"runs", screens, "2", ""},
	{"ledger", screens, "3", ""},
	{"dependencies", screens, "4", ""},
}

// nameOf returns the name of a binding, empty for one that keeps its keys.
func nameOf(b *binding) string {
	for i := range actions {
		if a := &actions[i]; b.in&a.in != 0 && has(b.keys, a.key) {
			return a.name
		}
	}
	return ""
}

// Actions returns what keys can be chosen for.
func Actions() []Action {
	var all []Action
	table := keymap()
	for i := range actions {
		a := &actions[i]
		if len(all) > 0 && all[len(all)-1].Name == a.name {
			continue
		}
		row := Action{Name: a.name, Says: a.says}
		for j := range table {
			if b := &table[j]; b.in&a.in != 0 && has(b.keys, a.key) {
				row.Keys = strings.Fields(b.keys)
				if row.Says == "" {
					row.Says = b.says
				}
				break
			}
		}
		all = append(all, row)
	}
	return all
}

// KeyError is a choice of keys that cannot be.
type KeyError struct {
	Action      string
	At          int // which of its keys; -1: the action itself
	Found, Want string
}

func (e *KeyError) Error() string {
	return fmt.Sprintf("keys for %s: found %s, expected %s", views.Escape(e.Action), e.Found, e.Want)
}

// CheckKeys returns what is wrong with a choice of keys, as a *KeyError, nil
// for nothing: an action that is none, a key that no terminal sends or that
// belongs to forms, and two actions of one place on one key.
func CheckKeys(keys map[string][]string) error {
	chosen := make([]string, 0, len(keys))
	for name := range keys {
		chosen = append(chosen, name)
	}
	slices.Sort(chosen)
	for _, name := range chosen {
		if !slices.ContainsFunc(actions, func(a keyed) bool { return a.name == name }) {
			return &KeyError{name, -1, fmt.Sprintf("the action %q", name), "one of " + strings.Join(actionNames(), ", ")}
		}
		if len(keys[name]) == 0 {
			return &KeyError{name, -1, "no key", "at least one"}
		}
		for i, key := range keys[name] {
			found := fmt.Sprintf("the key %q", key)
			if want := wantOfKey(key); want != "" {
				return &KeyError{name, i, found, want}
			}
			if slices.Contains(keys[name][:i], key) {
				return &KeyError{name, i, found + " again", "it once"}
			}
		}
	}
	table := keymap()
	keysOf := func(b *binding) []string {
		if own, ok := keys[nameOf(b)]; ok {
			return own
		}
		return strings.Fields(b.keys)
	}
	for _, name := range chosen {
		for i, key := range keys[name] {
			for j := range table {
				for k := range table {
					mine, other := &table[j], &table[k]
					if nameOf(mine) != name || nameOf(other) == name || mine.in&other.in == 0 || !slices.Contains(keysOf(other), key) {
						continue
					}
					taken := nameOf(other)
					if taken == "" {
						taken = other.says
					}
					return &KeyError{name, i, fmt.Sprintf("the key %q, which is for %s in the same place", key, taken), "another key, or another one for that"}
				}
			}
		}
	}
	return nil
}

func actionNames() []string {
	var names []string
	for _, a := range Actions() {
		names = append(names, a.Name)
	}
	return names
}

// keyNames are the keys that are no characters.
var keyNames = strings.Fields("up down left right home end pgup pgdown enter tab shift+tab esc space backspace delete insert f1 f2 f3 f4 f5 f6 f7 f8 f9 f10 f11 f12")

// wantOfKey says what a key has to be, empty for one that may be chosen.
func wantOfKey(key string) string {
	letter, ctrl := strings.CutPrefix(key, "ctrl+")
	switch {
	case key == "ctrl+s":
		return "another: ctrl+s decides, and does nothing else"
	case key == "ctrl+c", key == "ctrl+z":
		return "another: ctrl+c always leaves, ctrl+z suspends"
	case slices.Contains(keyNames, key),
		ctrl && len(letter) == 1 && strings.Contains("abdefghjklnopqrtuvwxy", letter), // ctrl+i is tab, ctrl+m enter
		utf8.RuneCountInString(key) == 1 && key > " " && utf8.ValidString(key) && views.Escape(key) == key && views.Width(key) > 0:
		return ""
	}
	return "a character, ctrl+ with a letter (not i or m), or one of " + strings.Join(keyNames, ", ")
}
