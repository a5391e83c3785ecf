package gate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Clock is what a Door measures time by.
type Clock interface {
	// Wall returns the wall clock.
	Wall() time.Time
	// Elapsed returns the time since some fixed instant of this process's
	// life. It never goes back, and counts time that the machine slept.
	Elapsed() time.Duration
}

// Door is the one way to the ledger: it stamps the inputs of a command, loads
// what the command is decided on, lets Step decide and commits the answer.
//
// When the store is no Accepter, the commands that wait for one run are decided
// one after another and committed as one chain, so that a busy run costs a sync
// per chain and not per command.
//
// Safe for concurrent use. Make one with NewDoor; one Door per store.
type Door struct {
	store  Engine
	clock  Clock
	jitter func() float64
	realm  string

	force atomic.Pointer[Inputs] // the contract in force; nothing else is filled in

	mu       sync.Mutex
	queues   map[RunID]*runQueue // runs with commands that wait or are being decided
	ready    []*runQueue         // of those, where something waits and nothing is being decided
	deciders int                 // goroutines at work
	accepts  bool                // the store is an Accepter: one decider is enough, and no command is worth waiting for another

	reading sync.Mutex // of clock and jitter
	time    gateTime
}

// runQueue is the queue of commands of one run. At most one chain of a run is
// being decided at a time.
type runQueue struct {
	run     RunID
	waiting []*call
}

type call struct {
	ctx     context.Context
	command Command
	want    Want
	in      Inputs // the contract, as it was when the call came; and each time that it is decided a stamp
	answer  chan answer
}

type answer struct {
	decision *Decision // nil with an error
	err      error
}

// maxChain bounds a chain, so that one run can't hold up the others' sync.
const maxChain = 256

// maxConflicts bounds how often a chain is decided again. Only decisions about
// a guarded dependency meet, between a Load and the Commit right after it; so
// many in a row mean a store that compares wrongly.
const maxConflicts = 10_000

// NewDoor returns the door of a store. contract is put into force: a record,
// if it is not the one that the ledger knows (R-L1). jitter returns fractions
// in [0, 1); it is not called by two goroutines at once.
func NewDoor(ctx context.Context, store Engine, contract *Contract, clock Clock, jitter func() float64) (*Door, error) {
	head, err := store.Head(ctx)
	if err != nil {
		return nil, fmt.Errorf("head of the ledger: %w", err)
	}
	d := &Door{
		store: store, clock: clock, jitter: jitter, realm: head.Realm,
		queues: map[RunID]*runQueue{}, time: newGateTime(head.At, clock),
	}
	_, d.accepts = store.(Accepter)
	if err := d.Adopt(ctx, contract); err != nil {
		return nil, err
	}
	return d, nil
}

// Adopt puts a contract into force for every command that comes after it, once
// it is on record (R-L1). It fails with the store's errors; then the contract
// before stays in force. Not to be called by two goroutines at once.
func (d *Door) Adopt(ctx context.Context, c *Contract) error {
	doc, err := c.Document()
	if err != nil {
		return err
	}
	digest := DocumentDigest(doc)
	head, err := d.store.Head(ctx)
	if err != nil {
		return fmt.Errorf("head of the ledger: %w", err)
	}
	in := Inputs{Contract: c, Document: digest, Realm: d.realm}
	if head.Contract != digest {
		if _, err := d.send(ctx, Adopt{Actor: Itself, Document: doc}, in); err != nil {
			return err
		}
	}
	d.force.Store(&in)
	return nil
}

// Contract returns the contract in force. It must not be changed.
func (d *Door) Contract() *Contract { return d.force.Load().Contract }

// Now returns the gate's time (R-B10), and whether it stands still because the
// wall clock is behind the ledger.
func (d *Door) Now() (now time.Time, behind bool) {
	d.reading.Lock()
	defer d.reading.Unlock()
	return d.time.read(d.clock)
}

// Do sends one command through the gate and returns its decision once it is
// durable. An error means that nothing was decided, save ErrUnknownCommit and
// the end of ctx: then the same command with the same id tells what was.
func (d *Door) Do(ctx context.Context, c Command) (Decision, error) {
	if err := c.Check(); err != nil {
		return Decision{}, err
	}
	if c.Act().IsVerb() && c.Who().ID == "" {
		return Decision{}, &InputError{Field: "actor", Want: "an identity (R-P10)", Got: "nothing"}
	}
	return d.send(ctx, c, *d.force.Load())
}

