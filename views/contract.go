package views

import (
	"slices"
	"strconv"
	"time"

	"tollgate/gate"
)

// contract appends everything that an item carries (R-P1).
func (b *block) contract(v ReviewView, now time.Time) {
	r := &v.Item
	dot := " " + b.th.g.dot + " "

	if d := &v.Changed; v.Resolved {
		if v.Answer == nil || v.Answer.Seq != d.Seq { // that has been said above
			b.label("resolved")
			b.decided(d, v.Me, now)
			b.end()
		}
		b.ground(d.Reason, d.Evidence)
	}

	if now.Before(r.Snoozed.Time) {
		b.label("snoozed")
		b.piece(waits, "until "+r.Snoozed.UTC().Format("15:04:05Z")+", for "+ago(r.Snoozed.Sub(now))+" more")
		if past := r.Snoozed.Sub(r.Deadline.Time); past > 0 && now.Before(r.Deadline.Time) {
			b.piece(waits, ago(past)+" after the run's deadline")
		}
		b.end()
	}

	label := "note"
	if who := actorName(v.NoteBy, v.Me); v.LastNote != "" && who != "" {
		b.label(label)
		b.piece(strong, who)
		b.piece(dim, ago(now.Sub(v.NoteAt.Time))+" ago, "+moment(v.NoteAt.Time, now))
		b.end()
		label = ""
	}
	b.reviewField(label, text, v.LastNote, 4)

	b.label("operation")
	b.idPiece(strong, string(r.Op))
	b.piece(text, r.Tool)
	b.piece(dim, EffectWord(r.Effect, r.RetrySafety, b.th.g.dot))
	b.end()

	b.label("depends on")
	b.piece(text, r.Dependency)
	switch {
	case v.Breaker == nil, v.Breaker.State == gate.BreakerClosed:
		b.piece(dim, "breaker closed")
	default:
		said := "breaker " + v.Breaker.State.String()
		if !v.Breaker.Until.IsZero() && now.Before(v.Breaker.Until.Time) {
			said += ", half-open in " + left(v.Breaker.Until.Sub(now))
		}
		b.piece(alarm, said)
	}
	b.end()

	b.label("run")
	b.idPiece(text, string(r.Run))
	b.piece(dim, r.Agent)
	if v.Run != nil {
		_, word, look := b.th.runLook(v.Run)
		b.piece(look, word)
	}
	b.end()
	b.label("budget")
	if d := r.Deadline.Sub(now); d >= 0 {
		b.piece(text, "deadline in "+left(d))
	} else {
		b.piece(waits, "deadline passed "+ago(-d)+" ago")
	}
	b.piece(spentStyle(r.Attempts), "attempts "+spent(r.Attempts))
	if v.Run != nil {
		budget := &v.Run.Budget
		b.piece(spentStyle(budget.SideEffects), "side effects "+spent(budget.SideEffects))
		if budget.RetryTokens != nil {
			b.piece(spentStyle(*budget.RetryTokens), "retry tokens "+spent(*budget.RetryTokens))
		}
		if budget.ReserveMS > 0 {
			b.piece(dim, "reserve "+took(time.Duration(budget.ReserveMS)*time.Millisecond))
		}
		if v.Tokens > 0 {
			b.piece(dim, "a repeat costs "+string(appendCount(nil, v.Tokens))+" tokens")
		}
	}
	b.end()

	b.label("stopped by")
	if r.Verdict.IsStop() {
		b.piece(verdictStyle(r.Verdict), r.Verdict.String())
	}
	if r.Code != "" {
		b.piece(text, string(r.Code))
		b.piece(dim, ClassWord(r.Class))
	}
	if r.Kind == gate.KindOutcomeUnknown || r.Outcome == gate.OutcomeUnknown {
		b.piece(waits, "outcome unknown")
	}
	if r.Duplicate {
		b.piece(alarm, "may have been done twice")
	}
	if v.Route != "" {
		b.piece(dim, "route "+v.Route)
	}
	if v.Cause > 0 {
		b.piece(dim, "decision "+strconv.FormatUint(v.Cause, 10))
	}
	b.end()

	if o := v.Op; o != nil {
		b.label("key")
		b.piece(text, o.Key)
		if v.KeyGiven {
			b.piece(dim, "the caller's own")
		}
		b.end()
	}
	b.input(v)
	b.approvals(v)
	b.happened(v, now)
	b.found(v, now)
	if v.SameCause > 1 {
		b.label("also open")
		what := r.Dependency
		if r.Code != "" {
			what += dot + string(r.Code)
		}
		b.piece(waits, plural(v.SameCause, "item shares ", "items share ")+what)
		b.end()
	}
	b.reviewField("look it up", press, v.Runbook, 2)
}

