package runstore

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"tollgate/gate"
	"tollgate/runstore/storetest"
)

// R-L1: the contracts themselves are in the ledger, and are found by the digest
// that decisions name: also one that is no longer in force, and when the
// projection was built anew.
func TestContractByItsDigest(t *testing.T) {
	s, story := begunStore(t, Options{})
	dir := s.files.dir
	documents := map[gate.Digest][]byte{}
	for _, timeout := range []time.Duration{time.Second, 2 * time.Second, time.Second} { // the first again
		c := storetest.Contract()
		c.Tools["put"].Timeout = timeout
		document, err := c.Document()
		if err != nil {
			t.Fatal(err)
		}
		documents[gate.DocumentDigest(document)] = document
		if _, err := tellOne(t, s, story, gate.Adopt{Actor: gate.Itself, Document: document}); err != nil {
			t.Fatal(err)
		}
	}
	check := func(what string) {
		t.Helper()
		for digest, want := range documents {
			if got, err := s.Contract(t.Context(), digest); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: contract %v = %.80q, %v, want %.80q", what, digest, got, err, want)
			}
		}
		if got, err := s.Contract(t.Context(), gate.Digest{1}); !errors.Is(err, ErrNoContract) {
			t.Errorf("%s: a contract that nobody adopted = %.80q, %v, want %v", what, got, err, ErrNoContract)
		}
	}
	check("at once")
	if len(documents) != 2 {
		t.Fatalf("%d documents, want 2", len(documents))
	}
	if got := findings(t, s, true); got != "" {
		t.Errorf("findings:\n%s", got)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, dir, Options{})
	check("opened again")
	if err := errors.Join(s.Close(), os.Remove(filepath.Join(dir, projectionName))); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, dir, Options{})
	check("with another projection")
}
