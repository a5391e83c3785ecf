package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"tollgate/escalation"
	"tollgate/gate"
)

// ErrUnreachable says that nobody answers on the socket, or that an answer
// broke off.
var ErrUnreachable = errors.New("the gate does not answer")

// ErrDenied says that the socket is there, and not for this user.
var ErrDenied = errors.New("the socket is not open to this user")

// Client speaks to a Server over its Unix socket. It is a gate.Reader, and
// takes the commands of agents and people: what it returns is what the store's
// owner would get from its own engine and desk. The Now of a query and the
// actor of a command are not sent: both are the server's to know.
//
// A command that fails with ErrUnreachable may have been decided; the same
// command with the same id tells (R-A8, R-P6). Safe for concurrent use. Make
// one with NewClient.
type Client struct {
	http *http.Client
	path string
}

var _ gate.Reader = (*Client)(nil)

// NewClient returns a client of the socket at path. It connects when it is
// first used.
func NewClient(path string) *Client {
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", path)
		},
		MaxIdleConnsPerHost: 64, IdleConnTimeout: idleTime / 2, // before the server gives up on it
		DisableCompression: true,
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{http: &http.Client{Transport: transport, CheckRedirect: stay}, path: path}
}

// Close lets the idle connections go.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// do makes one call and reads its answer. An answer with status 409 that is no
// problem document is an answer: STALE.
func (c *Client) do(ctx context.Context, method, path string, query url.Values, in, out any) error {
	response, err := c.ask(ctx, method, path, query, in, "application/json")
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // it has been read
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return c.unreachable(ctx, err)
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("answer of %s %s: %w", method, path, err)
	}
	return nil
}

// ask makes one call and returns an answer of the wanted kind, whose body is
// the caller's to read and close. A problem document is its error.
func (c *Client) ask(ctx context.Context, method, path string, query url.Values, in any, want string) (*http.Response, error) {
	if what := unnamed(path); what != "" {
		return nil, gate.CheckID(what, "")
	}
	var content io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return nil, fmt.Errorf("request as JSON: %w", err)
		}
		content = bytes.NewReader(text)
	}
	response, err := c.send(ctx, method, path, query, content)
	if err != nil {
		return nil, err
	}
	kind := response.Header.Get("Content-Type")
	if kind == want {
		return response, nil
	}
	defer response.Body.Close() //nolint:errcheck // it has been read
	if kind != "application/problem+json" {
		return nil, fmt.Errorf("%s: answers with %s, status %d: %w", oneLine(c.path), oneLine(strconv.Quote(kind)), response.StatusCode, ErrUnreachable)
	}
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, c.unreachable(ctx, err)
	}
	p := new(Problem)
	if err := json.Unmarshal(text, p); err != nil {
		return nil, fmt.Errorf("problem of %s %s: %w", method, path, err)
	}
	return nil, p
}

func (c *Client) send(ctx context.Context, method, path string, query url.Values, content io.Reader) (*http.Response, error) {
	target := "http://gate" + path
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, method, target, content)
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, c.unreachable(ctx, err)
	}
	return response, nil
}

// unreachable says why there is no answer: the caller's own end of waiting is
// not the socket's fault.
func (c *Client) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err // its text repeats the address
	}
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("socket %s: %w: %w", oneLine(c.path), ErrDenied, err)
	}
	return fmt.Errorf("socket %s: %w: %w", oneLine(c.path), ErrUnreachable, err)
}

// unnamed says what has no name in a path, empty if nothing is missing.
func unnamed(path string) string {
	parts := strings.Split(path, "/")
	switch i := slices.Index(parts[1:], ""); {
	case i < 0:
		return ""
	case parts[i] == "runs":
		return "run"
	case parts[i] == "operations":
		return "op"
	case parts[i] == "items":
		return "item"
	default:
		return "verb"
	}
}

// segment escapes a name for a path. A name of dots alone would be taken for a
// step in the tree.
func segment[S ~string](name S) string {
	s := url.PathEscape(string(name))
	if strings.Trim(s, ".") == "" {
		s = strings.ReplaceAll(s, ".", "%2E")
	}
	return s
}

// Start starts a run, or finds it, and returns its budget.
func (c *Client) Start(ctx context.Context, start gate.Start) (row gate.RunRow, err error) {
	err = c.do(ctx, http.MethodPost, "/v1/runs", nil, startOf(start), &row)
	return row, err
}

