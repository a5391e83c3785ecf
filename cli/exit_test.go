package cli

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"tollgate/gate"
)

// No room for a store is no store that can be had, and the hint says what needs
// the room. A reader's full disk is not the store's.
func TestExitOfNoRoom(t *testing.T) {
	write := func(path string, err error) error {
		return fmt.Errorf("projection: %w", &fs.PathError{Op: "write", Path: path, Err: err})
	}
	for _, row := range []struct {
		name string
		err  error
		code int
		hint string
	}{
		{"a full disk", write("s/projection.db.new", syscall.ENOSPC), exitNoStore, "make room"},
		{"a full quota", write("s/projection.db.new", syscall.EDQUOT), exitNoStore, "make room"},
		{"a full disk, as the ledger says it", fmt.Errorf("%w: %w", gate.ErrStoreFull, write("s/tollgate.db", syscall.ENOSPC)), exitNoStore, "make room"},
		{"a full disk of a gate that runs", gate.ErrStoreFull, exitNoStore, "reading goes on"},
		{"another failure", write("s/projection.db.new", syscall.EIO), exitUnexpected, ""},
		{"a full disk of standard output", write(os.Stdout.Name(), syscall.ENOSPC), exitUnexpected, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			code, hint := exitOf(row.err)
			if code != row.code || !strings.Contains(hint, row.hint) || (hint == "") != (row.hint == "") {
				t.Errorf("exit code = %d, hint %q; want %d, %q", code, hint, row.code, row.hint)
			}
		})
	}
}
