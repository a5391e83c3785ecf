package gate

import (
	"testing"
	"time"
)

// R-D7: what a provider writes is data, whatever it is: a past date is no
// floor, an absurd number is longer than any deadline, nothing overflows.
func TestParseRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"":       0,
		"0":      0,
		"2":      2 * time.Second,
		" 2 ":    2 * time.Second,
		"1.5":    1500 * time.Millisecond,
		"0.0001": time.Millisecond, // what is begun counts
		"-30":    0,
		"120":    2 * time.Minute,

		"9000000000":                             9000000000 * time.Second, // 285 years
		"9999999999":                             longestWait,
		"99999999999999999999999999999999999999": longestWait,
		"1e9":                                    0,
		"NaN":                                    0,
		"Inf":                                    0,
		"1-2":                                    0,
		"soon":                                   0,
		"1 day":                                  0,
		"s":                                      0,
		"\x1b[J":                                 0,

		"30s":                    30 * time.Second,
		"250ms":                  250 * time.Millisecond,
		"2.007s":                 2007 * time.Millisecond,
		"2.0071s":                2008 * time.Millisecond,
		"-30s":                   0,
		"9999999999h":            longestWait,
		"99999999999999999999ms": longestWait,

		"Mon, 05 Jan 2026 09:00:10 GMT":  10 * time.Second,
		"Monday, 05-Jan-26 09:00:10 GMT": 10 * time.Second,
		"Mon Jan  5 09:00:10 2026":       10 * time.Second,
		"Mon, 05 Jan 2026 08:59:59 GMT":  0,
		"Mon, 05 Jan 9999 09:00:00 GMT":  longestWait,
	} {
		got := ParseRetryAfter(text, now)
		if got != want {
			t.Errorf("ParseRetryAfter(%q) = %s, want %s", text, got, want)
		}
		if got%time.Millisecond != 0 {
			t.Errorf("ParseRetryAfter(%q) = %s, want whole milliseconds", text, got)
		}
	}
}
