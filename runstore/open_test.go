package runstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tollgate/gate"
)

// newStoreDir makes a store with n records that was closed in good order.
func newStoreDir(t *testing.T, n uint64) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "store")
	if err := Init(dir, ""); err != nil {
		t.Fatal(err)
	}
	f, err := openFiles(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	fill(t, f.ledger, n)
	if err := f.checkpoints.add(f.ledger.store, f.ledger.head()); err != nil {
		t.Fatal(err)
	}
	if err := f.close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// reopen opens the store, walks its chain and closes it.
func reopen(t *testing.T, dir string) (tip, error) {
	t.Helper()
	f, err := openFiles(dir, 0)
	if err != nil {
		return tip{}, err
	}
	head, err := f.ledger.walk(t.Context(), tip{}, nil)
	if err == nil && head != f.ledger.head() {
		err = damaged("the walk came to seq %d of %d", head.Seq, f.ledger.head().Seq)
	}
	return head, errors.Join(err, f.close())
}

// checkLine fails unless err is one line and is one of the errors wanted.
func checkLine(t *testing.T, what string, err error, want ...error) {
	t.Helper()
	for _, w := range want {
		if errors.Is(err, w) && !strings.Contains(err.Error(), "\n") && len(err.Error()) < 400 {
			return
		}
	}
	t.Errorf("%s: err = %v, want one line that says %v", what, err, want)
}

func TestInitMakesAStoreOnce(t *testing.T) {
	t.Parallel()
	dir := newStoreDir(t, 10)
	checkLine(t, "init on a store", Init(dir, ""), ErrExists)
	if head, err := reopen(t, dir); err != nil || head.Seq < 10 {
		t.Errorf("the store after that = %v, %v", head, err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode of the directory = %v, %v, want 0700", info.Mode(), err)
	}
	for _, name := range []string{ledgerName, lockName, checkpointsName} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("mode of %s = %v, %v, want 0600", name, info.Mode(), err)
		}
	}

	full := t.TempDir()
	if err := os.Chmod(full, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(full, "notes.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	checkLine(t, "init where something is", Init(full, ""), ErrExists)
	if entries, err := os.ReadDir(full); err != nil || len(entries) != 1 {
		t.Errorf("init left %v, %v", entries, err)
	}
	checkLine(t, "init on a file", Init(filepath.Join(full, "notes.txt"), ""), ErrExists)

	// What an init that was killed leaves behind is no hindrance.
	half := filepath.Join(t.TempDir(), "half")
	if err := os.Mkdir(half, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(half, ledgerName+newSuffix), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	checkLine(t, "a half-made store", func() error { _, err := reopen(t, half); return err }(), ErrNoStore)
	if err := Init(half, "000102030405060708090a0b0c0d0e0f"); err != nil {
		t.Fatal(err)
	}
	f, err := openFiles(half, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := f.ledger.store.String(); got != "000102030405060708090a0b0c0d0e0f" {
		t.Errorf("realm = %s, want the one that was asked for", got)
	}
	if err := f.close(); err != nil {
		t.Error(err)
	}
}

var errSkip = errors.New("takes root")

func TestOpenRefuses(t *testing.T) {
	ledgerOf := func(dir string) string { return filepath.Join(dir, ledgerName) }
	for name, c := range map[string]struct {
		spoil func(dir string) error
		want  error
	}{
		"a directory of another user": {func(dir string) error {
			if err := os.Chown(dir, 65534, 65534); errors.Is(err, os.ErrPermission) {
				return errSkip
			}
			return nil
		}, ErrUnsafe},
		"a path through another's link": {func(dir string) error {
			moved := filepath.Dir(dir) + ".moved"
			err := errors.Join(os.Rename(filepath.Dir(dir), moved), os.Symlink(moved, filepath.Dir(dir)))
			if chownErr := os.Lchown(filepath.Dir(dir), 65534, 65534); errors.Is(chownErr, os.ErrPermission) {
				return errSkip
			}
			return err
		}, ErrUnsafe},
		"a missing directory": {os.RemoveAll, ErrNoStore},
		"a missing ledger": {func(dir string) error {
			return errors.Join(os.Remove(ledgerOf(dir)), os.Remove(filepath.Join(dir, checkpointsName)))
		}, ErrNoStore},
		"a missing ledger with a checkpoint": {func(dir string) error { return os.Remove(ledgerOf(dir)) }, gate.ErrDamaged},
		"an empty ledger with a checkpoint":  {func(dir string) error { return os.Truncate(ledgerOf(dir), 0) }, gate.ErrDamaged},
		"an empty ledger": {func(dir string) error {
			return errors.Join(os.Truncate(ledgerOf(dir), 0), os.Remove(filepath.Join(dir, checkpointsName)))
		}, gate.ErrDamaged},
		"text with a checkpoint": {func(dir string) error {
			return os.WriteFile(ledgerOf(dir), bytes.Repeat([]byte("text\n"), 9000), 0o600)
		}, gate.ErrDamaged},
		"text": {func(dir string) error {
			return errors.Join(os.WriteFile(ledgerOf(dir), bytes.Repeat([]byte("text\n"), 9000), 0o600), os.Remove(filepath.Join(dir, checkpointsName)))
		}, ErrForeign},
		"a short text": {func(dir string) error { return os.WriteFile(ledgerOf(dir), []byte("text\n"), 0o600) }, gate.ErrDamaged},
		"zeros":        {func(dir string) error { return os.WriteFile(ledgerOf(dir), make([]byte, 65536), 0o600) }, gate.ErrDamaged},
		"another program's bbolt file": {func(dir string) error {
			if err := os.Remove(ledgerOf(dir)); err != nil {
				return err
			}
			db, err := createBolt(ledgerOf(dir), []byte("ledger"), []byte("other"))
			if err != nil {
				return err
			}
			return db.Close()
		}, gate.ErrDamaged},
		"an older copy": {func(dir string) error {
			if err := os.Remove(ledgerOf(dir)); err != nil {
				return err
			}
			return createLedger(ledgerOf(dir), storeID{1})
		}, gate.ErrDamaged},
		"a torn checkpoint log": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, checkpointsName), []byte("tollgate/checkp\nmore\n"), 0o600)
		}, gate.ErrDamaged},
		"a directory that others can write to": {func(dir string) error { return os.Chmod(dir, 0o777) }, ErrUnsafe},
		"a link in place of the directory": {func(dir string) error {
			return errors.Join(os.Rename(dir, dir+"2"), os.Symlink(dir+"2", dir))
		}, ErrUnsafe},
		"a directory in place of the ledger": {func(dir string) error {
			return errors.Join(os.Remove(ledgerOf(dir)), os.Mkdir(ledgerOf(dir), 0o700))
		}, ErrUnsafe},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := newStoreDir(t, 50)
			if err := c.spoil(dir); errors.Is(err, errSkip) {
				t.Skip(err)
			} else if err != nil {
				t.Fatal(err)
			}
			_, err := reopen(t, dir)
			checkLine(t, "open", err, c.want)
			if says := " but a checkpoint says 50 records"; strings.Contains(name, "with a checkpoint") && !strings.HasSuffix(err.Error(), says) {
				t.Errorf("open = %v, want …%s", err, says)
			}
			if _, err := os.Stat(dir); name == "a missing directory" && !errors.Is(err, os.ErrNotExist) {
				t.Errorf("open made %s", dir)
			}
		})
	}
}

