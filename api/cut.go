package api

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"unicode/utf8"
)

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
