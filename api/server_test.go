package api

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tollgate/escalation"
	"tollgate/gate"
)

// An agent in any language needs three calls.
func TestThreeCalls(t *testing.T) {
	h := open(t)
	var run gate.RunRow
	h.post("/v1/runs", `{"run":"r1","agent":"planner","limits":{"attempts":6,"deadline":"30s","side_effects":1,"reserve":"2s"}}`, 200, &run)
	if run.Run != "r1" || run.Budget.Attempts != (gate.Spent{Limit: 6}) || run.Budget.LeftMS != 28000 {
		t.Errorf("run = %+v, want r1 with 6 attempts and 28 s left", run)
	}
	var d gate.DecisionRow
	h.post("/v1/runs/r1/ask", `{"ask_id":"a1","op":"charge-42","tool":"charge","agent":"planner/billing","input":{"order":42},
		"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}`, 200, &d)
	if d.Verdict != gate.Admit || d.Permit == nil || d.Permit.Key == "" || d.Permit.Inner != 1 {
		t.Fatalf("ask = %s with permit %+v, want ADMIT with a key and one inner attempt", d.Verdict, d.Permit)
	}
	if d.Actor.ID != me() || d.Actor.Source != "peer-uid" || d.Trace != "4bf92f3577b34da6a3ce929d0e0e4736" || d.Agent != "planner/billing" {
		t.Errorf("asked by %+v as %q in trace %q, want %s from peer-uid as planner/billing", d.Actor, d.Agent, d.Trace, me())
	}
	h.post("/v1/runs/r1/report", `{"op":"charge-42","ordinal":1,"failure":{"code":"timeout"}}`, 200, &d)
	if d.Verdict != gate.StopUnsafeToRepeat || d.Terminal == nil || d.Terminal.NextAction != gate.RouteReconcile || d.Item == "" {
		t.Errorf("report = %s, terminal %+v, item %q; want STOP_UNSAFE_TO_REPEAT, to reconcile, with an item", d.Verdict, d.Terminal, d.Item)
	}
	h.post("/v1/runs/r1/end", ``, 200, &d)
	if d.Act != gate.ActEnd || d.Verdict != gate.Recorded {
		t.Errorf("end = %s %s, want end RECORDED", d.Act, d.Verdict)
	}
}

// R-D10: a stop is an answer, with status 200. R-P5: only STALE has 409.
func TestStatusOfVerdicts(t *testing.T) {
	h := open(t)
	h.run("r1", 1)
	id := h.lost("r1", "charge-42")
	var d gate.DecisionRow
	h.post("/v1/runs/r1/ask", `{"ask_id":"a2","op":"charge-43","tool":"charge","input":{}}`, 200, &d)
	if d.Verdict != gate.StopAttemptBudget {
		t.Errorf("ask beyond the budget = %s, want STOP_ATTEMPT_BUDGET", d.Verdict)
	}
	path := "/v1/items/" + string(id) + "/"
	h.post(path+"approve", `{"request_id":"q1","version":1,"reason":"r"}`, 200, &d)
	if d.Verdict != gate.StopUnsafeToRepeat {
		t.Errorf("approve = %s, want STOP_UNSAFE_TO_REPEAT", d.Verdict)
	}
	h.post(path+"reject", `{"request_id":"q2","version":1,"reason":"r"}`, 200, &d)
	first := d.Seq
	h.post(path+"approve", `{"request_id":"q3","version":1,"reason":"r"}`, 409, &d)
	if d.Verdict != gate.Stale || d.Changed == nil || d.Changed.Seq != first || d.Changed.By.ID != me() {
		t.Errorf("approve of what was = %s, changed %+v; want STALE, by decision %d", d.Verdict, d.Changed, first)
	}
}

