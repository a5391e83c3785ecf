package runstore

import (
	"encoding/binary"
	"hash/crc32"

	"go.etcd.io/bbolt"
)

// A row of the projection ends with a checksum of its key and its value: a
// bbolt file has none of its own, and a counter that a disk has changed would
// read as any other. The records of the ledger have their chain.

const sealSize = 4 // CRC-32C of key and value, big endian

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func sealOf(key, value []byte) uint32 {
	return crc32.Update(crc32.Update(0, castagnoli, key), castagnoli, value)
}

// sealed returns a value with its checksum.
func sealed(key, value []byte) []byte {
	b := make([]byte, len(value)+sealSize)
	binary.BigEndian.PutUint32(b[copy(b, value):], sealOf(key, value))
	return b
}

// unsealed returns the value in what is stored at key.
func unsealed(key, stored []byte) (value []byte, err error) {
	n := len(stored) - sealSize
	if n < 0 || binary.BigEndian.Uint32(stored[n:]) != sealOf(key, stored[:n]) {
		return nil, damaged("the row at key %.40x does not match its checksum", key)
	}
	return stored[:n:n], nil
}

// checkSeal returns an error for a row that does not match its checksum.
func checkSeal(key, stored []byte) error {
	_, err := unsealed(key, stored)
	return err
}

// put writes a row of the projection.
func put(b *bbolt.Bucket, key, value []byte) error { return b.Put(key, sealed(key, value)) }

// get reads a row of the projection; nil is none.
func get(b *bbolt.Bucket, key []byte) (value []byte, err error) {
	stored := b.Get(key)
	if stored == nil {
		return nil, nil
	}
	return unsealed(key, stored)
}
