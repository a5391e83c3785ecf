package runstore

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"go.etcd.io/bbolt"
)

// bbolt trusts its file: a page number out of range is a fault in mapped
// memory, a page that leads back to itself recurses until the stack ends, a
// free list with a wrong number in it hands out a page that is in use, and a
// key that has changed is not found. So a pageCheck looks at a file before
// bbolt does.
//
// A look at the heads reads both meta pages, the branch pages, the free list
// and the head of every leaf page, but no leaf save those that name buckets:
// about a hundredth of a ledger. What is wrong within a leaf shows as a broken
// chain, or as a block that is not where it should be, when that leaf is read.
//
// A deep look reads every page. bbolt writes elements one behind another,
// without a gap; a page is as long as they are; its first key is the one that
// its parent has for it, and its last comes before the next of its parent; and
// each page is in use or free. So what is no value, and is used at all, cannot
// change without being noticed.

// The layout of the pages of a bbolt file, in the byte order of the machine.
const (
	pageHeader   = 16 // id(8) flags(2) count(2) overflow(4)
	elementSize  = 16 // branch: position(4) key size(4) page(8); leaf: flags(4) position(4) key size(4) value size(4)
	bucketHeader = 16 // root(8) sequence(8); if root is 0, an inline page follows
	flagBucket   = 1  // on a leaf element

	flagBranch   = 0x01
	flagLeaf     = 0x02
	flagFreelist = 0x10

	noFreelist = math.MaxUint64
	manyFree   = 0xFFFF  // the count of a free list whose first entry is its length
	maxLevels  = 32      // of a tree
	maxPages   = 1 << 19 // that one page reaches over: 2 GiB, more than a block of the largest records
	maxKeySize = 1 << 15
)

// pageCheck is one look at one file.
type pageCheck struct {
	file  io.ReaderAt
	meta  boltMeta
	taken *bitset // pages of the trees and of the free list, with what they reach over
	deep  bool
	row   func(key, value []byte) error // called with every row by a deep look; nil: values are not read
	buf   []byte                        // what has been read of the page that is looked at
}

