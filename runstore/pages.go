package runstore

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"os"
)

// bbolt trusts its file: a page number out of range is a fault in mapped
// memory, a page that leads back to itself recurses until the stack ends, and
// a free list with a wrong number in it hands out a page that is in use. So
// checkPages looks at a file before bbolt does. It reads both meta pages, the
// branch pages, the free list and the head of every leaf page, but no leaf save
// those that name buckets: about a hundredth of a ledger. What is wrong within
// a leaf shows as a recoverable fault or a broken chain when that leaf is read.

// The layout of a bbolt file, in the byte order of the machine.
const (
	boltMagic   = 0xED0CDAED
	boltVersion = 2

	pageHeader   = 16 // id(8) flags(2) count(2) overflow(4)
	metaSize     = 64 // magic(4) version(4) page size(4) flags(4) root(8) sequence(8) freelist(8) high water(8) txid(8) checksum(8)
	elementSize  = 16 // branch: position(4) key size(4) page(8); leaf: flags(4) position(4) key size(4) value size(4)
	bucketHeader = 16 // root(8) sequence(8); if root is 0, an inline page follows
	flagBucket   = 1  // on a leaf element

	flagBranch   = 0x01
	flagLeaf     = 0x02
	flagFreelist = 0x10

	noFreelist = math.MaxUint64
	manyFree   = 0xFFFF // the count of a free list whose first entry is its length
	maxLevels  = 32
)

// boltMeta is a meta page of a bbolt file.
type boltMeta struct {
	pageSize  int64
	root      uint64
	freelist  uint64
	highWater uint64 // pages 0 to highWater−1 are in use or free
	txid      uint64
}

// pageCheck is one look at one file.
type pageCheck struct {
	file  io.ReaderAt
	meta  boltMeta
	taken bitset // pages of the trees and of the free list, with what they reach over
	deep  bool   // read every leaf, and account for every page
}

// checkPages returns an error if the file at path is no bbolt file whose trees
// and free list hold together: gate.ErrDamaged, or ErrForeign for a file that
// never was one. With deep it reads every page. Nobody may write to the file
// meanwhile.
func checkPages(path string, deep bool) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	info, err := f.Stat()
	if err != nil {
		return err
	}
	meta, err := readMetas(f, info.Size())
	if err != nil {
		return err
	}
	c := &pageCheck{file: f, meta: meta, deep: deep, taken: newBitset(meta.highWater)}
	roots, err := c.tree(meta.root, true)
	if err != nil {
		return err
	}
	for _, root := range roots {
		if _, err := c.tree(root, false); err != nil {
			return err
		}
	}
	return c.freelist()
}

