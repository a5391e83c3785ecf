package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path"
	"slices"
	"time"

	"tollgate/escalation"
	"tollgate/gate"
)

// Options are what a server says of itself.
type Options struct {
	Store   string       // the store's directory, for Health
	Version string       // of the program
	Log     *slog.Logger // errors that no caller is told; nil: dropped
}

// Server serves the gate. It is an http.Handler, but knows who calls only on
// connections that Serve has accepted: on any other there is no identity, and
// every call but healthz and readyz is refused.
//
// Safe for concurrent use. Make one with NewServer.
type Server struct {
	door    *gate.Door
	reader  gate.Reader
	desk    *escalation.Desk
	options Options
	started time.Time
	mux     *http.ServeMux
	room    room
	closing chan struct{} // closed when long polls have to end
}

// NewServer returns the server of a gate. reader is the engine behind the
// door; desk is what verbs go through, and may be a read-only one.
func NewServer(door *gate.Door, reader gate.Reader, desk *escalation.Desk, o Options) *Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	now, _ := door.Now()
	s := &Server{
		door: door, reader: reader, desk: desk, options: o, started: now,
		mux: http.NewServeMux(), room: room{log: o.Log}, closing: make(chan struct{}),
	}
	s.route()
	return s
}

// call is one call of the API. It returns what is sent as JSON, an answered
// value, or nil when it has written the answer itself.
type call func(w http.ResponseWriter, r *http.Request) (any, error)

// answered is a value with a status of its own.
type answered struct {
	status int
	value  any
}

// route lists the calls: method, pattern and the roles that may make it; none
// means that each role may.
func (s *Server) route() {
	agent, operator := []Role{RoleAgent}, []Role{RoleOperator}
	both := []Role{RoleAgent, RoleOperator}
	calls := []struct {
		method, pattern string
		roles           []Role
		call            call
	}{
		{"POST", "/v1/runs", both, s.start},
		{"GET", "/v1/runs", nil, s.runs},
		{"GET", "/v1/runs/{run}", nil, s.run},
		{"POST", "/v1/runs/{run}/ask", agent, s.ask},
		{"POST", "/v1/runs/{run}/report", agent, s.report},
		{"POST", "/v1/runs/{run}/end", both, s.end},
		{"GET", "/v1/runs/{run}/operations/{op}", nil, s.operation},
		{"GET", "/v1/items", nil, s.items},
		{"GET", "/v1/items/{id}", nil, s.item},
		{"POST", "/v1/items/{id}/{verb}", operator, s.verb},
		{"POST", "/v1/items/bulk/{verb}", operator, s.bulk},
		{"GET", "/v1/causes", nil, s.causes},
		{"GET", "/v1/ledger", nil, s.ledger},
		{"GET", "/v1/watch", nil, s.watch},
		{"GET", "/v1/dependencies", nil, s.dependencies},
		{"GET", "/v1/counts", nil, s.counts},
	}
	methods := map[string][]string{}
	for _, c := range calls {
		name := c.method + " " + c.pattern
		s.mux.Handle(name, s.serve(c.call, func(p peer) string {
			return p.forbidden(p.roles(s.door.Contract().Roles), c.roles, name)
		}))
		if c.pattern != "/v1/items/bulk/{verb}" { // its other methods are those of an item's
			methods[c.pattern] = append(methods[c.pattern], c.method)
		}
	}
	for _, c := range []struct {
		pattern string
		call    call
	}{{"/healthz", s.healthz}, {"/readyz", s.readyz}} {
		s.mux.Handle("GET "+c.pattern, s.serve(c.call, nil))
		methods[c.pattern] = []string{"GET"}
	}
	for pattern, allowed := range methods {
		s.mux.Handle(pattern, s.serve(func(w http.ResponseWriter, r *http.Request) (any, error) {
			w.Header()["Allow"] = allowed
			return nil, fmt.Errorf("%s %s: %w", r.Method, r.URL.Path, errMethod)
		}, nil))
	}
	s.mux.Handle("/", s.serve(noCall, nil))
}

func noCall(_ http.ResponseWriter, r *http.Request) (any, error) {
	return nil, fmt.Errorf("%s %s: %w", r.Method, r.URL.Path, errNoCall)
}

// ServeHTTP implements http.Handler. A path that another one stands for is no
// call: the mux would answer with a page that sends the caller on.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if at := r.URL.EscapedPath(); path.Clean(at) != at || !path.IsAbs(at) {
		s.serve(noCall, nil).ServeHTTP(w, r)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// serve makes a handler of a call. forbidden says why a peer may not make it.
func (s *Server) serve(c call, forbidden func(peer) string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if v := recover(); v != nil {
				if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
					panic(v)
				}
				s.options.Log.Error("a call panicked", "path", r.URL.Path, "panic", oneLine(fmt.Sprint(v)))
				problemOf(errInternal).send(w)
			}
		}()
		if forbidden != nil {
			if why := forbidden(peerIn(r.Context())); why != "" {
				s.fail(w, r, fmt.Errorf("%s: %w", why, ErrForbidden))
				return
			}
		}
		v, err := c(w, r)
		switch a, ok := v.(answered); {
		case err != nil:
			s.fail(w, r, err)
		case ok:
			s.send(w, r, a.status, a.value)
		case v != nil:
			s.send(w, r, http.StatusOK, v)
		}
	})
}

