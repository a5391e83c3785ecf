package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"tollgate/escalation"
	"tollgate/gate"
)

// kindLines is the content type of an answer of one JSON value a line.
const kindLines = "application/jsonl"

// bulk sends a person's act to many items (R-P9). The answer is a line per
// item, each sent as soon as it is known. A caller that goes away calls the
// rest off: nobody would see what comes of it.
func (s *Server) bulk(w http.ResponseWriter, r *http.Request) (any, error) {
	verb, err := verbIn(r)
	if err != nil {
		return nil, err
	}
	var b bulkBody
	if err := body(w, r, &b); err != nil {
		return nil, err
	}
	control := http.NewResponseController(w)
	begun := false
	return nil, s.desk.Bulk(r.Context(), peerIn(r.Context()).Actor, b.Items, b.act(verb), func(line escalation.BulkLine) {
		if !begun {
			begun = true
			w.Header().Set("Content-Type", kindLines)
		}
		if line.Row != nil {
			s.room.committed(line.Row.Seq)
		}
		line.Err, line.Skipped = oneLine(line.Err), oneLine(line.Skipped)
		var text bytes.Buffer
		enc := json.NewEncoder(&text)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(line); err != nil {
			s.options.Log.Error("a line cannot be sent", "path", r.URL.Path, "error", err)
			panic(http.ErrAbortHandler) // the caller sees that a line is missing
		}
		patience(w)
		_, _ = w.Write(text.Bytes()) // who asked may have gone; the answer is in the ledger
		_ = control.Flush()
	})
}

func (s *Server) causes(_ http.ResponseWriter, r *http.Request) (any, error) {
	p := query(r)
	filter := p.filter(gate.FilterQueue)
	if err := p.end(); err != nil {
		return nil, err
	}
	return s.desk.Causes(r.Context(), filter)
}

// Bulk sends a verb to many items, as escalation.Desk.Bulk does. Who acts is
// who holds the other end of the socket; the actor given here is not sent. When
// it fails with ErrUnreachable some may have been decided; the same call with
// the same request id tells.
func (c *Client) Bulk(ctx context.Context, _ gate.Actor, picks []escalation.Pick, act escalation.Act, each func(escalation.BulkLine)) error {
	response, err := c.ask(ctx, http.MethodPost, "/v1/items/bulk/"+segment(act.Verb.String()), nil, bulkBody{actOf(act), picks}, kindLines)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // it has been read
	lines := json.NewDecoder(response.Body)
	for n := range picks {
		var line escalation.BulkLine
		switch err := lines.Decode(&line); {
		case errors.Is(err, io.EOF):
			return c.unreachable(ctx, fmt.Errorf("the answer ends after %d of %d items", n, len(picks)))
		case err != nil:
			return c.unreachable(ctx, fmt.Errorf("the answer broke off after %d of %d items: %w", n, len(picks), err))
		}
		each(line)
	}
	return nil
}

// Causes groups the open queue by cause, as escalation.Desk.Causes does.
func (c *Client) Causes(ctx context.Context, filter gate.Filter) (page escalation.CausesPage, err error) {
	v := url.Values{}
	set(v, "filter", filter.String())
	err = c.do(ctx, http.MethodGet, "/v1/causes", v, nil, &page)
	return page, err
}
