package cli

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tollgate/api"
	"tollgate/escalation"
	"tollgate/gate"
	"tollgate/runstore/memstore"
)

var update = flag.Bool("update", false, "write the golden files")

// shift is a gate whose clock a test moves, with people who decide.
type shift struct {
	t     *testing.T
	past  time.Duration // since the morning
	store *memstore.Store
	door  *gate.Door
	acts  int
}

var (
	morning = time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	agents  = gate.Actor{ID: "uid:1001", Name: "agents", Source: "peer-uid"}
	dana    = gate.Actor{ID: "uid:1002", Name: "dana", Source: "peer-uid"}
	eli     = gate.Actor{ID: "uid:1003", Name: "eli", Source: "peer-uid"}
)

func (s *shift) Wall() time.Time        { return morning.Add(s.past) }
func (s *shift) Elapsed() time.Duration { return s.past }

func newShift(t *testing.T) *shift {
	t.Helper()
	k := gate.NewContract()
	k.Tools = map[string]*gate.Tool{
		"payments.charge": {Effect: gate.EffectWrite, Dependency: "payments-api", Timeout: 2 * time.Second},
		"cluster.deploy":  {Effect: gate.EffectWrite, Safety: gate.SafetyKey, Dependency: "cluster", Timeout: 2 * time.Second, Approval: gate.ApprovalRequired},
		"search":          {Effect: gate.EffectRead, Safety: gate.SafetyIdempotent, Dependency: "index", Timeout: 2 * time.Second},
	}
	k.Dependencies = map[string]gate.DependencyRule{
		"index": {Breaker: &gate.BreakerRule{Window: time.Minute, Failures: 1, Share: 0.5, CoolDown: time.Hour}},
	}
	k.Policies[gate.StarterName].Routes.Permanent = gate.RouteDeadLetter
	s := &shift{t: t, store: memstore.New("store-1")}
	door, err := gate.NewDoor(t.Context(), s.store, k, s, func() float64 { return 0 })
	if err != nil {
		t.Fatal(err)
	}
	s.door = door
	return s
}

func (s *shift) do(c gate.Command) {
	s.t.Helper()
	if _, err := s.door.Do(s.t.Context(), c); err != nil {
		s.t.Fatalf("%s: %v", c.Act(), err)
	}
}

func (s *shift) run(id gate.RunID, attempts, effects int64) {
	s.t.Helper()
	day, tokens := 24*time.Hour, int64(60_000)
	s.do(gate.Start{Actor: agents, Run: id, Agent: "planner", Limits: gate.Limits{Attempts: &attempts, SideEffects: &effects, Deadline: &day, RetryTokens: &tokens}})
}

// fails asks for an operation that then fails with a code; no code: it is only
// asked for.
func (s *shift) fails(run gate.RunID, op gate.OpID, tool string, code gate.Code) {
	s.t.Helper()
	s.acts++
	s.do(gate.Ask{Actor: agents, Run: run, ID: fmt.Sprint("a", s.acts), Op: op, Tool: tool, Agent: "planner/billing", Input: []byte(`{}`)})
	s.past += 2 * time.Second
	if code != "" {
		s.do(gate.Report{Actor: agents, Run: run, Op: op, Ordinal: 1, Failure: gate.Failure{Code: code, Message: "no answer"}})
	}
}

// after does what a person does some minutes later.
func (s *shift) after(minutes int, v gate.Verb) {
	s.t.Helper()
	s.past += time.Duration(minutes) * time.Minute
	s.acts++
	v.ID = fmt.Sprint("q", s.acts)
	s.do(v)
}

// oneShift is a shift with something of everything; it begins at 11:00 and is
// handed over at 14:00.
func oneShift(t *testing.T) *shift {
	s := newShift(t)
	s.run("run-0", 6, 2)
	s.fails("run-0", "charge-1", "payments.charge", "timeout")
	s.after(5, gate.Verb{Actor: eli, Do: gate.ActReject, Run: "run-0", Op: "charge-1", Version: 1, Reason: "before the shift"})
	s.past = 2 * time.Hour
	s.run("run-1", 6, 3)
	s.run("run-2", 2, 1)
	for _, op := range []gate.OpID{"charge-42", "charge-43", "charge-44"} {
		s.fails("run-1", op, "payments.charge", "timeout")
	}
	s.fails("run-2", "charge-50", "payments.charge", "timeout")
	s.fails("run-2", "deploy-3", "cluster.deploy", "")
	s.run("run-3", 4, 1)
	s.fails("run-3", "import-9", "payments.charge", "policy_block")
	s.run("run-4", 4, 0)
	s.after(10, gate.Verb{Actor: dana, Do: gate.ActClaim, Run: "run-1", Op: "charge-42", Version: 1})
	s.after(1, gate.Verb{Actor: dana, Do: gate.ActReconcile, Run: "run-1", Op: "charge-42", Version: 1, Finding: gate.FindingDidNotHappen, Evidence: "no ch_42 | in their log", Reason: "looked it up"})
	s.after(1, gate.Verb{Actor: dana, Do: gate.ActReject, Run: "run-1", Op: "charge-42", Version: 2, Reason: "customer pays by invoice"})
	s.after(1, gate.Verb{Actor: dana, Do: gate.ActApprove, Run: "run-1", Op: "charge-43", Version: 1, Reason: "try again"})
	s.after(1, gate.Verb{Actor: dana, Do: gate.ActNote, Run: "run-1", Op: "charge-43", Version: 1, Reason: "asked the provider, ticket #991"})
	s.after(1, gate.Verb{Actor: dana, Do: gate.ActSnooze, Run: "run-1", Op: "charge-44", Version: 1, Until: morning.Add(6 * time.Hour)})
	s.after(1, gate.Verb{Actor: dana, Do: gate.ActNote, Run: "run-1", Op: "charge-42", Version: 3, Reason: "on what is resolved"})
	s.past = 5*time.Hour - 5*time.Minute
	s.after(0, gate.Verb{Actor: eli, Do: gate.ActClaim, Run: "run-2", Op: "deploy-3", Version: 1})
	s.fails("run-4", "find-7", "search", "timeout")
	s.past = 5 * time.Hour
	return s
}

