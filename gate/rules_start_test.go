package gate

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// R-B1: a run has one budget, with limits of its own or of a named policy; an
// error names the limit that is missing, and no number is built in.
func TestRB1OneBudgetFromExplicitLimits(t *testing.T) {
	w := emptyWorld(t)
	all := limits(4, 2, time.Minute)
	w.policy(func(p *Policy) { p.Limits = Limits{} })
	w.change(func(k *Contract) {
		half := *Starter()
		half.Limits = Limits{Attempts: all.Attempts, Deadline: all.Deadline}
		k.Policies["half"] = &half
	})
	ms, s, zero, none := time.Millisecond, time.Second, int64(0), int64(-1)
	tooMany, tooLong, negative := int64(MaxCount+1), MaxDeadline+time.Millisecond, -time.Second
	tooDear := int64(MaxTokens + 1)
	for _, row := range []struct {
		name   string
		change func(c *Start)
		field  string // of the error; "" for a run
	}{
		{"all limits", func(*Start) {}, ""},
		{"no limits", func(c *Start) { c.Limits = Limits{} }, "limits.attempts"},
		{"no attempts", func(c *Start) { c.Limits.Attempts = nil }, "limits.attempts"},
		{"no deadline", func(c *Start) { c.Limits.Deadline = nil }, "limits.deadline"},
		{"no side effects", func(c *Start) { c.Limits.SideEffects = nil }, "limits.side_effects"},
		{"the rest from a policy", func(c *Start) { c.Policy, c.Limits = "half", Limits{SideEffects: all.SideEffects} }, ""},
		{"its own over the policy's", func(c *Start) { c.Policy, c.Limits.Attempts = "half", ptr[int64](3) }, ""},
		{"a policy that lacks one", func(c *Start) { c.Policy, c.Limits = "half", Limits{} }, "limits.side_effects"},
		{"no attempt at all", func(c *Start) { c.Limits.Attempts = &zero }, "limits.attempts"},
		{"too many attempts", func(c *Start) { c.Limits.Attempts = &tooMany }, "limits.attempts"},
		{"no side effect", func(c *Start) { c.Limits.SideEffects = &zero }, ""},
		{"fewer than none", func(c *Start) { c.Limits.SideEffects = &none }, "limits.side_effects"},
		{"too many side effects", func(c *Start) { c.Limits.SideEffects = &tooMany }, "limits.side_effects"},
		{"a deadline now", func(c *Start) { c.Limits.Deadline = new(time.Duration) }, "limits.deadline"},
		{"the shortest deadline", func(c *Start) { c.Limits.Deadline = &ms }, ""},
		{"too long", func(c *Start) { c.Limits.Deadline = &tooLong }, "limits.deadline"},
		{"a reserve", func(c *Start) { c.Limits.Reserve = &s }, ""},
		{"a negative reserve", func(c *Start) { c.Limits.Reserve = &negative }, "limits.reserve"},
		{"nothing but reserve", func(c *Start) { c.Limits.Reserve = c.Limits.Deadline }, "limits.reserve"},
		{"no token", func(c *Start) { c.Limits.RetryTokens = &zero }, ""},
		{"negative tokens", func(c *Start) { c.Limits.RetryTokens = &none }, "limits.retry_tokens"},
		{"too many tokens", func(c *Start) { c.Limits.RetryTokens = &tooDear }, "limits.retry_tokens"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := Start{Actor: agent, Run: RunID(w.id()), Agent: "main", Limits: all}
			row.change(&c)
			_, err := w.try(c)
			if row.field != "" {
				names(t, err, row.field)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			w.run = c.Run
			b := w.header().Budget
			most := int64(4) // of the policy
			if c.Limits.Attempts != nil {
				most = *c.Limits.Attempts
			}
			equal(t, "attempts", b.MaxAttempts, most)
			equal(t, "started", b.Started, w.now)
			equal(t, "tokens limited", b.TokensLimited, c.Limits.RetryTokens != nil)
		})
	}
	if _, err := w.try(Start{Actor: agent, Run: "none", Policy: "absent"}); err == nil {
		t.Error("a policy that the contract lacks is accepted")
	}
}

