package cli

import (
	"strconv"

	"github.com/spf13/cobra"

	"tollgate/gate"
)

// listed is how many rows a list prints unless it is told otherwise.
const listed = 100

// limitFlag adds the flag that bounds a list.
func limitFlag(cmd *cobra.Command, limit *int64, what string) {
	*limit = listed
	cmd.Flags().Var(&boundValue{limit}, "limit", "how many "+what+" at most")
}

// boundValue is the bound of a list.
type boundValue struct{ n *int64 }

func (v *boundValue) Set(s string) error {
	var n *int64
	if err := (&countValue{n: &n, least: 1, most: gate.MaxCount}).Set(s); err != nil {
		return err
	}
	*v.n = *n
	return nil
}

func (v *boundValue) String() string { return strconv.FormatInt(*v.n, 10) }
func (v *boundValue) Type() string   { return "N" }

// list reads a list window by window and hands over its rows, limit of them at
// most. read takes the window that w says.
func list[R any](limit int64, w *gate.Window, id func(*R) string, read func() (rows []R, more bool, err error), each func(*R) error) error {
	for limit > 0 {
		w.After = int(min(limit, gate.MaxWindow-1))
		if w.Anchor != "" {
			w.After++ // the anchor comes again
		}
		rows, more, err := read()
		if err != nil {
			return err
		}
		if w.Anchor != "" && len(rows) > 0 && id(&rows[0]) == w.Anchor {
			rows = rows[1:]
		}
		for i := range rows {
			if err := each(&rows[i]); err != nil {
				return err
			}
		}
		if !more || len(rows) == 0 {
			return nil
		}
		w.Anchor = id(&rows[len(rows)-1])
		limit -= int64(len(rows))
	}
	return nil
}
