package runstore

import (
	"context"
	"errors"
	"sort"

	"go.etcd.io/bbolt"

	"tollgate/gate"
)

// Ledger implements gate.Reader.
func (s *Store) Ledger(ctx context.Context, q gate.LedgerQuery) (page gate.LedgerPage, err error) {
	if err := s.ready(); err != nil {
		return page, err
	}
	if q.Limit <= 0 || q.Limit > gate.MaxWindow {
		q.Limit = gate.MaxWindow
	}
	newest := s.durable.Load().Seq
	if q.Back && (q.From == 0 || q.From > newest) {
		q.From = newest
	}
	limit := q.Limit
	if !q.Filter.IsZero() {
		q.Limit = gate.MaxWindow // of those that are looked at
	}
	hashes := map[uint64]gate.Digest{}
	l := s.ledger.Load()
	for looked := 0; ; {
		var seqs []uint64
		if q.Run == "" {
			seqs, page.Next = plainSeqs(q, newest)
		} else if seqs, page.Next, err = s.seqsOfRun(ctx, q, newest); err != nil {
			return page, err
		}
		for _, seq := range seqs {
			if err := ctx.Err(); err != nil {
				return page, err
			}
			d, err := s.decision(seq)
			if err != nil {
				return page, err
			}
			if !q.Filter.MatchesDecision(&d, q.Now) {
				continue
			}
			if len(page.Rows) == limit {
				page.Next = seq
				return page, nil
			}
			if _, ok := hashes[seq]; !ok {
				if err := l.hashesOf(seq, hashes); err != nil {
					return page, err
				}
			}
			row := gate.RowOf(&d)
			row.Hash = hashes[seq].String()
			page.Rows = append(page.Rows, row)
		}
		looked += len(seqs)
		q.From = page.Next
		if q.Filter.IsZero() || looked == gate.MaxScan || q.From == 0 || q.From > newest {
			return page, nil
		}
	}
}

// plainSeqs returns the seqs of a window of the whole ledger, and where the
// next one begins: 0 when there is nothing before it, or the seq that is to
// come.
func plainSeqs(q gate.LedgerQuery, newest uint64) (seqs []uint64, next uint64) {
	if q.Back {
		for seq := q.From; seq > 0; seq-- {
			if len(seqs) == q.Limit {
				return seqs, seq
			}
			seqs = append(seqs, seq)
		}
		return seqs, 0
	}
	seq := max(1, q.From)
	for ; seq <= newest && len(seqs) < q.Limit; seq++ {
		seqs = append(seqs, seq)
	}
	return seqs, seq
}

// seqsOfRun is plainSeqs for the decisions of one run, or of one operation.
func (s *Store) seqsOfRun(ctx context.Context, q gate.LedgerQuery, newest uint64) (seqs []uint64, next uint64, err error) {
	if !q.Back {
		next = max(q.From, newest+1)
	}
	err = s.read(ctx, func(tx *bbolt.Tx) error {
		seqs = nil
		row, ok, err := runNamed(tx, q.Run)
		if err != nil || !ok {
			return err
		}
		told := toldOf(tx, row)
		step := 1
		i := sort.Search(told.n, func(i int) bool { return told.at(i) >= q.From })
		if q.Back {
			step = -1
			i = sort.Search(told.n, func(i int) bool { return told.at(i) > q.From }) - 1
		}
		for ; i >= 0 && i < told.n; i += step {
			seq := told.at(i)
			if told.err != nil {
				return told.err
			}
			if q.Op != "" {
				switch about, err := s.isAbout(seq, q.Op); {
				case err != nil:
					return err
				case !about:
					continue
				}
			}
			if len(seqs) == q.Limit {
				next = seq
				return nil
			}
			seqs = append(seqs, seq)
		}
		return errors.Join(told.err, ctx.Err())
	})
	return seqs, next, err
}

// isAbout reports whether a decision is about an operation, from the first
// fields of its record.
func (s *Store) isAbout(seq uint64, op gate.OpID) (bool, error) {
	record, err := s.ledger.Load().record(seq)
	if err != nil {
		return false, err
	}
	got, err := opOfRecord(record)
	return got == op, err
}

// told is the list of the seqs of a run's decisions, read as it is looked at.
type told struct {
	tx  *bbolt.Tx
	run uint64
	n   int

	row  uint32
	seqs []uint64
	err  error // of the first row that is not what it should be
}

func toldOf(tx *bbolt.Tx, row runRow) *told {
	return &told{tx: tx, run: row.run.Opened, n: int(row.told)}
}

// at returns the i-th seq; 0 after an error.
func (t *told) at(i int) uint64 {
	row := uint32(i / toldPerRow)
	if t.err == nil && (t.seqs == nil || t.row != row) {
		t.row = row
		t.seqs, t.err = toldRow(t.tx, t.run, row)
	}
	i %= toldPerRow
	if t.err == nil && i >= len(t.seqs) {
		t.err = damaged("the list of the decisions of the run opened at seq %d: %w", t.run, errStale)
	}
	if t.err != nil {
		return 0
	}
	return t.seqs[i]
}
