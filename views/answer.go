package views

import (
	"strings"
	"time"

	"tollgate/gate"
)

// Answer puts the gate's answer to a verb into one line: the verdict, with the
// numbers that a person wants next. me is the operator's id. It is permission or refusal, and never
// says that something has been done.
func Answer(d gate.DecisionRow, me string, now time.Time) Notice {
	says := []string{d.Verdict.String()}
	switch p := d.Permit; {
	case p != nil:
		says = append(says, "attempt "+itoa(p.Ordinal))
		if p.Op != "" && p.Op != d.Op {
			says = append(says, "of the new action "+string(p.Op))
		}
		says = append(says, "dispatch from "+moment(p.NotBefore.Time, now))
	case d.Verdict == gate.Stale && d.Changed != nil:
		c := d.Changed
		says = append(says, "moved by "+actorName(c.By, me)+" "+ago(now.Sub(c.At.Time))+" ago", c.Act.String()+" got "+c.Verdict.String())
	case d.Verdict.IsStop():
		says = append(says, stopNumbers(d, now)...)
	case d.Verdict == gate.Recorded && d.Act == gate.ActApprove:
		says = append(says, "counted: another person has to approve too")
	case d.NewRun != "":
		says = append(says, "goes on in run "+string(d.NewRun))
	case d.Finding == gate.FindingDidNotHappen:
		says = append(says, "did not happen: the item waits for approve, reject or a new run")
	case d.Finding != gate.FindingNone:
		says = append(says, "finding "+d.Finding.String())
	}
	n := Notice{Text: strings.Join(says, ", ")}
	switch {
	case d.Verdict.IsStop(), d.Verdict == gate.Stale:
		n.Tone = Loud
	case d.Verdict.Permits(), d.Verdict == gate.Resolved, d.Verdict == gate.AlreadyDone:
		n.Tone = Good
	}
	return n
}

// stopNumbers returns the numbers behind a stop.
func stopNumbers(d gate.DecisionRow, now time.Time) []string {
	var says []string
	if b := d.Before; b != nil {
		switch d.Verdict {
		case gate.StopAttemptBudget:
			says = append(says, "attempts "+spent(b.Attempts))
		case gate.StopSideEffectBudget:
			says = append(says, "side effects "+spent(b.SideEffects))
		case gate.StopTimeBudget:
			says = append(says, timeSays(b.Deadline.Sub(now)))
		case gate.StopTokenBudget:
			if b.RetryTokens != nil {
				says = append(says, "retry tokens "+spent(*b.RetryTokens))
			}
		default:
		}
	}
	switch d.Verdict {
	case gate.StopPermanentOrUnknown, gate.StopUnsafeToRepeat, gate.StopRepeatedRefusal, gate.StopUnchangedRequest:
		if d.Code != "" && d.Class != nil {
			says = append(says, string(d.Code)+" is "+ClassWord(*d.Class))
		}
	default:
	}
	if d.Outcome == gate.OutcomeUnknown {
		says = append(says, "outcome unknown")
	}
	if !d.RetryAt.IsZero() {
		says = append(says, "not before "+moment(d.RetryAt.Time, now))
	}
	return says
}

func timeSays(d time.Duration) string {
	if d < 0 {
		return "deadline passed " + ago(-d) + " ago"
	}
	return left(d) + " left"
}
