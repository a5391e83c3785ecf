package api

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"tollgate/escalation"
	"tollgate/gate"
)

// panicking is a reader with a fault.
type panicking struct{ gate.Reader }

func (panicking) Counts(context.Context) (gate.Counts, error) { panic("boom") }

// watched is a reader that says when somebody waits.
type watched struct {
	gate.Reader
	waiting chan struct{}
}

func (w watched) Watch(ctx context.Context) <-chan uint64 {
	ch := w.Reader.Watch(ctx)
	w.waiting <- struct{}{}
	return ch
}

// R-A6: the agent that waits for a person gets the answer at once: the permit,
// when the approve is the admission.
func TestAgentWaitsForAPerson(t *testing.T) {
	h := prepare(t, contract())
	w := watched{h.store, make(chan struct{}, 8)}
	h.server.reader = w
	h.serve()
	h.run("r1", 9)
	var d gate.DecisionRow
	h.post("/v1/runs/r1/ask", `{"ask_id":"a1","op":"deploy-1","tool":"deploy","input":{}}`, 200, &d)
	if d.Verdict != gate.StopApprovalRequired {
		t.Fatalf("ask = %s, want STOP_APPROVAL_REQUIRED", d.Verdict)
	}
	got := make(chan gate.OpRow, 1)
	go func() {
		row, err := h.client.WaitOperation(t.Context(), gate.Ref{Run: "r1", Op: "deploy-1"}, d.Seq, time.Minute)
		if err != nil {
			t.Error(err)
		}
		got <- row
	}()
	<-w.waiting
	if _, err := h.desk.Do(t.Context(), gate.Actor{ID: "uid:7"}, d.Item, escalation.Act{Verb: gate.ActApprove, RequestID: "q", Version: 1, Reason: "r"}); err != nil {
		t.Fatal(err)
	}
	row := <-got
	if row.State != gate.OpInFlight || row.Permit == nil || row.Permit.Ordinal != 1 || row.Permit.Key == "" {
		t.Errorf("the agent got %s with permit %+v, want the permit of attempt 1", row.State, row.Permit)
	}
	// Who comes late does not wait for what has happened.
	if row, err := h.client.WaitOperation(t.Context(), gate.Ref{Run: "r1", Op: "deploy-1"}, 0, time.Minute); err != nil || row.Permit == nil {
		t.Errorf("late: %+v, %v; want the permit at once", row, err)
	}
}

