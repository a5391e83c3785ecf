package gate

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// longestWait stands for a wait that no deadline holds.
const longestWait = time.Duration(math.MaxInt64) / time.Millisecond * time.Millisecond

// httpDates are the three forms of a date in HTTP, the newest first.
var httpDates = []string{"Mon, 02 Jan 2006 15:04:05 GMT", "Monday, 02-Jan-06 15:04:05 GMT", time.ANSIC}

// ParseRetryAfter reads what a provider wrote after Retry-After, as of now:
// seconds, also with a fraction, a date of HTTP, or a Go duration. It returns
// whole milliseconds, rounded up. What is over, or says nothing, is no wait;
// what is too large for a duration is the longest one. The text is data and
// never an error: a report is not refused for what a provider wrote (R-D7).
func ParseRetryAfter(text string, now time.Time) time.Duration {
	text = strings.TrimSpace(text)
	if d, err := time.ParseDuration(text); err == nil {
		return wholeWait(d)
	}
	for _, form := range httpDates {
		if t, err := time.Parse(form, text); err == nil {
			return wholeWait(t.Sub(now))
		}
	}
	// Seconds; or a duration that overflows, whose unit no longer matters.
	number := strings.TrimRight(text, "hmsuµn")
	if number == "" || strings.Trim(number, "+-.0123456789") != "" {
		return 0
	}
	n, err := strconv.ParseFloat(number, 64)
	switch {
	case math.IsInf(n, 0): // out of range; anything else that fails is 0
	case err != nil:
		return 0
	case number != text && n > 0:
		return longestWait
	}
	if n >= longestWait.Seconds() {
		return longestWait
	}
	return wholeWait(time.Duration(math.Ceil(n*1000)) * time.Millisecond)
}

// wholeWait rounds a wait up to whole milliseconds.
func wholeWait(d time.Duration) time.Duration {
	if d <= 0 || d >= longestWait {
		return min(longestWait, max(0, d))
	}
	whole := d.Truncate(time.Millisecond)
	if whole < d {
		whole += time.Millisecond
	}
	return whole
}
