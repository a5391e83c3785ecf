package cli

import (
	"strings"
	"testing"

	"tollgate/gate"
	"tollgate/views"
)

// R-P3: a resolved item says who decided what, on which ground, what was found,
// and offers no verb; a pipe gets it in 80 columns.
func TestQueueShowOfAResolvedItem(t *testing.T) {
	w := newWorld(t, "their log of noon")
	item := string(gate.ItemIDOf("run-2", "charge-43"))
	out, errs := shown(t, 0, "queue", "show", item, "--socket", w.socket)
	if errs != "" {
		t.Fatal(errs)
	}
	for _, want := range []string{
		"stopped by     STOP_UNSAFE_TO_REPEAT   timeout   transient",
		"because        their log of noon",
		"verbs are off: the item is resolved",
		"found          attempt 1   ✗ did not happen   by you",
		"route reconcile",
		"evidence       their log of noon",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the item lacks %q:\n%s", want, out)
		}
	}
	for _, no := range []string{"what each verb would do", " changed "} {
		if strings.Contains(out, no) {
			t.Errorf("a resolved item has %q:\n%s", no, out)
		}
	}
	for line := range strings.Lines(out) {
		if n := views.Width(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d cells in a pipe, want 80 at most: %s", n, line)
		}
	}
}
