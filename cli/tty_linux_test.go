package cli_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

func init() { commands["tty"] = tty }

// tty runs a command on a terminal of 120 by 36, types keys once the screen
// shows a text, compares the exit code, and writes what the terminal was sent
// to the file "screen": tty CODE TEXT KEYS COMMAND….
func tty(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: tty CODE TEXT KEYS COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	text, keys := args[1], args[2]
	control, terminal, err := openTerminal()
	ts.Check(err)
	defer control.Close() //nolint:errcheck // the command has ended
	// A command that never shows the text is ended, and the script fails.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[3], args[4:]...)
	cmd.Dir, cmd.Env = ts.MkAbs("."), append(serverOf(ts).env.Vars, "TERM="+ts.Getenv("TERM"), "LANG=C.UTF-8")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	ts.Check(errors.Join(cmd.Start(), terminal.Close()))

	var screen strings.Builder
	for b, typed := make([]byte, 4096), keys == ""; ; {
		n, err := control.Read(b)
		screen.Write(b[:n])
		if !typed && strings.Contains(screen.String(), text) {
			_, err := control.WriteString(keys)
			ts.Check(err)
			typed = true
		}
		if err != nil { // EIO: nobody has the terminal open any more
			break
		}
	}
	got, exit := 0, new(exec.ExitError)
	if err := cmd.Wait(); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	ts.Check(os.WriteFile(ts.MkAbs("screen"), []byte(strings.ReplaceAll(screen.String(), "\r\n", "\n")), 0o600))
	if got != want {
		ts.Fatalf("exit code = %d, want %d\n%s", got, want, screen.String())
	}
}

func openTerminal() (control, terminal *os.File, err error) {
	control, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	fd := int(control.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	err = errors.Join(err, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0),
		unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 36, Col: 120}))
	if err == nil {
		terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		return nil, nil, errors.Join(err, control.Close())
	}
	return control, terminal, nil
}
