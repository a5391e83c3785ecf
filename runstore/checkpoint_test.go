package runstore

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tollgate/gate"
	"tollgate/runstore/storetest"
)

// twiceClosed is a store that was closed twice, with the two lines of its log
// of checkpoints.
func twiceClosed(t *testing.T) (dir string, lines []string) {
	t.Helper()
	s, story, dir := toldStore(t, 20)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, dir, Options{})
	if _, err := tellOne(t, s, story, startOf("more")); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, checkpointsName))
	if err != nil {
		t.Fatal(err)
	}
	lines = strings.SplitAfter(string(b), "\n")
	if len(lines) != 3 || lines[2] != "" {
		t.Fatalf("log = %q, want two lines", b)
	}
	return dir, lines[:2]
}

// A log that ends in the beginning of a line was being written when its owner
// died: the rest of that line says nothing, and is dropped.
func TestTornCheckpoint(t *testing.T) {
	t.Parallel()
	dir, lines := twiceClosed(t)
	path := filepath.Join(dir, checkpointsName)
	kept := []byte(lines[0] + lines[1])
	next := strings.Replace(lines[1], " 1", " 99", 1) // of what the ledger lacks
	for n := range next {
		if err := os.WriteFile(path, append(bytes.Clone(kept), next[:n]...), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := reopen(t, dir); err != nil {
			t.Fatalf("%q at the end: open = %v", next[:n], err)
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, kept) {
			t.Fatalf("%q at the end: the log is %q, %v, want what was before it", next[:n], got, err)
		}
	}
}

// Whatever else is in the log and is no checkpoint of this store, in order, is
// damage; so the store is not opened, and the log is left as it is.
func TestCheckpointLogDamaged(t *testing.T) {
	t.Parallel()
	dir, lines := twiceClosed(t)
	path := filepath.Join(dir, checkpointsName)
	one, two := lines[0], lines[1]
	other := strings.Replace(two, storetest.Realm, strings.Repeat("0", 32), 1)
	for what, c := range map[string]struct {
		log  string
		line int // that is named
	}{
		"zeros behind it":                 {one + two + strings.Repeat("\x00", 300), 3},
		"one zero behind it":              {one + two + "\x00", 3},
		"zeros in place of a line":        {one + strings.Repeat("\x00", len(two)-1) + "\n", 2},
		"text behind it":                  {one + two + "text", 3},
		"an empty line":                   {one + two + "\n", 3},
		"an empty line first":             {"\n" + one + two, 1},
		"the first half of a line":        {one + two[:60] + "\n", 2},
		"half a line before another":      {one + two[:60] + two, 2},
		"the end of a line":               {one + two + two[60:], 3},
		"a line in capitals, torn":        {one + two + strings.ToUpper(two[:60]), 3},
		"a line of another store":         {one + other, 2},
		"a line of another store, torn":   {one + two + other[:60], 3},
		"a line of another store, no end": {one + two + strings.TrimSuffix(other, "\n"), 3},
		"a line twice":                    {one + two + two, 3},
		"lines out of order":              {two + one, 2},
		"a long line":                     {one + two + strings.Repeat("tollgate", 1000), 3},
	} {
		if err := os.WriteFile(path, []byte(c.log), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := reopen(t, dir)
		checkLine(t, what, err, gate.ErrDamaged)
		if want := fmt.Sprintf("checkpoints.log, line %d: ", c.line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: open = %v, want one line with %s", what, err, want)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != c.log {
			t.Errorf("%s: the log is %q, %v, want it as it was", what, got, err)
		}
	}
}

// Open compares the ledger with the newest checkpoint, a verification with all.
func TestVerifyLooksAtEveryCheckpoint(t *testing.T) {
	t.Parallel()
	dir, lines := twiceClosed(t)
	older := []byte(lines[0])
	last := len(older) - 2
	older[last] = "10"[older[last]&1] // another digit
	if err := os.WriteFile(filepath.Join(dir, checkpointsName), append(older, lines[1]...), 0o600); err != nil {
		t.Fatal(err)
	}
	s := openStore(t, dir, Options{})
	for _, full := range []bool{false, true} {
		got := findings(t, s, full)
		if !strings.HasPrefix(got, "checkpoints.log, seq ") || !strings.Contains(got, ": line 1: ") || strings.Count(got, "\n") != 1 {
			t.Errorf("findings (full %v) = %q, want one about line 1 of checkpoints.log", full, got)
		}
	}
}

// A checkpoint that could not be written whole is written over by the next.
func TestCheckpointAfterAFault(t *testing.T) {
	dir := newStoreDir(t, 10)
	f, err := openFiles(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	fill(t, f.ledger, 20)
	g := f.checkpoints
	// What is on disk when a write ended half way.
	half := Checkpoint{Realm: f.ledger.store.String(), Seq: f.ledger.head().Seq}.String()[:70]
	if _, err := g.file.WriteAt([]byte(half), g.size); err != nil {
		t.Fatal(err)
	}
	fill(t, f.ledger, 30)
	if err := g.add(f.ledger.store, f.ledger.head()); err != nil {
		t.Fatal(err)
	}
	head := f.ledger.head()
	if err := f.close(); err != nil {
		t.Fatal(err)
	}
	newest, ok, _, err := readCheckpoints(filepath.Join(dir, checkpointsName), "", nil)
	if err != nil || !ok || newest.Seq != head.Seq || newest.Hash != head.Hash {
		t.Errorf("newest = %v, %v, %v, want that of seq %d", newest, ok, err, head.Seq)
	}
	if _, err := reopen(t, dir); err != nil {
		t.Error(err)
	}
}
