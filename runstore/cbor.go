package runstore

import (
	"encoding/binary"
	"math"
	"time"

	"tollgate/gate"
)

// coder writes a value as CBOR (RFC 8949), or reads one, by one list of its
// fields: a field that is written and not read cannot come to be.
//
// A struct is a map with small integer keys in ascending order, without the
// fields that are zero. So equal values have equal bytes; a value of an older
// program reads as one whose newer fields are zero; and fields of a newer
// program are passed over. Numbers of fields are never used again.
//
// An instant or a duration is its milliseconds, an integer; where it has a
// fraction of one, an array of the milliseconds and the nanoseconds over them.
type coder struct {
	buf     []byte // what has been written, or what is left to read
	reading bool
	err     error // of reading; what comes after it is not to be used
	m       fields
}

// fields is the map that is being written or read.
type fields struct {
	n    int    // written: fields so far
	at   int    // written: where its head stands in buf
	left uint64 // read: fields after the next one
	key  uint64 // read: the next field, if more
	more bool
}

// The major types of CBOR.
const (
	cborUint  = 0
	cborInt   = 1
	cborBytes = 2
	cborText  = 3
	cborArray = 4
	cborMap   = 5
	cborTag   = 6
	cborOther = 7

	cborFalse   = 0xf4
	cborTrue    = 0xf5
	cborFloat64 = 0xfb

	maxNesting = 16
)

// head writes the head of an item in its shortest form.
func (c *coder) head(major byte, n uint64) { c.buf = appendHeadOf(c.buf, major, n) }

func appendHeadOf(b []byte, major byte, n uint64) []byte {
	major <<= 5
	switch {
	case n < 24:
		return append(b, major|byte(n))
	case n <= math.MaxUint8:
		return append(b, major|24, byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, major|25), uint16(n))
	case n <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(b, major|26), uint32(n))
	default:
		return binary.BigEndian.AppendUint64(append(b, major|27), n)
	}
}

// next reads the head of an item.
func (c *coder) next() (major byte, n uint64) {
	if len(c.buf) == 0 {
		c.fail("ends too early")
		return cborOther, 0
	}
	first := c.buf[0]
	c.buf = c.buf[1:]
	major, n = first>>5, uint64(first&31)
	if n < 24 {
		return major, n
	}
	size := 1 << (n - 24)
	if n > 27 || len(c.buf) < size {
		c.fail("has a head out of form")
		return cborOther, 0
	}
	n = 0
	for _, b := range c.buf[:size] {
		n = n<<8 | uint64(b)
	}
	c.buf = c.buf[size:]
	return major, n
}

// want reads the head of an item of one major type.
func (c *coder) want(major byte) uint64 {
	got, n := c.next()
	if got != major && c.err == nil {
		c.fail("has an item of type %d, want %d", got, major)
	}
	if c.err != nil {
		return 0
	}
	return n
}

// fail notes the first error of reading and leaves nothing to read.
func (c *coder) fail(format string, args ...any) {
	if c.err == nil {
		c.err = damaged("a value "+format, args...)
	}
	c.buf, c.m = nil, fields{}
}

// take reads n bytes.
func (c *coder) take(n uint64) []byte {
	if n > uint64(len(c.buf)) {
		c.fail("ends too early")
		return nil
	}
	b := c.buf[:n]
	c.buf = c.buf[n:]
	return b
}

// skip reads an item of any kind that the program does not know.
func (c *coder) skip(nesting int) {
	if nesting > maxNesting {
		c.fail("is nested too deeply")
		return
	}
	major, n := c.next()
	switch major {
	case cborBytes, cborText:
		c.take(n)
	case cborArray, cborMap, cborTag:
		items := n
		switch major {
		case cborMap:
			items *= 2
		case cborTag:
			items = 1
		}
		for ; items > 0 && c.err == nil; items-- {
			c.skip(nesting + 1)
		}
	}
}

// open begins a map and returns the one around it, for end.
func (c *coder) open() fields {
	around := c.m
	if c.reading {
		c.m = fields{left: c.want(cborMap)}
		c.advance()
		return around
	}
	c.m = fields{at: len(c.buf)}
	c.buf = append(c.buf, cborMap<<5)
	return around
}

// advance reads the key of the next field.
func (c *coder) advance() {
	c.m.more = c.m.left > 0 && c.err == nil
	if !c.m.more {
		return
	}
	c.m.left--
	last := c.m.key
	c.m.key = c.want(cborUint)
	if c.err == nil && c.m.key <= last {
		c.fail("has fields out of order")
	}
}

