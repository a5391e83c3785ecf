package views

import (
	"strings"

	"tollgate/gate"
)

// The words of the screens. Two are never printed bare: an unknown class is
// "unlisted code", an unknown outcome is "outcome unknown".

// KindWord names a kind of item as screens do.
func KindWord(k gate.Kind) string {
	if k == gate.KindOutcomeUnknown {
		return "outcome unknown"
	}
	return k.String()
}

// ClassWord names a class as screens do.
func ClassWord(c gate.Class) string {
	if c == gate.ClassUnknown {
		return "unlisted code"
	}
	return c.String()
}

// OutcomeWord names an outcome as screens do.
func OutcomeWord(o gate.Outcome) string {
	switch o {
	case gate.OutcomePending:
		return "in flight"
	case gate.OutcomeUnknown:
		return "outcome unknown"
	case gate.OutcomeSucceeded, gate.OutcomeFailed:
	}
	return o.String()
}

// FindingWord names a finding as screens do.
func FindingWord(f gate.Finding) string { return strings.ReplaceAll(f.String(), "-", " ") }

// EndedWord says by which act a resolved item ended, and what was found.
func EndedWord(r *gate.ItemRow) string {
	if r.Finding == gate.FindingNone {
		return r.Ended.String()
	}
	return r.Ended.String() + ": " + FindingWord(r.Finding)
}

// SafetyWord names a tool's retry safety as screens do.
func SafetyWord(s gate.RetrySafety) string {
	if s == gate.SafetyKey {
		return "by idempotency key"
	}
	return s.String()
}

// EffectWord says whether a tool writes, and how safe a repeat is.
func EffectWord(e gate.Effect, s gate.RetrySafety, dot string) string {
	if e != gate.EffectWrite {
		return e.String()
	}
	return e.String() + " " + dot + " retry safety " + SafetyWord(s)
}

// kindLook returns glyph and style of a kind of item.
func (t *Theme) kindLook(k gate.Kind) (string, style) {
	switch k {
	case gate.KindOutcomeUnknown:
		return t.g.unknown, waits
	case gate.KindApproval:
		return t.g.approval, approve
	case gate.KindExhausted:
		return t.g.exhausted, text
	case gate.KindStopped:
		return t.g.halted, text
	}
	return " ", text
}

// verdictStyle colours a verdict.
func verdictStyle(v gate.Verdict) style {
	switch {
	case v.Permits(), v == gate.AlreadyDone, v == gate.Resolved:
		return live
	case v == gate.StopApprovalRequired, v == gate.StopSamePerson:
		return approve
	case v.IsStop(), v == gate.Stale:
		return waits
	}
	return text
}

// stateLook returns glyph, word and style of an operation's state.
func (t *Theme) stateLook(o *gate.OpRow) (glyph, word string, s style) {
	switch o.State {
	case gate.OpWaiting:
		return t.g.flying, "waits to be dispatched", press
	case gate.OpInFlight:
		return t.g.flying, "in flight", live
	case gate.OpHeld:
		g, s := t.kindLook(o.Kind)
		return g, KindWord(o.Kind), s
	case gate.OpSucceeded:
		return t.g.ok, "succeeded", live
	case gate.OpFailed:
		if o.KnownEffect == gate.KnownUnknown {
			return t.g.unknown, "outcome unknown", waits
		}
		if o.Stop.IsStop() {
			return t.g.halted, "stopped", text
		}
		return t.g.fail, "failed", text
	case gate.OpRejected:
		return t.g.halted, "rejected", dim
	case gate.OpUnresolved:
		return t.g.unknown, "unresolved", dim
	case gate.OpSuperseded:
		return t.g.dash, "superseded", dim
	}
	return " ", "", text
}

// attemptLook returns glyph, word and style of an attempt. A finding of a
// person says more than the report did.
func (t *Theme) attemptLook(a *gate.AttemptRow) (glyph, word string, s style) {
	if f := a.Finding; f == gate.FindingHappened || f == gate.FindingDidNotHappen {
		glyph, s = t.findingLook(f)
		return glyph, "found: " + FindingWord(f), s
	}
	switch a.Outcome {
	case gate.OutcomePending:
		return t.g.flying, "in flight", live
	case gate.OutcomeSucceeded:
		return t.g.ok, "succeeded", live
	case gate.OutcomeFailed:
		return t.g.fail, "failed", text
	case gate.OutcomeUnknown:
		return t.g.unknown, "outcome unknown", waits
	}
	return " ", "", text
}

// findingLook returns glyph and style of a finding.
func (t *Theme) findingLook(f gate.Finding) (string, style) {
	switch f {
	case gate.FindingHappened:
		return t.g.ok, live
	case gate.FindingDidNotHappen:
		return t.g.fail, text
	case gate.FindingCannotTell:
		return t.g.unknown, dim
	case gate.FindingNone:
	}
	return " ", text
}

// actorName names somebody, or says that it is the operator.
func actorName(a gate.Actor, me string) string {
	switch {
	case a.ID == me && me != "":
		return "you"
	case a.Name != "":
		return a.Name
	}
	return a.ID
}
