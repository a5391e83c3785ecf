package gate

import (
	"container/heap"
	"slices"
	"time"
)

// Due returns at most limit operations whose Due is at or before now, earliest
// first, and the earliest Due after those; the zero time for none.
func (l *Live) Due(now time.Time, limit int) (due []Ref, next time.Time) {
	var keep []dueEntry
	for len(l.due) > 0 {
		e := l.due[0]
		if !l.holds(e) { // it has been settled, or is due at another time
			heap.Pop(&l.due)
			continue
		}
		if e.at.After(now) || len(due) == limit {
			next = e.at
			break
		}
		keep = append(keep, heap.Pop(&l.due).(dueEntry)) //nolint:forcetypeassert // it holds nothing else
		if !slices.Contains(due, e.ref) {
			due = append(due, e.ref)
		}
	}
	for _, e := range keep {
		heap.Push(&l.due, e)
	}
	return due, next
}

// holds reports whether an operation is due when an entry of the heap says so.
func (l *Live) holds(e dueEntry) bool {
	r := l.runs[e.ref.Run]
	if r == nil || r.op(e.ref.Op) == nil {
		return false
	}
	return r.op(e.ref.Op).Due(r.run()).Equal(e.at)
}

// schedule puts an operation into the heap when it is due at another time than
// before.
func (l *Live) schedule(op *Operation, was, due time.Time) {
	if !due.IsZero() && !due.Equal(was) {
		// Push would make an interface of the entry.
		l.due = append(l.due, dueEntry{due, Ref{op.Run, op.ID}})
		heap.Fix(&l.due, len(l.due)-1)
	}
}

type dueEntry struct {
	at  time.Time
	ref Ref
}

type dueHeap []dueEntry

func (h dueHeap) Len() int { return len(h) }

func (h dueHeap) Less(i, j int) bool {
	if c := h[i].at.Compare(h[j].at); c != 0 {
		return c < 0
	}
	if h[i].ref.Run != h[j].ref.Run {
		return h[i].ref.Run < h[j].ref.Run
	}
	return h[i].ref.Op < h[j].ref.Op
}

func (h dueHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

func (h *dueHeap) Push(x any) { *h = append(*h, x.(dueEntry)) } //nolint:forcetypeassert // heap.Push of this file

func (h *dueHeap) Pop() any {
	old := *h
	e := old[len(old)-1]
	*h = old[:len(old)-1]
	return e
}

// Due returns when the gate's own sweep has something to do about the
// operation: report an attempt that nobody reported (R-C5), or open the item
// of an unknown outcome that has none when its run ends or its deadline
// passes (R-T6). The zero time is never.
func (o *Operation) Due(r *Run) time.Time {
	if o.NextRun != "" {
		return time.Time{} // there the sweep looks after the whole line
	}
	if last := o.Newest(); last != nil && last.InFlight() {
		return last.Expires
	}
	if o.lost() {
		if r.closed() {
			return o.Newest().ReportedAt // at once
		}
		return r.Budget.Deadline
	}
	return time.Time{}
}

// lost reports whether the outcome of a write is unknown and nothing says so
// to a person, who has not said so either.
func (o *Operation) lost() bool {
	return o.Unknowns > 0 && !o.Hold.Waits() && !o.NotedLost && o.Settled != SettledSucceeded && o.Settled != SettledSuperseded
}
