// Package views turns values into text: pure functions from plain values, a
// size and a time to what a terminal shows. It knows no store and no program
// around it, has no clock of its own, and keeps nothing between two calls.
//
// # Screens
//
//	Queue(Page, QueueView)                  what waits for people, as a list
//	Causes(Page, CausesView)                the same, grouped by cause
//	Review(Page, ReviewView)                one item: the whole contract, what each verb would do
//	Form(Page, FormView)                    a decision in the making, on one item or many
//	Bulk(Page, BulkView)                    what came of a verb on many items, a line per item
//	Runs(Page, RunsView)                    runs with their gauges, as a list
//	Run(Page, RunScreen)                    one run: gauges, retry tree, what is selected in full
//	Timeline(Page, TimelineScreen)          one run to scale, from its start to its deadline
//	RunLedger(Page, run, tree, LedgerView)  the decisions of one run, with its budget before and after
//	Ledger(Page, LedgerView)                a window of the ledger
//	Record(Page, RecordView)                one decision in full
//	Dependencies(Page, DependenciesView)    breakers, failures, and what waits on them
//	Fixtures(Page, FixturesView)            fixtures and their last results
//	Playback(Page, PlaybackView)            a fixture that plays
//	Compare(Page, CompareView)              one script played by several rules
//	Help(Page, HelpView)                    the keys of a place
//
// Each returns exactly Page.Height rows of at most Page.Width cells, joined by
// line feeds, for every size; nothing below one cell, and "too small" below
// [LeastWidth] by [LeastHeight], where a program takes no verbs. A [Page] holds what
// all have in common: theme, time, [Header], [Notice], keys.
//
// Selection, scrolling and folding belong to the caller and come in as
// arguments. Selections are ids: an id that is not among the rows selects
// nothing. A list is given the rows to show, from the top one on; [QueueRows],
// [RunsRows], [RunRows] and their like say how many a page holds.
// [ReviewScroll], [RecordScroll], [RunDetail] and [HelpScroll] say how far the
// others can be scrolled; a Top that is too large shows the end.
//
//	tree := views.NewTree(&run, folded)           // when the run or a fold changes
//	i := tree.Find(selected)                      // the node that the cursor is on
//	frame := views.Run(page, views.RunScreen{Run: &run, Tree: tree, Selected: selected, Top: top})
//
// From 80 columns on a run shows its tree and the detail side by side, below
// that one of them ([RunTwoPanes]). [Answer] puts what the gate said into a
// [Notice].
//
// # Text from outside
//
// [Escape] makes text from agents and providers visible before it is measured
// or cut. Everything that a screen is given passes through it here, so a
// caller hands over text as it is stored. [Fit], [Wrap] and [Width] do it for
// text outside of screens, as the command line and error messages have it.
//
// # Cost
//
// A frame is appended to one buffer with sequences made once per [Theme]. It
// costs what it shows: a text of 20 MB no more than one of 300 bytes.
//
// All functions are safe for concurrent use.
package views