// end ends a map, and passes over what is left of it.
func (c *coder) end(around fields) (written int) {
	if c.reading {
		for c.m.more {
			c.skip(0)
			c.advance()
		}
		if c.err == nil {
			c.m = around
		}
		return 0
	}
	n, at := c.m.n, c.m.at
	if n < 24 {
		c.buf[at] |= byte(n)
	} else {
		c.buf = append(c.buf, 0)
		copy(c.buf[at+2:], c.buf[at+1:])
		c.buf[at], c.buf[at+1] = cborMap<<5|24, byte(n)
	}
	c.m = around
	return n
}

// put writes the key of a field.
func (c *coder) put(key uint64) {
	c.m.n++
	c.head(cborUint, key)
}

// found reports whether the field key is the next one; it passes over fields
// before it. After its value comes advance.
func (c *coder) found(key uint64) bool {
	for c.m.more && c.m.key < key {
		c.skip(0)
		c.advance()
	}
	return c.m.more && c.m.key == key
}

func (c *coder) putInt(v int64) {
	if v < 0 {
		c.head(cborInt, uint64(^v))
	} else {
		c.head(cborUint, uint64(v))
	}
}

func (c *coder) takeInt() int64 {
	major, n := c.next()
	if major > cborInt || n > math.MaxInt64 {
		c.fail("has no integer where one belongs")
		return 0
	}
	if major == cborInt {
		return ^int64(n)
	}
	return int64(n)
}

// number is a field that is an unsigned integer or an enumeration.
func number[T ~uint8 | ~uint64](c *coder, key uint64, v *T) {
	switch {
	case c.reading:
		if c.found(key) {
			n := c.want(cborUint)
			if uint64(T(n)) != n {
				c.fail("has %d where it is out of range", n)
				return
			}
			*v = T(n)
			c.advance()
		}
	case *v != 0:
		c.put(key)
		c.head(cborUint, uint64(*v))
	}
}

// integer is a field that is a signed integer.
func integer[T ~int | ~int64](c *coder, key uint64, v *T) {
	switch {
	case c.reading:
		if c.found(key) {
			*v = T(c.takeInt())
			c.advance()
		}
	case *v != 0:
		c.put(key)
		c.putInt(int64(*v))
	}
}

// text is a field that is a string.
func text[T ~string](c *coder, key uint64, v *T) {
	switch {
	case c.reading:
		if c.found(key) {
			*v = T(c.take(c.want(cborText)))
			c.advance()
		}
	case *v != "":
		c.put(key)
		c.head(cborText, uint64(len(*v)))
		c.buf = append(c.buf, *v...)
	}
}

// bytes is a field that is a byte string. Empty and nil are the same.
func (c *coder) bytes(key uint64, v *[]byte) {
	switch {
	case c.reading:
		if c.found(key) {
			*v = append([]byte(nil), c.take(c.want(cborBytes))...)
			c.advance()
		}
	case len(*v) > 0:
		c.put(key)
		c.head(cborBytes, uint64(len(*v)))
		c.buf = append(c.buf, *v...)
	}
}

func (c *coder) digest(key uint64, v *gate.Digest) {
	switch {
	case c.reading:
		if c.found(key) {
			b := c.take(c.want(cborBytes))
			if len(b) != len(v) {
				c.fail("has a digest of %d bytes", len(b))
				return
			}
			*v = gate.Digest(b)
			c.advance()
		}
	case !v.IsZero():
		c.put(key)
		c.head(cborBytes, uint64(len(v)))
		c.buf = append(c.buf, v[:]...)
	}
}

func (c *coder) bool(key uint64, v *bool) {
	switch {
	case c.reading:
		if c.found(key) {
			b := c.take(1)
			if len(b) == 1 && b[0] != cborTrue && b[0] != cborFalse {
				c.fail("has no truth value where one belongs")
			}
			*v = len(b) == 1 && b[0] == cborTrue
			c.advance()
		}
	case *v:
		c.put(key)
		c.buf = append(c.buf, cborTrue)
	}
}

