package views

import "testing"

// At every width the columns stand side by side inside it, those of rank 0
// are there, and the order is kept.
func TestLayout(t *testing.T) {
	for name, cols := range map[string][]column{"queue": queueColumns, "runs": runsColumns} {
		for width := LeastWidth; width <= 300; width++ {
			got := layout(cols, listFrom, width)
			at, kept, id := listFrom, 0, -1
			for _, c := range got {
				if c.at < at || c.width < c.least || c.width > c.most || c.at+c.width > width {
					t.Errorf("%s at %d: column %q of %d cells at %d, want at least %d and within", name, width, c.title, c.width, c.at, at)
				}
				at = c.at + c.width + 1
				for i := range cols {
					if cols[i].id == c.id {
						if i <= id {
							t.Errorf("%s at %d: column %q is out of order", name, width, c.title)
						}
						id = i
					}
				}
				if c.rank == 0 {
					kept++
				}
			}
			want := 0
			for _, c := range cols {
				if c.rank == 0 {
					want++
				}
			}
			if kept != want {
				t.Errorf("%s at %d: %d columns that are never dropped, want %d", name, width, kept, want)
			}
		}
	}
	if got := len(layout(queueColumns, listFrom, 300)); got != len(queueColumns) {
		t.Errorf("the queue at 300 has %d columns, want all %d", got, len(queueColumns))
	}
}
