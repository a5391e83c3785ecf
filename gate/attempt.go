package gate

import "time"

// Attempt is one dispatch that was permitted.
type Attempt struct {
	Ordinal    int64  // from 1, along the whole line of runs
	Seq        uint64 // of the decision that permitted it
	Run        RunID  // whose budget paid
	Tool       string
	Dependency string
	Agent      string
	Path       Path
	Digest     Digest
	Permitted  time.Time
	NotBefore  time.Time
	NotAfter   time.Time
	Expires    time.Time // when the sweep calls it unreported (R-C5)
	Probe      bool      // the breaker's single probe (R-K2)

	Reported   uint64    // seq of the newest report or sweep of it; 0 while in flight
	ReportedAt time.Time // its time
	Swept      bool      // nobody reported in time; a late report still counts as evidence (R-C6)
	Body       Digest    // of the report, to know it again (R-C8)
	Inner      int64     // attempts that its client really made
	Outcome    Outcome
	Class      Class
	Refused    bool    // refused before execution
	Finding    Finding // a person's
	Found      uint64  // seq of the decision that brought it; 0 for none
	Failure    Failure // zero on success
	Result     string
}

// InFlight reports whether nobody has reported the attempt.
func (a *Attempt) InFlight() bool { return a.Outcome == OutcomePending }

// Newest returns the attempt with the highest ordinal, nil for none.
func (o *Operation) Newest() *Attempt {
	if len(o.Attempts) == 0 {
		return nil
	}
	return &o.Attempts[len(o.Attempts)-1]
}

// Attempt returns the attempt with an ordinal, nil if it is not kept.
func (o *Operation) Attempt(ordinal int64) *Attempt {
	for i := range o.Attempts {
		if o.Attempts[i].Ordinal == ordinal {
			return &o.Attempts[i]
		}
	}
	return nil
}

// lastReported returns the attempt with the highest ordinal that has been
// reported, nil for none (R-C8).
func (o *Operation) lastReported() *Attempt {
	for i := len(o.Attempts) - 1; i >= 0; i-- {
		if !o.Attempts[i].InFlight() {
			return &o.Attempts[i]
		}
	}
	return nil
}

// lastFailed returns the attempt with the highest ordinal whose failure is
// known, nil for none: the one that an item's code is from.
func (o *Operation) lastFailed() *Attempt {
	for i := len(o.Attempts) - 1; i >= 0; i-- {
		if o.Attempts[i].Failure.Code != "" {
			return &o.Attempts[i]
		}
	}
	return nil
}
