package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tollgate/gate"
	"tollgate/views"
)

func (a *app) handoverCommand() *cobra.Command {
	since := sinceValue{ago: 8 * time.Hour}
	cmd := &cobra.Command{
		Use:   "handover",
		Short: "Report on a shift, for whoever takes over: what was decided, and what is still open",
		Long: `Report on a shift, for whoever takes over, in Markdown: what people decided, by whom and
why; what is still open, by cause and age; dead letters and what is put off; breakers that
are not closed; what the runs of the shift have spent.`,
		Example: `  tollgate handover --since 8h
  tollgate handover --since 2026-01-05T09:00:00Z --json`,
		GroupID: groupPeople,
		Args:    noArgs,
		RunE: a.reading(func(cmd *cobra.Command, r gate.Reader, _ []string) error {
			now := time.Now().UTC()
			h, err := handover(cmd.Context(), r, since.before(now), now)
			if err != nil {
				return err
			}
			if a.json {
				return a.object(h)
			}
			_, err = io.WriteString(a.out, h.Markdown())
			return err
		}),
	}
	a.clientFlags(cmd)
	cmd.Flags().Var(&since, "since", "when the shift began: an instant, or how long ago")
	return cmd
}

// sinceValue is an instant in the past, or how long ago it was.
type sinceValue struct {
	ago time.Duration
	at  time.Time // zero: so long ago
}

func (v *sinceValue) Set(s string) error {
	var d *time.Duration
	if (&spanValue{d: &d, least: time.Second, most: gate.MaxDeadline}).Set(s) == nil {
		*v = sinceValue{ago: *d}
		return nil
	}
	var at time.Time
	if err := (&instantValue{&at}).Set(s); err != nil || !at.Before(time.Now()) {
		return fmt.Errorf("want a duration from 1s to %s such as 8h, or an instant in the past such as 2026-01-05T09:00:00Z", gate.Span(gate.MaxDeadline))
	}
	*v = sinceValue{at: at}
	return nil
}

func (v *sinceValue) String() string { return gate.Span(v.ago) }
func (v *sinceValue) Type() string   { return "WHEN" }

func (v *sinceValue) before(now time.Time) time.Time {
	if !v.at.IsZero() {
		return v.at
	}
	return now.Add(-v.ago)
}

// What one report reads and lists at most; it says so when there is more.
const (
	handoverDecisions = 50 * gate.MaxWindow // of the ledger, the newest
	handoverItems     = 10 * gate.MaxWindow // of the queue
	handoverRows      = gate.MaxWindow      // of each list
)

// handover reads the report of a shift. now is in UTC.
func handover(ctx context.Context, r gate.Reader, since, now time.Time) (*views.Handover, error) {
	h := &views.Handover{
		Since: gate.InstantOf(since), At: gate.InstantOf(now),
		Decided: []views.HandoverAct{}, Open: []views.HandoverCause{}, Notes: []views.HandoverAct{},
		DeadLetters: []gate.ItemRow{}, Snoozed: []gate.ItemRow{}, Breakers: []gate.DependencyRow{}, Budgets: []views.HandoverBudget{},
	}
	waits := map[gate.ItemID]bool{}
	for _, read := range []func() error{
		func() error { return readShift(ctx, r, h, handoverDecisions) },
		func() error { return readQueue(ctx, r, h, waits) },
		func() error { return readBreakers(ctx, r, h) },
	} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	h.Notes = slices.DeleteFunc(h.Notes, func(n views.HandoverAct) bool { return !waits[n.Item] })
	slices.SortFunc(h.Budgets, func(a, b views.HandoverBudget) int {
		return cmp.Or(rank(&a)-rank(&b), strings.Compare(string(a.Run), string(b.Run)))
	})
	h.Decided = newest(h, h.Decided, "decided")
	h.Notes = newest(h, h.Notes, "notes")
	h.Budgets = first(h, h.Budgets, "budgets")
	return h, nil
}

// rank puts the budgets first that somebody has to know of.
func rank(b *views.HandoverBudget) int {
	switch {
	case b.Overdrawn:
		return 0
	case len(b.SpentOut()) > 0:
		return 1
	}
	return 2
}

// newest and first keep of a list what a report lists at most.
func newest[R any](h *views.Handover, rows []R, what string) []R {
	if n := len(rows) - handoverRows; n > 0 {
		h.Cut = append(h.Cut, fmt.Sprintf("%s: the newest %d of %d are listed", what, handoverRows, len(rows)))
		return rows[n:]
	}
	return rows
}

func first[R any](h *views.Handover, rows []R, what string) []R {
	if len(rows) > handoverRows {
		h.Cut = append(h.Cut, fmt.Sprintf("%s: the first %d of %d are listed", what, handoverRows, len(rows)))
		return rows[:handoverRows]
	}
	return rows
}

