package runstore

import (
	"tollgate/gate"
)

// A record is a CBOR array of two: the seq of the run's decision before this
// one, and the decision as a map. Its own seq follows from its place. The
// contract is stored by its digest; the realm is that of the store.
//
// Rows of the projection are maps likewise. What each number of a field means
// is in the functions below, which serve writing and reading.

// recordRoom is how much appendRecord leaves free for what bindRecord writes.
const recordRoom = 10

// encodeDecision returns a decision as the second part of a record, with room
// before it: its place in the ledger need not be known yet.
func encodeDecision(d *gate.Decision) []byte {
	c := &coder{buf: make([]byte, recordRoom, 512)}
	around := c.open()
	decision(c, d)
	c.end(around)
	return c.buf
}

// bindRecord makes what encodeDecision returned a record, with the seq of the
// run's decision before it.
func bindRecord(b []byte, prev uint64) []byte {
	var head [recordRoom]byte
	front := appendHeadOf(append(head[:0], cborArray<<5|2), cborUint, prev)
	at := recordRoom - len(front)
	copy(b[at:], front)
	return b[at:]
}

// decodeRecord reads a record of the store with id realm.
func decodeRecord(seq uint64, realm string, record []byte) (gate.Decision, error) {
	d := gate.Decision{Seq: seq}
	c := &coder{buf: record, reading: true}
	if n := c.want(cborArray); n != 2 && c.err == nil {
		c.fail("is an array of %d, want 2", n)
	}
	d.Prev = c.want(cborUint)
	around := c.open()
	decision(c, &d)
	c.end(around)
	if c.err == nil && len(c.buf) > 0 {
		c.fail("has %d bytes more than it says", len(c.buf))
	}
	if c.err == nil && d.Command == nil {
		c.fail("has no command")
	}
	if c.err != nil {
		return gate.Decision{}, damaged("record %d: %w", seq, c.err)
	}
	d.Inputs.Document, d.Inputs.Realm = d.Contract, realm
	return d, nil
}

// opOfRecord reads no more of a record than the operation that it is about.
func opOfRecord(record []byte) (op gate.OpID, err error) {
	c := &coder{buf: record, reading: true}
	c.want(cborArray)
	c.want(cborUint)
	c.open()
	text(c, 3, &op)
	return op, c.err
}

// encodeRow returns a row of the projection.
func encodeRow[T any](v *T, each func(*coder, *T)) []byte {
	c := &coder{buf: make([]byte, 0, 256)}
	around := c.open()
	each(c, v)
	c.end(around)
	return c.buf
}

// decodeRow reads what encodeRow returned.
func decodeRow[T any](b []byte, each func(*coder, *T)) (v T, err error) {
	c := &coder{buf: b, reading: true}
	around := c.open()
	each(c, &v)
	c.end(around)
	return v, c.err
}

func decision(c *coder, d *gate.Decision) {
	number(c, 1, &d.Verdict)
	text(c, 2, &d.Run)
	text(c, 3, &d.Op)
	integer(c, 4, &d.Ordinal)
	command(c, 5, &d.Command)

	c.instant(6, &d.Inputs.Now)
	c.float(7, &d.Inputs.Jitter)
	c.bool(8, &d.Inputs.Behind)
	c.digest(9, &d.Contract)
	integer(c, 10, &d.Rules)
	part(c, 11, &d.Reading, reading)

	text(c, 12, &d.Agent)
	number(c, 13, &d.Path)
	text(c, 14, &d.Tool)
	text(c, 15, &d.Dependency)
	number(c, 16, &d.Effect)
	number(c, 17, &d.Safety)
	number(c, 18, &d.Approval)
	c.digest(19, &d.Digest)
	text(c, 20, &d.Key)
	c.bool(21, &d.KeyIgnored)

	part(c, 22, &d.Before, budget)
	part(c, 23, &d.Charge, counters)
	part(c, 24, &d.Permit, permit)
	c.duration(25, &d.Delay)
	c.instant(26, &d.RetryAt)
	text(c, 27, &d.Code)
	number(c, 28, &d.Class)
	c.bool(29, &d.Refused)
	number(c, 30, &d.Outcome)
	text(c, 31, &d.Result)
	number(c, 32, &d.Route)
	maybe(c, 33, &d.Terminal, terminal)
	number(c, 34, &d.Cause)
	maybe(c, 35, &d.Changed, changed)

	c.bool(36, &d.Opens)
	c.bool(37, &d.Admission)
	c.bool(38, &d.StoresStop)
	number(c, 39, &d.Settles)
	maybe(c, 40, &d.Hold, hold)
	c.bool(41, &d.NotesLost)
	text(c, 42, &d.Head)
	text(c, 43, &d.NewOp)
	maybe(c, 44, &d.NewRun, run)
	part(c, 45, &d.Depends, depends)
	c.bool(46, &d.Waits)
}

