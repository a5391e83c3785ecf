package gate

import (
	"fmt"
	"slices"
	"testing"
)

// A chain has an operation once, and what concerns the run as a whole is alone.
func TestNextChain(t *testing.T) {
	many := make([]string, maxChain+3)
	for i := range many {
		many[i] = fmt.Sprint("op-", i)
	}
	for _, row := range []struct {
		name    string
		waiting []string // operations; "" is the run, "*" all that is unfinished
		chain   []string
		rest    []string
	}{
		{"one", []string{"a"}, []string{"a"}, nil},
		{"others", []string{"a", "b", "c"}, []string{"a", "b", "c"}, nil},
		{"the same twice", []string{"a", "b", "a", "c", "b"}, []string{"a", "b", "c"}, []string{"a", "b"}},
		{"the run first", []string{"", "a"}, []string{""}, []string{"a"}},
		{"the run between", []string{"a", "", "b"}, []string{"a"}, []string{"", "b"}},
		{"the run after the same twice", []string{"a", "a", "", "b"}, []string{"a"}, []string{"a", "", "b"}},
		{"all that is unfinished", []string{"*", "a"}, []string{"*"}, []string{"a"}},
		{"it between", []string{"a", "*", "b"}, []string{"a"}, []string{"*", "b"}},
		{"more than a chain holds", many, many[:maxChain], many[maxChain:]},
	} {
		t.Run(row.name, func(t *testing.T) {
			var waiting []*call
			for _, op := range row.waiting {
				waiting = append(waiting, &call{want: Want{Op: OpID(op), Whole: op == "*"}})
			}
			chain, rest := nextChain(waiting)
			names := func(calls []*call) []string {
				var out []string
				for _, c := range calls {
					out = append(out, string(c.want.Op))
				}
				return out
			}
			if got := names(chain); !slices.Equal(got, row.chain) {
				t.Errorf("chain = %q, want %q", got, row.chain)
			}
			if got := names(rest); !slices.Equal(got, row.rest) {
				t.Errorf("rest = %q, want %q", got, row.rest)
			}
		})
	}
}
