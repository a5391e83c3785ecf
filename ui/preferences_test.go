package ui

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// Every key of a screen or of the help has a name, so that it can be chosen;
// but for those that must stay: what leaves, and what closes the help.
func TestEveryKeyHasAName(t *testing.T) {
	table := keymap()
	for i := range table {
		b := &table[i]
		kept := b.in == inHelp || b.in&(inForm|inPrompt) != 0 || b.keys == "ctrl+c"
		if name := nameOf(b); (name == "") != kept {
			t.Errorf("%q (%s) has the name %q in the table of actions, keeps its keys: %v", b.keys, b.says, name, kept)
		}
	}
	for _, a := range actions {
		if !slices.ContainsFunc(table, func(b binding) bool { return b.in == a.in && has(b.keys, a.key) }) {
			t.Errorf("the action %s names a key that is none: %s", a.name, a.key)
		}
	}
	seen := map[string]bool{}
	for _, a := range Actions() {
		if a.Says == "" || len(a.Keys) == 0 || seen[a.Name] {
			t.Errorf("action %+v says nothing, has no key, or comes twice", a)
		}
		seen[a.Name] = true
	}
}

// Choices of keys that can be, and those that can't.
func TestCheckKeys(t *testing.T) {
	usual := map[string][]string{}
	for _, a := range Actions() {
		usual[a.Name] = a.Keys
	}
	if err := CheckKeys(usual); err != nil {
		t.Errorf("the usual keys: %v", err)
	}
	for _, r := range []struct {
		name string
		keys map[string][]string
		at   int // 0: nothing is wrong, else one more than the index, -1 for the action
		want string
	}{
		{"none", nil, 0, ""},
		{"another key", map[string][]string{"freeze": {"F", "f5"}}, 0, ""},
		{"a letter that another place has", map[string][]string{"freeze": {"space"}, "fold": {"R"}}, 0, ""},
		{"two change places", map[string][]string{"copy-id": {"Y"}, "copy-json": {"y"}}, 0, ""},
		{"one that another has given up", map[string][]string{"copy-id": {"c"}, "claim": {"C"}}, 0, ""},
		{"not ASCII", map[string][]string{"freeze": {"ö"}}, 0, ""},
		{"no action", map[string][]string{"explode": {"e"}}, -1, `the action "explode", expected one of reconcile, approve, `},
		{"decide is none", map[string][]string{"decide": {"e"}}, -1, `the action "decide"`},
		{"no key", map[string][]string{"freeze": {}}, -1, "no key, expected at least one"},
		{"twice", map[string][]string{"freeze": {"F", "F"}}, 2, `the key "F" again`},
		{"what another has", map[string][]string{"freeze": {"F", "y"}}, 2, `"y", which is for copy-id in the same place`},
		{"what another has chosen", map[string][]string{"freeze": {"F"}, "help": {"F"}}, 1, `"F", which is for help in the same place`},
		{"what another has in one place of two", map[string][]string{"copy-id": {"r"}}, 1, "reconcile in the same place"},
		{"what closes the help", map[string][]string{"down": {"q"}}, 1, "in the same place"},
		{"ctrl+s", map[string][]string{"approve": {"ctrl+s"}}, 1, "ctrl+s decides"},
		{"ctrl+c", map[string][]string{"freeze": {"ctrl+c"}}, 1, "ctrl+c always leaves"},
		{"ctrl+i", map[string][]string{"freeze": {"ctrl+i"}}, 1, "a character"},
		{"a word", map[string][]string{"freeze": {"hyper"}}, 1, "a character"},
		{"nothing", map[string][]string{"freeze": {""}}, 1, "a character"},
		{"a blank", map[string][]string{"freeze": {" "}}, 1, "a character"},
		{"what cannot be seen", map[string][]string{"freeze": {"\u200b"}}, 1, "a character"},
		{"no UTF-8", map[string][]string{"freeze": {"\xff"}}, 1, "a character"},
	} {
		err := CheckKeys(r.keys)
		var got *KeyError
		errors.As(err, &got)
		if r.at == 0 {
			if err != nil {
				t.Errorf("%s: %v", r.name, err)
			}
			continue
		}
		want := r.at - 1
		if r.at < 0 {
			want = -1
		}
		if got == nil || got.At != want || !strings.Contains(got.Error(), r.want) {
			t.Errorf("%s: %v, want %q at %d", r.name, err, r.want, want)
		}
	}
}