// send queues a command and waits for its answer.
func (d *Door) send(ctx context.Context, c Command, in Inputs) (Decision, error) {
	want, err := c.Wants(in.Contract)
	if err != nil {
		return Decision{}, err
	}
	w := &call{ctx: ctx, command: c, want: want, in: in, answer: make(chan answer, 1)}
	d.enqueue(w)
	select {
	case a := <-w.answer:
		if a.err != nil {
			return Decision{}, a.err
		}
		return *a.decision, nil
	case <-ctx.Done():
		return Decision{}, ctx.Err()
	}
}

// enqueue puts a call into the queue of its run.
func (d *Door) enqueue(w *call) {
	d.mu.Lock()
	defer d.mu.Unlock()
	q := d.queues[w.want.Run]
	if q == nil {
		q = &runQueue{run: w.want.Run}
		d.queues[q.run], d.ready = q, append(d.ready, q)
	}
	q.waiting = append(q.waiting, w)
	if len(d.ready) > 0 && (d.deciders == 0 || !d.accepts) {
		d.deciders++
		go d.work()
	}
}

// decider decides chains one after another. What it needs for one it uses again
// for the next: transitions are too large to leave to the garbage collector.
type decider struct {
	*Door
	wants       []Want
	transitions []Transition
}

// work decides and commits chains, of whichever run is next, until no command
// waits.
func (d *Door) work() {
	by := decider{Door: d}
	for q, chain := d.next(nil); q != nil; q, chain = d.next(q) {
		by.serve(chain)
	}
}

// next puts back the queue of which a chain was decided, nil for none, and takes
// the next chain. When there is none, there is one decider less.
func (d *Door) next(was *runQueue) (q *runQueue, chain []*call) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case was == nil:
	case len(was.waiting) > 0:
		d.ready = append(d.ready, was)
	default:
		delete(d.queues, was.run)
	}
	if len(d.ready) == 0 {
		d.deciders--
		return nil, nil
	}
	q, d.ready = d.ready[0], d.ready[1:]
	if d.accepts {
		chain, q.waiting = q.waiting[:1:1], q.waiting[1:]
	} else {
		chain, q.waiting = nextChain(q.waiting)
	}
	return q, chain
}

// nextChain takes the commands that can be decided together: at most one for
// an operation, so that a decision never needs the seq of another of its own
// chain; and what concerns a run as a whole alone.
func nextChain(waiting []*call) (chain, rest []*call) {
	if first := waiting[0]; first.want.Op == "" || first.want.Whole {
		return waiting[:1:1], waiting[1:]
	}
	taken := make(map[OpID]bool, len(waiting))
	for i, w := range waiting {
		if w.want.Op == "" || w.want.Whole || len(chain) == maxChain {
			return chain, append(rest, waiting[i:]...)
		}
		if taken[w.want.Op] {
			rest = append(rest, w)
			continue
		}
		taken[w.want.Op] = true
		chain = append(chain, w)
	}
	return chain, rest
}

// serve sees to it that every call of a chain is answered. The chain outlives
// its callers: a caller who has gone finds the answer under its id.
func (d *decider) serve(chain []*call) {
	ctx := context.WithoutCancel(chain[0].ctx)
	for tries := 0; ; tries++ {
		callers, err := d.decide(ctx, chain)
		if err == nil && len(callers) == 0 {
			return
		}
		if err == nil {
			err = d.commit(ctx, callers, d.transitions)
		}
		if errors.Is(err, ErrConflict) && tries < maxConflicts {
			chain = callers // the others have been answered
			continue
		}
		if err != nil {
			answerAll(callers, nil, err)
		}
		return
	}
}

// commit commits transitions, and answers their callers unless it returns an
// error.
func (d *Door) commit(ctx context.Context, callers []*call, transitions []Transition) error {
	if s, ok := d.store.(Accepter); ok {
		return s.Accept(ctx, func(decisions []Decision, err error) { answerAll(callers, decisions, err) }, transitions...)
	}
	decisions, err := d.store.Commit(ctx, transitions...)
	if err == nil {
		answerAll(callers, decisions, nil)
	}
	return err
}

