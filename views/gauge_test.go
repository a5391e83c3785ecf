package views

import (
	"strings"
	"testing"
	"time"

	"tollgate/gate"
)

// A full bar means spent and nothing else; an empty one means that nothing is.
func TestBarIsFullOnlyWhenSpent(t *testing.T) {
	th := NewTheme(Plain, false)
	for width := 1; width <= 40; width++ {
		for limit := int64(0); limit <= 50; limit++ {
			for spent := int64(0); spent <= limit+2; spent++ {
				b := newBlock(th, width, 1)
				b.spentBar(gate.Spent{Spent: spent, Limit: limit}, width)
				b.end()
				got := b.String()
				if full, want := !strings.Contains(got, "·"), spent > 0 && spent >= limit; full != want {
					t.Fatalf("%d/%d in %d cells: full %v, want %v: %s", spent, limit, width, full, want, got)
				}
				if empty := !strings.Contains(got, "▆"); width > 1 && empty != (spent == 0) {
					t.Fatalf("%d/%d in %d cells: empty %v: %s", spent, limit, width, empty, got)
				}
			}
		}
	}
}

func TestTimeBarIsFullOnlyWhenTheDeadlineHasPassed(t *testing.T) {
	th := NewTheme(Plain, false)
	for after, want := range map[time.Duration]string{
		-time.Second: "····", 0: "····", time.Millisecond: "▆···", 30 * time.Second: "▆▆··", time.Minute - 1: "▆▆▆·", time.Minute: "▆▆▆·", time.Minute + 1: "▆▆▆▆", time.Hour: "▆▆▆▆",
	} {
		b := newBlock(th, 4, 1)
		b.timeBar(now, now.Add(time.Minute), now.Add(after), 4)
		b.end()
		if got := b.String(); got != want {
			t.Errorf("%v after the start: %s, want %s", after, got, want)
		}
	}
}

func TestBudgetGaugeWords(t *testing.T) {
	rows := []struct {
		name string
		with func(*gate.BudgetRow)
		want string
	}{
		{"as it is", func(*gate.BudgetRow) {}, "attempts 4/10 time 04:12 left side effects 1/1 SPENT retry tokens 12k/60k"},
		{"overdrawn", func(b *gate.BudgetRow) { b.Attempts.Spent = 12 }, "attempts 12/10 OVER time 04:12 left side effects 1/1 SPENT retry tokens 12k/60k"},
		{"no writes allowed", func(b *gate.BudgetRow) { b.SideEffects = gate.Spent{} }, "attempts 4/10 time 04:12 left side effects 0/0 none retry tokens 12k/60k"},
		{"tokens not limited", func(b *gate.BudgetRow) { b.RetryTokens = nil }, "attempts 4/10 time 04:12 left side effects 1/1 SPENT retry tokens not limited"},
		{"too late", func(b *gate.BudgetRow) { b.Deadline = gate.InstantOf(now.Add(-time.Second)) }, "attempts 4/10 time passed side effects 1/1 SPENT retry tokens 12k/60k"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			b := sampleBudget()
			r.with(&b)
			lines := strings.Split(BudgetGauge(NewTheme(Plain, false), b, now, 30), "\n")
			// One to a line, in the order attempts, side effects, time, tokens.
			got := strings.Join(strings.Fields(strings.Join([]string{lines[0], lines[2], lines[1], lines[3]}, " ")), " ")
			if got != r.want {
				t.Errorf("got  %q\nwant %q", got, r.want)
			}
		})
	}
}
