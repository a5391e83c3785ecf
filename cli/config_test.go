package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tollgate/strictyaml"
	"tollgate/ui"
	"tollgate/views"
)

// The example of the page sets every field, and the page lists every action.
func TestConfigPage(t *testing.T) {
	page, err := os.ReadFile("../docs/config.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(page), "```yaml\n")
	example, _, _ = strings.Cut(example, "```")
	got, err := decodePreferences("config.yaml", []byte(example))
	if err != nil {
		t.Fatal(err)
	}
	want := ui.Preferences{
		Theme: "dark", Color: "16", ASCII: new(true), Landing: "runs", Bell: true, Mouse: true,
		Keys: map[string][]string{"freeze": {"F", "f5"}, "copy-id": {"Y"}, "copy-json": {"y"}},
		Filters: ui.Filters{
			Queue:  map[string]string{"payments": "dep:payments* !code:timeout"},
			Runs:   map[string]string{"tonight": "state:exhausted since:8h"},
			Ledger: map[string]string{"people": "manual:yes since:8h"},
		},
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("the example (-got +want):\n%s", diff)
	}
	for _, v := range []reflect.Value{reflect.ValueOf(want), reflect.ValueOf(want.Filters)} {
		for i := range v.NumField() {
			if v.Field(i).IsZero() {
				t.Errorf("the example does not set %s", v.Type().Field(i).Name)
			}
		}
	}
	for _, a := range ui.Actions() {
		if row := fmt.Sprintf("\n| `%s` | %s | ", a.Name, strings.Join(a.Keys, " ")); !strings.Contains(string(page), row) {
			t.Errorf("the page lacks %s", row)
		}
	}
}

// What sets nothing is no error.
func TestConfigThatSetsNothing(t *testing.T) {
	for _, text := range []string{"", "\n", "# nothing yet\n", "---\n", "{}\n"} {
		got, err := decodePreferences("c.yaml", []byte(text))
		if diff := cmp.Diff(got, ui.Preferences{}); diff != "" || err != nil {
			t.Errorf("%q: %v, %s", text, err, diff)
		}
	}
}

// Each line of an error names file, line and column, and what was expected.
func TestConfigErrors(t *testing.T) {
	const choices = "expected one of "
	for _, r := range []struct{ text, want string }{
		{"colour: never\n", `c.yaml:1:1: found the field "colour", ` + choices + "ascii, bell, color, "},
		{"bell: true\ntheme: blue\n", `c.yaml:2:8: theme: found "blue", ` + choices + "auto, dark, light"},
		{"theme: [dark]\n", "c.yaml:1:8: theme: found a list, " + choices},
		{"theme:\n", "theme: found nothing, " + choices},
		{"color: 256\n", `c.yaml:1:8: color: found "256", ` + choices + "auto, always, never, 16"},
		{"color: 0x10\n", `c.yaml:1:8: color: found "0x10", `},
		{"landing: home\n", `c.yaml:1:10: landing: found "home", ` + choices + "auto, queue, runs"},
		{"bell: yes\n", `c.yaml:1:7: bell: found "yes", expected true or false`},
		{"bell: True\n", `c.yaml:1:7: bell: found True, expected true or false`},
		{"ascii: 1\n", `c.yaml:1:8: ascii: found 1, expected true or false`},
		{"bell: true\nmouse: true\nbell: false\n", `c.yaml:3:1: found the key "bell" again, expected it once (the first is on line 1, column 1)`},
		{"keys:\n  freeze: [F]\n  freeze: [G]\n", `c.yaml:3:3: keys: found the key "freeze" again`},
		{"keys:\n  freeze: F\n", `c.yaml:2:11: keys.freeze: found "F", expected a list`},
		{"keys: [F]\n", "c.yaml:1:7: keys: found a list, expected a mapping"},
		{"keys:\n  freeze: [[F]]\n", "c.yaml:2:12: keys.freeze[0]: found a list, expected a text"},
		{"keys:\n  explode: [F]\n", `c.yaml:2:3: keys: found the action "explode", ` + choices},
		{"keys:\n  freeze: []\n", "c.yaml:2:3: keys: found no key, expected at least one"},
		{"keys:\n  freeze: [F,\n    y]\n", `c.yaml:3:5: keys: found the key "y", which is for copy-id in the same place`},
		{"keys:\n  approve: [ctrl+s]\n", `c.yaml:2:13: keys: found the key "ctrl+s", expected another: ctrl+s decides`},
		{"filters:\n  items: {}\n", `c.yaml:2:3: filters: found the field "items", expected one of ledger, queue, runs`},
		{"filters: {queue: {a: [b]}}\n", "c.yaml:1:22: filters.queue.a: found a list, expected a text"},
		{"filters: {queue: {a: \"\"}}\n", "c.yaml:1:22: filters.queue.a: found 0 bytes, expected 1 to 1024"},
		{"filters: {runs: {a: \"run:r1 kind:stopped\"}}\n", `c.yaml:1:21: filters.runs.a: found "kind" at byte 7 of the filter, expected one of the names state, agent`},
		{"filters: {ledger: {a: \"since:soon\"}}\n", `c.yaml:1:23: filters.ledger.a: found "soon" at byte 6 of the filter, expected a span such as`},
		{"filters: {queue: {\"a b\": c}}\n", `c.yaml:1:19: filters.queue."a b": found the name "a b", expected 1 to 64 bytes`},
		{"bell: true\n---\nbell: true\n", "c.yaml:2:1: found a second document, expected the end of the file"},
		{"bell: true\n: :\n\t- [", "c.yaml:"},
		{"- bell\n", "c.yaml:1:1: found a list, expected a mapping"},
		{"dark\n", `c.yaml:1:1: found "dark", expected a mapping`},
		{"theme: &a dark\n", "c.yaml:1:8: theme: found an anchor or alias, " + choices},
		{"theme: !!str dark\n", "c.yaml:1:8: theme: found a tag, " + choices},
		{"a: \xff\n", "c.yaml:1:4: found the byte 0xff, expected UTF-8"},
		{"a: b\x00\n", "c.yaml:1:5: found the control character 0x00, expected text"},
		{strings.Repeat("[", 60_000), "found more than 50000 values"},
		{strings.Repeat("- ", 30_000), "found lists and mappings nested 33 deep"},
		{strings.Repeat("{a: ", 15_000), "found lists and mappings nested 33 deep"},
		{"\"a\\e[2J\\u202e\\n\": 1\n", `c.yaml:1:1: found the field "a\x1b[2J\u202e\n", `},
	} {
		_, err := decodePreferences("c.yaml", []byte(r.text))
		var at *strictyaml.Error
		if !errors.As(err, &at) || !strings.Contains(err.Error(), r.want) || strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("%.40q: %v\nwant %s", r.text, err, r.want)
		}
	}
}

