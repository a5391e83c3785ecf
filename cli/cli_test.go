package cli_test

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"tollgate/cli"
)

// The scripts run the program itself: its binary is this test's, started again.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"tollgate": func() { os.Exit(cli.Main()) },
	})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			for name, dir := range map[string]string{
				"HOME": "home", "XDG_STATE_HOME": "state", "XDG_CONFIG_HOME": "config", "XDG_RUNTIME_DIR": "run",
			} {
				env.Setenv(name, filepath.Join(env.WorkDir, dir))
			}
			env.Setenv("TZ", "UTC")
			// With the race detector each program would sleep for a second
			// before it ends, for races of what it leaves running.
			env.Setenv("GORACE", os.Getenv("GORACE")+" atexit_sleep_ms=0")
			env.Values[serverKey{}] = &server{env: env}
			return nil
		},
		Cmds: commands,
	})
}

// commands are those of the scripts beside testscript's own.
var commands = map[string]func(*testscript.TestScript, bool, []string){
	"exits": exits,
	"serve": serve,
	"hup":   hup,
	"term":  term,
	"flip":  flip,
}

// exits runs a command that has to end with an exit code: exits CODE COMMAND….
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got, exit := 0, new(exec.ExitError)
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code = %d, want %d", got, want)
	}
}

type serverKey struct{}

// server is the gate that a script has started.
type server struct {
	env *testscript.Env
	cmd *exec.Cmd
	log *bufio.Reader // its standard error
}

func serverOf(ts *testscript.TestScript) *server {
	s, _ := ts.Value(serverKey{}).(*server)
	return s
}

// serve starts a gate, and goes on when it says that it serves: serve ARGS….
func serve(ts *testscript.TestScript, neg bool, args []string) {
	s := serverOf(ts)
	if neg {
		ts.Fatalf("usage: serve ARGS...")
	}
	s.cmd = exec.Command("tollgate", append([]string{"serve"}, args...)...)
	s.cmd.Dir, s.cmd.Env = s.env.WorkDir, s.env.Vars
	out, err := s.cmd.StdoutPipe()
	ts.Check(err)
	log, err := s.cmd.StderrPipe()
	ts.Check(err)
	s.log = bufio.NewReader(log)
	ts.Check(s.cmd.Start())
	process := s.cmd.Process
	ts.Defer(func() { _ = process.Kill() }) // a script that has ended it needs no second end
	said, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		why, _ := io.ReadAll(s.log)
		ts.Fatalf("serve: %v\n%s", err, why)
	}
	ts.Logf("%s", said)
}

// hup sends SIGHUP and compares the line that the gate logs then: hup REGEXP.
func hup(ts *testscript.TestScript, neg bool, args []string) {
	s := serverOf(ts)
	if neg || len(args) != 1 || s.cmd == nil {
		ts.Fatalf("usage: hup REGEXP, after serve")
	}
	ts.Check(s.cmd.Process.Signal(syscall.SIGHUP))
	line, err := s.log.ReadString('\n')
	ts.Check(err)
	if !regexp.MustCompile(args[0]).MatchString(line) {
		ts.Fatalf("log = %s, want a match for %s", line, args[0])
	}
}

// term ends the gate, which has to end with exit code 0: term.
func term(ts *testscript.TestScript, neg bool, args []string) {
	s := serverOf(ts)
	if neg || len(args) != 0 || s.cmd == nil {
		ts.Fatalf("usage: term, after serve")
	}
	ts.Check(s.cmd.Process.Signal(syscall.SIGTERM))
	rest, err := io.ReadAll(s.log)
	ts.Check(err)
	if err := s.cmd.Wait(); err != nil || len(rest) > 0 {
		ts.Fatalf("serve: %v\n%s", err, rest)
	}
}

// flip changes the bytes of a text in a file, wherever it stands: flip FILE TEXT.
func flip(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: flip FILE TEXT")
	}
	path := ts.MkAbs(args[0])
	data, err := os.ReadFile(path)
	ts.Check(err)
	changed := strings.ReplaceAll(string(data), args[1], strings.ToUpper(args[1]))
	if changed == string(data) {
		ts.Fatalf("%s does not hold %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(path, []byte(changed), 0o600))
}
