package gate

import (
	"testing"
	"time"
)

// allowed is a repeat that every step and guard lets pass.
func allowed() *Question {
	q := wrong()
	q.Class, q.Tool.Safety = ClassTransient, SafetyKey
	for _, r := range repairsOf(q) {
		r.mend()
	}
	return q
}

// DecideRetry allocates nothing, whether it permits or stops.
func TestDecideRetryAllocatesNothing(t *testing.T) {
	for _, q := range []*Question{allowed(), wrong()} {
		if n := testing.AllocsPerRun(100, func() { DecideRetry(q) }); n != 0 {
			t.Errorf("%v: %v allocations, want none", DecideRetry(q).Verdict, n)
		}
	}
}

func BenchmarkDecideRetry(b *testing.B) {
	q := allowed()
	b.ReportAllocs()
	for b.Loop() {
		if DecideRetry(q).Verdict != Retry {
			b.Fatal("stopped")
		}
	}
}

// BenchmarkStep is a whole ask of a repeat: Wants, Load, Step and Fold, on a
// state that stays as it was.
func BenchmarkStep(b *testing.B) {
	w := newWorld(b)
	w.ask("a", "pay")
	w.fail("a", "timeout")
	c, in := w.asks("a", "pay"), w.inputs()
	b.ReportAllocs()
	for b.Loop() {
		s, err := w.load(c)
		if err != nil {
			b.Fatal(err)
		}
		t, err := Step(s, c, in)
		if err != nil || t.decision.Verdict != Retry {
			b.Fatal(t.decision.Verdict, err)
		}
		if _, err := Fold(s, t.decision); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStory is a run of its own: a start, and a read that is asked for
// and reported, all applied.
func BenchmarkStory(b *testing.B) {
	var l Live
	w := emptyWorld(b)
	seq := uint64(1)
	do := func(c Command) {
		want, err := c.Wants(w.contract)
		if err != nil {
			b.Fatal(err)
		}
		s, err := l.Load(nil, want)
		if err != nil {
			b.Fatal(err)
		}
		t, err := Step(s, c, w.inputs())
		if err != nil {
			b.Fatal(err)
		}
		written, _, err := l.Advance(seq, t)
		if err != nil {
			b.Fatal(err)
		}
		seq += uint64(len(written))
	}
	most := limits(9, 9, time.Hour)
	b.ReportAllocs()
	for b.Loop() {
		run := RunID(w.id())
		do(Start{Actor: agent, Run: run, Agent: "main", Limits: most})
		do(Ask{Actor: agent, Run: run, ID: "1", Op: "a", Tool: "search", Input: []byte(`{"n":1}`)})
		do(Report{Actor: agent, Run: run, Op: "a", Ordinal: 1, OK: true})
		l.Drop(run)
	}
}
