package views

import (
	"strconv"
	"time"

	"tollgate/gate"
)

// PlaybackView is a fixture that plays.
type PlaybackView struct {
	Name, Title string
	At, Steps   int           // steps taken, of all
	Clock       time.Duration // virtual time since its beginning
	Now         time.Time     // the gate's time in it, for the gauges of its runs
	Speed       float64       // times as fast as it would be; 0 is as fast as it can
	Paused      bool
	Result      *FixtureRow // when it has come to its end; nil before

	Runs      []gate.RunRow      // those to show; the first in full where it is alone
	Decisions []gate.DecisionRow // the newest, oldest of them first; those that do not fit at the end are the ones shown
	Selected  uint64             // seq of a decision; 0 for none
}

// mostRuns bounds the runs that a playback shows.
const mostRuns = 4

// PlaybackRows returns how many decisions a page shows at once.
func PlaybackRows(p Page, v PlaybackView) int {
	return max(0, p.Body()-playbackTop(p, v)-1)
}

// playbackTop returns the rows above the decisions.
func playbackTop(p Page, v PlaybackView) int {
	if p.low() {
		return 2
	}
	return 3 + runsTop(p, v)
}

// runsTop returns the rows of the runs.
func runsTop(p Page, v PlaybackView) int {
	switch n := len(v.Runs); {
	case n == 0:
		return 0
	case n == 1 && gaugesAbreast(p.Width):
		return 4
	default:
		return 2 + min(n, mostRuns)
	}
}

// Playback draws a fixture that plays.
func Playback(p Page, v PlaybackView) string {
	return p.draw(func(b *block, rows int) {
		top := len(b.rows)
		b.playbackLine(v)
		b.scrubber(v)
		if !p.low() {
			b.rule()
			b.playbackRuns(p, v)
		}
		most := max(0, rows-(len(b.rows)-top)-1)
		ds := v.Decisions
		if n := len(ds) - most; n > 0 {
			ds = ds[n:]
		}
		b.decisions(LedgerView{Rows: ds, Selected: v.Selected, OneRun: len(v.Runs) == 1, Empty: "Nothing has been decided yet in it."}, rows-(len(b.rows)-top), v.Now)
	})
}

// playbackLine says what plays, and whether it does.
func (b *block) playbackLine(v PlaybackView) {
	b.ends(3,
		func(o *block, level int) {
			o.put(strong, v.Name)
			if level < 2 {
				o.gap(2)
				room := 200
				if level == 1 {
					room = max(0, b.width-o.x-32)
				}
				o.cell(dim, v.Title, min(room, o.measure(v.Title, room)))
			}
		},
		func(o *block, _ int) { o.playing(v) },
	)
}

// playing says whether it plays, and how fast.
func (b *block) playing(v PlaybackView) {
	switch {
	case v.Result != nil:
		glyph, word, look := b.th.resultLook(v.Result)
		b.glyph(look, glyph)
		b.put(look, " "+word)
		return
	case v.Paused:
		b.glyph(waits, b.th.g.paused)
		b.put(waits, " paused")
	default:
		b.glyph(live, b.th.g.live)
		b.put(live, " playing")
	}
	b.gap(1)
	if v.Speed <= 0 {
		b.put(dim, "at full speed")
		return
	}
	b.put(text, strconv.FormatFloat(v.Speed, 'g', 4, 64)+"x")
}

// scrubber appends the place in the script.
func (b *block) scrubber(v PlaybackView) {
	b.tmp = strconv.AppendInt(append(b.tmp[:0], "step "...), int64(v.At), 10)
	b.tmp = strconv.AppendInt(append(b.tmp, " of "...), int64(v.Steps), 10)
	steps := string(b.tmp)
	clock := "after " + took(v.Clock)
	if len(steps)+len(clock)+12 > b.width {
		clock = ""
	}
	const apart = 2
	side := apart + max(len(steps), 2*len(strconv.Itoa(v.Steps))+len("step  of ")) + 1
	if clock != "" {
		side += apart + max(len(clock), len("after 00:00"))
	}
	b.gap(1)
	share := 0.0
	if v.Steps > 0 {
		share = float64(v.At) / float64(v.Steps)
	}
	b.slider(share, b.rest()-side)
	b.gap(apart)
	b.put(text, steps)
	if clock != "" {
		b.to(b.width - 1 - len(clock))
		b.put(dim, clock)
	}
	b.end()
}

// playbackRuns appends the gauges of its runs: of one alone in full, of more
// as in their list.
func (b *block) playbackRuns(p Page, v PlaybackView) {
	switch n := runsTop(p, v); {
	case n == 0:
		return
	case len(v.Runs) == 1 && gaugesAbreast(p.Width):
		b.runLine(&gate.RunView{RunRow: v.Runs[0]}, v.Now)
		b.gauges(v.Runs[0].Budget, asOf(&v.Runs[0], v.Now), 1)
	default:
		b.list(runsColumns, n-1, len(v.Runs), "", func(b *block, i int, cols []column) {
			b.to(listFrom - 2)
			b.run(&v.Runs[i], cols, v.Now)
		})
	}
	b.rule()
}
