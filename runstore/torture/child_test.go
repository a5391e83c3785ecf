package torture

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
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
	honest  = "honest" // answers after the commit
	early   = "early"  // answers before it, which must be noticed
)

func TestMain(m *testing.M) {
	if how := os.Getenv(behaves); how != "" {
		if err := own(how, os.Args[1], os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	os.Exit(m.Run())
}

// own serves the store in dir on a socket until it is killed.
func own(how, dir, socket string) error {
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

// wallClock is a clock for a process that lives a fraction of a second.
type wallClock struct{}

var started = time.Now()

func (wallClock) Wall() time.Time        { return time.Now() }
func (wallClock) Elapsed() time.Duration { return time.Since(started) }

// earlyEngine is the fault that the kill test is for: it answers a commit once
// it has been accepted, before it is on disk.
type earlyEngine struct{ *runstore.Store }

func (e *earlyEngine) Commit(ctx context.Context, chain ...gate.Transition) ([]gate.Decision, error) {
	done := make(chan error, 1)
	var out []gate.Decision
	go func() {
		var err error
		out, err = e.Store.Commit(ctx, chain...)
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
			if r := state.Run(read.Run); r == nil || r.Rev <= read.Rev {
				return false, nil
			}
			return true, nil
		}
	}
	return false, nil // nothing to tell by: wait
}