// Ask asks whether an operation may be dispatched now.
func (c *Client) Ask(ctx context.Context, ask gate.Ask) (row gate.DecisionRow, err error) {
	err = c.do(ctx, http.MethodPost, "/v1/runs/"+segment(ask.Run)+"/ask", nil, askOf(ask), &row)
	return row, err
}

// Report says what became of an attempt.
func (c *Client) Report(ctx context.Context, report gate.Report) (row gate.DecisionRow, err error) {
	err = c.do(ctx, http.MethodPost, "/v1/runs/"+segment(report.Run)+"/report", nil, reportOf(report), &row)
	return row, err
}

// End closes a run.
func (c *Client) End(ctx context.Context, end gate.End) (row gate.DecisionRow, err error) {
	err = c.do(ctx, http.MethodPost, "/v1/runs/"+segment(end.Run)+"/end", nil, endBody{end.Reason}, &row)
	return row, err
}

// WaitOperation returns an operation once it has a decision newer than since,
// or after wait, a minute at most. With since 0 it waits for a change from now
// on, while there is one to wait for: so an agent waits for a person's approve
// (R-A6), or for an attempt of another to end.
func (c *Client) WaitOperation(ctx context.Context, ref gate.Ref, since uint64, wait time.Duration) (row gate.OpRow, err error) {
	q := url.Values{"wait": {wait.String()}, "since": {strconv.FormatUint(since, 10)}}
	err = c.do(ctx, http.MethodGet, operationPath(ref), q, nil, &row)
	return row, err
}

func operationPath(ref gate.Ref) string {
	return "/v1/runs/" + segment(ref.Run) + "/operations/" + segment(ref.Op)
}

// Item returns one item whole, with the preview of every verb.
func (c *Client) Item(ctx context.Context, id gate.ItemID) (it escalation.Item, err error) {
	err = c.do(ctx, http.MethodGet, "/v1/items/"+segment(id), nil, nil, &it)
	return it, err
}

// Do sends a verb. Who acts is who holds the other end of the socket; the
// actor given here is not sent.
func (c *Client) Do(ctx context.Context, _ gate.Actor, id gate.ItemID, act escalation.Act) (row gate.DecisionRow, err error) {
	err = c.do(ctx, http.MethodPost, "/v1/items/"+segment(id)+"/"+segment(act.Verb.String()), nil, verbBody{actOf(act), act.Version}, &row)
	return row, err
}

// Health says who answers, and as whom it sees this client.
func (c *Client) Health(ctx context.Context) (h Health, err error) {
	err = c.do(ctx, http.MethodGet, "/healthz", nil, nil, &h)
	return h, err
}

// Runs implements gate.Reader.
func (c *Client) Runs(ctx context.Context, q gate.RunsQuery) (page gate.RunsPage, err error) {
	v := windowOf(q.Window)
	set(v, "filter", q.Filter.String())
	set(v, "state", q.State.String())
	err = c.do(ctx, http.MethodGet, "/v1/runs", v, nil, &page)
	return page, err
}

// Run implements gate.Reader.
func (c *Client) Run(ctx context.Context, id gate.RunID, _ time.Time) (view gate.RunView, err error) {
	err = c.do(ctx, http.MethodGet, "/v1/runs/"+segment(id), nil, nil, &view)
	return view, err
}

// Operation implements gate.Reader.
func (c *Client) Operation(ctx context.Context, ref gate.Ref, _ time.Time) (row gate.OpRow, err error) {
	err = c.do(ctx, http.MethodGet, operationPath(ref), nil, nil, &row)
	return row, err
}

// Items implements gate.Reader.
func (c *Client) Items(ctx context.Context, q gate.ItemsQuery) (page gate.ItemsPage, err error) {
	v := windowOf(q.Window)
	set(v, "filter", q.Filter.String())
	set(v, "run", string(q.Run))
	set(v, "state", q.State.String())
	set(v, "kind", q.Kind.String())
	if q.Snoozed {
		set(v, "snoozed", "true")
	}
	err = c.do(ctx, http.MethodGet, "/v1/items", v, nil, &page)
	return page, err
}

