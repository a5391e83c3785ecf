package cli

import "golang.org/x/sys/unix"

// clockWithSleep: CLOCK_MONOTONIC stands still while Linux is suspended.
const clockWithSleep = unix.CLOCK_BOOTTIME
