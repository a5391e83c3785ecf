package views

import (
	"time"

	"tollgate/gate"
)

func sampleDependencies() []Dependency {
	at := func(d time.Duration) gate.Instant { return gate.InstantOf(now.Add(d)) }
	dep := func(name string, state gate.BreakerState, failures, requests, repeats, permits, items int64) Dependency {
		d := Dependency{DependencyRow: gate.DependencyRow{
			Name: name, Breaker: state, Since: at(-51 * time.Second), Failures: failures, Requests: requests,
			Repeats: repeats, Permits: permits, WindowMS: 600_000, Items: items,
		}}
		for i := range 40 {
			k := Bucket{At: now.Add(-10*time.Minute + time.Duration(i)*15*time.Second), Requests: requests / 40}
			if i > 20 {
				k.Failures = failures * int64(i-20) / 210
			}
			if i%7 != 3 {
				d.Buckets = append(d.Buckets, k)
			}
		}
		return d
	}
	ds := []Dependency{
		dep("payments-api", gate.BreakerOpen, 83, 120, 31, 120, 6),
		dep("crm", gate.BreakerClosed, 2, 400, 14, 402, 2),
		dep("orders-api", gate.BreakerHalfOpen, 9, 44, 9, 50, 1),
		dep("fx", gate.BreakerHalfOpen, 6, 80, 0, 81, 0),
		dep("mail", gate.BreakerClosed, 0, 0, 0, 0, 0),
		dep("évil\x1b[2J\u202etxt-日本語", gate.BreakerClosed, 1, 1_234_567, 900_000, 1_234_567, 12345),
		dep("a-dependency-with-a-name-that-nobody-can-read-at-a-glance", gate.BreakerOpen, 9999, 9999, 9999, 9999, 1),
	}
	ds[0].Until, ds[0].Share, ds[0].Least = at(9*time.Second), 0.2, 20
	ds[1].Share, ds[1].Since = 0.1, gate.Instant{}
	ds[2].Probe = &gate.Ref{Run: "run-1", Op: "lookup"}
	ds[4].Buckets, ds[4].Since = nil, at(-50*time.Hour)
	ds[6].Until = at(26 * time.Hour)
	return ds
}

func dependencyScreens() map[string]func(Page) string {
	rows, items := sampleDependencies(), sampleItems()
	on := func(v DependenciesView) func(Page) string {
		return func(p Page) string { p.Header.Current = -1; return Dependencies(p, v) }
	}
	return map[string]func(Page) string{
		"dependencies":         on(DependenciesView{Rows: rows, Selected: "payments-api", Failures: 100, Me: "uid:1001"}),
		"dependencies-waiting": on(DependenciesView{Rows: rows, Selected: "payments-api", Failures: 100, Waiting: items[:6], Me: "uid:1001"}),
		"dependencies-empty":   on(DependenciesView{}),
	}
}
