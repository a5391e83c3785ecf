package runstore

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"tollgate/gate"
)

// The bytes of a block and the hashes of a chain are final. Both were worked
// out apart from this program; a store of today must be read by any later one.
func TestFramingIsFinal(t *testing.T) {
	const (
		wantBlock = "01" + // framing version
			"e27cdb8f4aa5bf1ab0c6c70ef6a0ff5ecd5c5c9e9ec0e0c8ea0b5a1ba7d41a7e" +
			"00000002" + "00000005" + "00000001" + // two records, of 5 bytes and 1
			"616c706861" + "62"
	)
	prev, err := hex.DecodeString(wantBlock[2:66])
	if err != nil {
		t.Fatal(err)
	}
	got := appendBlock(nil, gate.Digest(prev), [][]byte{[]byte("alpha"), []byte("b")})
	if hex.EncodeToString(got) != wantBlock {
		t.Errorf("block = %x\nwant    %s", got, wantBlock)
	}

	id, err := parseRealm("000102030405060708090a0b0c0d0e0f")
	if err != nil {
		t.Fatal(err)
	}
	c := newChain(id, tip{})
	for i, want := range []string{
		"fc941ab6d17ebc9f28d527b16d3a93b631721d4522e1fda5ac229234c65ed303",
		"cf5a287e3c135e8c7c03505b3ebe9f8736767b6f508bdbf199883ade56875414",
	} {
		c.add([]byte([]string{"alpha", "b"}[i]))
		if got := hex.EncodeToString(c.head.Hash[:]); got != want {
			t.Errorf("hash of record %d = %s, want %s", i+1, got, want)
		}
	}
}

func TestParseBlock(t *testing.T) {
	records := [][]byte{[]byte("alpha"), []byte("b"), bytes.Repeat([]byte("c"), 300)}
	value := appendBlock(nil, gate.Digest{9}, records)
	b, err := parseBlock(seqKey(7), value)
	if err != nil {
		t.Fatal(err)
	}
	if b.first != 7 || b.last() != 9 || b.prev != (gate.Digest{9}) {
		t.Errorf("block = %d to %d after %v, want 7 to 9 after 09…", b.first, b.last(), b.prev)
	}
	for i, want := range records {
		if got := b.record(7 + uint64(i)); !bytes.Equal(got, want) {
			t.Errorf("record %d = %q, want %q", 7+i, got, want)
		}
	}

	changed := func(change func(v []byte) []byte) []byte { return change(bytes.Clone(value)) }
	for name, bad := range map[string][]byte{
		"nothing":           {},
		"no header":         value[:36],
		"no lengths":        value[:40],
		"a byte short":      value[:len(value)-1],
		"a byte long":       changed(func(v []byte) []byte { return append(v, 0) }),
		"other version":     changed(func(v []byte) []byte { v[0] = 2; return v }),
		"no records":        changed(func(v []byte) []byte { v[36] = 0; return v }),
		"too many records":  changed(func(v []byte) []byte { v[33] = 0xff; return v }),
		"a length of zero":  changed(func(v []byte) []byte { v[44] = 0; return v }),
		"a length too long": changed(func(v []byte) []byte { v[37] = 0xff; return v }),
	} {
		if _, err := parseBlock(seqKey(7), bad); !errors.Is(err, gate.ErrDamaged) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: err = %v, want one line that says damaged", name, err)
		}
	}
}

func FuzzParseBlock(f *testing.F) {
	f.Add(appendBlock(nil, gate.Digest{1}, [][]byte{[]byte("alpha"), []byte("b")}))
	f.Fuzz(func(t *testing.T, value []byte) {
		b, err := parseBlock(seqKey(3), value)
		if err != nil {
			return
		}
		var records [][]byte
		for seq := b.first; seq <= b.last(); seq++ {
			records = append(records, b.record(seq))
		}
		if got := appendBlock(nil, b.prev, records); !bytes.Equal(got, value) {
			t.Errorf("block written again = %x, want %x", got, value)
		}
	})
}
