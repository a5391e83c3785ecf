package api

import (
	"context"
	"errors"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tollgate/escalation"
	"tollgate/gate"
)

// An attached console is the same program: what the client reads is what the
// engine has.
func TestClientReadsWhatTheEngineHas(t *testing.T) {
	k := contract()
	k.Dependencies["payments-api"] = gate.DependencyRule{Breaker: &gate.BreakerRule{Window: time.Minute, Failures: 1, CoolDown: time.Minute}}
	h := openWith(t, k)
	tokens, attempts, effects, deadline, reserve := int64(100), int64(9), int64(3), 5*time.Minute, 2*time.Second
	if _, err := h.client.Start(t.Context(), gate.Start{
		Run: "team/r.1", Agent: "planner", Caps: []gate.Cap{{Agent: "planner/a", Attempts: 2}, {Agent: "planner/b", Attempts: 3}},
		Limits: gate.Limits{Attempts: &attempts, SideEffects: &effects, Deadline: &deadline, Reserve: &reserve, RetryTokens: &tokens},
	}); err != nil {
		t.Fatal(err)
	}
	h.run("..", 9)
	id := h.lost("..", "charge-42")
	if _, err := h.client.Ask(t.Context(), gate.Ask{
		Run: "team/r.1", ID: "a/1", Op: "look#1", Tool: "look", Agent: "planner/a", Path: gate.PathSubagent, Input: []byte(`{"q":"é"}`),
		Tokens: 12, Trace: "4bf92f3577b34da6a3ce929d0e0e4736",
	}); err != nil {
		t.Fatal(err)
	}
	h.clock.advance(time.Second)
	if _, err := h.client.Report(t.Context(), gate.Report{
		Run: "team/r.1", Op: "look#1", Ordinal: 1, Inner: 2, Failure: gate.Failure{Code: "timeout", Message: "m\x1b", Status: "504", Field: "f", Suggest: "s"},
	}); err != nil {
		t.Fatal(err)
	}
	now, _ := h.door.Now()
	ctx := t.Context()
	for _, row := range []struct {
		name string
		read func(gate.Reader) (any, error)
	}{
		{"runs", func(r gate.Reader) (any, error) { return r.Runs(ctx, gate.RunsQuery{Now: now}) }},
		{"a window of runs", func(r gate.Reader) (any, error) {
			return r.Runs(ctx, gate.RunsQuery{Now: now, Window: gate.Window{Anchor: "team/r.1", Before: 1, After: 1}, State: gate.RunActive, Filter: gate.FilterBy(gate.FilterRuns, [2]string{"", "."})})
		}},
		{"a run", func(r gate.Reader) (any, error) { return r.Run(ctx, "team/r.1", now) }},
		{"a run of dots", func(r gate.Reader) (any, error) { return r.Run(ctx, "..", now) }},
		{"an operation", func(r gate.Reader) (any, error) {
			return r.Operation(ctx, gate.Ref{Run: "team/r.1", Op: "look#1"}, now)
		}},
		{"items", func(r gate.Reader) (any, error) {
			return r.Items(ctx, gate.ItemsQuery{Now: now, State: gate.HoldOpen, Kind: gate.KindOutcomeUnknown, Run: "..", Filter: gate.FilterBy(gate.FilterQueue, [2]string{"", "charge"}, [2]string{"dep", "payments-api"})})
		}},
		{"items that are put off", func(r gate.Reader) (any, error) {
			return r.Items(ctx, gate.ItemsQuery{Now: now, Snoozed: true})
		}},
		{"no items", func(r gate.Reader) (any, error) {
			return r.Items(ctx, gate.ItemsQuery{Now: now, State: gate.HoldResolved})
		}},
		{"where an item belongs", func(r gate.Reader) (any, error) { return r.Find(ctx, id) }},
		{"the ledger", func(r gate.Reader) (any, error) { return r.Ledger(ctx, gate.LedgerQuery{}) }},
		{"the ledger of an operation, backwards", func(r gate.Reader) (any, error) {
			return r.Ledger(ctx, gate.LedgerQuery{Back: true, Limit: 1, Run: "team/r.1", Op: "look#1"})
		}},
		{"the ledger of a filter", func(r gate.Reader) (any, error) {
			f, err := gate.ParseFilter(gate.FilterLedger, `act:report !tool:"a b" since:1h`)
			if err != nil {
				return nil, err
			}
			return r.Ledger(ctx, gate.LedgerQuery{Filter: f, Now: now})
		}},
		{"dependencies", func(r gate.Reader) (any, error) { return r.Dependencies(ctx, now) }},
		{"counts", func(r gate.Reader) (any, error) { return r.Counts(ctx) }},
		{"no run", func(r gate.Reader) (any, error) { return r.Run(ctx, "r9", now) }},
		{"no operation", func(r gate.Reader) (any, error) { return r.Operation(ctx, gate.Ref{Run: "..", Op: "no"}, now) }},
		{"no item", func(r gate.Reader) (any, error) { return r.Find(ctx, "i-0000000000") }},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, gotErr := row.read(h.client)
			want, wantErr := row.read(h.store)
			if wantErr != nil {
				if gotErr == nil || gotErr.Error() != wantErr.Error() {
					t.Errorf("error = %v, want %v", gotErr, wantErr)
				}
				return
			}
			if gotErr != nil {
				t.Fatal(gotErr)
			}
			if diff := cmp.Diff(got, want, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("over the socket (-got +want):\n%s", diff)
			}
		})
	}
}

