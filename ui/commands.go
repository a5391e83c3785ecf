package ui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"tollgate/escalation"
	"tollgate/gate"
)

// This file is the only one that reads the clock, sleeps, or talks to the
// store, the gate or the terminal. Everything in it runs outside Update, knows
// nothing of the Model but what it is handed, and answers with a message.

// Bounds on how long a command may take.
const (
	readWithin   = 5 * time.Second
	answerWithin = 30 * time.Second
)

// outside is what commands work with.
type outside struct {
	ctx    context.Context // of the program: a watch ends with it
	source Source
	desk   Desk
	who    gate.Actor
	clock  func() time.Time
	copy   func(text string) error
	after  func(time.Duration, func() tea.Msg) tea.Cmd
}

// after is tea.Tick for a message that is made when the time has come.
func after(d time.Duration, msg func() tea.Msg) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return msg() })
}

// tick tells the time, a second from now.
func (o *outside) tick() tea.Cmd {
	return o.after(time.Second, func() tea.Msg { return clockMsg{o.clock()} })
}

// listen opens a watch.
func (o *outside) listen(watch int) tea.Cmd {
	return func() tea.Msg {
		ctx, end := context.WithCancel(o.ctx)
		return watchingMsg{watch, o.source.Watch(ctx), end}
	}
}

// next waits for the store to move.
func (o *outside) next(watch int, changes <-chan uint64) tea.Cmd {
	return func() tea.Msg {
		select {
		case _, ok := <-changes:
			return seqMsg{watch, ok}
		case <-o.ctx.Done():
			return nil
		}
	}
}

// restFor, tryAgain and armAfter send their messages when the time has come.
func (o *outside) restFor(d time.Duration) tea.Cmd {
	return o.after(d, func() tea.Msg { return restMsg{} })
}

func (o *outside) tryAgain() tea.Cmd {
	return o.after(again, func() tea.Msg { return againMsg{} })
}

func (o *outside) armAfter(msg armMsg) tea.Cmd {
	return o.after(quiet, func() tea.Msg { return msg })
}

// read brings what is wanted, in one short read.
func (o *outside) read(w want) tea.Cmd {
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(o.ctx, readWithin)
		defer cancel()
		at := o.clock()
		msg, err := o.collect(ctx, w, at)
		if err != nil {
			return readMsg{at: at, err: err}
		}
		msg.at, msg.took = at, o.clock().Sub(at)
		return msg
	}
}

func (o *outside) collect(ctx context.Context, w want, now time.Time) (msg readMsg, err error) {
	if msg.counts, err = o.source.Counts(ctx); err != nil {
		return msg, err
	}
	if w.queue != nil {
		q := *w.queue
		q.Now = now
		got, err := o.source.Items(ctx, q)
		if err != nil {
			return msg, ofFilter(q.Filter, err)
		}
		left, err := o.left(ctx, got.Rows, w.shown, q)
		if err != nil {
			return msg, err
		}
		if open := q.State == gate.HoldOpen && !q.Snoozed && q.Filter.IsZero(); open && got.Total < msg.counts.Open() {
			if msg.snoozed, err = o.snoozed(ctx, now); err != nil {
				return msg, err
			}
		}
		msg.queueGen = w.queueGen
		msg.queue = &page[gate.ItemID, gate.ItemRow]{asked: q.Window, rows: got.Rows, more: got.More, total: got.Total, prior: prior(q.Window, got.Above), left: left}
	}
	if w.runs != nil {
		q := *w.runs
		q.Now = now
		got, err := o.source.Runs(ctx, q)
		if err != nil {
			return msg, ofFilter(q.Filter, err)
		}
		total := got.Total
		if !q.Filter.IsZero() || q.State != 0 {
			total = -1 // it counts all runs, not those that match
		}
		msg.runsGen = w.runsGen
		msg.runs = &page[gate.RunID, gate.RunRow]{
			asked: q.Window, rows: got.Rows, more: got.More, total: total, prior: prior(q.Window, got.Above),
			left: leftRuns(&got, q.Window, w.shownRuns),
		}
	}
	if w.ledger != nil {
		got, err := o.window(ctx, w.ledger, msg.counts.Seq, now)
		if err != nil {
			return msg, ofFilter(w.ledger.by, err)
		}
		msg.ledger, msg.ledgerGen = &got, w.ledgerGen
	}
	if msg.recordSeq = w.record; w.record != 0 {
		got, err := o.source.Ledger(ctx, gate.LedgerQuery{From: w.record, Limit: 1})
		if err != nil {
			return msg, err
		}
		if len(got.Rows) > 0 && got.Rows[0].Seq == w.record {
			msg.record = &got.Rows[0]
		}
	}
	if w.dependencies != nil {
		if msg.dependencies, err = o.dependencies(ctx, w.dependencies, now); err != nil {
			return msg, err
		}
	}
	if w.run != "" {
		msg.runID = w.run
		switch run, err := o.source.Run(ctx, w.run, now); {
		case err == nil:
			msg.run = &run
		case !errors.Is(err, gate.ErrNoRun):
			return msg, err
		}
	}
	if !w.review.IsZero() {
		msg.review = w.review
		if msg.reviewNow, err = o.operation(ctx, w.review, now); err != nil {
			return msg, err
		}
		if msg.latest, err = o.latest(ctx, w.review); err != nil {
			return msg, err
		}
	}
	if !w.came.IsZero() {
		if msg.cameNow, err = o.operation(ctx, w.came, now); err != nil {
			return msg, err
		}
	}
	return msg, nil
}

// ofFilter tells a filter that looks for too long from a gate that hangs: the
// counters have just come.
func ofFilter(f gate.Filter, err error) error {
	if errors.Is(err, context.DeadlineExceeded) && !f.IsZero() {
		return fmt.Errorf("%w %s: %w", errLongFilter, f, err)
	}
	return err
}

// dependencies brings what is known of all dependencies, and what waits on one.
func (o *outside) dependencies(ctx context.Context, w *dependenciesWant, now time.Time) (*dependenciesRead, error) {
	const most = 20 // items that are seen below the list
	rows, err := o.source.Dependencies(ctx, now)
	if err != nil {
		return nil, err
	}
	got := &dependenciesRead{on: w.on, page: page[dependencyName, gate.DependencyRow]{asked: w.window, rows: rows, total: int64(len(rows))}}
	for i := range rows {
		if name := rows[i].Name; dependencyName(name) == w.on && rows[i].Items > 0 {
			q := gate.ItemsQuery{Window: gate.Window{After: most}, Now: now, Filter: gate.FilterBy(gate.FilterQueue, [2]string{"dep", name})}
			items, err := o.source.Items(ctx, q)
			if err != nil {
				return nil, ofFilter(q.Filter, err)
			}
			got.waiting = items.Rows
		}
	}
	return got, nil
}

// window brings a window of the ledger, newest first, of which newest is at
// least the newest seq.
func (o *outside) window(ctx context.Context, w *ledgerWant, newest uint64, now time.Time) (page[decisionID, gate.DecisionRow], error) {
	p := page[decisionID, gate.DecisionRow]{asked: w.window, total: -1}
	anchor := decisionID(w.window.Anchor).seq()
	q := gate.LedgerQuery{From: anchor, Back: true, Limit: w.window.After, Filter: w.by, Now: now}
	down, next, err := o.scan(ctx, q, newest)
	if err != nil {
		return p, err
	}
	p.more = next != 0
	if anchor != 0 && w.window.Before > 0 {
		q.From, q.Back, q.Limit = anchor+1, false, w.window.Before
		up, next, err := o.scan(ctx, q, newest)
		if err != nil {
			return p, err
		}
		p.prior = next <= newest
		slices.Reverse(up)
		down = append(up, down...)
	}
	p.rows = down
	if w.by.IsZero() {
		if p.total = int64(newest); !p.prior && len(down) > 0 { //nolint:gosec // a seq
			p.total = max(p.total, int64(down[0].Seq)) //nolint:gosec // a seq
		}
	}
	return p, nil
}

// scans is how many times one read goes on when a filter lets through little.
const scans = 10

// scan brings as many decisions as q asks for, as far as a few scans reach, and
// where the next one begins.
func (o *outside) scan(ctx context.Context, q gate.LedgerQuery, newest uint64) (rows []gate.DecisionRow, next uint64, err error) {
	for limit, i := q.Limit, 0; ; i++ {
		got, err := o.source.Ledger(ctx, q)
		if err != nil {
			return nil, 0, err
		}
		rows = append(rows, got.Rows...)
		q.From, q.Limit = got.Next, limit-len(rows)
		if i+1 == scans || q.Limit <= 0 || q.From == 0 || q.From > newest {
			return rows, q.From, nil
		}
	}
}

// leftRuns returns the runs that were shown and that a filter no longer lets
// through, as far as an answer that holds the whole list can tell.
func leftRuns(got *gate.RunsPage, q gate.Window, shown []gate.RunID) map[gate.RunID]string {
	if got.More || prior(q, got.Above) {
		return nil
	}
	left := make(map[gate.RunID]string)
	for _, id := range shown {
		left[id] = "is no longer in this list"
	}
	for i := range got.Rows {
		delete(left, got.Rows[i].Run)
	}
	return left
}

