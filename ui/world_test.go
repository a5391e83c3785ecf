package ui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"tollgate/escalation"
	"tollgate/gate"
	"tollgate/runstore/memstore"
	"tollgate/views"
)

var (
	noon   = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	agents = gate.Actor{ID: "uid:1001", Name: "agents", Source: "peer-uid"}
	dana   = gate.Actor{ID: "uid:1002", Name: "dana", Source: "peer-uid"}
	lee    = gate.Actor{ID: "uid:1003", Name: "lee", Source: "peer-uid"}
)

// clock is a clock that a test moves.
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

// world is a gate with agents before it and a desk beside it.
type world struct {
	t     testing.TB
	clock *clock
	store *memstore.Store
	door  *gate.Door
	desk  *escalation.Desk
	asks  int
}

func newWorld(t testing.TB, change ...func(*gate.Contract)) *world {
	t.Helper()
	k := gate.NewContract()
	k.Tools = map[string]*gate.Tool{
		"payments.charge": {Effect: gate.EffectWrite, Dependency: "payments-api", Timeout: 2 * time.Second},
		"payments.refund": {Effect: gate.EffectWrite, Safety: gate.SafetyKey, Dependency: "payments-api", Timeout: 2 * time.Second},
		"infra.deploy":    {Effect: gate.EffectWrite, Safety: gate.SafetyKey, Dependency: "cluster", Timeout: 2 * time.Second, Approval: gate.ApprovalRequired},
		"infra.destroy":   {Effect: gate.EffectWrite, Safety: gate.SafetyKey, Dependency: "cluster", Timeout: 2 * time.Second, Approval: gate.ApprovalTwoPerson},
		"orders.get":      {Effect: gate.EffectRead, Safety: gate.SafetyIdempotent, Dependency: "orders", Timeout: time.Second},
	}
	k.Dependencies = map[string]gate.DependencyRule{"payments-api": {Runbook: "https://runbooks.example/pay?key={key}"}}
	k.Policies[gate.StarterName].Routes.Permanent = gate.RouteEscalate
	for _, c := range change {
		c(k)
	}
	w := &world{t: t, clock: new(clock), store: memstore.New("store-1")}
	door, err := gate.NewDoor(t.Context(), w.store, k, w.clock, func() float64 { return 0.5 })
	if err != nil {
		t.Fatal(err)
	}
	w.door, w.desk = door, escalation.NewDesk(door, w.store)
	return w
}

func (w *world) do(c gate.Command) gate.Decision {
	w.t.Helper()
	d, err := w.door.Do(w.t.Context(), c)
	if err != nil {
		w.t.Fatalf("%s: %v", c.Act(), err)
	}
	return d
}

func (w *world) run(id gate.RunID, attempts, effects int64, deadline time.Duration) {
	w.t.Helper()
	w.do(gate.Start{Actor: agents, Run: id, Agent: "planner", Limits: gate.Limits{Attempts: &attempts, SideEffects: &effects, Deadline: &deadline}})
}

func (w *world) ask(run gate.RunID, op gate.OpID, agent, tool string) gate.Decision {
	w.t.Helper()
	w.asks++
	return w.do(gate.Ask{Actor: agents, Run: run, ID: fmt.Sprintf("a%d", w.asks), Op: op, Agent: agent, Tool: tool, Input: []byte(`{"order":42,"amount":"19.90 EUR"}`)})
}

func (w *world) fail(run gate.RunID, op gate.OpID, ordinal int64, code gate.Code) gate.Decision {
	w.t.Helper()
	return w.do(gate.Report{Actor: agents, Run: run, Op: op, Ordinal: ordinal, Failure: gate.Failure{Code: code, Message: "no answer"}})
}

func (w *world) succeed(run gate.RunID, op gate.OpID, ordinal int64) {
	w.t.Helper()
	w.do(gate.Report{Actor: agents, Run: run, Op: op, Ordinal: ordinal, OK: true, Result: "ref-" + string(op)})
}

// lost is a payment that was dispatched once and whose reply got lost.
func (w *world) lost(run gate.RunID, op gate.OpID) gate.ItemID {
	w.t.Helper()
	w.ask(run, op, "planner/billing", "payments.charge")
	w.clock.advance(2 * time.Second)
	w.fail(run, op, 1, "timeout")
	return gate.ItemIDOf(run, op)
}

