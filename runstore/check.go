package runstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"

	"go.etcd.io/bbolt"

	"tollgate/gate"
)

// mostFindings bounds what a verification tells.
const mostFindings = 100

// Finding is one thing that a verification found wrong.
type Finding struct {
	Seq   uint64 // the decision that it is about; 0 for none
	Where string // such as "chain", "decision", "runs", "queue"
	Says  string // one line; ids in it are quoted
}

// String returns the finding as one line.
func (f Finding) String() string {
	if f.Seq == 0 {
		return f.Where + ": " + f.Says
	}
	return fmt.Sprintf("%s, seq %d: %s", f.Where, f.Seq, f.Says)
}

// Verification is what Verify looked at and found. A store without findings is
// as its ledger says.
type Verification struct {
	Checkpoint           // how far it looked
	Decided    uint64    // decisions that were decided again; 0 when it was quick
	Rows       int64     // rows that were compared with the ledger; 0 when it was quick
	Findings   []Finding // at most 100
	More       bool      // there were more findings
}

func (v *Verification) found(seq uint64, where, format string, args ...any) {
	if len(v.Findings) == mostFindings {
		v.More = true
		return
	}
	v.Findings = append(v.Findings, Finding{Seq: seq, Where: where, Says: fmt.Sprintf(format, args...)})
}

// Verify looks at every page of both files, at the checksum of every row and at
// every checkpoint, and walks the chain of the ledger. With full it also
// decides each decision again from its inputs, folds the ledger anew and
// compares every counter, state and index with it (R-L2). The store may be in
// use; what is answered meanwhile may be looked at or not.
//
// What is wrong with the store is a finding, not an error.
func (s *Store) Verify(ctx context.Context, full bool) (v Verification, err error) {
	l := s.ledger.Load()
	v.Realm = s.store.String()
	if err := checkOpenPages(ctx, l.db, filepath.Join(s.files.dir, ledgerName), nil); err != nil && ctx.Err() == nil {
		v.found(0, ledgerName, "%v", err)
	}
	if wrong := s.spoiled.Load(); wrong != nil {
		v.found(0, projectionName, "it was built anew: %v", *wrong)
	}
	seals := checkSeal
	if full {
		seals = nil // what differs says more
	}
	if err := s.rows.look(ctx, filepath.Join(s.files.dir, projectionName), seals); err != nil && ctx.Err() == nil {
		v.found(0, projectionName, "%v", err)
	}
	var kept []Checkpoint
	_, _, _, err = readCheckpoints(filepath.Join(s.files.dir, checkpointsName), v.Realm, func(c Checkpoint) { kept = append(kept, c) })
	if err != nil {
		v.found(0, checkpointsName, "%v", err)
	}
	end, err := l.walk(ctx, tip{}, func(_ block, at tip) error {
		v.Seq, v.Hash = at.Seq, at.Hash
		return nil
	})
	switch {
	case ctx.Err() != nil:
		return v, ctx.Err()
	case err != nil:
		v.found(end.Seq+1, "chain", "%v", err)
		return v, nil
	}
	if acknowledged := s.durable.Load().Seq; end.Seq < acknowledged {
		v.found(end.Seq, "chain", "it ends here, but seq %d was acknowledged", acknowledged)
	}
	for i, c := range kept {
		if err := s.Against(c); err != nil {
			v.found(c.Seq, checkpointsName, "line %d: %v", i+1, err)
		}
	}
	if full {
		err = s.verifyFold(ctx, l, &v)
	}
	return v, err
}

// Checkpoint returns how far the ledger has got, to be kept elsewhere.
func (s *Store) Checkpoint() Checkpoint {
	h := s.durable.Load()
	return Checkpoint{Realm: h.Realm, Seq: h.Seq, Hash: h.Hash}
}

// Against returns gate.ErrDamaged if the ledger is not one that goes on from a
// checkpoint that was taken of it earlier.
func (s *Store) Against(c Checkpoint) error {
	h := s.durable.Load()
	return s.ledger.Load().against(c, tip{Seq: h.Seq, Hash: h.Hash})
}

