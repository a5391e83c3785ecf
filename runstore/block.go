package runstore

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"

	"tollgate/gate"
)

// Framing of a block; doc.go shows it byte by byte. Final.
const (
	blockVersion = 1
	blockHeader  = 1 + len(gate.Digest{}) + 4

	maxBlock  = 1024    // records in a block
	maxRecord = 1 << 20 // bytes of a record

	chainTag = "tollgate/record/1"
)

// storeID is the identity of a store: 16 random bytes, part of every hash, so
// that a record of one store is no record of another.
type storeID [16]byte

// String returns the id as 32 hex digits: the realm of the store.
func (id storeID) String() string { return hex.EncodeToString(id[:]) }

// parseRealm reads what String returns.
func parseRealm(s string) (id storeID, err error) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(id) || hex.EncodeToString(b) != s {
		return id, fmt.Errorf("realm %q: want %d lower-case hex digits", s, 2*len(id))
	}
	return storeID(b), nil
}

// tip is how far a ledger has got: the last sequence number and the hash of
// that record. The zero tip is that of an empty ledger.
type tip struct {
	Seq  uint64
	Hash gate.Digest
}

// chain hashes records one after another. It is not safe for concurrent use.
type chain struct {
	store storeID
	head  tip
	block uint64 // first seq of the block that ended at the head
	sum   hash.Hash
	buf   []byte
}

func newChain(store storeID, head tip) *chain {
	return &chain{store: store, head: head, sum: sha256.New()}
}

// add moves the head of the chain over one record.
func (c *chain) add(record []byte) {
	b := append(c.buf[:0], chainTag...)
	b = append(b, c.store[:]...)
	b = binary.BigEndian.AppendUint64(b, c.head.Seq+1)
	b = append(b, c.head.Hash[:]...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(record)))
	c.sum.Reset()
	c.sum.Write(b)
	c.sum.Write(record)
	c.sum.Sum(c.head.Hash[:0])
	c.head.Seq++
	c.buf = b
}

// appendBlock appends the block of records that follow the record with hash
// prev. The caller has made sure that their number and sizes are in range.
func appendBlock(dst []byte, prev gate.Digest, records [][]byte) []byte {
	dst = append(dst, blockVersion)
	dst = append(dst, prev[:]...)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(records)))
	for _, r := range records {
		dst = binary.BigEndian.AppendUint32(dst, uint32(len(r)))
	}
	for _, r := range records {
		dst = append(dst, r...)
	}
	return dst
}

// block is a view of stored bytes; it owns none of them.
type block struct {
	first   uint64
	prev    gate.Digest
	n       int
	lengths []byte // n of 4 bytes
	records []byte
}

// parseBlock reads the framing of a stored block and nothing of its records.
func parseBlock(key, value []byte) (block, error) {
	if len(key) != 8 {
		return block{}, damaged("a ledger key has %d bytes, want 8", len(key))
	}
	b := block{first: binary.BigEndian.Uint64(key)}
	bad := func(format string, args ...any) (block, error) {
		return block{}, damaged("block at seq %d: "+format, append([]any{b.first}, args...)...)
	}
	if len(value) < blockHeader {
		return bad("%d bytes, too short for a header", len(value))
	}
	if value[0] != blockVersion {
		return bad("framing version %d, want %d", value[0], blockVersion)
	}
	b.prev = gate.Digest(value[1:])
	n := binary.BigEndian.Uint32(value[blockHeader-4:])
	if n < 1 || n > maxBlock {
		return bad("%d records, want 1 to %d", n, maxBlock)
	}
	b.n = int(n)
	rest := value[blockHeader:]
	if len(rest) < 4*b.n {
		return bad("%d bytes, too short for the lengths of %d records", len(value), n)
	}
	b.lengths, b.records = rest[:4*b.n], rest[4*b.n:]
	total := 0
	for i := range b.n {
		l := b.length(i)
		if l < 1 || l > maxRecord {
			return bad("record %d has %d bytes, want 1 to %d", b.first+uint64(i), l, maxRecord)
		}
		total += l
	}
	if total != len(b.records) {
		return bad("%d bytes of records, want %d", len(b.records), total)
	}
	return b, nil
}

func (b block) length(i int) int { return int(binary.BigEndian.Uint32(b.lengths[4*i:])) }

// last returns the sequence number of the last record.
func (b block) last() uint64 { return b.first + uint64(b.n) - 1 }

// record returns the record with sequence number seq, which the block holds.
// The slice is a part of the stored bytes.
func (b block) record(seq uint64) []byte {
	start, i := 0, int(seq-b.first)
	for j := range i {
		start += b.length(j)
	}
	end := start + b.length(i)
	return b.records[start:end:end]
}

// all yields the records with their seqs.
func (b block) all(yield func(seq uint64, record []byte) bool) {
	rest := b.records
	for i := range b.n {
		l := b.length(i)
		if !yield(b.first+uint64(i), rest[:l:l]) {
			return
		}
		rest = rest[l:]
	}
}

// follow checks that the block follows the head of c, and moves c over the
// records of the block up to and including seq last.
func (b block) follow(c *chain, last uint64) error {
	switch {
	case b.first != c.head.Seq+1:
		return damaged("seq %d is missing: a block starts at seq %d", c.head.Seq+1, b.first)
	case b.prev != c.head.Hash:
		return damaged("the chain breaks: a record of seq %d to %d was changed, or the hash of them in the block at seq %d",
			c.block, c.head.Seq, b.first)
	}
	c.block = b.first
	for seq, r := range b.all {
		if seq > last {
			break
		}
		c.add(r)
	}
	return nil
}
