// Package cli holds the cobra commands and the wiring, a file per command.
//
// Main is the whole program: it reads the arguments, runs one command and
// returns its exit code.
//
//	0  done; an ask: the dispatch may go
//	1  an expectation differs, or an unexpected failure
//	2  usage, or a bad input file
//	3  the store or the socket cannot be had: missing, locked, refused
//	4  the store is damaged
//	5  verification failed
//	6  the gate permits nothing: a stop, or for an ask any other answer than a yes
//	7  the item had moved: what was shown is not what is there (R-P5)
//
// Answers go to standard output: aligned columns on a terminal, one tab
// between fields elsewhere, JSON objects with --json, one on each line. Errors
// go to standard error, one line, and one more that begins with "hint:" where
// something helps; two between them show where a filter is wrong.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"tollgate/cli/quiet"
	"tollgate/views"
)

// Main runs the command line of the process and returns its exit code. It
// never panics, and the runtime is told to print no goroutines either.
func Main() int {
	quiet.Restore()
	if os.Getenv("GOTRACEBACK") == "" {
		debug.SetTraceback("none")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	a := &app{in: os.Stdin, out: os.Stdout, errs: os.Stderr}
	if width := terminalWidth(os.Stdout); width >= 0 {
		a.terminal, a.cells = true, width
	}
	root := a.root()
	root.SetArgs(os.Args[1:])
	err := safely(func() error { return root.ExecuteContext(ctx) })
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = errors.New("interrupted")
	}
	return complain(os.Stderr, err)
}

// safely runs f and makes an error of a panic, so that nobody ever gets a dump
// of goroutines in place of a line.
func safely(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("unexpected failure: %v", p)
		}
	}()
	return f()
}

// app is what the commands of one process share.
type app struct {
	in        io.Reader
	out, errs io.Writer
	terminal  bool // out is a terminal
	cells     int  // its width; 0 for one that does not say

	json bool // --json
	at   place
}

// complain prints an error, if it is one to print, and returns its exit code.
// Whatever the error says, it is one line that a terminal can only show.
func complain(w io.Writer, err error) int {
	code, hint := exitOf(err)
	if err == nil || isSilent(err) {
		return code
	}
	fmt.Fprintf(w, "tollgate: %s\n", views.Escape(err.Error()))
	if where := showsOf(err); where != "" {
		fmt.Fprintln(w, where)
	}
	if hint != "" {
		fmt.Fprintf(w, "hint: %s\n", views.Escape(hint))
	}
	if usage := usageOf(err); usage != "" {
		fmt.Fprintf(w, "usage: %s\n", usage)
	}
	return code
}
