package cli

import (
	"slices"
	"strings"

	"tollgate/views"
)

// column is a column of a table, and what becomes of it on a terminal that is
// too narrow for all of them.
type column struct {
	head   string
	number bool // stands on the right
	least  int  // may be cut to that many cells; 0: it is whole wherever it is shown
	rank   int  // 0: it is always shown; of the others the highest is left out first
}

// table collects rows of fields, all of them text that may come from outside.
//
// On a terminal it has heads and aligned columns; what does not fit is cut or
// left out as the columns say, and a last line names what is left out.
// Elsewhere it is all fields, with one tab between them, and no heads.
type table struct {
	columns []column
	rows    [][]string
	natural []int // the widest field of each column so far
	widths  []int // of the columns as they were printed last; 0: left out
}

func newTable(columns []column) *table {
	t := &table{columns: columns, natural: make([]int, len(columns))}
	for i, c := range columns {
		t.natural[i] = views.Width(c.head)
	}
	return t
}

func (t *table) row(fields ...string) {
	t.rows = append(t.rows, fields)
	for i, f := range fields {
		t.natural[i] = max(t.natural[i], views.Width(f))
	}
}

// print prints the rows of a table and takes them out of it, so that it can be
// printed again with what has come since: a column that was left out stays so.
func (a *app) print(t *table) error {
	var b strings.Builder
	if a.terminal {
		t.aligned(&b, a.cells)
	} else {
		for _, r := range t.rows {
			for i, f := range r {
				if i > 0 {
					b.WriteByte('\t')
				}
				b.WriteString(views.Escape(f))
			}
			b.WriteByte('\n')
		}
	}
	t.rows = nil
	_, err := a.out.Write([]byte(b.String()))
	return err
}

// aligned writes the rows for a terminal of a width, 0 for any.
func (t *table) aligned(b *strings.Builder, width int) {
	before := t.widths
	t.widths = t.fit(width)
	lines, out := t.rows, []string(nil)
	if before == nil || !slices.EqualFunc(before, t.widths, func(a, b int) bool { return (a == 0) == (b == 0) }) {
		heads := make([]string, len(t.columns))
		for i, c := range t.columns {
			if heads[i] = c.head; t.widths[i] == 0 {
				out = append(out, c.head)
			}
		}
		lines = append([][]string{heads}, t.rows...)
	}
	for _, r := range lines {
		var row []string
		for i, f := range r {
			switch w := t.widths[i]; {
			case w == 0:
			case t.columns[i].number:
				row = append(row, views.FitRight(f, w))
			default:
				row = append(row, views.Fit(f, w))
			}
		}
		line := strings.TrimRight(strings.Join(row, "  "), " ")
		if width > 0 && views.Width(line) > width {
			line = strings.TrimRight(views.Fit(line, width), " ")
		}
		b.WriteString(line + "\n")
	}
	if len(out) > 0 {
		b.WriteString("(left out here: " + strings.ToLower(strings.Join(out, ", ")) + "; --json has all)\n")
	}
}

// fit returns how wide each column is when all of them are width cells wide at
// most, 0 for one that is left out.
func (t *table) fit(width int) []int {
	widths := slices.Clone(t.natural)
	if width < 1 {
		return widths
	}
	for i, c := range t.columns {
		if c.least > 0 {
			widths[i] = min(widths[i], max(c.least, views.Width(c.head)))
		}
		if t.widths != nil && t.widths[i] == 0 {
			widths[i] = 0
		}
	}
	for room(widths, width) < 0 {
		last := -1
		for i, c := range t.columns {
			if widths[i] > 0 && c.rank > 0 && (last < 0 || c.rank > t.columns[last].rank) {
				last = i
			}
		}
		if last < 0 {
			break
		}
		widths[last] = 0
	}
	// What is left goes to those that are cut, the shortest first.
	for spare := room(widths, width); spare > 0; spare-- {
		next := -1
		for i := range widths {
			if widths[i] > 0 && widths[i] < t.natural[i] && (next < 0 || widths[i] < widths[next]) {
				next = i
			}
		}
		if next < 0 {
			break
		}
		widths[next]++
	}
	return widths
}

// room returns how many of width cells the columns leave, less than 0 when
// they need more. Two blanks stand between two columns.
func room(widths []int, width int) int {
	for i, between := 0, 0; i < len(widths); i++ {
		if widths[i] > 0 {
			width -= between + widths[i]
			between = 2
		}
	}
	return width
}