// send writes an answer. It is made whole first, so that what can't be sent is
// a problem and not half an answer.
func (s *Server) send(w http.ResponseWriter, r *http.Request, status int, v any) {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		s.fail(w, r, fmt.Errorf("answer as JSON: %w", err))
		return
	}
	patience(w)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes()) // who asked may have gone; the answer is in the ledger
}

// fail writes a problem. What nobody outside can mend is logged too.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	p := problemOf(err)
	if errors.Is(err, gate.ErrUnknownTool) && len(s.door.Contract().Tools) == 0 {
		p.Hint = "the catalog is empty: the gate's owner needs a contract file, --contract FILE"
	}
	switch {
	case errors.Is(err, gate.ErrStoreFull):
		s.room.refuse(time.Now(), func() uint64 {
			counts, _ := s.reader.Counts(r.Context()) // without them the next answer is taken for a sign of room
			return counts.Seq
		}, p.Detail)
	case p.Status >= http.StatusInternalServerError && r.Context().Err() == nil:
		s.options.Log.Error("a call failed", "method", r.Method, "path", oneLine(r.URL.Path), "error", p.Detail)
	}
	patience(w)
	p.send(w)
}

// patience bounds how long an answer waits for somebody who does not read it.
func patience(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTime)) // not every writer can
}

// Serve answers on a listener that Listen has made until ctx ends. Then long
// polls return what they have, commands under way are answered, and Serve
// returns nil. It closes the listener. A Server serves once.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	server := s.http()
	done := make(chan error, 1)
	go func() { done <- server.Serve(newPeers(l, s.options.Log)) }()
	select {
	case err := <-done:
		close(s.closing)
		return err
	case <-ctx.Done():
	}
	close(s.closing)
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer cancel()
	err := server.Shutdown(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close()
	}
	<-done //nolint:errcheck // that it was closed is known
	return err
}

// http returns the server with its limits.
func (s *Server) http() *http.Server {
	return &http.Server{
		Handler:                      s,
		DisableGeneralOptionsHandler: true, // OPTIONS * is no call either
		ReadHeaderTimeout:            headTime,
		IdleTimeout:                  idleTime,
		MaxHeaderBytes:               maxHeader,
		ConnContext:                  withPeer,
		ErrorLog:                     slog.NewLogLogger(s.options.Log.Handler(), slog.LevelWarn),
	}
}

// Health is who answers, and as whom it sees the caller.
type Health struct {
	Store     string     `json:"store,omitempty"`
	Version   string     `json:"version,omitempty"`
	PID       int        `json:"pid"`
	Since     time.Time  `json:"since"`
	Time      time.Time  `json:"time"`             // the gate's
	Behind    bool       `json:"behind,omitempty"` // the wall clock is behind the ledger: no permits (R-B10)
	Seq       uint64     `json:"seq"`              // of the newest decision
	Contract  string     `json:"contract"`
	Identity  gate.Actor `json:"identity"`
	Roles     []Role     `json:"roles"`
	Separated bool       `json:"separated"` // whether this identity may not both ask and approve (R-P10)
	Note      string     `json:"note,omitempty"`
}

// notSeparated is what Health says where one identity may do both.
const notSeparated = "approvals are not separated from agents: this identity may ask and approve"

func (s *Server) healthz(_ http.ResponseWriter, r *http.Request) (any, error) {
	who, contract := peerIn(r.Context()), s.door.Contract()
	h := Health{
		Store: s.options.Store, Version: s.options.Version, PID: os.Getpid(), Since: s.started,
		Identity: who.Actor,
		Roles:    who.roles(contract.Roles), Separated: true,
	}
	h.Time, h.Behind = s.door.Now()
	if slices.Contains(h.Roles, RoleAgent) && slices.Contains(h.Roles, RoleOperator) {
		h.Separated, h.Note = false, notSeparated
	}
	document, err := contract.Document()
	if err != nil {
		return nil, err
	}
	h.Contract = gate.DocumentDigest(document).String()
	counts, err := s.reader.Counts(r.Context())
	if err != nil {
		return nil, err
	}
	h.Seq = counts.Seq
	return h, nil
}

// readyz answers with 200 while the store can be read and the gate gives
// permits. Behind and Full say why it does not.
func (s *Server) readyz(_ http.ResponseWriter, r *http.Request) (any, error) {
	select {
	case <-s.closing:
		return nil, ErrClosing
	default:
	}
	counts, err := s.reader.Counts(r.Context())
	if err != nil {
		return nil, err
	}
	s.room.committed(counts.Seq)
	var ready struct {
		Ready  bool `json:"ready"`
		Behind bool `json:"behind,omitempty"` // the wall clock is behind the ledger (R-B10)
		Full   bool `json:"full,omitempty"`   // the store has no room for what is decided
	}
	_, ready.Behind = s.door.Now()
	ready.Full = s.room.lacking(time.Now())
	ready.Ready = !ready.Behind && !ready.Full
	if !ready.Ready {
		return answered{http.StatusServiceUnavailable, ready}, nil
	}
	return ready, nil
}

// body reads a request's body into a struct. An empty one is allowed where
// nothing has to be said.
func body(w http.ResponseWriter, r *http.Request, into any, how ...reading) error {
	text, err := readBody(w, r, slices.Contains(how, cutting))
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errTooSlow
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &gate.InputError{Field: "body", Want: "the whole body", Got: "a part of it"}
	case err != nil:
		return err
	case len(text) == 0 && slices.Contains(how, optional):
		return nil
	}
	return decode(text, into)
}

// reading is how a body may differ.
type reading uint8

const (
	cutting  reading = iota + 1 // strings may be of any length
	optional                    // there may be none
)
