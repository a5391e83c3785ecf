package runstore

import (
	"encoding/binary"
)

// The layout of the two files. A key's parts are written one after another at
// fixed widths, integers big endian, so that keys sort by their parts.
// Prefixes are sequence numbers, not random digests: rows of one run lie
// together, and new rows dirty few pages however large the store is.
//
//	file           bucket         key                              value
//	tollgate.db    ledger         first seq(8)                     block of records; append only
//	               meta           schema, store, created, head     see doc.go
//	projection.db  meta           schema, store, projected         how far the ledger has been folded in
//	               run_ids        digest of the run id(16)         opening seq(8)
//	               runs           opening seq(8)                   run header
//	               runs_by_state  state(1) entered(8) run(8)       empty
//	               ops            run(8) digest of the op id(16)   operation
//	               run_seq        run(8) n(4)                      seq(8) of every 64th record of the run
//	               keys           root run(8) digest of the key(16) operations, along the line of runs
//	               items          opening seq(8)                   item
//	               open_items     kind(1) deadline(8) item(8)      empty
//	               by_cause       dependency 0 code 0 class        counters
//	               dependencies   dependency                       window and breaker
var (
	bucketLedger = []byte("ledger")
	bucketMeta   = []byte("meta")
)

// Keys of the meta buckets.
var (
	metaSchema  = []byte("schema")
	metaStore   = []byte("store")
	metaCreated = []byte("created")
	metaHead    = []byte("head")
)

// seqKey is a sequence number as a key.
func seqKey(seq uint64) []byte { return binary.BigEndian.AppendUint64(nil, seq) }