// act sends a verb on an item as it stands, past the console.
func (w *world) act(who gate.Actor, id gate.ItemID, a escalation.Act) gate.DecisionRow {
	w.t.Helper()
	w.asks++
	it, err := w.desk.Item(w.t.Context(), dana, id)
	if err != nil {
		w.t.Fatal(err)
	}
	a.RequestID, a.Version = fmt.Sprintf("q%d", w.asks), it.Version
	row, err := w.desk.Do(w.t.Context(), who, id, a)
	if err != nil {
		w.t.Fatalf("%s: %v", a.Verb, err)
	}
	return row
}

func (w *world) item(id gate.ItemID) escalation.Item {
	w.t.Helper()
	it, err := w.desk.Item(w.t.Context(), dana, id)
	if err != nil {
		w.t.Fatal(err)
	}
	return it
}

// reader is the world as a Source: everything is there, and nothing pokes. A
// test that wants a store which fails, or hangs, sets fault.
type reader struct {
	*memstore.Store
	desk  *escalation.Desk
	fault func() error
	reads int
}

func (r *reader) Watch(context.Context) <-chan uint64 { return nil }

func (r *reader) Counts(ctx context.Context) (gate.Counts, error) {
	r.reads++
	if r.fault != nil {
		if err := r.fault(); err != nil {
			return gate.Counts{}, err
		}
	}
	return r.Store.Counts(ctx)
}

func (r *reader) Item(ctx context.Context, id gate.ItemID) (escalation.Item, error) {
	if r.fault != nil {
		if err := r.fault(); err != nil {
			return escalation.Item{}, err
		}
	}
	return r.desk.Item(ctx, dana, id)
}

func (r *reader) Do(ctx context.Context, who gate.Actor, id gate.ItemID, act escalation.Act) (gate.DecisionRow, error) {
	if r.fault != nil {
		if err := r.fault(); err != nil {
			return gate.DecisionRow{}, err
		}
	}
	return r.desk.Do(ctx, who, id, act)
}

// hand is an operator at the console: messages go in one after the other, each
// command is done at once, and timers wait until the test lets them go.
type hand struct {
	t      testing.TB
	w      *world
	m      *Model
	reader *reader
	timers []timer
	acts   []escalation.Act // that were sent to the gate
	unread func()           // called when the gate has decided, before its answer arrives
	copied []string
	quit   bool
}

type timer struct {
	after time.Duration
	msg   func() tea.Msg
}

// recorder keeps what goes to the gate.
type recorder struct {
	*reader
	h *hand
}

func (r recorder) Do(ctx context.Context, who gate.Actor, id gate.ItemID, act escalation.Act) (gate.DecisionRow, error) {
	r.h.acts = append(r.h.acts, act)
	row, err := r.reader.Do(ctx, who, id, act)
	if r.h.unread != nil {
		r.h.unread()
	}
	return row, err
}

func sit(w *world, change ...func(*Options)) *hand {
	w.t.Helper()
	h := &hand{t: w.t, w: w, reader: &reader{Store: w.store, desk: w.desk}}
	o := Options{
		Source: h.reader, Desk: recorder{h.reader, h}, Who: dana, Clock: w.clock.Wall,
		Theme: views.NewTheme(views.Plain, true), Place: "/var/lib/tollgate",
	}
	for _, c := range change {
		c(&o)
	}
	h.m = New(w.t.Context(), o)
	h.m.session = "session"
	h.m.out.after = func(d time.Duration, msg func() tea.Msg) tea.Cmd {
		h.timers = append(h.timers, timer{d, msg})
		return nil
	}
	h.m.out.copy = func(s string) error { h.copied = append(h.copied, s); return nil }
	h.send(tea.WindowSizeMsg{Width: 120, Height: 36})
	h.run(h.m.Init())
	h.rest()
	return h
}

// send hands the console a message, and does what it asks for.
func (h *hand) send(msg tea.Msg) {
	_, cmd := h.m.Update(msg)
	h.run(cmd)
}

