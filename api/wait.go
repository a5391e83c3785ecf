package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"tollgate/gate"
)

// gather is how long a wait lets commits come together before it looks: many
// may wait while many commit.
const gather = 5 * time.Millisecond

// until looks again after every commit until done says that there is something
// to send, the wait is over or the server goes down. It looks once at least.
func (s *Server) until(ctx context.Context, wait time.Duration, look func(context.Context) (done bool, err error)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if wait <= 0 {
		_, err := look(ctx)
		return err
	}
	commits := s.reader.Watch(ctx) // before the first look: no commit falls between
	over := time.NewTimer(wait)
	defer over.Stop()
	for {
		if done, err := look(ctx); done || err != nil {
			return err
		}
		select {
		case <-commits:
		case <-over.C:
			return nil
		case <-s.closing:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
		select {
		case <-time.After(gather):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// operation is the state of an operation. With wait it comes when that has
// changed: since the decision that the caller names with since, or else since
// now – but at once when there is nothing to wait for, since the operation is
// closed or a person's approve has permitted a dispatch.
func (s *Server) operation(_ http.ResponseWriter, r *http.Request) (any, error) {
	p := query(r)
	wait, since := p.wait(), p.number("since", ^uint64(0))
	if err := p.end(); err != nil {
		return nil, err
	}
	ref := gate.Ref{Run: runIn(r), Op: gate.OpID(r.PathValue("op"))}
	var row gate.OpRow
	err := s.until(r.Context(), wait, func(ctx context.Context) (bool, error) {
		now, _ := s.door.Now()
		var err error
		if row, err = s.reader.Operation(ctx, ref, now); err != nil {
			return true, err
		}
		if since == 0 {
			since = row.Last
			return !waits(row), nil
		}
		return row.Last > since, nil
	})
	return row, err
}

// waits reports whether an operation is one that somebody waits for: held, or
// in flight for another caller.
func waits(row gate.OpRow) bool {
	switch row.State {
	case gate.OpHeld:
		return true
	case gate.OpWaiting, gate.OpInFlight:
		n := len(row.Attempts)
		return n == 0 || row.Attempts[n-1].Path != gate.PathManual
	default:
		return false
	}
}

// ledger is a window of decisions. With wait an empty one waits for the next.
func (s *Server) ledger(_ http.ResponseWriter, r *http.Request) (any, error) {
	p := query(r)
	q := gate.LedgerQuery{
		From: p.number("from", ^uint64(0)), Back: p.flag("back"), Limit: int(p.number("limit", gate.MaxWindow)),
		Run: gate.RunID(p.text("run")), Op: gate.OpID(p.text("op")), Filter: p.filter(gate.FilterLedger),
	}
	wait := p.wait()
	if err := p.end(); err != nil {
		return nil, err
	}
	switch {
	case q.Op != "" && q.Run == "":
		return nil, &gate.InputError{Field: "op", Want: "its run too", Got: "none"}
	case q.Back:
		wait = 0
	}
	if q.Limit == 0 {
		q.Limit = 100
	}
	var page gate.LedgerPage
	err := s.until(r.Context(), wait, func(ctx context.Context) (bool, error) {
		q.Now, _ = s.door.Now()
		for {
			var err error
			page, err = s.reader.Ledger(ctx, q)
			switch {
			case err != nil, len(page.Rows) > 0, wait == 0:
				return true, err
			case page.Next == q.From:
				return false, nil
			}
			q.From = page.Next // what has been looked at need not be again
		}
	})
	page.Rows = some(page.Rows)
	return page, err
}

// heartbeat is how often a quiet stream shows that it lives.
const heartbeat = 3 * time.Second

// watch streams the newest seq, and nothing else: a slow reader misses numbers
// and never decisions.
func (s *Server) watch(w http.ResponseWriter, r *http.Request) (any, error) {
	control := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	commits := s.reader.Watch(r.Context())
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	line := ": tollgate\n\n"
	for {
		patience(w)
		if _, err := fmt.Fprint(w, line); err != nil {
			return nil, nil //nolint:nilerr // the reader has gone
		}
		if err := control.Flush(); err != nil {
			return nil, nil //nolint:nilerr // the reader has gone
		}
		select {
		case seq, ok := <-commits:
			if !ok {
				return nil, nil
			}
			line = fmt.Sprintf("data: %d\n\n", seq)
		case <-beat.C:
			line = ":\n\n"
		case <-s.closing:
			return nil, nil
		case <-r.Context().Done():
			return nil, nil
		}
	}
}
