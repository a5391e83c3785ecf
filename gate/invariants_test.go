package gate

import "github.com/google/go-cmp/cmp"

// invariants must hold after every command.
func (w *world) invariants() {
	w.t.Helper()
	charged := map[RunID]Counters{}
	for i := range w.ledger {
		d := &w.ledger[i]
		if d.Seq != uint64(i)+1 {
			w.t.Fatalf("seq = %d, want %d", d.Seq, i+1)
		}
		charged[d.Run] = charged[d.Run].Plus(d.Charge)
	}
	for _, run := range w.live.Runs() {
		if got, want := run.Budget.Spent, charged[run.ID]; got != want {
			w.t.Fatalf("%s: spent = %+v, want what the ledger charged: %+v", run.ID, got, want)
		}
		if b := run.Budget; !run.Overdrawn && (b.Overdrawn() || b.TokensLimited && b.Spent.RetryTokens > b.MaxRetryTokens) {
			w.t.Fatalf("%s: spent %+v past its limits, and not overdrawn", run.ID, b.Spent)
		}
		ops := w.live.Ops(run.ID)
		var want Run
		for i := range ops {
			op := &ops[i]
			w.inOrder(op)
			if !op.Carried {
				want.Operations++
			}
			if last := op.Newest(); last != nil && last.InFlight() && op.NextRun == "" {
				want.InFlight++
			}
			if op.Hold.State == HoldOpen || op.Hold.State == HoldDeadLetter {
				want.OpenItems++
			}
			if op.Hold.State == HoldDeadLetter {
				want.DeadLetters++
			}
		}
		got := Run{Operations: run.Operations, InFlight: run.InFlight, OpenItems: run.OpenItems, DeadLetters: run.DeadLetters}
		if diff := cmp.Diff(got, want); diff != "" {
			w.t.Fatalf("%s: counters (-got +want):\n%s", run.ID, diff)
		}
	}
}

// inOrder looks at one operation: dense ordinals, only the newest attempt in
// flight, and a count of unknown outcomes that is right.
func (w *world) inOrder(op *Operation) {
	w.t.Helper()
	var unknown int64
	for i := range op.Attempts {
		a := &op.Attempts[i]
		if want := op.Permits - int64(len(op.Attempts)-1-i); a.Ordinal != want && len(op.Attempts) < KeptAttempts {
			w.t.Fatalf("%s in %s: ordinal = %d, want %d", op.ID, op.Run, a.Ordinal, want)
		}
		if a.InFlight() && i != len(op.Attempts)-1 {
			w.t.Fatalf("%s in %s: attempt %d is in flight beside a newer one", op.ID, op.Run, a.Ordinal)
		}
		if a.Outcome == OutcomeUnknown {
			unknown++
		}
	}
	if op.Unknowns != unknown {
		w.t.Fatalf("%s in %s: unknown outcomes = %d, want %d", op.ID, op.Run, op.Unknowns, unknown)
	}
	if got := op.Hold.Kind == KindOutcomeUnknown; op.Hold.Waits() && got != (unknown > 0 || op.Hold.Duplicate) {
		w.t.Fatalf("%s in %s: item is %v with %d unknown outcomes (R-P2)", op.ID, op.Run, op.Hold.Kind, unknown)
	}
}

// everything is the whole state of a ledger.
func everything(l *Live) State {
	s := State{Runs: l.Runs(), Deps: l.Deps()}
	for i := range s.Runs {
		s.Ops = append(s.Ops, l.Ops(s.Runs[i].ID)...)
	}
	return s
}

// decideAgain decides every decision again from its command and its inputs, on
// the whole state that the decisions before it fold to, and compares.
func (w *world) decideAgain() {
	if w.t.Failed() {
		return
	}
	var l Live
	for i := range w.ledger {
		d := w.ledger[i]
		t, err := Step(everything(&l), d.Command, d.Inputs)
		if err != nil || t.Repeats() {
			w.t.Fatalf("decided again, decision %d is %v (%v)", d.Seq, t.Decision().Verdict, err)
		}
		again := t.Decision()
		again.Seq, again.Prev = d.Seq, d.Prev
		if diff := cmp.Diff(again, d, cmp.Comparer(sameContract)); diff != "" {
			w.t.Fatalf("decision %d, decided again (-again +first):\n%s", d.Seq, diff)
		}
		if _, err := l.Fold(d); err != nil {
			w.t.Fatal(err)
		}
	}
	if diff := cmp.Diff(everything(&l), everything(&w.live)); diff != "" {
		w.t.Fatalf("state folded from the ledger (-folded +live):\n%s", diff)
	}
}

func sameContract(a, b *Contract) bool { return a == b }