// approvals appends who asked, and who has approved so far.
func (b *block) approvals(v ReviewView) {
	if v.Asker.ID != "" {
		b.label("asked by")
		agent, who := v.Item.Agent, text
		if agent != "" { // several agents can ask under one identity
			b.piece(text, agent)
			who = dim
		}
		if name := actorName(v.Asker, v.Me); name != agent {
			b.piece(who, name)
		}
		switch {
		case v.Asker.Source == "":
		case v.Asker.ID == agent:
			b.piece(dim, "known by "+v.Asker.Source)
		default:
			b.piece(dim, v.Asker.ID+", known by "+v.Asker.Source)
		}
		if v.Op != nil && v.Op.Path != gate.PathModel {
			b.piece(dim, "path "+v.Op.Path.String())
		}
		if v.Op != nil && v.Op.Parent != "" {
			b.piece(dim, "for "+string(v.Op.Parent))
		}
		b.end()
	}
	if !v.Item.NeedsTwo {
		return
	}
	b.label("approved by")
	b.piece(approve, itoa(int64(len(v.Item.Approvals)))+" of 2")
	for _, a := range v.Approved {
		b.piece(text, actorName(a, v.Me))
	}
	b.piece(dim, "two different people, neither of them the asker")
	b.end()
}

// input appends the request.
func (b *block) input(v ReviewView) {
	switch {
	case v.Input != "":
		b.reviewField("request", text, v.Input, 4)
	case v.Op != nil && v.Op.Digest != "":
		b.reviewField("request", dim, v.Op.Digest+", only the digest is kept", 2)
	default:
		b.reviewField("request", dim, "none was given", 1)
	}
}

// happened appends every attempt, each with its own times and error.
func (b *block) happened(v ReviewView, now time.Time) {
	if v.Op == nil || len(v.Op.Attempts) == 0 {
		b.reviewField("what happened", dim, "it has never been dispatched", 1)
		return
	}
	label := "what happened"
	if older := v.Op.Permits - int64(len(v.Op.Attempts)); older > 0 {
		b.reviewField(label, dim, plural(older, "older attempt", "older attempts")+", in the ledger only", 1)
		label = ""
		if v.First != nil {
			b.reviewField("", text, "the first failure was "+string(v.First.Code), 1)
			b.reviewField("", dim, v.First.Message, 2)
		}
	}
	for i := range v.Op.Attempts {
		a := &v.Op.Attempts[i]
		glyph, word, look := b.th.attemptLook(a)
		b.label(label)
		label = ""
		b.piece(dim, moment(a.Permitted.Time, now))
		b.piece(text, "attempt "+itoa(a.Ordinal))
		b.flow(func(o *block) {
			o.glyph(look, glyph)
			o.gap(1)
			o.put(look, word)
		})
		if a.Failure != nil {
			said := string(a.Failure.Code)
			if d := attemptTook(a, now); d >= 0 {
				said += " after " + took(d)
			}
			b.piece(text, said)
			if a.Class != nil {
				b.piece(dim, ClassWord(*a.Class))
			}
			if a.Refused {
				b.piece(dim, "refused before it ran")
			}
			if a.Failure.Status != "" {
				b.piece(dim, "status "+a.Failure.Status)
			}
		}
		if a.Inner > 1 {
			b.piece(waits, plural(a.Inner, "attempt", "attempts")+" inside")
		}
		b.end()
		if f := a.Failure; f != nil {
			b.reviewField("", dim, f.Message, 3)
			b.reviewField("", dim, f.Suggest, 2)
		}
	}
}

// found appends what people found out about the attempts and what else they
// last changed: each decision once, with what they wrote.
func (b *block) found(v ReviewView, now time.Time) {
	var said []uint64 // decisions
	if v.Resolved {
		said = append(said, v.Changed.Seq)
	}
	for _, f := range v.Findings {
		glyph, look := b.th.findingLook(f.Finding)
		b.label("found")
		b.piece(text, "attempt "+itoa(f.Ordinal))
		b.flow(func(o *block) {
			o.glyph(look, glyph)
			o.gap(1)
			o.put(look, FindingWord(f.Finding))
		})
		fresh := !slices.Contains(said, f.Seq)
		if f.Seq == 0 { // the ledger is too long to look it up
			b.end()
			continue
		}
		if fresh {
			b.piece(text, "by "+actorName(f.By, v.Me))
			b.piece(dim, ago(now.Sub(f.At.Time))+" ago, "+moment(f.At.Time, now))
		}
		b.piece(dim, "decision "+strconv.FormatUint(f.Seq, 10))
		b.end()
		if fresh {
			b.ground(f.Reason, f.Evidence)
			said = append(said, f.Seq)
		}
	}
	if d := &v.Changed; d.Act.IsVerb() && !slices.Contains(said, d.Seq) {
		b.label("changed")
		b.decided(d, v.Me, now)
		b.end()
		b.ground(d.Reason, d.Evidence)
	}
}

// ground appends what a person wrote with a decision.
func (b *block) ground(reason, evidence string) {
	b.reviewField("because", text, reason, 4)
	b.reviewField("evidence", text, evidence, 4)
}
