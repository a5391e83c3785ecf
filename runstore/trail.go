package runstore

import (
	"bytes"
	"hash/crc32"
	"io"
)

// trail is how the pages stood that the next append builds on: those from the
// top of the file down to the last leaf of the ledger, and the free list. bbolt
// copies what they hold into new pages, and writes where they say there is
// room. What had changed in them since they were written would go along, and
// blocks that were acknowledged be lost without a word.
type trail struct {
	pages  []trailPage
	blocks int   // of the last leaf
	err    error // why it is not known
	read   []byte
	buf    []byte
}

// trailPage is a page with all that it reaches over.
type trailPage struct {
	id       uint64
	at, size int64
	sum      uint32 // CRC-32C
}

// take reads the pages as the newest transaction has left them. If it cannot,
// stands says so.
func (t *trail) take(b *boltFile) error {
	t.pages = t.pages[:0]
	t.err = t.walk(b)
	return t.err
}

func (t *trail) walk(b *boltFile) error {
	id := uint64(b.newest.Load())
	meta, fault := metaAt(b.file, id%2, int64(id%2)*b.pageSize)
	if fault != "" || meta.txid != id {
		return damaged("meta page %d is not that of transaction %d", id%2, id)
	}
	c := &pageCheck{file: b.file, meta: meta, taken: newBitset(), buf: t.read}
	defer func() { t.read = c.buf }()
	if _, err := t.add(c, meta.freelist); err != nil {
		return err
	}
	next, top := meta.root, true
	for range maxLevels {
		p, err := t.add(c, next)
		if err != nil {
			return err
		}
		if next, err = t.down(c, p, top); err != nil || next == 0 {
			return err
		}
		top = top && p.flags == flagBranch
	}
	return damaged("the tree at page %d has more than %d levels", meta.root, maxLevels)
}

// down returns the page that leads on from p: the last one of a branch, and in
// the tree of the buckets that of the ledger. In a leaf of the ledger, or when
// it lies within p, there is none.
func (t *trail) down(c *pageCheck, p *boltPage, top bool) (next uint64, err error) {
	switch p.flags {
	case flagBranch:
		err = c.elements(p, child{}, func(e element) error {
			if !top || next == 0 || bytes.Compare(e.key, bucketLedger) <= 0 {
				next = e.page
			}
			return nil
		})
	case flagLeaf:
		var buckets []boltBucket
		buckets, err = c.leaf(p, child{}, top)
		t.blocks = p.count
		if top {
			t.blocks = maxBlock // no more than a part of a page holds
		}
		for _, b := range buckets {
			if bytes.Equal(b.name, bucketLedger) {
				next = b.root
			}
		}
	default:
		err = damaged("page %d has type %#x", p.id, p.flags)
	}
	return next, err
}

// add takes a page in.
func (t *trail) add(c *pageCheck, id uint64) (*boltPage, error) {
	p, err := c.read(id, c.meta.pageSize)
	if err != nil {
		return nil, err
	}
	page := trailPage{id: id, at: p.start, size: p.size}
	if page.size == int64(len(p.first)) {
		page.sum = crc32.Checksum(p.first, castagnoli)
	} else {
		page.sum, err = t.sum(c.file, page)
	}
	t.pages = append(t.pages, page)
	return p, err
}

func (t *trail) sum(f io.ReaderAt, p trailPage) (sum uint32, err error) {
	const most = 1 << 20
	if int64(cap(t.buf)) < min(p.size, most) {
		t.buf = make([]byte, min(p.size, most))
	}
	for at := int64(0); at < p.size; {
		part := t.buf[:min(p.size-at, int64(cap(t.buf)))]
		if err := readPage(f, part, p.id, p.at+at); err != nil {
			return 0, err
		}
		sum = crc32.Update(sum, castagnoli, part)
		at += int64(len(part))
	}
	return sum, nil
}

// stands returns an error if one of the pages has changed since they were
// taken in.
func (t *trail) stands(f io.ReaderAt) error {
	if t.err != nil {
		return t.err
	}
	for _, p := range t.pages {
		sum, err := t.sum(f, p)
		if err != nil {
			return err
		}
		if sum != p.sum {
			return damaged("page %d has changed since it was written", p.id)
		}
	}
	return nil
}
