package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tollgate/gate"
)

// A list is read in windows that overlap in their anchor: each row comes once,
// in order, and no more than were asked for.
func TestList(t *testing.T) {
	all := make([]string, 2500)
	for i := range all {
		all[i] = fmt.Sprintf("r%04d", i)
	}
	for _, row := range []struct {
		limit int64
		have  int
	}{
		{100, 2500},
		{1, 2500},
		{100, 0},
		{100, 1},
		{1, 1},
		{100, 100},
		{100, 99},
		{999, 2500},
		{1000, 2500},
		{1001, 2500},
		{2000, 2500},
		{5000, 2500},
		{5000, 1999},
		{5000, 999},
		{5000, 1000},
	} {
		t.Run(fmt.Sprintf("%d of %d", row.limit, row.have), func(t *testing.T) {
			have := all[:row.have]
			var got []string
			var w gate.Window
			err := list(row.limit, &w, func(s *string) string { return *s },
				func() ([]string, bool, error) {
					if w.After < 1 || w.After > gate.MaxWindow {
						t.Fatalf("window of %d rows, want 1 to %d", w.After, gate.MaxWindow)
					}
					at := max(0, slices.Index(have, w.Anchor))
					rows := have[at:min(len(have), at+w.After)]
					return rows, at+len(rows) < len(have), nil
				},
				func(s *string) error {
					got = append(got, *s)
					return nil
				})
			if err != nil {
				t.Fatal(err)
			}
			want := have[:min(int(row.limit), len(have))]
			if diff := cmp.Diff(append([]string{}, got...), want); diff != "" {
				t.Errorf("rows (-got +want):\n%s", diff)
			}
		})
	}
}

// What a terminal would act on, or not show, is an escape in JSON; whoever
// reads the JSON gets what was stored.
func TestShownJSON(t *testing.T) {
	for _, stored := range []string{
		"plain", "größer, 日本語", "\x1b[2J", "\u009b31m", "a\u202eb", "\u200b", "\U000e0041", "\x7f", "tab\tand\nline", `back\slash "quote"`,
	} {
		var b bytes.Buffer
		a := &app{out: &b}
		if err := a.object(map[string]string{"text": stored}); err != nil {
			t.Fatal(err)
		}
		line := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
		for _, r := range string(line) {
			if r < ' ' || r == 0x7f || r >= 0x80 && r <= 0x9f || r == '\u202e' || r == '\u200b' || r == '\U000e0041' {
				t.Errorf("%q is printed as %q, which holds %U", stored, line, r)
			}
		}
		var got map[string]string
		if err := json.Unmarshal(line, &got); err != nil {
			t.Fatal(err)
		}
		if got["text"] != stored {
			t.Errorf("%q reads back as %q", stored, got["text"])
		}
	}
}
