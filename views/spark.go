package views

import "time"

// The glyphs of what is measured rather than spent: a full bar means spent and
// nothing else, so lengths and levels have glyphs of their own.
type measures struct {
	length, knob string
	levels       [7]string
}

var (
	unicodeMeasures = measures{length: "━", knob: "●", levels: [...]string{"▁", "▂", "▃", "▄", "▅", "▆", "▇"}}
	asciiMeasures   = measures{length: "=", knob: "O", levels: [...]string{"1", "2", "3", "4", "5", "6", "7"}}
)

func (t *Theme) measures() *measures {
	if t.ascii {
		return &asciiMeasures
	}
	return &unicodeMeasures
}

// length appends a line in n cells, as long as a share of them: nothing only
// for nothing.
func (b *block) length(s style, share float64, n int) {
	n = min(n, b.rest())
	full := int(max(0, min(share, 1))*float64(n) + 0.5)
	if share > 0 {
		full = max(full, 1)
	}
	b.repeat(s, b.th.measures().length, full)
	b.gap(n - full)
}

// slider appends a place on a line of n cells.
func (b *block) slider(share float64, n int) {
	if n = min(n, b.rest()); n < 1 {
		return
	}
	at := min(int(max(0, min(share, 1))*float64(n)), n-1)
	b.repeat(press, b.th.measures().length, at)
	b.glyph(here, b.th.measures().knob)
	b.repeat(faint, b.th.g.rule, n-1-at)
}

// Bucket counts what went to a dependency in one part of its window.
type Bucket struct {
	At       time.Time // where the part begins
	Requests int64
	Failures int64 // of them transient
}

// longestSpark bounds the cells of a sparkline.
const longestSpark = 40

// failures appends a sparkline of n cells of the time between two instants:
// the failures of each part beside those of the worst one, a dot where
// requests met none, and a blank where there were no requests.
func (b *block) failures(buckets []Bucket, from, to time.Time, n int) {
	var cells [longestSpark]Bucket
	n = min(n, b.rest(), longestSpark)
	span := to.Sub(from)
	if n < 1 {
		return
	}
	worst := int64(0)
	for _, k := range buckets {
		if span <= 0 || k.At.Before(from) || k.At.After(to) {
			continue
		}
		c := &cells[min(n-1, int(float64(k.At.Sub(from))/float64(span)*float64(n)))]
		c.Requests += k.Requests
		c.Failures += k.Failures
		worst = max(worst, c.Failures)
	}
	levels := &b.th.measures().levels
	for _, c := range cells[:n] {
		switch {
		case c.Failures > 0:
			b.glyph(waits, levels[min(len(levels)-1, int((c.Failures*int64(len(levels))-1)/worst))])
		case c.Requests > 0:
			b.glyph(faint, b.th.g.space)
		default:
			b.gap(1)
		}
	}
}
