package runstore

// bitset is a set of page numbers. It takes memory for those that are in it,
// not for the size that the header of a file claims.
type bitset struct {
	chunks map[uint64]*bitChunk
	n      uint64
}

const bitsPerChunk = 4096

type bitChunk [bitsPerChunk / 64]uint64

func newBitset() *bitset { return &bitset{chunks: map[uint64]*bitChunk{}} }

// add reports whether i was not in the set before.
func (s *bitset) add(i uint64) bool {
	c := s.chunks[i/bitsPerChunk]
	if c == nil {
		c = new(bitChunk)
		s.chunks[i/bitsPerChunk] = c
	}
	word, bit := &c[i%bitsPerChunk/64], uint64(1)<<(i%64)
	if *word&bit != 0 {
		return false
	}
	*word |= bit
	s.n++
	return true
}
