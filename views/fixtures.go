package views

import "time"

// FixtureRow is a fixture and what came of it when it was last played.
type FixtureRow struct {
	Name    string
	Title   string
	Clauses string    // of the rules that it shows, with blanks between
	Played  time.Time // when it was last played; zero for never
	Differs int64     // what came out otherwise than it expects
	Failed  string    // why it could not be played; empty when it could
}

// FixturesView is the list of fixtures.
type FixturesView struct {
	Rows     []FixtureRow // those to show, in their order; what does not fit is left away
	Selected string       // name; empty when nothing is selected
	Empty    string       // said when there are no rows; empty for the usual words
}

// FixturesRows returns how many fixtures a page shows at once.
func FixturesRows(p Page) int { return max(0, p.Body()-1) }

const (
	fixName = iota
	fixResult
	fixPlayed
	fixClauses
	fixTitle
)

var fixtureColumns = []column{
	{id: fixName, title: "FIXTURE", least: 18, wide: 24, good: 30, most: 44},
	{id: fixResult, title: "LAST RESULT", least: 14, most: 16},
	{id: fixPlayed, title: "AGO", least: 4, most: 6, rank: 1, right: true},
	{id: fixTitle, title: "WHAT IT SHOWS", least: 14, good: 48, most: 110, rank: 2},
	{id: fixClauses, title: "CLAUSES", least: 12, good: 16, most: 30, rank: 3, from: 130},
}

// Fixtures draws the list of fixtures.
func Fixtures(p Page, v FixturesView) string {
	none := v.Empty
	if none == "" {
		none = "There are no fixtures."
	}
	return p.list(fixtureColumns, len(v.Rows), none, func(b *block, i int, cols []column) {
		r := &v.Rows[i]
		b.pick(r.Name == v.Selected && v.Selected != "", false)
		b.fixture(r, cols, p.Now)
	})
}

// fixture appends the cells of one fixture.
func (b *block) fixture(r *FixtureRow, cols []column, now time.Time) {
	glyph, word, look := b.th.resultLook(r)
	b.glyph(look, glyph)
	name := text
	if b.sel {
		name = strong
	}
	for _, c := range cols {
		b.to(c.at)
		switch c.id {
		case fixName:
			b.id(name, r.Name, c.width)
		case fixResult:
			b.cell(look, word, c.width)
		case fixPlayed:
			b.seen(r.Played, now, c.width)
		case fixClauses:
			b.cell(dim, r.Clauses, c.width)
		case fixTitle:
			if r.Failed != "" {
				b.cell(waits, r.Failed, c.width)
			} else {
				b.cell(dim, r.Title, c.width)
			}
		}
	}
}

// resultLook returns glyph, word and style of what came of a fixture.
func (t *Theme) resultLook(r *FixtureRow) (glyph, word string, s style) {
	switch {
	case r.Failed != "":
		return t.g.fail, "did not play", alarm
	case r.Played.IsZero():
		return t.g.dash, "never played", dim
	case r.Differs > 0:
		return t.g.fail, plural(r.Differs, "difference", "differences"), waits
	}
	return t.g.ok, "as expected", live
}
