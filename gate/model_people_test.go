package gate

import (
	"slices"
	"time"

	"pgregory.net/rapid"
)

// waiting draws an operation whose item waits.
func (m *model) waiting(t *rapid.T) Operation {
	var all []Operation
	for _, run := range m.live.Runs() {
		for _, op := range m.live.Ops(run.ID) {
			if op.Hold.Waits() {
				all = append(all, op)
			}
		}
	}
	if len(all) == 0 {
		t.Skip("nothing waits")
	}
	return all[rapid.IntRange(0, len(all)-1).Draw(t, "item")]
}

func (m *model) by(t *rapid.T, do Act, op Operation) Verb {
	return Verb{
		Actor: rapid.SampledFrom([]Actor{dana, eli}).Draw(t, "who"), Do: do, ID: m.id(), Run: op.Run, Op: op.ID,
		Version: op.Hold.Version, Reason: "because", Evidence: "seen", Until: m.now.Add(time.Minute),
	}
}

// verdictOf is what each failing check means.
var verdictOf = map[string]Verdict{
	"operation": StopTerminal, "run": StopTerminal, "in flight": StopInFlight, "clock": StopClock, "two people": StopSamePerson,
	"1 class": StopPermanentOrUnknown, "2 safe to repeat": StopUnsafeToRepeat, "3 attempts": StopAttemptBudget,
	"4 time": StopTimeBudget, "5 side effects": StopSideEffectBudget, "call limit": StopCallLimit, "cap": StopCap,
	"retry tokens": StopTokenBudget, "retry ratio": StopRetryRatio, "breaker": StopBreakerOpen,
}

func (m *model) approve(t *rapid.T) {
	op := m.waiting(t)
	v := m.by(t, ActApprove, op)
	v.TakeOver = true
	v.AsNewAction = rapid.IntRange(0, 5).Draw(t, "as new") == 0
	if rapid.Bool().Draw(t, "cleared") {
		v.Ruling = RulingCauseCleared
	}
	m.jitter = rapid.Float64Range(0, 0.99).Draw(t, "jitter")
	s, err := m.load(v)
	if err != nil {
		m.t.Fatal(err)
	}
	checks, err := ChecksOf(s, v, m.inputs())
	if err != nil {
		m.t.Fatal(err)
	}
	d := m.send(v)
	m.agrees(checks, d)
	if !d.Verdict.Permits() {
		return
	}
	ref := Ref{op.Run, op.ID}
	if v.AsNewAction {
		m.ops[ref].closed = true
		ref.Op = d.NewOp
	}
	m.permitted(t, d, m.op(ref, op.Tool))
}

// agrees compares what a person was shown with what the gate said.
func (m *model) agrees(checks []Check, d Decision) {
	m.t.Helper()
	i := slices.IndexFunc(checks, func(c Check) bool { return !c.OK })
	switch {
	case d.Verdict == Recorded: // the first of two; the checks are about the second
	case i < 0 && d.Verdict.Permits():
	case i < 0:
		m.t.Fatalf("every check passes, and the verdict is %v", d.Verdict)
	case checks[i].Step == "repair" && (d.Verdict == StopRepeatedRefusal || d.Verdict == StopUnchangedRequest):
	case verdictOf[checks[i].Step] != d.Verdict:
		m.t.Fatalf("the first check that refuses is %q (%s), and the verdict is %v", checks[i].Step, checks[i].Says, d.Verdict)
	}
}

// verb is any other act of a person. Findings are true.
func (m *model) verb(t *rapid.T) {
	op := m.waiting(t)
	do := rapid.SampledFrom([]Act{ActReconcile, ActReconcile, ActReconcile, ActReject, ActClaim, ActRelease, ActNote, ActSnooze}).Draw(t, "do")
	v := m.by(t, do, op)
	ref := Ref{op.Run, op.ID}
	if do == ActReconcile {
		if op.Permits == 0 || op.Effect != EffectWrite {
			t.Skip("no effect to find")
		}
		v.Finding = FindingDidNotHappen
		if m.ops[ref].applied > 0 {
			v.Finding = FindingHappened
		}
		if rapid.IntRange(0, 3).Draw(t, "cannot tell") == 0 {
			v.Finding = FindingCannotTell
		}
	}
	v.TakeOver = rapid.Bool().Draw(t, "take over")
	d := m.send(v)
	if d.Verdict == Resolved && v.Finding != FindingDidNotHappen {
		m.ops[ref].closed = true
	}
}

func (m *model) newRun(t *rapid.T) {
	op := m.waiting(t)
	v := m.by(t, ActNewRun, op)
	v.TakeOver = true
	v.NewRun = RunID(m.id())
	m.begin(v.NewRun, m.someLimits(t))
	v.Limits = m.limitsOf(v.NewRun)
	m.is(m.send(v), Resolved)
	for _, next := range m.live.Ops(v.NewRun) {
		before := m.ops[Ref{v.Run, next.ID}]
		moved := *before
		if !next.Carried { // what is closed stays closed there
			moved.stopped, moved.closed = false, false
		}
		moved.attempts = slices.Clone(before.attempts)
		m.ops[Ref{v.NewRun, next.ID}] = &moved
		before.went, before.closed = true, true
	}
	m.run = v.NewRun
}

func (m *model) end(t *rapid.T) {
	if rapid.IntRange(0, 3).Draw(t, "really") > 0 {
		t.Skip("not yet")
	}
	m.world.end()
	m.runs[m.run].closed = true
}
