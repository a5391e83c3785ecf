package ui

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	tea "github.com/charmbracelet/bubbletea"

	"tollgate/views"
)

// asConsole makes the test binary the console of a small world, on its own
// terminal; the value says what goes wrong in it.
const asConsole = "TOLLGATE_TEST_CONSOLE"

func TestMain(m *testing.M) {
	if wrong := os.Getenv(asConsole); wrong != "" {
		os.Exit(console(wrong))
	}
	os.Exit(m.Run())
}

// brokenSource is a source that panics when it is told to.
type brokenSource struct {
	*reader
	wrong string
}

func (b brokenSource) Watch(ctx context.Context) <-chan uint64 {
	if b.wrong == "command" {
		panic("\x1b[31mcommand")
	}
	return b.Store.Watch(ctx)
}

func console(wrong string) int {
	t := &childT{}
	w := newWorld(t)
	w.run("run-1", 8, 4, 10*time.Minute)
	w.lost("run-1", "charge-1")
	theme := views.NewTheme(views.Dark, false)
	if wrong == "view" {
		theme = nil
	}
	err := Run(t.Context(), Options{
		Source: brokenSource{&reader{Store: w.store, desk: w.desk}, wrong}, Desk: w.desk, Who: dana,
		Clock: w.clock.Wall, Theme: theme, Place: "/var/lib/tollgate",
	}, os.Stdin, os.Stdout)
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	return 0
}

// childT is a testing.TB for a process that is no test.
type childT struct{ testing.TB }

func (*childT) Helper()                   {}
func (*childT) Context() context.Context  { return context.Background() }
func (*childT) Fatal(args ...any)         { panic(fmt.Sprint(args...)) }
func (*childT) Fatalf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }

// pty is a terminal with a console on it.
type pty struct {
	t      *testing.T
	master *os.File
	slave  *os.File
	cmd    *exec.Cmd
	before unix.Termios

	mu   sync.Mutex
	cond *sync.Cond
	out  bytes.Buffer
	end  bool
}

func openPTY(t *testing.T) (master, slave *os.File) {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	master = os.NewFile(uintptr(fd), "/dev/ptmx") //nolint:gosec // a file descriptor
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}); err != nil {
		t.Fatal(err)
	}
	return master, slave
}

// startConsole starts a console on a terminal of its own; under a shell with
// job control, when there is a script for it.
func startConsole(t *testing.T, wrong, script string) *pty {
	t.Helper()
	p := &pty{t: t}
	p.cond = sync.NewCond(&p.mu)
	p.master, p.slave = openPTY(t)
	before, err := unix.IoctlGetTermios(int(p.slave.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	p.before = *before
	p.cmd = exec.Command(os.Args[0], "-test.run=^$")
	if script != "" {
		p.cmd = exec.Command("sh", "-mc", script, os.Args[0])
	}
	p.cmd.Env = append(os.Environ(), asConsole+"="+wrong, "TERM=tmux-256color") // of which bubbletea asks nothing
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = p.slave, p.slave, p.slave
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		_ = p.slave.Close()
		_ = p.master.Close()
	})
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := p.master.Read(buf)
			p.mu.Lock()
			p.out.Write(buf[:n])
			p.end = p.end || err != nil
			p.cond.Broadcast()
			p.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return p
}

// until waits until the terminal has been written what is looked for.
func (p *pty) until(text string) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for !strings.Contains(p.out.String(), text) {
		if p.end {
			p.t.Fatalf("the console ended without %q:\n%q", text, p.out.String())
		}
		p.cond.Wait()
	}
}

func (p *pty) written() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

func (p *pty) write(text string) {
	p.t.Helper()
	if _, err := io.WriteString(p.master, text); err != nil {
		p.t.Fatal(err)
	}
}

// restored waits for the console's end, and fails unless the terminal is as it
// was: its modes, its own screen, the cursor, and no paste marks.
func (p *pty) restored(code int) {
	p.t.Helper()
	err := p.cmd.Wait()
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		p.t.Errorf("exit code %d (%v), want %d:\n%q", got, err, code, p.written())
	}
	after, err := unix.IoctlGetTermios(int(p.slave.Fd()), unix.TCGETS)
	if err != nil {
		p.t.Fatal(err)
	}
	if *after != p.before {
		p.t.Errorf("the terminal's modes are %+v, before they were %+v", *after, p.before)
	}
	// What the console wrote last may still be on its way.
	p.until("\x1b[?1049l")
	out := p.written()
	for on, off := range map[string]string{"\x1b[?1049h": "\x1b[?1049l", "\x1b[?25l": "\x1b[?25h", "\x1b[?2004h": "\x1b[?2004l"} {
		if !strings.Contains(out, on) {
			p.t.Errorf("%q was never written, so its end shows nothing", on)
		}
		if strings.LastIndex(out, off) < strings.LastIndex(out, on) {
			p.t.Errorf("%q stands after the last %q", on, off)
		}
	}
	for _, mouse := range []string{"\x1b[?1000h", "\x1b[?1002h", "\x1b[?1003h", "\x1b[?1006h"} {
		if strings.Contains(out, mouse) {
			p.t.Errorf("the mouse was taken with %q", mouse)
		}
	}
}

