package gate

import (
	"testing"
	"time"
)

// A duration is written without the units that are zero.
func TestSpan(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0s": 0, "1ms": time.Millisecond, "1.5s": 1500 * time.Millisecond, "30s": 30 * time.Second, "10m": 10 * time.Minute,
		"1m30s": 90 * time.Second, "2h": 2 * time.Hour, "2h5m": 125 * time.Minute, "8760h": MaxDeadline, "1h0m5s": time.Hour + 5*time.Second,
	} {
		if got := Span(d); got != want {
			t.Errorf("Span(%v) = %s, want %s", int64(d), got, want)
		}
	}
}
