package ui

import (
	"time"

	"tollgate/escalation"
	"tollgate/gate"
)

// The messages of the program's own. Each is what a command of commands.go
// came back with; the terminal's come from bubbletea.

// clockMsg tells the time, once a second.
type clockMsg struct{ now time.Time }

// watchingMsg: the watch numbered watch is up; end ends it.
type watchingMsg struct {
	watch   int
	changes <-chan uint64
	end     func()
}

// seqMsg: the store has moved, or with ok false the watch has ended.
type seqMsg struct {
	watch int
	ok    bool
}

// restMsg: the rest after a read is over.
type restMsg struct{}

// againMsg: it is time to try a lost store again.
type againMsg struct{}

// want says what one read brings: what is on the screen, and no more.
type want struct {
	queue    *gate.ItemsQuery
	queueGen int
	shown    []listed // items that are seen, to tell those that have left

	runs      *gate.RunsQuery
	runsGen   int
	shownRuns []gate.RunID

	ledger    *ledgerWant
	ledgerGen int
	record    uint64 // seq; 0: none

	dependencies *dependenciesWant

	run gate.RunID // empty: none

	review gate.Ref // the operation of the item under review; zero: none
	came   gate.Ref // the operation whose attempt the newest answer permitted; zero: none
}

// ledgerWant says which decisions are wanted: a window of them, newest first.
type ledgerWant struct {
	window gate.Window // anchors are of decisionIDs
	by     gate.Filter
}

// dependenciesWant says from where on the dependencies are shown, and of which
// one the items are wanted that wait on it.
type dependenciesWant struct {
	window gate.Window
	on     dependencyName // empty: none
}

// dependenciesRead is what is known of all dependencies, and the first items
// that wait on one of them.
type dependenciesRead struct {
	page    page[dependencyName, gate.DependencyRow]
	on      dependencyName
	waiting []gate.ItemRow
}

// listed names an item that is shown.
type listed struct {
	id  gate.ItemID
	ref gate.Ref
}

// readMsg is what one read brought; the pointers are nil for what was not
// wanted.
type readMsg struct {
	at   time.Time     // when it began
	took time.Duration // how long it was
	err  error         // nothing else is set then

	counts   gate.Counts
	queue    *page[gate.ItemID, gate.ItemRow]
	queueGen int
	snoozed  snoozedItems
	runs     *page[gate.RunID, gate.RunRow]
	runsGen  int

	ledger    *page[decisionID, gate.DecisionRow]
	ledgerGen int
	recordSeq uint64            // that was asked for; 0: none
	record    *gate.DecisionRow // nil when it does not exist

	dependencies *dependenciesRead

	runID gate.RunID
	run   *gate.RunView // nil when it does not exist

	review    gate.Ref
	reviewNow *gate.OpRow
	latest    []gate.DecisionRow // of the operation under review, newest first
	cameNow   *gate.OpRow
}

// snoozedItems are the open items that are in a list of their own, for the time
// being.
type snoozedItems struct {
	n     int64
	until time.Time // the first of them comes back
}

// itemMsg is one item in full.
type itemMsg struct {
	id   gate.ItemID
	item escalation.Item
	at   time.Time // when the read began
	err  error
}

// decisionsMsg is what the ledger holds about one operation.
type decisionsMsg struct {
	ref  gate.Ref
	last uint64 // of the operation, when they were asked for
	rows []gate.DecisionRow
	err  error
}

// answerMsg is the gate's answer to one act of the operator.
type answerMsg struct {
	item gate.ItemID
	op   gate.OpID
	act  escalation.Act
	form *form // that sent it; nil for an act without one
	row  gate.DecisionRow
	held string // by whom, after a STOP_CLAIMED
	err  error
}

// armMsg: 400 ms have passed since the key, or the paste, with this number.
type armMsg struct {
	form  *form
	quiet int
	paste int
}

// copiedMsg: a text has gone to the terminal's clipboard.
type copiedMsg struct {
	what string
	err  error
}
