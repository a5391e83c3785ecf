package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"tollgate/fixtures"
	"tollgate/gate"
	"tollgate/runstore"
	"tollgate/runstore/memstore"
)

// atOnce is how many fixtures play at the same time: each has a store of its
// own, and most of what it does is to wait for the disk.
const atOnce = 8

// playAll plays all fixtures and returns what came of them, in their order.
// Those that play into one store come after each other.
func (r *replay) playAll(ctx context.Context, all []*fixtures.Fixture) ([]*fixtures.Result, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var (
		wg      sync.WaitGroup
		seats   = make(chan struct{}, atOnce)
		results = make([]*fixtures.Result, len(all))
		errs    = make([]error, len(all))
	)
	if r.store != "" {
		seats = make(chan struct{}, 1)
	}
	for i, f := range all {
		seats <- struct{}{}
		wg.Go(func() {
			defer func() { <-seats }()
			errs[i] = safely(func() (err error) {
				results[i], err = r.play(ctx, f)
				return err
			})
			if errs[i] != nil {
				stop()
			}
		})
	}
	wg.Wait()
	// What was stopped because another one failed has nothing to say.
	for _, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			return nil, err
		}
	}
	return results, errors.Join(errs...)
}

// play plays one fixture on the engine that the flags name.
func (r *replay) play(ctx context.Context, f *fixtures.Fixture) (*fixtures.Result, error) {
	switch {
	case r.check:
		return r.onBoth(ctx, f)
	case r.store != "":
		return r.intoStore(ctx, f)
	case r.engine == "bbolt":
		return r.onBolt(ctx, f)
	}
	return inMemory(ctx, f, r.contract)
}

// inMemory plays under a contract, nil for the fixture's own.
func inMemory(ctx context.Context, f *fixtures.Fixture, contract *gate.Contract) (*fixtures.Result, error) {
	store := memstore.New(f.Realm())
	result, err := fixtures.Play(ctx, f, fixtures.Options{Engine: store, Contract: contract})
	if err != nil {
		return nil, err
	}
	// What its ledger would hash to, were it kept as bytes.
	head, err := runstore.HashOf(f.Realm(), store.Decisions())
	if err != nil {
		return nil, err
	}
	result.Ledger.Head = head.String()
	return result, nil
}

func (r *replay) onBolt(ctx context.Context, f *fixtures.Fixture) (result *fixtures.Result, err error) {
	store, err := newThrowaway(f.Realm())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return fixtures.Play(ctx, f, fixtures.Options{Engine: store.Store, Reopen: store.reopen, Contract: r.contract})
}

// onBoth plays on both engines. That their ledgers differ is a difference too.
func (r *replay) onBoth(ctx context.Context, f *fixtures.Fixture) (*fixtures.Result, error) {
	memory, err := inMemory(ctx, f, r.contract)
	if err != nil {
		return nil, fmt.Errorf("on memory: %w", err)
	}
	bolt, err := r.onBolt(ctx, f)
	if err != nil {
		return nil, fmt.Errorf("on bbolt: %w", err)
	}
	if *memory.Ledger != *bolt.Ledger {
		bolt.Differences = append(bolt.Differences, fixtures.Difference{
			Path: "ledger", Want: "the same on both engines: " + ledgerWord(memory.Ledger) + " on memory", Got: ledgerWord(bolt.Ledger) + " on bbolt",
		})
	}
	for _, d := range memory.Differences {
		d.Path = "on memory: " + d.Path
		bolt.Differences = append(bolt.Differences, d)
	}
	bolt.Passed = len(bolt.Differences) == 0
	return bolt, nil
}

func ledgerWord(l *fixtures.LedgerResult) string {
	return fmt.Sprintf("%d records to %s", l.Records, l.Head)
}

// intoStore plays into a store that stays, from now on. Its gate keeps to the
// fixture's contract for as long as the fixture plays.
func (r *replay) intoStore(ctx context.Context, f *fixtures.Fixture) (result *fixtures.Result, err error) {
	store, err := openStore(r.store)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	head, err := store.Head(ctx)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	if start.Before(head.At) {
		start = head.At // a replay before it has moved time ahead
	}
	return fixtures.Play(ctx, f, fixtures.Options{
		Engine: store, Contract: r.contract, Prefix: f.Name + "/", Start: gate.Truncated(start),
	})
}

// throwaway is a store that is removed when it is closed.
type throwaway struct {
	*runstore.Store
	dir string
}

// newThrowaway makes a store with an id.
func newThrowaway(realm string) (*throwaway, error) {
	dir, err := os.MkdirTemp("", "tollgate-")
	if err != nil {
		return nil, fmt.Errorf("throw-away store: %w", err)
	}
	t := &throwaway{dir: dir}
	if err = runstore.Init(t.store(), realm); err == nil {
		t.Store, err = runstore.Open(t.store(), runstore.Options{})
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return t, nil
}

func (t *throwaway) store() string { return filepath.Join(t.dir, "store") }

// reopen closes the store and opens it again, as after a crash.
func (t *throwaway) reopen(context.Context) (gate.Engine, error) {
	if err := t.Store.Close(); err != nil {
		return nil, err
	}
	var err error
	t.Store, err = runstore.Open(t.store(), runstore.Options{})
	return t.Store, err
}

func (t *throwaway) Close() error { return errors.Join(t.Store.Close(), os.RemoveAll(t.dir)) }