func answerAll(callers []*call, decisions []Decision, err error) {
	for i, w := range callers {
		if err != nil {
			w.answer <- answer{err: err}
		} else {
			w.answer <- answer{decision: &decisions[i]}
		}
	}
}

// decide loads the state of a chain and decides its commands one after
// another, each on what the ones before it leave. Calls whose command is no
// decision are answered with their error and left out.
func (d *decider) decide(ctx context.Context, chain []*call) (callers []*call, err error) {
	clear(d.transitions) // which holds on to nothing
	d.wants, d.transitions = d.wants[:0], d.transitions[:0]
	for _, w := range chain {
		d.wants = append(d.wants, w.want)
	}
	state, err := d.store.Load(ctx, d.wants...)
	if err != nil {
		return chain, err
	}
	d.stamp(chain)
	decide := func(c Command, _ Want, in Inputs) (Transition, error) { return Step(state, c, in) }
	if len(chain) > 1 {
		decide = inTurn(state)
	}
	callers = chain[:0]
	for _, w := range chain {
		t, err := decide(w.command, w.want, w.in)
		if err != nil {
			w.answer <- answer{err: err}
			continue
		}
		d.transitions, callers = append(d.transitions, t), append(callers, w)
	}
	return callers, nil
}

// inTurn returns a Step that decides each command on what the ones before it
// leave of a state.
func inTurn(state State) func(Command, Want, Inputs) (Transition, error) {
	var live Live
	live.Put(state)
	said := func(seq uint64) (Decision, error) { return *state.said(seq), nil }
	return func(c Command, want Want, in Inputs) (Transition, error) {
		s, err := live.Load(said, want)
		if err != nil {
			return Transition{}, err
		}
		t, err := Step(s, c, in)
		if err == nil && !t.repeats {
			_, err = live.fold(&t.decision)
		}
		return t, err
	}
}

// stamp gives the calls of a chain their time, and each its jitter.
func (d *Door) stamp(chain []*call) {
	d.reading.Lock()
	defer d.reading.Unlock()
	now, behind := d.time.read(d.clock)
	for _, w := range chain {
		w.in.Now, w.in.Behind, w.in.Jitter = now, behind, d.jitter()
	}
}

// Preview decides a command on a copy and commits nothing: what the gate would
// answer now. It fails as Do does, but for what only a commit can fail with.
func (d *Door) Preview(ctx context.Context, c Command) (Decision, error) {
	if err := c.Check(); err != nil {
		return Decision{}, err
	}
	state, in, err := d.look(ctx, c)
	if err != nil {
		return Decision{}, err
	}
	t, err := Step(state, c, in)
	return t.decision, err
}

// Checks is ChecksOf on the state as it stands. It fails as that does, and
// with the store's errors.
func (d *Door) Checks(ctx context.Context, v Verb) ([]Check, error) {
	state, in, err := d.look(ctx, v)
	if err != nil {
		return nil, err
	}
	return ChecksOf(state, v, in)
}

func (d *Door) look(ctx context.Context, c Command) (State, Inputs, error) {
	now, behind := d.Now()
	in := *d.force.Load()
	in.Now, in.Behind = now, behind
	want, err := c.Wants(in.Contract)
	if err != nil {
		return State{}, in, err
	}
	state, err := d.store.Load(ctx, want)
	return state, in, err
}

// Sweep lets the gate look at every operation that is due (R-C5, R-T6), on
// start-up too, and returns when the next one will be; the zero time is never.
func (d *Door) Sweep(ctx context.Context) (next time.Time, err error) {
	for {
		now, behind := d.Now()
		due, next, err := d.store.Due(ctx, now, maxChain)
		if err != nil {
			return time.Time{}, fmt.Errorf("what is due: %w", err)
		}
		if behind || len(due) == 0 {
			return next, nil
		}
		for _, ref := range due {
			if _, err := d.Do(ctx, Sweep(ref)); err != nil {
				return time.Time{}, fmt.Errorf("sweep of %s in %s: %w", ref.Op, ref.Run, err)
			}
		}
	}
}
