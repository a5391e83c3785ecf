package runstore

import (
	"bytes"
	"encoding/binary"
	"math"
	"sync"
	"time"

	"github.com/fxamacker/cbor/v2"

	"tollgate/gate"
)

// A record is a CBOR array of two: the seq of the run's decision before this
// one, and the decision as a map. Its own seq follows from its place. The
// contract is stored by its digest; the realm is that of the store. Rows of the
// projection are maps likewise.
//
// The stored types mirror the gate's. Their maps have small integers for keys,
// in ascending order, without the fields that are zero: so equal values have
// equal bytes (RFC 8949, section 4.2); a record of an older program reads as
// one whose newer fields are zero; and fields of a newer program are passed
// over. The number of a field is final, and never used for another.

var (
	encoder = must(cbor.CoreDetEncOptions().UserBufferEncMode())
	decoder = must(cbor.DecOptions{
		DupMapKey:        cbor.DupMapKeyEnforcedAPF,
		IndefLength:      cbor.IndefLengthForbidden,
		TagsMd:           cbor.TagsForbidden,
		MaxNestedLevels:  16,
		MaxArrayElements: 1 << 20, // of a record of at most 1 MiB
		MaxMapPairs:      1 << 10,
		UTF8:             cbor.UTF8DecodeInvalid, // texts of agents and providers stand as they came
	}.DecMode())
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err) // options that are written down above
	}
	return v
}

// buffers are where values are encoded before their size is known.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// encoded encodes a stored value, with room bytes before it, into a buffer that
// goes back to buffers.
func encoded(v any, room int) *bytes.Buffer {
	buf := buffers.Get().(*bytes.Buffer) //nolint:forcetypeassert // it holds nothing else
	buf.Reset()
	buf.Write(noBytes[:room])
	if err := encoder.MarshalToBuffer(v, buf); err != nil {
		panic(err) // no stored type holds what CBOR has no form for
	}
	return buf
}

// encode returns a stored value, with room bytes before it.
func encode(v any, room int) []byte {
	buf := encoded(v, room)
	defer buffers.Put(buf)
	return bytes.Clone(buf.Bytes())
}

// decode reads a stored value.
func decode[T any](b []byte) (v T, err error) {
	if err := decoder.Unmarshal(b, &v); err != nil {
		return v, damaged("a value that is none: %w", err)
	}
	return v, nil
}

// storedRecord is a record as it is read.
type storedRecord struct {
	_        struct{} `cbor:",toarray"`
	Prev     uint64
	Decision storedDecision
}

// noBytes is what room is filled with.
var noBytes [recordRoom]byte

// recordRoom is how much encodeDecision leaves free for what bindRecord
// writes: the head of the array and a seq.
const recordRoom = 1 + 9

// decisions are stored decisions that are filled in again and again: each is
// too large to leave to the garbage collector.
var decisions = sync.Pool{New: func() any { return new(storedDecision) }}

// encodeDecision returns a decision as the second part of a record, with room
// before it: its place in the ledger need not be known yet.
func encodeDecision(d *gate.Decision) []byte {
	s := decisions.Get().(*storedDecision) //nolint:forcetypeassert // it holds nothing else
	defer decisions.Put(s)
	*s = storeDecision(*d)
	b := encode(s, recordRoom)
	*s = storedDecision{} // which holds on to nothing
	return b
}

// bindRecord makes what encodeDecision returned a record, with the seq of the
// run's decision before it.
func bindRecord(b []byte, prev uint64) []byte {
	const arrayOfTwo, uint8Follows = 0x82, 24
	var head [recordRoom]byte
	n := 0
	switch {
	case prev < uint8Follows:
		head[0], n = byte(prev), 1
	case prev <= math.MaxUint8:
		head[0], head[1], n = uint8Follows, byte(prev), 2
	case prev <= math.MaxUint16:
		head[0], n = uint8Follows+1, 3
		binary.BigEndian.PutUint16(head[1:], uint16(prev))
	case prev <= math.MaxUint32:
		head[0], n = uint8Follows+2, 5
		binary.BigEndian.PutUint32(head[1:], uint32(prev))
	default:
		head[0], n = uint8Follows+3, 9
		binary.BigEndian.PutUint64(head[1:], prev)
	}
	at := recordRoom - 1 - n
	b[at] = arrayOfTwo
	copy(b[at+1:], head[:n])
	return b[at:]
}

// decodeRecord reads a record of the store with id realm.
func decodeRecord(seq uint64, realm string, record []byte) (gate.Decision, error) {
	r, err := decode[storedRecord](record)
	if err != nil {
		return gate.Decision{}, damaged("record %d: %w", seq, err)
	}
	d := r.Decision.load()
	if d.Command == nil {
		return gate.Decision{}, damaged("record %d has no command that is known", seq)
	}
	d.Seq, d.Prev = seq, r.Prev
	d.Inputs.Document, d.Inputs.Realm = d.Contract, realm
	return d, nil
}

// opOfRecord reads no more of a record than the operation that it is about.
func opOfRecord(record []byte) (gate.OpID, error) {
	type about struct {
		Op gate.OpID `cbor:"3,keyasint,omitempty"`
	}
	type recordAbout struct {
		_        struct{} `cbor:",toarray"`
		Prev     uint64
		Decision about
	}
	r, err := decode[recordAbout](record)
	return r.Decision.Op, err
}

// stored is a stored form of T.
type stored[T any] interface{ load() T }

// encodeRow returns a row of the projection.
func encodeRow[S any](s S) []byte { return encode(&s, 0) }

// readRow reads the row that is stored at key.
func readRow[S stored[T], T any](key, b []byte) (v T, err error) {
	value, err := unsealed(key, b)
	if err != nil {
		return v, err
	}
	return decodeRow[S](value)
}

// decodeRow reads what encodeRow returned.
func decodeRow[S stored[T], T any](b []byte) (v T, err error) {
	s, err := decode[S](b)
	if err != nil {
		return v, err
	}
	return s.load(), nil
}

// instant is a time of the gate's as it is stored: in milliseconds since 1970,
// 0 for none; those up to 1970 are one lower, to make room for that.
type instant int64

func instantOf(t time.Time) instant {
	if t.IsZero() {
		return 0
	}
	ms := t.UnixMilli()
	if ms <= 0 {
		ms--
	}
	return instant(ms)
}

// time returns the time, in UTC.
func (i instant) time() time.Time {
	switch {
	case i == 0:
		return time.Time{}
	case i < 0:
		i++
	}
	return time.UnixMilli(int64(i)).UTC()
}

// untilText is a time that a caller gave, with all of its digits.
func untilText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func untilOf(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{} // none
	}
	return t
}

// maybe converts what a pointer points to; nil stays nil.
func maybe[A, B any](a *A, convert func(A) B) *B {
	if a == nil {
		return nil
	}
	b := convert(*a)
	return &b
}

// each converts the elements of a slice; an empty one becomes nil.
func each[A, B any](as []A, convert func(A) B) []B {
	if len(as) == 0 {
		return nil
	}
	bs := make([]B, len(as))
	for i := range as {
		bs[i] = convert(as[i])
	}
	return bs
}
