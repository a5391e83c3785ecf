package runstore

import (
	"context"

	"go.etcd.io/bbolt"

	"tollgate/gate"
)

// adopted is where the ledger holds a contract.
type adopted struct {
	digest gate.Digest
	seq    uint64
}

// write notes where a contract was first adopted.
func (a adopted) write(tx *bbolt.Tx) error {
	b := tx.Bucket(bucketContracts)
	known, err := get(b, a.digest[:])
	if known != nil || err != nil {
		return err
	}
	return put(b, a.digest[:], seqKey(a.seq))
}

// Contract returns the document of a contract by its digest, byte for byte as
// it was adopted, such as that of the contract in force: gate.Head has its
// digest. It returns ErrNoContract if the ledger holds none of that digest. What
// it costs does not depend on the length of the ledger.
func (s *Store) Contract(ctx context.Context, digest gate.Digest) (document []byte, err error) {
	var seq uint64
	err = s.read(ctx, func(tx *bbolt.Tx) error {
		v, err := get(tx.Bucket(bucketContracts), digest[:])
		seq = seqOf(v)
		return err
	})
	if err != nil {
		return nil, err
	}
	if seq == 0 {
		return nil, gate.About(ErrNoContract, "contract", digest.String())
	}
	if err := s.ready(); err != nil {
		return nil, err
	}
	d, err := s.decision(seq)
	if err != nil {
		return nil, err
	}
	adopt, ok := d.Command.(gate.Adopt)
	if !ok || gate.DocumentDigest(adopt.Document) != digest {
		return nil, damaged("record %d does not hold contract %v", seq, digest)
	}
	return adopt.Document, nil
}
