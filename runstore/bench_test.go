package runstore_test

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"tollgate/gate"
	"tollgate/runstore"
)

// roundTime is how long one side is measured before the other one's turn.
const roundTime = 300 * time.Millisecond

// BenchmarkCommit compares the gate with what the disk allows. Callers ask for
// a permit and report its success, each its own operations, through the door
// of a store: on a run of its own each, or all on one. A caller sends its next
// command when it has its answer.
//
// Beside it stands the ceiling: as many callers, which have the same records
// written. The two take turns, since what a disk and a shared machine can do
// changes from second to second; so the ratios are the result. An iteration is
// one round of each; a round of the gate ends when the projection has taken in
// all of it. The metrics are medians of the rounds:
//
//	decisions/s, p99-ms  the gate's
//	ceiling/s, c99-ms    the ceiling's
//	share                decisions/s over ceiling/s
//	p99-ratio            p99-ms over c99-ms
//	cpu-us               CPU time of a decision, the projection's part too
func BenchmarkCommit(b *testing.B) {
	for _, c := range []struct {
		callers int
		oneRun  bool
	}{{1, false}, {8, false}, {64, false}, {256, false}, {8, true}, {64, true}, {256, true}} {
		runs := "own"
		if c.oneRun {
			runs = "one"
		}
		b.Run(fmt.Sprintf("callers=%d/runs=%s", c.callers, runs), func(b *testing.B) { benchCommit(b, c.callers, c.oneRun) })
	}
}

// BenchmarkCommitCPU is the processor time of a decision, from the caller to
// the projection. It does not depend on what the disk does, nor much on what
// else the machine is doing; TMPDIR on a file system in memory leaves the disk
// out. An iteration is one decision.
func BenchmarkCommitCPU(b *testing.B) {
	for _, runs := range []string{"own", "one"} {
		for _, callers := range []int{64, 256} {
			b.Run(fmt.Sprintf("callers=%d/runs=%s", callers, runs), func(b *testing.B) {
				g := newBenchGate(b)
				ids := g.start(b, callers, runs == "one")
				each := (b.N + callers - 1) / callers
				b.ReportAllocs()
				b.ResetTimer()
				r := measure(b, callers, func(i int, _ time.Duration) bool { return i < each }, g.caller(b, ids),
					func() error { return settle(b, g.store) })
				b.StopTimer()
				b.ReportMetric(r.cpu, "cpu-us")
				g.end(b, ids)
			})
		}
	}
}

// round is what one side did in one turn.
type round struct {
	rate float64 // calls a second
	p99  float64 // milliseconds
	cpu  float64 // microseconds of the process a call
}

func benchCommit(b *testing.B, callers int, oneRun bool) {
	g, c := newBenchGate(b), newCeiling(b)
	_, records := g.round(b, callers, oneRun) // warms up
	var gates, ceilings []round
	for first := true; b.Loop(); first = !first {
		if first {
			ceilings = append(ceilings, c.round(b, callers, records))
		}
		one, written := g.round(b, callers, oneRun)
		gates, records = append(gates, one), written
		if !first {
			ceilings = append(ceilings, c.round(b, callers, records))
		}
	}
	report := func(unit string, each func(gate, ceiling round) float64) {
		all := make([]float64, len(gates))
		for i := range all {
			all[i] = each(gates[i], ceilings[i])
		}
		slices.Sort(all)
		b.ReportMetric((all[(len(all)-1)/2]+all[len(all)/2])/2, unit)
	}
	report("decisions/s", func(g, _ round) float64 { return g.rate })
	report("p99-ms", func(g, _ round) float64 { return g.p99 })
	report("ceiling/s", func(_, c round) float64 { return c.rate })
	report("c99-ms", func(_, c round) float64 { return c.p99 })
	report("share", func(g, c round) float64 { return g.rate / c.rate })
	report("p99-ratio", func(g, c round) float64 { return g.p99 / c.p99 })
	report("cpu-us", func(g, _ round) float64 { return g.cpu })
	b.ReportMetric(0, "ns/op") // says nothing: a round lasts as long as it is told to
}

// benchGate is a store and its door.
type benchGate struct {
	store *runstore.Store
	door  *gate.Door
	runs  int // that were started
}

// benchClock is the real clock.
type benchClock struct{ began time.Time }

func (benchClock) Wall() time.Time          { return time.Now() }
func (c benchClock) Elapsed() time.Duration { return time.Since(c.began) }

func newBenchGate(b *testing.B) *benchGate {
	b.Helper()
	store, _ := newStore(b)
	contract := gate.NewContract()
	contract.Tools = map[string]*gate.Tool{
		"put": {Effect: gate.EffectWrite, Safety: gate.SafetyIdempotent, Dependency: "orders", Timeout: time.Second},
	}
	door, err := gate.NewDoor(b.Context(), store, contract, benchClock{time.Now()}, func() float64 { return 0.5 })
	if err != nil {
		b.Fatal(err)
	}
	return &benchGate{store: store, door: door}
}

