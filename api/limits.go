package api

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Limits of a request. A body has bodyTime to arrive whole; headers as well.
const (
	maxBody    = 256 << 10
	maxHeader  = 12 << 10 // net/http adds 4 KiB of its own, and answers itself, in plain text: no handler sees the request
	maxString  = 48 << 10 // of one string in a report; a longer one is cut
	maxWait    = time.Minute
	maxPerPeer = 1024 // connections of one user

	headTime  = 5 * time.Second
	bodyTime  = 5 * time.Second
	writeTime = 10 * time.Second
	idleTime  = 2 * time.Minute
)

// errTooLarge: a body is longer than maxBody, or an input than gate.MaxInput.
var errTooLarge = errors.New("too large")

var errBody = fmt.Errorf("a body of more than %d bytes: %w", maxBody, errTooLarge)

// readBody reads a request's body within bodyTime. With cut, strings of any
// length pass, each shortened to maxString: so a report is never refused for a
// long message (R-C7), and costs no more memory than another body. It has
// bodyTime again for every megabyte that has come.
func readBody(w http.ResponseWriter, r *http.Request, cut bool) (body []byte, err error) {
	control := http.NewResponseController(w)
	until := func(t time.Time) error {
		if err := control.SetReadDeadline(t); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return err
		}
		return nil
	}
	if err := until(time.Now().Add(bodyTime)); err != nil {
		return nil, err
	}
	if cut {
		body, err = readCut(&paced{Reader: r.Body, more: func() error { return until(time.Now().Add(bodyTime)) }})
	} else {
		body, err = readWhole(r.Body)
	}
	if err != nil {
		return nil, err
	}
	return body, until(time.Time{})
}

// paced asks for more time whenever a megabyte has come.
type paced struct {
	io.Reader
	come int
	more func() error
}

// Read implements io.Reader.
func (p *paced) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	if p.come += n; p.come >= 1<<20 && err == nil {
		p.come = 0
		err = p.more()
	}
	return n, err
}

func readWhole(r io.Reader) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, maxBody+1))
	if err == nil && len(body) > maxBody {
		return nil, errBody
	}
	return body, err
}