// readShift walks the ledger backwards to the beginning of the shift, and no
// further than most decisions: what people decided, their notes, and what each
// run had spent with its newest decision.
func readShift(ctx context.Context, r gate.Reader, h *views.Handover, most int) error {
	seen := map[gate.RunID]bool{}
	q := gate.LedgerQuery{Back: true}
	for read := 0; ; {
		q.Limit = min(gate.MaxWindow, most-read)
		page, err := r.Ledger(ctx, q)
		if err != nil {
			return err
		}
		for i := range page.Rows {
			d := &page.Rows[i]
			h.Seq = max(h.Seq, d.Seq)
			if d.At.Before(h.Since.Time) {
				page.Next = 0
				break
			}
			switch {
			case d.Act.Decides():
				h.Decided = append(h.Decided, actOf(d))
			case d.Act == gate.ActNote && d.Verdict == gate.Recorded:
				h.Notes = append(h.Notes, actOf(d))
			}
			if d.After != nil && !seen[d.Run] {
				seen[d.Run] = true
				h.Budgets = append(h.Budgets, views.HandoverBudget{
					Run: d.Run, At: d.At, Attempts: d.After.Attempts, SideEffects: d.After.SideEffects,
					RetryTokens: d.After.RetryTokens, Overdrawn: d.After.Overdrawn,
				})
			}
		}
		read += len(page.Rows)
		if page.Next == 0 || len(page.Rows) == 0 {
			break
		}
		if q.From = page.Next; read >= most {
			oldest := page.Rows[len(page.Rows)-1].At
			h.Cut = append(h.Cut, fmt.Sprintf("ledger: the newest %d decisions were read, back to %s", read, instant(oldest.Time)))
			break
		}
	}
	slices.Reverse(h.Decided)
	slices.Reverse(h.Notes)
	return nil
}

func actOf(d *gate.DecisionRow) views.HandoverAct {
	return views.HandoverAct{
		Seq: d.Seq, At: d.At, Actor: d.Actor, Act: d.Act, Verdict: d.Verdict, Finding: d.Finding, Ruling: d.Ruling,
		Item: d.Item, Run: d.Run, Op: d.Op, NewOp: d.NewOp, NewRun: d.NewRun, Reason: d.Reason, Evidence: d.Evidence,
	}
}

// readQueue reads what waits: the open items by cause, the dead letters and
// those that are put off. waits gets the ids of all of them.
func readQueue(ctx context.Context, r gate.Reader, h *views.Handover, waits map[gate.ItemID]bool) error {
	causes := newCauses(h.At.Time)
	for _, l := range []struct {
		what  string
		q     gate.ItemsQuery
		limit int64
		each  func(*gate.ItemRow)
	}{
		{"still open", gate.ItemsQuery{State: gate.HoldOpen}, handoverItems, causes.add},
		{"dead letters", gate.ItemsQuery{State: gate.HoldDeadLetter}, handoverRows, func(i *gate.ItemRow) { h.DeadLetters = append(h.DeadLetters, *i) }},
		{"snoozed", gate.ItemsQuery{State: gate.HoldOpen, Snoozed: true}, handoverRows, func(i *gate.ItemRow) { h.Snoozed = append(h.Snoozed, *i) }},
	} {
		l.q.Now = h.At.Time
		var total, read int64
		err := list(l.limit, &l.q.Window, func(i *gate.ItemRow) string { return string(i.ID) },
			func() ([]gate.ItemRow, bool, error) {
				page, err := r.Items(ctx, l.q)
				total = page.Total
				return page.Rows, page.More, err
			},
			func(i *gate.ItemRow) error {
				read++
				waits[i.ID] = true
				l.each(i)
				return nil
			})
		if err != nil {
			return err
		}
		if read >= l.limit && total > read {
			h.Cut = append(h.Cut, fmt.Sprintf("%s: the first %d of %d items were read", l.what, read, total))
		}
	}
	h.Open = first(h, causes.sorted(), "causes")
	return nil
}

// causes counts items that wait for one and the same reason.
type causes struct {
	now time.Time
	by  map[cause]*tally
}

type cause struct {
	dependency string
	code       gate.Code
	class      gate.Class
}

type tally struct {
	items  int64
	oldest time.Time
	runs   map[gate.RunID]bool
	claims map[string]int64
}

func newCauses(now time.Time) *causes { return &causes{now: now, by: map[cause]*tally{}} }

func (c *causes) add(i *gate.ItemRow) {
	key := cause{i.Dependency, i.Code, i.Class}
	t := c.by[key]
	if t == nil {
		t = &tally{oldest: i.Opened.Time, runs: map[gate.RunID]bool{}, claims: map[string]int64{}}
		c.by[key] = t
	}
	t.items++
	t.runs[i.Run] = true
	if i.Opened.Before(t.oldest) {
		t.oldest = i.Opened.Time
	}
	if i.Claim.Holds(c.now) { // a claim is a lease (R-P7)
		t.claims[i.Claim.By]++
	}
}

// sorted returns the causes, the largest first, and of two as large the one
// that has waited longer.
func (c *causes) sorted() []views.HandoverCause {
	rows := make([]views.HandoverCause, 0, len(c.by))
	for key, t := range c.by {
		row := views.HandoverCause{
			Dependency: key.dependency, Code: key.code, Class: key.class,
			Items: t.items, Runs: int64(len(t.runs)), Oldest: gate.InstantOf(t.oldest),
		}
		for by, n := range t.claims {
			row.Claims = append(row.Claims, views.HandoverClaim{By: by, Items: n})
		}
		slices.SortFunc(row.Claims, func(a, b views.HandoverClaim) int {
			return cmp.Or(cmp.Compare(b.Items, a.Items), strings.Compare(a.By, b.By))
		})
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b views.HandoverCause) int {
		return cmp.Or(cmp.Compare(b.Items, a.Items), a.Oldest.Compare(b.Oldest.Time),
			strings.Compare(a.Dependency, b.Dependency), strings.Compare(string(a.Code), string(b.Code)), cmp.Compare(a.Class, b.Class))
	})
	return rows
}

func readBreakers(ctx context.Context, r gate.Reader, h *views.Handover) error {
	deps, err := r.Dependencies(ctx, h.At.Time)
	if err != nil {
		return err
	}
	for _, d := range deps {
		if d.Breaker != gate.BreakerClosed {
			h.Breakers = append(h.Breakers, d)
		}
	}
	h.Breakers = first(h, h.Breakers, "breakers")
	return nil
}
