package views

import (
	"testing"
	"time"

	"tollgate/gate"
)

func TestTimes(t *testing.T) {
	rows := []struct {
		d               time.Duration
		left, ago, took string
	}{
		{0, "00:00", "0s", "0ms"},
		{999 * time.Millisecond, "00:00", "0s", "999ms"},
		{2 * time.Second, "00:02", "2s", "2.0s"},
		{59*time.Second + 990*time.Millisecond, "00:59", "59s", "59.9s"},
		{4*time.Minute + 12*time.Second, "04:12", "4m", "04:12"},
		{time.Hour, "1h00m", "1h", "1h00m"},
		{23*time.Hour + 59*time.Minute + 59*time.Second, "23h59m", "23h", "23h59m"},
		{76 * time.Hour, "3d04h", "3d", "3d04h"},
		{8760 * time.Hour, "365d00h", "365d", "365d00h"},
		{-time.Millisecond, "passed", "0s", "-"},
		{-time.Second, "passed", "0s", "-"},
	}
	for _, r := range rows {
		if l, a, k := left(r.d), ago(r.d), took(r.d); l != r.left || a != r.ago || k != r.took {
			t.Errorf("%v: left %q, ago %q, took %q, want %q, %q, %q", r.d, l, a, k, r.left, r.ago, r.took)
		}
	}
}

func TestCounts(t *testing.T) {
	for n, want := range map[int64]string{
		-3: "-3", 0: "0", 9999: "9999", 10_000: "10k", 12_345: "12k", 999_999: "999k", 1_000_000: "1M", 1_234_567: "1.2M", 1_050_000: "1M", 10_000_000: "10M", gate.MaxTokens: "1T",
	} {
		if got := string(appendCount(nil, n)); got != want {
			t.Errorf("count %d = %q, want %q", n, got, want)
		}
	}
}

func TestMoment(t *testing.T) {
	zone := time.FixedZone("", 2*3600)
	for at, want := range map[time.Time]string{
		now.Add(-time.Second):    "09:12:43.000Z",
		now.In(zone):             "09:12:44.000Z",
		now.Add(-24 * time.Hour): "2026-01-04 09:12:44.000Z",
		{}:                       "-",
	} {
		if got := moment(at, now); got != want {
			t.Errorf("moment of %v = %q, want %q", at, got, want)
		}
	}
}

func TestAnswer(t *testing.T) {
	class, b := gate.ClassUnknown, sampleBudget()
	rows := []struct {
		name string
		d    gate.DecisionRow
		want Notice
	}{
		{
			"a yes is a permission",
			gate.DecisionRow{Verdict: gate.Retry, Op: "a", Permit: &gate.PermitRow{Op: "a", Ordinal: 3, NotBefore: gate.InstantOf(now.Add(120 * time.Millisecond))}},
			Notice{Text: "RETRY_WITH_SHARED_CONTEXT, attempt 3, dispatch from 09:12:44.120Z", Tone: Good},
		},
		{
			"a new action",
			gate.DecisionRow{Verdict: gate.Admit, Op: "a", Permit: &gate.PermitRow{Op: "a~2", Ordinal: 1, NotBefore: gate.InstantOf(now)}},
			Notice{Text: "ADMIT, attempt 1, of the new action a~2, dispatch from 09:12:44.000Z", Tone: Good},
		},
		{"a stop with its numbers", gate.DecisionRow{Verdict: gate.StopSideEffectBudget, Before: &b}, Notice{Text: "STOP_SIDE_EFFECT_BUDGET, side effects 1/1", Tone: Loud}},
		{
			"words that are never bare",
			gate.DecisionRow{Verdict: gate.StopPermanentOrUnknown, Code: "odd", Class: &class, Outcome: gate.OutcomeUnknown},
			Notice{Text: "STOP_PERMANENT_OR_UNKNOWN, odd is unlisted code, outcome unknown", Tone: Loud},
		},
		{
			"moved on",
			gate.DecisionRow{Verdict: gate.Stale, Changed: &gate.ChangedRow{At: gate.InstantOf(now.Add(-12 * time.Second)), By: gate.Actor{ID: "uid:7", Name: "lee"}, Act: gate.ActReject, Verdict: gate.Resolved}},
			Notice{Text: "STALE, moved by lee 12s ago, reject got RESOLVED", Tone: Loud},
		},
		{
			"moved on by the operator",
			gate.DecisionRow{Verdict: gate.Stale, Changed: &gate.ChangedRow{At: gate.InstantOf(now.Add(-12 * time.Second)), By: gate.Actor{ID: "uid:1", Name: "dana"}, Act: gate.ActReject, Verdict: gate.Resolved}},
			Notice{Text: "STALE, moved by you 12s ago, reject got RESOLVED", Tone: Loud},
		},
		{"can be asked again", gate.DecisionRow{Verdict: gate.StopBreakerOpen, RetryAt: gate.InstantOf(now.Add(9 * time.Second))}, Notice{Text: "STOP_BREAKER_OPEN, not before 09:12:53.000Z", Tone: Loud}},
		{"noted", gate.DecisionRow{Verdict: gate.Recorded}, Notice{Text: "RECORDED"}},
		{"resolved", gate.DecisionRow{Verdict: gate.Resolved, NewRun: "run-2"}, Notice{Text: "RESOLVED, goes on in run run-2", Tone: Good}},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			if got := Answer(r.d, "uid:1", now); got != r.want {
				t.Errorf("got  %+v\nwant %+v", got, r.want)
			}
		})
	}
}

// No verdict, class, outcome, kind or state is without its word on a screen,
// and the two unknowns are never bare.
func TestWords(t *testing.T) {
	for c := gate.ClassUnknown; c <= gate.ClassPermanent; c++ {
		if got := ClassWord(c); got == "" || got == "unknown" {
			t.Errorf("class %d is %q on screens", c, got)
		}
	}
	for o := gate.OutcomePending; o <= gate.OutcomeUnknown; o++ {
		if got := OutcomeWord(o); got == "" || got == "unknown" {
			t.Errorf("outcome %d is %q on screens", o, got)
		}
	}
	for _, th := range []*Theme{NewTheme(Plain, true), NewTheme(Dark, false)} {
		for k := gate.KindOutcomeUnknown; k <= gate.KindStopped; k++ {
			if g, _ := th.kindLook(k); g == " " || KindWord(k) == "" || KindWord(k) == "unknown" {
				t.Errorf("kind %d is %q %q", k, g, KindWord(k))
			}
		}
		for s := gate.OpWaiting; s <= gate.OpSuperseded; s++ {
			o := gate.OpRow{State: s, Kind: gate.KindStopped}
			if g, word, _ := th.stateLook(&o); g == " " || word == "" || word == "unknown" {
				t.Errorf("state %v is %q %q", s, g, word)
			}
		}
		for o := gate.OutcomePending; o <= gate.OutcomeUnknown; o++ {
			if g, word, _ := th.attemptLook(&gate.AttemptRow{Outcome: o}); g == " " || word == "" || word == "unknown" {
				t.Errorf("an attempt that is %v is %q %q", o, g, word)
			}
		}
	}
	// "failed" is never the word for a stop.
	stopped := gate.OpRow{State: gate.OpFailed, Stop: gate.StopAttemptBudget}
	if _, word, _ := NewTheme(Plain, true).stateLook(&stopped); word != "stopped" {
		t.Errorf("a stopped operation is %q", word)
	}
}
