package api

import (
	"fmt"
	"net/http"

	"tollgate/gate"
)

// start starts, or finds, a run and answers with its budget (R-B1, R-B2).
func (s *Server) start(w http.ResponseWriter, r *http.Request) (any, error) {
	var b startBody
	if err := body(w, r, &b); err != nil {
		return nil, err
	}
	if _, err := s.decide(r, b.command(peerIn(r.Context()).Actor)); err != nil {
		return nil, err
	}
	now, _ := s.door.Now()
	view, err := s.reader.Run(r.Context(), gate.RunID(b.Run), now)
	return view.RunRow, err
}

// ask puts the one question (R-A1).
func (s *Server) ask(w http.ResponseWriter, r *http.Request) (any, error) {
	var b askBody
	if err := body(w, r, &b); err != nil {
		return nil, err
	}
	if len(b.Input) > gate.MaxInput {
		return nil, fmt.Errorf("an input of %d bytes, at most %d: %w", len(b.Input), gate.MaxInput, errTooLarge)
	}
	c, err := b.command(peerIn(r.Context()).Actor, runIn(r))
	if err != nil {
		return nil, err
	}
	return s.decide(r, c)
}

// report takes what became of an attempt (R-C7), and maps an HTTP answer to a
// code first (R-C2).
func (s *Server) report(w http.ResponseWriter, r *http.Request) (any, error) {
	var b reportBody
	if err := body(w, r, &b, cutting); err != nil {
		return nil, err
	}
	now, _ := s.door.Now()
	var rules []gate.HTTPRule
	if b.HTTP != nil {
		op, err := s.reader.Operation(r.Context(), gate.Ref{Run: runIn(r), Op: gate.OpID(b.Op)}, now)
		if err != nil {
			return nil, err
		}
		rules = s.rules(op, b.Ordinal)
	}
	c, err := b.command(peerIn(r.Context()).Actor, runIn(r), rules, now)
	if err != nil {
		return nil, err
	}
	return s.decide(r, c)
}

// rules returns the HTTP rules of the dependency that an attempt went to.
func (s *Server) rules(op gate.OpRow, ordinal int64) []gate.HTTPRule {
	contract, dependency := s.door.Contract(), op.Dependency
	for _, a := range op.Attempts {
		if a.Ordinal != ordinal {
			continue
		}
		if tool, err := contract.Tool(a.Tool); err == nil {
			dependency = tool.Dependency
		}
	}
	return contract.Dependencies[dependency].HTTP
}

// end closes a run (R-T6).
func (s *Server) end(w http.ResponseWriter, r *http.Request) (any, error) {
	var b endBody
	if err := body(w, r, &b, optional); err != nil {
		return nil, err
	}
	return s.decide(r, gate.End{Actor: peerIn(r.Context()).Actor, Run: runIn(r), Reason: b.Reason})
}

// verb sends a person's act through the desk (R-P3). An item that has moved is
// a conflict, and the answer says what changed (R-P5).
func (s *Server) verb(w http.ResponseWriter, r *http.Request) (any, error) {
	verb, err := verbIn(r)
	if err != nil {
		return nil, err
	}
	var b verbBody
	if err := body(w, r, &b); err != nil {
		return nil, err
	}
	act := b.act(verb)
	act.Version = b.Version
	row, err := s.desk.Do(r.Context(), peerIn(r.Context()).Actor, gate.ItemID(r.PathValue("id")), act)
	if err == nil {
		s.room.committed(row.Seq)
	}
	if err == nil && row.Verdict == gate.Stale {
		return answered{http.StatusConflict, row}, nil
	}
	return row, err
}

// verbIn returns the verb of a person that a path names.
func verbIn(r *http.Request) (verb gate.Act, err error) {
	if err := verb.UnmarshalText([]byte(r.PathValue("verb"))); err != nil || !verb.IsVerb() {
		return 0, fmt.Errorf("POST %s: %w", r.URL.Path, errNoCall)
	}
	return verb, nil
}

// decide sends a command through the door.
func (s *Server) decide(r *http.Request, c gate.Command) (any, error) {
	d, err := s.door.Do(r.Context(), c)
	if err != nil {
		return nil, err
	}
	s.room.committed(d.Seq)
	return gate.RowOf(&d), nil
}

func runIn(r *http.Request) gate.RunID { return gate.RunID(r.PathValue("run")) }

// item is one item whole, as its reader sees it.
func (s *Server) item(_ http.ResponseWriter, r *http.Request) (any, error) {
	it, err := s.desk.Item(r.Context(), peerIn(r.Context()).Actor, gate.ItemID(r.PathValue("id")))
	if err != nil {
		return nil, err
	}
	return it, nil
}

func (s *Server) runs(_ http.ResponseWriter, r *http.Request) (any, error) {
	p := query(r)
	q := gate.RunsQuery{Window: p.window(), Filter: p.filter(gate.FilterRuns)}
	p.named("state", &q.State)
	q.Now, _ = s.door.Now()
	if err := p.end(); err != nil {
		return nil, err
	}
	page, err := s.reader.Runs(r.Context(), q)
	page.Rows = some(page.Rows)
	return page, err
}

func (s *Server) run(_ http.ResponseWriter, r *http.Request) (any, error) {
	now, _ := s.door.Now()
	view, err := s.reader.Run(r.Context(), runIn(r), now)
	view.Ops = some(view.Ops)
	return view, err
}

func (s *Server) items(_ http.ResponseWriter, r *http.Request) (any, error) {
	p := query(r)
	q := gate.ItemsQuery{Window: p.window(), Run: gate.RunID(p.text("run")), Filter: p.filter(gate.FilterQueue)}
	p.named("state", &q.State)
	p.named("kind", &q.Kind)
	q.Snoozed = p.flag("snoozed")
	q.Now, _ = s.door.Now()
	if err := p.end(); err != nil {
		return nil, err
	}
	page, err := s.reader.Items(r.Context(), q)
	page.Rows = some(page.Rows)
	return page, err
}

func (s *Server) dependencies(_ http.ResponseWriter, r *http.Request) (any, error) {
	now, _ := s.door.Now()
	rows, err := s.reader.Dependencies(r.Context(), now)
	return some(rows), err
}

func (s *Server) counts(_ http.ResponseWriter, r *http.Request) (any, error) {
	counts, err := s.reader.Counts(r.Context())
	return counts, err
}

// some makes an empty list of none, so that no list is ever null.
func some[T any](rows []T) []T {
	if rows == nil {
		return []T{}
	}
	return rows
}
