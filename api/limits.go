package api

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
	"unicode/utf8"
)

// Limits of a request. A body has bodyTime to arrive whole; headers as well.
const (
	maxBody    = 256 << 10
	maxHeader  = 12 << 10 // net/http adds 4 KiB of its own
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

// readCut reads JSON and leaves away what is in a string beyond maxString, but
// never a part of a rune or of an escape. Whether it is JSON is not its affair.
func readCut(r io.Reader) ([]byte, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	var out []byte
	inside, full, paired, n := false, false, false, 0 // of the string that is being read
	var token [6]byte
	for {
		if inside && full {
			skipPlain(in)
		}
		token, err := nextToken(in, token[:0], inside)
		if errors.Is(err, io.EOF) && len(token) == 0 {
			return out, nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		switch {
		case token[0] == '"':
			inside, full, paired, n = !inside, false, false, 0
		case inside:
			// The second half of a pair stays with its first.
			full = full || n+len(token) > maxString && !paired
			half, _ := unit(token)
			paired = !full && half>>10 == 0xD800>>10
			n += len(token)
		}
		if !full || !inside {
			out = append(out, token...)
		}
		if len(out) > maxBody {
			return nil, errBody
		}
	}
}

// skipPlain leaves away what is at hand of a string up to its end or its next
// escape.
func skipPlain(in *bufio.Reader) {
	for {
		ready, err := in.Peek(max(1, in.Buffered()))
		n := bytes.IndexAny(ready, `"\\`)
		if n < 0 {
			n = len(ready)
		}
		if _, short := in.Discard(n); n < len(ready) || err != nil || short != nil {
			return
		}
	}
}

// nextToken reads one byte, or within a string one rune or one escape.
func nextToken(in *bufio.Reader, token []byte, inside bool) ([]byte, error) {
	b, err := in.ReadByte()
	if err != nil {
		return token, err
	}
	token = append(token, b)
	more := 0
	switch {
	case !inside:
	case b == '\\':
		if b, err = in.ReadByte(); err != nil {
			return token, err
		}
		token = append(token, b)
		if b == 'u' {
			more = 4
		}
	case b >= 0xF0:
		more = 3
	case b >= 0xE0:
		more = 2
	case b >= 0xC0:
		more = 1
	}
	for ; more > 0; more-- {
		next, err := in.Peek(1)
		if err != nil {
			return token, err
		}
		if next[0] == '"' || token[0] >= utf8.RuneSelf && utf8.RuneStart(next[0]) {
			break // broken off: the decoder will say so
		}
		if _, err := in.Discard(1); err != nil {
			return token, err
		}
		token = append(token, next[0])
	}
	return token, nil
}

// capped is a listener that lets one user hold maxPerPeer connections at most,
// so that a runaway client cannot take the last one.
type capped struct {
	net.Listener
	mu   sync.Mutex
	held map[string]int // by actor id
}

// Accept returns the next connection of a user who may have one more. The
// others are closed.
func (l *capped) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		who, err := peerOf(c)
		if err != nil || !l.take(who.Actor.ID) {
			_ = c.Close() // whose it is is not known, or they have enough
			continue
		}
		return &peerConn{Conn: c, peer: who, gone: sync.OnceFunc(func() { l.leave(who.Actor.ID) })}, nil
	}
}

func (l *capped) take(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[id] >= maxPerPeer {
		return false
	}
	l.held[id]++
	return true
}

func (l *capped) leave(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[id]--; l.held[id] <= 0 {
		delete(l.held, id)
	}
}

// peerConn is a connection of which it is known whose it is.
type peerConn struct {
	net.Conn
	peer peer
	gone func()
}

// Close implements net.Conn.
func (c *peerConn) Close() error {
	c.gone()
	return c.Conn.Close()
}