// readMetas returns the newer meta page. Both must be whole: bbolt would go on
// with the older one, a transaction back, without a word.
func readMetas(f io.ReaderAt, size int64) (boltMeta, error) {
	if size == 0 {
		return boltMeta{}, damaged("the file is empty")
	}
	m0, fault0 := metaAt(f, 0)
	pageSize := int64(os.Getpagesize())
	if fault0 == "" {
		pageSize = m0.pageSize
	}
	m1, fault1 := metaAt(f, pageSize)
	switch {
	case fault0 == faultForeign && fault1 != "" && fault1 != faultBroken:
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
)

func metaAt(f io.ReaderAt, offset int64) (m boltMeta, fault string) {
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

// boltPage is a page with all that it reaches over.
type boltPage struct {
	id    uint64
	flags uint16
	count int
	pages uint64 // 1 and the overflow
	bytes []byte // the whole of it; nil from head
}

// head reads the head of page id and takes the pages that it reaches over.
func (c *pageCheck) head(id uint64) (boltPage, error) {
	if id < 2 || id >= c.meta.highWater {
		return boltPage{}, damaged("page %d is named, but the file has pages 2 to %d", id, c.meta.highWater-1)
	}
	var b [pageHeader]byte
	if _, err := c.file.ReadAt(b[:], int64(id)*c.meta.pageSize); err != nil {
		return boltPage{}, err
	}
	order := binary.NativeEndian
	p := boltPage{
		id:    id,
		flags: order.Uint16(b[8:]),
		count: int(order.Uint16(b[10:])),
		pages: 1 + uint64(order.Uint32(b[12:])),
	}
	if got := order.Uint64(b[:]); got != id || id+p.pages > c.meta.highWater {
		return boltPage{}, damaged("page %d calls itself page %d and reaches over %d pages", id, got, p.pages)
	}
	for i := range p.pages {
		if !c.taken.add(id + i) {
			return p, damaged("page %d is named twice", id+i)
		}
	}
	return p, nil
}

// read is head, and reads the rest of the page too.
func (c *pageCheck) read(id uint64) (boltPage, error) {
	p, err := c.head(id)
	if err != nil {
		return p, err
	}
	p.bytes = make([]byte, int64(p.pages)*c.meta.pageSize)
	_, err = c.file.ReadAt(p.bytes, int64(id)*c.meta.pageSize)
	return p, err
}

// tree walks a tree level by level; all its leaves lie on the same one. With
// top it reads the leaves and returns the roots of the buckets that they name.
func (c *pageCheck) tree(root uint64, top bool) (buckets []uint64, err error) {
	level := []uint64{root}
	for range maxLevels {
		var kind uint16 // of the pages of this level
		var next []uint64
		for i, id := range level {
			read := c.read
			if i > 0 && kind == flagLeaf && !top && !c.deep {
				read = c.head
			}
			p, err := read(id)
			if err != nil {
				return nil, err
			}
			if i == 0 {
				kind = p.flags
			}
			var ids []uint64
			switch {
			case p.flags != kind:
				err = damaged("page %d has type %#x beside pages of type %#x", id, p.flags, kind)
			case kind == flagLeaf && p.bytes != nil:
				ids, err = leafBuckets(p, top)
			case kind == flagBranch:
				ids, err = children(p)
			case kind != flagLeaf:
				err = damaged("page %d has type %#x", id, kind)
			}
			if err != nil {
				return nil, err
			}
			next = append(next, ids...)
		}
		if kind == flagLeaf {
			return next, nil
		}
		level = next
	}
	return nil, damaged("the tree at page %d has more than %d levels", root, maxLevels)
}

// children returns the pages that a branch page names.
func children(p boltPage) ([]uint64, error) {
	if p.count == 0 {
		return nil, damaged("branch page %d is empty", p.id)
	}
	order := binary.NativeEndian
	ids := make([]uint64, p.count)
	var last []byte
	for i := range p.count {
		e, err := element(p, i)
		if err != nil {
			return nil, err
		}
		key, err := extent(p, e, order.Uint32(e), order.Uint32(e[4:]))
		if err != nil {
			return nil, err
		}
		if i > 0 && bytes.Compare(last, key) >= 0 {
			return nil, damaged("the keys of page %d are out of order", p.id)
		}
		last, ids[i] = key, order.Uint64(e[8:])
	}
	return ids, nil
}

// leafBuckets checks the elements of a leaf page and returns the root pages of
// the buckets that it names; only a leaf of the top tree may name any.
func leafBuckets(p boltPage, top bool) (roots []uint64, err error) {
	order := binary.NativeEndian
	var last []byte
	for i := range p.count {
		e, err := element(p, i)
		if err != nil {
			return nil, err
		}
		key, err := extent(p, e, order.Uint32(e[4:]), order.Uint32(e[8:]))
		if err != nil {
			return nil, err
		}
		value, err := extent(p, e, order.Uint32(e[4:])+order.Uint32(e[8:]), order.Uint32(e[12:]))
		if err != nil {
			return nil, err
		}
		if i > 0 && bytes.Compare(last, key) >= 0 {
			return nil, damaged("the keys of page %d are out of order", p.id)
		}
		last = key
		isBucket := order.Uint32(e)&flagBucket != 0
		if isBucket != top {
			return nil, damaged("page %d mixes buckets and values", p.id)
		}
		if !isBucket {
			continue
		}
		root, err := bucketRoot(p, value)
		if err != nil {
			return nil, err
		}
		if root != 0 {
			roots = append(roots, root)
		}
	}
	return roots, nil
}

// bucketRoot returns the root page of a bucket, or 0 if the bucket lies inline
// in its value, and then checks that.
func bucketRoot(p boltPage, value []byte) (uint64, error) {
	if len(value) < bucketHeader {
		return 0, damaged("a bucket of page %d is cut off", p.id)
	}
	order := binary.NativeEndian
	if root := order.Uint64(value); root != 0 {
		return root, nil
	}
	in := value[bucketHeader:]
	if len(in) < pageHeader || order.Uint16(in[8:]) != flagLeaf {
		return 0, damaged("an inline bucket of page %d is cut off", p.id)
	}
	inline := boltPage{id: p.id, flags: flagLeaf, count: int(order.Uint16(in[10:])), bytes: in}
	_, err := leafBuckets(inline, false)
	return 0, err
}

// element returns the bytes of p from its i-th element on.
func element(p boltPage, i int) ([]byte, error) {
	at := pageHeader + i*elementSize
	if at+elementSize > len(p.bytes) {
		return nil, damaged("page %d has no room for its %d elements", p.id, p.count)
	}
	return p.bytes[at:], nil
}

// extent returns the size bytes at position from the start of element e.
func extent(p boltPage, e []byte, position, size uint32) ([]byte, error) {
	if end := uint64(position) + uint64(size); end > uint64(len(e)) {
		return nil, damaged("an element of page %d reaches %d bytes past the page", p.id, end-uint64(len(e)))
	}
	return e[position : position+size], nil
}

// freelist checks that no free page is in use and, with deep, that each page
// is one or the other.
func (c *pageCheck) freelist() error {
	if c.meta.freelist == noFreelist {
		return damaged("the free list is missing")
	}
	p, err := c.read(c.meta.freelist)
	if err != nil {
		return err
	}
	order := binary.NativeEndian
	entries, n := p.bytes[pageHeader:], uint64(p.count)
	if n == manyFree {
		n, entries = order.Uint64(entries), entries[8:]
	}
	if p.flags != flagFreelist || n > uint64(len(entries)/8) {
		return damaged("page %d is not a free list of %d entries", p.id, n)
	}
	for i := range n {
		id := order.Uint64(entries[8*i:])
		if id < 2 || id >= c.meta.highWater {
			return damaged("the free list names page %d of %d", id, c.meta.highWater)
		}
		if !c.taken.add(id) {
			return damaged("page %d is in use and free, or free twice", id)
		}
	}
	if !c.deep {
		return nil
	}
	for id := uint64(2); id < c.meta.highWater; id++ {
		if !c.taken.has(id) {
			return damaged("page %d is neither in use nor free", id)
		}
	}
	return nil
}