// command is a map of one entry: the act, and the command of that act.
func command(c *coder, key uint64, v *gate.Command) {
	var act gate.Act
	if c.reading {
		if !c.found(key) {
			return
		}
		if n := c.want(cborMap); n != 1 && c.err == nil {
			c.fail("has a command of %d parts", n)
		}
		act = gate.Act(c.want(cborUint))
	} else {
		act = (*v).Act()
		c.put(key)
		c.head(cborMap, 1)
		c.head(cborUint, uint64(act))
	}
	around := c.open()
	switch act {
	case gate.ActAdopt:
		as(c, v, adopt)
	case gate.ActStart:
		as(c, v, start)
	case gate.ActAsk:
		as(c, v, ask)
	case gate.ActReport:
		as(c, v, report)
	case gate.ActSweep:
		as(c, v, sweep)
	case gate.ActEnd:
		as(c, v, end)
	case gate.ActReconcile, gate.ActApprove, gate.ActReject, gate.ActNewRun,
		gate.ActClaim, gate.ActRelease, gate.ActSnooze, gate.ActNote:
		as(c, v, func(c *coder, w *gate.Verb) { w.Do = act; verb(c, w) })
	default:
		c.fail("has a command of act %d", act)
	}
	c.end(around)
	if c.reading {
		c.advance()
	}
}

// as writes or reads a command as one of type T.
func as[T gate.Command](c *coder, v *gate.Command, each func(*coder, *T)) {
	var t T
	if !c.reading {
		t = (*v).(T) //nolint:errcheck,forcetypeassert // its act says so
	}
	each(c, &t)
	if c.reading {
		*v = t
	}
}

func adopt(c *coder, v *gate.Adopt) {
	part(c, 1, &v.Actor, actor)
	c.bytes(2, &v.Document)
}

func start(c *coder, v *gate.Start) {
	part(c, 1, &v.Actor, actor)
	text(c, 2, &v.Run)
	text(c, 3, &v.Agent)
	text(c, 4, &v.Policy)
	part(c, 5, &v.Limits, limits)
	list(c, 6, &v.Caps, capOf)
}

func ask(c *coder, v *gate.Ask) {
	part(c, 1, &v.Actor, actor)
	text(c, 2, &v.Run)
	text(c, 3, &v.ID)
	text(c, 4, &v.Op)
	text(c, 5, &v.Agent)
	number(c, 6, &v.Path)
	text(c, 7, &v.Tool)
	text(c, 8, &v.Parent)
	c.bytes(9, &v.Input)
	c.digest(10, &v.InputDigest)
	integer(c, 11, &v.Tokens)
	text(c, 12, &v.Key)
	text(c, 13, &v.Trace)
}

func report(c *coder, v *gate.Report) {
	part(c, 1, &v.Actor, actor)
	text(c, 2, &v.Run)
	text(c, 3, &v.Op)
	integer(c, 4, &v.Ordinal)
	c.bool(5, &v.OK)
	part(c, 6, &v.Failure, failure)
	integer(c, 7, &v.Inner)
	text(c, 8, &v.Result)
}

func sweep(c *coder, v *gate.Sweep) {
	text(c, 1, &v.Run)
	text(c, 2, &v.Op)
}

func end(c *coder, v *gate.End) {
	part(c, 1, &v.Actor, actor)
	text(c, 2, &v.Run)
	text(c, 3, &v.Reason)
}

func verb(c *coder, v *gate.Verb) {
	part(c, 1, &v.Actor, actor)
	text(c, 2, &v.ID)
	text(c, 3, &v.Run)
	text(c, 4, &v.Op)
	integer(c, 5, &v.Version)
	text(c, 6, &v.Reason)
	text(c, 7, &v.Evidence)
	number(c, 8, &v.Finding)
	number(c, 9, &v.Ruling)
	c.bool(10, &v.AsNewAction)
	c.bool(11, &v.TakeOver)
	c.instant(12, &v.Until)
	text(c, 13, &v.NewRun)
	part(c, 14, &v.Limits, limits)
	list(c, 15, &v.Caps, capOf)
}

func actor(c *coder, v *gate.Actor) {
	text(c, 1, &v.ID)
	text(c, 2, &v.Name)
	text(c, 3, &v.Source)
}

