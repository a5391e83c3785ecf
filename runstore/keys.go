package runstore

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"time"

	"tollgate/gate"
)

// The layout of the two files. A key's parts are written one after another at
// fixed widths, integers and instants big endian, so that keys sort by their
// parts. Prefixes are the opening seqs of runs, not random digests: rows of
// one run lie together, and new rows dirty few pages however large the store
// is. A place is run(8) n(4): the n-th operation of a run, from 0.
//
//	file           bucket         key                                        value, and in projection.db its checksum
//	tollgate.db    ledger         first seq(8)                               block of records; append only
//	               meta           schema, store, created, sum, head          see doc.go
//	projection.db  meta           schema, store, projected, summary          how far the ledger has been folded in
//	               run_ids        digest of the run id(16)                   opening seq(8)
//	               run_ids_again  other half of its digest(16)               empty
//	               runs           opening seq(8)                             runRow
//	               runs_by_state  state(1) calm(1) newest first(8)           empty; state 0 holds all runs
//	               due_runs       opening seq(8)                             empty; runs with something due, now or later
//	               told           run(8) n(4)                                up to 64 seqs of the run's decisions(8 each)
//	               op_ids         run(8) digest of the op id(16)             n(4)
//	               ops            place(12)                                  operation
//	               items          item id                                    place(12)
//	               queue          state(1) rank(1) deadline(8) since(8) id   queueEntry; items in the order of the queue; of those
//	                                                                         that are resolved: state(1) 0 newest first(8) 0(8) id
//	               age            state(1) since(8) id                       queueEntry; items that wait, oldest first
//	               snoozed        until(8) id                                kind(1)
//	               waiting        dependency                                 items that wait on it(8)
//	               dependencies   dependency                                 window and breaker
//	               contracts      digest of the document(32)                 seq at which it was first adopted(8)
//
// Rows are CBOR; codec.go says what their fields are.
var (
	bucketLedger = []byte("ledger")
	bucketMeta   = []byte("meta")

	bucketRunIDs       = []byte("run_ids")
	bucketRunIDsAgain  = []byte("run_ids_again")
	bucketRuns         = []byte("runs")
	bucketRunsByState  = []byte("runs_by_state")
	bucketDueRuns      = []byte("due_runs")
	bucketTold         = []byte("told")
	bucketOpIDs        = []byte("op_ids")
	bucketOps          = []byte("ops")
	bucketItems        = []byte("items")
	bucketQueue        = []byte("queue")
	bucketAge          = []byte("age")
	bucketSnoozed      = []byte("snoozed")
	bucketWaiting      = []byte("waiting")
	bucketDependencies = []byte("dependencies")
	bucketContracts    = []byte("contracts")
)

// projectionBuckets are those of projection.db.
var projectionBuckets = [][]byte{
	bucketMeta, bucketRunIDs, bucketRunIDsAgain, bucketRuns, bucketRunsByState, bucketDueRuns, bucketTold, bucketOpIDs, bucketOps,
	bucketItems, bucketQueue, bucketAge, bucketSnoozed, bucketWaiting, bucketDependencies, bucketContracts,
}

// Keys of the meta buckets.
var (
	metaSchema    = []byte("schema")
	metaStore     = []byte("store")
	metaCreated   = []byte("created")
	metaHead      = []byte("head")
	metaSum       = []byte("sum")
	metaProjected = []byte("projected")
	metaSummary   = []byte("summary")
)

// seqKey is a sequence number as a key.
func seqKey(seq uint64) []byte { return binary.BigEndian.AppendUint64(nil, seq) }

func seqOf(b []byte) uint64 {
	if len(b) != 8 {
		return 0
	}
	return binary.BigEndian.Uint64(b)
}

// idDigest is an id at a fixed width.
func idDigest(id string) []byte {
	digest, _ := idDigests(id)
	return digest
}

// idDigests are two of an id that have nothing in common.
func idDigests(id string) (digest, other []byte) {
	d := sha256.Sum256([]byte(id))
	return d[:16:16], d[16:]
}

// appendMS appends an instant at a fixed width, in whole milliseconds, so that
// instants before 1970 sort too.
func appendMS(b []byte, t time.Time) []byte {
	return binary.BigEndian.AppendUint64(b, uint64(t.UnixMilli())^1<<63)
}

// place says where an operation stands: the n-th of a run.
type place struct {
	run uint64 // opening seq
	n   uint32
}

func (p place) key() []byte {
	return binary.BigEndian.AppendUint32(seqKey(p.run), p.n)
}

func placeOf(b []byte) (place, error) {
	if len(b) < 12 {
		return place{}, damaged("the place of an operation has %d bytes, want 12", len(b))
	}
	return place{run: binary.BigEndian.Uint64(b), n: binary.BigEndian.Uint32(b[8:])}, nil
}

func opIDKey(run uint64, id gate.OpID) []byte { return append(seqKey(run), idDigest(string(id))...) }

// runsKeys are the places of a run in the lists of runs: those with open items
// first, and then the newest first.
func runsKeys(r *gate.Run) [][]byte {
	calm := byte(1)
	if r.OpenItems > 0 {
		calm = 0
	}
	key := func(state gate.RunState) []byte {
		return binary.BigEndian.AppendUint64([]byte{byte(state), calm}, math.MaxUint64-r.Opened)
	}
	return [][]byte{key(0), key(r.State())}
}

// openedOf is the opening seq in a key of runs_by_state.
func openedOf(key []byte) uint64 {
	if len(key) != 10 {
		return 0
	}
	return math.MaxUint64 - binary.BigEndian.Uint64(key[2:])
}
