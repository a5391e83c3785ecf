package escalation

import (
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"tollgate/gate"
)

// Item is what waits for a person about one operation, with everything that a
// person needs to decide: the whole contract of R-P1. It is a frozen copy, and
// Version says of what. It has a claim only while that holds.
//
// Texts of agents and providers in it are hostile and stand as they came. An
// item of an operation that was never dispatched has no failures.
//
// Source: [B] (the escalation contract), R-P1.
type Item struct {
	gate.ItemRow
	Path         gate.Path         `json:"path"`
	Parent       gate.OpID         `json:"parent,omitempty"`
	FirstFailure *gate.Failure     `json:"first_failure,omitempty"`
	LastFailure  *gate.Failure     `json:"last_failure,omitempty"`
	Input        json.RawMessage   `json:"input,omitempty"` // that triggered it; absent when the caller gave a digest only
	InputDigest  string            `json:"input_digest,omitempty"`
	KeyGiven     bool              `json:"key_given,omitempty"` // it is the caller's own
	KnownEffect  gate.KnownEffect  `json:"effect_known"`
	Asker        gate.Actor        `json:"asker"`
	Tokens       int64             `json:"tokens,omitempty"` // what one repeat costs
	Budget       gate.BudgetRow    `json:"budget"`
	RunState     gate.RunState     `json:"run_state"`
	Ending       bool              `json:"run_ending,omitempty"`
	Breaker      gate.BreakerState `json:"breaker"`
	BreakerUntil time.Time         `json:"breaker_until,omitzero"`
	SameCause    int64             `json:"same_cause"` // items of the open queue that share dependency and code, none that is put off
	Findings     []Finding         `json:"findings"`   // of people, by attempt
	Dispatches   []gate.AttemptRow `json:"dispatches"` // every attempt that is kept, oldest first
	Terminal     *gate.Terminal    `json:"terminal,omitempty"`
	Cause        uint64            `json:"cause"`           // the decision that it answers
	Route        *gate.Route       `json:"route,omitempty"` // by which that sent it here
	Changed      gate.ChangedRow   `json:"changed"`         // its newest change, with what a person wrote; of a resolved item the one that resolved it
	Notes        int64             `json:"notes,omitempty"`
	LastNote     string            `json:"last_note,omitempty"`
	Noted        uint64            `json:"noted_seq,omitempty"` // the decision that brought it
	NoteBy       gate.Actor        `json:"note_by,omitzero"`
	NoteAt       gate.Instant      `json:"note_at,omitzero"`
	Runbook      string            `json:"runbook,omitempty"`

	// What each verb would do now, by name; see Desk.
	Preview map[string]Preview `json:"preview,omitempty"`
}

// Finding is what a person found out about one attempt: who, when, on which
// evidence and why, as the decision Seq of the ledger has it.
type Finding struct {
	Ordinal  int64        `json:"ordinal"`
	Finding  gate.Finding `json:"finding"`
	Seq      uint64       `json:"seq,omitempty"`
	At       gate.Instant `json:"at,omitzero"`
	By       gate.Actor   `json:"by,omitzero"`
	Reason   string       `json:"reason,omitempty"`
	Evidence string       `json:"evidence,omitempty"`
}

// NewItem projects an operation that has a hold, without what only the ledger
// tells of it. The breaker comes from dep,
// sameCause counts the open items that share dependency and code, and runbook
// is the dependency's template. now is in UTC.
func NewItem(run *gate.Run, op *gate.Operation, dep gate.DependencyRow, sameCause int64, runbook string, now time.Time) Item {
	h := &op.Hold
	row, shown := gate.RowOfItem(op, run), gate.RowOfOp(op, run, now)
	header := gate.RowOfRun(run, now)
	it := Item{
		ItemRow: row, Path: op.Path, Parent: op.Parent,
		Input: op.Input, InputDigest: shown.Digest, KeyGiven: op.KeyGiven, KnownEffect: shown.KnownEffect,
		Asker: op.Asker, Tokens: op.Tokens,
		Budget: header.Budget, RunState: header.State, Ending: header.Ending,
		Breaker: dep.Breaker, SameCause: sameCause,
		Findings: []Finding{}, Dispatches: shown.Attempts,
		Terminal: op.Terminal, Cause: h.Cause,
		Changed: gate.ChangedRow{Seq: h.Changed.Seq, At: gate.InstantOf(h.Changed.At), By: h.Changed.By, Act: h.Changed.Act, Verdict: h.Changed.Verdict},
		Notes:   h.Notes, LastNote: h.LastNote, Noted: h.Noted,
	}
	if !it.Claim.Holds(now) {
		it.Claim = nil
	}
	if dep.Breaker != gate.BreakerClosed {
		it.BreakerUntil = dep.Until.Time
	}
	if op.FirstError.Code != "" {
		first, last := op.FirstError, op.LastError
		it.FirstFailure, it.LastFailure = &first, &last
	}
	if op.Terminal != nil {
		route := op.Terminal.NextAction
		it.Route = &route
	}
	for _, a := range op.Attempts {
		if a.Finding != gate.FindingNone {
			it.Findings = append(it.Findings, Finding{Ordinal: a.Ordinal, Finding: a.Finding, Seq: a.Found})
		}
	}
	it.Runbook = runbookOf(runbook, &it)
	return it
}

// runbookOf fills in a runbook's template, each value escaped for a query.
func runbookOf(template string, it *Item) string {
	if template == "" {
		return ""
	}
	return strings.NewReplacer(
		"{key}", url.QueryEscape(it.Key), "{op}", url.QueryEscape(string(it.Op)),
		"{run}", url.QueryEscape(string(it.Run)), "{code}", url.QueryEscape(string(it.Code)),
	).Replace(template)
}
