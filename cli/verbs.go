package cli

import (
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tollgate/escalation"
	"tollgate/gate"
)

// verbCommands returns the verbs of R-P3, one command each. All of them are
// one act through the gate: none lowers a counter, raises a limit or moves a
// deadline.
func (a *app) verbCommands() []*cobra.Command {
	reconcile := a.verb(gate.ActReconcile, "Say what really happened to a write",
		`Say what really happened to a write: happened, did-not-happen or cannot-tell.
Happened closes the operation as succeeded, and its agent gets the evidence as
result_ref: give the provider's reference. Did-not-happen gives nothing back and
leaves the item open for approve or reject. Cannot-tell closes it as unresolved.`)
	reconcile.cmd.Example = `  tollgate queue reconcile i-97cqhqq53y did-not-happen --version 1 --evidence 'no charge for order 42' --reason 'provider log'`
	finding(reconcile)

	approve := a.verb(gate.ActApprove, "Let the gate decide on one more dispatch, with a person's yes",
		`Let the gate decide on one more dispatch of the operation, under the same key and
on the same budget. It can still say stop. A yes goes to the agent that waits.`)
	approve.cmd.Example = `  tollgate queue approve i-97cqhqq53y --version 2 --reason 'payments is well'`
	f := approve.cmd.Flags()
	f.Var(&wordValue{into: &approve.act.Ruling, kind: "RULING", words: []string{"cause-cleared"}}, "ruling", "cause-cleared: this one failure counts as transient (R-P4)")
	f.BoolVar(&approve.act.AsNewAction, "as-new-action", false, "a new operation under a new key; accepts that it may be done twice")

	newRun := a.verb(gate.ActNewRun, "Go on in a new run with limits of its own",
		`Go on in a new run with limits of its own. What is unfinished goes on there, with its
keys, outcomes and findings; the counters of the old run stay as they are.`)
	newRun.cmd.Example = `  tollgate queue new-run i-97cqhqq53y r1.2 --version 2 --attempts 3 --deadline 10m --side-effects 1 --reason 'customer waits'`
	newRun.last, newRun.single = "RUN", true
	newRun.read = func(last string) error { newRun.act.NewRun = gate.RunID(last); return nil }
	limitFlags(newRun.cmd, &newRun.act.Limits, &newRun.act.Caps)

	snooze := a.verb(gate.ActSnooze, "Hide an item from the queue until an instant",
		`Hide an item from the queue until an instant. The deadline of its run goes on.`)
	snooze.cmd.Example = `  tollgate queue snooze i-97cqhqq53y --for 15m`
	snooze.cmd.Flags().Var(&instantValue{&snooze.act.Until}, "until", "when it comes back, such as 2026-01-05T09:00:00Z")
	var until *time.Duration
	snooze.cmd.Flags().Var(&spanValue{d: &until, least: time.Second, most: gate.MaxDeadline}, "for", "how long, instead of --until")
	snooze.read = func(string) error {
		switch {
		case until != nil && !snooze.act.Until.IsZero():
			return misused(snooze.cmd, "--for and --until: want one of them, got both")
		case until != nil:
			snooze.act.Until = time.Now().UTC().Add(*until)
		case snooze.act.Until.IsZero():
			return misused(snooze.cmd, "missing --until or --for")
		}
		return nil
	}

	var cmds []*cobra.Command
	for _, v := range []*verb{
		a.verb(gate.ActClaim, "Take an item: a lease, so that others see who is on it",
			`Take an item, so that others see who is on it: a lease of 15 minutes unless the
contract says otherwise. What another decides on it meanwhile needs --take-over.`),
		a.verb(gate.ActRelease, "Give a claim back", ""),
		snooze,
		a.verb(gate.ActNote, "Write a note on an item, with --reason", ""),
		reconcile, approve,
		a.verb(gate.ActReject, "Close the operation as rejected; its agent gets the typed outcome", ""),
		newRun,
	} {
		cmds = append(cmds, v.finish())
	}
	return cmds
}

