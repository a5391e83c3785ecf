package views

import (
	"strconv"
	"strings"
	"time"

	"tollgate/gate"
)

// LedgerView is a window of the ledger, as a list.
type LedgerView struct {
	Rows      []gate.DecisionRow // those to show, in their order; what does not fit is left away
	Selected  uint64             // seq; 0 when nothing is selected
	Following bool               // the newest decision is the last row, and stays so
	OneRun    bool               // all rows are of one run, so that none has to name it
	Verified  Verified
	Me        string // id of the operator
	Empty     string // said when there are no rows; empty for the usual words
}

// Verified says how far the chain of the ledger has been verified. The zero
// value says nothing.
type Verified struct {
	Seq    uint64    // of the last record that was found right
	At     time.Time // when
	Broken string    // what was found wrong behind it; empty for nothing
}

// LedgerRows returns how many decisions a page shows at once.
func LedgerRows(p Page) int { return max(0, p.Body()-ledgerTop(p)-1) }

// ledgerTop returns the rows above the headings.
func ledgerTop(p Page) int {
	if p.low() {
		return 0
	}
	return 1
}

const (
	decSeq = iota
	decAt
	decAct
	decVerdict
	decRun
	decOp
	decCode
	decCharged
	decEffects
	decBy
	decTool
)

// The columns of the whole ledger, and those of one run, of which the budget is
// what matters most.
var (
	ledgerColumns = []column{
		{id: decSeq, title: "SEQ", least: 6, most: 10, right: true},
		{id: decAt, title: "AT", least: 8, good: 12, most: 12, rank: 1},
		{id: decAct, title: "ACT", least: 9, most: 10, rank: 2},
		{id: decVerdict, title: "VERDICT", least: 15, wide: 22, good: 25, most: 26},
		{id: decRun, title: "RUN", least: 14, most: 36, rank: 8, from: 160},
		{id: decOp, title: "OPERATION", least: 11, wide: 16, good: 20, most: 48},
		{id: decCharged, title: "ATTEMPTS", least: 10, most: 13, rank: 4, right: true},
		{id: decEffects, title: "EFFECTS", least: 10, most: 13, rank: 7, from: 150, right: true},
		{id: decBy, title: "BY", least: 8, good: 12, most: 28, rank: 3},
		{id: decTool, title: "TOOL", least: 15, most: 28, rank: 5},
		{id: decCode, title: "CODE", least: 12, most: 20, rank: 6},
	}
	runLedgerColumns = []column{
		{id: decSeq, title: "SEQ", least: 6, most: 10, right: true},
		{id: decAt, title: "AT", least: 8, good: 12, most: 12, rank: 1},
		{id: decAct, title: "ACT", least: 9, most: 10, rank: 3},
		{id: decVerdict, title: "VERDICT", least: 15, wide: 22, good: 25, most: 26},
		{id: decOp, title: "OPERATION", least: 11, good: 14, most: 48},
		{id: decCharged, title: "ATTEMPTS", least: 10, most: 13, rank: 2, right: true},
		{id: decEffects, title: "EFFECTS", least: 10, most: 13, rank: 5, right: true},
		{id: decBy, title: "BY", least: 8, good: 12, most: 28, rank: 4},
		{id: decTool, title: "TOOL", least: 15, most: 28, rank: 6},
		{id: decCode, title: "CODE", least: 12, most: 20, rank: 7},
	}
)

// Ledger draws a window of the ledger.
func Ledger(p Page, v LedgerView) string {
	return p.draw(func(b *block, rows int) {
		if ledgerTop(p) > 0 {
			b.ends(2, func(o *block, _ int) { o.following(v) }, func(o *block, level int) { o.verified(v.Verified, p.Now, level) })
		}
		b.decisions(v, rows-ledgerTop(p), p.Now)
	})
}

// RunLedger draws the decisions of one run, each with its budget before and
// after. Rows and selection are those of a LedgerView.
func RunLedger(p Page, run *gate.RunView, t Tree, v LedgerView) string {
	return p.draw(func(b *block, rows int) {
		if run == nil {
			b.say("This run is not here.")
			return
		}
		b.runHead(p, run, &t, runTabs, tabLedger)
		v.OneRun = true
		b.decisions(v, rows-runTop(p), p.Now)
	})
}

// RunLedgerRows returns how many decisions the ledger of a run shows at once.
func RunLedgerRows(p Page) int { return max(0, RunRows(p)-1) }

// following says whether the list goes on by itself.
func (b *block) following(v LedgerView) {
	switch {
	case len(v.Rows) == 0:
		b.put(dim, "nothing is shown")
	case v.Following:
		b.glyph(live, b.th.g.live)
		b.put(live, " following")
	default:
		b.glyph(dim, b.th.g.paused)
		b.put(dim, " from seq "+seq(v.Rows[0].Seq)+" to "+seq(v.Rows[len(v.Rows)-1].Seq))
	}
}

// verified says how far the chain has been verified.
func (b *block) verified(v Verified, now time.Time, level int) {
	switch {
	case v.Broken != "":
		b.glyph(alarm, b.th.g.fail)
		b.put(alarm, " chain broken after seq "+seq(v.Seq))
		if level < 2 {
			b.put(waits, ": "+v.Broken)
		}
	case v.At.IsZero():
	default:
		b.glyph(live, b.th.g.ok)
		if level < 2 {
			b.put(dim, " chain")
		}
		b.put(dim, " verified up to seq ")
		b.put(text, seq(v.Seq))
		if level < 1 {
			b.put(dim, ", "+ago(now.Sub(v.At))+" ago")
		}
	}
}

// decisions appends a list of decisions on at most rows rows.
func (b *block) decisions(v LedgerView, rows int, now time.Time) {
	cols, none := ledgerColumns, v.Empty
	if v.OneRun {
		cols = runLedgerColumns
	}
	if none == "" {
		none = "Nothing has been decided yet."
	}
	b.list(cols, rows, len(v.Rows), none, func(b *block, i int, cols []column) {
		d := &v.Rows[i]
		b.pick(d.Seq == v.Selected && d.Seq != 0, false)
		b.decision(d, cols, v, now)
	})
}

// decision appends the cells of one decision.
func (b *block) decision(d *gate.DecisionRow, cols []column, v LedgerView, now time.Time) {
	glyph, mark := b.th.decisionLook(d)
	b.glyph(mark, glyph)
	name, alone := text, v.OneRun
	if b.sel {
		name = strong
	}
	for _, c := range cols {
		alone = alone || c.id == decRun
	}
	for _, c := range cols {
		b.to(c.at)
		switch c.id {
		case decSeq:
			b.tmp = strconv.AppendUint(b.tmp[:0], d.Seq, 10)
			b.rightNumber(name, c.width)
		case decAt:
			b.at(d.At.Time, now, c.width)
		case decAct:
			look := dim
			if d.Act.IsVerb() {
				look = press
			}
			b.cell(look, d.Act.String(), c.width)
		case decVerdict:
			b.cell(verdictStyle(d.Verdict), d.Verdict.String(), c.width)
		case decRun:
			b.id(dim, string(d.Run), c.width)
		case decOp:
			switch {
			case d.Op == "":
				b.id(dim, string(d.Run), c.width)
			case alone:
				b.id(name, string(d.Op), c.width)
			default:
				b.ref(name, d.Run, d.Op, c.width)
			}
		case decCode:
			b.code(d.Code, c.width)
		case decCharged:
			b.charged(d, c.width, func(r *gate.BudgetRow) gate.Spent { return r.Attempts })
		case decEffects:
			b.charged(d, c.width, func(r *gate.BudgetRow) gate.Spent { return r.SideEffects })
		case decBy:
			b.by(d, v.Me, c.width)
		case decTool:
			b.cell(dim, d.Tool, c.width)
		}
	}
}

