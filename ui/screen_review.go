package ui

import (
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"tollgate/escalation"
	"tollgate/gate"
	"tollgate/views"
)

// reviewScreen is one item for a person to decide on: a frozen copy. What was
// shown is what is decided on; when the item moves on the verbs go off until
// the operator loads what is there now. What came of the operator's own answer
// appears beside the copy by itself.
type reviewScreen struct {
	id     gate.ItemID
	item   *escalation.Item // nil until it has been read
	asOf   time.Time        // when it was read
	failed string           // why it could not be read
	top    int

	moved *gate.DecisionRow // what moved it on; nil while it is what is shown
	gone  bool              // and it no longer waits

	asked  bool              // a decision of the operator's is with the gate
	later  func()            // tells of what moved it meanwhile, if that decision gets no answer
	answer *gate.DecisionRow // the gate's newest answer to this operator here
	held   string            // by whom, when it is STOP_CLAIMED
	ref    gate.Ref          // the operation whose attempt it permitted
	came   *gate.AttemptRow  // and what became of that attempt
	reload bool              // the operator's own decision moved it, or they want it read again
}

func newReviewScreen(id gate.ItemID) *reviewScreen { return &reviewScreen{id: id} }

// about returns the operation that the item is about.
func (r *reviewScreen) about() gate.Ref {
	if r.item == nil {
		return gate.Ref{}
	}
	return gate.Ref{Run: r.item.Run, Op: r.item.Op}
}

func (r *reviewScreen) wants(w *want) { w.review, w.came = r.about(), r.ref }

// load shows an item as it is now.
func (r *reviewScreen) load(msg itemMsg) {
	r.item, r.asOf, r.failed = &msg.item, msg.at, ""
	r.moved, r.gone, r.reload, r.later = nil, false, false, nil
}

// unanswered is told that the operator's decision got no answer.
func (r *reviewScreen) unanswered() {
	if r.later != nil {
		r.later()
		r.later = nil
	}
}

// mark shows what a mark changed on the frozen copy: marks do not move an item
// (R-P5).
func (r *reviewScreen) mark(now escalation.Item) {
	it := *r.item
	it.Claim, it.Snoozed = now.Claim, now.Snoozed
	it.Notes, it.LastNote, it.Noted, it.NoteBy, it.NoteAt = now.Notes, now.LastNote, now.Noted, now.NoteBy, now.NoteAt
	r.item, r.failed = &it, ""
}

// movedOn is told of a version that is newer than the one shown. The
// operator's own decision moves the item as well: its answer says so, and
// brings the item.
func (r *reviewScreen) movedOn(by gate.DecisionRow, state gate.HoldState) {
	if r.asked || r.reload {
		r.later = func() { r.movedOn(by, state) }
		return
	}
	r.moved = &by
	r.gone = state == gate.HoldResolved && r.item.State != gate.HoldResolved
}

// take looks whether the item is still what is shown, and what came of the
// attempt that was permitted.
func (r *reviewScreen) take(msg readMsg) {
	// A read that began before the item was loaded can be older than the item.
	if op := msg.reviewNow; op != nil && r.item != nil && op.Version > r.item.Version {
		r.movedOn(movedBy(msg.latest), op.ItemState)
	}
	if op := msg.cameNow; op != nil && r.answer != nil && r.answer.Permit != nil {
		for i := range op.Attempts {
			if op.Attempts[i].Ordinal == r.answer.Permit.Ordinal {
				r.came = &op.Attempts[i]
				r.reported()
			}
		}
	}
}

// reported shows what came of an attempt among the attempts as well, where
// nothing is left to be decided on that they could slip under.
func (r *reviewScreen) reported() {
	if r.item.State != gate.HoldResolved || r.moved != nil || r.ref != r.about() {
		return
	}
	it := *r.item
	it.Dispatches = slices.Clone(it.Dispatches)
	for i := range it.Dispatches {
		if it.Dispatches[i].Ordinal == r.came.Ordinal {
			it.Dispatches[i] = *r.came
		}
	}
	r.item = &it
}

// decisions that a review offers, in the order in which they stand there.
var reviewVerbs = []struct {
	key      string
	verb     verb
	previews []string // under these names; the first one is shown
}{
	{"r", verb{do: gate.ActReconcile}, []string{"reconcile happened", "reconcile did-not-happen", "reconcile cannot-tell"}},
	{"a", verb{do: gate.ActApprove}, []string{"approve", "approve cause-cleared"}},
	{"A", verb{do: gate.ActApprove, asNew: true}, []string{"approve as-new-action"}},
	{"x", verb{do: gate.ActReject}, []string{"reject"}},
	{"n", verb{do: gate.ActNewRun}, []string{"new-run"}},
}