func TestOpenOfALockedStore(t *testing.T) {
	t.Parallel()
	dir := newStoreDir(t, 50)
	f, err := openFiles(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = openFiles(dir, 0)
	checkLine(t, "a second open", err, ErrLocked)
	var locked *LockedError
	if !errors.As(err, &locked) || locked.PID != os.Getpid() {
		t.Errorf("owner = %+v, want process %d", locked, os.Getpid())
	}
	// A lock file that was taken away lets nobody in: the ledger has a lock too.
	if err := os.Remove(filepath.Join(dir, lockName)); err != nil {
		t.Fatal(err)
	}
	_, err = openFiles(dir, 0)
	checkLine(t, "an open without the lock file", err, ErrLocked)
	if err := f.close(); err != nil {
		t.Fatal(err)
	}
	if _, err := reopen(t, dir); err != nil {
		t.Errorf("open after the owner has gone = %v", err)
	}
}

// A ledger that was cut off anywhere opens whole or is refused in one line.
func TestTruncatedLedger(t *testing.T) {
	t.Parallel()
	dir := newStoreDir(t, 400)
	path := filepath.Join(dir, ledgerName)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := reopen(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	meta, err := readMetas(bytes.NewReader(whole), int64(len(whole)))
	if err != nil {
		t.Fatal(err)
	}
	used := int64(meta.highWater) * meta.pageSize
	sizes := []int64{1, 16, 80, 4095, 4096, 4097, 8191, 8192, 8193, 16384, used / 2, used - 4096, used - 1, used, used + 1, int64(len(whole)) - 1}
	for size := int64(12288); size < used; size += 4096 {
		sizes = append(sizes, size)
	}
	for _, size := range sizes {
		if err := os.WriteFile(path, whole[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		head, err := reopen(t, dir)
		if size < used {
			checkLine(t, fmt.Sprintf("%d of %d bytes", size, used), err, gate.ErrDamaged)
		} else if err != nil || head != want {
			t.Errorf("%d bytes, of which %d count: %v, %v, want %v", size, used, head, err, want)
		}
	}
}

// A changed byte anywhere in what the ledger file uses is refused in one line,
// or changes nothing that the ledger says.
func TestFlippedByte(t *testing.T) {
	t.Parallel()
	dir := newStoreDir(t, 400)
	path := filepath.Join(dir, ledgerName)
	want, err := reopen(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	meta, free := freePages(t, whole)
	pageSize := int(meta.pageSize)
	var offsets []int
	for i := range pageHeader + metaSize { // both meta pages
		offsets = append(offsets, i, pageSize+i)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for page := 2; page < int(meta.highWater); page++ {
		if free[uint64(page)] {
			continue
		}
		for i := page % 9; i < pageHeader+2*elementSize; i += 9 {
			offsets = append(offsets, page*pageSize+i)
		}
		for range 2 {
			offsets = append(offsets, page*pageSize+r.IntN(pageSize))
		}
	}
	if raceDetector { // it never lets go of what it keeps of a mapping
		for i := range len(offsets) / 12 {
			offsets[i] = offsets[12*i]
		}
		offsets = offsets[:len(offsets)/12]
	}
	refused := 0
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // of a test's own file
	for _, at := range offsets {
		if _, err := f.WriteAt([]byte{whole[at] ^ byte(1+r.IntN(255))}, int64(at)); err != nil {
			t.Fatal(err)
		}
		head, err := reopen(t, dir)
		if err != nil {
			refused++
			checkLine(t, fmt.Sprintf("byte %d", at), err, gate.ErrDamaged, ErrForeign, ErrSchema)
		} else if head != want {
			t.Errorf("byte %d: the ledger ends at %v, want %v", at, head, want)
		}
		if _, err := f.WriteAt(whole[at:at+1], int64(at)); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d of %d flipped bytes refused; the others count for nothing", refused, len(offsets))
	if refused < len(offsets)/2 {
		t.Errorf("%d of %d flipped bytes refused", refused, len(offsets))
	}
}

// freePages reads the newer meta page and the free list of a file.
func freePages(t *testing.T, whole []byte) (boltMeta, map[uint64]bool) {
	t.Helper()
	meta, err := readMetas(bytes.NewReader(whole), int64(len(whole)))
	if err != nil {
		t.Fatal(err)
	}
	list := whole[int64(meta.freelist)*meta.pageSize:]
	free := map[uint64]bool{}
	for i := range int(binary.NativeEndian.Uint16(list[10:])) {
		free[binary.NativeEndian.Uint64(list[pageHeader+8*i:])] = true
	}
	return meta, free
}

// bbolt goes back a transaction without a word when its newest meta page is
// gone; the ledger does not.
func TestZeroedMeta(t *testing.T) {
	t.Parallel()
	dir := newStoreDir(t, 50)
	path := filepath.Join(dir, ledgerName)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, pages := range [][]int{{0}, {1}, {0, 1}} {
		b := bytes.Clone(whole)
		for _, p := range pages {
			clear(b[p*4096 : (p+1)*4096])
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := reopen(t, dir)
		checkLine(t, fmt.Sprintf("meta pages %v zeroed", pages), err, gate.ErrDamaged)
	}
}

// A newest meta page that was never written leaves a ledger that is whole, a
// commit shorter. The checkpoint shows it.
func TestStaleMeta(t *testing.T) {
	t.Parallel()
	dir := newStoreDir(t, 50)
	path := filepath.Join(dir, ledgerName)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	older := 0
	if binary.NativeEndian.Uint64(b[64:]) > binary.NativeEndian.Uint64(b[4096+64:]) {
		older = 1
	}
	newer := 1 - older
	copy(b[newer*4096:], b[older*4096:(older+1)*4096])
	binary.NativeEndian.PutUint64(b[newer*4096:], uint64(newer))
	// The copy keeps its txid, one below that of the commit that is lost.
	sum := fnv.New64a()
	sum.Write(b[newer*4096+16 : newer*4096+72])
	binary.NativeEndian.PutUint64(b[newer*4096+72:], sum.Sum64())
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = reopen(t, dir)
	checkLine(t, "stale meta page", err, gate.ErrDamaged)
}
