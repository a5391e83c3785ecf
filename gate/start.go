package gate

import (
	"cmp"
	"slices"
	"strconv"
)

// stepStart starts a run, or finds the one that exists (R-B1, R-B2).
func stepStart(s *State, c Start, in Inputs) (Transition, error) {
	policy, err := in.Contract.Policy(c.Policy)
	asked := limitsDigest(c.Limits, c.Caps)
	if run := s.Run(c.Run); run != nil {
		// Who asks for nothing finds what there is; who asks for the same, or
		// for what comes to the same, too. The contract may have changed since.
		named := policyName(c.Policy) == policyName(run.Policy)
		bare := c.Limits.IsZero() && len(c.Caps) == 0 && (c.Policy == "" || named)
		if bare || (named && asked == run.Limits) || (err == nil && c.comesTo(run, policy)) {
			return foundRun(c, in, run), nil
		}
		return Transition{}, About(ErrReused, "run", c.Run)
	}
	if err != nil {
		return Transition{}, err
	}
	limits := c.Limits.Over(policy.Limits)
	if err := limits.Check(); err != nil {
		return Transition{}, err
	}
	run := &Run{
		ID: c.Run, Root: c.Run, Agent: c.Agent, Policy: c.Policy, Limits: asked,
		Budget: limits.Budget(in.Now), Caps: sortedCaps(c.Caps),
	}
	d := decisionOf(c, in, run)
	d.Verdict, d.NewRun = Recorded, run
	return d.seal([]Read{{Run: c.Run}}), nil
}

// comesTo reports whether the limits and caps asked for are those of a run.
func (c Start) comesTo(run *Run, policy *Policy) bool {
	limits := c.Limits.Over(policy.Limits)
	if limits.Check() != nil {
		return false
	}
	have, want := run.Budget, limits.Budget(run.Budget.Started)
	want.Spent = have.Spent
	caps := slices.Clone(run.Caps)
	for i := range caps {
		caps[i].Spent = 0
	}
	return have == want && slices.Equal(caps, sortedCaps(c.Caps))
}

// policyName is the policy that a run names: none is the starter.
func policyName(name string) string {
	if name == "" {
		return StarterName
	}
	return name
}

// foundRun answers a Start of a run that exists: nothing is written, and the
// budget is the run's as it stands.
func foundRun(c Start, in Inputs, run *Run) Transition {
	d := decisionOf(c, in, run)
	d.Seq, d.Verdict, d.NewRun = run.Opened, Recorded, run
	return Transition{decision: d, repeats: true, sealed: true}
}

// stepEnd closes a run. A second time changes nothing and is on record.
func stepEnd(s *State, c End, in Inputs) (Transition, error) {
	run := s.Run(c.Run)
	if run == nil {
		return Transition{}, About(ErrNoRun, "run", c.Run)
	}
	d := decisionOf(c, in, run)
	d.Verdict = Recorded
	return d.seal([]Read{{Run: run.ID, Rev: run.Rev}}), nil
}

// stepAdopt puts a contract into force.
func stepAdopt(c Adopt, in Inputs) (Transition, error) {
	d := decisionOf(c, in, nil)
	d.Verdict, d.Contract = Recorded, DocumentDigest(c.Document)
	return d.seal(nil), nil
}

// Over returns the limits with what is missing taken from base, as a run takes
// it from its policy (R-B1).
func (l Limits) Over(base Limits) Limits {
	if l.Attempts == nil {
		l.Attempts = base.Attempts
	}
	if l.Deadline == nil {
		l.Deadline = base.Deadline
	}
	if l.Reserve == nil {
		l.Reserve = base.Reserve
	}
	if l.SideEffects == nil {
		l.SideEffects = base.SideEffects
	}
	if l.RetryTokens == nil {
		l.RetryTokens = base.RetryTokens
	}
	return l
}

// limitsDigest is by what the same limits are known again (R-B2).
func limitsDigest(l Limits, caps []Cap) Digest {
	parts := []string{"limits"}
	for _, n := range []*int64{l.Attempts, l.SideEffects, l.RetryTokens, (*int64)(l.Deadline), (*int64)(l.Reserve)} {
		if n == nil {
			parts = append(parts, "none")
		} else {
			parts = append(parts, strconv.FormatInt(*n, 10))
		}
	}
	for _, k := range sortedCaps(caps) {
		parts = append(parts, k.Agent, strconv.FormatInt(k.Attempts, 10))
	}
	return hashParts(parts...)
}

// sortedCaps returns the caps of a new run, by agent, with nothing spent.
func sortedCaps(caps []Cap) []Cap {
	if len(caps) == 0 {
		return nil
	}
	out := slices.Clone(caps)
	for i := range out {
		out[i].Spent = 0
	}
	slices.SortFunc(out, func(a, b Cap) int { return cmp.Compare(a.Agent, b.Agent) })
	return out
}
