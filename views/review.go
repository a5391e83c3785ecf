package views

import (
	"time"

	"tollgate/escalation"
	"tollgate/gate"
)

// ReviewView is one item for a person to decide on: the whole contract, and
// what each verb would do. It is a frozen copy: what is shown is what is
// decided on. ReviewOf makes one of an item.
type ReviewView struct {
	Item      gate.ItemRow
	Op        *gate.OpRow  // with every attempt that is kept; nil if it could not be read
	Run       *gate.RunRow // nil if it could not be read
	First     *gate.Failure
	Last      *gate.Failure
	Input     string           // that triggered it; empty when only a digest is kept
	KeyGiven  bool             // the key is the caller's own
	Asker     gate.Actor       // who asked first
	Tokens    int64            // that one repeat costs
	Breaker   *gate.BreakerRow // of the dependency; nil when it is closed or nothing guards it
	SameCause int64            // open items that share dependency and code, this one included
	Approved  []gate.Actor     // by whom, so far
	Cause     uint64           // seq of the decision that it answers
	Route     string           // by which it came here: reconcile, escalate, dead-letter
	Findings  []escalation.Finding
	Changed   gate.DecisionRow // its newest change, with what a person wrote
	Runbook   string           // where to look it up
	Notes     int64
	LastNote  string
	NoteBy    gate.Actor
	NoteAt    gate.Instant
	Resolved  bool      // it no longer waits, and Changed is how
	Me        string    // id of the operator
	AsOf      time.Time // when all of this was read; zero is now

	// What has happened since it was read.
	Moved  *gate.DecisionRow // what moved it, when it is no longer what is shown
	Gone   bool              // and it no longer waits
	Answer *gate.DecisionRow // the gate's newest answer to the operator about it; nil for none
	Held   string            // by whom, when that answer is STOP_CLAIMED
	Came   *gate.AttemptRow  // and what became of the attempt that this permitted; nil while that is not known

	Verbs []Preview
	Top   int // the first row shown
}

// ReviewOf returns the review of an item as it was read. me is the operator's
// id. Keys, and why a verb is off, are the caller's to fill in.
func ReviewOf(it *escalation.Item, me string) ReviewView {
	v := ReviewView{
		Item: it.ItemRow, Me: me, First: it.FirstFailure, Last: it.LastFailure, Input: string(it.Input), KeyGiven: it.KeyGiven,
		Asker: it.Asker, Tokens: it.Tokens, SameCause: it.SameCause, Cause: it.Cause, Runbook: it.Runbook, Notes: it.Notes, LastNote: it.LastNote, NoteBy: it.NoteBy, NoteAt: it.NoteAt,
		Findings: it.Findings, Changed: ChangedBy(it.Changed), Resolved: it.State == gate.HoldResolved,
		Op: &gate.OpRow{
			Run: it.Run, Op: it.Op, Agent: it.Agent, Path: it.Path, Parent: it.Parent, Tool: it.Tool, Dependency: it.Dependency,
			Effect: it.Effect, RetrySafety: it.RetrySafety, KnownEffect: it.KnownEffect, Key: it.Key, Digest: it.InputDigest,
			Permits: it.Permits, Attempts: it.Dispatches, Terminal: it.Terminal,
		},
		Run: &gate.RunRow{Run: it.Run, State: it.RunState, Ending: it.Ending, Budget: it.Budget},
	}
	if it.Breaker != gate.BreakerClosed {
		v.Breaker = &gate.BreakerRow{State: it.Breaker, Until: gate.InstantOf(it.BreakerUntil)}
	}
	if it.Route != nil {
		v.Route = it.Route.String()
	}
	for _, g := range it.Approvals {
		v.Approved = append(v.Approved, g.By)
	}
	if v.Resolved {
		v.Verbs = []Preview{{Off: "the item is resolved"}}
		return v
	}
	for _, r := range reviewVerbs {
		p := PreviewOf(it, r.do, r.asNew, r.preview)
		if p.Says != "" && !p.Never && it.Kind == gate.KindOutcomeUnknown && (r.do == gate.ActReject || r.do == gate.ActNewRun) {
			p.Warns = "outcome still unknown: reconcile first"
		}
		if said := it.Preview["reconcile cannot-tell"]; r.do == gate.ActReconcile && said.Verdict == gate.StopClaimed {
			p.Says = said.Says
		}
		v.Verbs = append(v.Verbs, p)
	}
	return v
}

