package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tollgate/escalation"
	"tollgate/gate"
)

// three makes three items, and returns them as a body has them.
func (h *house) three() (picks []escalation.Pick, items string) {
	h.t.Helper()
	var list []string
	for i := range 3 {
		run := fmt.Sprintf("r%d", i+1)
		h.run(run, 6)
		id := h.lost(run, "charge-42")
		picks = append(picks, escalation.Pick{ID: id, Version: 1})
		list = append(list, fmt.Sprintf(`{"id":%q,"version":1}`, id))
	}
	return picks, "[" + strings.Join(list, ",") + "]"
}

// R-P9: a line of JSON per item, whatever became of it, and nothing else.
func TestBulkIsALinePerItem(t *testing.T) {
	h := open(t)
	picks, items := h.three()
	h.post("/v1/items/"+string(picks[1].ID)+"/reject", `{"request_id":"q1","version":1,"reason":"first"}`, 200, nil)
	status, header, text := h.send("POST", "/v1/items/bulk/reject", `{"request_id":"q2","reason":"down","items":`+items+`}`)
	if kind := header.Get("Content-Type"); status != 200 || kind != "application/jsonl" {
		t.Fatalf("status %d, %s: %s", status, kind, text)
	}
	lines := strings.Split(string(text), "\n")
	if len(lines) != 4 || lines[3] != "" {
		t.Fatalf("%d lines, want 3 and an end:\n%s", len(lines), text)
	}
	for i, want := range []gate.Verdict{gate.Resolved, gate.Stale, gate.Resolved} {
		var l escalation.BulkLine
		if err := json.Unmarshal([]byte(lines[i]), &l); err != nil {
			t.Fatal(err)
		}
		if l.ID != picks[i].ID || l.Row == nil || l.Row.Verdict != want || l.Row.Actor.ID != me() {
			t.Errorf("line %d = %s, want %s by %s", i, lines[i], want, me())
		}
	}
}

// R-P9, R-P6: what the client hands over is what the desk does, and the same
// call again is one action per item.
func TestClientSendsInBulk(t *testing.T) {
	h := open(t)
	picks, _ := h.three()
	picks[1].ID = "i-0000000000"
	act := escalation.Act{Verb: gate.ActReconcile, RequestID: "q", Finding: gate.FindingDidNotHappen, Evidence: "their log", Reason: "r"}
	send := func(do func([]escalation.Pick, func(escalation.BulkLine)) error) (lines []escalation.BulkLine) {
		t.Helper()
		if err := do(picks, func(l escalation.BulkLine) { lines = append(lines, l) }); err != nil {
			t.Fatal(err)
		}
		return lines
	}
	sent := send(func(p []escalation.Pick, each func(escalation.BulkLine)) error {
		return h.client.Bulk(t.Context(), gate.Actor{}, p, act, each)
	})
	before := len(h.store.Decisions())
	if len(sent) != 3 || sent[0].Row == nil || sent[0].Row.Verdict != gate.Resolved || !strings.HasSuffix(sent[1].Err, gate.ErrNoItem.Error()) {
		t.Fatalf("lines = %+v", sent)
	}
	own := send(func(p []escalation.Pick, each func(escalation.BulkLine)) error {
		return h.desk.Bulk(t.Context(), sent[0].Row.Actor, p, act, each)
	})
	if diff := cmp.Diff(sent, own); diff != "" {
		t.Errorf("(-client +desk):\n%s", diff)
	}
	if got := len(h.store.Decisions()); got != before {
		t.Errorf("the ledger grew by %d, want 0", got-before)
	}
}

