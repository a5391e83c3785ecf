package views

import (
	"fmt"
	"strings"
	"time"

	"tollgate/gate"
)

// Handover is the report of a shift: what people decided in it, and what the
// next one takes over. Its texts stand as they came; Handover.Markdown escapes
// them. Lists that were cut say so in Cut.
type Handover struct {
	Since       gate.Instant         `json:"since"`
	At          gate.Instant         `json:"at"`  // when the report was made
	Seq         uint64               `json:"seq"` // the newest decision that is in it
	Cut         []string             `json:"cut,omitempty"`
	Decided     []HandoverAct        `json:"decided"` // reconcile, approve, reject and new-run, oldest first
	Open        []HandoverCause      `json:"open"`    // the largest cause first
	Notes       []HandoverAct        `json:"notes"`   // since then, on what still waits, oldest first
	DeadLetters []gate.ItemRow       `json:"dead_letters"`
	Snoozed     []gate.ItemRow       `json:"snoozed"`  // the first to come back first
	Breakers    []gate.DependencyRow `json:"breakers"` // that are not closed
	Budgets     []HandoverBudget     `json:"budgets"`  // of runs with a decision since: overdrawn, then spent, then the others
}

// HandoverAct is one act of a person, as the ledger has it.
type HandoverAct struct {
	Seq      uint64       `json:"seq"`
	At       gate.Instant `json:"at"`
	Actor    gate.Actor   `json:"actor"`
	Act      gate.Act     `json:"act"`
	Verdict  gate.Verdict `json:"verdict"`
	Finding  gate.Finding `json:"finding,omitempty"`
	Ruling   gate.Ruling  `json:"ruling,omitempty"`
	Item     gate.ItemID  `json:"item"`
	Run      gate.RunID   `json:"run"`
	Op       gate.OpID    `json:"op"`
	NewOp    gate.OpID    `json:"new_op,omitempty"`
	NewRun   gate.RunID   `json:"new_run,omitempty"`
	Reason   string       `json:"reason,omitempty"`
	Evidence string       `json:"evidence,omitempty"`
}

// HandoverCause is what waits for one and the same reason.
type HandoverCause struct {
	Dependency string          `json:"dependency"`
	Code       gate.Code       `json:"code,omitempty"` // empty: nothing has failed, an approval is waited for
	Class      gate.Class      `json:"class"`
	Items      int64           `json:"items"`
	Runs       int64           `json:"runs"`
	Oldest     gate.Instant    `json:"oldest"`
	Claims     []HandoverClaim `json:"claims,omitempty"` // by the holder's name
}

// HandoverClaim is how many items of a cause somebody holds.
type HandoverClaim struct {
	By    string `json:"by"`
	Items int64  `json:"items"`
}

// HandoverBudget is what a run had spent with its newest decision.
type HandoverBudget struct {
	Run         gate.RunID   `json:"run"`
	At          gate.Instant `json:"at"` // of that decision
	Attempts    gate.Spent   `json:"attempts"`
	SideEffects gate.Spent   `json:"side_effects"`
	RetryTokens *gate.Spent  `json:"retry_tokens,omitempty"` // nil when repeats are not limited by tokens
	Overdrawn   bool         `json:"overdrawn,omitempty"`
}

// SpentOut names the limits of which nothing is left. A limit of none at all
// was never there to be spent.
func (b *HandoverBudget) SpentOut() []string {
	var names []string
	out := func(name string, s gate.Spent) {
		if s.Limit > 0 && s.Spent >= s.Limit {
			names = append(names, name)
		}
	}
	out("attempts", b.Attempts)
	out("side effects", b.SideEffects)
	if b.RetryTokens != nil {
		out("retry tokens", *b.RetryTokens)
	}
	return names
}

// Markdown writes the report as Markdown that can be read as it stands. What
// others wrote is escaped twice: for the terminal, and so that Markdown takes
// it for text; a long text is cut.
func (h *Handover) Markdown() string {
	var d document
	d.line("# Handover")
	d.line("From %s to %s (%s), up to decision %d.", instant(h.Since.Time), instant(h.At.Time), gate.Span(h.At.Sub(h.Since.Time).Round(time.Second)), h.Seq)
	for _, cut := range h.Cut {
		d.line("**Cut:** %s.", markdown(cut))
	}

	d.section("Decided by people", len(h.Decided), "Nobody decided anything.")
	d.acts(h.Decided)

	var open int64
	for i := range h.Open {
		open += h.Open[i].Items
	}
	d.section("Still open", int(open), "Nothing waits.")
	d.causes(h.Open, h.At.Time)
	if len(h.Notes) > 0 {
		d.section("Notes on what still waits", len(h.Notes), "")
		d.notes(h.Notes)
	}

	d.section("Dead letters", len(h.DeadLetters), "None.")
	d.items(h.DeadLetters, "Opened (UTC)", func(r *gate.ItemRow) gate.Instant { return r.Opened })
	d.section("Snoozed", len(h.Snoozed), "None.")
	d.items(h.Snoozed, "Back at (UTC)", func(r *gate.ItemRow) gate.Instant { return r.Snoozed })

	d.section("Breakers that are not closed", len(h.Breakers), "All are closed.")
	d.breakers(h.Breakers)
	d.section("Budgets of runs with decisions since", len(h.Budgets), "None.")
	d.budgets(h.Budgets)
	return d.String()
}

// document is Markdown in the making: blocks with an empty line between two.
type document struct{ strings.Builder }

func (d *document) line(format string, args ...any) {
	if d.Len() > 0 {
		d.WriteByte('\n')
	}
	fmt.Fprintf(d, format+"\n", args...)
}

func (d *document) section(head string, n int, none string) {
	d.line("## %s: %d", head, n)
	if n == 0 && none != "" {
		d.line("%s", none)
	}
}

// table writes rows under their heads, each column as wide as its widest cell
// so that the source can be read as well. A head that ends in a colon is of a
// column of numbers. No row, no table.
func (d *document) table(heads []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	widths := make([]int, len(heads))
	for c, head := range heads {
		widths[c] = Width(strings.TrimSuffix(head, ":"))
		for _, row := range rows {
			widths[c] = max(widths[c], Width(row[c]))
		}
	}
	write := func(cells []string) {
		for c, cell := range cells {
			pad := strings.Repeat(" ", widths[c]-Width(cell))
			switch {
			case strings.HasSuffix(heads[c], ":"):
				cell = pad + cell
			case c < len(cells)-1: // the last one may be as short as it is
				cell += pad
			}
			d.WriteString("| " + cell + " ")
		}
		d.WriteString("|\n")
	}
	names, rules := make([]string, len(heads)), make([]string, len(heads))
	for c, head := range heads {
		names[c] = strings.TrimSuffix(head, ":")
		switch rules[c] = strings.Repeat("-", widths[c]); {
		case names[c] != head:
			rules[c] = rules[c][1:] + ":"
		case c == len(heads)-1:
			rules[c] = rules[c][:len(head)]
		}
	}
	d.WriteByte('\n')
	write(names)
	write(rules)
	for _, row := range rows {
		write(row)
	}
}

func (d *document) acts(acts []HandoverAct) {
	rows := make([][]string, len(acts))
	for i := range acts {
		a := &acts[i]
		rows[i] = []string{
			moments(a.At), markdown(actorName(a.Actor, "")), a.verb(), a.Verdict.String(),
			markdown(string(a.Run)), markdown(string(a.Op)), markdown(string(a.Item)), markdown(a.Reason), markdown(a.Evidence),
		}
	}
	d.table([]string{"When (UTC)", "Who", "Verb", "Verdict", "Run", "Operation", "Item", "Why", "Evidence"}, rows)
}

func (d *document) notes(notes []HandoverAct) {
	rows := make([][]string, len(notes))
	for i := range notes {
		n := &notes[i]
		rows[i] = []string{
			moments(n.At), markdown(actorName(n.Actor, "")), markdown(string(n.Run)), markdown(string(n.Op)),
			markdown(string(n.Item)), markdown(n.Reason),
		}
	}
	d.table([]string{"When (UTC)", "Who", "Run", "Operation", "Item", "Note"}, rows)
}

