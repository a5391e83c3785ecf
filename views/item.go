package views

import (
	"strconv"
	"time"

	"tollgate/escalation"
	"tollgate/gate"
)

// ReviewView is one item for a person to decide on: the whole contract, and
// what each verb would do now. It is a frozen copy: what is shown is what is
// decided on. ReviewOf makes one of an item.
type ReviewView struct {
	Item      gate.ItemRow
	Op        *gate.OpRow  // with every attempt that is kept; nil if it could not be read
	Run       *gate.RunRow // nil if it could not be read
	First     *gate.Failure
	Last      *gate.Failure
	Input     string           // that triggered it; empty when only a digest is kept
	KeyGiven  bool             // the key is the caller's own
	Asker     gate.ActorRow    // who asked first
	Tokens    int64            // that one repeat costs
	Breaker   *gate.BreakerRow // of the dependency; nil when it is closed or nothing guards it
	SameCause int64            // open items that share dependency and code, this one included
	Approved  []gate.ActorRow  // by whom, so far
	Cause     uint64           // seq of the decision that it answers
	Route     string           // by which it came here: reconcile, escalate, dead-letter
	Runbook   string           // where to look it up
	Notes     int64
	LastNote  string
	Me        string           // id of the operator
	Moved     *gate.ChangedRow // set when the item is no longer what is shown
	Gone      bool             // and it no longer waits
	Verbs     []Preview
	Top       int // the first row shown
}

// ReviewOf returns the review of an item as it was read. me is the operator's
// id. Keys, and why a verb is off, are the caller's to fill in.
func ReviewOf(it *escalation.Item, me string) ReviewView {
	v := ReviewView{
		Item: it.ItemRow, Me: me, First: it.FirstFailure, Last: it.LastFailure, Input: string(it.Input), KeyGiven: it.KeyGiven,
		Asker: it.Asker, Tokens: it.Tokens, SameCause: it.SameCause, Cause: it.Cause, Runbook: it.Runbook, Notes: it.Notes, LastNote: it.LastNote,
		Op: &gate.OpRow{
			Run: it.Run, Op: it.Op, Agent: it.Agent, Path: it.Path, Parent: it.Parent, Tool: it.Tool, Dependency: it.Dependency,
			Effect: it.Effect, RetrySafety: it.RetrySafety, Outcome: it.Effects, Key: it.Key, Digest: it.InputDigest,
			Permits: it.Permits, Attempts: it.Dispatches, Terminal: it.Terminal,
		},
		Run: &gate.RunRow{Run: it.Run, State: it.RunState, Ending: it.Ending, Budget: it.Budget},
	}
	if it.Breaker != gate.BreakerClosed {
		v.Breaker = &gate.BreakerRow{State: it.Breaker, Until: gate.InstantOf(it.BreakerUntil)}
	}
	if it.Terminal != nil {
		v.Route = it.Terminal.NextAction.String()
	}
	for _, g := range it.Grants {
		v.Approved = append(v.Approved, g.By)
	}
	for _, r := range reviewVerbs {
		p := Preview{Do: r.do, AsNew: r.asNew}
		if now, ok := it.Preview[r.preview]; ok {
			p.Says, p.Checks, p.Never = now.Says, now.Checks, !now.Possible
			if r.do == gate.ActApprove {
				p.Verdict = now.Verdict
			}
			if now.Verdict.Permits() {
				before, after := now.Before, now.After
				p.Before, p.After = &before, &after
			}
		}
		v.Verbs = append(v.Verbs, p)
	}
	return v
}

// Review draws the screen of one item.
func Review(p Page, v ReviewView) string {
	head, body := p.review(v)
	return p.scrolled(v.Top, head, body)
}

// ReviewScroll returns how many rows a review has below its head, and how many
// of them are seen at once.
func ReviewScroll(p Page, v ReviewView) (rows, seen int) {
	head, body := p.review(v)
	return len(body.rows), p.Body() - len(head.rows)
}