func limits(c *coder, v *gate.Limits) {
	c.maybeInt(1, &v.Attempts)
	c.maybeDuration(2, &v.Deadline)
	c.maybeDuration(3, &v.Reserve)
	c.maybeInt(4, &v.SideEffects)
	c.maybeInt(5, &v.RetryTokens)
}

func budget(c *coder, v *gate.Budget) {
	integer(c, 1, &v.MaxAttempts)
	integer(c, 2, &v.MaxSideEffects)
	integer(c, 3, &v.MaxRetryTokens)
	c.bool(4, &v.TokensLimited)
	c.instant(5, &v.Started)
	c.instant(6, &v.Deadline)
	c.duration(7, &v.Reserve)
	part(c, 8, &v.Spent, counters)
}

func counters(c *coder, v *gate.Counters) {
	integer(c, 1, &v.Attempts)
	integer(c, 2, &v.SideEffects)
	integer(c, 3, &v.RetryTokens)
}

func permit(c *coder, v *gate.Permit) {
	text(c, 1, &v.Op)
	integer(c, 2, &v.Ordinal)
	text(c, 3, &v.Key)
	c.instant(4, &v.NotBefore)
	c.instant(5, &v.NotAfter)
	integer(c, 6, &v.Inner)
	c.instant(7, &v.Expires)
}

func reading(c *coder, v *gate.Reading) {
	c.bool(1, &v.Guarded)
	number(c, 2, &v.Breaker)
	c.bool(3, &v.Probing)
	c.instant(4, &v.Until)
	integer(c, 5, &v.Requests)
	integer(c, 6, &v.Failures)
	integer(c, 7, &v.Permits)
	integer(c, 8, &v.Repeats)
}

func failure(c *coder, v *gate.Failure) {
	text(c, 1, &v.Code)
	text(c, 2, &v.Message)
	c.bool(3, &v.Cut)
	text(c, 4, &v.Status)
	text(c, 5, &v.Field)
	text(c, 6, &v.Suggest)
	c.duration(7, &v.RetryAfter)
}

func terminal(c *coder, v *gate.Terminal) {
	text(c, 1, &v.Type)
	text(c, 2, &v.Operation)
	text(c, 3, &v.Reason)
	number(c, 4, &v.FailureClass)
	integer(c, 5, &v.AttemptsUsed)
	integer(c, 6, &v.ElapsedTimeUsed)
	integer(c, 7, &v.SideEffectAttemptsUsed)
	part(c, 8, &v.LastFailure, failure)
	text(c, 9, &v.IdempotencyReference)
	number(c, 10, &v.NextAction)
}

func changed(c *coder, v *gate.Changed) {
	number(c, 1, &v.Seq)
	c.instant(2, &v.At)
	part(c, 3, &v.By, actor)
	number(c, 4, &v.Act)
	number(c, 5, &v.Verdict)
}

func hold(c *coder, v *gate.Hold) {
	number(c, 1, &v.State)
	number(c, 2, &v.Kind)
	integer(c, 3, &v.Version)
	number(c, 4, &v.Opened)
	number(c, 5, &v.Cause)
	c.instant(6, &v.Since)
	number(c, 7, &v.Back)
	c.bool(8, &v.Duplicate)
	part(c, 9, &v.Claim, claim)
	c.instant(10, &v.Snoozed)
	list(c, 11, &v.Approvals, grant)
	integer(c, 12, &v.Notes)
	text(c, 13, &v.LastNote)
	part(c, 14, &v.Changed, changed)
}

func claim(c *coder, v *gate.Claim) {
	part(c, 1, &v.By, actor)
	c.instant(2, &v.Until)
}

func grant(c *coder, v *gate.Grant) {
	part(c, 1, &v.By, actor)
	number(c, 2, &v.Seq)
	c.instant(3, &v.At)
}

func depends(c *coder, v *gate.Depends) {
	text(c, 1, &v.On)
	c.duration(2, &v.Window)
	c.bool(3, &v.Permit)
	c.bool(4, &v.Repeat)
	c.bool(5, &v.Request)
	c.bool(6, &v.Failure)
	maybe(c, 7, &v.Breaker, breaker)
	c.bool(8, &v.Empties)
}

func breaker(c *coder, v *gate.Breaker) {
	number(c, 1, &v.State)
	c.instant(2, &v.Since)
	c.instant(3, &v.Until)
	part(c, 4, &v.Probe, ref)
	integer(c, 5, &v.Ordinal)
}

func ref(c *coder, v *gate.Ref) {
	text(c, 1, &v.Run)
	text(c, 2, &v.Op)
}

