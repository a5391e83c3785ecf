// Package runstore is the embedded engine of tollgate: a [Store] keeps the
// decisions of the gate in an append-only, hash-chained ledger file and answers
// a commit only when its bytes are on disk.
//
// A store is a directory that belongs to one user (mode 0700):
//
//	tollgate.db      the ledger: the truth, and the only file that cannot be rebuilt
//	projection.db    what the screens read; rebuilt from the ledger when it is missing or damaged
//	lock             locked by the owner for as long as it lives, and holds its process id
//	checkpoints.log  one line for now and then: how far the ledger had got, and its hash there
//
// All of them are plain files of that user's alone (mode 0600). One process owns
// a store. [Init] makes one, [Open] never does: it refuses what is missing,
// empty, truncated, foreign or behind its newest checkpoint, each with one
// line.
//
// # The ledger file
//
// The two formats below are final: a later version of the program may add
// fields to records, but it reads and writes these blocks and this chain. Both
// files are bbolt databases; keys.go lists the buckets. All integers are
// unsigned and big endian.
//
// A block holds the records of one commit. Its key in bucket "ledger" is the
// sequence number of its first record, in 8 bytes; records are numbered from 1
// without a gap. Its value is
//
//	offset   bytes  what
//	0        1      version of the framing, 1
//	1        32     hash of the record before the first one of this block
//	33       4      n, the number of records, 1 to 1024
//	37       4·n    length of each record, 1 to 1048576
//	37+4·n   …      the records, one after another, and nothing after them
//
// so that the i-th record is found from the lengths alone.
//
// The hash of the record with sequence number s is
//
//	SHA-256( "tollgate/record/1" ‖ store id (16) ‖ s (8) ‖ hash of record s−1 (32) ‖ length (4) ‖ record )
//
// where the 17 bytes of the tag have no terminator and the hash of "record 0"
// is 32 zero bytes. The hash covers the stored bytes, not what they mean, so
// the chain can be checked by a program that cannot read the records. Where
// one block ends and the next begins is not part of it.
//
// Bucket "meta" holds "schema" (4 bytes), "store" (the id, 16 random bytes),
// "created" (milliseconds since 1970, 8 bytes) and "sum", which is the CRC-32C
// of the keys and values of those three, in this order, one after another; and
// "head": the last sequence number (8) and its hash (32), written in the same
// transaction as the block.
//
// # In memory, and the projection
//
// The runs in which something can happen are held in memory, by the gate's own
// Live; a commit is compared and folded there, under one lock, and then shares
// a block and a sync with whoever else waits. Behind the writer a second
// goroutine takes over what the decisions of each block changed, and writes it
// into projection.db, which holds a row for each run, operation, item and
// dependency, and the lists that screens show. At Open, and after a fault, it
// folds the stored bytes instead; [Store.Verify] compares the two. A run that
// has come to rest leaves memory once its rows are written, and comes back from
// them when it is asked for. A read waits until the projection has taken in all
// that was answered before it.
//
// Nothing but the ledger counts: a projection that is missing, damaged or of
// another ledger is built anew, at Open or while the store is in use. So that
// damage shows, every row ends with a checksum of its key and value, and Open
// looks at every page of the file; of the ledger it looks at the pages that
// lead to the blocks, and a block is checked against the hash that follows it
// when it is read. Under an open store it shows when it is met: a transaction is
// not older than the newest one, a run comes with all of its rows and all of one
// time, and its id stands in two places, so that it is not taken for a new one.
// Before a block is appended the pages that it builds on are compared with what
// the last one left: bbolt would copy what has changed in them, and acknowledged
// blocks be lost.
//
// # checkpoints.log
//
// Every 4096 records, and at the end, one line is appended and synced:
//
//	tollgate/checkpoint/1 REALM SEQ sha256:HASH
//
// where REALM is the store's id in hex and HASH that of the record SEQ. Seqs
// ascend. A last line without its end that begins like one of these was being
// written when its owner died, and is dropped; whatever else is no such line,
// zeros among it, is damage.
//
// # What is promised
//
// Nothing is acknowledged before fdatasync has returned for it. A commit error
// other than a clean lack of space leaves the outcome open: no further commit
// is acknowledged until the file has been opened again and shows what is in
// it. The chain shows a change, a removal, an insertion or a new order of
// records; it shows a tail that was cut off, or cut off and written anew, only
// against a checkpoint that was kept elsewhere. [Store.Verify] accounts for every
// page of both files, every row's checksum and every checkpoint, and in full it
// decides every decision again, and compares every row with the ledger.
package runstore
