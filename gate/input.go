package gate

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// MaxInput bounds the input of a call, in bytes.
const MaxInput = 64 << 10

// digestInput returns the digest of an input as it is compared: JSON with
// sorted keys and no white space, without its volatile top-level fields (R-A2,
// R-A4). Numbers keep their spelling.
func digestInput(input []byte, volatile []string) (Digest, error) {
	if !utf8.Valid(input) { // two inputs must not come to look the same
		return Digest{}, &InputError{Field: "input", Want: "UTF-8", Got: "bytes that are not"}
	}
	dec := json.NewDecoder(bytes.NewReader(input))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return Digest{}, &InputError{Field: "input", Want: "one JSON value", Got: err.Error()}
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Digest{}, &InputError{Field: "input", Want: "one JSON value", Got: "something after it"}
	}
	if m, ok := v.(map[string]any); ok {
		for _, f := range volatile {
			delete(m, f)
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return Digest{}, fmt.Errorf("input as canonical JSON: %w", err)
	}
	return Digest(sha256.Sum256(b.Bytes())), nil
}

// request returns the digest of what an ask is about (R-A4).
func (c Ask) request(tool *Tool) (Digest, error) {
	if c.Input == nil {
		return c.InputDigest, nil
	}
	return digestInput(c.Input, tool.Volatile)
}

// id names the operation that a call without a name means: by the line of runs,
// the tool and the request, so that the same call is the same operation in
// each run of the line (R-A2).
func (d Derived) id(root RunID) OpID {
	h := hashParts("operation", string(root), d.Tool, string(d.Digest[:]))
	return OpID(fmt.Sprintf("op-%x", h[:8]))
}