func run(c *coder, v *gate.Run) {
	text(c, 1, &v.ID)
	text(c, 2, &v.Root)
	text(c, 3, &v.Parent)
	text(c, 4, &v.Next)
	number(c, 5, &v.Rev)
	number(c, 6, &v.Opened)
	number(c, 7, &v.Last)
	number(c, 8, &v.Cause)
	text(c, 9, &v.Agent)
	text(c, 10, &v.Policy)
	c.digest(11, &v.Limits)
	part(c, 12, &v.Budget, budget)
	list(c, 13, &v.Caps, capOf)
	c.bool(14, &v.Refused)
	c.bool(15, &v.Overdrawn)
	c.bool(16, &v.Ending)
	c.instant(17, &v.Ended)
	integer(c, 18, &v.InFlight)
	integer(c, 19, &v.Operations)
	integer(c, 20, &v.OpenItems)
	integer(c, 21, &v.DeadLetters)
	text(c, 22, &v.LastCode)
	c.instant(23, &v.LastAt)
}

func capOf(c *coder, v *gate.Cap) {
	text(c, 1, &v.Agent)
	integer(c, 2, &v.Attempts)
	integer(c, 3, &v.Spent)
}

func operation(c *coder, v *gate.Operation) {
	text(c, 1, &v.ID)
	text(c, 2, &v.Run)
	number(c, 3, &v.Opened)
	number(c, 4, &v.Last)
	text(c, 5, &v.Agent)
	number(c, 6, &v.Path)
	text(c, 7, &v.Parent)
	text(c, 8, &v.Tool)
	text(c, 9, &v.Dependency)
	number(c, 10, &v.Effect)
	number(c, 11, &v.Safety)
	number(c, 12, &v.Approval)
	c.digest(13, &v.Digest)
	c.bytes(14, &v.Input)
	text(c, 15, &v.Key)
	c.bool(16, &v.KeyGiven)
	part(c, 17, &v.Asker, actor)
	integer(c, 18, &v.Tokens)
	list(c, 19, &v.Attempts, attempt)
	integer(c, 20, &v.Permits)
	integer(c, 21, &v.Series)
	integer(c, 22, &v.Fresh)
	integer(c, 23, &v.Repairs)
	c.bool(24, &v.Mixed)
	integer(c, 25, &v.Unknowns)
	number(c, 26, &v.Settled)
	text(c, 27, &v.Result)
	number(c, 28, &v.Stop)
	number(c, 29, &v.StopSeq)
	maybe(c, 30, &v.Terminal, terminal)
	number(c, 31, &v.Evidence)
	part(c, 32, &v.Hold, hold)
	list(c, 33, &v.Asks, memo)
	part(c, 34, &v.Successor, ref)
	part(c, 35, &v.Before, ref)
	integer(c, 36, &v.Actions)
	c.bool(37, &v.NotedLost)
	text(c, 38, &v.LastTool)
	part(c, 39, &v.FirstError, failure)
	part(c, 40, &v.LastError, failure)
}

func memo(c *coder, v *gate.Memo) {
	text(c, 1, &v.ID)
	c.digest(2, &v.Body)
	number(c, 3, &v.Seq)
}

func attempt(c *coder, v *gate.Attempt) {
	integer(c, 1, &v.Ordinal)
	number(c, 2, &v.Seq)
	text(c, 3, &v.Run)
	text(c, 4, &v.Tool)
	text(c, 5, &v.Dependency)
	text(c, 6, &v.Agent)
	number(c, 7, &v.Path)
	c.digest(8, &v.Digest)
	c.instant(9, &v.Permitted)
	c.instant(10, &v.NotBefore)
	c.instant(11, &v.NotAfter)
	c.instant(12, &v.Expires)
	c.bool(13, &v.Probe)
	number(c, 14, &v.Reported)
	c.instant(15, &v.ReportedAt)
	c.bool(16, &v.Swept)
	c.digest(17, &v.Body)
	integer(c, 18, &v.Inner)
	number(c, 19, &v.Outcome)
	number(c, 20, &v.Class)
	c.bool(21, &v.Refused)
	number(c, 22, &v.Finding)
	part(c, 23, &v.Failure, failure)
	text(c, 24, &v.Result)
}

func dependency(c *coder, v *gate.Dependency) {
	text(c, 1, &v.Name)
	number(c, 2, &v.Rev)
	part(c, 3, &v.Breaker, breaker)
	c.duration(4, &v.Window)
	list(c, 5, &v.Buckets, bucket)
}

func bucket(c *coder, v *gate.Bucket) {
	integer(c, 1, &v.Start)
	integer(c, 2, &v.Permits)
	integer(c, 3, &v.Repeats)
	integer(c, 4, &v.Requests)
	integer(c, 5, &v.Failures)
}
