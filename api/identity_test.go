package api

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tollgate/gate"
)

// R-P10: what a role may do, from the contract's lists of users and groups.
func TestRoles(t *testing.T) {
	k := gate.Roles{Agent: []string{"agents", "both"}, Operator: []string{"oncall", "both"}, Auditor: []string{"audit"}}
	all := []Role{RoleAgent, RoleOperator, RoleAuditor}
	named := func(names ...string) peer { return peer{Actor: gate.Actor{ID: "uid:7", Name: names[0]}, names: names} }
	for _, row := range []struct {
		name  string
		peer  peer
		roles gate.Roles
		want  []Role
	}{
		{"no roles configured", named("x"), gate.Roles{}, all},
		{"an agent", named("agents"), k, []Role{RoleAgent}},
		{"an operator, by group", named("dana", "users", "oncall"), k, []Role{RoleOperator}},
		{"an auditor", named("audit"), k, []Role{RoleAuditor}},
		{"one user for both", named("both"), k, []Role{RoleAgent, RoleOperator}},
		{"nobody", named("x"), k, nil},
		{"without a name", peer{Actor: gate.Actor{ID: "uid:7"}}, k, nil},
		{"the owner, in no list", peer{Actor: gate.Actor{ID: "uid:7"}, own: true}, k, all},
		{"the owner, as an agent only", peer{names: []string{"agents"}, own: true}, k, []Role{RoleAgent}},
		{"the owner, of whom not all names are known", peer{Actor: gate.Actor{ID: "uid:7"}, own: true, part: true}, k, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			if diff := cmp.Diff(row.peer.roles(row.roles), row.want); diff != "" {
				t.Errorf("roles (-got +want):\n%s", diff)
			}
		})
	}
}

// mine is the name of the user who runs the tests.
func mine(t *testing.T) string {
	t.Helper()
	u, err := user.Current()
	if err != nil {
		t.Skipf("the user has no name: %v", err)
	}
	return u.Username
}

// R-P10: an identity whose only role is agent cannot run an operator's verb,
// and the other way round; an auditor only reads (R-P11).
func TestRolesOnTheSocket(t *testing.T) {
	me := mine(t)
	for _, row := range []struct {
		name                    string
		roles                   gate.Roles
		ask, verb, start, reads int
	}{
		{"both", gate.Roles{Agent: []string{me}, Operator: []string{me}}, 200, 200, 200, 200},
		{"agent", gate.Roles{Agent: []string{me}, Operator: []string{"oncall"}}, 200, 403, 200, 200},
		{"operator", gate.Roles{Agent: []string{"agents"}, Operator: []string{me}}, 403, 200, 200, 200},
		{"auditor", gate.Roles{Agent: []string{"agents"}, Auditor: []string{me}}, 403, 403, 403, 200},
	} {
		t.Run(row.name, func(t *testing.T) {
			k := contract()
			h := prepare(t, k)
			h.serve()
			h.run("r1", 6)
			id := h.lost("r1", "charge-42")
			with := *k
			with.Roles = row.roles
			if err := h.door.Adopt(t.Context(), &with); err != nil {
				t.Fatal(err)
			}
			for _, call := range []struct {
				method, path, body string
				want               int
			}{
				{"POST", "/v1/runs/r1/ask", `{"ask_id":"a2","op":"look-1","tool":"look","input":{}}`, row.ask},
				{"POST", "/v1/items/" + string(id) + "/note", `{"request_id":"q1","version":1,"reason":"n"}`, row.verb},
				{"POST", "/v1/items/bulk/note", `{"request_id":"q2","reason":"n","items":[{"id":"` + string(id) + `","version":1}]}`, row.verb},
				{"GET", "/v1/causes", ``, row.reads},
				{"POST", "/v1/runs", `{"run":"r2","limits":{"attempts":1,"deadline":"1s","side_effects":0}}`, row.start},
				{"GET", "/v1/items/" + string(id), ``, row.reads},
				{"GET", "/v1/counts", ``, row.reads},
			} {
				before := len(h.store.Decisions())
				status, _, text := h.send(call.method, call.path, call.body)
				if status != call.want {
					t.Errorf("%s %s = %d, want %d: %s", call.method, call.path, status, call.want, text)
				}
				if status == 403 && (len(h.store.Decisions()) != before || !strings.Contains(string(text), "needs")) {
					t.Errorf("%s %s: refused as %s, and the ledger has %d more", call.method, call.path, text, len(h.store.Decisions())-before)
				}
			}
		})
	}
}