// What is no decision is a problem document with a stable type; nothing has
// been charged or written.
func TestProblems(t *testing.T) {
	h := open(t)
	h.run("r1", 6)
	id := h.lost("r1", "charge-42")
	ask := `{"ask_id":"a1","op":"look-1","tool":"look","input":{}}`
	h.post("/v1/runs/r1/ask", ask, 200, nil)
	before := len(h.store.Decisions())
	big := strings.Repeat("x", maxBody)
	for _, row := range []struct {
		name, method, path, body string
		status                   int
		kind, detail             string
	}{
		{"no such run", "POST", "/v1/runs/r9/ask", ask, 404, "no-such-run", "r9"},
		{"no such run to show", "GET", "/v1/runs/r9", "", 404, "no-such-run", "r9"},
		{"no such run to end", "POST", "/v1/runs/r9/end", "{}", 404, "no-such-run", "r9"},
		{"no such operation", "GET", "/v1/runs/r1/operations/nope", "", 404, "no-such-operation", "nope"},
		{"a report for no operation", "POST", "/v1/runs/r1/report", `{"op":"nope","ordinal":1,"ok":true}`, 404, "no-such-operation", "nope"},
		{"an HTTP answer for no operation", "POST", "/v1/runs/r1/report", `{"op":"nope","ordinal":1,"http":{"status":200}}`, 404, "no-such-operation", "nope"},
		{"a report for no attempt", "POST", "/v1/runs/r1/report", `{"op":"look-1","ordinal":2,"ok":true}`, 404, "no-such-attempt", "2"},
		{"another report for the same attempt", "POST", "/v1/runs/r1/report", `{"op":"charge-42","ordinal":1,"failure":{"code":"rate_limit"}}`, 409, "reused-id", "used before"},
		{"no such item", "GET", "/v1/items/i-0000000000", "", 404, "no-such-item", "i-0000000000"},
		{"a verb on no item", "POST", "/v1/items/i-0000000000/claim", `{"request_id":"q","version":1}`, 404, "no-such-item", "i-0000000000"},
		{"no such verb", "POST", "/v1/items/" + string(id) + "/retry", `{"request_id":"q","version":1}`, 404, "no-such-call", "/retry"},
		{"an agent's act as a verb", "POST", "/v1/items/" + string(id) + "/ask", `{"request_id":"q","version":1}`, 404, "no-such-call", "/ask"},
		{"no such tool", "POST", "/v1/runs/r1/ask", `{"ask_id":"a2","tool":"chargex","input":{}}`, 404, "no-such-tool", "chargex"},
		{"no such policy", "POST", "/v1/runs", `{"run":"r2","policy":"nope"}`, 404, "no-such-policy", "nope"},
		{"no limits", "POST", "/v1/runs", `{"run":"r2"}`, 400, "bad-input", "limits.attempts"},
		{"limits of zero", "POST", "/v1/runs", `{"run":"r2","limits":{"attempts":0,"deadline":"1s","side_effects":0}}`, 400, "bad-input", "want 1 to 1000000, got 0"},
		{"limits below zero", "POST", "/v1/runs", `{"run":"r2","limits":{"attempts":1,"deadline":"-5s","side_effects":0}}`, 400, "bad-input", "limits.deadline"},
		{"other limits for a run", "POST", "/v1/runs", `{"run":"r1","limits":{"attempts":7,"deadline":"5m","side_effects":2}}`, 409, "reused-id", "r1"},
		{"another ask under the same id", "POST", "/v1/runs/r1/ask", `{"ask_id":"a1","op":"look-1","tool":"look","input":{"b":1}}`, 409, "reused-id", "a1"},
		{"the path of a person", "POST", "/v1/runs/r1/ask", `{"ask_id":"a2","tool":"look","path":"manual","input":{}}`, 400, "bad-input", "path"},
		{"an input and a digest", "POST", "/v1/runs/r1/ask", `{"ask_id":"a2","tool":"look","input":{},"input_digest":"sha256:` + strings.Repeat("0", 64) + `"}`, 400, "bad-input", "input_digest"},
		{"a report that says nothing", "POST", "/v1/runs/r1/report", `{"op":"look-1","ordinal":1}`, 400, "bad-input", "report: want one of ok: true, failure and http, got none of them"},
		{"a report of ok: false", "POST", "/v1/runs/r1/report", `{"op":"look-1","ordinal":1,"ok":false}`, 400, "bad-input", "got ok: false"},
		{"a report of success and failure", "POST", "/v1/runs/r1/report", `{"op":"look-1","ordinal":1,"ok":true,"failure":{"code":"timeout"}}`, 400, "bad-input", "got ok: true, failure"},
		{"a report of all three", "POST", "/v1/runs/r1/report", `{"op":"look-1","ordinal":1,"ok":false,"failure":{"code":"timeout"},"http":{"status":200}}`, 400, "bad-input", "got ok: false, failure, http"},
		{"a reference too long", "POST", "/v1/runs/r1/report", `{"op":"look-1","ordinal":1,"ok":true,"result_ref":"` + big[:gate.MaxResult+1] + `"}`, 400, "bad-input", "result_ref: want at most 4096 bytes"},
		{"a digest that is none", "POST", "/v1/runs/r1/ask", `{"ask_id":"a2","tool":"look","input_digest":"sha256:00"}`, 400, "bad-input", "64 hex digits"},
		{"a key that no header takes", "POST", "/v1/runs/r1/ask", `{"ask_id":"a2","tool":"look","input":{},"key":"a\nb"}`, 400, "bad-input", "key: want letters, digits and"},
		{"a trace that is none", "POST", "/v1/runs/r1/ask", `{"ask_id":"a2","tool":"look","input":{},"traceparent":"x"}`, 400, "bad-input", "traceparent"},
		{"no body", "POST", "/v1/runs/r1/ask", ``, 400, "bad-input", "one JSON value"},
		{"null", "POST", "/v1/runs/r1/ask", `null`, 400, "bad-input", "an object"},
		{"an input too large", "POST", "/v1/runs/r1/ask", `{"ask_id":"a2","tool":"look","input":"` + big[:gate.MaxInput] + `"}`, 413, "too-large", "65538"},
		{"a body too large", "POST", "/v1/runs/r1/ask", `{"ask_id":"a2","tool":"look","input":"` + big + `"}`, 413, "too-large", "262144"},
		{"a verb without a request id", "POST", "/v1/items/" + string(id) + "/reject", `{"version":1,"reason":"r"}`, 400, "bad-input", "request_id"},
		{"a verb without a reason", "POST", "/v1/items/" + string(id) + "/reject", `{"request_id":"q","version":1}`, 400, "bad-input", "reason"},
		{"no such call", "GET", "/v1/nope", "", 404, "no-such-call", "/v1/nope"},
		{"no call at all", "GET", "/", "", 404, "no-such-call", "GET /: "},
		{"a slash too many", "GET", "/v1//runs", "", 404, "no-such-call", "/v1//runs"},
		{"a slash at the end", "GET", "/v1/runs/", "", 404, "no-such-call", "/v1/runs/"},
		{"a slash at the beginning", "GET", "//v1/runs", "", 404, "no-such-call", "//v1/runs"},
		{"a step back in the path", "POST", "/v1/runs/r1/../r2/ask", ask, 404, "no-such-call", "/v1/runs/r1/../r2/ask"},
		{"a dot in the path", "GET", "/v1/./runs", "", 404, "no-such-call", "/v1/./runs"},
		{"a name that is empty", "GET", "/v1/runs//operations/look-1", "", 404, "no-such-call", "/v1/runs//operations/look-1"},
		{"a name with an escaped slash", "GET", "/v1/runs/r1%2F..%2Fr1", "", 404, "no-such-run", "r1/../r1"},
		{"another method", "GET", "/v1/runs/r1/ask", "", 405, "wrong-method", "GET"},
		{"a verb that reads", "DELETE", "/v1/runs/r1", "", 405, "wrong-method", "DELETE"},
		{"an instant that is none", "POST", "/v1/items/" + string(id) + "/snooze", `{"request_id":"q","version":1,"until":"tomorrow"}`, 400, "bad-input", "until"},
		{"a number for an instant", "POST", "/v1/items/" + string(id) + "/snooze", `{"request_id":"q","version":1,"until":5}`, 400, "bad-input", "until"},
		{"a state that is none", "GET", "/v1/items?state=nope", "", 400, "bad-input", "state"},
		{"neither yes nor no", "GET", "/v1/items?snoozed=1", "", 400, "bad-input", "true or false"},
		{"a window too large", "GET", "/v1/runs?after=1001", "", 400, "bad-input", "0 to 1000"},
		{"a wait without a unit", "GET", "/v1/ledger?wait=30", "", 400, "bad-input", "wait"},
		{"an operation without its run", "GET", "/v1/ledger?op=a", "", 400, "bad-input", "op"},
		{"a filter of runs that there is not", "GET", "/v1/runs?stat=active", "", 400, "bad-input", "only after, anchor, before, filter, state, got"},
		{"a filter of items that there is not", "GET", "/v1/items?Kind=approval", "", 400, "bad-input", "Kind"},
		{"the text of before", "GET", "/v1/items?text=charge", "", 400, "bad-input", "got \"text\""},
		{"a filter's name that there is not", "GET", "/v1/items?filter=code:timeout+colour:red", "", 400, "bad-input", "filter: byte 13: want one of the names kind, state, agent, run, op, tool, dep, code, class, key, claim, since, got \"colour\""},
		{"a filter's value that there is not", "GET", "/v1/runs?filter=state:sad", "", 400, "bad-input", "filter: byte 6: want one of active, exhausted, ended, got \"sad\""},
		{"a filter of another list", "GET", "/v1/ledger?filter=kind:approval", "", 400, "bad-input", "filter: byte 0: want one of the names act, verdict"},
		{"a filter that is hostile", "GET", "/v1/ledger?filter=act:%1b%5b2J", "", 400, "bad-input", `filter: byte 4: want one of adopt`},
		{"a filter twice", "GET", "/v1/ledger?from=1&from=2", "", 400, "bad-input", "from: want it once"},
		{"a query badly escaped", "GET", "/v1/ledger?run=%zz", "", 400, "bad-input", "query"},
		{"a hostile filter", "GET", "/v1/runs/r1/operations/look-1?%1b%5b2J=1", "", 400, "bad-input", "x1b"},
		{"hostile names", "GET", "/v1/runs/%1b%5b2J%C2%9b%E2%80%AEevil", "", 404, "no-such-run", `\x1b[2J`},
	} {
		t.Run(row.name, func(t *testing.T) {
			status, header, text := h.send(row.method, row.path, row.body)
			var p Problem
			if err := json.Unmarshal(text, &p); err != nil {
				t.Fatalf("%v in %s", err, text)
			}
			if status != row.status || p.Status != row.status || p.Type != urn+row.kind || header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("status %d, problem %+v as %s; want %d, %s", status, p, header.Get("Content-Type"), row.status, row.kind)
			}
			if !strings.Contains(p.Detail, row.detail) {
				t.Errorf("detail = %q, want it to say %q", p.Detail, row.detail)
			}
			if strings.ContainsFunc(p.Detail, func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Errorf("detail %q holds what a terminal obeys", p.Detail)
			}
			if (p.Field == "filter") != (p.At != nil) || p.At != nil && !strings.Contains(p.Detail, fmt.Sprintf("byte %d", *p.At)) {
				t.Errorf("%+v: want the place in a filter, and only there", p)
			}
			if p.Hint == "" && p.Want == "" {
				t.Errorf("%+v says nothing of what may come next", p)
			}
			if strings.ContainsFunc(p.Hint, func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Errorf("hint %q holds what a terminal obeys", p.Hint)
			}
			if status == 405 && header.Get("Allow") == "" {
				t.Error("405 without Allow")
			}
		})
	}
	if after := len(h.store.Decisions()); after != before {
		t.Errorf("the ledger grew by %d", after-before)
	}
}