// The errors of the gate are the same on the client's side.
func TestClientErrors(t *testing.T) {
	h := open(t)
	h.run("r1", 6)
	id := h.lost("r1", "charge-42")
	ctx := t.Context()
	one := int64(1)
	reject := escalation.Act{Verb: gate.ActReject, RequestID: "q1", Version: 1, Reason: "r"}
	for _, row := range []struct {
		name string
		call func() error
		want error
	}{
		{"ask of no run", func() error {
			_, err := h.client.Ask(ctx, gate.Ask{Run: "r9", ID: "a", Tool: "look", Input: []byte("{}")})
			return err
		}, gate.ErrNoRun},
		{"unknown tool", func() error {
			_, err := h.client.Ask(ctx, gate.Ask{Run: "r1", ID: "a", Tool: "nope", Input: []byte("{}")})
			return err
		}, gate.ErrUnknownTool},
		{"report of no attempt", func() error {
			_, err := h.client.Report(ctx, gate.Report{Run: "r1", Op: "charge-42", Ordinal: 9, OK: true})
			return err
		}, gate.ErrNoAttempt},
		{"another report", func() error {
			_, err := h.client.Report(ctx, gate.Report{Run: "r1", Op: "charge-42", Ordinal: 1, Failure: gate.Failure{Code: "rate_limit"}})
			return err
		}, gate.ErrReused},
		{"end of no run", func() error { _, err := h.client.End(ctx, gate.End{Run: "r9"}); return err }, gate.ErrNoRun},
		{"start with other limits", func() error {
			_, err := h.client.Start(ctx, gate.Start{Run: "r1", Limits: gate.Limits{Attempts: &one}})
			return err
		}, gate.ErrReused},
		{"no item", func() error { _, err := h.client.Item(ctx, "i-0000000000"); return err }, gate.ErrNoItem},
		{"a verb on no item", func() error {
			_, err := h.client.Do(ctx, gate.Actor{}, "i-0000000000", reject)
			return err
		}, gate.ErrNoItem},
	} {
		if err := row.call(); !errors.Is(err, row.want) {
			t.Errorf("%s: %v, want %v", row.name, err, row.want)
		}
	}
	var input *gate.InputError
	bad := reject
	bad.Reason = ""
	if _, err := h.client.Do(ctx, gate.Actor{}, id, bad); !errors.As(err, &input) || input.Field != "reason" {
		t.Errorf("a verb without a reason: %v, want bad input about the reason", err)
	}
	for what, call := range map[string]func() error{
		"run":  func() error { _, err := h.client.Ask(ctx, gate.Ask{ID: "a"}); return err },
		"op":   func() error { _, err := h.client.Operation(ctx, gate.Ref{Run: "r1"}, noon); return err },
		"item": func() error { _, err := h.client.Do(ctx, gate.Actor{}, "", reject); return err },
		"verb": func() error { _, err := h.client.Do(ctx, gate.Actor{}, id, escalation.Act{}); return err },
	} {
		if err := call(); !errors.As(err, &input) || input.Field != what {
			t.Errorf("no name of the %s: %v, want bad input about it", what, err)
		}
	}
	if _, err := h.client.Do(ctx, gate.Actor{}, id, escalation.Act{RequestID: "q"}); err == nil {
		t.Error("an act without a verb was taken")
	}
	row, err := h.client.Do(ctx, gate.Actor{ID: "root", Name: "root"}, id, reject)
	if err != nil || row.Verdict != gate.Resolved || row.Actor.ID != me() {
		t.Errorf("reject = %s by %+v, %v; want RESOLVED by %s, whoever the caller says to be", row.Verdict, row.Actor, err, me())
	}
	row, err = h.client.Do(ctx, gate.Actor{}, id, escalation.Act{Verb: gate.ActClaim, RequestID: "q2", Version: 1})
	if err != nil || row.Verdict != gate.Stale || row.Changed == nil {
		t.Errorf("claim of what has moved = %s, %v; want STALE with what changed", row.Verdict, err)
	}
}

