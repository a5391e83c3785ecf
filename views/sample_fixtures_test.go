package views

import "time"

func sampleFixtures() []FixtureRow {
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	return []FixtureRow{
		{Name: "lost-response", Title: "A write whose reply is lost is not sent again", Clauses: "R-D2 R-C4 R-T4", Played: ago(2 * time.Minute)},
		{Name: "fanout-1000", Title: "1,000 subtasks, 150 refusals: what one shared budget spends, and what it saves", Clauses: "R-C3 R-R1 R-R2 R-D7", Played: ago(3 * time.Hour)},
		{Name: "five-deep-stack", Title: "Five stacked loops of three tries each over a failing read", Clauses: "R-B4 R-D3", Played: ago(3 * time.Hour), Differs: 2},
		{Name: "two-people-agree", Title: "Two different people approve, and neither of them asked", Clauses: "R-P8"},
		{Name: "evil\x1b[2J\u202etxt-with-a-name-that-nobody-can-read", Title: "日本語の題名\r\nsecond row", Clauses: "R-\x9b31m", Played: ago(400 * 24 * time.Hour), Differs: 1234567},
		{Name: "lost-probe-is-no-lock", Title: "A half-open breaker whose probe is lost", Played: ago(time.Second), Failed: "runs.a.calls[0].tool: unknown tool \x1b[m\"pay\""},
	}
}

func samplePlayback() PlaybackView {
	rows := sampleLedger()
	return PlaybackView{
		Name: "lost-response", Title: "A write whose reply is lost is not sent again", At: 42, Steps: 120, Clock: 72400 * time.Millisecond, Now: now, Speed: 10,
		Runs: sampleRuns()[:1], Decisions: rows, Selected: rows[10].Seq,
	}
}

func fixtureScreens() map[string]func(Page) string {
	fixtures, play := sampleFixtures(), samplePlayback()
	many := samplePlayback()
	many.Runs, many.Paused, many.Speed, many.Name = sampleRuns()[:6], true, 0, "evil\x1b[2J-日本語-with-a-name-that-nobody-can-read-at-a-glance"
	over := samplePlayback()
	over.At, over.Result, over.Decisions, over.Runs = over.Steps, &fixtures[2], nil, nil
	compared := CompareView{
		Name: "fanout-1000", Title: "1,000 subtasks, 150 refusals", Selected: "gate", Waiting: []string{"evil\x1b[2J.yaml"},
		Rows: []CompareRow{
			{"gate", 1124, 124, 1_488_000, 0, 26},
			{"blanket:2", 1226, 226, 2_712_000, 14, 0},
			{"ungated", 3450, 2450, 29_400_000, 220, 0},
		},
	}
	on := func(draw func(Page) string) func(Page) string {
		return func(p Page) string { p.Header.Current = -1; return draw(p) }
	}
	return map[string]func(Page) string{
		"fixtures":       on(func(p Page) string { return Fixtures(p, FixturesView{Rows: fixtures, Selected: "fanout-1000"}) }),
		"fixtures-empty": on(func(p Page) string { return Fixtures(p, FixturesView{}) }),
		"playback":       on(func(p Page) string { return Playback(p, play) }),
		"playback-runs":  on(func(p Page) string { return Playback(p, many) }),
		"playback-end":   on(func(p Page) string { return Playback(p, over) }),
		"compare":        on(func(p Page) string { return Compare(p, compared) }),
		"compare-none":   on(func(p Page) string { return Compare(p, CompareView{}) }),
	}
}