func (h *hand) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			h.run(c)
		}
	case tea.QuitMsg:
		h.quit = true
	default:
		h.send(msg)
	}
}

var named = map[string]tea.KeyType{
	"enter": tea.KeyEnter, "esc": tea.KeyEsc, "tab": tea.KeyTab, "shift+tab": tea.KeyShiftTab, "space": tea.KeySpace,
	"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight, "home": tea.KeyHome, "end": tea.KeyEnd,
	"pgdown": tea.KeyPgDown, "pgup": tea.KeyPgUp, "backspace": tea.KeyBackspace,
	"ctrl+s": tea.KeyCtrlS, "ctrl+c": tea.KeyCtrlC, "ctrl+z": tea.KeyCtrlZ, "ctrl+v": tea.KeyCtrlV,
}

func keyOf(name string) tea.KeyMsg {
	if k, ok := named[name]; ok {
		msg := tea.KeyMsg{Type: k}
		if k == tea.KeySpace {
			msg.Runes = []rune{' '}
		}
		return msg
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
}

// press presses keys, given by their names.
func (h *hand) press(keys ...string) {
	for _, k := range keys {
		h.send(keyOf(k))
	}
}

// write types a text, rune by rune.
func (h *hand) write(text string) {
	for _, r := range text {
		if r == ' ' {
			h.press("space")
			continue
		}
		h.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})
	}
}

func (h *hand) paste(text string) {
	h.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(text), Paste: true})
}

// fill opens the form of a verb and fills its fields in, in their order: a text,
// or "→" for each step of a choice.
func (h *hand) fill(key string, fields ...string) {
	h.press(key)
	h.wait()
	for i, f := range fields {
		if i > 0 {
			h.press("enter")
		}
		if steps := strings.Count(f, "→"); steps > 0 {
			h.press(slices.Repeat([]string{"right"}, steps)...)
		} else {
			h.write(f)
		}
	}
}

// fire lets the timers go that a test wants to.
func (h *hand) fire(which func(tea.Msg) bool) {
	waiting := h.timers
	h.timers = nil
	for _, t := range waiting {
		if msg := t.msg(); which(msg) {
			h.send(msg)
		} else {
			h.timers = append(h.timers, t)
		}
	}
}

// rest lets the rests between reads pass.
func (h *hand) rest() { h.fire(func(m tea.Msg) bool { _, ok := m.(restMsg); return ok }) }

// wait lets 400 ms pass without a key.
func (h *hand) wait() { h.fire(func(m tea.Msg) bool { _, ok := m.(armMsg); return ok }) }

// look lets the time pass after which a lost store is looked for.
func (h *hand) look() { h.fire(func(m tea.Msg) bool { _, ok := m.(againMsg); return ok }) }

// tick lets the clock go on.
func (h *hand) tick(d time.Duration) {
	h.w.clock.advance(d)
	h.fire(func(m tea.Msg) bool { _, ok := m.(clockMsg); return ok })
}

// poke tells the console that the store has moved, as the watch does.
func (h *hand) poke() {
	h.rest()
	h.send(seqMsg{watch: h.m.watch, ok: true})
	h.rest()
}

// screen returns what is seen, without sequences.
func (h *hand) screen() string { return ansi.Strip(h.m.View()) }

// text returns what is seen as one line.
func (h *hand) text() string { return strings.Join(strings.Fields(h.screen()), " ") }

// row returns the first row of the screen that has all the parts.
func (h *hand) row(parts ...string) string {
next:
	for row := range strings.Lines(h.screen()) {
		for _, p := range parts {
			if !strings.Contains(row, p) {
				continue next
			}
		}
		return strings.TrimRight(row, " \n")
	}
	return ""
}

// wantRow fails unless a row of the screen has all the parts.
func (h *hand) wantRow(parts ...string) {
	h.t.Helper()
	if h.row(parts...) == "" {
		h.t.Errorf("no row has %q in\n%s", parts, h.screen())
	}
}

// wantNoRow fails if a row of the screen has all the parts.
func (h *hand) wantNoRow(parts ...string) {
	h.t.Helper()
	if row := h.row(parts...); row != "" {
		h.t.Errorf("a row has %q: %s", parts, row)
	}
}
