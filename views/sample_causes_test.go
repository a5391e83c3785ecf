package views

import (
	"time"

	"tollgate/gate"
)

func sampleCauses() []Cause {
	items := sampleItems()
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	return []Cause{
		{
			CauseID: CauseID{"payments-api", "timeout", gate.ClassTransient}, Items: 6, Runs: 5, Marked: 1, First: ago(41 * time.Minute), Last: ago(2 * time.Minute),
			Breaker: gate.BreakerOpen, Until: now.Add(9 * time.Second), Open: items[:4],
		},
		{CauseID: CauseID{"crm", "parse_error", gate.ClassConditional}, Items: 2, Runs: 1, Marked: 2, First: ago(9 * time.Minute), Last: ago(7 * time.Minute)},
		{CauseID: CauseID{"infra", "", 0}, Items: 1, Runs: 1, First: ago(3 * time.Minute), Last: ago(3 * time.Minute), Open: items[4:5], Left: map[gate.ItemID]string{items[4].ID: "was resolved by dana\r (approve)"}},
		{CauseID: CauseID{"évil\x1b[2J\u202etxt-日本語", "x\x9b31m", gate.ClassUnknown}, Items: 123456, Runs: 99999, First: ago(400 * 24 * time.Hour), Breaker: gate.BreakerHalfOpen},
		{CauseID: CauseID{"a-dependency-with-a-name-that-nobody-can-read-at-a-glance", "a_code_as_long_as_a_sentence_of_words", gate.ClassPermanent}, Items: 1, Runs: 1, First: ago(time.Hour), Last: ago(time.Hour)},
	}
}

func causeScreens() map[string]func(Page) string {
	causes := sampleCauses()
	const says = "One dependency: 83% of the failures in the last 10m are payments-api (83 of 100), and its breaker is open."
	return map[string]func(Page) string{
		"causes": func(p Page) string {
			return Causes(p, CausesView{Says: says, Causes: causes, On: true, Selected: causes[0].CauseID, Marked: map[gate.ItemID]bool{causes[0].Open[1].ID: true}, Me: "uid:1001"})
		},
		"causes-item": func(p Page) string {
			return Causes(p, CausesView{Says: "Independent:\x1b[m no dependency has more than 12%", Causes: causes, Item: causes[0].Open[1].ID, Top: 1, Me: "uid:1001"})
		},
		"causes-empty": func(p Page) string { return Causes(p, CausesView{}) },
	}
}
