package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"tollgate/gate"
)

// R-C2: status, provider code and header name the code, by the first rule that
// matches; the text decides nothing.
func TestHTTPAnswerToCode(t *testing.T) {
	rules := []gate.HTTPRule{
		{Status: 429, ProviderCode: "insufficient_quota", Code: "quota_exhausted"},
		{Status: 429, Code: "rate_limit"},
		{Status: 200, ProviderCode: "overloaded_error", Code: "upstream_5xx"},
		{Header: "X-Should-Retry: false", Code: "given_up"},
		{Status: 403, Header: "retry-after", Code: "secondary_limit"},
		{ProviderCode: "1042", Code: "numbered"},
	}
	for _, row := range []struct {
		name   string
		answer HTTPAnswer
		ok     bool
		code   gate.Code
	}{
		{"a success", HTTPAnswer{Status: 204}, true, ""},
		{"a success that holds an error", HTTPAnswer{Status: 200, Body: `{"error":{"type":"overloaded_error"}}`}, false, "upstream_5xx"},
		{"a limit", HTTPAnswer{Status: 429, Body: `{"error":{"code":"slow_down"}}`}, false, "rate_limit"},
		{"a quota, by its code", HTTPAnswer{Status: 429, Body: `{"error":{"message":"…","code":"insufficient_quota"}}`}, false, "quota_exhausted"},
		{"a quota, by its type", HTTPAnswer{Status: 429, Body: `{"error":{"type":"insufficient_quota","code":null}}`}, false, "quota_exhausted"},
		{"a quota, its code not in an object", HTTPAnswer{Status: 429, Body: `{"code":"insufficient_quota"}`}, false, "quota_exhausted"},
		{"a quota, before the body breaks off", HTTPAnswer{Status: 429, Body: `{"code":"insufficient_quota","message":"cut sho`}, false, "quota_exhausted"},
		{"a quota, in words only", HTTPAnswer{Status: 429, Body: `insufficient_quota`}, false, "rate_limit"},
		{"a number for a code", HTTPAnswer{Status: 500, Body: `{"code":1042}`}, false, "numbered"},
		{"a header with its value", HTTPAnswer{Status: 500, Headers: map[string]string{"x-should-retry": " false"}}, false, "given_up"},
		{"a header with another value", HTTPAnswer{Status: 500, Headers: map[string]string{"x-should-retry": "true"}}, false, "http_500"},
		{"a header that is there", HTTPAnswer{Status: 403, Headers: map[string]string{"Retry-After": ""}}, false, "secondary_limit"},
		{"a header that is not", HTTPAnswer{Status: 403}, false, "http_403"},
		{"a status that no rule names", HTTPAnswer{Status: 302}, false, "http_302"},
	} {
		t.Run(row.name, func(t *testing.T) {
			ok, f, err := row.answer.outcome(rules, noon)
			if err != nil || ok != row.ok || f.Code != row.code {
				t.Errorf("outcome = %v, %q, %v; want %v, %q", ok, f.Code, err, row.ok, row.code)
			}
		})
	}
	for _, status := range []int{0, 99, 600, -1} {
		var input *gate.InputError
		if _, _, err := (&HTTPAnswer{Status: status}).outcome(rules, noon); !errors.As(err, &input) {
			t.Errorf("status %d: %v, want bad input", status, err)
		}
	}
	_, f, _ := (&HTTPAnswer{Status: 429, Body: "slow down", Headers: map[string]string{"retry-after": "7"}}).outcome(rules, noon)
	want := gate.Failure{Code: "rate_limit", Status: "429", Message: "slow down", RetryAfter: 7 * time.Second}
	if diff := cmp.Diff(f, want); diff != "" {
		t.Errorf("failure (-got +want):\n%s", diff)
	}
}

// R-C7: a report says one thing.
func TestReportSaysOneThing(t *testing.T) {
	for _, row := range []struct {
		body string
		want string // field of the error
	}{
		{`{"op":"a","ordinal":1,"ok":true,"result_ref":"ch_42"}`, ""},
		{`{"op":"a","ordinal":1,"failure":{"code":"timeout"}}`, ""},
		{`{"op":"a","ordinal":1,"http":{"status":503}}`, ""},
		{`{"op":"a","ordinal":1}`, "report"},
		{`{"op":"a","ordinal":1,"ok":false}`, "report"},
		{`{"op":"a","ordinal":1,"ok":true,"failure":{"code":"timeout"}}`, "report"},
		{`{"op":"a","ordinal":1,"ok":true,"http":{"status":200}}`, "report"},
		{`{"op":"a","ordinal":1,"http":{"status":20}}`, "http.status"},
	} {
		var b reportBody
		if err := decode([]byte(row.body), &b); err != nil {
			t.Fatal(err)
		}
		_, err := b.command(gate.Actor{}, "r1", nil, noon)
		var input *gate.InputError
		errors.As(err, &input)
		if row.want == "" && err != nil || row.want != "" && (input == nil || input.Field != row.want) {
			t.Errorf("%s: error = %v, want one about %q", row.body, err, row.want)
		}
	}
}

// R-C7: a message of any length passes the reading of a report, and JSON stays
// JSON wherever it is cut.
func TestReadCut(t *testing.T) {
	for _, unit := range []string{"x", "é", "€", "😀", `\n`, `\u00e9`, `\ud83d\ude00`, `\"`} {
		for pad := range 6 {
			message := strings.Repeat("x", pad) + strings.Repeat(unit, 1+2*maxString/len(unit))
			in := `{"op":"a","failure":{"code":"timeout","message":"` + message + `","field":"é\"f"},"ordinal":1}`
			out, err := readCut(iotest.OneByteReader(strings.NewReader(in)))
			if err != nil {
				t.Fatalf("%q: %v", unit, err)
			}
			var b reportBody
			if err := decode(out, &b); err != nil {
				t.Fatalf("%q after %d: %v", unit, pad, err)
			}
			var whole string
			if err := json.Unmarshal([]byte(`"`+message+`"`), &whole); err != nil {
				t.Fatal(err)
			}
			if m := b.Failure.Message; !strings.HasPrefix(whole, m) || len(m) < gate.MaxMessage || len(m) > maxString {
				t.Errorf("%q after %d: kept %d bytes", unit, pad, len(m))
			}
			if b.Failure.Field != `é"f` || b.Ordinal != 1 {
				t.Errorf("%q after %d: what follows is %+v", unit, pad, b)
			}
		}
	}
}

func TestReadCutLeavesTheRest(t *testing.T) {
	for _, in := range []string{``, `{}`, `{"a":"b\\"}`, `{"a":"broken`, `{"a":"\`, `{"a":"\u12`, "{\"a\":\"\xe2\"}", `"""`} {
		out, err := readCut(strings.NewReader(in))
		if err != nil || string(out) != in {
			t.Errorf("%q = %q, %v; want it back", in, out, err)
		}
	}
	many := `{"a":[` + strings.Repeat(`"xxxxxxx",`, maxBody/10) + `1]}`
	if _, err := readCut(strings.NewReader(many)); !errors.Is(err, errTooLarge) {
		t.Errorf("many short strings: %v, want too large", err)
	}
	broken := errors.New("broken")
	if _, err := readCut(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("a broken body: %v, want its error", err)
	}
	if _, err := readWhole(bytes.NewReader(make([]byte, maxBody))); err != nil {
		t.Errorf("the largest body: %v", err)
	}
	if _, err := readWhole(bytes.NewReader(make([]byte, maxBody+1))); !errors.Is(err, errTooLarge) {
		t.Errorf("one byte more: %v, want too large", err)
	}
}
