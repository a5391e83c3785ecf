// Package quiet keeps libraries from talking to the terminal before the
// program knows what it was asked for.
//
// bubbletea 1.x asks the terminal for its background colour while packages are
// initialized: every command would write control sequences, also with
// NO_COLOR, and would wait up to five seconds where the terminal does not
// answer. Its library leaves the terminal alone where CI is set, so CI is set
// until Restore.
//
// This works by the order that the Go specification gives to initialization:
// of the packages that are ready, the first by import path. This one needs
// nothing but syscall, so it is ready, and its turn comes, before "unicode",
// without which bubbletea is not. It must not import more.
package quiet

import "syscall"

var hidden bool

func init() {
	if _, set := syscall.Getenv("CI"); !set {
		hidden = syscall.Setenv("CI", "tollgate is starting") == nil
	}
}

// Restore takes CI away again, if it was not set before. It is called once,
// before anything else is done.
func Restore() {
	if hidden {
		_ = syscall.Unsetenv("CI") // it was set above, so it can be taken away
	}
}
