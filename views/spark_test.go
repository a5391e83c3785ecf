package views

import (
	"strings"
	"testing"
	"time"
)

func drawn(th *Theme, width int, draw func(b *block)) string {
	b := newBlock(th, width, 1)
	draw(b)
	b.end()
	return b.String()
}

// The worst part has the highest level, any failure has one, and where there
// were requests without failures stands a dot, where there were none a blank.
func TestSparkline(t *testing.T) {
	part := func(at int, requests, failures int64) Bucket {
		return Bucket{At: now.Add(time.Duration(at) * time.Second), Requests: requests, Failures: failures}
	}
	for _, r := range []struct {
		name    string
		buckets []Bucket
		want    string
	}{
		{"nothing", nil, "        "},
		{"no failures", []Bucket{part(0, 9, 0), part(70, 1, 0)}, "·      ·"},
		{"up to the worst", []Bucket{part(0, 9, 1), part(10, 9, 2), part(20, 9, 3), part(30, 9, 4), part(40, 9, 5), part(50, 9, 6), part(60, 9, 7)}, "▁▂▃▄▅▆▇ "},
		{"one failure", []Bucket{part(0, 9, 1)}, "▇       "},
		{"one beside very many", []Bucket{part(0, 9, 1), part(10, 1e9, 1e9)}, "▁▇      "},
		{"two parts in a cell", []Bucket{part(0, 9, 3), part(1, 9, 4), part(79, 9, 7)}, "▇      ▇"},
		{"the last instant", []Bucket{part(80, 9, 7)}, "       ▇"},
		{"outside", []Bucket{part(-1, 9, 7), part(81, 9, 7)}, "        "},
	} {
		got := drawn(NewTheme(Plain, false), 8, func(b *block) { b.failures(r.buckets, now, now.Add(80*time.Second), 8) })
		if got != r.want {
			t.Errorf("%s: %q, want %q", r.name, got, r.want)
		}
	}
	got := drawn(NewTheme(Plain, true), 8, func(b *block) {
		b.failures([]Bucket{part(0, 9, 0), part(10, 9, 1), part(20, 9, 7)}, now, now.Add(80*time.Second), 8)
	})
	if want := ".17     "; got != want {
		t.Errorf("in ASCII: %q, want %q", got, want)
	}
	if got := drawn(NewTheme(Plain, false), 8, func(b *block) { b.failures([]Bucket{part(0, 9, 1)}, now, now, 8) }); strings.TrimSpace(got) != "" {
		t.Errorf("no time at all: %q, want blanks", got)
	}
}

// A length is nothing only for nothing, and never longer than its cells. It
// has no glyph in common with a bar, which is full only when spent (Rule 9).
func TestLength(t *testing.T) {
	for share, want := range map[float64]string{0: "    ", 0.001: "━   ", 0.5: "━━  ", 0.99: "━━━━", 1: "━━━━", 7: "━━━━", -1: "    "} {
		if got := drawn(NewTheme(Plain, false), 10, func(b *block) { b.length(press, share, 4) }); got != want {
			t.Errorf("%v: %q, want %q", share, got, want)
		}
	}
	for _, th := range []*Theme{NewTheme(Plain, false), NewTheme(Plain, true)} {
		if th.measures().length == th.g.bar {
			t.Errorf("a length looks like a bar: %q", th.g.bar)
		}
	}
}

// The knob moves from the first cell to the last.
func TestSlider(t *testing.T) {
	for share, want := range map[float64]string{-1: "●────", 0: "●────", 0.5: "━━●──", 1: "━━━━●", 2: "━━━━●"} {
		if got := drawn(NewTheme(Plain, false), 9, func(b *block) { b.slider(share, 5) }); got != want {
			t.Errorf("%v: %q, want %q", share, got, want)
		}
	}
}