// verb is one verb's command while it is put together.
type verb struct {
	app     *app
	cmd     *cobra.Command
	last    string // the argument behind the items; empty for none
	single  bool   // takes one item at a time
	act     escalation.Act
	version *int64
	read    func(last string) error // the verb's own argument and flags

	picks  []escalation.Pick // of the arguments; version 0 for what was given none
	filter gate.Filter       // chooses them in place of that
	yes    *int64            // how many those have to be
}

func (a *app) verb(do gate.Act, short, long string) *verb {
	v := &verb{app: a, act: escalation.Act{Verb: do}, read: func(string) error { return nil }}
	v.cmd = &cobra.Command{Short: short, Long: long}
	return v
}

func finding(v *verb) {
	v.last = "FINDING"
	v.cmd.Flags().StringVar(&v.act.Evidence, "evidence", "", "what shows it, such as the provider's reference; with happened it becomes the result_ref")
	v.read = func(last string) error {
		if last == "" || v.act.Finding.UnmarshalText([]byte(last)) != nil {
			return misused(v.cmd, "FINDING: want one of happened, did-not-happen, cannot-tell, got %q", last)
		}
		return nil
	}
}

func (v *verb) finish() *cobra.Command {
	items := "ITEM…"
	if v.single {
		items = "ITEM"
	}
	v.cmd.Use = strings.TrimSpace(v.act.Verb.String() + " " + items + " " + v.last)
	v.cmd.Args = v.takes
	v.cmd.ValidArgsFunction = v.app.completeItems
	f := v.cmd.Flags()
	if !v.single {
		yesFlag(v.cmd, &v.yes)
		filterVar(v.cmd, gate.FilterQueue, &v.filter, "in place of ITEM…: the open items that match these terms")
	}
	v.app.clientFlags(v.cmd)
	f.StringVar(&v.act.Reason, "reason", "", "why; stands in the ledger")
	f.StringVar(&v.act.RequestID, "request-id", "", "the same id gets the same answer, once (default: a random one)")
	f.BoolVar(&v.act.TakeOver, "take-over", false, "although another holds the claim; it is recorded")
	f.Var(&countValue{n: &v.version, least: 1, most: 1<<63 - 1}, "version", "of the item, as queue show printed it: what was seen is what is decided on")
	v.cmd.PreRunE = v.check
	v.cmd.RunE = v.app.calling(v.run)
	return v.cmd
}

// check says what is wrong with the call before any store is touched.
func (v *verb) check(cmd *cobra.Command, args []string) error {
	items, last := v.split(args)
	if err := v.read(last); err != nil {
		return err
	}
	if err := v.pick(cmd, items); err != nil {
		return err
	}
	if v.act.RequestID == "" {
		v.act.RequestID = newID()
	}
	_, err := v.act.Command(self(), gate.Ref{})
	return asFlag(cmd, err)
}

func (v *verb) run(cmd *cobra.Command, g *gateway, _ []string) error {
	if err := v.choose(cmd, g); err != nil {
		return err
	}
	if v.many() {
		return v.bulk(cmd, g)
	}
	id := v.picks[0].ID
	v.act.Version = v.picks[0].Version
	d, err := g.Do(cmd.Context(), self(), id, v.act)
	if err := v.app.answered(d, err); d.Verdict != gate.StopClaimed || v.app.json {
		return err
	}
	return errors.Join(v.claimed(cmd, g, id), silent(exitStopped))
}

// claimed says whose claim stands against the verb: the answer itself has only
// its end.
func (v *verb) claimed(cmd *cobra.Command, g *gateway, id gate.ItemID) error {
	it, err := g.Item(cmd.Context(), id)
	if err != nil || it.Claim == nil {
		return err
	}
	f := new(fields)
	f.add("claimed by", actor(gate.Actor{ID: it.Claim.ID, Name: it.Claim.By}))
	f.add("claimed until", instant(it.Claim.Until.Time))
	f.add("take over", "with --take-over, which is recorded")
	return v.app.printFields(f)
}

// newID returns an id for an ask or a request that was given none.
func newID() string { return "cli-" + rand.Text() }
