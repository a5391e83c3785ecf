package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"tollgate/escalation"
	"tollgate/gate"
	"tollgate/runstore/memstore"
)

var noon = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)

// clock is a wall clock that a test moves.
type clock struct {
	mu   sync.Mutex
	past time.Duration
}

func (c *clock) Wall() time.Time { return noon.Add(c.Elapsed()) }

func (c *clock) Elapsed() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.past
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.past += d
}

// house is a gate that is served on a socket.
type house struct {
	t      testing.TB
	clock  *clock
	store  *memstore.Store
	door   *gate.Door
	desk   *escalation.Desk
	server *Server
	path   string
	client *Client
	stop   context.CancelFunc
	served chan error
}

// contract is the one that the tests decide by.
func contract() *gate.Contract {
	k := gate.NewContract()
	k.Tools = map[string]*gate.Tool{
		"charge": {Effect: gate.EffectWrite, Dependency: "payments-api", Timeout: 2 * time.Second},
		"refund": {Effect: gate.EffectWrite, Safety: gate.SafetyKey, Dependency: "payments-api", Timeout: 2 * time.Second},
		"deploy": {Effect: gate.EffectWrite, Dependency: "cluster", Timeout: 2 * time.Second, Approval: gate.ApprovalRequired},
		"look":   {Effect: gate.EffectRead, Safety: gate.SafetyIdempotent, Dependency: "search", Timeout: time.Second},
	}
	k.Dependencies = map[string]gate.DependencyRule{
		"search": {HTTP: []gate.HTTPRule{
			{Status: 429, ProviderCode: "insufficient_quota", Code: "auth_failure"},
			{Status: 429, Code: "rate_limit"},
			{Status: 503, Code: "upstream_5xx"},
		}},
	}
	return k
}

// prepare makes a house that is not served yet.
func prepare(t testing.TB, k *gate.Contract) *house {
	t.Helper()
	h := &house{t: t, clock: new(clock), store: memstore.New("store-1"), path: filepath.Join(t.TempDir(), "gate.sock")}
	door, err := gate.NewDoor(t.Context(), h.store, k, h.clock, func() float64 { return 0 })
	if err != nil {
		t.Fatal(err)
	}
	h.door, h.desk = door, escalation.NewDesk(door, h.store)
	h.server = NewServer(door, h.store, h.desk, Options{Store: "/tmp/store", Version: "test"})
	return h
}

// open makes a house and serves it until the test ends.
func open(t testing.TB) *house { return openWith(t, contract()) }

func openWith(t testing.TB, k *gate.Contract) *house {
	t.Helper()
	h := prepare(t, k)
	h.serve()
	return h
}

func (h *house) serve() {
	h.t.Helper()
	l, err := Listen(h.path)
	if err != nil {
		h.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	h.stop, h.served = cancel, make(chan error, 1)
	go func() { h.served <- h.server.Serve(ctx, l) }()
	h.client = NewClient(h.path)
	h.t.Cleanup(func() {
		_ = h.client.Close()
		cancel()
		if err := <-h.served; err != nil {
			h.t.Errorf("serve: %v", err)
		}
	})
}

// send makes one call as curl would, and returns status and body.
func (h *house) send(method, path, body string) (int, http.Header, []byte) {
	h.t.Helper()
	request, err := http.NewRequestWithContext(h.t.Context(), method, "http://gate"+path, bytes.NewReader([]byte(body)))
	if err != nil {
		h.t.Fatal(err)
	}
	response, err := h.client.http.Do(request)
	if err != nil {
		h.t.Fatalf("%s %s: %v", method, path, err)
	}
	text, err := io.ReadAll(response.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		h.t.Fatal(err)
	}
	return response.StatusCode, response.Header, text
}

// post sends a body and decodes the answer, which has to have a status.
func (h *house) post(path, body string, status int, out any) {
	h.t.Helper()
	got, _, text := h.send(http.MethodPost, path, body)
	if got != status {
		h.t.Fatalf("POST %s %.200s: status %d, want %d: %.500s", path, body, got, status, text)
	}
	if out == nil {
		return
	}
	if err := json.Unmarshal(text, out); err != nil {
		h.t.Fatalf("POST %s: %v in %s", path, err, text)
	}
}

// run starts a run with some attempts, two side effects and five minutes.
func (h *house) run(id string, attempts int) {
	h.t.Helper()
	h.post("/v1/runs", fmt.Sprintf(`{"run":%q,"agent":"planner","limits":{"attempts":%d,"deadline":"5m","side_effects":2}}`, id, attempts), 200, nil)
}

// lost brings about an item: a write whose reply got lost.
func (h *house) lost(run, op string) gate.ItemID {
	h.t.Helper()
	h.post("/v1/runs/"+segment(run)+"/ask", fmt.Sprintf(`{"ask_id":"a-%s","op":%q,"tool":"charge","input":{"order":42}}`, op, op), 200, nil)
	h.post("/v1/runs/"+segment(run)+"/report", fmt.Sprintf(`{"op":%q,"ordinal":1,"failure":{"code":"timeout"}}`, op), 200, nil)
	return gate.ItemIDOf(gate.RunID(run), gate.OpID(op))
}

// me is the identity that the kernel gives to this process.
func me() string { return "uid:" + strconv.Itoa(os.Getuid()) }

// pipes is a listener in memory, for tests under a clock of their own.
type pipes struct {
	made chan net.Conn
	done chan struct{}
	once sync.Once
}

func newPipes() *pipes { return &pipes{made: make(chan net.Conn), done: make(chan struct{})} }

func (p *pipes) dial() net.Conn {
	near, far := net.Pipe()
	p.made <- &peerConn{Conn: far, peer: peer{Actor: gate.Actor{ID: "uid:1", Source: "peer-uid"}, own: true}, gone: func() {}}
	return near
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.made:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.done) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }
