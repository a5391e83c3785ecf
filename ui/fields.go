package ui

import (
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/bubbles/textinput"

	"tollgate/escalation"
	"tollgate/gate"
	"tollgate/views"
)

// part names a field of a form.
type part uint8

const (
	partFinding part = iota
	partEvidence
	partRuling
	partTakeOver
	partRun
	partAttempts
	partDeadline
	partEffects
	partReserve
	partTokens
	partReason
	partTyped
)

// field is one field: a choice, or a line of text.
type field struct {
	part    part
	label   string
	hint    string
	must    bool
	choices []string // nil for a line of text
	choice  int      // -1 for none
	text    textinput.Model
}

// rows returns how many rows the field's text is given.
func (fd *field) rows() int {
	switch fd.part {
	case partEvidence, partReason:
		return 3
	default:
		return 1
	}
}

func textField(p part, label, hint string, must bool) field {
	t := textinput.New()
	t.CharLimit = gate.MaxReason
	t.KeyMap.Paste.SetEnabled(false) // it would read the clipboard behind Update's back
	t.ShowSuggestions = false
	return field{part: p, label: label, hint: hint, must: must, choice: -1, text: t}
}

func choiceField(p part, label string, choice int, choices ...string) field {
	return field{part: p, label: label, must: choice < 0, choices: choices, choice: choice}
}

// findings are the choices of a reconcile.
var findings = [...]gate.Finding{gate.FindingHappened, gate.FindingDidNotHappen, gate.FindingCannotTell}

// newForm makes the form of a verb on an item, as it was shown.
func newForm(v verb, it *escalation.Item, me string, now time.Time) *form {
	f := &form{verb: v, item: it.ID, op: it.Op, shown: it}
	add := func(fs ...field) { f.fields = append(f.fields, fs...) }
	switch v.do {
	case gate.ActReconcile:
		add(
			choiceField(partFinding, "finding", -1, views.FindingWord(findings[0]), views.FindingWord(findings[1]), views.FindingWord(findings[2])),
			textField(partEvidence, "evidence", "what shows it: a reference at the provider, a line of its log", true),
		)
	case gate.ActApprove:
		if !v.asNew && it.Class != gate.ClassTransient && it.Code != "" && it.Code != "policy_block" {
			add(choiceField(partRuling, "ruling", 0, "none", "cause cleared"))
		}
	case gate.ActNewRun:
		b := &it.Budget
		add(
			textField(partRun, "new run", "its id", true),
			textField(partAttempts, "attempts", "this run: "+spentOf(b.Attempts), true),
			textField(partDeadline, "deadline", "from now on, such as 30s or 10m; this run: "+b.Deadline.Sub(b.Started.Time).String(), true),
			textField(partEffects, "side effects", "this run: "+spentOf(b.SideEffects), true),
			textField(partReserve, "reserve", "part of the deadline kept for the answer; may stay empty", false),
			textField(partTokens, "retry tokens", "empty: repeats are not limited by tokens", false),
		)
		f.field(partRun).text.SetValue(nextRun(it.Run))
	case gate.ActReject, gate.ActNote, gate.ActClaim, gate.ActRelease, gate.ActSnooze,
		gate.ActAdopt, gate.ActStart, gate.ActAsk, gate.ActReport, gate.ActSweep, gate.ActEnd:
	}
	if v.do.Decides() && it.Claim.HeldAgainst(gate.Actor{ID: me}, now) {
		add(choiceField(partTakeOver, "claim", -1, "leave it to "+it.Claim.By, "take over"))
	}
	label, hint := "reason", "for the ledger and for whoever comes next"
	if v.do == gate.ActNote {
		label = "note"
	}
	add(textField(partReason, label, hint, true))
	f.settle()
	f.focus(0)
	return f
}

// settle keeps the field that is typed to confirm where what the form says, as
// it stands, calls for it. It is the last one.
func (f *form) settle() {
	last := len(f.fields) - 1
	has, want := f.fields[last].part == partTyped, f.risk() != ""
	switch {
	case want && !has:
		f.fields = append(f.fields, textField(partTyped, "confirm", "the last four characters of "+string(f.item), true))
	case has && !want:
		f.focus(min(f.at, last-1))
		f.fields = f.fields[:last]
	}
}

