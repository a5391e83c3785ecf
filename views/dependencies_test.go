package views

import (
	"strings"
	"testing"
	"time"

	"tollgate/gate"
)

// A row says how its breaker stands and for how long, the failures of its
// window, its share of all of them, and how the guard of repeats stands.
func TestDependencyRow(t *testing.T) {
	base := Dependency{DependencyRow: gate.DependencyRow{
		Name: "pay", Since: gate.InstantOf(now.Add(-time.Minute)), Failures: 5, Requests: 20, Repeats: 3, Permits: 20, WindowMS: 60_000, Items: 6,
	}}
	for _, r := range []struct {
		name string
		with func(*Dependency)
		want string
	}{
		{"as it is", func(*Dependency) {}, "* pay closed for 1m - 5/20 50% 3/20 15% 6"},
		{"never changed", func(d *Dependency) { d.Since = gate.Instant{} }, "* pay closed - 5/20 50% 3/20 15% 6"},
		{"open", func(d *Dependency) { d.Breaker, d.Until = gate.BreakerOpen, gate.InstantOf(now.Add(9*time.Second)) }, "x pay open, half-open in 00:09 - 5/20 50% 3/20 15% 6"},
		{"half-open", func(d *Dependency) { d.Breaker = gate.BreakerHalfOpen }, "o pay half-open, takes a probe - 5/20 50% 3/20 15% 6"},
		{"a probe is out", func(d *Dependency) { d.Breaker, d.Probe = gate.BreakerHalfOpen, &gate.Ref{Run: "r"} }, "o pay half-open, a probe is out - 5/20 50% 3/20 15% 6"},
		{"a guard of repeats", func(d *Dependency) { d.Share = 0.2 }, "* pay closed for 1m - 5/20 50% 3/20 15% of 20% 6"},
		{"nothing went to it", func(d *Dependency) { d.Failures, d.Requests, d.Permits, d.Repeats, d.Items = 0, 0, 0, 0, 0 }, "* pay closed for 1m - 0/0 - - -"},
		{"buckets", func(d *Dependency) { d.Buckets = []Bucket{{At: now, Requests: 2, Failures: 1}} }, "* pay closed for 1m 7 5/20 50% 3/20 15% 6"},
	} {
		d := base
		r.with(&d)
		p := samplePage(NewTheme(Plain, true), 160, 24, 0)
		got := strings.Join(strings.Fields(strings.Split(Dependencies(p, DependenciesView{Rows: []Dependency{d}, Failures: 10}), "\n")[4]), " ")
		if got != r.want {
			t.Errorf("%s:\n got %s\nwant %s", r.name, got, r.want)
		}
	}
}

// R-D6. The guard of repeats is loud exactly when the next one is refused.
func TestRepeatsAreLoudWhenTheNextIsRefused(t *testing.T) {
	th := NewTheme(Dark, false)
	for _, r := range []struct {
		repeats, permits, least int64
		want                    bool
	}{{3, 20, 0, false}, {4, 23, 0, true}, {4, 24, 0, false}, {4, 23, 24, false}, {4, 23, 23, true}} {
		d := Dependency{Share: 0.2, Least: r.least, DependencyRow: gate.DependencyRow{Repeats: r.repeats, Permits: r.permits}}
		got := strings.Contains(drawn(th, 20, func(b *block) { b.repeats(&d, 20) }), th.on[waits])
		if got != r.want {
			t.Errorf("%+v: loud %v", r, got)
		}
	}
}

func TestPercent(t *testing.T) {
	for _, r := range []struct {
		part, of int64
		want     string
	}{{0, 5, "0%"}, {1, 1000, "<1%"}, {1, 3, "33%"}, {999, 1000, "99%"}, {5, 5, "100%"}} {
		if got := string(appendPercent(nil, r.part, r.of)); got != r.want {
			t.Errorf("%d of %d: %s, want %s", r.part, r.of, got, r.want)
		}
	}
}