// round measures the gate for roundTime on new runs, which it ends again, and
// returns the records of what was measured.
func (g *benchGate) round(b *testing.B, callers int, oneRun bool) (r round, records [][]byte) {
	b.Helper()
	runs := g.start(b, callers, oneRun)
	head, err := g.store.Head(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	r = measure(b, callers, forRoundTime, g.caller(b, runs), func() error { return settle(b, g.store) })
	records, err = g.store.RecordsAfter(b.Context(), head.Seq)
	if err != nil {
		b.Fatal(err)
	}
	g.end(b, runs)
	return r, records
}

// start starts a run for each caller, or one for all.
func (g *benchGate) start(b *testing.B, callers int, oneRun bool) []gate.RunID {
	b.Helper()
	attempts, deadline := int64(gate.MaxCount), time.Hour
	limits := gate.Limits{Attempts: &attempts, SideEffects: &attempts, Deadline: &deadline}
	runs := make([]gate.RunID, callers)
	if oneRun {
		runs = runs[:1]
	}
	for i := range runs {
		g.runs++
		runs[i] = gate.RunID("run-" + strconv.Itoa(g.runs))
	}
	g.each(b, runs, func(id gate.RunID) gate.Command { return gate.Start{Run: id, Agent: "agent", Limits: limits} })
	return runs
}

// end ends runs, and returns when the projection has taken in all of it.
func (g *benchGate) end(b *testing.B, runs []gate.RunID) {
	b.Helper()
	g.each(b, runs, func(id gate.RunID) gate.Command { return gate.End{Run: id} })
	if err := settle(b, g.store); err != nil {
		b.Fatal(err)
	}
}

// caller returns what the n-th caller calls: asks for permits and reports of
// their success by turns.
func (g *benchGate) caller(b *testing.B, runs []gate.RunID) func(n int) func(i int) error {
	input := []byte(`{"order":42,"amount":"12.50"}`)
	return func(n int) func(i int) error {
		run, prefix := runs[n%len(runs)], "op-"+strconv.Itoa(n)+"-"
		return func(i int) (err error) {
			op := gate.OpID(prefix + strconv.Itoa(i/2))
			if i%2 == 0 {
				_, err = g.door.Do(b.Context(), gate.Ask{Run: run, ID: string(op), Op: op, Tool: "put", Input: input})
			} else {
				_, err = g.door.Do(b.Context(), gate.Report{Run: run, Op: op, Ordinal: 1, OK: true, Result: "stored"})
			}
			return err
		}
	}
}

// settle returns when the projection has taken in everything: reads wait for
// that.
func settle(b *testing.B, s *runstore.Store) error {
	b.Helper()
	_, err := s.Counts(b.Context())
	return err
}

// each sends a command for every run, all at once.
func (g *benchGate) each(b *testing.B, runs []gate.RunID, command func(gate.RunID) gate.Command) {
	b.Helper()
	var wg sync.WaitGroup
	for _, id := range runs {
		wg.Go(func() {
			if _, err := g.door.Do(b.Context(), command(id)); err != nil {
				b.Error(err)
			}
		})
	}
	wg.Wait()
}

// round measures the ceiling on records that the gate has written.
func (c *ceiling) round(b *testing.B, callers int, records [][]byte) round {
	b.Helper()
	return measure(b, callers, forRoundTime, func(caller int) func(i int) error {
		done := make(chan error, 1)
		return func(i int) error {
			c.requests <- ceilingRequest{records[(i*callers+caller)%len(records)], done}
			return <-done
		}
	}, func() error { return nil })
}

// forRoundTime reports whether a caller calls again.
func forRoundTime(_ int, took time.Duration) bool { return took < roundTime }

// measure lets callers call, each again when its call has returned, as long as
// more says so of its calls so far and the time that they took; and then after,
// which belongs to that time.
func measure(b *testing.B, callers int, more func(i int, took time.Duration) bool, caller func(n int) func(i int) error, after func() error) round {
	b.Helper()
	runtime.GC() // what one side leaves behind is not the other's
	times := make([][]time.Duration, callers)
	var wg sync.WaitGroup
	began, cpu := time.Now(), cpuTime(b)
	for n := range callers {
		call := caller(n)
		wg.Go(func() {
			now := began
			for i := 0; more(i, now.Sub(began)); i++ {
				if err := call(i); err != nil {
					b.Error(err)
					return
				}
				then := now
				now = time.Now()
				times[n] = append(times[n], now.Sub(then))
			}
		})
	}
	wg.Wait()
	if err := after(); err != nil {
		b.Fatal(err)
	}
	took, cpu := time.Since(began), cpuTime(b)-cpu
	all := slices.Concat(times...)
	if len(all) == 0 {
		b.Fatal("nothing was called")
	}
	slices.Sort(all)
	return round{
		rate: float64(len(all)) / took.Seconds(),
		p99:  float64(all[len(all)*99/100].Microseconds()) / 1000,
		cpu:  float64(cpu.Microseconds()) / float64(len(all)),
	}
}

// cpuTime returns what the process has used.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
