package runstore

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"os"
)

// The layout of the two meta pages of a bbolt file, in the byte order of the
// machine.
const (
	boltMagic   = 0xED0CDAED
	boltVersion = 2
	metaSize    = 64 // magic(4) version(4) page size(4) flags(4) root(8) sequence(8) freelist(8) high water(8) txid(8) checksum(8)
	flagMeta    = 0x04
)

// boltMeta is a meta page of a bbolt file.
type boltMeta struct {
	pageSize  int64
	root      uint64
	freelist  uint64
	highWater uint64 // pages 0 to highWater−1 are in use or free
	txid      uint64
}

// readMetas returns the newer meta page. Both must be whole: bbolt would go on
// with the older one, a transaction back, without a word.
func readMetas(f io.ReaderAt, size int64) (boltMeta, error) {
	if size == 0 {
		return boltMeta{}, damaged("the file is empty")
	}
	m0, fault0 := metaAt(f, 0, 0)
	pageSize := int64(os.Getpagesize())
	if fault0 == "" {
		pageSize = m0.pageSize
	}
	m1, fault1 := metaAt(f, 1, pageSize)
	switch {
	case fault0 == faultForeign && (fault1 == faultForeign || fault1 == faultZero || fault1 == faultShort):
		return boltMeta{}, fmt.Errorf("%w: it has no bbolt header", ErrForeign)
	case fault0 != "":
		return boltMeta{}, damaged("meta page 0 %s", fault0)
	case fault1 != "":
		return boltMeta{}, damaged("meta page 1 %s", fault1)
	}
	newer := m0
	if m1.txid > m0.txid {
		newer = m1
	}
	if need := int64(max(m0.highWater, m1.highWater)) * pageSize; size < need || need < 4*pageSize {
		return boltMeta{}, damaged("the file has %d bytes, its header speaks of %d", size, need)
	}
	return newer, nil
}

// What can be wrong with a meta page.
const (
	faultShort   = "is cut off"
	faultZero    = "is all zeros"
	faultForeign = "is none"
	faultBroken  = "does not match its checksum"
	faultRange   = "has values out of range"
	faultHead    = "has the head of another page"
)

// metaAt reads meta page id, 0 or 1, at its offset.
func metaAt(f io.ReaderAt, id uint64, offset int64) (m boltMeta, fault string) {
	var page [pageHeader + metaSize]byte
	if _, err := f.ReadAt(page[:], offset); err != nil {
		return m, faultShort
	}
	b := page[pageHeader:]
	order := binary.NativeEndian
	switch {
	case bytes.Count(b, []byte{0}) == len(b):
		return m, faultZero
	case order.Uint32(b) != boltMagic:
		return m, faultForeign
	}
	sum := fnv.New64a()
	sum.Write(b[:metaSize-8])
	if order.Uint32(b[4:]) != boltVersion || sum.Sum64() != order.Uint64(b[metaSize-8:]) {
		return m, faultBroken
	}
	if order.Uint64(page[:]) != id || order.Uint16(page[8:]) != flagMeta || order.Uint16(page[10:]) != 0 || order.Uint32(page[12:]) != 0 {
		return m, faultHead
	}
	m = boltMeta{
		pageSize:  int64(order.Uint32(b[8:])),
		root:      order.Uint64(b[16:]),
		freelist:  order.Uint64(b[32:]),
		highWater: order.Uint64(b[40:]),
		txid:      order.Uint64(b[48:]),
	}
	if m.pageSize < 1<<10 || m.pageSize > 1<<16 || m.pageSize&(m.pageSize-1) != 0 || m.highWater > 1<<40 {
		return m, faultRange
	}
	return m, ""
}
