package runstore

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"strings"

	"go.etcd.io/bbolt"

	"tollgate/gate"
)

const (
	ledgerSchema = 1
	fillAppend   = 0.95    // how full bbolt packs the pages of what is only appended to
	walkBytes    = 1 << 20 // copied out of one read transaction of a walk
)

// ledger is the open ledger file. append is for one goroutine; the reading
// methods may be called by any, beside it.
type ledger struct {
	db     *boltFile
	trail  trail
	store  storeID
	chain  *chain        // its head is that of the last commit
	hashes []gate.Digest // of the records of the last commit
}

// openLedger opens the ledger file at path and checks its newest block against
// the head that was written with it.
func openLedger(path string, maxSize int) (*ledger, error) {
	if err := checkPages(context.Background(), path, false, nil); err != nil {
		return nil, err
	}
	db, err := openBolt(path, maxSize)
	if err != nil {
		return nil, err
	}
	l := &ledger{db: db}
	err = l.trail.take(db)
	if err == nil {
		err = l.load()
	}
	if err != nil {
		return nil, closing(db, err)
	}
	return l, nil
}

// closing closes db, of which something else was wrong: that counts.
func closing(db io.Closer, err error) error {
	if closeErr := db.Close(); closeErr != nil {
		return fmt.Errorf("%w (and closing the file: %w)", err, closeErr)
	}
	return err
}

func (l *ledger) close() error { return l.db.Close() }

// load reads the meta bucket and the newest block.
func (l *ledger) load() error {
	return l.db.view(func(tx *bbolt.Tx) error {
		store, err := identify(tx)
		if err != nil {
			return err
		}
		l.store = store
		meta, blocks := tx.Bucket(bucketMeta), tx.Bucket(bucketLedger)
		head, err := parseHead(meta.Get(metaHead))
		if err != nil {
			return err
		}
		l.chain = newChain(l.store, tip{})
		if k, v := blocks.Cursor().Last(); k != nil {
			last, err := parseBlock(k, v)
			if err != nil {
				return err
			}
			l.chain.head = tip{Seq: last.first - 1, Hash: last.prev}
			if err := last.follow(l.chain, last.last()); err != nil {
				return err
			}
		}
		if l.chain.head != head {
			return differsFromHead(l.chain.head, head)
		}
		return nil
	})
}

// identify returns the id of the store that a ledger file belongs to, if the
// file has the buckets of a ledger and what it says of itself is whole.
func identify(tx *bbolt.Tx) (id storeID, err error) {
	names := namesIn(tx.Cursor())
	ours := false // something in it is what only a ledger has
	for _, name := range names {
		b := tx.Bucket([]byte(name))
		ours = ours || b != nil && bytes.Equal(b.Get(metaSum), identitySum(b))
	}
	switch wrong := !slices.Equal(names, []string{string(bucketLedger), string(bucketMeta)}); {
	case wrong && !ours:
		return id, fmt.Errorf("%w: its buckets are not those of a ledger", ErrForeign)
	case wrong:
		return id, damaged("its buckets are %.100q, want %q and %q", strings.Join(names, " "), bucketLedger, bucketMeta)
	}
	meta := tx.Bucket(bucketMeta)
	names = namesIn(meta.Cursor())
	known := []string{string(metaCreated), string(metaHead), string(metaSchema), string(metaStore), string(metaSum)}
	switch schema := meta.Get(metaSchema); {
	case !ours && !slices.ContainsFunc(names, func(name string) bool { return slices.Contains(known, name) }):
		return id, fmt.Errorf("%w: it has no store id", ErrForeign)
	case !ours:
		return id, damaged("what it says of its schema, its store and its time does not match the checksum")
	case len(schema) != 4 || binary.BigEndian.Uint32(schema) != ledgerSchema:
		return id, fmt.Errorf("%w: %.8x, want %.8x", ErrSchema, schema, ledgerSchema)
	case !slices.Equal(names, known) || len(meta.Get(metaStore)) != len(id):
		return id, damaged("its meta bucket holds %.100q, want %q", strings.Join(names, " "), strings.Join(known, " "))
	}
	return storeID(meta.Get(metaStore)), nil
}

// namesIn returns all keys.
func namesIn(c *bbolt.Cursor) (names []string) {
	for k, _ := c.First(); k != nil && len(names) < 100; k, _ = c.Next() {
		names = append(names, string(k))
	}
	return names
}

