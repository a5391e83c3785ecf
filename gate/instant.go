package gate

import "time"

// Instant is a time as rows and the API show it: RFC 3339, in UTC, with
// milliseconds. All of time.Time can be used on it. The zero Instant is none.
type Instant struct{ time.Time }

const instantForm = "2006-01-02T15:04:05.000Z"

// MarshalText writes the instant.
func (t Instant) MarshalText() ([]byte, error) { return t.UTC().AppendFormat(nil, instantForm), nil }

// MarshalJSON writes the instant.
func (t Instant) MarshalJSON() ([]byte, error) {
	return t.UTC().AppendFormat(nil, `"`+instantForm+`"`), nil
}

// InstantOf returns a time as rows show it.
func InstantOf(t time.Time) Instant { return Instant{t} }
