package runstore

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