// senseless says why the gate has no answer to a verb at all, empty when it
// has one; a refusal is an answer.
func senseless(it *escalation.Item, v verb, previews []string) (why string) {
	for _, name := range previews {
		p, ok := it.Preview[name]
		if !ok || p.Verdict != 0 {
			return ""
		}
		why = p.Says
	}
	switch {
	case v.do != gate.ActReconcile:
		return why
	case it.Effect != gate.EffectWrite:
		return "a read has no effect that could have happened"
	case it.Permits == 0:
		return "it was never dispatched: nothing can have happened"
	}
	return why
}

// noVerb says why nothing can be decided about the item that is reviewed;
// empty when something can.
func (m *Model) noVerb() string {
	r := m.here().review
	switch {
	case r == nil:
		return "no item is reviewed"
	case m.offline() != "":
		return m.offline()
	case r.item == nil && r.failed != "":
		return r.failed
	case r.item == nil:
		return "the item is being read"
	case r.reload && r.failed != "":
		return r.failed
	case r.reload:
		return "the item is being read again"
	case r.moved != nil:
		return "the item has moved on since it was shown"
	case r.item.State == gate.HoldResolved:
		return "the item is resolved"
	}
	return ""
}

// noDecision is noVerb for one decision.
func (m *Model) noDecision(v verb) string {
	if why := m.noVerb(); why != "" {
		return why
	}
	for _, rv := range reviewVerbs {
		if rv.verb == v {
			return senseless(m.here().review.item, v, rv.previews)
		}
	}
	return ""
}

func (m *Model) reviewView(r *reviewScreen) views.ReviewView {
	v := views.ReviewOf(r.item, m.Who.ID)
	v.AsOf, v.Moved, v.Gone, v.Answer, v.Held, v.Came, v.Top = r.asOf, r.moved, r.gone, r.answer, r.held, r.came, r.top
	if v.Resolved {
		return v
	}
	for i := range v.Verbs {
		p := &v.Verbs[i]
		vb := verb{do: p.Do, asNew: p.AsNew}
		p.Off = m.noDecision(vb)
		for _, rv := range reviewVerbs {
			if rv.verb == vb {
				p.Key = rv.key
			}
		}
	}
	claim := views.Preview{Key: "c", Do: m.claimVerb(&r.item.ItemRow), Off: m.noClaim()}
	snooze := views.Preview{Key: "z", Do: gate.ActSnooze, Off: m.noMark()}
	if snooze.Name, _ = nameOfSnooze(m); m.asleep(&r.item.ItemRow) {
		snooze.Says = "brings it back into the queue"
	} else if d := r.item.Deadline.Sub(m.now); d > 0 && d < snoozed {
		snooze.Says = "hides it for an hour, past the deadline"
	}
	note := views.Preview{Key: "t", Do: gate.ActNote, Off: m.noDecision(verb{do: gate.ActNote})}
	v.Verbs = append(v.Verbs, claim, snooze, note)
	return v
}

func (m *Model) viewReview(p views.Page, r *reviewScreen) string {
	if p.Notice.Text == "" && r.failed != "" {
		p.Notice = views.Notice{Text: string(r.id) + ": " + r.failed, Tone: views.Loud}
	}
	if r.item == nil {
		if p.Notice.Text == "" {
			p.Notice = views.Notice{Text: "reading " + string(r.id)}
		}
		return views.Form(p, views.FormView{Title: "review " + string(r.id), Armed: true})
	}
	return views.Review(p, m.reviewView(r))
}

// scrollReview scrolls the contract.
func (m *Model) scrollReview(n int) tea.Cmd {
	r := m.here().review
	if r.item != nil {
		rows, seen := views.ReviewScroll(m.page(), m.reviewView(r))
		r.top = max(0, min(r.top+n, rows-seen))
	}
	return nil
}

// loadNew shows the item as it is now.
func (m *Model) loadNew() tea.Cmd {
	r := m.here().review
	if r.moved != nil { // the new copy says what came of it
		r.answer, r.ref, r.came = nil, gate.Ref{}, nil
	}
	r.reload, r.failed = true, ""
	return m.out.item(r.id)
}

func nameOfLoad(m *Model) (does, says string) {
	r := m.here().review
	if r.moved != nil || r.failed != "" {
		return "load", "load the item as it is now"
	}
	return "", "read the item again; what is shown is as of " + r.asOf.Format("15:04:05Z")
}

// noLoad says why the item cannot be read again now.
func (m *Model) noLoad() string {
	if r := m.here().review; r.failed == "" && (r.item == nil || r.reload) {
		return "the item is being read"
	}
	return ""
}