// Whatever the file holds, it is read or refused in one line.
func FuzzConfig(f *testing.F) {
	for _, text := range []string{"theme: dark\n", "keys: {freeze: [F, f5]}\n", "filters:\n  queue: {a: 'b c'}\n", "a: |\n  b\n", "? a\n: b\n", "*a", "<<: *a\n", "%YAML 1.2\n---\n", "\"a\u3164\": 1\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := decodePreferences("c.yaml", data)
		if err != nil && (strings.Contains(err.Error(), "\n") || views.Escape(err.Error()) != err.Error()) {
			t.Errorf("error = %q, want one line", err)
		}
	})
}

// What is no file of preferences: one line, exit code 2.
func TestConfigFiles(t *testing.T) {
	away(t)
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("good.yaml", "theme: light\nkeys: {freeze: [F, f5]}\nfilters: {queue: {mine: \"claim:dana\"}}\n")
	write("empty.yaml", "")
	write("bad.yaml", "theme: blue\n")
	write("large.yaml", "#"+strings.Repeat("x", maxConfig))
	write("full.yaml", "#"+strings.Repeat("x", maxConfig-1))
	write("closed.yaml", "theme: dark\n")
	if err := syscall.Mkfifo("pipe.yaml", 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod("closed.yaml", 0); err != nil {
		t.Fatal(err)
	}
	for _, r := range []struct {
		args      []string
		code      int
		out, errs string
	}{
		{[]string{"good.yaml"}, 0, "good.yaml: ok\ntheme\tlight\nkeys.freeze\tF f5\nfilters.queue.mine\tclaim:dana\n", ""},
		{[]string{"good.yaml", "--json"}, 0, `{"file":"good.yaml","set":{"theme":"light","keys":{"freeze":["F","f5"]},"filters":{"queue":{"mine":"claim:dana"}}}}` + "\n", ""},
		{[]string{"empty.yaml"}, 0, "empty.yaml: ok: nothing is set\n", ""},
		{[]string{"full.yaml"}, 0, "full.yaml: ok: nothing is set\n", ""},
		{[]string{"bad.yaml"}, exitUsage, "", `tollgate: bad.yaml:1:8: theme: found "blue", expected one of auto, dark, light` + "\n"},
		{[]string{"large.yaml"}, exitUsage, "", `tollgate: "large.yaml" has more than 65536 bytes`},
		{[]string{"pipe.yaml"}, exitUsage, "", `tollgate: "pipe.yaml" is a pipe, want a regular file`},
		{[]string{"."}, exitUsage, "", `tollgate: "." is a directory, want a regular file`},
		{[]string{"/dev/null"}, exitUsage, "", `tollgate: "/dev/null" is a device, want a regular file`},
		{[]string{"absent.yaml"}, exitUsage, "", `tollgate: no file at "absent.yaml"`},
		{[]string{"good.yaml", "more"}, exitUsage, "", `tollgate: unexpected argument "more"`},
		{[]string{"closed.yaml"}, exitUsage, "", `tollgate: "closed.yaml" cannot be read: permission denied`},
	} {
		if r.args[0] == "closed.yaml" && os.Getuid() == 0 {
			continue // root may read everything
		}
		code, out, errs := tried(t, append([]string{"config", "check"}, r.args...)...)
		if code != r.code || out != r.out || !strings.HasPrefix(errs, r.errs) || (r.errs == "") != (errs == "") {
			t.Errorf("%q: exit code %d\n%s%s\nwant %d\n%s%s", r.args, code, out, errs, r.code, r.out, r.errs)
		}
	}
}

// The default file need not be there; one that is there has to be right.
func TestConfigByDefault(t *testing.T) {
	away(t)
	file := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "tollgate", "config.yaml")
	if code, out, errs := tried(t, "config", "check"); code != 0 || !strings.HasPrefix(out, file+": ok: there is no such file") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	if got, err := preferences(); err != nil || !cmp.Equal(got, ui.Preferences{}) {
		t.Errorf("preferences %+v, %v", got, err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", file); err != nil {
		t.Fatal(err)
	}
	if _, err := preferences(); err == nil {
		t.Error("a link to nowhere is no error")
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("theme: dark\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := preferences(); err != nil || got.Theme != "dark" {
		t.Errorf("preferences %+v, %v", got, err)
	}
	if code, out, _ := tried(t, "config", "check"); code != 0 || out != file+": ok\ntheme\tdark\n" {
		t.Errorf("exit code %d: %s", code, out)
	}
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("HOME", "")
	if got, err := preferences(); err != nil || !cmp.Equal(got, ui.Preferences{}) {
		t.Errorf("without a home: %+v, %v", got, err)
	}
}

// What is preferred, by what the terminal can show. The environment wins.
func TestConfigLook(t *testing.T) {
	for _, r := range []struct {
		name  string
		set   ui.Preferences
		env   map[string]string
		want  views.Palette
		ascii bool
	}{
		{"nothing", ui.Preferences{}, nil, views.Dark, false},
		{"auto", ui.Preferences{Theme: "auto", Color: "auto"}, nil, views.Dark, false},
		{"light", ui.Preferences{Theme: "light"}, nil, views.Light, false},
		{"dark on a light terminal", ui.Preferences{Theme: "dark"}, map[string]string{"COLORFGBG": "0;15"}, views.Dark, false},
		{"never", ui.Preferences{Color: "never"}, nil, views.Mono, false},
		{"16", ui.Preferences{Color: "16"}, map[string]string{"COLORTERM": "truecolor"}, views.Sixteen, false},
		{"always", ui.Preferences{Color: "always"}, map[string]string{"TERM": "linux"}, views.Dark, false},
		{"NO_COLOR wins", ui.Preferences{Color: "always", Theme: "light"}, map[string]string{"NO_COLOR": "1"}, views.Mono, false},
		{"NO_COLOR wins over 16", ui.Preferences{Color: "16"}, map[string]string{"NO_COLOR": "1"}, views.Mono, false},
		{"dumb wins", ui.Preferences{Color: "16", ASCII: new(false)}, map[string]string{"TERM": "dumb"}, views.Plain, true},
		{"ascii", ui.Preferences{ASCII: new(true)}, nil, views.Dark, true},
		{"not ascii", ui.Preferences{ASCII: new(false)}, map[string]string{"LANG": "C"}, views.Dark, false},
	} {
		base := map[string]string{"TERM": "xterm-256color", "LANG": "en_US.UTF-8", "COLORFGBG": "15;0"}
		got, ascii := ui.Palette(preferred(&r.set, func(name string) string {
			if v, ok := r.env[name]; ok {
				return v
			}
			return base[name]
		}))
		if got != r.want || ascii != r.ascii {
			t.Errorf("%s: palette %d, ascii %v; want %d, %v", r.name, got, ascii, r.want, r.ascii)
		}
	}
}

// A console does not start on preferences that are wrong, and says where.
func TestConfigOfAConsole(t *testing.T) {
	away(t)
	if err := os.Mkdir("tollgate", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("tollgate/config.yaml", []byte("theme: blue\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := show(t.Context(), ui.Options{})
	if code, _ := exitOf(err); code != exitUsage || !strings.Contains(fmt.Sprint(err), "config.yaml:1:8: theme: found") {
		t.Errorf("exit code %d: %v", code, err)
	}
}
