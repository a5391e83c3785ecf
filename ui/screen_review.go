package ui

import (
	"errors"
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"tollgate/escalation"
	"tollgate/gate"
	"tollgate/views"
)

// reviewScreen is one item for a person to decide on: a frozen copy. What was
// shown is what is decided on; when the item moves on the verbs go off until
// the operator loads what is there now.
type reviewScreen struct {
	id     gate.ItemID
	item   *escalation.Item // nil until it has been read
	failed string           // why it could not be read
	top    int

	moved *gate.ChangedRow // what moved it on; nil while it is what is shown
	gone  bool             // and it no longer waits

	answer *gate.DecisionRow // the gate's newest answer to this operator here
	came   gate.Ref          // the operation whose attempt it permitted
	came1  *gate.AttemptRow  // and what became of that attempt
	reload bool              // the operator's own decision moved it: show what came of it
}

func newReviewScreen(id gate.ItemID) *reviewScreen { return &reviewScreen{id: id} }

func (r *reviewScreen) ref() gate.Ref {
	if r.item == nil {
		return gate.Ref{}
	}
	return gate.Ref{Run: r.item.Run, Op: r.item.Op}
}

func (r *reviewScreen) wants(w *want) { w.review, w.came = r.ref(), r.came }

// load shows an item as it is now.
func (r *reviewScreen) load(it escalation.Item) {
	r.item, r.failed, r.moved, r.gone, r.reload = &it, "", nil, false, false
}

// mark shows what a mark changed on the frozen copy: marks do not move an item
// (R-P5).
func (r *reviewScreen) mark(now escalation.Item) {
	it := *r.item
	it.Claim, it.ClaimBy, it.ClaimID, it.ClaimUntil = now.Claim, now.ClaimBy, now.ClaimID, now.ClaimUntil
	it.Snoozed, it.Notes, it.LastNote = now.Snoozed, now.Notes, now.LastNote
	r.item, r.failed = &it, ""
}

// take looks whether the item is still what is shown, and what came of the
// attempt that was permitted.
func (r *reviewScreen) take(msg readMsg) {
	// A read that began before the item was loaded can be older than the item.
	if op := msg.reviewNow; op != nil && r.item != nil && op.Version > r.item.Version {
		r.moved = movedBy(msg.latest)
		r.gone = op.ItemState == gate.HoldResolved
	}
	if op := msg.cameNow; op != nil && r.answer != nil && r.answer.Permit != nil {
		for i := range op.Attempts {
			if op.Attempts[i].Ordinal == r.answer.Permit.Ordinal {
				r.came1 = &op.Attempts[i]
			}
		}
	}
}

// movedBy returns the newest decision that can have moved an item.
func movedBy(latest []gate.DecisionRow) *gate.ChangedRow {
	d := decisive(latest)
	if d == nil {
		return &gate.ChangedRow{}
	}
	return &gate.ChangedRow{Seq: d.Seq, At: d.At, By: d.Actor, Act: d.Act, Verdict: d.Verdict}
}

// decisive returns the newest decision that changed something about an
// operation, nil if there is none: refusals, marks and asks are passed over.
func decisive(latest []gate.DecisionRow) *gate.DecisionRow {
	for i := range latest {
		d := &latest[i]
		switch {
		case d.Verdict == gate.Stale:
		case d.Act.Decides() && !d.Verdict.IsStop(), d.Act == gate.ActReport, d.Act == gate.ActSweep:
			return d
		}
	}
	return nil
}

// putOff reports whether the newest decision hides an item for a while.
func putOff(latest []gate.DecisionRow) bool {
	return len(latest) > 0 && latest[0].Act == gate.ActSnooze && !latest[0].Verdict.IsStop()
}

// howItLeft says in a few words why an item is no longer in a list.
func howItLeft(op *gate.OpRow, latest []gate.DecisionRow) string {
	if op == nil {
		return "is no longer here"
	}
	switch d := decisive(latest); {
	case op.ItemState != gate.HoldResolved && putOff(latest):
		return "was snoozed by " + actorName(latest[0].Actor)
	case op.ItemState != gate.HoldResolved:
		return "is now " + op.ItemState.String()
	case d == nil:
		return "was resolved"
	case d.Act.IsVerb():
		return "was resolved by " + actorName(d.Actor) + " (" + d.Act.String() + ")"
	default:
		return "was settled by a late report"
	}
}

func actorName(a gate.ActorRow) string {
	if a.Name != "" {
		return a.Name
	}
	return a.ID
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
func senseless(it *escalation.Item, previews []string) (why string) {
	for _, name := range previews {
		p, ok := it.Preview[name]
		if !ok || p.Verdict != 0 {
			return ""
		}
		why = p.Says
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
			return senseless(m.here().review.item, rv.previews)
		}
	}
	return ""
}

func (m *Model) reviewView(r *reviewScreen) views.ReviewView {
	it := r.item
	v := views.ReviewView{
		Item: it.ItemRow, SameCause: it.SameCause, Runbook: it.Runbook, Notes: it.Notes, LastNote: it.LastNote,
		Me: m.Who.ID, Moved: r.moved, Gone: r.gone, Top: r.top,
		Input: string(it.Input),
		Op: &gate.OpRow{
			Run: it.Run, Op: it.Op, Agent: it.Agent, Path: it.Path, Parent: it.Parent, Tool: it.Tool, Dependency: it.Dependency,
			Effect: it.Effect, RetrySafety: it.RetrySafety, Outcome: it.Effects, Key: it.Key, Digest: it.InputDigest,
			Permits: it.Permits, Attempts: it.Dispatches, Terminal: it.Terminal,
			Item: it.ID, ItemState: it.State, Kind: it.Kind, Version: it.Version,
		},
		Run: &gate.RunRow{Run: it.Run, Agent: it.Agent, State: it.RunState, Ending: it.Ending, Budget: it.Budget},
	}
	if it.Breaker != 0 {
		v.Breaker = &gate.BreakerRow{State: it.Breaker, Until: gate.InstantOf(it.BreakerUntil)}
	}
	if it.Terminal != nil {
		v.Route = it.Terminal.NextAction.String()
	}
	for _, rv := range reviewVerbs {
		v.Verbs = append(v.Verbs, m.previewOf(it, rv.key, rv.verb, rv.previews[0]))
	}
	return v
}