// personGlyph marks what a person did.
func (t *Theme) personGlyph() string {
	if t.ascii {
		return "&"
	}
	return "◉"
}

// decisionLook returns the mark of a decision and its style: a person's acts
// are marked as such, whatever the answer.
func (t *Theme) decisionLook(d *gate.DecisionRow) (string, style) {
	v := d.Verdict
	switch {
	case d.Act.IsVerb():
		return t.personGlyph(), press
	case v == gate.StopApprovalRequired, v == gate.StopSamePerson:
		return t.g.approval, approve
	case v.IsStop(), v == gate.Stale:
		return t.g.halted, waits
	case v.Permits():
		return t.g.live, live
	}
	return t.g.done, dim
}

// at appends a time of the day; of another day its date in place of what is
// finest.
func (b *block) at(t, now time.Time, n int) {
	const whole = len("15:04:05.000")
	form := "15:04:05.000"
	switch today := t.UTC().Truncate(24 * time.Hour).Equal(now.UTC().Truncate(24 * time.Hour)); {
	case !today && n >= whole:
		form = "01-02 15:04"
	case !today:
		form = "01-02"
	case n < whole:
		form = "15:04:05"
	}
	b.tmp = t.UTC().AppendFormat(b.tmp[:0], form)
	b.number(dim)
}

// ref appends an operation behind its run, each as whole as there is room for;
// with too little for both the operation alone.
func (b *block) ref(name style, run gate.RunID, op gate.OpID, n int) {
	if n < 16 {
		b.id(name, string(op), n)
		return
	}
	o := min(len(op), n-1-min(len(run), (n-1)/2))
	b.id(dim, string(run), min(len(run), n-1-o))
	b.put(dim, "/")
	b.id(name, string(op), o)
}

// charged appends a counter before and after a decision, or as it stood where
// nothing was charged.
func (b *block) charged(d *gate.DecisionRow, n int, of func(*gate.BudgetRow) gate.Spent) {
	if d.Before == nil || d.After == nil {
		b.right(faint, b.th.g.dash, n)
		return
	}
	x, y := of(d.Before), of(d.After)
	if y.Limit == 0 {
		y.Limit = x.Limit // an answer's "after" may leave the limit away
	}
	if x.Spent == y.Spent {
		b.tmp = appendSpent(b.tmp[:0], y)
		b.rightNumber(dim, n)
		return
	}
	cells := len(b.th.g.arrow)
	if !b.th.ascii {
		cells = 1
	}
	b.tmp = appendSpent(b.tmp[:0], y)
	before := len(strconv.AppendInt(b.tmp[len(b.tmp):], x.Spent, 10))
	if x.Spent > 9999 || before+cells+len(b.tmp) > n {
		b.rightNumber(spentStyle(y), n)
		return
	}
	b.gap(n - before - cells - len(b.tmp))
	b.integer(dim, x.Spent)
	b.own(dim, b.th.g.arrow, cells)
	b.tmp = appendSpent(b.tmp[:0], y)
	b.number(spentStyle(y))
}

// by appends who asked or decided: of a person the name, else the agent.
func (b *block) by(d *gate.DecisionRow, me string, n int) {
	switch {
	case d.Act.IsVerb():
		s := text
		if d.Actor.ID == me && me != "" {
			s = press
		}
		b.cell(s, actorName(d.Actor, me), n)
	case d.Agent != "" && d.Actor != gate.Itself:
		agent := d.Agent
		if b.measure(agent, n+1) > n { // the end of a path says most
			agent = agent[strings.LastIndexByte(agent, '/')+1:]
		}
		b.id(dim, agent, n)
	default:
		b.cell(dim, actorName(d.Actor, me), n)
	}
}

func seq(n uint64) string { return strconv.FormatUint(n, 10) }