// ChangedBy returns what is known of a decision by what it changed: all but
// its numbers.
func ChangedBy(c gate.ChangedRow) gate.DecisionRow {
	return gate.DecisionRow{Seq: c.Seq, At: c.At, Actor: c.By, Act: c.Act, Verdict: c.Verdict, Reason: c.Reason, Evidence: c.Evidence, Finding: c.Finding}
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

// review returns the rows of a review that stay, and those that scroll. The
// keys of verbs that have a row of their own it takes off the page.
func (p *Page) review(v ReviewView) (head, body *block) {
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
	head.answered(v, p.Now)
	head.moved(v, p.Now)
	if p.Width < panes || v.Resolved {
		body.contract(v, p.Now)
		body.blank(1)
		body.verbs(v, p.Now)
		if off, _ := allOff(v.Verbs); !off {
			head.verbsLine(v.Verbs)
			p.Keys = withoutVerbs(p.Keys, v.Verbs)
		}
		if !p.low() {
			head.rule()
		}
		return head, body
	}
	head.rule()
	contract := newBlock(p.Theme, p.Width*48/100, p.Height)
	contract.contract(v, p.Now)
	verbs := newBlock(p.Theme, p.Width-contract.width-3, p.Height)
	verbs.verbs(v, p.Now)
	body.beside(contract, verbs, p.Body()-len(head.rows))
	return head, body
}

// reviewLine says what the item is, who holds it and its version.
func (b *block) reviewLine(v ReviewView, now time.Time) {
	glyph, look := b.th.kindLook(v.Item.Kind)
	b.ends(3,
		func(o *block, level int) {
			if level < 2 {
				o.put(dim, "review ")
			}
			o.put(strong, string(v.Item.ID))
			o.gap(2 - level/3)
			o.glyph(look, glyph)
			o.gap(1)
			o.put(look, KindWord(v.Item.Kind))
			if v.Item.State != gate.HoldOpen {
				o.gap(2)
				o.put(dim, v.Item.State.String())
			}
		},
		func(o *block, level int) {
			if c := v.Item.Claim; !v.Resolved && c.Holds(now) {
				who := c.By
				if c.ID == v.Me {
					who = "you"
				}
				if level < 1 {
					o.put(dim, "claimed by ")
				}
				o.put(text, who)
				if level < 3 {
					o.put(dim, ", "+ago(c.Until.Sub(now))+" left")
				}
				o.gap(2 - level/3)
			}
			o.put(dim, "v")
			o.integer(dim, v.Item.Version)
		},
	)
}

// moved says that the item is no longer what is shown, what moved it and why.
func (b *block) moved(v ReviewView, now time.Time) {
	if v.Moved == nil && !v.Gone {
		return
	}
	b.gap(1)
	b.cell(alarm, "moved on", reviewAt-1)
	switch d := v.Moved; {
	case d == nil, d.Act == 0:
	case v.permitted(d): // it has just been said
		b.piece(strong, "by what came of it")
		b.piece(verdictStyle(d.Verdict), d.Verdict.String())
		b.end()
	default:
		b.decided(d, v.Me, now)
		b.end()
		b.reviewField("because", text, d.Reason, 2)
	}
	says := "Below is what was shown; verbs are off. u loads what is there now."
	if v.Gone {
		says = "It no longer waits. " + says
	}
	b.wrapped(reviewAt, waits, says)
}

// permitted reports whether a decision is the report of the attempt that the
// gate's answer to the operator permitted.
func (v ReviewView) permitted(d *gate.DecisionRow) bool {
	a := v.Answer
	return a != nil && a.Permit != nil && a.Permit.Ordinal == d.Ordinal && (d.Act == gate.ActReport || d.Act == gate.ActSweep)
}

// decided appends who decided what, when, and what the gate answered.
func (b *block) decided(d *gate.DecisionRow, me string, now time.Time) {
	what := d.Act.String()
	if who := actorName(d.Actor, me); who != "" {
		what += " by " + who
	}
	b.piece(strong, what)
	b.piece(dim, ago(now.Sub(d.At.Time))+" ago, "+moment(d.At.Time, now))
	b.piece(verdictStyle(d.Verdict), d.Verdict.String())
	if d.Finding != gate.FindingNone {
		b.piece(text, FindingWord(d.Finding))
	}
}

// answered says what the gate answered the operator, and what really came of
// it: that is the agent's word.
func (b *block) answered(v ReviewView, now time.Time) {
	d := v.Answer
	if d == nil {
		return
	}
	n := Answer(*d, v.Me, now)
	if v.Held != "" {
		n.Text += ", " + v.Held
	}
	b.label("you: " + VerbName(d.Act, d.NewOp != ""))
	b.wrapped(reviewAt, n.Tone.style(), n.Text)
	if d.Permit == nil {
		return
	}
	b.label("came of it")
	a := v.Came
	switch {
	case a == nil:
		b.piece(dim, "not known yet")
	case a.Outcome == gate.OutcomePending:
		b.flow(func(o *block) {
			o.glyph(live, b.th.g.flying)
			o.put(dim, " nobody has reported yet")
		})
	default:
		b.came(a, now)
	}
	b.end()
}

// came appends how an attempt ended.
func (b *block) came(a *gate.AttemptRow, now time.Time) {
	glyph, word, look := b.th.attemptLook(a)
	b.flow(func(o *block) {
		o.glyph(look, glyph)
		o.gap(1)
		o.put(look, word)
	})
	if a.Failure != nil {
		b.piece(text, string(a.Failure.Code))
		if a.Class != nil {
			b.piece(dim, ClassWord(*a.Class))
		}
	}
	b.piece(text, a.Result)
	b.piece(dim, moment(a.ReportedAt.Time, now))
}