// verifyFold builds a projection anew beside the store's own and compares.
func (s *Store) verifyFold(ctx context.Context, l *ledger, v *Verification) error {
	path := filepath.Join(s.files.dir, "verify.db"+newSuffix)
	defer os.Remove(path) //nolint:errcheck // the next one removes it
	rows, err := createProjection(path, s.store)
	if err != nil {
		return err
	}
	defer rows.close() //nolint:errcheck // it goes with the file
	f, err := newFolder(rows, v.Realm)
	if err != nil {
		return err
	}
	again := &decider{l: l, f: f, v: v, contracts: map[gate.Digest]*gate.Contract{}}
	if err := again.to(ctx, v.Seq); err != nil {
		return err
	}
	// The projection has come further meanwhile: look at it as it stands now,
	// and fold the ledger up to there.
	if err := s.settle(ctx); err != nil {
		return err
	}
	return s.rows.view(func(tx *bbolt.Tx) error {
		at, _, err := statusOf(tx)
		if err != nil {
			v.found(0, "meta", "%v", err)
			return nil
		}
		if err := again.to(ctx, at.Seq); err != nil || again.stuck {
			return err
		}
		return rows.view(func(fresh *bbolt.Tx) error { return compare(ctx, tx, fresh, v) })
	})
}

// decider decides the decisions of a ledger again, on the state that those
// before them fold to.
type decider struct {
	l         *ledger
	f         *folder
	v         *Verification
	contracts map[gate.Digest]*gate.Contract
	stuck     bool // a decision could not be folded; nothing after it can
}

// to goes on up to the block that ends at seq last.
func (a *decider) to(ctx context.Context, last uint64) error {
	if a.stuck || last <= a.f.at.Seq {
		return nil
	}
	err := a.f.follow(ctx, a.l, last, func(d *gate.Decision) error {
		a.again(d)
		a.v.Decided++
		return nil
	})
	if errors.Is(err, gate.ErrDamaged) {
		a.v.found(a.f.at.Seq, "decision", "%v", err)
		a.stuck = true
		return nil
	}
	return err
}

// again decides one decision again and compares.
func (a *decider) again(d *gate.Decision) {
	if c, ok := d.Command.(gate.Adopt); ok {
		k, err := gate.ParseContract(c.Document)
		if err != nil || gate.DocumentDigest(c.Document) != d.Contract {
			a.v.found(d.Seq, "decision", "the contract is not the document of digest %v", d.Contract)
			return
		}
		a.contracts[d.Contract] = k
	}
	in := d.Inputs
	if in.Contract = a.contracts[d.Contract]; in.Contract == nil {
		a.v.found(d.Seq, "decision", "the ledger holds no contract of digest %v", d.Contract)
		return
	}
	if d.Rules != gate.RulesVersion {
		return // by rules that this program does not have
	}
	want, err := d.Command.Wants(in.Contract)
	if err != nil {
		a.v.found(d.Seq, "decision", "its command asks for nothing: %v", err)
		return
	}
	state, err := a.f.held.load(a.said, want)
	if err != nil {
		a.v.found(d.Seq, "decision", "its state cannot be read: %v", err)
		return
	}
	t, err := gate.Step(state, d.Command, in)
	if err != nil {
		a.v.found(d.Seq, "decision", "decided again it is no decision: %v", err)
		return
	}
	got := t.Decision()
	if t.Repeats() {
		a.v.found(d.Seq, "decision", "it says again what seq %d said", got.Seq)
		return
	}
	if !bytes.Equal(encodeDecision(&got), encodeDecision(d)) {
		got.Seq, got.Prev, got.Inputs.Contract = d.Seq, d.Prev, nil
		a.v.found(d.Seq, "decision", "decided again it differs: %s", difference(&got, d))
	}
}

func (a *decider) said(seq uint64) (gate.Decision, error) {
	record, err := a.l.record(seq)
	if err != nil {
		return gate.Decision{}, err
	}
	return decodeRecord(seq, a.v.Realm, record)
}