// What HTTP answers for the server as a whole is no call either.
func TestOptionsOfAll(t *testing.T) {
	h := open(t)
	c, err := net.Dial("unix", h.path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() //nolint:errcheck // the test is over
	if _, err := io.WriteString(c, "OPTIONS * HTTP/1.1\r\nHost: gate\r\nConnection: close\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(answer), "HTTP/1.1 404 ") || !strings.Contains(string(answer), urn+"no-such-call") {
		t.Errorf("answer = %s, want a 404 with a problem document", answer)
	}
}

// R-A5: with an empty catalog each tool is refused with a hint.
func TestEmptyCatalog(t *testing.T) {
	h := openWith(t, gate.NewContract())
	h.run("r1", 6)
	var p Problem
	h.post("/v1/runs/r1/ask", `{"ask_id":"a1","tool":"look","input":{}}`, 404, &p)
	if !strings.Contains(p.Hint, "--contract") {
		t.Errorf("hint = %q, want one that names --contract", p.Hint)
	}
}

// R-A8, R-C8: the same call again gets the same answer, with one charge.
func TestSameCallAgain(t *testing.T) {
	h := open(t)
	h.run("r1", 6)
	ask, report := `{"ask_id":"a1","op":"look-1","tool":"look","input":{}}`, `{"op":"look-1","ordinal":1,"ok":true,"result_ref":"x"}`
	var first, again gate.DecisionRow
	for _, call := range []struct{ path, body string }{{"/v1/runs/r1/ask", ask}, {"/v1/runs/r1/report", report}} {
		h.post(call.path, call.body, 200, &first)
		h.post(call.path, call.body, 200, &again)
		if diff := cmp.Diff(again, first); diff != "" || first.Seq == 0 {
			t.Errorf("%s again (-got +want):\n%s", call.path, diff)
		}
	}
	var run gate.RunView
	if _, _, text := h.send("GET", "/v1/runs/r1", ""); json.Unmarshal(text, &run) != nil || run.Budget.Attempts.Spent != 1 {
		t.Errorf("run = %s, want one attempt spent", text)
	}
}

// R-P6: the same new-run sent again is one act, in whatever order its caps are
// read.
func TestSameNewRunAgain(t *testing.T) {
	h := open(t)
	h.run("r1", 6)
	path := "/v1/items/" + string(h.lost("r1", "charge-42")) + "/new-run"
	body := `{"request_id":"q1","version":1,"reason":"r","run":"r2","limits":{"attempts":9,"deadline":"5m","side_effects":2},
		"caps":{"a":{"attempts":1},"b":{"attempts":2},"c":{"attempts":3},"d":{"attempts":4}}}`
	var first, again gate.DecisionRow
	h.post(path, body, 200, &first)
	for range 8 {
		h.post(path, body, 200, &again)
		if diff := cmp.Diff(again, first); diff != "" {
			t.Fatalf("the same again (-got +want):\n%s", diff)
		}
	}
}

// R-C7: a report is not refused for its size.
func TestLongMessage(t *testing.T) {
	h := open(t)
	h.run("r1", 6)
	h.post("/v1/runs/r1/ask", `{"ask_id":"a1","op":"look-1","tool":"look","input":{}}`, 200, nil)
	message, suggest := strings.Repeat(`line \u001b]52;c;\u0007 é `, 20<<20/30), strings.Repeat("x", 2*gate.MaxDetail)
	var d gate.DecisionRow
	h.post("/v1/runs/r1/report", `{"op":"look-1","ordinal":1,"failure":{"code":"timeout","message":"`+message+`","suggest":"`+suggest+`"}}`, 200, &d)
	if d.Verdict != gate.Recorded {
		t.Errorf("verdict = %s, want RECORDED", d.Verdict)
	}
	var op gate.OpRow
	if _, _, text := h.send("GET", "/v1/runs/r1/operations/look-1", ""); json.Unmarshal(text, &op) != nil {
		t.Fatalf("operation: %.200s", text)
	}
	f := op.Attempts[0].Failure
	if f == nil || !f.Cut || len(f.Message) < gate.MaxMessage-4 || len(f.Message) > gate.MaxMessage || !strings.HasPrefix(f.Message, "line \x1b]52;c;\a é") {
		t.Errorf("failure = cut %v, %d bytes, want %d of what was sent, as it was", f.Cut, len(f.Message), gate.MaxMessage)
	}
	if f.Suggest != suggest[:gate.MaxDetail] {
		t.Errorf("suggestion = %d bytes, want %d", len(f.Suggest), gate.MaxDetail)
	}
}

// R-C2: an HTTP answer is mapped by the rules of the attempt's dependency.
func TestReportOfAnHTTPAnswer(t *testing.T) {
	h := open(t)
	h.run("r1", 9)
	for i, row := range []struct {
		http string
		code gate.Code
		want gate.Verdict
	}{
		{`{"status":503,"headers":{"Retry-After":"7"},"body":"<html>"}`, "upstream_5xx", gate.Recorded},
		{`{"status":429,"body":"{\"error\":{\"code\":\"insufficient_quota\"}}"}`, "auth_failure", gate.StopPermanentOrUnknown},
		{`{"status":418}`, "http_418", gate.StopPermanentOrUnknown},
		{`{"status":200,"body":"{}"}`, "", gate.Recorded},
	} {
		op := fmt.Sprint("look-", i)
		h.post("/v1/runs/r1/ask", fmt.Sprintf(`{"ask_id":"a%d","op":%q,"tool":"look","input":{}}`, i, op), 200, nil)
		var d gate.DecisionRow
		h.post("/v1/runs/r1/report", fmt.Sprintf(`{"op":%q,"ordinal":1,"http":%s}`, op, row.http), 200, &d)
		if d.Code != row.code || d.Verdict != row.want {
			t.Errorf("%s = %s for %q, want %s for %q", row.http, d.Verdict, d.Code, row.want, row.code)
		}
	}
	var d gate.DecisionRow
	h.post("/v1/runs/r1/ask", `{"ask_id":"b","op":"look-0","tool":"look","input":{}}`, 200, &d)
	if want := noon.Add(7 * time.Second); d.Permit == nil || !d.Permit.NotBefore.Equal(want) {
		t.Errorf("permit after Retry-After: 7 = %+v, want not before %s", d.Permit, want)
	}
}

// R-D7: an absurd Retry-After is a stop at once, and no crash.
func TestAbsurdRetryAfter(t *testing.T) {
	h := open(t)
	h.run("r1", 9)
	for i, text := range []string{"9999999999", "99999999999h", "Fri, 31 Dec 9999 23:59:59 GMT"} {
		op := fmt.Sprint("look-", i)
		h.post("/v1/runs/r1/ask", fmt.Sprintf(`{"ask_id":"a%d","op":%q,"tool":"look","input":{}}`, i, op), 200, nil)
		h.post("/v1/runs/r1/report", fmt.Sprintf(`{"op":%q,"ordinal":1,"failure":{"code":"rate_limit","retry_after":%q}}`, op, text), 200, nil)
		var d gate.DecisionRow
		h.post("/v1/runs/r1/ask", fmt.Sprintf(`{"ask_id":"b%d","op":%q,"tool":"look","input":{}}`, i, op), 200, &d)
		if d.Verdict != gate.StopTimeBudget {
			t.Errorf("after Retry-After %q: %s, want STOP_TIME_BUDGET", text, d.Verdict)
		}
	}
}

// The queue and one item over the socket are what the store's owner sees.
func TestItems(t *testing.T) {
	h := open(t)
	h.run("r1", 9)
	id := h.lost("r1", "charge-42")
	var page gate.ItemsPage
	if _, _, text := h.send("GET", "/v1/items?state=open&kind=outcome-unknown&filter=charge+dep:payments-api", ""); json.Unmarshal(text, &page) != nil {
		t.Fatalf("items: %s", text)
	}
	if len(page.Rows) != 1 || page.Rows[0].ID != id || page.Total != 1 {
		t.Errorf("items = %+v, want %s", page, id)
	}
	if _, _, text := h.send("GET", "/v1/items?state=dead-letter", ""); !strings.Contains(string(text), `"rows":[]`) {
		t.Errorf("no items = %s, want an empty list", text)
	}
	_, _, text := h.send("GET", "/v1/items/"+string(id), "")
	var got escalation.Item
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	want, err := h.desk.Item(t.Context(), gate.Actor{ID: me()}, id)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("item (-socket +desk):\n%s", diff)
	}
}

// A call that panics is a problem for its caller alone, without a dump.
func TestPanic(t *testing.T) {
	h := prepare(t, contract())
	h.server.reader = panicking{h.store}
	h.serve()
	var p Problem
	if status, _, text := h.send("GET", "/v1/counts", ""); status != http.StatusInternalServerError || json.Unmarshal(text, &p) != nil || p.Type != urn+"internal" {
		t.Errorf("status %d: %s, want 500 and a problem", status, text)
	}
	if strings.Contains(p.Detail, "goroutine") || strings.Contains(p.Detail, "boom") {
		t.Errorf("detail = %q tells about the inside", p.Detail)
	}
}
