package escalation

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"tollgate/gate"
)

// Cause is what waits in the open queue for one and the same reason: for the
// same dependency, with the same code of the same class. An item that nothing
// has failed for, such as an approval, has no code.
type Cause struct {
	Dependency string            `json:"dependency"`
	Code       gate.Code         `json:"code,omitempty"`
	Class      gate.Class        `json:"class"`
	Items      int64             `json:"items"`
	Runs       int64             `json:"runs"`  // that they are of
	First      time.Time         `json:"first"` // when the oldest of them was opened
	Last       time.Time         `json:"last"`  // and the newest
	Breaker    gate.BreakerState `json:"breaker"`
	Until      time.Time         `json:"breaker_until,omitzero"` // not closed: when the cool-down ends, or ended
	Picks      []Pick            `json:"picks"`                  // in queue order, gate.MaxWindow at most
	More       bool              `json:"more,omitempty"`         // there are items beside the picks
}

// CausesPage is the open queue by cause, the largest first. Top is the
// dependency with the most failures in the windows of the guards, and Share
// its part of them, from 0 to 1; while those windows hold none, both are about
// the items. Says answers in one line, with its numbers, whether the failures
// are independent or one dependency fails everything; it is empty when nothing
// waits and nothing has failed.
type CausesPage struct {
	Causes []Cause `json:"causes"`
	Items  int64   `json:"items"`
	Top    string  `json:"top,omitempty"`
	Share  float64 `json:"share"`
	Says   string  `json:"says,omitempty"`
}

// Causes groups those items of the open queue that a filter of gate.FilterQueue
// chooses; what is put off is not among them.
//
// It fails with the store's errors.
func (d *Desk) Causes(ctx context.Context, filter gate.Filter) (CausesPage, error) {
	now, _ := d.door.Now()
	return Causes(ctx, d.source, now, filter)
}

// Causes is Desk.Causes for who only reads. It reads the whole queue, window by
// window.
func Causes(ctx context.Context, r gate.Reader, now time.Time, filter gate.Filter) (CausesPage, error) {
	dependencies, err := r.Dependencies(ctx, now)
	if err != nil {
		return CausesPage{}, err
	}
	g := grouping{groups: map[causeID]*group{}, seen: map[gate.ItemID]bool{}}
	q := gate.ItemsQuery{Now: now, State: gate.HoldOpen, Filter: filter}
	for more := true; more; {
		page, err := r.Items(ctx, q)
		if err != nil {
			return CausesPage{}, err
		}
		for i := range page.Rows {
			g.add(&page.Rows[i])
			q.Anchor = string(page.Rows[i].ID) // comes again, unless it is gone: then its list does, from the top
		}
		more = page.More
	}
	out := CausesPage{Causes: g.causes(dependencies), Items: int64(len(g.seen))}
	out.judge(dependencies)
	return out, nil
}

type causeID struct {
	dependency string
	code       gate.Code
	class      gate.Class
}

type group struct {
	Cause
	runs map[gate.RunID]bool
}

// grouping groups items as they come, each once.
type grouping struct {
	groups map[causeID]*group
	seen   map[gate.ItemID]bool
}

func (g *grouping) add(row *gate.ItemRow) {
	if g.seen[row.ID] {
		return
	}
	g.seen[row.ID] = true
	id := causeID{row.Dependency, row.Code, row.Class}
	c := g.groups[id]
	if c == nil {
		c = &group{runs: map[gate.RunID]bool{}}
		c.Dependency, c.Code, c.Class, c.First, c.Last = row.Dependency, row.Code, row.Class, row.Opened.Time, row.Opened.Time
		g.groups[id] = c
	}
	c.Items++
	c.runs[row.Run] = true
	if row.Opened.Before(c.First) {
		c.First = row.Opened.Time
	}
	if row.Opened.After(c.Last) {
		c.Last = row.Opened.Time
	}
	if c.More = len(c.Picks) == gate.MaxWindow; !c.More {
		c.Picks = append(c.Picks, Pick{row.ID, row.Version})
	}
}

// causes returns the groups, the largest first.
func (g *grouping) causes(dependencies []gate.DependencyRow) []Cause {
	out := make([]Cause, 0, len(g.groups))
	for _, c := range g.groups {
		c.Runs = int64(len(c.runs))
		for _, row := range dependencies {
			if row.Name != c.Dependency {
				continue
			}
			if c.Breaker = row.Breaker; c.Breaker != gate.BreakerClosed {
				c.Until = row.Until.Time
			}
		}
		out = append(out, c.Cause)
	}
	slices.SortFunc(out, func(a, b Cause) int {
		return cmp.Or(cmp.Compare(b.Items, a.Items), cmp.Compare(a.Dependency, b.Dependency), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Class, b.Class))
	})
	return out
}

// From which share on a dependency is said to be behind all of it, or most.
const (
	oneShare  = 0.8
	mostShare = 0.5
)

// judge answers: independent, or one dependency failing everything?
func (p *CausesPage) judge(dependencies []gate.DependencyRow) {
	counts, of, beside := map[string]int64{}, "failures in the window", ""
	for _, row := range dependencies {
		if row.Failures > 0 {
			counts[row.Name] = row.Failures
		}
	}
	if len(counts) == 0 {
		of, beside = "items", "; no failure is in the window"
		for _, c := range p.Causes {
			counts[c.Dependency] += c.Items
		}
	}
	var all, most int64
	for name, n := range counts {
		all += n
		if n > most || n == most && name < p.Top {
			p.Top, most = name, n
		}
	}
	if all == 0 {
		return
	}
	p.Share = float64(most) / float64(all)
	numbers := fmt.Sprintf("%d of %d %s (%d%%)%s", most, all, of, most*100/all, beside)
	switch {
	case p.Share >= oneShare:
		p.Says = fmt.Sprintf("One dependency: %s has %s.", p.Top, numbers)
	case p.Share >= mostShare:
		p.Says = fmt.Sprintf("Mostly one dependency: %s has %s.", p.Top, numbers)
	default:
		p.Says = fmt.Sprintf("Independent: the most, %s, has %s.", p.Top, numbers)
	}
}
