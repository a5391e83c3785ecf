package cli

import "golang.org/x/sys/unix"

// clockWithSleep: CLOCK_MONOTONIC goes on while macOS sleeps; Go's own
// monotonic reading there does not.
const clockWithSleep = unix.CLOCK_MONOTONIC