// R-P10: with one identity for both, it is said plainly that approvals are not
// separated from agents.
func TestHealth(t *testing.T) {
	name := mine(t)
	k := contract()
	k.Roles = gate.Roles{Agent: []string{name}, Operator: []string{"oncall"}}
	for _, row := range []struct {
		name      string
		contract  *gate.Contract
		separated bool
	}{{"no roles", contract(), false}, {"an agent alone", k, true}} {
		t.Run(row.name, func(t *testing.T) {
			h := openWith(t, row.contract)
			got, err := h.client.Health(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			document, err := row.contract.Document()
			if err != nil {
				t.Fatal(err)
			}
			want := Health{
				Store: "/tmp/store", Version: "test", PID: os.Getpid(), Since: noon, Time: noon, Seq: 1,
				Contract: gate.DocumentDigest(document).String(),
				Identity: gate.Actor{ID: me(), Name: name, Source: "peer-uid"},
				Roles:    []Role{RoleAgent, RoleOperator, RoleAuditor}, Separated: row.separated, Note: notSeparated,
			}
			if row.separated {
				want.Roles, want.Note = []Role{RoleAgent}, ""
			}
			if diff := cmp.Diff(got, want); diff != "" {
				t.Errorf("health (-got +want):\n%s", diff)
			}
		})
	}
}

// A connection of which nobody knows whose it is may do nothing.
func TestNoIdentity(t *testing.T) {
	k := contract()
	k.Roles = gate.Roles{Agent: []string{"agents"}}
	if why := (peer{}).forbidden((peer{}).roles(k.Roles), nil, "GET /v1/runs"); why == "" {
		t.Error("a peer without an id may read")
	}
}

// One user has so many connections and no more.
func TestConnectionsOfOneUser(t *testing.T) {
	l := newPeers(nil, slog.New(slog.DiscardHandler))
	for range maxPerPeer {
		if !l.take("uid:1") {
			t.Fatal("refused below the cap")
		}
	}
	if l.take("uid:1") {
		t.Error("one more than the cap")
	}
	if !l.take("uid:2") {
		t.Error("another user is refused")
	}
	l.leave("uid:1")
	if !l.take("uid:1") {
		t.Error("refused after one has left")
	}
}

// R-P10: a lookup of names that failed is said once, gives no role and takes
// none away for good: the next connection looks again. One that succeeded is
// kept.
func TestNamesAreLookedUpAgain(t *testing.T) {
	var log bytes.Buffer
	listener, err := Listen(filepath.Join(t.TempDir(), "gate.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() //nolint:errcheck // the test is over
	l := newPeers(listener, slog.New(slog.NewTextHandler(&log, nil)))
	looked := 0
	accept := func(names []string, failed error) peer {
		t.Helper()
		l.accounts.lookup = func(string) ([]string, error) { looked++; return names, failed }
		near, err := net.Dial("unix", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer near.Close() //nolint:errcheck // nothing was sent
		far, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer far.Close() //nolint:errcheck // nothing was sent
		return far.(*peerConn).peer
	}
	down := errors.New("directory\x1b is down")
	who := peer{Actor: gate.Actor{ID: me(), Name: "dana", Source: "peer-uid"}, own: true}
	part, all := who, who
	part.names, part.part, all.names = []string{"dana"}, true, []string{"dana", "oncall"}
	for i, row := range []struct {
		names []string
		err   error
		want  peer
	}{
		{[]string{"dana"}, down, part},
		{[]string{"dana"}, down, part},
		{[]string{"dana", "oncall"}, nil, all},
		{nil, down, all},
	} {
		if diff := cmp.Diff(accept(row.names, row.err), row.want, cmp.AllowUnexported(peer{})); diff != "" {
			t.Errorf("connection %d (-got +want):\n%s", i, diff)
		}
	}
	if looked != 3 {
		t.Errorf("looked up %d times, want 3", looked)
	}
	if n := strings.Count(log.String(), "directory"); n != 1 || strings.Contains(log.String(), "\x1b") {
		t.Errorf("log = %q, want the error once and escaped", log.String())
	}
}

// A connection over the cap is closed, and that is said once.
func TestConnectionTooMany(t *testing.T) {
	var log bytes.Buffer
	listener, err := Listen(filepath.Join(t.TempDir(), "gate.sock"))
	if err != nil {
		t.Fatal(err)
	}
	l := newPeers(listener, slog.New(slog.NewTextHandler(&log, nil)))
	l.held[me()] = maxPerPeer
	ended := make(chan error, 1)
	go func() {
		_, err := l.Accept()
		ended <- err
	}()
	for range 2 {
		c, err := net.Dial("unix", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("read = %v, want the end of a connection that was closed", err)
		}
		_ = c.Close()
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("accept = %v, want the end of listening", err)
	}
	if n := strings.Count(log.String(), me()); n != 1 {
		t.Errorf("log = %q, want one line about %s", log.String(), me())
	}
}

// What is in an error can only be shown.
func TestOneLine(t *testing.T) {
	for in, want := range map[string]string{
		"plain text: 1":           "plain text: 1",
		"a\nb":                    `a\nb`,
		"\x1b]52;c;x\a":           `\u{1b}]52;c;x\u{7}`,
		"\u009b2J":                `\u{9b}2J`,
		"\x9b2J":                  `\x9b2J`,
		"a\u202eb":                `a\u{202e}b`,
		"größe":                   `gr\u{f6}\u{df}e`,
		strings.Repeat("x", 2000): strings.Repeat("x", maxLine+1) + "...",
	} {
		if got := oneLine(in); got != want {
			t.Errorf("%.20q = %.60q, want %.60q", in, got, want)
		}
	}
	p := problemOf(&gate.InputError{Field: "a\x1b", Want: "w", Got: "g\u202e"})
	if p.Field != `a\u{1b}` || p.Got != `g\u{202e}` {
		t.Errorf("problem = %+v, want its field and what was given escaped", p)
	}
}
