package views

import (
	"strings"
	"time"

	"tollgate/gate"
)

// The command line's prints of things that are not rows of a table. They are
// text without sequences, escaped like the screens, with a line feed at the
// end of each row and no blanks before it. A width of 0 is that of a pipe:
// nothing is cut that a reader may want whole.

// pipeWidth is what a pipe is given.
const pipeWidth = 160

// PrintTree prints the retry tree of a run.
func PrintTree(run *gate.RunView, now time.Time, width int) string {
	tree := NewTree(run, nil)
	return printed(width, func(o *block) {
		o.width = min(o.width, 100)
		for i := range tree.Nodes {
			o.node(&tree.Nodes[i], run.Budget.Attempts.Spent, now)
			o.end()
		}
	})
}

// PrintReview prints one item whole, with what each verb would do.
func PrintReview(v ReviewView, now time.Time, width int) string {
	return printed(width, func(o *block) {
		o.reviewLine(v, now)
		o.moved(v, now)
		o.contract(v, now)
		o.blank(1)
		o.verbs(v, now)
	})
}

var plainTheme = NewTheme(Plain, false)

func printed(width int, draw func(o *block)) string {
	if width < 1 {
		width = pipeWidth
	}
	o := newBlock(plainTheme, max(LeastWidth, width), 40)
	draw(o)
	var b strings.Builder
	for row := range strings.Lines(string(o.buf)) {
		b.WriteString(strings.TrimRight(row, " \n"))
		b.WriteByte('\n')
	}
	return b.String()
}

// Left prints what is left of a time, as screens do: "04:12", "3h05m",
// "passed".
func Left(d time.Duration) string { return left(d) }

// Ago prints how long ago something was, in its largest unit: "41m".
func Ago(d time.Duration) string { return ago(d) }

// Count prints a counter beside its limit: "4/10", "12k/60k".
func Count(s gate.Spent) string { return spent(s) }

// ShortKey prints the ends of an idempotency key or a digest: "8f1c..e9e0".
func ShortKey(key string) string {
	const ends = 4
	if len(key) <= 2*ends+2 || !clean(key) {
		return Escape(key)
	}
	return key[:ends] + ".." + key[len(key)-ends:]
}
