package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"tollgate/ui"
	"tollgate/views"
)

func (a *app) configCommand() *cobra.Command {
	return family("config", "Check your screen preferences", groupProgram, a.configCheckCommand())
}

// configRow sums up a file of preferences.
type configRow struct {
	File    string         `json:"file"`
	Missing bool           `json:"missing,omitempty"` // the default one, which need not be there
	Set     ui.Preferences `json:"set"`
}

func (a *app) configCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check [FILE]",
		Short: "Check your screen preferences and print what is set; an error names line and column",
		Long: `Check a file of screen preferences and print what is set. Without FILE:
$XDG_CONFIG_HOME/tollgate/config.yaml, else below ~/.config. What the gate decides by is
the contract file, which policy check checks.`,
		Args: func(cmd *cobra.Command, args []string) error {
			return takes("FILE")(cmd, append(args, "FILE")[:max(1, len(args))])
		},
		RunE: func(_ *cobra.Command, args []string) error {
			var row configRow
			var err error
			if len(args) == 1 {
				row.File = args[0]
				row.Set, err = readPreferences(row.File)
			} else if row.File, err = configFile(); err == nil {
				row.Set, row.Missing, err = preferencesIfAny(row.File)
			}
			if err != nil {
				return err
			}
			if a.json {
				return a.object(row)
			}
			return a.printConfig(&row)
		},
	}
}

func (a *app) printConfig(row *configRow) error {
	f := preferenceFields(&row.Set)
	says := "ok"
	switch {
	case row.Missing:
		says = "ok: there is no such file, so everything is as it is by default"
	case len(*f) == 0:
		says = "ok: nothing is set"
	}
	if err := a.say("%s: %s", row.File, says); err != nil {
		return err
	}
	return a.printFields(f)
}

func preferenceFields(p *ui.Preferences) *fields {
	f := new(fields)
	f.add("theme", p.Theme)
	f.add("color", p.Color)
	if p.ASCII != nil {
		f.add("ascii", strconv.FormatBool(*p.ASCII))
	}
	f.add("landing", p.Landing)
	f.add("bell", yes(p.Bell, "true"))
	f.add("mouse", yes(p.Mouse, "true"))
	for _, action := range slices.Sorted(maps.Keys(p.Keys)) {
		f.add("keys."+action, strings.Join(p.Keys[action], " "))
	}
	for _, l := range filterLists {
		saved := *l.of(&p.Filters)
		for _, name := range slices.Sorted(maps.Keys(saved)) {
			f.add("filters."+l.name+"."+name, saved[name])
		}
	}
	return f
}

// configFile returns the file of the operator's screen preferences.
func configFile() (string, error) {
	config, err := home("XDG_CONFIG_HOME", ".config")
	if err != nil {
		return "", &fault{code: exitUsage, err: err, hint: "name the file: tollgate config check FILE"}
	}
	return filepath.Join(config, "tollgate", "config.yaml"), nil
}

// preferences returns those of the operator's file. Without it, or without a
// home where it could be, everything is as it is by default.
func preferences() (ui.Preferences, error) {
	file, err := configFile()
	if err != nil {
		return ui.Preferences{}, nil //nolint:nilerr // without a home there is no default file, which is no error
	}
	p, _, err := preferencesIfAny(file)
	return p, err
}

func preferencesIfAny(file string) (p ui.Preferences, missing bool, err error) {
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		return ui.Preferences{}, true, nil
	}
	p, err = readPreferences(file)
	return p, false, err
}

// maxConfig bounds a file of preferences.
const maxConfig = 64 << 10

// readPreferences reads a file of preferences. What is no file of that kind is
// bad input.
func readPreferences(file string) (ui.Preferences, error) {
	refuse := func(err error) (ui.Preferences, error) {
		return ui.Preferences{}, &fault{code: exitUsage, err: err, hint: "tollgate config check checks your screen preferences"}
	}
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe without a writer must not hold it up
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return refuse(fmt.Errorf("no file at %q", file))
	case err != nil:
		return refuse(fmt.Errorf("%q cannot be read: %w", file, reason(err)))
	}
	defer f.Close() //nolint:errcheck // it was only read
	switch info, err := f.Stat(); {
	case err != nil:
		return refuse(fmt.Errorf("%q cannot be read: %w", file, reason(err)))
	case !info.Mode().IsRegular():
		return refuse(fmt.Errorf("%q is %s, want a regular file", file, kindOfFile(info.Mode())))
	}
	data, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	switch {
	case err != nil:
		return refuse(fmt.Errorf("%q cannot be read: %w", file, reason(err)))
	case len(data) > maxConfig:
		return refuse(fmt.Errorf("%q has more than %d bytes, want at most so many of preferences", file, maxConfig))
	}
	return decodePreferences(file, data)
}

// reason returns what the operating system says, without the path.
func reason(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

func kindOfFile(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a directory"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "no file that can be read as a whole"
}

// look returns the theme of the console: what the terminal can show, by its
// environment, as the preferences have it.
func look(p *ui.Preferences, getenv func(string) string) *views.Theme {
	return views.NewTheme(ui.Palette(preferred(p, getenv)))
}

// preferred returns an environment that says what the preferences say where
// they say something. NO_COLOR wins over them, and so does a terminal that
// shows no sequences at all.
func preferred(p *ui.Preferences, getenv func(string) string) func(string) string {
	return func(name string) string {
		is := getenv(name)
		switch {
		case name == "NO_COLOR" && p.Color == "never":
			return "1"
		case name == "TERM" && p.Color == "16" && is != "" && is != "dumb":
			return "ansi"
		case name == "COLORTERM" && p.Color == "16":
			return ""
		case name == "COLORTERM" && p.Color == "always":
			return "truecolor"
		case name == "COLORFGBG" && p.Theme == "dark":
			return "15;0"
		case name == "COLORFGBG" && p.Theme == "light":
			return "0;15"
		case name == "LC_ALL" && p.ASCII != nil && *p.ASCII:
			return "C"
		case name == "LC_ALL" && p.ASCII != nil:
			return "C.UTF-8"
		}
		return is
	}
}
