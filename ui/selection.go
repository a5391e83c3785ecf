package ui

// cursor is a selection in a list: an id, never an index. When the row of its
// id has left the list, nothing is selected until the operator moves: never
// the neighbour. The zero cursor is not in the list.
type cursor[ID ~string] struct {
	id   ID     // selected; empty for none
	lost ID     // was selected and has left; empty otherwise
	how  string // it has left, as far as that is known
	at   int    // the row where the cursor is, or last was
	top  int    // the first row that is seen
}

// inList reports whether the cursor is in the list, be it on a row that has left.
func (c *cursor[ID]) inList() bool { return c.id != "" || c.lost != "" }

// lose leaves nothing selected.
func (c *cursor[ID]) lose(how string) { c.id, c.lost, c.how = "", c.id, how }

// pick selects the row i.
func (c *cursor[ID]) pick(id ID, i int) { c.id, c.lost, c.how, c.at = id, "", "", i }

// move goes n rows further among rows, as far as there are any that can be
// selected. From a list where nothing is selected the first step goes to the
// row at hand, unless that one has left.
func (c *cursor[ID]) move(n, rows int, row func(i int) (ID, bool)) {
	step := 1
	if n < 0 {
		step = -1
	}
	if c.id == "" && c.at < rows {
		if id, ok := row(max(0, c.at)); ok {
			c.pick(id, max(0, c.at))
			n -= step
		}
	}
	for i := c.at + step; n != 0 && i >= 0 && i < rows; i += step {
		if id, ok := row(i); ok {
			c.pick(id, i)
			n -= step
		}
	}
}

// keepInView scrolls as little as it takes for the cursor to be among the
// height rows that are seen, and for no blank rows to be below the last.
func (c *cursor[ID]) keepInView(height, rows int) {
	height = max(1, height)
	c.at = max(0, min(c.at, rows-1))
	c.top = max(0, min(c.top, rows-height))
	c.top = min(c.top, c.at)
	c.top = max(c.top, c.at-height+1)
}