// identitySum is the checksum of what a ledger file says of itself, and never
// changes with the schema: so a schema of another version can be told from a
// changed byte. The chain sees to everything else.
func identitySum(meta *bbolt.Bucket) []byte {
	var all []byte
	for _, key := range [][]byte{metaSchema, metaStore, metaCreated} {
		all = append(append(all, key...), meta.Get(key)...)
	}
	return binary.BigEndian.AppendUint32(nil, crc32.Checksum(all, castagnoli))
}

func appendHead(dst []byte, h tip) []byte {
	return append(binary.BigEndian.AppendUint64(dst, h.Seq), h.Hash[:]...)
}

func differsFromHead(end, head tip) error {
	return damaged("the newest block ends at seq %d with hash %v, the head says seq %d with hash %v",
		end.Seq, end.Hash, head.Seq, head.Hash)
}

func parseHead(b []byte) (tip, error) {
	if len(b) != 8+len(gate.Digest{}) {
		return tip{}, damaged("the head has %d bytes, want %d", len(b), 8+len(gate.Digest{}))
	}
	return tip{Seq: binary.BigEndian.Uint64(b), Hash: gate.Digest(b[8:])}, nil
}

// head returns the head of the last commit. It is for the goroutine that
// appends.
func (l *ledger) head() tip { return l.chain.head }

// append writes records as one block and returns when it is on disk. On
// gate.ErrStoreFull nothing was written and the ledger can go on; on any other
// error nobody knows, and it has to be opened again.
func (l *ledger) append(records [][]byte) error {
	before := l.chain.head
	size := blockHeader
	l.hashes = l.hashes[:0]
	for _, r := range records {
		size += 4 + len(r)
		l.chain.add(r)
		l.hashes = append(l.hashes, l.chain.head.Hash)
	}
	// bbolt keeps the value until the commit, and its own pages after it.
	value := appendBlock(make([]byte, 0, size), before.Hash, records)
	err := l.update(func(tx *bbolt.Tx) error {
		blocks := tx.Bucket(bucketLedger)
		blocks.FillPercent = fillAppend
		if err := blocks.Put(seqKey(before.Seq+1), value); err != nil {
			return err
		}
		return tx.Bucket(bucketMeta).Put(metaHead, appendHead(nil, l.chain.head))
	})
	if err == nil {
		return nil
	}
	l.chain.head = before
	if lacksSpace(err) {
		if stored, headErr := l.storedHead(); headErr == nil && stored == before {
			return fmt.Errorf("%w: %w", gate.ErrStoreFull, err)
		}
	}
	return fmt.Errorf("%w: %w", gate.ErrUnknownCommit, err)
}

// update runs fn in a write transaction, on pages that are as the last one left
// them.
func (l *ledger) update(fn func(*bbolt.Tx) error) error {
	err := l.db.update(func(tx *bbolt.Tx) error {
		if err := l.trail.stands(l.db.file); err != nil {
			return err
		}
		return fn(tx)
	})
	if err == nil {
		l.trail.take(l.db) //nolint:errcheck // what was written is written; the next one fails
	}
	return err
}

// lastLeaf checks the chain of the blocks that the next append copies.
func (l *ledger) lastLeaf() error {
	return l.db.view(func(tx *bbolt.Tx) error {
		var newest []block
		c := tx.Bucket(bucketLedger).Cursor()
		for k, v := c.Last(); k != nil && len(newest) < l.trail.blocks; k, v = c.Prev() {
			b, err := parseBlock(k, v)
			if err != nil {
				return err
			}
			newest = append(newest, b)
		}
		if len(newest) == 0 {
			return nil
		}
		oldest := newest[len(newest)-1]
		chain := newChain(l.store, tip{Seq: oldest.first - 1, Hash: oldest.prev})
		for _, b := range slices.Backward(newest) {
			if err := b.follow(chain, b.last()); err != nil {
				return err
			}
		}
		return nil
	})
}

// storedHead reads the head that the file shows.
func (l *ledger) storedHead() (h tip, err error) {
	err = l.db.view(func(tx *bbolt.Tx) error {
		h, err = parseHead(tx.Bucket(bucketMeta).Get(metaHead))
		return err
	})
	return h, err
}

// seekBlock moves c to the block that holds seq.
func seekBlock(c *bbolt.Cursor, seq uint64) (block, error) {
	key := seqKey(seq)
	k, v := c.Seek(key)
	switch {
	case k == nil:
		k, v = c.Last()
	case !bytes.Equal(k, key):
		k, v = c.Prev()
	}
	if k == nil {
		return block{}, damaged("seq %d is missing", seq)
	}
	b, err := parseBlock(k, v)
	if err == nil && (seq < b.first || seq > b.last()) {
		err = damaged("seq %d is missing", seq)
	}
	return b, err
}

