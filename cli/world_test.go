package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tollgate/api"
	"tollgate/escalation"
	"tollgate/gate"
	"tollgate/runstore"
)

// running starts a gate in this process, with a contract file if there is one,
// and returns its socket. The store is at "store".
func running(t *testing.T, contract string) string {
	t.Helper()
	_, path := runningOwner(t, contract)
	return path
}

// runningOwner is running, with the owner of the store.
func runningOwner(t *testing.T, contract string) (*owner, string) {
	t.Helper()
	away(t)
	p := place{store: "store"}
	if contract != "" {
		p.contract = "contract.yaml"
		if err := os.WriteFile(p.contract, []byte(contract), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := runstore.Init(p.store, ""); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), socketName)
	o, server, err := p.ownAndServe(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, end := range []func() error{server.close, o.Close} {
			if err := end(); err != nil {
				t.Error(err)
			}
		}
	})
	return o, path
}

// shown runs a command as on a terminal of so many cells, 0 for a pipe.
func shown(t *testing.T, cells int, args ...string) (out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	a := &app{in: strings.NewReader(""), out: &o, errs: &e, terminal: cells > 0, cells: cells}
	root := a.root()
	root.SetArgs(args)
	complain(&e, safely(func() error { return root.ExecuteContext(t.Context()) }))
	return o.String(), e.String()
}

const worldContract = `contract: 1
policies:
  starter: {permit_ttl: 1h, report_grace: 1h}
tools:
  payments.charge: {effect: write, retry_safety: never, dependency: payments-api, timeout: 2s}
  cluster.deploy: {effect: write, retry_safety: idempotency-key, dependency: cluster, timeout: 2s, approval: required}
  search: {effect: read, timeout: 2s}
`

// world is a gate behind which runs have spent and items wait. Every text that
// an agent, a provider or an operator may choose is the given one.
type world struct {
	t      *testing.T
	socket string
	client *api.Client
	text   string
}

func newWorld(t *testing.T, text string) *world {
	t.Helper()
	socket := running(t, worldContract)
	w := &world{t: t, socket: socket, client: api.NewClient(socket), text: text}
	t.Cleanup(func() {
		if err := w.client.Close(); err != nil {
			t.Error(err)
		}
	})
	w.run("run-1")
	w.ask("run-1", "search-7", "search")
	w.report("run-1", "search-7", gate.Report{OK: true, Result: text})
	w.ask("run-1", "charge-42", "payments.charge")
	w.report("run-1", "charge-42", w.failed("timeout"))
	w.do("run-1", "charge-42", escalation.Act{Verb: gate.ActClaim, Version: 1})
	w.do("run-1", "charge-42", escalation.Act{Verb: gate.ActNote, Version: 1, Reason: text})
	w.ask("run-1", "deploy-3", "cluster.deploy")
	w.run("run-2")
	w.ask("run-2", "charge-43", "payments.charge")
	w.report("run-2", "charge-43", w.failed("timeout"))
	w.do("run-2", "charge-43", escalation.Act{Verb: gate.ActReconcile, Version: 1, Finding: gate.FindingDidNotHappen, Evidence: text, Reason: text})
	w.do("run-2", "charge-43", escalation.Act{Verb: gate.ActReject, Version: 2, Reason: text})
	w.ask("run-2", "search-8", "search")
	w.report("run-2", "search-8", w.failed(gate.Code(w.text)))
	return w
}

func (w *world) failed(code gate.Code) gate.Report {
	return gate.Report{Failure: gate.Failure{Code: code, Message: w.text, Status: w.text, Field: w.text, Suggest: w.text}}
}

func (w *world) run(id gate.RunID) {
	w.t.Helper()
	six, effects, day := int64(6), int64(2), gate.MaxDeadline
	limits := gate.Limits{Attempts: &six, SideEffects: &effects, Deadline: &day}
	if _, err := w.client.Start(w.t.Context(), gate.Start{Run: id, Agent: "planner", Limits: limits}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) ask(run gate.RunID, op gate.OpID, tool string) {
	w.t.Helper()
	input, err := json.Marshal(map[string]string{"text": w.text})
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.client.Ask(w.t.Context(), gate.Ask{Run: run, ID: "a-" + string(op), Op: op, Tool: tool, Agent: "planner/billing", Input: input}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) report(run gate.RunID, op gate.OpID, r gate.Report) {
	w.t.Helper()
	r.Run, r.Op, r.Ordinal = run, op, 1
	if _, err := w.client.Report(w.t.Context(), r); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) do(run gate.RunID, op gate.OpID, act escalation.Act) {
	w.t.Helper()
	act.RequestID = "q-" + act.Verb.String() + "-" + string(op)
	if _, err := w.client.Do(w.t.Context(), gate.Actor{}, gate.ItemIDOf(run, op), act); err != nil {
		w.t.Fatal(err)
	}
}