// verb says what somebody asked for.
func (a *HandoverAct) verb() string {
	s := a.Act.String()
	if a.Finding != gate.FindingNone {
		s += ": " + FindingWord(a.Finding)
	}
	if a.Ruling != gate.RulingNone {
		s += ", " + a.Ruling.String()
	}
	if a.NewOp != "" {
		s += " as new action " + markdown(string(a.NewOp))
	}
	if a.NewRun != "" {
		s += " " + markdown(string(a.NewRun))
	}
	return s
}

func (d *document) causes(causes []HandoverCause, now time.Time) {
	rows := make([][]string, len(causes))
	for i := range causes {
		c := &causes[i]
		code, class := markdown(string(c.Code)), ClassWord(c.Class)
		if c.Code == "" {
			code, class = "-", "-"
		}
		claims := make([]string, len(c.Claims))
		for j, claim := range c.Claims {
			claims[j] = fmt.Sprintf("%s (%d)", markdown(claim.By), claim.Items)
		}
		rows[i] = []string{markdown(c.Dependency), code, class, itoa(c.Items), itoa(c.Runs), ago(now.Sub(c.Oldest.Time)), strings.Join(claims, ", ")}
	}
	d.table([]string{"Dependency", "Code", "Class", "Items:", "Runs:", "Oldest:", "Claimed by"}, rows)
}

func (d *document) items(items []gate.ItemRow, when string, at func(*gate.ItemRow) gate.Instant) {
	rows := make([][]string, len(items))
	for i := range items {
		r := &items[i]
		rows[i] = []string{
			moments(at(r)), markdown(string(r.ID)), KindWord(r.Kind), markdown(string(r.Run)), markdown(string(r.Op)),
			markdown(r.Tool), markdown(r.Dependency), markdown(string(r.Code)),
		}
	}
	d.table([]string{when, "Item", "Kind", "Run", "Operation", "Tool", "Dependency", "Code"}, rows)
}

func (d *document) breakers(deps []gate.DependencyRow) {
	rows := make([][]string, len(deps))
	for i := range deps {
		r := &deps[i]
		rows[i] = []string{markdown(r.Name), r.Breaker.String(), moments(r.Since), moments(r.Until), itoa(r.Failures) + "/" + itoa(r.Requests), itoa(r.Items)}
	}
	d.table([]string{"Dependency", "Breaker", "Since (UTC)", "Until (UTC)", "Failures:", "Open items:"}, rows)
}

func (d *document) budgets(budgets []HandoverBudget) {
	rows := make([][]string, len(budgets))
	for i := range budgets {
		b := &budgets[i]
		tokens, says := "-", strings.Join(b.SpentOut(), ", ")
		if b.RetryTokens != nil {
			tokens = spent(*b.RetryTokens)
		}
		if says != "" {
			says = "spent: " + says
		}
		if b.Overdrawn {
			says = strings.TrimSuffix("overdrawn; "+says, "; ")
		}
		rows[i] = []string{markdown(string(b.Run)), spent(b.Attempts), spent(b.SideEffects), tokens, says}
	}
	d.table([]string{"Run", "Attempts:", "Side effects:", "Retry tokens:", "Nothing left"}, rows)
}

// moments writes an instant to the second, as a table of one shift needs it.
func moments(t gate.Instant) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("01-02 15:04:05")
}

// markdownCells bounds what a text of others takes of a table's row.
const markdownCells = 200

// markdown returns the text of others as Markdown that says that text and
// nothing else: no end of a row or a cell, no heading, link, picture, HTML,
// emphasis or code, and no address that would become a link by itself.
func markdown(s string) string {
	s = strings.TrimRight(Fit(s, markdownCells), " ")
	var b strings.Builder
	for i, r := range s {
		if strings.ContainsRune("\\`*[]<>|#~&!$@", r) ||
			r == '_' && !withinWord(s, i) ||
			r == ':' && strings.HasPrefix(s[i:], "://") ||
			r == '.' && i >= 3 && strings.EqualFold(s[i-3:i], "www") {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// withinWord reports whether the byte at i stands between two of a word, where
// Markdown leaves an underscore alone.
func withinWord(s string, i int) bool {
	part := func(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
	return i > 0 && part(s[i-1]) && i+1 < len(s) && part(s[i+1])
}
