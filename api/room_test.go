package api

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tollgate/escalation"
	"tollgate/gate"
	"tollgate/runstore/memstore"
)

// narrow is a store that can be full.
type narrow struct {
	*memstore.Store
	full atomic.Bool
}

func (n *narrow) Commit(ctx context.Context, chain ...gate.Transition) ([]gate.Decision, error) {
	for _, t := range chain {
		if n.full.Load() && !t.Repeats() {
			return nil, fmt.Errorf("%w: no space left on device", gate.ErrStoreFull)
		}
	}
	return n.Store.Commit(ctx, chain...)
}

// lines collects a log.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.text.Reset()
	return l.text.String()
}

// A store that is full says so once in the log and in readyz, however many
// calls it refuses, and says when it has room again.
func TestStoreFull(t *testing.T) {
	h := prepare(t, contract())
	store, log := &narrow{Store: h.store}, new(lines)
	door, err := gate.NewDoor(t.Context(), store, contract(), h.clock, func() float64 { return 0 })
	if err != nil {
		t.Fatal(err)
	}
	plain := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	h.door, h.desk = door, escalation.NewDesk(door, store)
	h.server = NewServer(door, store, h.desk, Options{Log: plain})
	h.serve()
	h.run("r1", 9)
	ask := func(id string, status int) {
		h.post("/v1/runs/r1/ask", fmt.Sprintf(`{"ask_id":%q,"op":%q,"tool":"look","input":{}}`, id, id), status, nil)
	}
	ready := func(status int, body string) {
		t.Helper()
		if got, _, text := h.send("GET", "/readyz", ""); got != status || strings.TrimSpace(string(text)) != body {
			t.Errorf("readyz = %d %s, want %d %s", got, text, status, body)
		}
	}
	ask("a1", 200)
	ready(200, `{"ready":true}`)

	store.full.Store(true)
	for i := range 5 {
		ask(fmt.Sprint("b", i), 507)
	}
	ask("a1", 200) // the answer from before, which is no sign of room
	ready(503, `{"ready":false,"full":true}`)
	if got, want := log.take(), "level=ERROR msg=\"the store is full: what would be written is refused\" error=\"the store is full: no space left on device\"\n"; got != want {
		t.Errorf("log =\n%swant\n%s", got, want)
	}

	store.full.Store(false)
	ask("c1", 200)
	ready(200, `{"ready":true}`)
	if got, want := log.take(), "level=INFO msg=\"the store has room again\" refused=5\n"; got != want {
		t.Errorf("log =\n%swant\n%s", got, want)
	}
}

// A commit that nobody asked for, such as the sweep's, shows room too.
func TestRoomOfTheSweep(t *testing.T) {
	h := prepare(t, contract())
	store := &narrow{Store: h.store}
	door, err := gate.NewDoor(t.Context(), store, contract(), h.clock, func() float64 { return 0 })
	if err != nil {
		t.Fatal(err)
	}
	h.server = NewServer(door, store, escalation.NewDesk(door, store), Options{})
	h.serve()
	h.run("r1", 9)
	h.post("/v1/runs/r1/ask", `{"ask_id":"a1","op":"a1","tool":"look","input":{}}`, 200, nil)
	store.full.Store(true)
	h.post("/v1/runs/r1/ask", `{"ask_id":"a2","op":"a2","tool":"look","input":{}}`, 507, nil)
	store.full.Store(false)
	h.clock.advance(time.Minute)
	if _, err := door.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	var answer struct{ Ready bool }
	if status, _, text := h.send("GET", "/readyz", ""); status != 200 || json.Unmarshal(text, &answer) != nil || !answer.Ready {
		t.Errorf("readyz = %d %s, want it ready", status, text)
	}
}

// Without a call nothing shows that there is room again, so a refusal speaks
// against the store for a while only.
func TestRefusalAges(t *testing.T) {
	r := room{log: slog.New(slog.DiscardHandler)}
	if r.lacking(noon) {
		t.Error("the zero room is full")
	}
	r.refuse(noon, func() uint64 { return 7 }, "no space")
	for _, row := range []struct {
		after time.Duration
		want  bool
	}{{0, true}, {fullFor - 1, true}, {fullFor, false}} {
		if got := r.lacking(noon.Add(row.after)); got != row.want {
			t.Errorf("full %v after the refusal = %v, want %v", row.after, got, row.want)
		}
	}
	r.committed(7)
	if !r.lacking(noon) {
		t.Error("a decision from before shows room")
	}
	r.committed(8)
	if r.lacking(noon) {
		t.Error("a new decision does not show room")
	}
}
