package torture

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"tollgate/api"
	"tollgate/escalation"
	"tollgate/gate"
	"tollgate/runstore"
	"tollgate/runstore/storetest"
)

var (
	cycles = flag.Int("cycles", 10, "kills of the owner under load")
	long   = flag.Bool("long", false, "run the long tests")
)

// The owner of the store is this test binary again: TOLLGATE_TORTURE says how
// it behaves, the arguments where.
const (
	behaves = "TOLLGATE_TORTURE"
	honest  = "honest" // serves on a socket, and answers after the commit
	early   = "early"  // the same, but answers before it, which must be noticed
	inits   = "init"   // makes a store
	works   = "work"   // asks and reports in process, and tells each answer to standard output
)

func TestMain(m *testing.M) {
	if how := os.Getenv(behaves); how != "" {
		if err := own(how, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	os.Exit(m.Run())
}

func own(how string, args []string) error {
	switch how {
	case inits:
		return runstore.Init(args[0], storetest.Realm)
	case works:
		return work(args[0])
	default:
		return serve(how, args[0], args[1])
	}
}

// serve serves the store in dir on a socket until it is killed.
func serve(how, dir, socket string) error {
	ctx := context.Background()
	store, err := runstore.Open(dir, runstore.Options{})
	if err != nil {
		return err
	}
	var engine gate.Engine = store
	if how == early {
		engine = &earlyEngine{store}
	}
	door, err := gate.NewDoor(ctx, engine, storetest.Contract(), wallClock{}, rand.Float64)
	if err != nil {
		return err
	}
	go func() {
		for {
			if _, err := door.Sweep(ctx); err != nil {
				fmt.Fprintln(os.Stderr, "sweep:", err)
			}
			time.Sleep(50 * time.Millisecond)
		}
	}()
	l, err := api.Listen(socket)
	if err != nil {
		return err
	}
	return api.NewServer(door, store, escalation.NewDesk(door, store), api.Options{Store: dir}).Serve(ctx, l)
}

// Of work: as many callers, as many operations each.
const (
	workers   = 4
	workerOps = 12
)

// work sends commands from a few callers and writes a line for each answer.
// After an error it opens the store again, if it must, and sends the same
// command until it gets an answer: what is in the ledger is found by its id.
func work(dir string) error {
	ctx := context.Background()
	store, err := runstore.Open(dir, runstore.Options{})
	if err != nil {
		return err
	}
	var door *gate.Door
	if err := persist(func() (err error) {
		door, err = gate.NewDoor(ctx, store, storetest.Contract(), wallClock{}, rand.Float64)
		return err
	}); err != nil {
		return err
	}
	attempts, effects, deadline := int64(200), int64(100), time.Hour
	var wg sync.WaitGroup
	errs := make([]error, workers)
	for n := range workers {
		wg.Go(func() {
			do := func(c gate.Command) gate.Decision {
				var d gate.Decision
				if errs[n] == nil {
					errs[n] = persist(func() (err error) { d, err = door.Do(ctx, c); return err })
				}
				if errs[n] == nil {
					fmt.Println(c.Act(), d.Run, d.Op, d.Ordinal, d.Verdict)
				}
				return d
			}
			run := gate.RunID(fmt.Sprintf("w%d", n%2))
			do(gate.Start{Run: run, Limits: gate.Limits{Attempts: &attempts, SideEffects: &effects, Deadline: &deadline}})
			for i := range workerOps {
				op := gate.OpID(fmt.Sprintf("op%d-%d", n, i))
				d := do(gate.Ask{Run: run, ID: "a", Op: op, Tool: "put", Input: []byte("{}")})
				if !d.Permit.IsZero() {
					do(gate.Report{Run: run, Op: op, Ordinal: d.Permit.Ordinal, OK: true})
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(append(errs, store.Close())...)
}

// persist calls f until it succeeds; not for ever.
func persist(f func() error) (err error) {
	for range 50 {
		if err = f(); err == nil {
			return nil
		}
		time.Sleep(time.Millisecond)
	}
	return err
}

// wallClock is a clock for a process that lives a fraction of a second.
type wallClock struct{}

var started = time.Now()

func (wallClock) Wall() time.Time        { return time.Now() }
func (wallClock) Elapsed() time.Duration { return time.Since(started) }

// earlyEngine is the fault that the kill test is for: it answers a commit once
// it has been accepted, before it is on disk.
type earlyEngine struct{ gate.Engine } // and no gate.Accepter

func (e *earlyEngine) Commit(ctx context.Context, chain ...gate.Transition) ([]gate.Decision, error) {
	done := make(chan error, 1)
	var out []gate.Decision
	go func() {
		var err error
		out, err = e.Engine.Commit(ctx, chain...)
		done <- err
	}()
	for {
		select {
		case err := <-done:
			return out, err
		default:
		}
		accepted, err := e.accepted(ctx, chain)
		if err != nil {
			return nil, err
		}
		if accepted {
			early := make([]gate.Decision, len(chain))
			for i := range chain {
				early[i] = chain[i].Decision()
			}
			return early, nil
		}
		runtime.Gosched()
	}
}

// accepted reports whether the live state has moved past what the chain read.
func (e *earlyEngine) accepted(ctx context.Context, chain []gate.Transition) (bool, error) {
	for i := range chain {
		for _, read := range chain[i].Reads() {
			if read.Run == "" || chain[i].Repeats() {
				continue
			}
			state, err := e.Load(ctx, gate.Want{Run: read.Run})
			if err != nil {
				return false, err
			}
			r := state.Run(read.Run)
			return r != nil && r.Rev > read.Rev, nil
		}
	}
	return false, nil // nothing to tell by: wait
}
