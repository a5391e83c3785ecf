package views

import (
	"strconv"
	"time"

	"tollgate/gate"
)

// appendLeft prints what is left until an instant: 04:12, 3h05m, 12d04h, or
// "passed".
func appendLeft(dst []byte, d time.Duration) []byte {
	switch {
	case d < 0:
		return append(dst, "passed"...)
	case d < time.Hour:
		dst = appendTwo(dst, int(d/time.Minute))
		dst = append(dst, ':')
		return appendTwo(dst, int(d%time.Minute/time.Second))
	case d < 24*time.Hour:
		dst = strconv.AppendInt(dst, int64(d/time.Hour), 10)
		dst = append(dst, 'h')
		dst = appendTwo(dst, int(d%time.Hour/time.Minute))
		return append(dst, 'm')
	default:
		dst = strconv.AppendInt(dst, int64(d/(24*time.Hour)), 10)
		dst = append(dst, 'd')
		dst = appendTwo(dst, int(d%(24*time.Hour)/time.Hour))
		return append(dst, 'h')
	}
}

// appendAge prints how long ago something was, in its largest unit: 12s, 41m,
// 3h, 5d.
func appendAge(dst []byte, d time.Duration) []byte {
	n, unit := int64(max(0, d)/time.Second), byte('s')
	switch {
	case n >= 86400:
		n, unit = n/86400, 'd'
	case n >= 3600:
		n, unit = n/3600, 'h'
	case n >= 60:
		n, unit = n/60, 'm'
	}
	return append(strconv.AppendInt(dst, n, 10), unit)
}

// appendTook prints a short duration: 350ms, 2.0s, 04:12.
func appendTook(dst []byte, d time.Duration) []byte {
	switch {
	case d < 0:
		return append(dst, '-')
	case d < time.Second:
		return append(strconv.AppendInt(dst, d.Milliseconds(), 10), "ms"...)
	case d < time.Minute:
		tenths := int64(d / (100 * time.Millisecond))
		dst = strconv.AppendInt(dst, tenths/10, 10)
		dst = append(dst, '.', byte('0'+tenths%10))
		return append(dst, 's')
	default:
		return appendLeft(dst, d)
	}
}

// appendCount prints a count in at most five cells: 9999, 12k, 1.5M.
func appendCount(dst []byte, n int64) []byte {
	if n < 0 {
		return strconv.AppendInt(dst, n, 10)
	}
	for _, u := range []struct {
		size int64
		name byte
	}{{1e12, 'T'}, {1e9, 'G'}, {1e6, 'M'}, {1e3, 'k'}} {
		if n < u.size || n < 10_000 {
			continue
		}
		dst = strconv.AppendInt(dst, n/u.size, 10)
		if tenth := n % u.size * 10 / u.size; n < 10*u.size && tenth > 0 {
			dst = append(dst, '.', byte('0'+tenth))
		}
		return append(dst, u.name)
	}
	return strconv.AppendInt(dst, n, 10)
}

// appendSpent prints a counter beside its limit: 4/10, 12k/60k.
func appendSpent(dst []byte, s gate.Spent) []byte {
	dst = appendCount(dst, s.Spent)
	dst = append(dst, '/')
	return appendCount(dst, s.Limit)
}

func appendTwo(dst []byte, n int) []byte {
	return append(dst, byte('0'+n/10%10), byte('0'+n%10))
}

// instant prints a time in full, in UTC.
func instant(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04:05.000Z")
}

// moment prints a time of the day that now is in, and any other in full.
func moment(t, now time.Time) string {
	if t.UTC().Truncate(24*time.Hour) != now.UTC().Truncate(24*time.Hour) {
		return instant(t)
	}
	return t.UTC().Format("15:04:05.000Z")
}

// ago, left and took are their append twins for places where a string more or
// less does not matter.
func ago(d time.Duration) string  { return string(appendAge(nil, d)) }
func left(d time.Duration) string { return string(appendLeft(nil, d)) }
func took(d time.Duration) string { return string(appendTook(nil, d)) }

func spent(s gate.Spent) string { return string(appendSpent(nil, s)) }

// plural prints a count with its noun.
func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.FormatInt(n, 10) + " " + many
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
