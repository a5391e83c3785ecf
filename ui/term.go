package ui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"syscall"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"tollgate/views"
)

// Run shows the console on the terminal of in and out until the operator
// leaves, ctx ends, or a signal says so: SIGTERM, SIGINT, or SIGHUP when the
// terminal has gone. However it ends, a panic included, the terminal is as it
// was before. The mouse is left to the terminal.
//
// The error is a *Broken after a panic.
func Run(ctx context.Context, o Options, in, out *os.File) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the watch, and whatever a command still waits for

	screen := &screen{File: out}
	m := New(ctx, o)
	m.out.copy = screen.copyText
	g := &guarded{Model: m}
	p := tea.NewProgram(g,
		tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(screen), tea.WithAltScreen(),
		tea.WithoutSignalHandler(), // it knows nothing of SIGHUP
	)
	g.quit = p.Quit

	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGHUP, os.Interrupt)
	defer signal.Stop(signals)
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		for stop := p.Quit; ; stop = p.Kill {
			select {
			case <-signals:
				go stop() // it waits for the program, which may be stuck
			case <-ctx.Done():
				return
			}
		}
	})

	_, err := p.Run()
	cancel()
	switch broken := g.broken.Load(); {
	case broken != nil:
		return broken
	case errors.Is(err, tea.ErrProgramKilled) && !errors.Is(err, tea.ErrProgramPanic):
		return nil
	}
	return err
}

// screen is the terminal as it is written to: by the renderer, and by what
// goes to the clipboard, one after the other.
type screen struct {
	*os.File
	mu sync.Mutex
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.File.Write(b)
}

// copyText asks the terminal to take a text into its clipboard (OSC 52). A
// terminal that does not, or may not, says nothing.
func (s *screen) copyText(text string) error {
	_, err := s.Write([]byte(ansi.SetSystemClipboard(text)))
	return err
}

// Broken is a panic of the console.
type Broken struct {
	What string
	At   string // file and line
}

func (b *Broken) Error() string { return "the console broke: " + views.Escape(b.What) + " at " + b.At }

// brokenMsg: a command has panicked.
type brokenMsg struct{ broken *Broken }

// recovered returns the panic that is under way, nil for none. It is called
// with what recover returned, in the deferred function.
func recovered(r any) *Broken {
	if r == nil {
		return nil
	}
	at := "an unknown place"
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, "runtime.") && f.File != "" {
			at = fmt.Sprintf("%s:%d", f.File, f.Line)
			break
		}
		if !more {
			break
		}
	}
	return &Broken{What: fmt.Sprint(r), At: at}
}

// Palette says what the terminal can show, by its environment, and whether it
// shows ASCII only. Where colours depend on the background and COLORFGBG does
// not tell of it, the terminal on the standard output is asked: before the
// console reads its keys, since the answer comes like keys.
func Palette(getenv func(string) string) (p views.Palette, ascii bool) {
	return palette(getenv, func() bool { return lipgloss.NewRenderer(os.Stdout).HasDarkBackground() })
}

func palette(getenv func(string) string, dark func() bool) (p views.Palette, ascii bool) {
	var locale string
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale == "" {
			locale = strings.ToLower(getenv(name))
		}
	}
	ascii = !strings.Contains(locale, "utf-8") && !strings.Contains(locale, "utf8")
	term, colours := getenv("TERM"), getenv("COLORTERM")
	switch {
	case term == "dumb" || term == "":
		return views.Plain, true
	case getenv("NO_COLOR") != "":
		return views.Mono, ascii
	case !strings.Contains(term, "256color") && colours != "truecolor" && colours != "24bit":
		return views.Sixteen, ascii
	}
	background := getenv("COLORFGBG")
	switch background[strings.LastIndexByte(background, ';')+1:] {
	case "7", "15":
		return views.Light, ascii
	case "":
		if !dark() {
			return views.Light, ascii
		}
	}
	return views.Dark, ascii
}