// Rule 12: the terminal is put back, however the console ends.
func TestRule12TheTerminalIsPutBack(t *testing.T) {
	for _, r := range []struct {
		name  string
		wrong string
		end   func(p *pty)
		code  int
	}{
		{"q", "nothing", func(p *pty) { p.write("q") }, 0},
		{"ctrl+c", "nothing", func(p *pty) { p.write("\x03") }, 0},
		{"SIGTERM", "nothing", func(p *pty) { _ = p.cmd.Process.Signal(unix.SIGTERM) }, 0},
		{"SIGHUP", "nothing", func(p *pty) { _ = p.cmd.Process.Signal(unix.SIGHUP) }, 0},
		{"SIGINT", "nothing", func(p *pty) { _ = p.cmd.Process.Signal(unix.SIGINT) }, 0},
	} {
		t.Run(r.name, func(t *testing.T) {
			p := startConsole(t, r.wrong, "")
			p.until("charge-1")
			r.end(p)
			p.restored(r.code)
		})
	}
	for _, wrong := range []string{"command", "view"} {
		t.Run("panic in a "+wrong, func(t *testing.T) {
			p := startConsole(t, wrong, "")
			p.restored(1)
			p.until("error: ")
			out := p.written()
			said := out[strings.LastIndex(out, "\x1b[?1049l"):]
			if !strings.Contains(said, "error: the console broke: ") || strings.Count(said, "\n") > 2 || strings.Contains(said, "goroutine ") {
				t.Errorf("after the panic it says %q, want one line", said)
			}
			if strings.Contains(said, "\x1b[31m") {
				t.Errorf("the panic's text was not escaped: %q", said)
			}
		})
	}
}

// Rule 12: when the terminal has gone, so has the console.
func TestRule12TheTerminalHasGone(t *testing.T) {
	p := startConsole(t, "nothing", "")
	p.until("charge-1")
	_ = p.slave.Close()
	_ = p.master.Close()
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("the console ended with %v, want nothing to complain about", err)
	}
}

// Rule 12: ctrl+z gives the terminal back, and the shell its prompt; fg brings
// the console back.
func TestRule12SuspendAndComeBack(t *testing.T) {
	p := startConsole(t, "nothing", `"$0" -test.run='^$'; echo stopped $?; read go; fg >/dev/null`)
	p.until("charge-1")
	p.write("\x1a")
	p.until("stopped ")
	stopped, err := unix.IoctlGetTermios(int(p.slave.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	if *stopped != p.before {
		t.Errorf("suspended, the terminal's modes are %+v, before they were %+v", *stopped, p.before)
	}
	if out := p.written(); strings.LastIndex(out, "\x1b[?1049l") < strings.LastIndex(out, "\x1b[?1049h") {
		t.Error("suspended, the console's screen is still there")
	}
	n := strings.Count(p.written(), "\x1b[?1049h")
	p.write("go\n")
	p.mu.Lock()
	for strings.Count(p.out.String(), "\x1b[?1049h") == n && !p.end {
		p.cond.Wait()
	}
	p.mu.Unlock()
	p.write("q")
	p.restored(0)
}

// A panic that Update meets ends the program in its own way.
func TestAPanicInUpdate(t *testing.T) {
	g := &guarded{Model: panics{}, quit: func() {}}
	_, cmd := g.Update(nil)
	if !yields[tea.QuitMsg](cmd) || g.broken.Load() == nil {
		t.Errorf("broken %v, and no quit", g.broken.Load())
	}
	if got := g.broken.Load().Error(); !strings.Contains(got, "the console broke: update at ") || !strings.Contains(got, "term_linux_test.go:") {
		t.Errorf("error = %q, want what and where", got)
	}
}

type panics struct{ tea.Model }

func (panics) Update(tea.Msg) (tea.Model, tea.Cmd) { panic("update") }

// What a terminal can show, by its environment.
func TestPalette(t *testing.T) {
	base := map[string]string{"TERM": "xterm-256color", "LANG": "en_US.UTF-8"}
	for _, r := range []struct {
		name, key, value string
		light            bool
		want             views.Palette
		ascii            bool
	}{
		{name: "the usual one", want: views.Dark},
		{name: "a light background", light: true, want: views.Light},
		{name: "it tells of a light one", key: "COLORFGBG", value: "0;15", want: views.Light},
		{name: "it tells of a dark one", key: "COLORFGBG", value: "15;default;0", light: true, want: views.Dark},
		{name: "no colour wanted", key: "NO_COLOR", value: "1", want: views.Mono},
		{name: "dumb", key: "TERM", value: "dumb", want: views.Plain, ascii: true},
		{name: "none", key: "TERM", want: views.Plain, ascii: true},
		{name: "16 colours", key: "TERM", value: "linux", want: views.Sixteen},
		{name: "no UTF-8", key: "LANG", value: "C", want: views.Dark, ascii: true},
		{name: "LC_ALL counts first", key: "LC_ALL", value: "C", want: views.Dark, ascii: true},
		{name: "LC_CTYPE counts before LANG", key: "LC_CTYPE", value: "C.utf8", want: views.Dark},
	} {
		got, ascii := palette(func(k string) string {
			if k == r.key {
				return r.value
			}
			return base[k]
		}, func() bool { return !r.light })
		if got != r.want || ascii != r.ascii {
			t.Errorf("%s: palette %d, ascii %v; want %d, %v", r.name, got, ascii, r.want, r.ascii)
		}
	}
}
