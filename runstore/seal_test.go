package runstore

import (
	"bytes"
	"errors"
	"testing"

	"tollgate/gate"
)

// A row whose key, value or checksum has changed in any bit is none.
func TestSealShowsAnyChange(t *testing.T) {
	key, value := []byte("key"), []byte("value")
	row := sealed(key, value)
	if got, err := unsealed(key, row); err != nil || !bytes.Equal(got, value) {
		t.Fatalf("unsealed = %q, %v, want %q", got, err, value)
	}
	for bit := range 8 * (len(key) + len(row)) {
		k, r := bytes.Clone(key), bytes.Clone(row)
		if at := bit / 8; at < len(k) {
			k[at] ^= 1 << (bit % 8)
		} else {
			r[at-len(k)] ^= 1 << (bit % 8)
		}
		if got, err := unsealed(k, r); !errors.Is(err, gate.ErrDamaged) {
			t.Errorf("bit %d: unsealed = %q, %v, want damaged", bit, got, err)
		}
	}
	for n := range row {
		if got, err := unsealed(key, row[:n]); !errors.Is(err, gate.ErrDamaged) {
			t.Errorf("%d bytes: unsealed = %q, %v, want damaged", n, got, err)
		}
	}
}
