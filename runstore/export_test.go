package runstore

import "context"

// RecordsAfter returns the records of the ledger after a seq, as they are
// stored.
func (s *Store) RecordsAfter(ctx context.Context, seq uint64) (records [][]byte, err error) {
	err = s.ledger.Load().blocks(ctx, seq, func(b block) error {
		for _, r := range b.all {
			records = append(records, r)
		}
		return nil
	})
	return records, err
}
