package runstore

import (
	"bytes"
	"slices"

	"go.etcd.io/bbolt"

	"tollgate/gate"
)

// span is the part of a bucket from one key to before another. Lists that
// screens see are a few spans, one after another.
type span struct {
	bucket   *bbolt.Bucket
	from, to []byte                 // to is excluded; nil is the end of the bucket
	skip     func(k, v []byte) bool // entries of the span that are not in the list; nil: none
}

// successor is the smallest key above all that begin with prefix, nil if there
// is none.
func successor(prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] < 0xff {
			next := bytes.Clone(prefix[:i+1])
			next[i]++
			return next
		}
	}
	return nil
}

// holds reports whether a key lies in the span.
func (s span) holds(key []byte) bool {
	return bytes.Compare(key, s.from) >= 0 && (s.to == nil || bytes.Compare(key, s.to) < 0)
}

// each calls fn with the entries of the span in order until it returns false:
// from key start on, or, backwards, from before it; nil is the first, or the
// last.
func (s span) each(start []byte, back bool, fn func(k, v []byte) (bool, error)) error {
	c := s.bucket.Cursor()
	step := c.Next
	var k, v []byte
	switch {
	case !back && start == nil:
		k, v = c.Seek(s.from)
	case !back:
		k, v = c.Seek(start)
	default:
		step = c.Prev
		if start == nil {
			start = s.to
		}
		if start == nil {
			k, v = c.Last()
		} else if k, _ = c.Seek(start); k == nil {
			k, v = c.Last()
		} else {
			k, v = c.Prev()
		}
	}
	for ; k != nil && s.holds(k); k, v = step() {
		if s.skip != nil && s.skip(k, v) {
			continue
		}
		if on, err := fn(k, v); err != nil || !on {
			return err
		}
	}
	return nil
}

// take takes a window out of a list: the rows that accept makes of its
// entries, around the anchor, which is a key of the list or nil for its top.
// more is whether there are rows after the last.
func take[R any](list []span, anchor []byte, w gate.Window, accept func(k, v []byte) (R, bool, error)) (rows []R, more bool, err error) {
	at := 0
	if anchor != nil {
		at = max(0, slices.IndexFunc(list, func(s span) bool { return s.has(anchor) }))
	}
	before, after := w.Bounds()
	start := anchor
	for i := at; i >= 0 && len(rows) < before && anchor != nil; i-- {
		err = list[i].each(start, true, func(k, v []byte) (bool, error) {
			row, ok, err := accept(k, v)
			if ok {
				rows = append(rows, row)
			}
			return len(rows) < before, err
		})
		if err != nil {
			return nil, false, err
		}
		start = nil
	}
	slices.Reverse(rows)
	most := len(rows) + after
	start = anchor
	for i := at; i < len(list) && !more; i++ {
		err = list[i].each(start, false, func(k, v []byte) (bool, error) {
			row, ok, err := accept(k, v)
			switch {
			case ok && len(rows) == most:
				more = true
			case ok:
				rows = append(rows, row)
			}
			return !more, err
		})
		if err != nil {
			return nil, false, err
		}
		start = nil
	}
	return rows, more, nil
}

// has reports whether an entry with this key is in the list.
func (s span) has(key []byte) bool {
	if !s.holds(key) {
		return false
	}
	v := s.bucket.Get(key)
	return v != nil && (s.skip == nil || !s.skip(key, v))
}
