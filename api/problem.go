package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"

	"tollgate/escalation"
	"tollgate/gate"
)

// Problem is an error as it is sent: a problem document of RFC 9457. Type is
// stable, Detail one line with nothing in it that a terminal obeys. Field,
// Want and Got are those of a *gate.InputError, and At is where in a filter's
// text it is, as a byte offset from 0; nil where it is about no text.
//
// On the client's side it is an error that errors.Is and errors.As take for
// the one that the store itself would have returned.
type Problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	Field  string `json:"field,omitempty"`
	Want   string `json:"want,omitempty"`
	Got    string `json:"got,omitempty"`
	At     *int   `json:"at,omitempty"`
	Hint   string `json:"hint,omitempty"`
}

// Error returns the detail.
func (p *Problem) Error() string { return p.Detail }

// Unwrap returns the error that the problem stands for, nil for one of the
// transport's own.
func (p *Problem) Unwrap() error {
	if p.Field != "" {
		return &gate.InputError{Field: p.Field, Want: p.Want, Got: p.Got}
	}
	for _, k := range kinds {
		if k.err != nil && p.Type == urn+k.name {
			return k.err
		}
	}
	return nil
}

const urn = "urn:tollgate:problem:"

// Errors of the transport.
var (
	// ErrForbidden: the identity's roles do not allow the call (R-P10).
	ErrForbidden = errors.New("not allowed")
	// ErrClosing: the server is going down.
	ErrClosing = errors.New("the server is going down")

	errTooSlow  = errors.New("the body took longer than 5s")
	errNoCall   = errors.New("there is no such call")
	errMethod   = errors.New("the call has another method")
	errInternal = errors.New("internal error")
)

// kind is one kind of problem: its name for machines, its status, and what
// helps, where something does.
type kind struct {
	err    error
	name   string
	status int
	hint   string
}

// kinds are all problems but bad input. The first that an error is counts.
var kinds = []kind{
	{gate.ErrNoRun, "no-such-run", http.StatusNotFound, "GET /v1/runs lists the runs; POST /v1/runs starts one"},
	{gate.ErrNoOperation, "no-such-operation", http.StatusNotFound, hintOps},
	{gate.ErrNoAttempt, "no-such-attempt", http.StatusNotFound, hintOps},
	{gate.ErrNoItem, "no-such-item", http.StatusNotFound, "GET /v1/items lists the items"},
	{gate.ErrNoDecision, "no-such-decision", http.StatusNotFound, "GET /v1/ledger?back=true lists the newest decisions"},
	{gate.ErrUnknownTool, "no-such-tool", http.StatusNotFound, "the contract file of the gate's owner lists the tools"},
	{gate.ErrNoPolicy, "no-such-policy", http.StatusNotFound, "the policies are those of the gate's contract file; a run may give its limits instead"},
	{gate.ErrReused, "reused-id", http.StatusConflict, "what was sent first under this id stands; something else needs an id of its own"},
	{gate.ErrStoreFull, "store-full", http.StatusInsufficientStorage, "reading goes on; the gate permits again when there is room"},
	{gate.ErrUnknownCommit, "unknown-commit", http.StatusServiceUnavailable, "the same ask id or request id tells whether it was decided"},
	{gate.ErrDamaged, "store-damaged", http.StatusInternalServerError, "tollgate verify, without an owner, names what is damaged"},
	{escalation.ErrReadOnly, "read-only", http.StatusForbidden, "the gate's owner serves reading only"},
	{ErrForbidden, "forbidden", http.StatusForbidden, "GET /healthz says as whom the gate sees this caller; roles are given in its contract file"},
	{ErrClosing, "closing", http.StatusServiceUnavailable, "GET /readyz says when a gate serves here again"},
	{context.Canceled, "canceled", http.StatusServiceUnavailable, hintCut},
	{context.DeadlineExceeded, "canceled", http.StatusServiceUnavailable, hintCut},
	{errTooLarge, "too-large", http.StatusRequestEntityTooLarge, "an ask takes input_digest in place of a large input"},
	{errTooSlow, "too-slow", http.StatusRequestTimeout, hintSlow},
	{os.ErrDeadlineExceeded, "too-slow", http.StatusRequestTimeout, hintSlow},
	{errNoCall, "no-such-call", http.StatusNotFound, "the calls are below /v1/runs, /v1/items, /v1/causes, /v1/ledger, /v1/watch, /v1/dependencies and /v1/counts; /healthz and /readyz"},
	{errMethod, "wrong-method", http.StatusMethodNotAllowed, "the header Allow names the method"},
}

const (
	hintOps  = "GET /v1/runs/RUN lists its operations and their attempts"
	hintCut  = "the same id tells whether it was decided"
	hintSlow = "nothing was decided"
	hintLog  = "the log of the gate's owner has the rest"
)

// problemOf makes a problem of an error.
func problemOf(err error) *Problem {
	p := &Problem{Type: urn + "internal", Status: http.StatusInternalServerError, Detail: oneLine(err.Error()), Hint: hintLog}
	var input *gate.InputError
	if errors.As(err, &input) {
		p.Type, p.Status = urn+"bad-input", http.StatusBadRequest
		p.Field, p.Want, p.Got = oneLine(input.Field), oneLine(input.Want), oneLine(input.Got)
		p.Hint = "" // what is wanted is the next step
		var filter *gate.FilterError
		if errors.As(err, &filter) {
			p.At = &filter.At
		}
	} else {
		for _, k := range kinds {
			if errors.Is(err, k.err) {
				p.Type, p.Status, p.Hint = urn+k.name, k.status, k.hint
				break
			}
		}
	}
	p.Title = http.StatusText(p.Status)
	return p
}

// send writes the problem.
func (p *Problem) send(w http.ResponseWriter) {
	body, err := json.Marshal(p)
	if err != nil {
		http.Error(w, errInternal.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_, _ = w.Write(append(body, '\n')) // who asked may have gone
}

// maxLine bounds what oneLine makes of a text, in bytes.
const maxLine = 1 << 10

// oneLine makes text that a terminal can only show: printable ASCII stays,
// all else becomes an escape, and what is too long ends in dots. Names of
// callers and providers end up in errors, and errors in logs and on screens.
func oneLine(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case b.Len() > maxLine:
			b.WriteString("...")
			return b.String()
		case r >= ' ' && r <= '~':
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\uFFFD':
			fmt.Fprintf(&b, `\x%02x`, s[i])
		default:
			b.WriteString(`\u{` + strconv.FormatInt(int64(r), 16) + `}`)
		}
	}
	return b.String()
}
