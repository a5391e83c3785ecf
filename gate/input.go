package gate

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// MaxInput bounds the input of a call, in bytes.
const MaxInput = 64 << 10

// canonicalInput returns an input as it is compared and stored: JSON with
// sorted keys and no white space, and the digest of the same without its
// volatile top-level fields (R-A2, R-A4). Numbers keep their spelling.
func canonicalInput(input []byte, volatile []string) (whole []byte, digest Digest, err error) {
	dec := json.NewDecoder(bytes.NewReader(input))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, Digest{}, &InputError{Field: "input", Want: "one JSON value", Got: err.Error()}
	}
	if _, err := dec.Token(); err != io.EOF { //nolint:errorlint // Token returns io.EOF itself
		return nil, Digest{}, &InputError{Field: "input", Want: "one JSON value", Got: "something after it"}
	}
	whole, err = compact(v)
	if err != nil {
		return nil, Digest{}, err
	}
	kept := whole
	if m, ok := v.(map[string]any); ok && slices.ContainsFunc(volatile, func(f string) bool { _, has := m[f]; return has }) {
		for _, f := range volatile {
			delete(m, f)
		}
		if kept, err = compact(m); err != nil {
			return nil, Digest{}, err
		}
	}
	return whole, Digest(sha256.Sum256(kept)), nil
}

func compact(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("input as canonical JSON: %w", err)
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// request returns what an ask is about: its digest, its stored input and the
// id of its operation, derived where the caller gave none (R-A2, R-A4).
func (c Ask) request(tool *Tool) (op OpID, input []byte, digest Digest, err error) {
	digest = c.InputDigest
	if c.Input != nil {
		if input, digest, err = canonicalInput(c.Input, tool.Volatile); err != nil {
			return "", nil, Digest{}, err
		}
	}
	op = c.Op
	if op == "" {
		d := hashParts("operation", string(c.Run), c.Tool, string(digest[:]))
		op = OpID(fmt.Sprintf("op-%x", d[:8]))
	}
	return op, input, digest, nil
}
