package runstore_test

import (
	"os"
	"syscall"
)

// syncData makes what was written to a file of a fixed size durable.
func syncData(f *os.File) error { return syscall.Fdatasync(int(f.Fd())) }