// record returns a copy of the record with sequence number seq, which must be
// one of the ledger's.
func (l *ledger) record(seq uint64) (r []byte, err error) {
	err = l.db.view(func(tx *bbolt.Tx) error {
		b, err := seekBlock(tx.Bucket(bucketLedger).Cursor(), seq)
		if err == nil {
			r = slices.Clone(b.record(seq))
		}
		return err
	})
	return r, err
}

// hashAt returns the hash of the record with sequence number seq, as it
// follows from its block; hashAt(0) is the zero hash.
func (l *ledger) hashAt(seq uint64) (hash gate.Digest, err error) {
	if seq == 0 {
		return hash, nil
	}
	err = l.hash(seq, func(at tip) {
		if at.Seq == seq {
			hash = at.Hash
		}
	})
	return hash, err
}

// hashesOf adds the hashes of all records of the block that holds seq.
func (l *ledger) hashesOf(seq uint64, hashes map[uint64]gate.Digest) error {
	return l.hash(seq, func(at tip) { hashes[at.Seq] = at.Hash })
}

// hash calls each with the hash of every record of the block that holds seq,
// and compares the last with what follows the block: the next one, or the head.
func (l *ledger) hash(seq uint64, each func(at tip)) error {
	return l.db.view(func(tx *bbolt.Tx) error {
		cursor := tx.Bucket(bucketLedger).Cursor()
		b, err := seekBlock(cursor, seq)
		if err != nil {
			return err
		}
		c := newChain(l.store, tip{Seq: b.first - 1, Hash: b.prev})
		for _, r := range b.all {
			c.add(r)
			each(c.head)
		}
		if k, v := cursor.Next(); k != nil {
			next, err := parseBlock(k, v)
			if err != nil {
				return err
			}
			c.block = b.first
			return next.follow(c, 0)
		}
		head, err := parseHead(tx.Bucket(bucketMeta).Get(metaHead))
		if err == nil && head != c.head {
			err = differsFromHead(c.head, head)
		}
		return err
	})
}

// blocks calls fn with each block after the one that ends with seq after, in
// order, until there are no more. The blocks are copies that fn may keep, and
// no transaction is open while fn runs.
func (l *ledger) blocks(ctx context.Context, after uint64, fn func(block) error) error {
	type copied struct{ key, value []byte }
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		var some []copied
		var broken error // at the block after those
		err := l.db.view(func(tx *bbolt.Tx) error {
			c := tx.Bucket(bucketLedger).Cursor()
			size := 0
			from := seqKey(after + 1)
			if after == 0 {
				from = nil // what stands before seq 1 does not belong there
			}
			for k, v := c.Seek(from); k != nil && size < walkBytes; k, v = c.Next() {
				if _, broken = parseBlock(k, v); broken != nil {
					break // before what it claims to be is copied
				}
				some = append(some, copied{slices.Clone(k), slices.Clone(v)})
				size += len(v)
			}
			return nil
		})
		if err != nil {
			return err
		}
		if len(some) == 0 {
			return broken
		}
		for _, kv := range some {
			b, err := parseBlock(kv.key, kv.value)
			if err != nil {
				return err
			}
			if err := fn(b); err != nil {
				return err
			}
			after = b.last()
		}
	}
}

// walk checks the chain from a head that is trusted, which ended a block, to
// the end of the ledger, and calls each with every block on the way, and where
// the chain stands after it. It returns the head that it came to.
func (l *ledger) walk(ctx context.Context, from tip, each func(b block, at tip) error) (tip, error) {
	return l.walkTo(ctx, from, math.MaxUint64, each)
}

// walkTo is walk to the block that ends at seq last.
func (l *ledger) walkTo(ctx context.Context, from tip, last uint64, each func(b block, at tip) error) (tip, error) {
	c := newChain(l.store, from)
	err := l.blocks(ctx, from.Seq, func(b block) error {
		if b.first > last {
			return errStop
		}
		if err := b.follow(c, b.last()); err != nil {
			return err
		}
		if each == nil {
			return nil
		}
		return each(b, c.head)
	})
	if errors.Is(err, errStop) {
		err = nil
	}
	return c.head, err
}

// errStop ends a walk.
var errStop = errors.New("as far as it was asked")
