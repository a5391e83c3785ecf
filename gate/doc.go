// Package gate holds the words and the rules of tollgate: what a run may still
// spend, and whether one operation may be dispatched now.
//
// The rules are pure functions over values. Time, jitter, the contract and the
// state of the clock come in as [Inputs] and are stored with the answer, so
// that any answer can be decided again later from the ledger alone. The
// package does no I/O, owns no clock and reads no YAML; only door.go knows
// contexts and locks.
//
// # How an answer is made
//
//	Command ──► Door ──► Store.Load(Want) ──► Step(State, Command, Inputs) ──► Store.Commit(Transition…)
//	                                              │                                │
//	                                              ▼                                ▼
//	                                          Decision                  Seq, ledger, Fold onto the live state
//
// [Step] is the only maker of a [Transition], and a [Store] writes nothing
// else: so nothing reaches the ledger except through the rules. The zero
// Transition is the one hole; Commit refuses it. Where the store is an
// [Accepter], the Door commits by its Accept, and decides on while the disk
// works.
//
// [Fold] applies a decision to the state that it was decided on. It decides
// nothing: it moves counters, appends attempts and settles what the decision
// says. A live store and a replay of the ledger use the same Fold, and so
// cannot come to differ.
//
// # Shapes
//
// All instants are UTC, in whole milliseconds. All durations are whole
// milliseconds. Identifiers are 1 to 128 bytes of letters, digits and
// . _ : / @ + = # , -; the tilde is the gate's own (OP~2).
//
// Clauses are cited as R-D2 and stand in docs/rules.md. "Source: [A6]" is step
// 6 of "Set Retry Budgets for Agent Tool Calls", "[B]" is "Retry Budgets for
// Subagents".
package gate