// prior reports whether a list has rows before those of an answer. Where that
// is not cheap to know, a list that was asked for from its middle has.
func prior(q gate.Window, above int) bool {
	return above > 0 || above < 0 && q.Anchor != "" && q.Before > 0
}

// snoozed finds out how many items are put off, and until when.
func (o *outside) snoozed(ctx context.Context, now time.Time) (snoozedItems, error) {
	got, err := o.source.Items(ctx, gate.ItemsQuery{Window: gate.Window{After: 1}, Now: now, Snoozed: true})
	if err != nil || len(got.Rows) == 0 {
		return snoozedItems{}, err
	}
	return snoozedItems{n: got.Total, until: got.Rows[0].Snoozed.Time}, nil
}

// left looks at the items that were shown and that an answer to q does not
// hold: they have changed places, or have left the list; then it says how.
func (o *outside) left(ctx context.Context, rows []gate.ItemRow, shown []listed, q gate.ItemsQuery) (map[gate.ItemID]string, error) {
	here := make(map[gate.ItemID]bool, len(rows))
	for i := range rows {
		here[rows[i].ID] = true
	}
	left, filter := make(map[gate.ItemID]string), q.Filter
	for _, s := range shown {
		if here[s.id] {
			continue
		}
		q.Window, q.Filter = gate.Window{Anchor: string(s.id), After: 1}, gate.Filter{}
		still, err := o.source.Items(ctx, q)
		switch {
		case err != nil:
			return nil, err
		case len(still.Rows) > 0 && still.Rows[0].ID == s.id:
			if !filter.MatchesItem(&still.Rows[0], q.Now) {
				left[s.id] = "does not match the filter any more"
			}
			continue
		}
		op, err := o.operation(ctx, s.ref, q.Now)
		if err != nil {
			return nil, err
		}
		latest, err := o.latest(ctx, s.ref)
		if err != nil {
			return nil, err
		}
		left[s.id] = howItLeft(op, latest, q, o.who.ID)
	}
	return left, nil
}

// operation returns nil for one that does not exist.
func (o *outside) operation(ctx context.Context, ref gate.Ref, now time.Time) (*gate.OpRow, error) {
	op, err := o.source.Operation(ctx, ref, now)
	switch {
	case err == nil:
		return &op, nil
	case errors.Is(err, gate.ErrNoOperation), errors.Is(err, gate.ErrNoRun):
		return nil, nil
	}
	return nil, err
}

// latest returns the newest decisions about an operation, newest first.
func (o *outside) latest(ctx context.Context, ref gate.Ref) ([]gate.DecisionRow, error) {
	got, err := o.source.Ledger(ctx, gate.LedgerQuery{Run: ref.Run, Op: ref.Op, Back: true, Limit: 8})
	return got.Rows, err
}

// item brings one item in full, with the gate's preview of every verb.
func (o *outside) item(id gate.ItemID) tea.Cmd {
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(o.ctx, readWithin)
		defer cancel()
		msg := itemMsg{id: id, at: o.clock()}
		msg.item, msg.err = o.source.Item(ctx, id)
		return msg
	}
}

// decisions brings what the ledger holds about an operation.
func (o *outside) decisions(ref gate.Ref, last uint64) tea.Cmd {
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(o.ctx, readWithin)
		defer cancel()
		got, err := o.source.Ledger(ctx, gate.LedgerQuery{Run: ref.Run, Op: ref.Op, Back: true, Limit: 4 * gate.KeptAttempts})
		slices.Reverse(got.Rows) // the newest of them, oldest first
		return decisionsMsg{ref, last, got.Rows, err}
	}
}

// do sends one act to the gate. It is one action however often it is sent with
// the same request id (R-P6). After a STOP_CLAIMED it brings who holds the claim.
func (o *outside) do(id gate.ItemID, op gate.OpID, act escalation.Act, from *form) tea.Cmd {
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(o.ctx, answerWithin)
		defer cancel()
		msg := answerMsg{item: id, op: op, act: act, form: from}
		msg.row, msg.err = o.desk.Do(ctx, o.who, id, act)
		if msg.row.Verdict == gate.StopClaimed {
			if it, err := o.source.Item(ctx, id); err == nil { // without it the answer is still whole
				msg.held = heldBy(&it.ItemRow, o.clock())
			}
		}
		return msg
	}
}

// copyText puts a text into the terminal's clipboard.
func (o *outside) copyText(what, text string) tea.Cmd {
	return func() tea.Msg {
		if o.copy == nil {
			return copiedMsg{what, fmt.Errorf("this terminal has no clipboard")}
		}
		return copiedMsg{what, o.copy(text)}
	}
}
