package runstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"tollgate/gate"
)

var flips = flag.Int("flips", 400, "changed bytes of a store that the damage test looks at")

// A changed byte anywhere in the files of a store is refused at once, or is a
// finding of the quick verification and of the full one, or stands where
// nothing is. What the store says is the same each time, down to the last row.
func TestDamage(t *testing.T) {
	t.Parallel()
	n := *flips
	if raceDetector { // it never lets go of what it keeps of a mapping
		n = min(n, 40)
	}
	s, _, dir := toldStore(t, 60)
	want := contents(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole := map[string]image{}
	for _, name := range []string{ledgerName, projectionName, checkpointsName} {
		whole[name] = imageOf(t, filepath.Join(dir, name))
	}
	r := rand.New(rand.NewPCG(1, 2))
	told := map[string]int{}
	for range n {
		name := []string{ledgerName, ledgerName, projectionName, projectionName, checkpointsName}[r.IntN(5)]
		file := whole[name]
		at := file.pick(r)
		change := byte(1) << r.IntN(8)
		if r.IntN(2) == 0 {
			change = byte(1 + r.IntN(255))
		}
		for name, file := range whole {
			file.write(t, filepath.Join(dir, name))
		}
		file.bytes = bytes.Clone(file.bytes)
		file.bytes[at] ^= change
		file.write(t, filepath.Join(dir, name))
		what := fmt.Sprintf("%s, byte %d of page %d, %#02x instead of %#02x", name, at%4096, at/4096, file.bytes[at], file.bytes[at]^change)
		told[name+": "+changed(t, what, dir, want, file.used[at])]++
		if t.Failed() {
			return
		}
	}
	for _, line := range slices.Sorted(maps.Keys(told)) {
		t.Logf("%5d  %s", told[line], line)
	}
}

// changed opens a store in whose files a byte has been changed, and returns
// what came of it.
func changed(t *testing.T, what, dir, want string, used bool) string {
	t.Helper()
	s, err := Open(dir, Options{})
	if err != nil {
		checkLine(t, what, err, gate.ErrDamaged)
		return "refused"
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Errorf("%s: close = %v", what, err)
		}
	}()
	quick, full := findings(t, s, false), findings(t, s, true)
	if got := contents(t, s); got != want && quick == "" {
		t.Errorf("%s: the store says something else", what)
	}
	switch {
	case (quick == "") != (full == ""):
		t.Errorf("%s: findings = %q when quick, and %q in full", what, quick, full)
	case quick == "" && used:
		t.Errorf("%s: nothing was found", what)
	case quick != "":
		return "found"
	}
	return "of no use"
}

// contents is everything that a store says: its records and its rows.
func contents(t *testing.T, s *Store) string {
	t.Helper()
	var b strings.Builder
	records, err := s.RecordsAfter(t.Context(), 0)
	fmt.Fprintf(&b, "%x %v\n", records, err)
	err = s.read(t.Context(), func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, bucket *bbolt.Bucket) error {
			return bucket.ForEach(func(k, v []byte) error {
				_, err := fmt.Fprintf(&b, "%s %x %x\n", name, k, v)
				return err
			})
		})
	})
	fmt.Fprintln(&b, err)
	return b.String()
}

// image is a file, and which of its bytes count.
type image struct {
	bytes []byte // up to the last one that is not zero
	size  int64
	used  []bool
}

func imageOf(t *testing.T, path string) image {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f := image{bytes: bytes.TrimRight(b, "\x00"), size: int64(len(b))}
	f.used = make([]bool, len(f.bytes))
	if strings.HasSuffix(path, ".db") {
		f.usePages(t, b)
		return f
	}
	f.use(0, len(f.bytes))
	return f
}

func (f image) use(from, to int) {
	for i := from; i < min(to, len(f.used)); i++ {
		f.used[i] = true
	}
}

// usePages marks the heads of the meta pages and, of every other page that is
// not free, what its elements take.
func (f image) usePages(t *testing.T, b []byte) {
	t.Helper()
	order := binary.NativeEndian
	meta, free := freePages(t, b)
	f.use(0, pageHeader+metaSize)
	f.use(4096, 4096+pageHeader+metaSize)
	for id := uint64(2); id < meta.highWater; id++ {
		if free[id] {
			continue
		}
		page := b[id*4096:]
		count, overflow := int(order.Uint16(page[10:])), uint64(order.Uint32(page[12:]))
		end := pageHeader + 16*count
		switch last := pageHeader + 16*(count-1); {
		case order.Uint16(page[8:]) == flagFreelist:
			end = pageHeader + 8*count
		case count == 0:
		case order.Uint16(page[8:]) == flagBranch:
			end = last + int(order.Uint32(page[last:])+order.Uint32(page[last+4:]))
		default:
			end = last + int(order.Uint32(page[last+4:])+order.Uint32(page[last+8:])+order.Uint32(page[last+12:]))
		}
		f.use(int(id)*4096, int(id)*4096+end)
		id += overflow
	}
}

// pick picks a byte: most often one that counts, and often one of the first of
// its page.
func (f image) pick(r *rand.Rand) int {
	for {
		at := r.IntN(len(f.bytes))
		if r.IntN(3) == 0 {
			at = min(at/4096*4096+r.IntN(96), len(f.bytes)-1)
		}
		if f.used[at] || r.IntN(20) == 0 {
			return at
		}
	}
}

// write writes the file, with a hole for the zeros at its end.
func (f image) write(t *testing.T, path string) {
	t.Helper()
	if err := errors.Join(os.WriteFile(path, f.bytes, 0o600), os.Truncate(path, f.size)); err != nil {
		t.Fatal(err)
	}
}
