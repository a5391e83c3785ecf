package views

import (
	"time"

	"tollgate/gate"
)

// ReviewView is one item for a person to decide on: the whole contract, and
// what each verb would do now. It is a frozen copy: what is shown is what is
// decided on.
type ReviewView struct {
	Item      gate.ItemRow
	Op        *gate.OpRow      // with every attempt that is kept; nil if it could not be read
	Run       *gate.RunRow     // nil if it could not be read
	Input     string           // that triggered it, as it is kept; empty when only a digest is
	InputSize int              // of the whole, when Input is a beginning; 0 otherwise
	Breaker   *gate.BreakerRow // of the dependency; nil when nothing guards it
	SameCause int64            // open items that share dependency and code, this one included
	Runbook   string           // where to look it up
	Notes     int64
	LastNote  string
	Me        string           // id of the operator
	Route     string           // by which it came here: reconcile, escalate, dead-letter
	Moved     *gate.ChangedRow // set when the item is no longer what is shown
	Gone      bool             // and it no longer waits
	Verbs     []Preview
	Top       int // the first row shown
}

// Preview is a verb, and what the gate would answer if it were decided now:
// the gate's own decision on a copy, not committed.
type Preview struct {
	Key     string // that opens its form
	Do      gate.Act
	AsNew   bool   // approve as a new action
	Off     string // why it can't be pressed; empty when it can
	Verdict gate.Verdict
	Checks  []gate.Check // of an approve, in their order; nil when the gate has none to show
	Before  *gate.BudgetRow
	After   *gate.BudgetRow
}

// verbWords says what a verb does, and what its form asks for.
func verbWords(do gate.Act, asNew bool) (name, says, needs string) {
	switch do {
	case gate.ActReconcile:
		return "reconcile", "say what really happened: happened, did not happen, cannot tell", "evidence, reason"
	case gate.ActApprove:
		if asNew {
			return "as new action", "a new operation with a new key; the risk of a duplicate is yours", "reason, typed"
		}
		return "approve", "the same operation again, under the same key, if the gate lets it", "reason"
	case gate.ActReject:
		return "reject", "closes it and returns the typed outcome to the agent", "reason"
	case gate.ActNewRun:
		return "new run", "limits of its own, linked to this decision; this run's counters stay", "limits, reason"
	case gate.ActClaim:
		return "claim", "a lease on deciding", ""
	case gate.ActRelease:
		return "release", "gives the claim back", ""
	case gate.ActSnooze:
		return "snooze", "hides it for a while", ""
	case gate.ActNote:
		return "note", "for whoever comes next", ""
	case gate.ActAdopt, gate.ActStart, gate.ActAsk, gate.ActReport, gate.ActSweep, gate.ActEnd:
	}
	return do.String(), "", ""
}