// risk says why a decision has to be typed as well: a dispatch of a write may
// follow that is not safe to repeat, two have to approve, or it is a new
// action. Empty: it needs not, or the gate refuses it as things stand.
func (f *form) risk() string {
	it := f.shown
	unsafe := it.Effect == gate.EffectWrite && it.RetrySafety == gate.SafetyNever
	p, known := it.Preview[f.preview()]
	switch {
	case f.verb.do != gate.ActApprove && f.verb.do != gate.ActNewRun:
		return ""
	case known && refuses(p.Verdict):
		return ""
	case f.verb.asNew:
		return "It may happen twice"
	case unsafe:
		return "This write is not safe to repeat"
	case it.NeedsTwo && f.verb.do == gate.ActApprove:
		return "It takes two people"
	}
	return ""
}

// refuses reports whether a verdict stands as long as the item is what was
// shown. Claims, breakers and clocks go by without moving an item, and another
// throw of the jitter may fit into the time.
func refuses(v gate.Verdict) bool {
	switch v {
	case gate.StopClaimed, gate.StopInFlight, gate.StopClock, gate.StopTimeBudget, gate.StopRetryRatio, gate.StopBreakerOpen:
		return false
	default:
		return v.IsStop()
	}
}

// nextRun proposes the id of a run that goes on from another: run-1.2, run-1.3.
func nextRun(id gate.RunID) string {
	base, n, ok := strings.Cut(string(id), ".")
	if last, err := strconv.Atoi(n); ok && err == nil && last > 0 && last < gate.MaxCount {
		return base + "." + strconv.Itoa(last+1)
	}
	return string(id) + ".2"
}

func spentOf(s gate.Spent) string {
	return strconv.FormatInt(s.Spent, 10) + " of " + strconv.FormatInt(s.Limit, 10) + " spent"
}

// lacks says what a field still needs, empty when it is well.
func (f *form) lacks(fd *field) string {
	v := strings.TrimSpace(fd.text.Value())
	switch {
	case fd.choices != nil:
		switch {
		case fd.choice >= 0:
			return ""
		case fd.part == partTakeOver:
			return f.shown.Claim.By + " holds it: choose with left and right"
		}
		return "choose one with left and right"
	case fd.part == partEvidence && f.choice(partFinding) == 2:
		return "" // a reason is enough when nobody can tell
	case v == "" && fd.must:
		return "needed"
	case len(v) > gate.MaxReason:
		return "at most 4 KiB"
	case v == "":
		return ""
	}
	switch fd.part {
	case partTyped:
		if id := string(f.item); v != id[max(0, len(id)-4):] {
			return "not the last four characters of " + id
		}
	case partRun:
		return wrong(gate.CheckID("new run", v))
	case partAttempts, partEffects, partTokens:
		if _, err := strconv.ParseInt(v, 10, 64); err != nil {
			return "a whole number"
		}
		return wrong(f.limit(fd.part, v).Check())
	case partDeadline, partReserve:
		if _, err := time.ParseDuration(v); err != nil {
			return "a duration with its unit, such as 30s"
		}
		return wrong(f.limit(fd.part, v).Check())
	case partFinding, partEvidence, partRuling, partTakeOver, partReason:
	}
	return ""
}

func wrong(err error) string {
	if err != nil {
		return err.Error()
	}
	return ""
}

// act returns what the form says, or which field needs what before it can be
// said.
func (f *form) act() (act escalation.Act, at int, lacks string) {
	for i := range f.fields {
		if why := f.lacks(&f.fields[i]); why != "" {
			return act, i, why
		}
	}
	act = escalation.Act{
		Verb: f.verb.do, AsNewAction: f.verb.asNew,
		Reason: f.value(partReason), Evidence: f.value(partEvidence),
		TakeOver: f.choice(partTakeOver) == 1,
	}
	switch f.verb.do {
	case gate.ActReconcile:
		act.Finding = findings[f.choice(partFinding)]
	case gate.ActApprove:
		if f.choice(partRuling) == 1 {
			act.Ruling = gate.RulingCauseCleared
		}
	case gate.ActNewRun:
		act.NewRun = gate.RunID(f.value(partRun))
		act.Limits = gate.Limits{
			Attempts: number(f.value(partAttempts)), SideEffects: number(f.value(partEffects)),
			RetryTokens: number(f.value(partTokens)),
			Deadline:    duration(f.value(partDeadline)), Reserve: duration(f.value(partReserve)),
		}
		if why := wrong(act.Limits.Check()); why != "" {
			return act, f.place(partAttempts), why
		}
	default:
	}
	return act, -1, ""
}