// compare compares every bucket of the projection with one built anew.
func compare(ctx context.Context, have, want *bbolt.Tx, v *Verification) error {
	for _, name := range projectionBuckets {
		if err := ctx.Err(); err != nil {
			return err
		}
		h, w := have.Bucket(name).Cursor(), want.Bucket(name).Cursor()
		hk, hv := h.First()
		wk, wv := w.First()
		for hk != nil || wk != nil {
			v.Rows++
			c := bytes.Compare(hk, wk)
			switch {
			case wk == nil, hk != nil && c < 0:
				v.found(0, string(name), "%s is not in the ledger", describe(name, hk, hv))
				hk, hv = h.Next()
				continue
			case hk == nil, c > 0:
				v.found(0, string(name), "%s is missing", describe(name, wk, wv))
				wk, wv = w.Next()
				continue
			case !bytes.Equal(hv, wv):
				v.found(0, string(name), "%s differs from the ledger: %s", describe(name, wk, wv), rowDifference(name, hv, wv))
			}
			hk, hv = h.Next()
			wk, wv = w.Next()
		}
	}
	return nil
}

// unchecked returns what is stored without its checksum, whatever that says.
func unchecked(stored []byte) []byte { return stored[:max(0, len(stored)-sealSize)] }

// describe names a row.
func describe(bucket, key, stored []byte) string {
	value := unchecked(stored)
	switch {
	case bytes.Equal(bucket, bucketRuns):
		if r, err := decodeRow[storedRunRow](value); err == nil {
			return fmt.Sprintf("run %q", r.run.ID)
		}
	case bytes.Equal(bucket, bucketOps):
		if o, err := decodeRow[storedOperation](value); err == nil {
			return fmt.Sprintf("operation %q of run %q", o.ID, o.Run)
		}
	case bytes.Equal(bucket, bucketDependencies), bytes.Equal(bucket, bucketWaiting):
		return fmt.Sprintf("dependency %.150q", key)
	case bytes.Equal(bucket, bucketMeta), bytes.Equal(bucket, bucketItems):
		return fmt.Sprintf("%.150q", key)
	}
	return fmt.Sprintf("key %.40x", key)
}

// rowDifference says what differs between two values of a bucket, as they are
// stored.
func rowDifference(bucket, have, want []byte) string {
	have, want = unchecked(have), unchecked(want)
	switch {
	case bytes.Equal(bucket, bucketRuns):
		return decodedDifference[storedRunRow](have, want)
	case bytes.Equal(bucket, bucketOps):
		return decodedDifference[storedOperation](have, want)
	case bytes.Equal(bucket, bucketDependencies):
		return decodedDifference[storedDependency](have, want)
	}
	return fmt.Sprintf("%.100x, want %.100x", have, want)
}

func decodedDifference[S stored[T], T any](have, want []byte) string {
	h, err := decodeRow[S](have)
	if err != nil {
		return err.Error()
	}
	w, err := decodeRow[S](want)
	if err != nil {
		return err.Error()
	}
	return difference(&h, &w)
}

// difference names the first field in which two values of one type differ.
func difference[T any](have, want *T) string {
	if s := fieldDifference("", reflect.ValueOf(have).Elem(), reflect.ValueOf(want).Elem()); s != "" {
		return s
	}
	return "in its bytes alone"
}

func fieldDifference(path string, have, want reflect.Value) string {
	if have.Kind() == reflect.Interface || have.Kind() == reflect.Pointer {
		if have.IsNil() || want.IsNil() || have.Elem().Type() != want.Elem().Type() {
			if have.IsNil() && want.IsNil() {
				return ""
			}
			return fmt.Sprintf("%s is there in one alone", path)
		}
		return fieldDifference(path, have.Elem(), want.Elem())
	}
	if have.Kind() == reflect.Struct && have.NumField() > 0 && have.Type().String() != "time.Time" {
		for i := range have.NumField() {
			name := have.Type().Field(i).Name
			if path != "" {
				name = path + "." + name
			}
			if s := fieldDifference(name, have.Field(i), want.Field(i)); s != "" {
				return s
			}
		}
		return ""
	}
	if h, w := fmt.Sprintf("%v", have), fmt.Sprintf("%v", want); h != w {
		return fmt.Sprintf("%s is %.100q, want %.100q", path, h, w)
	}
	return ""
}

// HashOf returns the hash that the ledger of a store with the id realm has
// when it holds decisions, from seq 1 on: what an engine that keeps no bytes
// would have come to.
func HashOf(realm string, decisions []gate.Decision) (gate.Digest, error) {
	id, err := parseRealm(realm)
	if err != nil {
		return gate.Digest{}, err
	}
	c := newChain(id, tip{})
	for i := range decisions {
		c.add(bindRecord(encodeDecision(&decisions[i]), decisions[i].Prev))
	}
	return c.head.Hash, nil
}