// previewOf returns what the gate would answer to a verb now.
func (m *Model) previewOf(it *escalation.Item, key string, vb verb, name string) views.Preview {
	p := it.Preview[name]
	v := views.Preview{Key: key, Do: vb.do, AsNew: vb.asNew, Off: m.noDecision(vb), Checks: p.Checks}
	if vb.do == gate.ActApprove {
		v.Verdict = p.Verdict
	}
	if !p.Before.Deadline.IsZero() && p.Verdict.Permits() {
		v.Before, v.After = &p.Before, &p.After
	}
	return v
}

func (m *Model) viewReview(p views.Page, r *reviewScreen) string {
	if r.item == nil {
		if p.Notice.Text == "" {
			p.Notice = views.Notice{Text: "reading " + string(r.id)}
			if r.failed != "" {
				p.Notice = views.Notice{Text: string(r.id) + ": " + r.failed, Tone: views.Loud}
			}
		}
		return views.Form(p, views.FormView{Title: "review " + string(r.id), Armed: true})
	}
	if p.Notice.Text == "" {
		p.Notice = m.outcomeNotice(r)
	}
	return views.Review(p, m.reviewView(r))
}

// outcomeNotice says what the gate answered last, and what really came of it.
func (m *Model) outcomeNotice(r *reviewScreen) views.Notice {
	if r.answer == nil {
		return views.Notice{}
	}
	n := views.Answer(*r.answer, m.now)
	a := r.came1
	switch {
	case r.answer.Permit == nil:
	case a == nil:
		n.Text += ": not known yet what comes of it"
	case a.Outcome == gate.OutcomePending:
		n.Text += ": nobody has reported yet"
	case a.Failure != nil:
		n.Text += fmt.Sprintf(": came to %s, %s", a.Failure.Code, views.OutcomeWord(a.Outcome))
		n.Tone = views.Loud
	default:
		n.Text += ": it " + views.OutcomeWord(a.Outcome)
	}
	return n
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
	r.answer, r.came, r.came1 = nil, gate.Ref{}, nil
	r.reload = true
	return m.out.item(r.id)
}

// answered: the gate has answered an act of the operator, or could not be
// asked.
func (m *Model) answered(msg answerMsg) tea.Cmd {
	if f := msg.form; f != nil {
		f.sending = false
		if msg.err != nil {
			f.said = refusal(msg.err)
			if m.form != f {
				m.say(views.Loud, string(f.item)+": "+f.said)
			}
			return nil
		}
		f.request = "" // it has been answered: the next one is another
	}
	if msg.err != nil {
		m.say(views.Loud, msg.act.Verb.String()+" "+string(msg.op)+": "+refusal(msg.err))
		return nil
	}
	m.feed.urgent = true
	if !msg.act.Verb.Decides() {
		m.marked(msg)
	}
	if msg.form == nil {
		return m.showMark(msg.item)
	}
	if !msg.row.Verdict.IsStop() && msg.row.Verdict != gate.Stale {
		delete(m.drafts, draftOf{msg.item, msg.form.verb})
	}
	if m.form == msg.form {
		m.form = nil
	}
	return m.showAnswer(msg)
}

// showAnswer shows the answer where the item is reviewed; where it is not, it
// is one line of news.
func (m *Model) showAnswer(msg answerMsg) tea.Cmd {
	r := m.here().review
	if r == nil || r.id != msg.item {
		if msg.act.Verb.Decides() {
			n := views.Answer(msg.row, m.now)
			n.Text = string(msg.op) + ": " + n.Text
			m.notice = n
		}
		return nil
	}
	if !msg.act.Verb.Decides() {
		return m.showMark(msg.item)
	}
	row := msg.row
	r.answer, r.came, r.came1 = &row, gate.Ref{}, nil
	if p := row.Permit; p != nil {
		r.came = gate.Ref{Run: row.Run, Op: row.Op}
		if p.Op != "" {
			r.came.Op = p.Op
		}
	}
	m.notice = views.Notice{}
	if row.Verdict == gate.Stale { // somebody was faster: the banner says who
		if r.moved = row.Changed; r.moved == nil {
			r.moved = &gate.ChangedRow{}
		}
		return nil
	}
	r.reload = true
	return m.out.item(r.id)
}

// showMark shows a mark where the item is reviewed.
func (m *Model) showMark(id gate.ItemID) tea.Cmd {
	if r := m.here().review; r != nil && r.id == id && r.item != nil {
		return m.out.item(id)
	}
	return nil
}

// refusal says why the gate could not be asked, in one line.
func refusal(err error) string {
	var input *gate.InputError
	switch {
	case errors.As(err, &input):
		return input.Error()
	case errors.Is(err, gate.ErrUnknownCommit):
		return "the store cannot say whether this was written; the same request sent again is still one action"
	}
	return strings.ReplaceAll(err.Error(), "\n", " ")
}

// noNew says why there is nothing new to load.
func (m *Model) noNew() string {
	if r := m.here().review; r.moved == nil && !r.reload && r.failed == "" {
		return "what is shown is what is there"
	}
	return ""
}