// limit returns limits of which one alone can be out of range: the field's.
func (f *form) limit(p part, v string) gate.Limits {
	least, none, most := int64(1), int64(0), gate.MaxDeadline
	l := gate.Limits{Attempts: &least, SideEffects: &none, Deadline: &most}
	switch p {
	case partAttempts:
		l.Attempts = number(v)
	case partEffects:
		l.SideEffects = number(v)
	case partTokens:
		l.RetryTokens = number(v)
	case partDeadline:
		l.Deadline = duration(v)
	case partReserve:
		l.Reserve = duration(v)
		if d := duration(f.value(partDeadline)); d != nil && *d > 0 && *d < most {
			l.Deadline = d
		}
	default:
	}
	return l
}

func number(s string) *int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return nil
	}
	return &n
}

func duration(s string) *time.Duration {
	d, err := time.ParseDuration(s)
	if err != nil {
		return nil
	}
	return &d
}

// hintOf says what belongs in a field, or of a choice that has been made what it
// comes to.
func (f *form) hintOf(fd *field) string {
	if fd.part != partFinding {
		return fd.hint
	}
	if fd.choice < 0 {
		return "choose one with left and right"
	}
	return f.shown.Preview["reconcile "+findings[fd.choice].String()].Says
}

// warns says what comes of a field that is well, empty for nothing beyond what
// it says.
func (f *form) warns(fd *field) string {
	switch {
	case fd.part == partTakeOver && fd.choice == 0:
		return "the gate answers STOP_CLAIMED as long as " + f.shown.Claim.By + " holds the claim"
	case fd.part == partEvidence && f.choice(partFinding) == 0:
		return "becomes the stored result (result_ref) that the agent gets"
	}
	return ""
}

// what says what will follow, and what will not.
func (f *form) what(r *reviewScreen, me string) []string {
	var says []string
	switch f.verb.do {
	case gate.ActReconcile:
		says = append(says, "You say what really happened. No dispatch follows by itself, and nothing is given back.")
	case gate.ActApprove:
		if f.verb.asNew {
			says = append(says, "A new operation with a new key, on the same budget. If the first one happened after all, it will have happened twice; the ledger will hold that you accepted that.")
		} else {
			says = append(says, "One more dispatch of the same operation under the same key, if the gate lets it: the agent that waits gets the permit.")
		}
	case gate.ActReject:
		says = append(says, "The operation is closed, and its typed outcome is returned to the agent. Nothing is dispatched.")
	case gate.ActNewRun:
		says = append(says, "What is unfinished goes on in a new run with limits of its own, linked to this decision. The counters of this run stay as they are.")
	default:
	}
	if f.shown.Kind == gate.KindOutcomeUnknown && (f.verb.do == gate.ActReject || f.verb.do == gate.ActNewRun) {
		says = append(says, "Whether it happened is still unknown, and this does not settle it. If it can be found out, reconcile first (esc, r).")
	}
	if why := f.risk(); why != "" {
		says = append(says, why+": to confirm, type the last four characters of the item's id.")
	}
	if d := r.moved; d != nil {
		how := "."
		if d.Act != 0 {
			how = ": " + d.Act.String() + " by " + actorName(d.Actor, me) + "."
		}
		says = append(says, "The item has moved on"+how+" Leave with esc, and u loads what is there now; this draft is kept.")
	}
	return says
}

// preview returns the name of the preview of what an approve or a new run, as
// the form stands, would do.
func (f *form) preview() string {
	switch {
	case f.verb.do == gate.ActNewRun:
		return "new-run"
	case f.verb.asNew:
		return "approve as-new-action"
	case f.choice(partRuling) == 1:
		return "approve cause-cleared"
	default:
		return "approve"
	}
}
