package cli

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var sampleColumns = []column{
	{head: "ID"},
	{head: "NAME", least: 6},
	{head: "N", number: true, rank: 1},
	{head: "ABOUT", least: 5, rank: 2},
}

// A table has one row for each of its rows, whatever stands in a field. On a
// terminal what matters is whole; the rest is cut or left out, and that is said.
func TestTable(t *testing.T) {
	for _, row := range []struct {
		name     string
		terminal bool
		cells    int
		want     string
	}{
		{"a pipe", false, 0, "i-1\ta\\nb\t7\t\\e[2J\ni-22\tlong name of it\t\t\n"},
		{"any width", true, 0, "ID    NAME             N  ABOUT\ni-1   a\\nb             7  \\e[2J\ni-22  long name of it\n"},
		{"wide enough", true, 31, "ID    NAME             N  ABOUT\ni-1   a\\nb             7  \\e[2J\ni-22  long name of it\n"},
		{"one cut", true, 30, "ID    NAME            N  ABOUT\ni-1   a\\nb            7  \\e[2J\ni-22  long name of …\n"},
		{"all that can be cut", true, 22, "ID    NAME    N  ABOUT\ni-1   a\\nb    7  \\e[2J\ni-22  long …\n"},
		{"one left out", true, 21, "ID    NAME          N\ni-1   a\\nb          7\ni-22  long name o…\n(left out here: about; --json has all)\n"},
		{"two left out", true, 14, "ID    NAME\ni-1   a\\nb\ni-22  long na…\n(left out here: n, about; --json has all)\n"},
		{"too narrow", true, 10, "ID    NAME\ni-1   a\\nb\ni-22  lon…\n(left out here: n, about; --json has all)\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var b bytes.Buffer
			a := &app{out: &b, terminal: row.terminal, cells: row.cells}
			table := newTable(sampleColumns)
			table.row("i-1", "a\nb", "7", "\x1b[2J")
			table.row("i-22", "long name of it", "", "")
			if err := a.print(table); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(b.String(), row.want); diff != "" {
				t.Errorf("output (-got +want):\n%s", diff)
			}
		})
	}
}

// A table that is printed again has its heads once, as long as its columns
// stay; one that was left out does not come back between two rows.
func TestTableGoesOn(t *testing.T) {
	var b bytes.Buffer
	a := &app{out: &b, terminal: true, cells: 22}
	table := newTable(sampleColumns)
	for _, id := range []string{"i-1", "i-2", "i-333333", "i-4"} {
		table.row(id, "a name", "7", "x")
		if err := a.print(table); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.print(table); err != nil { // nothing new
		t.Fatal(err)
	}
	const want = `ID   NAME    N  ABOUT
i-1  a name  7  x
i-2  a name  7  x
ID        NAME    N
i-333333  a name  7
(left out here: about; --json has all)
i-4       a name  7
`
	if diff := cmp.Diff(b.String(), want); diff != "" {
		t.Errorf("output (-got +want):\n%s", diff)
	}
}

// A part that does not fit goes on below its beginning, whole.
func TestFields(t *testing.T) {
	f := new(fields)
	f.add("verdict", "STALE")
	f.add("nothing", "")
	f.add("why", "one two three\x1b[2J\nfour 日本語 five")
	for _, row := range []struct {
		terminal bool
		cells    int
		want     string
	}{
		{false, 0, "verdict\tSTALE\nwhy\tone two three\\e[2J\\nfour 日本語 five\n"},
		{true, 0, "verdict  STALE\nwhy      one two three\\e[2J\\nfour 日本語 five\n"},
		{true, 60, "verdict  STALE\nwhy      one two three\\e[2J\\nfour 日本語 five\n"},
		{true, 25, "verdict  STALE\nwhy      one two three\\e[\n         2J\\n\n         four 日本語 five\n"},
	} {
		var b bytes.Buffer
		a := &app{out: &b, terminal: row.terminal, cells: row.cells}
		if err := a.printFields(f); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(b.String(), row.want); diff != "" {
			t.Errorf("terminal %v of %d cells (-got +want):\n%s", row.terminal, row.cells, diff)
		}
	}
}

func TestLeft(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"1.5s left": 1590 * time.Millisecond, "59.9s left": 59999 * time.Millisecond, "1m left": time.Minute, "9m59s left": 10*time.Minute - 1,
		"7h59m left": 8*time.Hour - 1, "0s past": 0, "1s past": -1900 * time.Millisecond, "2h5m past": -(125*time.Minute + 7*time.Second),
	} {
		now := time.Unix(1e9, 0)
		if got := left(now.Add(d), now); got != want {
			t.Errorf("left(%v) = %s, want %s", d, got, want)
		}
	}
}
