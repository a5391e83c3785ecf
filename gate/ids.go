package gate

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"strings"
)

// RunID names a run. It comes from callers.
type RunID string

// OpID names an operation within its run. It comes from callers, or else from
// run, tool and input (R-A2).
type OpID string

// ItemID names what waits for a person about one operation. It is made from
// the run and the operation, since an operation has at most one item (R-P1).
type ItemID string

// Digest is a SHA-256, of a request, a contract or a body. The zero value
// means that there is none.
type Digest [32]byte

// IsZero reports whether there is no digest.
func (d Digest) IsZero() bool { return d == Digest{} }

// String returns "sha256:" and 64 hex digits, or the empty string for none.
func (d Digest) String() string {
	if d.IsZero() {
		return ""
	}
	return "sha256:" + hex.EncodeToString(d[:])
}

// ParseDigest reads what String writes, the digits in either case; the empty
// string is none. The error is an InputError about what.
func ParseDigest(what, s string) (Digest, error) {
	if s == "" {
		return Digest{}, nil
	}
	text, ok := strings.CutPrefix(s, "sha256:")
	b, err := hex.DecodeString(text)
	if !ok || err != nil || len(b) != len(Digest{}) {
		return Digest{}, &InputError{Field: what, Want: "sha256: and 64 hex digits", Got: fmt.Sprintf("%.80q", s)}
	}
	return Digest(b), nil
}

// ParseTrace returns the trace id of a W3C traceparent, 32 lower-case hex
// digits; the empty string has none. The error is an InputError.
//
// Source: W3C Trace Context, traceparent header.
func ParseTrace(traceparent string) (string, error) {
	if traceparent == "" {
		return "", nil
	}
	const lower = "0123456789abcdef"
	parts := strings.Split(traceparent, "-")
	ok := len(parts) >= 4
	for i, n := range [...]int{2, 32, 16, 2} {
		ok = ok && len(parts[i]) == n && strings.Trim(parts[i], lower) == ""
	}
	if !ok {
		return "", &InputError{Field: "traceparent", Want: "version-trace-parent-flags in lower-case hex", Got: fmt.Sprintf("%.80q", traceparent)}
	}
	return parts[1], nil
}

const maxID = 128

// CheckID says what is wrong with an identifier: what names it in the error.
func CheckID(what, id string) error {
	switch {
	case id == "":
		return &InputError{Field: what, Want: fmt.Sprintf("1 to %d bytes", maxID), Got: "nothing"}
	case len(id) > maxID:
		return &InputError{Field: what, Want: fmt.Sprintf("at most %d bytes", maxID), Got: fmt.Sprintf("%d bytes", len(id))}
	}
	for i := range len(id) {
		if !idByte(id[i]) {
			return &InputError{Field: what, Want: "letters, digits and . _ : / @ + = # , -", Got: fmt.Sprintf("%q", id)}
		}
	}
	return nil
}

func idByte(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	}
	return strings.IndexByte("._:/@+=#,-", c) >= 0
}

// hashParts hashes parts, each with its length before it, so that no two
// different lists of parts run together.
func hashParts(parts ...string) Digest {
	h := sha256.New()
	var n [8]byte
	for _, p := range parts {
		for i := range n {
			n[i] = byte(len(p) >> (8 * (7 - i)))
		}
		h.Write(n[:])
		h.Write([]byte(p))
	}
	return Digest(h.Sum(nil))
}

var itemEncoding = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// ItemIDOf returns the id of the item of one operation: "i-" and ten
// characters. Neighbours look different, so that typing the last four of them
// proves that a person read them.
func ItemIDOf(run RunID, op OpID) ItemID {
	d := hashParts("item", string(run), string(op))
	return ItemID("i-" + itemEncoding.EncodeToString(d[:])[:10])
}

// newKey makes the idempotency key of a logical action: from the store, the
// root of its line of runs and the operation, never from the attempt (R-A3).
func newKey(realm string, root RunID, op OpID) string {
	d := hashParts("key", realm, string(root), string(op))
	return hex.EncodeToString(d[:16])
}
