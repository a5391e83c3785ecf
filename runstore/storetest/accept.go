package storetest

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tollgate/gate"
)

// answered is what the answer function of an Accept was called with.
type answered struct {
	decisions []gate.Decision
	err       error
}

// accepts checks an engine that is a gate.Accepter: what it accepts is seen by
// Load at once and answered once, as Commit would have; what it refuses is not
// answered at all.
func accepts(t *testing.T, mk Make) {
	e, s, _ := begun(t, mk)
	by, ok := e.(gate.Accepter)
	if !ok {
		t.Skip("this engine is no Accepter")
	}
	other, same, _ := begun(t, mk) // the same story, with Commit
	ctx := t.Context()

	answers := make(chan answered, 100)
	answer := func(d []gate.Decision, err error) { answers <- answered{d, err} }
	for _, op := range []gate.OpID{"op1", "op2", "op3"} {
		if err := by.Accept(ctx, answer, step(t, e, s, askFor("r0", op))); err != nil {
			t.Fatal(err)
		}
		// The next one is decided on this one, whether the disk has it or not.
		if state, err := e.Load(ctx, gate.Want{Run: "r0", Op: op}); err != nil || state.Op("r0", op) == nil {
			t.Fatalf("operation %q as Accept returned = %+v, %v, want it there", op, state.Ops, err)
		}
	}
	for _, op := range []gate.OpID{"op1", "op2", "op3"} {
		want, err := other.Commit(ctx, step(t, other, same, askFor("r0", op)))
		if err != nil {
			t.Fatal(err)
		}
		got := <-answers
		if diff := cmp.Diff(got.decisions, want, decisions); got.err != nil || diff != "" {
			t.Errorf("answer about %q, %v (-got +want):\n%s", op, got.err, diff)
		}
	}

	// What repeats is answered as it was.
	again := step(t, e, s, askFor("r0", "op1"))
	if err := by.Accept(ctx, answer, again); err != nil {
		t.Fatal(err)
	}
	if got := <-answers; got.err != nil || len(got.decisions) != 1 || got.decisions[0].Seq != again.Decision().Seq {
		t.Errorf("answer about what repeats = %+v, %v, want seq %d", got.decisions, got.err, again.Decision().Seq)
	}
	if err := by.Accept(ctx, answer); err != nil {
		t.Fatal(err)
	}
	if got := <-answers; got.err != nil || len(got.decisions) != 0 {
		t.Errorf("answer about nothing = %+v, %v, want nothing", got.decisions, got.err)
	}

	stale, good := step(t, e, s, askFor("r0", "op4")), step(t, e, s, startRun("r1"))
	must(t, e, s, askFor("r0", "op5"))
	ended, cancel := context.WithCancel(ctx)
	cancel()
	before := headOf(t, e)
	for _, row := range []struct {
		name  string
		ctx   context.Context
		chain []gate.Transition
		want  error // nil: any
	}{
		{"one that is stale", ctx, []gate.Transition{stale}, gate.ErrConflict},
		{"one that is stale behind a good one", ctx, []gate.Transition{good, stale}, gate.ErrConflict},
		{"a zero transition", ctx, []gate.Transition{{}}, nil},
		{"a zero transition behind a good one", ctx, []gate.Transition{good, {}}, nil},
		{"a context that has ended", ended, []gate.Transition{good}, context.Canceled},
	} {
		if err := by.Accept(row.ctx, answer, row.chain...); err == nil || (row.want != nil && !errors.Is(err, row.want)) {
			t.Errorf("accept of %s = %v, want %v", row.name, err, row.want)
		}
		if state, err := e.Load(ctx, gate.Want{Run: "r0", Op: "op4"}, gate.Want{Run: "r1"}); err != nil || len(state.Ops) > 0 || len(state.Runs) > 1 {
			t.Errorf("after an accept of %s: %+v, %v, want as before", row.name, state, err)
		}
	}
	if diff := cmp.Diff(headOf(t, e), before); diff != "" {
		t.Errorf("head (-after +before):\n%s", diff)
	}
	// Answers leave in order: whatever came before this one has been given.
	must(t, e, s, startRun("r1"))
	if n := len(answers); n > 0 {
		t.Errorf("%d answers too many: %+v", n, <-answers)
	}
}
