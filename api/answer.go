package api

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"tollgate/gate"
)

// HTTPAnswer is what a provider answered, as an agent passes it on: the gate's
// owner names the code by the dependency's rules, so that agents need not
// (R-C2).
type HTTPAnswer struct {
	Status  int               `json:"status"` // 100 to 599
	Headers map[string]string `json:"headers,omitempty"`
	Body    string            `json:"body,omitempty"`
}

// header returns a header whatever its case.
func (a *HTTPAnswer) header(name string) (string, bool) {
	for k, v := range a.Headers {
		if strings.EqualFold(k, name) {
			return v, true
		}
	}
	return "", false
}

// outcome maps an answer to a success or a failure. The first rule that
// matches names the code, also for a status of success; without one, 2xx is a
// success, and every other status is the code http_STATUS, which no table
// lists unless a contract does.
//
// Source: R-C2.
func (a *HTTPAnswer) outcome(rules []gate.HTTPRule, now time.Time) (ok bool, f gate.Failure, err error) {
	if a.Status < 100 || a.Status > 599 {
		return false, f, &gate.InputError{Field: "http.status", Want: "100 to 599", Got: strconv.Itoa(a.Status)}
	}
	provider := providerCode(a.Body)
	code := gate.Code("http_" + strconv.Itoa(a.Status))
	matched := false
	for _, r := range rules {
		if matched = a.matches(r, provider); matched {
			code = r.Code
			break
		}
	}
	if !matched && a.Status/100 == 2 {
		return true, f, nil
	}
	f = gate.Failure{Code: code, Status: strconv.Itoa(a.Status), Message: a.Body}
	if text, has := a.header("Retry-After"); has {
		f.RetryAfter = gate.ParseRetryAfter(text, now)
	}
	return false, f, nil
}

func (a *HTTPAnswer) matches(r gate.HTTPRule, provider string) bool {
	if r.Status != 0 && r.Status != a.Status || r.ProviderCode != "" && r.ProviderCode != provider {
		return false
	}
	if r.Header == "" {
		return true
	}
	name, want, valued := strings.Cut(r.Header, ":")
	got, has := a.header(strings.TrimSpace(name))
	return has && (!valued || strings.TrimSpace(got) == strings.TrimSpace(want))
}

// providerCode finds the provider's own code in a body: the first of code and
// type that is a string or a number, in the body's error object or beside it.
// A body that is cut short, or no JSON, has what was read of it.
func providerCode(body string) string {
	dec := json.NewDecoder(strings.NewReader(body))
	dec.UseNumber()
	if token, err := dec.Token(); err != nil || token != json.Delim('{') {
		return ""
	}
	outer := map[string]string{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			break
		}
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			break
		}
		var inner map[string]json.RawMessage
		if key == "error" && json.Unmarshal(v, &inner) == nil {
			for _, name := range codeNames {
				if code := word(inner[name]); code != "" {
					return code
				}
			}
		}
		if name, ok := key.(string); ok {
			outer[name] = word(v)
		}
	}
	for _, name := range append(codeNames, "error") {
		if outer[name] != "" {
			return outer[name]
		}
	}
	return ""
}

var codeNames = []string{"code", "type"}

// word returns a JSON string or number as text, empty for anything else.
func word(v json.RawMessage) string {
	var s string
	var n json.Number
	switch {
	case json.Unmarshal(v, &s) == nil:
		return s
	case json.Unmarshal(v, &n) == nil:
		return n.String()
	default:
		return ""
	}
}

// command maps a report's body to a command. rules are those of the attempt's
// dependency.
func (b *reportBody) command(who gate.Actor, run gate.RunID, rules []gate.HTTPRule, now time.Time) (gate.Report, error) {
	c := gate.Report{
		Actor: who, Run: run, Op: gate.OpID(b.Op), Ordinal: b.Ordinal, Inner: b.InnerAttempts, Result: b.ResultRef,
	}
	if said := b.said(); len(said) != 1 || b.OK != nil && !*b.OK {
		got := "none of them"
		if len(said) > 0 {
			got = strings.Join(said, ", ")
		}
		return c, &gate.InputError{Field: "report", Want: "one of ok: true, failure and http", Got: got}
	}
	var err error
	switch {
	case b.HTTP != nil:
		c.OK, c.Failure, err = b.HTTP.outcome(rules, now)
	case b.Failure != nil:
		c.Failure = b.Failure.failure(now)
	default:
		c.OK = true
	}
	if !c.OK {
		c.Result = "" // nothing has come of it
	}
	return c, err
}

// said lists which of the three answers a report gives.
func (b *reportBody) said() []string {
	var said []string
	if b.OK != nil {
		said = append(said, "ok: "+strconv.FormatBool(*b.OK))
	}
	if b.Failure != nil {
		said = append(said, "failure")
	}
	if b.HTTP != nil {
		said = append(said, "http")
	}
	return said
}

func (b *failureBody) failure(now time.Time) gate.Failure {
	return gate.Failure{
		Code: gate.Code(b.Code), Message: b.Message, Status: b.Status, Field: b.Field, Suggest: b.Suggest,
		RetryAfter: gate.ParseRetryAfter(b.RetryAfter, now),
	}
}