// review returns the rows of a review that stay, and those that scroll.
func (p Page) review(v ReviewView) (head, body *block) {
	const panes = 120
	if v.Moved != nil || v.Gone { // what is shown is not what would be decided on
		off := make([]Preview, len(v.Verbs))
		for i, verb := range v.Verbs {
			off[i] = Preview{Key: verb.Key, Do: verb.Do, AsNew: verb.AsNew, Off: "the item has moved on"}
		}
		v.Verbs = off
	}
	head, body = newBlock(p.Theme, p.Width, 4), newBlock(p.Theme, p.Width, p.Height)
	head.reviewLine(v, p.Now)
	head.moved(v, p.Now)
	if p.Width < panes {
		body.contract(v, p.Now)
		body.blank(1)
		body.verbs(v, p.Now)
		if len(body.rows) > p.Body()-len(head.rows) && v.Moved == nil && !v.Gone {
			head.verbsLine(v.Verbs)
		}
		return head, body
	}
	head.rule()
	contract := newBlock(p.Theme, p.Width*52/100, p.Height)
	contract.contract(v, p.Now)
	verbs := newBlock(p.Theme, p.Width-contract.width-3, p.Height)
	verbs.verbs(v, p.Now)
	body.beside(contract, verbs, p.Body()-len(head.rows))
	return head, body
}

// reviewLine says what the item is, who holds it and its version.
func (b *block) reviewLine(v ReviewView, now time.Time) {
	glyph, look := b.th.kindLook(v.Item.Kind)
	b.ends(2,
		func(o *block, level int) {
			if level < 2 {
				o.put(dim, "review ")
			}
			o.put(strong, string(v.Item.ID))
			o.gap(2)
			o.glyph(look, glyph)
			o.gap(1)
			o.put(look, KindWord(v.Item.Kind))
			if v.Item.State != gate.HoldOpen {
				o.gap(2)
				o.put(dim, v.Item.State.String())
			}
		},
		func(o *block, level int) {
			if r := &v.Item; r.ClaimID != "" && now.Before(r.ClaimUntil.Time) {
				who := r.ClaimBy
				if r.ClaimID == v.Me {
					who = "you"
				}
				if level < 1 {
					o.put(dim, "claimed by ")
				}
				o.put(text, who)
				o.put(dim, ", "+ago(r.ClaimUntil.Sub(now))+" left")
				o.gap(2)
			}
			o.put(dim, "v")
			o.integer(dim, v.Item.Version)
		},
	)
}

// moved says that the item is no longer what is shown.
func (b *block) moved(v ReviewView, now time.Time) {
	if v.Moved == nil && !v.Gone {
		return
	}
	b.gap(1)
	b.own(alarm, "moved on", 8)
	if c := v.Moved; c != nil {
		b.put(text, "  "+c.Act.String())
		b.put(dim, " by ")
		b.put(text, actorName(c.By))
		b.put(dim, " "+ago(now.Sub(c.At.Time))+" ago: ")
		b.put(verdictStyle(c.Verdict), c.Verdict.String())
	}
	b.end()
	b.gap(1)
	if v.Gone {
		b.put(waits, "It no longer waits. What is below is what was shown; verbs are off.")
	} else {
		b.put(waits, "What is below is what was shown; verbs are off. ")
		b.put(press, "u")
		b.put(waits, " loads what is there now.")
	}
	b.end()
}

func actorName(a gate.ActorRow) string {
	if a.Name != "" {
		return a.Name
	}
	return a.ID
}

// contract appends everything that an item carries (R-P1).
func (b *block) contract(v ReviewView, now time.Time) {
	r := &v.Item
	dot := " " + b.th.g.dot + " "

	b.label("operation")
	b.piece(strong, string(r.Op))
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
	b.piece(text, string(r.Run))
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
	if r.Verdict != 0 {
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
	if v.SameCause > 1 {
		b.label("also open")
		b.piece(waits, plural(v.SameCause, "item shares ", "items share ")+r.Dependency+dot+string(r.Code))
		b.end()
	}
	b.reviewField("look it up", press, v.Runbook, 2)
	b.reviewField("note", text, v.LastNote, 4)
}

// approvals appends who asked, and who has approved so far.
func (b *block) approvals(v ReviewView) {
	if v.Asker.ID != "" {
		b.label("asked by")
		b.piece(text, actorName(v.Asker))
		if v.Asker.Source != "" {
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
	b.piece(approve, itoa(int64(v.Item.Approvals))+" of 2")
	for _, a := range v.Approved {
		b.piece(text, actorName(a))
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