// A shift, as it is handed over.
func TestHandoverOfAShift(t *testing.T) {
	s := oneShift(t)
	h, err := handover(t.Context(), s.store, morning.Add(2*time.Hour), s.Wall())
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := (&app{out: &b}).object(h); err != nil {
		t.Fatal(err)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, b.Bytes(), "", " "); err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]string{"handover.md": h.Markdown(), "handover.json": indented.String()} {
		file := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(got, string(want)); diff != "" {
			t.Errorf("%s (-got +want):\n%s", file, diff)
		}
	}
}

// A ledger that is longer than a report reads is cut, and the report says so.
func TestHandoverSaysWhatItCut(t *testing.T) {
	s := oneShift(t)
	all, err := handover(t.Context(), s.store, morning.Add(2*time.Hour), s.Wall())
	if err != nil || len(all.Cut) > 0 {
		t.Fatalf("cut %q, %v", all.Cut, err)
	}
	cut := *all
	cut.Decided, cut.Notes, cut.Budgets = nil, nil, nil
	if err := readShift(t.Context(), s.store, &cut, 5); err != nil {
		t.Fatal(err)
	}
	if len(cut.Cut) != 1 || !strings.HasPrefix(cut.Cut[0], "ledger: the newest 5 decisions were read, back to 2026-01-05T11:") || len(cut.Decided) >= len(all.Decided) {
		t.Errorf("cut %q, %d acts of %d", cut.Cut, len(cut.Decided), len(all.Decided))
	}
	if rows := newest(&cut, make([]int, handoverRows+1), "decided"); len(rows) != handoverRows || len(cut.Cut) != 2 {
		t.Errorf("%d rows, cut %q", len(rows), cut.Cut)
	}
	if rows := first(&cut, make([]int, handoverRows+1), "causes"); len(rows) != handoverRows || len(cut.Cut) != 3 {
		t.Errorf("%d rows, cut %q", len(rows), cut.Cut)
	}
}

// The report is the same over the socket and from the store itself.
func TestHandoverOverTheSocket(t *testing.T) {
	const text = "their log | of noon\n# evil"
	o, socket := runningOwner(t, worldContract)
	w := &world{t: t, socket: socket, client: api.NewClient(socket), text: text}
	t.Cleanup(func() {
		if err := w.client.Close(); err != nil {
			t.Error(err)
		}
	})
	w.run("run-1")
	for _, op := range []gate.OpID{"charge-42", "charge-43"} {
		w.ask("run-1", op, "payments.charge")
		w.report("run-1", op, w.failed("timeout"))
	}
	w.do("run-1", "charge-42", escalation.Act{Verb: gate.ActReconcile, Version: 1, Finding: gate.FindingDidNotHappen, Evidence: text, Reason: text})
	w.do("run-1", "charge-42", escalation.Act{Verb: gate.ActReject, Version: 2, Reason: text})
	w.do("run-1", "charge-43", escalation.Act{Verb: gate.ActNote, Version: 1, Reason: text})

	now := time.Now().UTC()
	since := now.Add(-time.Hour)
	over, err := handover(t.Context(), w.client, since, now)
	if err != nil {
		t.Fatal(err)
	}
	if len(over.Decided) != 2 || over.Decided[0].Evidence != text || len(over.Open) != 1 || len(over.Notes) != 1 || len(over.Budgets) != 1 {
		t.Errorf("report = %+v", over)
	}
	own, err := handover(t.Context(), o.Store, since, now)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := own.Markdown(), over.Markdown(); got != want {
		t.Errorf("own store and socket (-own +socket):\n%s", cmp.Diff(got, want))
	}
	out, errs := shown(t, 0, "handover", "--since", "1h", "--socket", w.socket)
	if errs != "" || !strings.Contains(out, "## Decided by people: 2\n") || strings.Contains(out, "\n# evil") {
		t.Errorf("%s%s", errs, out)
	}
	var read struct{ Decided []map[string]any }
	out, errs = shown(t, 0, "handover", "--since", since.Format(time.RFC3339), "--socket", w.socket, "--json")
	if err := json.Unmarshal([]byte(out), &read); err != nil || errs != "" || strings.Count(out, "\n") != 1 || len(read.Decided) != 2 || read.Decided[0]["evidence"] != text {
		t.Errorf("%v, %s, %s", err, errs, out)
	}
}

// What is no time to begin at: exit code 2, with what is wanted.
func TestHandoverSince(t *testing.T) {
	away(t)
	for _, bad := range []string{"", "8", "-8h", "0s", "8761h", "yesterday", "2026-01-05", "2999-01-05T09:00:00Z"} {
		if code, _, errs := tried(t, "handover", "--since", bad); code != exitUsage || !strings.Contains(errs, "--since: want a duration from 1s to 8760h such as 8h, or an instant in the past") {
			t.Errorf("--since %q: exit code %d: %s", bad, code, errs)
		}
	}
	for _, good := range []string{"8h", "1s", "2026-01-05T09:00:00Z", "2026-01-05T10:00:00+01:00"} {
		if code, _, errs := tried(t, "handover", "--since", good); code != exitNoStore {
			t.Errorf("--since %q: exit code %d, want that there is no store: %s", good, code, errs)
		}
	}
}
