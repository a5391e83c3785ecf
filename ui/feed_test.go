package ui

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"tollgate/escalation"
	"tollgate/gate"
)

// When a read is due, by what the feed has been told.
func TestFeedDue(t *testing.T) {
	for _, r := range []struct {
		name string
		feed feed
		want bool
	}{
		{"nothing has moved", feed{}, false},
		{"the store has moved", feed{dirty: true}, true},
		{"a key needs rows", feed{urgent: true}, true},
		{"one is under way", feed{dirty: true, urgent: true, reading: true}, false},
		{"one has just come back", feed{dirty: true, resting: true}, false},
		{"a key does not wait for that", feed{urgent: true, resting: true}, true},
		{"frozen", feed{dirty: true, frozen: true}, false},
		{"frozen, and a key needs rows", feed{urgent: true, frozen: true}, true},
		{"lost", feed{dirty: true, urgent: true, lost: errClosed}, false},
	} {
		if got := r.feed.due(); got != r.want {
			t.Errorf("%s: due = %v, want %v", r.name, got, r.want)
		}
	}
}

// However often the store pokes, one read is under way at most, ten a second
// begin, and none while nothing moves.
func TestReadsFollowTheStoreAtTenASecond(t *testing.T) {
	h := sit(newWorld(t))
	h.rest()
	before := h.reader.reads
	h.tick(time.Second)
	h.tick(time.Second)
	if got := h.reader.reads - before; got != 0 {
		t.Errorf("%d reads while nothing moved, want 0", got)
	}
	for range 50 { // within one rest
		h.send(seqMsg{watch: h.m.watch, ok: true})
	}
	if got := h.reader.reads - before; got != 1 {
		t.Errorf("%d reads of 50 changes within one rest, want 1", got)
	}
	for _, timer := range h.timers {
		if _, ok := timer.msg().(restMsg); ok && timer.after < 100*time.Millisecond {
			t.Errorf("a rest of %s, want 100ms at least", timer.after)
		}
	}
	h.rest()
	if got := h.reader.reads - before; got != 2 {
		t.Errorf("%d reads after the rest, want 2", got)
	}
	h.rest()
	if got := h.reader.reads - before; got != 2 {
		t.Errorf("%d reads when all has been read, want 2", got)
	}
}

// A long read makes a long rest, so that a large run does not eat the machine.
func TestALongReadRestsLonger(t *testing.T) {
	h := sit(newWorld(t))
	h.timers = nil
	h.send(readMsg{at: noon, took: time.Second})
	for _, timer := range h.timers {
		if _, ok := timer.msg().(restMsg); ok && timer.after < 4*time.Second {
			t.Errorf("a rest of %s after a read of 1s, want 4s", timer.after)
		}
	}
}

// Space freezes the rows and says how old they are; a key that needs other
// rows is served all the same.
func TestFreeze(t *testing.T) {
	w := newWorld(t)
	w.run("run-1", 6, 1, 10*time.Minute)
	h := sit(w)
	h.press("space")
	w.run("run-2", 6, 1, 10*time.Minute)
	h.poke()
	h.tick(5 * time.Second)
	h.wantRow("PAUSED", "5s")
	if h.m.counts.Runs != 1 {
		t.Errorf("%d runs while frozen, want 1", h.m.counts.Runs)
	}
	h.press("space")
	h.rest()
	if h.m.counts.Runs != 2 {
		t.Errorf("%d runs when it goes on, want 2", h.m.counts.Runs)
	}
	h.wantRow("LIVE")
}

// A lost store: a banner with the age of the data, verbs off, and the console
// finds it again by itself; drafts are kept.
func TestDisconnected(t *testing.T) {
	w := newWorld(t)
	w.run("run-1", 6, 1, 10*time.Minute)
	id := w.lost("run-1", "charge-42")
	h := sit(w)
	h.press("enter")
	h.fill("x", "half a reason")

	h.reader.fault = func() error { return errors.New("dial unix gate.sock: connection refused") }
	h.poke()
	h.tick(31 * time.Second)
	h.wantRow("DISCONNECTED", "31s")
	h.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	h.wantRow("connection refused", "verbs off, reconnecting")
	h.send(tea.WindowSizeMsg{Width: 120, Height: 36})
	h.press("ctrl+s")
	if len(h.acts) != 0 {
		t.Fatalf("a decision was sent: %+v", h.acts)
	}
	h.press("esc", "esc")
	for _, key := range []string{"c", "z"} {
		h.press(key)
		h.wantRow(key+" does nothing now", "disconnected")
	}
	h.look() // still away
	h.wantRow("DISCONNECTED")

	h.reader.fault = nil
	h.look()
	h.wantRow("LIVE")
	h.wantNoRow("does nothing now") // that is over
	h.press("enter", "x")
	h.wait()
	h.wantRow("half a reason")
	h.press("ctrl+s")
	if len(h.acts) != 1 || h.acts[0].Reason != "half a reason" || h.acts[0].Verb != gate.ActReject {
		t.Errorf("sent %+v, want the reject of the draft", h.acts)
	}
	if got := w.item(id).State; got != gate.HoldResolved {
		t.Errorf("the item is %s, want resolved", got)
	}
}