// A wait that ends without a change has the state as it is; a closed operation
// is not waited for.
func TestWaitEnds(t *testing.T) {
	h := open(t)
	h.run("r1", 9)
	h.lost("r1", "charge-42")
	ref := gate.Ref{Run: "r1", Op: "charge-42"}
	row, err := h.client.WaitOperation(t.Context(), ref, 0, time.Millisecond)
	if err != nil || row.State != gate.OpHeld {
		t.Errorf("nothing happened: %s, %v; want held", row.State, err)
	}
	if _, err := h.desk.Do(t.Context(), gate.Actor{ID: "uid:7"}, row.Item, escalation.Act{Verb: gate.ActReject, RequestID: "q", Version: 1, Reason: "r"}); err != nil {
		t.Fatal(err)
	}
	row, err = h.client.WaitOperation(t.Context(), ref, 0, time.Hour)
	if err != nil || row.State != gate.OpRejected {
		t.Errorf("rejected: %s, %v; want rejected, at once", row.State, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.client.WaitOperation(ctx, ref, 1<<40, time.Hour); err == nil || ctx.Err() == nil {
		t.Errorf("a caller who has gone: %v, want an error", err)
	}
}

// R-L1: the ledger by windows, and the next decision as it comes.
func TestLedger(t *testing.T) {
	h := prepare(t, contract())
	w := watched{h.store, make(chan struct{}, 8)}
	h.server.reader = w
	h.serve()
	h.run("r1", 9)
	h.lost("r1", "charge-42")
	whole, err := h.client.Ledger(t.Context(), gate.LedgerQuery{})
	if err != nil || len(whole.Rows) != 4 || whole.Next != 5 {
		t.Fatalf("ledger = %d rows, next %d, %v; want 4, 5", len(whole.Rows), whole.Next, err)
	}
	back, err := h.client.Ledger(t.Context(), gate.LedgerQuery{Back: true, Limit: 2, Run: "r1", Op: "charge-42"})
	if err != nil || len(back.Rows) != 2 || back.Rows[0].Seq != 4 {
		t.Errorf("ledger backwards = %+v, %v; want decisions 4 and 3", back, err)
	}
	got := make(chan gate.LedgerPage, 1)
	go func() {
		page, err := h.client.WaitLedger(t.Context(), gate.LedgerQuery{From: whole.Next}, time.Minute)
		if err != nil {
			t.Error(err)
		}
		got <- page
	}()
	<-w.waiting
	h.post("/v1/runs/r1/end", "{}", 200, nil)
	if page := <-got; len(page.Rows) != 1 || page.Rows[0].Seq != 5 || page.Rows[0].Act != gate.ActEnd || page.Next != 6 {
		t.Errorf("the next decision = %+v, want 5, end", page)
	}
	filter, err := gate.ParseFilter(gate.FilterLedger, "act:start run:r3")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		page, err := h.client.WaitLedger(t.Context(), gate.LedgerQuery{From: 2, Filter: filter}, time.Minute)
		if err != nil {
			t.Error(err)
		}
		got <- page
	}()
	<-w.waiting
	h.run("r2", 9)
	h.run("r3", 9)
	if page := <-got; len(page.Rows) != 1 || page.Rows[0].Run != "r3" || page.Next != page.Rows[0].Seq+1 {
		t.Errorf("the next decision that matches = %+v, want the start of r3", page)
	}
	if _, _, text := h.send("GET", "/v1/ledger?from=100", ""); !strings.Contains(string(text), `"rows":[]`) {
		t.Errorf("no decisions = %s, want an empty list", text)
	}
}

// The stream holds the newest seq and nothing else.
func TestWatchStream(t *testing.T) {
	h := open(t)
	response, err := h.client.send(t.Context(), http.MethodGet, "/v1/watch", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // the test is over
	if got := response.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("content type = %q", got)
	}
	lines := bufio.NewScanner(response.Body)
	next := func() string {
		for lines.Scan() {
			if text := lines.Text(); strings.HasPrefix(text, "data:") {
				return text
			}
		}
		return ""
	}
	if got := next(); got != "data: 1" {
		t.Errorf("first = %q, want data: 1", got)
	}
	h.run("r1", 9)
	if got := next(); got != "data: 2" {
		t.Errorf("then = %q, want data: 2", got)
	}
}

// Watching goes on when the server has been replaced, and the break is told;
// the channel ends with its context.
func TestClientWatchReconnects(t *testing.T) {
	h := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	newest := h.client.Watch(ctx)
	if got := <-newest; got != 1 {
		t.Errorf("newest = %d, want 1", got)
	}
	h.stop()
	if err := <-h.served; err != nil {
		t.Fatal(err)
	}
	if got := <-newest; got != 1 {
		t.Errorf("newest at the break = %d, want 1 again", got)
	}
	h.server = NewServer(h.door, h.store, h.desk, Options{})
	l, err := Listen(h.path)
	if err != nil {
		t.Fatal(err)
	}
	serving, stop := context.WithCancel(t.Context())
	again := make(chan error, 1)
	go func() { again <- h.server.Serve(serving, l) }()
	h.run("r1", 9)
	for got := range newest {
		if got == 2 {
			break
		}
	}
	cancel()
	for range newest { // until it is closed
	}
	stop()
	h.served <- <-again
}

// Case 16: 16 concurrent asks with one attempt left, over the socket: exactly
// one permit, every time.
func TestOneAttemptLeft(t *testing.T) {
	const asks = 16
	rounds := 1000
	if raceDetector { // ten times slower, and it looks for something else
		rounds = 100
	}
	h := open(t)
	for round := range rounds {
		run := fmt.Sprint("r", round)
		h.run(run, 1)
		var wg sync.WaitGroup
		verdicts := make([]gate.Verdict, asks)
		for i := range asks {
			wg.Go(func() {
				d, err := h.client.Ask(t.Context(), gate.Ask{
					Run: gate.RunID(run), ID: fmt.Sprint("a", i), Op: gate.OpID(fmt.Sprint("look-", i)), Tool: "look", Input: []byte(`{}`),
				})
				if err != nil {
					t.Error(err)
				}
				verdicts[i] = d.Verdict
			})
		}
		wg.Wait()
		permits := 0
		for _, v := range verdicts {
			switch v {
			case gate.Admit:
				permits++
			case gate.StopAttemptBudget:
			default:
				t.Fatalf("round %d: %s, want ADMIT or STOP_ATTEMPT_BUDGET", round, v)
			}
		}
		if permits != 1 {
			t.Fatalf("round %d: %d permits, want 1", round, permits)
		}
	}
}

// Shutting down ends long polls with what they have and answers what is under
// way.
func TestShutdown(t *testing.T) {
	h := prepare(t, contract())
	w := watched{h.store, make(chan struct{}, 8)}
	h.server.reader = w
	h.serve()
	h.run("r1", 9)
	h.lost("r1", "charge-42")
	got := make(chan gate.OpRow, 1)
	go func() {
		row, err := h.client.WaitOperation(t.Context(), gate.Ref{Run: "r1", Op: "charge-42"}, 0, time.Minute)
		if err != nil {
			t.Error(err)
		}
		got <- row
	}()
	<-w.waiting
	h.stop()
	if row := <-got; row.State != gate.OpHeld {
		t.Errorf("the poll ended with %s, want held", row.State)
	}
	h.served <- <-h.served
	if Answers(t.Context(), h.path) {
		t.Error("somebody still answers")
	}
}

func TestReady(t *testing.T) {
	h := open(t)
	status, _, text := h.send("GET", "/readyz", "")
	if status != 200 || strings.TrimSpace(string(text)) != `{"ready":true}` {
		t.Errorf("readyz = %d %s", status, text)
	}
	h = prepare(t, contract())
	h.server.reader = broken{h.store}
	h.serve()
	var p Problem
	if status, _, text = h.send("GET", "/readyz", ""); status != http.StatusInternalServerError || json.Unmarshal(text, &p) != nil || p.Type != urn+"store-damaged" {
		t.Errorf("readyz of a damaged store = %d %s", status, text)
	}
}

// broken is a reader whose store is damaged.
type broken struct{ gate.Reader }

func (broken) Counts(context.Context) (gate.Counts, error) {
	return gate.Counts{}, fmt.Errorf("block 7: %w", gate.ErrDamaged)
}

// passing is a ledger of which a filter has passed over the first part.
type passing struct{ gate.Reader }

func (passing) Ledger(_ context.Context, q gate.LedgerQuery) (gate.LedgerPage, error) {
	if q.From < gate.MaxScan {
		return gate.LedgerPage{Next: gate.MaxScan}, nil
	}
	return gate.LedgerPage{Rows: []gate.DecisionRow{{Seq: q.From}}, Next: q.From + 1}, nil
}

// A wait for what a filter chooses looks through all that there is before it
// waits for what comes; without a wait the answer says where to go on.
func TestWaitLooksOn(t *testing.T) {
	h := prepare(t, contract())
	h.server.reader = passing{h.store}
	h.serve()
	page, err := h.client.WaitLedger(t.Context(), gate.LedgerQuery{From: 1}, time.Nanosecond)
	if err != nil || len(page.Rows) != 1 || page.Next != gate.MaxScan+1 {
		t.Errorf("with a wait: %+v, %v, want the decision at %d", page, err, gate.MaxScan)
	}
	if page, err = h.client.Ledger(t.Context(), gate.LedgerQuery{From: 1}); err != nil || len(page.Rows) != 0 || page.Next != gate.MaxScan {
		t.Errorf("without: %+v, %v, want nothing, and %d to go on at", page, err, gate.MaxScan)
	}
}
