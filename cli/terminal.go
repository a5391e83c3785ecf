package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// isTerminal reports whether f is a terminal.
func isTerminal(f *os.File) bool { return terminalWidth(f) >= 0 }

// terminalWidth returns the columns of a terminal, 0 for one that does not
// say, and -1 for what is no terminal.
func terminalWidth(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return -1
	}
	return int(size.Col)
}

// needTerminal refuses to open the console where none can be shown.
func needTerminal() error {
	const hint = "the console needs a terminal; tollgate queue list and tollgate runs list print the same, and tollgate serve runs without one"
	switch {
	case !isTerminal(os.Stdin), !isTerminal(os.Stdout):
		return &fault{code: exitUsage, err: errNoTerminal, hint: hint}
	case os.Getenv("TERM") == "dumb", os.Getenv("TERM") == "":
		return &fault{code: exitUsage, err: errDumbTerminal, hint: hint}
	}
	return nil
}