// checkPages looks at the file at path, which nobody may have open. It returns
// ErrLocked if somebody has, gate.ErrDamaged for a file whose trees and free
// list do not hold together, and ErrForeign for one that never was a bbolt
// file.
func checkPages(ctx context.Context, path string, deep bool, row func(key, value []byte) error) error {
	f, err := openPlain(path, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	if err := lockShared(f); err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return checkFile(ctx, f, info.Size(), deep, row)
}

// checkFile is checkPages for a file that nobody writes to.
func checkFile(ctx context.Context, f io.ReaderAt, size int64, deep bool, row func(key, value []byte) error) error {
	meta, err := readMetas(f, size)
	if err != nil {
		return err
	}
	c := &pageCheck{file: f, meta: meta, deep: deep, row: row}
	return c.look(ctx)
}

// checkOpenPages takes a deep look at an open file at path, as it stands when a read
// transaction begins: bbolt writes over none of its pages while that lasts, and
// over its meta page not before the next commit but one.
func checkOpenPages(ctx context.Context, b *boltFile, path string, row func(key, value []byte) error) error {
	f, err := openPlain(path, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	const tries = 1000
	for n := 1; ; n++ {
		begun := false
		err := b.view(func(tx *bbolt.Tx) error {
			id := uint64(tx.ID())
			meta, fault := metaAt(f, id%2, int64(id%2)*b.pageSize)
			if begun = fault == "" && meta.txid == id; begun {
				return (&pageCheck{file: f, meta: meta, deep: true, row: row}).look(ctx)
			}
			if n == tries {
				return damaged("meta page %d is not that of transaction %d", id%2, id)
			}
			return nil
		})
		if err != nil || begun {
			return err
		}
	}
}

// look walks the trees, and then the free list.
func (c *pageCheck) look(ctx context.Context) error {
	c.taken = newBitset()
	buckets, err := c.tree(ctx, c.meta.root, true)
	if err != nil {
		return err
	}
	for _, b := range buckets {
		if _, err := c.tree(ctx, b.root, false); err != nil {
			return fmt.Errorf("bucket %.40q: %w", b.name, err)
		}
	}
	return c.freelist()
}

// boltPage is a page with all that it reaches over, or an inline one.
type boltPage struct {
	id    uint64
	flags uint16
	count int
	pages uint64 // 1 and the overflow; 0: inline
	size  int64  // bytes that its elements may take
	first []byte // the bytes from its start on that have been read
	rest  io.ReaderAt
	start int64 // where it starts in rest
}

// at returns n bytes of the page.
func (p *boltPage) at(from, n int64) ([]byte, error) {
	if from+n > p.size {
		return nil, damaged("an element of page %d reaches %d bytes past the page", p.id, from+n-p.size)
	}
	if from+n <= int64(len(p.first)) {
		return p.first[from : from+n : from+n], nil
	}
	b := make([]byte, n)
	return b, readPage(p.rest, b, p.id, p.start+from)
}

// readPage fills b from offset at, which is in page id.
func readPage(f io.ReaderAt, b []byte, id uint64, at int64) error {
	_, err := f.ReadAt(b, at)
	if errors.Is(err, io.EOF) {
		return damaged("page %d is cut off", id)
	}
	return err
}

// read reads the first n bytes of page id, which stay until the next read, and
// takes the pages that it reaches over.
func (c *pageCheck) read(id uint64, n int64) (*boltPage, error) {
	if id < 2 || id >= c.meta.highWater {
		return nil, damaged("page %d is named, but the file has pages 2 to %d", id, c.meta.highWater-1)
	}
	c.buf = slices.Grow(c.buf[:0], int(n))[:n]
	p := &boltPage{id: id, first: c.buf, rest: c.file, start: int64(id) * c.meta.pageSize}
	if err := readPage(c.file, p.first, id, p.start); err != nil {
		return nil, err
	}
	order := binary.NativeEndian
	p.flags, p.count, p.pages = order.Uint16(p.first[8:]), int(order.Uint16(p.first[10:])), 1+uint64(order.Uint32(p.first[12:]))
	p.size = int64(p.pages) * c.meta.pageSize
	if got := order.Uint64(p.first); got != id || p.pages > maxPages || id+p.pages > c.meta.highWater {
		return nil, damaged("page %d calls itself page %d and reaches over %d pages", id, got, p.pages)
	}
	for i := range p.pages {
		if !c.taken.add(id + i) {
			return nil, damaged("page %d is named twice", id+i)
		}
	}
	return p, nil
}

// child is a page of a tree, and the keys between which its own must lie: from
// the first on, and before the second; nil is no bound.
type child struct {
	page     uint64
	from, to []byte
}

// boltBucket is a bucket that has a tree of its own.
type boltBucket struct {
	name []byte
	root uint64 // page
}

// tree walks a tree level by level; all its leaves lie on the same one. With
// top it reads the leaves and returns the buckets that they name.
func (c *pageCheck) tree(ctx context.Context, root uint64, top bool) (buckets []boltBucket, err error) {
	level := []child{{page: root}}
	for range maxLevels {
		var kind uint16 // of the pages of this level
		var next []child
		for i, at := range level {
			size := c.meta.pageSize
			if i > 0 && kind == flagLeaf && !top && !c.deep {
				size = pageHeader
			}
			p, err := c.read(at.page, size)
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return nil, err
			}
			if i == 0 {
				kind = p.flags
			}
			switch {
			case p.flags != kind:
				err = damaged("page %d has type %#x beside pages of type %#x", p.id, p.flags, kind)
			case kind == flagBranch:
				next, err = c.branch(p, at, next)
			case kind != flagLeaf:
				err = damaged("page %d has type %#x", p.id, kind)
			case size > pageHeader:
				var more []boltBucket
				more, err = c.leaf(p, at, top)
				buckets = append(buckets, more...)
			}
			if err != nil {
				return nil, err
			}
		}
		if kind == flagLeaf {
			return buckets, nil
		}
		level = next
	}
	return nil, damaged("the tree at page %d has more than %d levels", root, maxLevels)
}

// branch appends what a branch page names.
func (c *pageCheck) branch(p *boltPage, at child, next []child) ([]child, error) {
	if p.count == 0 {
		return nil, damaged("branch page %d is empty", p.id)
	}
	first := len(next)
	err := c.elements(p, at, func(e element) error {
		key := bytes.Clone(e.key)
		if n := len(next); n > first {
			next[n-1].to = key
		}
		next = append(next, child{page: e.page, from: key, to: at.to})
		return nil
	})
	return next, err
}

// leaf checks a leaf page and returns the buckets that it names; only a leaf of
// the top tree may name any.
func (c *pageCheck) leaf(p *boltPage, at child, top bool) (buckets []boltBucket, err error) {
	err = c.elements(p, at, func(e element) error {
		if e.flags&^flagBucket != 0 || (e.flags == flagBucket) != top {
			return damaged("page %d mixes buckets and values", p.id)
		}
		if !top && c.row == nil {
			return nil
		}
		value, err := p.at(e.value, e.size)
		if err != nil {
			return err
		}
		if !top {
			return c.row(e.key, value)
		}
		root, err := c.bucket(p, value)
		if err != nil {
			return fmt.Errorf("bucket %.40q: %w", e.key, err)
		}
		if root != 0 {
			buckets = append(buckets, boltBucket{bytes.Clone(e.key), root})
		}
		return nil
	})
	return buckets, err
}

// bucket returns the root page of a bucket, or 0 if the bucket lies inline in
// its value, and then checks that.
func (c *pageCheck) bucket(p *boltPage, value []byte) (uint64, error) {
	order := binary.NativeEndian
	if len(value) < bucketHeader || order.Uint64(value[8:]) != 0 {
		return 0, damaged("the head of a bucket of page %d is none", p.id)
	}
	root, in := order.Uint64(value), value[bucketHeader:]
	switch {
	case root != 0 && len(in) == 0:
		return root, nil
	case root != 0, len(in) < pageHeader, order.Uint64(in) != 0, order.Uint16(in[8:]) != flagLeaf, order.Uint32(in[12:]) != 0:
		return 0, damaged("the head of an inline bucket of page %d is none", p.id)
	}
	inline := &boltPage{id: p.id, flags: flagLeaf, count: int(order.Uint16(in[10:])), size: int64(len(in)), first: in}
	_, err := c.leaf(inline, child{}, false)
	return 0, err
}

// element is one element of a page.
type element struct {
	key   []byte
	page  uint64 // of a branch
	flags uint32 // of a leaf
	value int64  // of a leaf: where it starts
	size  int64  // and its length
}

// elements calls each with the elements of a branch or a leaf. They follow one
// another without a gap, in order, and fill the page.
func (c *pageCheck) elements(p *boltPage, at child, each func(element) error) error {
	native := binary.NativeEndian
	end := pageHeader + int64(p.count)*elementSize
	last := at.from
	for i := range int64(p.count) {
		head := pageHeader + i*elementSize
		b, err := p.at(head, elementSize)
		if err != nil {
			return err
		}
		var e element
		var position, keySize uint32
		if p.flags == flagBranch {
			position, keySize, e.page = native.Uint32(b), native.Uint32(b[4:]), native.Uint64(b[8:])
		} else {
			e.flags, position, keySize, e.size = native.Uint32(b), native.Uint32(b[4:]), native.Uint32(b[8:]), int64(native.Uint32(b[12:]))
		}
		if head+int64(position) != end || keySize == 0 || keySize > maxKeySize {
			return damaged("element %d of page %d is not where it should be", i, p.id)
		}
		if e.key, err = p.at(end, int64(keySize)); err != nil {
			return err
		}
		e.value = end + int64(keySize)
		end = e.value + e.size
		order := bytes.Compare(last, e.key)
		switch {
		case order > 0, order == 0 && i > 0, at.to != nil && bytes.Compare(e.key, at.to) >= 0:
			return damaged("the keys of page %d are out of order", p.id)
		case c.deep && i == 0 && at.from != nil && order != 0:
			return damaged("page %d does not begin with the key that its parent has for it", p.id)
		}
		last = e.key
		if err := each(e); err != nil {
			return err
		}
	}
	if whole := (end + c.meta.pageSize - 1) / c.meta.pageSize; (p.pages > 0 && uint64(whole) != p.pages) || (p.pages == 0 && end != p.size) {
		return damaged("page %d has %d bytes of elements and reaches over %d pages", p.id, end, p.pages)
	}
	return nil
}

// freelist checks that no free page is in use and, with deep, that each page
// is one or the other.
func (c *pageCheck) freelist() error {
	if c.meta.freelist == noFreelist {
		return damaged("the free list is missing")
	}
	p, err := c.read(c.meta.freelist, pageHeader+8)
	if err != nil {
		return err
	}
	order := binary.NativeEndian
	n, start := uint64(p.count), int64(pageHeader)
	if n == manyFree {
		n, start = order.Uint64(p.first[pageHeader:]), start+8
	}
	if p.flags != flagFreelist || n > uint64(p.size-start)/8 {
		return damaged("page %d is not a free list of %d entries", p.id, n)
	}
	entries := bufio.NewReader(io.NewSectionReader(c.file, p.start+start, int64(n)*8))
	var b [8]byte
	for range n {
		if _, err := io.ReadFull(entries, b[:]); err != nil {
			return err
		}
		id := order.Uint64(b[:])
		if id < 2 || id >= c.meta.highWater {
			return damaged("the free list names page %d of %d", id, c.meta.highWater)
		}
		if !c.taken.add(id) {
			return damaged("page %d is in use and free, or free twice", id)
		}
	}
	if c.deep && c.taken.n != c.meta.highWater-2 {
		return damaged("of %d pages %d are neither in use nor free", c.meta.highWater-2, c.meta.highWater-2-c.taken.n)
	}
	return nil
}