// Find implements gate.Reader.
func (c *Client) Find(ctx context.Context, id gate.ItemID) (gate.Ref, error) {
	it, err := c.Item(ctx, id)
	return gate.Ref{Run: it.Run, Op: it.Op}, err
}

// Ledger implements gate.Reader.
func (c *Client) Ledger(ctx context.Context, q gate.LedgerQuery) (gate.LedgerPage, error) {
	return c.WaitLedger(ctx, q, 0)
}

// WaitLedger is Ledger that waits for the next decision, a minute at most,
// when there is none from q.From on.
func (c *Client) WaitLedger(ctx context.Context, q gate.LedgerQuery, wait time.Duration) (page gate.LedgerPage, err error) {
	if q.Limit <= 0 || q.Limit > gate.MaxWindow {
		q.Limit = gate.MaxWindow
	}
	v := url.Values{"from": {strconv.FormatUint(q.From, 10)}, "limit": {strconv.Itoa(q.Limit)}}
	if q.Back {
		v.Set("back", "true")
	}
	if wait > 0 {
		v.Set("wait", wait.String())
	}
	set(v, "run", string(q.Run))
	set(v, "op", string(q.Op))
	set(v, "filter", q.Filter.String())
	err = c.do(ctx, http.MethodGet, "/v1/ledger", v, nil, &page)
	return page, err
}

// Dependencies implements gate.Reader.
func (c *Client) Dependencies(ctx context.Context, _ time.Time) (rows []gate.DependencyRow, err error) {
	err = c.do(ctx, http.MethodGet, "/v1/dependencies", nil, nil, &rows)
	return rows, err
}

// Counts implements gate.Reader.
func (c *Client) Counts(ctx context.Context) (counts gate.Counts, err error) {
	err = c.do(ctx, http.MethodGet, "/v1/counts", nil, nil, &counts)
	return counts, err
}

func windowOf(w gate.Window) url.Values {
	v := url.Values{}
	set(v, "anchor", w.Anchor)
	before, after := min(max(0, w.Before), gate.MaxWindow), w.After
	if after <= 0 || after > gate.MaxWindow {
		after = gate.MaxWindow
	}
	v.Set("before", strconv.Itoa(before))
	v.Set("after", strconv.Itoa(after))
	return v
}

func set(v url.Values, name, value string) {
	if value != "" {
		v.Set(name, value)
	}
}

// Watch implements gate.Reader. When the stream breaks it is taken up again,
// also by another process that serves the socket by then. The newest number
// comes once more for each break: who reads on it learns whether the gate is
// still there, which a quiet channel would not tell.
func (c *Client) Watch(ctx context.Context) <-chan uint64 {
	newest := make(chan uint64, 1)
	go func() {
		defer close(newest)
		for pause := firstPause; ctx.Err() == nil; pause = min(2*pause, lastPause) {
			if seq := c.follow(ctx, newest); seq != 0 {
				pause = firstPause
				put(newest, seq)
			}
			select {
			case <-time.After(pause):
			case <-ctx.Done():
			}
		}
	}()
	return newest
}

// put leaves the newest number where it is looked for.
func put(newest chan uint64, seq uint64) {
	select {
	case <-newest: // it has not been looked at; the newer one counts
	default:
	}
	newest <- seq
}

// Pauses between attempts to take up a broken stream.
const (
	firstPause = 50 * time.Millisecond
	lastPause  = 2 * time.Second
)

// silence is how long a stream may say nothing, not even that it lives. A gate
// that hangs keeps its connections.
const silence = 3 * heartbeat

// follow puts the numbers of one stream into newest until it ends or falls
// silent, and returns the last; 0 if there was none.
func (c *Client) follow(ctx context.Context, newest chan uint64) (last uint64) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	limit := time.AfterFunc(silence, end)
	defer limit.Stop()
	response, err := c.send(ctx, http.MethodGet, "/v1/watch", nil, nil)
	if err != nil {
		return 0 // it is taken up again; other calls say what is wrong
	}
	defer response.Body.Close() //nolint:errcheck // the stream has ended
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		limit.Reset(silence)
		text, ok := strings.CutPrefix(lines.Text(), "data: ")
		seq, err := strconv.ParseUint(text, 10, 64)
		if !ok || err != nil {
			continue
		}
		last = seq
		put(newest, seq)
	}
	return last
}
