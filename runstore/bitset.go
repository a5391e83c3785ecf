package runstore

import "math/bits"

// bitset is a set of page numbers.
type bitset []uint64

func newBitset(n uint64) bitset { return make(bitset, n/64+1) }

// add reports whether i was not in the set before.
func (s bitset) add(i uint64) bool {
	was := s[i/64]
	s[i/64] |= 1 << (i % 64)
	return s[i/64] != was
}

func (s bitset) has(i uint64) bool { return s[i/64]&(1<<(i%64)) != 0 }

// before returns the largest member that is not above i.
func (s bitset) before(i uint64) (uint64, bool) {
	word := s[i/64] << (63 - i%64)
	if word != 0 {
		return i - uint64(bits.LeadingZeros64(word)), true
	}
	for w := int(i/64) - 1; w >= 0; w-- {
		if s[w] != 0 {
			return uint64(64*w + 63 - bits.LeadingZeros64(s[w])), true
		}
	}
	return 0, false
}
