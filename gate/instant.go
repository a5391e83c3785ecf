package gate

import (
	"strings"
	"time"
)

// Instant is a time as rows and the API show it: RFC 3339, in UTC, with
// milliseconds. All of time.Time can be used on it. The zero Instant is none.
type Instant struct{ time.Time }

// InstantForm is how an Instant is written, in UTC.
const InstantForm = "2006-01-02T15:04:05.000Z"

// MarshalText writes the instant.
func (t Instant) MarshalText() ([]byte, error) { return t.UTC().AppendFormat(nil, InstantForm), nil }

// MarshalJSON writes the instant.
func (t Instant) MarshalJSON() ([]byte, error) {
	return t.UTC().AppendFormat(nil, `"`+InstantForm+`"`), nil
}

// InstantOf returns a time as rows show it.
func InstantOf(t time.Time) Instant { return Instant{t} }

// Span writes a duration without the units that are zero: 1m, not 1m0s.
func Span(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
