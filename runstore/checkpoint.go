package runstore

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"tollgate/gate"
)

const (
	checkpointTag   = "tollgate/checkpoint/1"
	checkpointEvery = 4096 // records
)

// Checkpoint says how far the ledger of a store had got at some time. Kept
// elsewhere, one line of it shows a ledger that was cut off or written anew.
type Checkpoint struct {
	Realm string // the store's id: 32 hex digits
	Seq   uint64
	Hash  gate.Digest
}

// String returns the checkpoint as one line without its end:
//
//	tollgate/checkpoint/1 REALM SEQ sha256:HASH
func (c Checkpoint) String() string {
	return fmt.Sprintf("%s %s %d sha256:%x", checkpointTag, c.Realm, c.Seq, c.Hash[:])
}

// ParseCheckpoint reads the line that String returns.
func ParseCheckpoint(line string) (Checkpoint, error) {
	bad := func(what string) (Checkpoint, error) {
		return Checkpoint{}, fmt.Errorf("checkpoint: %s, want %q", what, checkpointTag+" REALM SEQ sha256:HASH")
	}
	f := strings.Split(line, " ")
	if len(f) != 4 || f[0] != checkpointTag {
		return bad("another form")
	}
	if _, err := parseRealm(f[1]); err != nil {
		return bad("realm out of form")
	}
	seq, err := strconv.ParseUint(f[2], 10, 64)
	if err != nil {
		return bad("sequence number out of form")
	}
	hash, err := hex.DecodeString(strings.TrimPrefix(f[3], "sha256:"))
	if err != nil || len(hash) != len(gate.Digest{}) {
		return bad("hash out of form")
	}
	c := Checkpoint{Realm: f[1], Seq: seq, Hash: gate.Digest(hash)}
	if c.String() != line {
		return bad("another form")
	}
	return c, nil
}

// checkpointLog is the file of checkpoints of an open store.
type checkpointLog struct {
	file *os.File
	last Checkpoint // the newest line; the zero value: there is none
}

// newestCheckpoint reads the log at path; ok is false if it has no line yet. A
// last line without its end was being written when the process died, and says
// nothing: whole is the size of the log without it.
func newestCheckpoint(path string) (newest Checkpoint, ok bool, whole int64, err error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return newest, false, 0, nil
	}
	if err != nil {
		return newest, false, 0, err
	}
	b = b[:bytes.LastIndexByte(b, '\n')+1]
	n := 0
	for line := range strings.Lines(string(b)) {
		n++
		c, err := ParseCheckpoint(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return newest, false, 0, damaged("checkpoints.log, line %d: %w", n, err)
		}
		if !ok || c.Seq > newest.Seq {
			newest, ok = c, true
		}
	}
	return newest, ok, int64(len(b)), nil
}

// openCheckpoints opens the log at path, and creates it if it is missing. It
// refuses a ledger that is behind the newest checkpoint or differs from it.
func openCheckpoints(path string, l *ledger) (*checkpointLog, error) {
	last, ok, whole, err := newestCheckpoint(path)
	if err != nil {
		return nil, err
	}
	if ok {
		if err := l.against(last, l.head()); err != nil {
			return nil, err
		}
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(whole); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &checkpointLog{file: f, last: last}, nil
}

// against compares the ledger, which has come to head, with a checkpoint that
// was taken of it earlier.
func (l *ledger) against(c Checkpoint, head tip) error {
	switch {
	case c.Realm != l.store.String():
		return damaged("the checkpoint is of store %s, the ledger of store %v", c.Realm, l.store)
	case head.Seq == 0 && c.Seq > 0:
		return damaged("the ledger is empty, but a checkpoint says %d records", c.Seq)
	case c.Seq > head.Seq:
		return damaged("the ledger ends at seq %d, but a checkpoint says %d records", head.Seq, c.Seq)
	}
	hash, err := l.hashAt(c.Seq)
	if err != nil {
		return err
	}
	if hash != c.Hash {
		return damaged("the record at seq %d has hash %v, the checkpoint %v", c.Seq, hash, c.Hash)
	}
	return nil
}

// add appends a checkpoint of h unless the newest one says the same.
func (g *checkpointLog) add(store storeID, h tip) error {
	c := Checkpoint{Realm: store.String(), Seq: h.Seq, Hash: h.Hash}
	if c == g.last {
		return nil
	}
	if _, err := g.file.WriteString(c.String() + "\n"); err != nil {
		return err
	}
	g.last = c
	return nil
}

// close makes the log durable and closes it.
func (g *checkpointLog) close() error {
	return errors.Join(g.file.Sync(), g.file.Close())
}