func (c *coder) float(key uint64, v *float64) {
	switch {
	case c.reading:
		if c.found(key) {
			b := c.take(9)
			if len(b) == 9 && b[0] == cborFloat64 {
				*v = math.Float64frombits(binary.BigEndian.Uint64(b[1:]))
			}
			if len(b) != 9 || b[0] != cborFloat64 || math.IsNaN(*v) {
				c.fail("has no number where one belongs")
			}
			c.advance()
		}
	case *v != 0:
		c.put(key)
		c.buf = binary.BigEndian.AppendUint64(append(c.buf, cborFloat64), math.Float64bits(*v))
	}
}

// putMillis writes ms milliseconds and nanos nanoseconds over them.
func (c *coder) putMillis(ms, nanos int64) {
	if nanos != 0 {
		c.head(cborArray, 2)
		c.putInt(ms)
		c.putInt(nanos)
		return
	}
	c.putInt(ms)
}

func (c *coder) takeMillis() (ms, nanos int64) {
	if len(c.buf) > 0 && c.buf[0] == cborArray<<5|2 {
		c.buf = c.buf[1:]
		return c.takeInt(), c.takeInt()
	}
	return c.takeInt(), 0
}

// instant is a field that is a time; all are read as UTC.
func (c *coder) instant(key uint64, v *time.Time) {
	switch {
	case c.reading:
		if c.found(key) {
			ms, nanos := c.takeMillis()
			*v = time.UnixMilli(ms).Add(time.Duration(nanos)).UTC()
			c.advance()
		}
	case !v.IsZero():
		c.put(key)
		c.putMillis(v.UnixMilli(), int64(v.Nanosecond()%int(time.Millisecond)))
	}
}

func (c *coder) duration(key uint64, v *time.Duration) {
	switch {
	case c.reading:
		if c.found(key) {
			ms, nanos := c.takeMillis()
			*v = time.Duration(ms)*time.Millisecond + time.Duration(nanos)
			c.advance()
		}
	case *v != 0:
		c.put(key)
		c.putMillis(int64(*v/time.Millisecond), int64(*v%time.Millisecond))
	}
}

// part is a field that is a struct within; left out when all of it is zero.
func part[T any](c *coder, key uint64, v *T, each func(*coder, *T)) {
	if c.reading {
		if c.found(key) {
			around := c.open()
			each(c, v)
			c.end(around)
			c.advance()
		}
		return
	}
	before, n := len(c.buf), c.m.n
	c.put(key)
	around := c.open()
	each(c, v)
	if c.end(around) == 0 {
		c.buf, c.m.n = c.buf[:before], n
	}
}

// maybe is a field that is a pointer to a struct; left out when nil.
func maybe[T any](c *coder, key uint64, v **T, each func(*coder, *T)) {
	switch {
	case c.reading:
		if c.found(key) {
			*v = new(T)
			around := c.open()
			each(c, *v)
			c.end(around)
			c.advance()
		}
	case *v != nil:
		c.put(key)
		around := c.open()
		each(c, *v)
		c.end(around)
	}
}

// maybeInt is a field that is a pointer to an integer; left out when nil.
func (c *coder) maybeInt(key uint64, v **int64) {
	switch {
	case c.reading:
		if c.found(key) {
			n := c.takeInt()
			*v = &n
			c.advance()
		}
	case *v != nil:
		c.put(key)
		c.putInt(**v)
	}
}

func (c *coder) maybeDuration(key uint64, v **time.Duration) {
	switch {
	case c.reading:
		if c.found(key) {
			ms, nanos := c.takeMillis()
			d := time.Duration(ms)*time.Millisecond + time.Duration(nanos)
			*v = &d
			c.advance()
		}
	case *v != nil:
		c.put(key)
		c.putMillis(int64(**v/time.Millisecond), int64(**v%time.Millisecond))
	}
}

// list is a field that is a slice of structs. Empty and nil are the same.
func list[T any](c *coder, key uint64, v *[]T, each func(*coder, *T)) {
	switch {
	case c.reading:
		if c.found(key) {
			n := c.want(cborArray)
			if n > uint64(len(c.buf)) { // each takes a byte at least
				c.fail("has a list of %d entries", n)
				return
			}
			*v = make([]T, n)
			for i := range *v {
				around := c.open()
				each(c, &(*v)[i])
				c.end(around)
			}
			c.advance()
		}
	case len(*v) > 0:
		c.put(key)
		c.head(cborArray, uint64(len(*v)))
		for i := range *v {
			around := c.open()
			each(c, &(*v)[i])
			c.end(around)
		}
	}
}
