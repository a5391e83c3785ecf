package runstore_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"tollgate/gate"
	"tollgate/runstore/storetest"
)

// benchClock is the wall clock of a benchmark.
type benchClock struct{ began time.Time }

func (benchClock) Wall() time.Time          { return time.Now() }
func (c benchClock) Elapsed() time.Duration { return time.Since(c.began) }

// BenchmarkDecide is what a caller of the door waits for, in process: load,
// decide, commit. Half of the decisions are asks, half reports. Beside each
// stands the ceiling for the same number of callers: the same record bytes,
// written by one goroutine that takes what waits, with one write and one
// fdatasync for each group, and then a page of 4 KiB with another.
func BenchmarkDecide(b *testing.B) {
	for _, callers := range []int{1, 8, 64, 256} {
		for _, hot := range []bool{false, true} {
			name := fmt.Sprintf("callers=%d/runs=%d", callers, callers)
			if hot {
				name = fmt.Sprintf("callers=%d/runs=1", callers)
			}
			b.Run(name, func(b *testing.B) { benchDecide(b, callers, hot) })
		}
		b.Run(fmt.Sprintf("callers=%d/ceiling", callers), func(b *testing.B) { benchCeiling(b, callers) })
	}
}

func benchDecide(b *testing.B, callers int, hot bool) {
	store, _ := newStore(b)
	contract := storetest.Contract()
	for _, p := range contract.Policies {
		p.RetryRatio, p.Breaker = nil, nil
	}
	door, err := gate.NewDoor(b.Context(), store, contract, benchClock{time.Now()}, func() float64 { return 0.5 })
	if err != nil {
		b.Fatal(err)
	}
	attempts, effects, deadline := int64(1_000_000), int64(1_000_000), 24*time.Hour
	var runs atomic.Int64
	start := func(ctx context.Context) gate.RunID {
		id := gate.RunID(fmt.Sprintf("run-%d", runs.Add(1)))
		_, err := door.Do(ctx, gate.Start{Run: id, Limits: gate.Limits{Attempts: &attempts, SideEffects: &effects, Deadline: &deadline}})
		if err != nil {
			b.Fatal(err)
		}
		return id
	}
	shared := start(b.Context())
	const perRun = 200 // operations, and then a caller goes on with another run
	measure(b, callers, func(ctx context.Context, caller int) func(i int) error {
		run := shared
		return func(i int) error {
			if !hot && i/2%perRun == 0 && i%2 == 0 {
				run = start(ctx)
			}
			op := gate.OpID(fmt.Sprintf("op-%d-%d", caller, i/2))
			if i%2 == 0 {
				_, err := door.Do(ctx, gate.Ask{Run: run, ID: "ask-" + string(op), Op: op, Tool: "put", Input: []byte(`{"order":42,"amount":"12.50"}`)})
				return err
			}
			_, err := door.Do(ctx, gate.Report{Run: run, Op: op, Ordinal: 1, OK: true, Result: "done"})
			return err
		}
	})
	b.StopTimer()
	info, err := store.Head(b.Context())
	if err != nil || info.Seq == 0 {
		b.Fatal(info, err)
	}
}

// benchRecord is the mean size of the records that benchDecide writes.
const benchRecord = 330

func benchCeiling(b *testing.B, callers int) {
	f, err := os.Create(filepath.Join(b.TempDir(), "ceiling"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // of a benchmark's own file
	const size = 1 << 28
	zeros := make([]byte, 1<<20)
	for at := int64(0); at < size; at += int64(len(zeros)) {
		if _, err := f.WriteAt(zeros, at); err != nil {
			b.Fatal(err)
		}
	}
	if err := f.Sync(); err != nil {
		b.Fatal(err)
	}
	requests := make(chan chan error, 4096)
	go func() {
		at := int64(4096)
		page := make([]byte, 4096)
		for first := range requests {
			group := []chan error{first}
			for more := true; more; {
				select {
				case r := <-requests:
					group = append(group, r)
				default:
					runtime.Gosched()
					more = len(requests) > 0
				}
			}
			n := int64(len(group) * benchRecord)
			if at+n > size {
				at = 4096
			}
			_, err := f.WriteAt(zeros[:n], at)
			at += n
			for _, write := range []func() error{
				func() error { return syscall.Fdatasync(int(f.Fd())) },
				func() error { _, err := f.WriteAt(page, 0); return err },
				func() error { return syscall.Fdatasync(int(f.Fd())) },
			} {
				if err == nil {
					err = write()
				}
			}
			for _, r := range group {
				r <- err
			}
		}
	}()
	defer close(requests)
	measure(b, callers, func(context.Context, int) func(int) error {
		done := make(chan error, 1)
		return func(int) error { requests <- done; return <-done }
	})
}

// measure shares b.N calls among callers and reports calls a second and the
// time that 99 of 100 stay below.
func measure(b *testing.B, callers int, caller func(ctx context.Context, n int) func(i int) error) {
	var left atomic.Int64
	left.Store(int64(b.N))
	times := make([][]time.Duration, callers)
	ctx := b.Context()
	b.ResetTimer()
	began := time.Now()
	var wg sync.WaitGroup
	for n := range callers {
		wg.Go(func() {
			call := caller(ctx, n)
			for i := 0; left.Add(-1) >= 0; i++ {
				t := time.Now()
				if err := call(i); err != nil {
					b.Error(err)
					return
				}
				times[n] = append(times[n], time.Since(t))
			}
		})
	}
	wg.Wait()
	took := time.Since(began)
	all := slices.Concat(times...)
	slices.Sort(all)
	b.ReportMetric(float64(len(all))/took.Seconds(), "decisions/s")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(0, "ns/op")
}