// Every verb goes over the socket with all that belongs to it.
func TestClientVerbs(t *testing.T) {
	h := open(t)
	h.run("r1", 6)
	id := h.lost("r1", "charge-42")
	n, deadline := int64(3), time.Minute
	for i, a := range []escalation.Act{
		{Verb: gate.ActClaim, Version: 1},
		{Verb: gate.ActRelease, Version: 1, TakeOver: true},
		{Verb: gate.ActSnooze, Version: 1, Until: noon.Add(time.Hour)},
		{Verb: gate.ActNote, Version: 1, Reason: "n"},
		{Verb: gate.ActReconcile, Version: 1, Finding: gate.FindingDidNotHappen, Reason: "r", Evidence: "e"},
		{Verb: gate.ActApprove, Version: 2, Reason: "r", Ruling: gate.RulingCauseCleared},
	} {
		a.RequestID = string(rune('a' + i))
		row, err := h.client.Do(t.Context(), gate.Actor{}, id, a)
		if err != nil || row.Act != a.Verb || row.Verdict == gate.Stale {
			t.Fatalf("%s = %s, %v", a.Verb, row.Verdict, err)
		}
		if row.Reason != a.Reason || row.Evidence != a.Evidence || row.Finding != a.Finding || row.Ruling != a.Ruling {
			t.Errorf("%s arrived as %+v", a.Verb, row)
		}
	}
	h.post("/v1/runs/r1/report", `{"op":"charge-42","ordinal":2,"failure":{"code":"timeout"}}`, 200, nil)
	it, err := h.client.Item(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	row, err := h.client.Do(t.Context(), gate.Actor{}, id, escalation.Act{
		Verb: gate.ActNewRun, RequestID: "z", Version: it.Version, Reason: "r", NewRun: "r2",
		Limits: gate.Limits{Attempts: &n, SideEffects: &n, Deadline: &deadline}, Caps: []gate.Cap{{Agent: "planner/a", Attempts: 1}},
	})
	if err != nil || row.NewRun != "r2" {
		t.Fatalf("new-run = %s to %q, %v", row.Verdict, row.NewRun, err)
	}
	next, err := h.client.Run(t.Context(), "r2", noon)
	if err != nil || next.Parent != "r1" || len(next.Caps) != 1 || next.Budget.Attempts.Limit != 3 {
		t.Errorf("the new run = %+v, %v; want one that goes on from r1 with its own limits and cap", next.RunRow, err)
	}
}

// A socket that nobody answers is told apart from a gate that refuses.
func TestClientUnreachable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gate.sock")
	c := NewClient(path)
	if _, err := c.Counts(t.Context()); !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), path) {
		t.Errorf("no socket: %v, want unreachable, with the path", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Counts(ctx); !errors.Is(err, context.Canceled) || errors.Is(err, ErrUnreachable) {
		t.Errorf("a caller who has gone: %v, want canceled", err)
	}
	newest := c.Watch(ctx)
	if _, ok := <-newest; ok {
		t.Error("a number from nowhere")
	}

	// Another program's server.
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	other := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no\x1b[2J", 500) })} //nolint:gosec // one request
	go func() { _ = other.Serve(l) }()
	defer other.Close() //nolint:errcheck // the test is over
	if _, err := c.Counts(t.Context()); !errors.Is(err, ErrUnreachable) || strings.Contains(err.Error(), "\x1b") {
		t.Errorf("another program: %v, want unreachable", err)
	}
}
