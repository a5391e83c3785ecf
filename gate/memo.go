package gate

import (
	"fmt"
	"strings"
	"time"
)

// Memo remembers that an id was answered (R-A8, R-P6).
type Memo struct {
	ID   string
	Body Digest
	Seq  uint64
}

// Memo returns what is remembered of an id.
func (o *Operation) Memo(id string) (Memo, bool) {
	for i := range o.Asks {
		if o.Asks[i].ID == id {
			return o.Asks[i], true
		}
	}
	return Memo{}, false
}

// repeat answers an id that was answered before: the same decision, and no
// other charge; or ErrReused when the body differs (R-A8, R-P6).
func (s *State) repeat(op *Operation, id string, body Digest) (t Transition, known bool, err error) {
	memo, known := op.Memo(id)
	if !known {
		return Transition{}, false, nil
	}
	if memo.Body != body {
		if of, isVerb := strings.CutPrefix(id, verbMemo("")); isVerb {
			return Transition{}, true, About(ErrReused, "request_id", of)
		}
		return Transition{}, true, About(ErrReused, "ask_id", id)
	}
	return s.again(memo.Seq)
}

// again is a transition that says what the ledger holds.
func (s *State) again(seq uint64) (Transition, bool, error) {
	said := s.said(seq)
	if said == nil {
		return Transition{}, true, fmt.Errorf("decision %d: %w", seq, ErrDamaged)
	}
	return Transition{decision: *said, repeats: true, sealed: true}, true, nil
}

// body is the digest by which the same ask is known again.
func (c Ask) body() Digest {
	return hashParts("ask", string(c.Run), string(c.Op), c.Agent, c.Path.String(), c.Tool, string(c.Parent),
		string(c.Input), string(c.InputDigest[:]), fmt.Sprint(c.Tokens), c.Key)
}

// body is the digest by which the same report is known again.
func (c Report) body() Digest {
	f := c.Failure
	return hashParts("report", fmt.Sprint(c.OK, max(1, c.Inner), f.RetryAfter.Milliseconds(), f.Cut),
		string(f.Code), f.Message, f.Status, f.Field, f.Suggest, c.Result)
}

// body is the digest by which the same act of the same person is known again.
func (c Verb) body() Digest {
	limits := ""
	if !c.Limits.IsZero() && c.Limits.Check() == nil {
		limits = fmt.Sprint(c.Limits.Budget(time.Time{}))
	}
	return hashParts("verb", c.Actor.ID, c.Do.String(), fmt.Sprint(c.Version, c.AsNewAction, c.TakeOver),
		c.Reason, c.Evidence, c.Finding.String(), c.Ruling.String(), c.Until.UTC().String(), string(c.NewRun), limits, fmt.Sprint(sortedCaps(c.Caps)))
}

// remember keeps the newest ids that were answered, of asks and of verbs apart
// (R-A8, R-P6).
func (o *Operation) remember(id string, body Digest, seq uint64) {
	if id == "" || id == verbMemo("") {
		return
	}
	like := func(m Memo) bool { return strings.HasPrefix(m.ID, verbMemo("")) == strings.HasPrefix(id, verbMemo("")) }
	n := 0
	for _, m := range o.Asks {
		if like(m) {
			n++
		}
	}
	kept := make([]Memo, 0, len(o.Asks)+1)
	for _, m := range o.Asks {
		if n >= MaxMemos && like(m) {
			n--
			continue
		}
		kept = append(kept, m)
	}
	o.Asks = append(kept, Memo{ID: id, Body: body, Seq: seq})
}

// verbMemo is under which id a verb's request is remembered: no ask id has a
// blank.
func verbMemo(id string) string { return "verb " + id }