// A watch that ends is a connection that has ended.
func TestAWatchThatEnds(t *testing.T) {
	h := sit(newWorld(t))
	watch := h.m.watch
	h.send(seqMsg{watch: watch, ok: false})
	h.tick(time.Second)
	h.wantRow("DISCONNECTED")
	h.look()
	h.wantRow("LIVE")
	if h.m.watch == watch {
		t.Error("no new watch was opened")
	}
	h.send(seqMsg{watch: watch, ok: false}) // the old one, once more
	h.wantRow("LIVE")
}

// hung is a store that never answers.
type hung struct{ until chan struct{} }

func (s hung) wait() error { <-s.until; return context.Canceled }

func (s hung) Runs(context.Context, gate.RunsQuery) (gate.RunsPage, error) {
	return gate.RunsPage{}, s.wait()
}

func (s hung) Run(context.Context, gate.RunID, time.Time) (gate.RunView, error) {
	return gate.RunView{}, s.wait()
}

func (s hung) Operation(context.Context, gate.Ref, time.Time) (gate.OpRow, error) {
	return gate.OpRow{}, s.wait()
}

func (s hung) Items(context.Context, gate.ItemsQuery) (gate.ItemsPage, error) {
	return gate.ItemsPage{}, s.wait()
}
func (s hung) Find(context.Context, gate.ItemID) (gate.Ref, error) { return gate.Ref{}, s.wait() }

func (s hung) Ledger(context.Context, gate.LedgerQuery) (gate.LedgerPage, error) {
	return gate.LedgerPage{}, s.wait()
}

func (s hung) Dependencies(context.Context, time.Time) ([]gate.DependencyRow, error) {
	return nil, s.wait()
}
func (s hung) Counts(context.Context) (gate.Counts, error) { return gate.Counts{}, s.wait() }
func (s hung) Watch(context.Context) <-chan uint64         { <-s.until; return nil }

func (s hung) Item(context.Context, gate.ItemID) (escalation.Item, error) {
	return escalation.Item{}, s.wait()
}

func (s hung) Do(context.Context, gate.Actor, gate.ItemID, escalation.Act) (gate.DecisionRow, error) {
	return gate.DecisionRow{}, s.wait()
}

// Each key is answered though the store hangs: nothing in Update waits for it.
// That Update comes back at all is what this test sees; nothing lets the store
// go on before the end.
func TestEveryKeyIsAnsweredThoughTheStoreHangs(t *testing.T) {
	w := newWorld(t)
	w.run("run-1", 6, 1, 10*time.Minute)
	w.lost("run-1", "charge-42")
	h := sit(w)
	h.press("3", "k", "4", "1", "enter") // from here on the store hangs
	store := hung{make(chan struct{})}
	defer close(store.until)
	h.m.out.source, h.m.out.desk = store, store
	h.m.feed.urgent = true

	waiting := 0
	press := func(key string) {
		_, cmd := h.m.Update(keyOf(key))
		if cmd != nil {
			waiting++ // it would be done beside the program
		}
		h.m.View()
	}
	for _, key := range []string{"r", "esc", "c", "z", "u", "v", "down", "tab", "left", "esc", "2", "j", "k", "/", "p", "enter", "f", "R", "1", "j", "enter", "x", "?", "j", "esc", "esc", "space", "y", "Y", "U", "G", "home", "3", "k", "enter", "tab", "shift+tab", "enter", "esc", "pgup", "/", "a", "enter", "y", "R", "4", "j", "y", "Y", "R", "enter", "esc"} {
		press(key)
	}
	if waiting == 0 {
		t.Fatal("no key asked for anything, so nothing was shown")
	}
	h.m.Update(clockMsg{noon.Add(time.Minute)})
	if got := h.screen(); !strings.Contains(got, "DISCONNECTED") {
		t.Errorf("a store that has not answered for a minute is not said to be away:\n%s", got)
	}
}

// With nothing open the console lands on the runs, otherwise on the queue; it
// never goes from one to the other by itself.
func TestLanding(t *testing.T) {
	w := newWorld(t)
	w.run("run-1", 6, 1, 10*time.Minute)
	h := sit(w)
	if got := h.m.here().place; got != inRuns {
		t.Fatalf("with nothing open the console landed on %v, want the runs", got)
	}
	h.wantRow(">", "run-1")
	w.lost("run-1", "charge-42")
	h.poke()
	if got := h.m.here().place; got != inRuns {
		t.Errorf("a new item switched the screen to %v", got)
	}
	for _, keys := range [][]string{{"1"}, {"2"}, {"f"}} { // and so is whoever comes later
		h.press(keys...)
		h.wantRow(">", "run-1")
	}
	h = sit(w)
	if got := h.m.here().place; got != inQueue {
		t.Errorf("with an item open the console landed on %v, want the queue", got)
	}
	w.act(lee, gate.ItemIDOf("run-1", "charge-42"), happened)
	h.poke()
	if got := h.m.here().place; got != inQueue {
		t.Errorf("an item that was resolved switched the screen to %v", got)
	}
}