// VerbName names a verb as the screens do.
func VerbName(do gate.Act, asNew bool) string {
	name, _, _ := verbWords(do, asNew)
	return name
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
	head, body = newBlock(p.Theme, p.Width, 4), newBlock(p.Theme, p.Width, p.Height)
	head.reviewLine(v, p.Now)
	head.moved(v, p.Now)
	if p.Width < panes {
		body.contract(v, p.Now)
		body.blank(1)
		body.verbs(v, p.Now)
		if len(body.rows) > p.Body()-len(head.rows) {
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

// beside appends two blocks side by side, on least rows at least.
func (b *block) beside(l, r *block, least int) {
	for i := range max(len(l.rows), len(r.rows), least) {
		b.add(l, i)
		b.gap(1)
		b.glyph(faint, b.th.g.split)
		b.gap(1)
		b.add(r, i)
		b.end()
	}
}

// Where the values of a review begin, and its parts.
const reviewAt = 16

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
			if r := &v.Item; r.ClaimID != "" && now.Before(r.ClaimUntil) {
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
		b.put(dim, " "+ago(now.Sub(c.At))+" ago: ")
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
	case v.Breaker == nil:
		b.piece(dim, "no breaker guards it")
	case v.Breaker.State == gate.BreakerClosed:
		b.piece(dim, "breaker closed")
	default:
		said := "breaker " + v.Breaker.State.String()
		if !v.Breaker.Until.IsZero() && now.Before(v.Breaker.Until) {
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
		if budget.Overdrawn {
			b.piece(alarm, "overdrawn")
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
	b.end()

	if o := v.Op; o != nil {
		b.reviewField("key", text, o.Key, 2)
	}
	b.input(v)
	if r.NeedsTwo {
		b.label("approved by")
		b.piece(approve, itoa(int64(r.Approvals))+" of 2")
		b.piece(dim, "two different people, neither of them the asker")
		b.end()
	}
	b.happened(v, now)
	if v.SameCause > 1 {
		b.label("also open")
		b.piece(waits, plural(v.SameCause, "item shares ", "items share ")+r.Dependency+dot+string(r.Code))
		b.end()
	}
	b.reviewField("look it up", press, v.Runbook, 2)
	b.reviewField("note", text, v.LastNote, 4)
}

// input appends the request.
func (b *block) input(v ReviewView) {
	switch {
	case v.Input != "":
		b.reviewField("request", text, v.Input, 4)
		if v.InputSize > len(v.Input) {
			b.reviewField("", dim, Size(v.InputSize)+" in all", 1)
		}
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
	}
	for i := range v.Op.Attempts {
		a := &v.Op.Attempts[i]
		glyph, word, look := b.th.attemptLook(a)
		b.label(label)
		label = ""
		b.piece(dim, moment(a.Permitted, now))
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

// verbs appends what each verb would do now.
func (b *block) verbs(v ReviewView, now time.Time) {
	b.gap(1)
	if d := v.Item.Deadline.Sub(now); d < 0 {
		b.put(waits, "deadline passed "+ago(-d)+" ago")
		b.put(dim, " "+b.th.g.dot+" nothing can be dispatched any more")
	} else {
		b.put(dim, "what each verb would do now")
	}
	b.end()
	for i := range v.Verbs {
		b.verb(&v.Verbs[i])
	}
}

// verbsLine appends the verbs that can be pressed in one row, each with the
// gate's answer in a glyph.
func (b *block) verbsLine(verbs []Preview) {
	b.gap(1)
	for i := range verbs {
		p := &verbs[i]
		name, _, _ := verbWords(p.Do, p.AsNew)
		if p.Off != "" || Width(p.Key)+Width(name)+3 > b.rest() {
			continue
		}
		b.put(press, p.Key)
		b.gap(1)
		switch {
		case p.Verdict.IsStop():
			b.put(dim, name)
			b.gap(1)
			b.glyph(waits, b.th.g.fail)
		case p.Verdict.Permits():
			b.put(text, name)
			b.gap(1)
			b.glyph(live, b.th.g.ok)
		default:
			b.put(text, name)
		}
		b.gap(3)
	}
	b.end()
}

// Where the name of a verb and its words begin.
const (
	verbAt = 3
	saysAt = 18
)

func (b *block) verb(p *Preview) {
	name, says, needs := verbWords(p.Do, p.AsNew)
	key, label := press, strong
	if p.Off != "" {
		key, label = faint, dim
	}
	b.gap(1)
	b.put(key, p.Key)
	b.to(verbAt)
	b.cell(label, name, saysAt-verbAt)
	switch {
	case p.Off != "":
		b.wrapped(saysAt, dim, p.Off)
		return
	case p.Verdict.IsStop():
		b.glyph(waits, b.th.g.fail)
		b.gap(1)
		b.put(waits, p.Verdict.String())
		b.end()
	case p.Verdict.Permits():
		b.glyph(live, b.th.g.ok)
		b.gap(1)
		b.put(live, p.Verdict.String())
		b.end()
	default:
		if needs != "" {
			says += "; needs " + needs
		}
		b.wrapped(saysAt, dim, says)
	}
	b.checks(p)
}

// checks appends the steps of a preview, and the counters before and after.
func (b *block) checks(p *Preview) {
	const step = 18
	for _, c := range p.Checks {
		b.gap(saysAt)
		if c.OK {
			b.glyph(live, b.th.g.ok)
		} else {
			b.glyph(waits, b.th.g.fail)
		}
		b.gap(1)
		look := text
		if c.OK {
			look = dim
		}
		if b.width >= saysAt+2+step+24 {
			b.cell(look, c.Step, step)
			b.wrapped(saysAt+2+step, look, c.Says)
		} else {
			b.wrapped(saysAt+2, look, c.Step+": "+c.Says)
		}
	}
	b.beforeAfter(saysAt, p.Before, p.After)
}

// label begins a row of the contract.
func (b *block) label(s string) {
	b.gap(1)
	b.cell(dim, s, reviewAt-1)
}

// piece appends a part of a row that is made of parts; one that does not fit
// moves to the next row.
func (b *block) piece(s style, txt string) {
	if txt == "" {
		return
	}
	b.flow(func(o *block) { o.put(s, txt) })
}

func (b *block) flow(part func(o *block)) {
	if b.aside == nil {
		b.aside = newBlock(b.th, b.width-reviewAt, 1)
	}
	o := b.aside
	part(o)
	o.end()
	const apart = 3
	switch n := o.rows[0].cells; {
	case b.x <= reviewAt:
	case b.x+apart+n > b.width:
		b.end()
	default:
		b.gap(apart)
	}
	b.to(reviewAt)
	b.join(o)
	o.keep(0)
}

func (b *block) reviewField(label string, s style, value string, rows int) {
	b.fieldAt(1, reviewAt-1, label, s, value, rows)
}

// wrapped appends a text at column at, over as many rows as it takes, and ends
// the row.
func (b *block) wrapped(at int, s style, txt string) {
	for _, line := range wrap(txt, b.width-at, 6, b.th.ascii) {
		b.to(at)
		b.put(s, line)
		b.end()
	}
	if b.x > 0 {
		b.end()
	}
}
