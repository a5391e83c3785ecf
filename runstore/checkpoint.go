package runstore

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
	size int64      // of its whole lines
	last Checkpoint // the newest line; the zero value: there is none
}

// readCheckpoints reads the log at path and calls each, if any, with every line.
// It returns the newest, ok for whether there is one, and the size of the
// whole lines. A realm that is not empty is that of the store.
//
// A last line without its end that begins like a checkpoint was being written
// when the process or the machine died, and says nothing. Anything else that
// is no checkpoint is gate.ErrDamaged, and so are checkpoints of another store
// or out of order.
func readCheckpoints(path, realm string, each func(Checkpoint)) (newest Checkpoint, ok bool, whole int64, err error) {
	f, err := openPlain(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return newest, false, 0, nil
	}
	if err != nil {
		return newest, false, 0, err
	}
	defer f.Close()                      //nolint:errcheck // it was only read
	lines := bufio.NewReaderSize(f, 512) // more than a checkpoint
	for n := 1; ; n++ {
		line, err := lines.ReadSlice('\n')
		text, ended := strings.CutSuffix(string(line), "\n")
		switch {
		case err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull):
			return newest, ok, whole, err
		case !ended && isTornCheckpoint(text, realm):
			return newest, ok, whole, nil
		}
		c, err := ParseCheckpoint(text)
		switch {
		case err != nil:
		case realm != "" && c.Realm != realm:
			err = fmt.Errorf("it is of store %s, want %s", c.Realm, realm)
		case ok && c.Seq <= newest.Seq:
			err = fmt.Errorf("it is at seq %d, the one before it at seq %d", c.Seq, newest.Seq)
		}
		if err != nil {
			return newest, ok, whole, damaged("%s, line %d: %w", checkpointsName, n, err)
		}
		newest, ok, realm, whole = c, true, c.Realm, whole+int64(len(line))
		if each != nil {
			each(c)
		}
	}
}

// isTornCheckpoint reports whether text is the beginning of a line that the
// store with id realm writes; an empty realm is that of any store.
func isTornCheckpoint(text, realm string) bool {
	fields := strings.Split(text, " ")
	if realm == "" {
		realm = storeID{}.String()
		if len(fields) > 1 {
			realm = fields[1] + realm[min(len(realm), len(fields[1])):]
		}
	}
	// With what is missing behind it, it is a checkpoint of that store.
	whole := strings.Split(Checkpoint{Realm: realm, Seq: 1}.String(), " ")
	if last := len(fields) - 1; last < len(whole) {
		fields[last] += whole[last][min(len(whole[last]), len(fields[last])):]
		fields = append(fields, whole[last+1:]...)
	}
	c, err := ParseCheckpoint(strings.Join(fields, " "))
	return err == nil && c.Realm == realm
}

// openCheckpoints opens the log at path, and creates it if it is missing. It
// refuses a ledger that is behind the newest checkpoint or differs from it.
func openCheckpoints(path string, l *ledger) (*checkpointLog, error) {
	last, ok, whole, err := readCheckpoints(path, l.store.String(), nil)
	if err != nil {
		return nil, err
	}
	if ok {
		if err := l.against(last, l.head()); err != nil {
			return nil, err
		}
	}
	f, err := openPlain(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(whole); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &checkpointLog{file: f, size: whole, last: last}, nil
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

// add appends a checkpoint of h unless the newest one says the same, and makes
// it durable. What an error leaves behind is written over by the next one,
// which is no shorter.
func (g *checkpointLog) add(store storeID, h tip) error {
	c := Checkpoint{Realm: store.String(), Seq: h.Seq, Hash: h.Hash}
	if c == g.last {
		return nil
	}
	line := c.String() + "\n"
	if _, err := g.file.WriteAt([]byte(line), g.size); err != nil {
		return err
	}
	if err := g.file.Sync(); err != nil {
		return err
	}
	g.size, g.last = g.size+int64(len(line)), c
	return nil
}

func (g *checkpointLog) close() error { return g.file.Close() }