// R-B2: starting a run that exists returns its budget as it stands; other
// limits are a conflict and change nothing.
func TestRB2StartingAgainFindsTheSameBudget(t *testing.T) {
	w := emptyWorld(t)
	mine := limits(4, 2, time.Minute)
	first := w.start("r1", mine, Cap{Agent: "main/a", Attempts: 2})
	w.ask("a", "search")
	w.after(time.Second)
	before := w.header()
	for _, row := range []struct {
		name     string
		again    Start
		conflict bool
	}{
		{"the same limits", Start{Limits: mine, Caps: []Cap{{Agent: "main/a", Attempts: 2}}}, false},
		{"no limits: a child, a queue, a worker", Start{}, false},
		{"another agent", Start{Agent: "main/child"}, false},
		{"more attempts", Start{Limits: limits(5, 2, time.Minute)}, true},
		{"fewer attempts", Start{Limits: limits(3, 2, time.Minute)}, true},
		{"more side effects", Start{Limits: limits(4, 3, time.Minute)}, true},
		{"another deadline", Start{Limits: limits(4, 2, time.Hour)}, true},
		{"without its caps", Start{Limits: mine}, true},
		{"another cap", Start{Limits: mine, Caps: []Cap{{Agent: "main/a", Attempts: 3}}}, true},
		{"a part of the limits", Start{Limits: Limits{Attempts: mine.Attempts}}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			row.again.Actor, row.again.Run = agent, "r1"
			n := len(w.ledger)
			d, err := w.try(row.again)
			if row.conflict {
				fails(t, "start", err, ErrReused)
			} else {
				if err != nil {
					t.Fatal(err)
				}
				equal(t, "seq", d.Seq, first.Seq)
				equal(t, "run", d.Run, "r1")
				equal(t, "budget as it stands", d.After(), before.Budget)
			}
			equal(t, "records", len(w.ledger), n)
			if diff := cmp.Diff(w.header(), before); diff != "" {
				t.Errorf("the run (-got +before):\n%s", diff)
			}
		})
	}
}

// R-B2: a run that a new-run brought is found as it stands, too.
func TestRB2ARunThatWentOnIsFound(t *testing.T) {
	w := newWorld(t)
	w.ask("a", "charge")
	w.fail("a", "timeout")
	w.goOn("a", "r2", limits(3, 3, time.Hour))
	d := w.do(Start{Actor: agent, Run: "r2"})
	equal(t, "run", d.Run, "r2")
	equal(t, "budget", d.After(), w.header().Budget)
	equal(t, "seq", d.Seq, w.header().Opened)
}

// R-B2: the same start finds its run although the contract has changed since.
func TestRB2SameStartAfterTheContractChanged(t *testing.T) {
	zero := time.Duration(0)
	holdsMore := func(p *Policy) {
		tokens, reserve := int64(9), time.Second
		p.Limits = Limits{RetryTokens: &tokens, Reserve: &reserve}
	}
	for _, row := range []struct {
		name   string
		change func(k *Contract)
		again  func(c *Start)
		bad    bool
	}{
		{"nothing has changed", func(*Contract) {}, func(*Start) {}, false},
		{"its policy holds limits now", func(k *Contract) { holdsMore(k.Policies["tight"]) }, func(*Start) {}, false},
		{"its policy is gone", func(k *Contract) { delete(k.Policies, "tight") }, func(*Start) {}, false},
		{
			"its policy is gone, and nothing is asked for", func(k *Contract) { delete(k.Policies, "tight") },
			func(c *Start) { c.Limits, c.Policy = Limits{}, "" }, false,
		},
		{"nothing is asked for but its policy", func(*Contract) {}, func(c *Start) { c.Limits = Limits{} }, false},
		{"the same in other words", func(*Contract) {}, func(c *Start) { c.Limits.Reserve = &zero }, false},
		{"the same in other words, of a policy that is gone", func(k *Contract) { delete(k.Policies, "tight") }, func(c *Start) { c.Limits.Reserve = &zero }, true},
		{"the same limits by another policy that holds more", func(k *Contract) { holdsMore(k.Policies[StarterName]) }, func(c *Start) { c.Policy = "" }, true},
		{"nothing but another policy", func(*Contract) {}, func(c *Start) { c.Limits, c.Policy = Limits{}, StarterName }, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := emptyWorld(t)
			w.change(func(k *Contract) { k.Policies["tight"] = Starter() })
			start := Start{Actor: agent, Run: "r1", Policy: "tight", Limits: limits(3, 3, time.Minute)}
			first := w.do(start)
			w.change(row.change)
			row.again(&start)
			d, err := w.try(start)
			if row.bad {
				fails(t, "start", err, ErrReused)
			} else if err != nil || d.Seq != first.Seq {
				t.Errorf("start = seq %d, %v; want the run of seq %d", d.Seq, err, first.Seq)
			}
		})
	}

	w := newWorld(t) // of the starter policy, by no name and by its own
	start := w.ledger[0].Command.(Start)
	start.Policy = StarterName
	w.policy(holdsMore)
	equal(t, "seq", w.do(start).Seq, 1)
}