// A bulk call that is none is refused whole, with nothing sent.
func TestBulkCallsThatAreNone(t *testing.T) {
	h := open(t)
	picks, items := h.three()
	id := string(picks[0].ID)
	before := len(h.store.Decisions())
	for _, row := range []struct {
		method, verb, body string
		status             int
		detail             string
	}{
		{"POST", "reject", `{"request_id":"q","reason":"r","items":[]}`, 400, "items: want 1 to 1000 items, got 0"},
		{"POST", "reject", `{"request_id":"q","reason":"r"}`, 400, "items: want 1 to 1000 items, got 0"},
		{"POST", "reject", `{"request_id":"q","reason":"r","version":1,"items":` + items + `}`, 400, `body: want only as_new_action, caps, evidence, finding, items, `},
		{"POST", "reject", `{"request_id":"q","reason":"r","items":{"id":"` + id + `"}}`, 400, "items: want a list, got an object"},
		{"POST", "reject", `{"request_id":"q","reason":"r","items":["` + id + `"]}`, 400, "items[0]: want an object, got a string"},
		{"POST", "reject", `{"request_id":"q","reason":"r","items":[{"id":"` + id + `","version":1,"Version":2}]}`, 400, `items[0]: want only id, version, got \"Version\"`},
		{"POST", "reject", `{"request_id":"q","reason":"r","items":[{"id":"` + id + `","version":1.5}]}`, 400, "items[0].version: want a whole number, got 1.5"},
		{"POST", "reject", `{"request_id":"q","reason":"r","items":[{"id":"` + id + `"},{"id":"` + id + `"}]}`, 400, "each item once"},
		{"POST", "reject", `{"request_id":"q","items":` + items + `}`, 400, "reason"},
		{"POST", "new-run", `{"request_id":"q","reason":"r","run":"r9","limits":{"attempts":1,"deadline":"1s","side_effects":0},"items":` + items + `}`, 400, "new-run"},
		{"POST", "retry", `{}`, 404, "there is no such call"},
		{"GET", "reject", ``, 405, "another method"},
	} {
		status, header, text := h.send(row.method, "/v1/items/bulk/"+row.verb, row.body)
		if status != row.status || header.Get("Content-Type") != "application/problem+json" || !strings.Contains(string(text), row.detail) {
			t.Errorf("%s %s = %d %s, want %d with %s", row.verb, row.body, status, text, row.status, row.detail)
		}
	}
	if got := len(h.store.Decisions()); got != before {
		t.Errorf("the ledger grew by %d, want 0", got-before)
	}
	err := h.client.Bulk(t.Context(), gate.Actor{}, nil, escalation.Act{Verb: gate.ActReject, RequestID: "q", Reason: "r"}, func(escalation.BulkLine) { t.Error("a line") })
	var input *gate.InputError
	if !errors.As(err, &input) || input.Field != "items" {
		t.Errorf("the client's error = %v, want one about items", err)
	}
}

// An answer that breaks off is not taken for a whole one.
func TestBulkAnswerThatBreaksOff(t *testing.T) {
	h := prepare(t, contract())
	h.server.mux = http.NewServeMux()
	h.server.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", kindLines)
		_, _ = fmt.Fprintln(w, `{"id":"i-1","skipped":"why"}`)
		if strings.HasSuffix(r.URL.Path, "/claim") {
			_, _ = fmt.Fprint(w, `{"id":"i-`)
		}
	})
	h.serve()
	for _, verb := range []gate.Act{gate.ActNote, gate.ActClaim} {
		lines := 0
		err := h.client.Bulk(t.Context(), gate.Actor{}, []escalation.Pick{{ID: "i-1"}, {ID: "i-2"}}, escalation.Act{Verb: verb}, func(escalation.BulkLine) { lines++ })
		if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "after 1 of 2 items") || lines != 1 {
			t.Errorf("%s: %d lines, %v; want 1, and that the answer ends", verb, lines, err)
		}
	}
}

// The queue by cause comes over the socket as the desk has it.
func TestCausesOverTheSocket(t *testing.T) {
	h := open(t)
	h.three()
	h.post("/v1/runs/r1/ask", `{"ask_id":"a9","op":"deploy-1","tool":"deploy","input":{}}`, 200, nil)
	for _, filter := range []gate.Filter{{}, gate.FilterBy(gate.FilterQueue, [2]string{"dep", "cluster"})} {
		got, err := h.client.Causes(t.Context(), filter)
		want, wrong := h.desk.Causes(t.Context(), filter)
		if err != nil || wrong != nil {
			t.Fatal(err, wrong)
		}
		if diff := cmp.Diff(got, want); diff != "" || len(want.Causes) == 0 {
			t.Errorf("%q (-client +desk):\n%s", filter, diff)
		}
	}
	if status, _, text := h.send("GET", "/v1/causes?filter=colour:red", ""); status != 400 || !strings.Contains(string(text), `"field":"filter"`) {
		t.Errorf("a filter that is none: %d %s", status, text)
	}
	if status, _, text := h.send("GET", "/v1/causes?limit=3", ""); status != 400 {
		t.Errorf("a parameter that there is not: %d %s", status, text)
	}
}
