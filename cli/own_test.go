package cli

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
)

// What goes wrong over and over is logged once, and again after it has gone
// well or wrong in another way.
func TestTroubleIsLoggedOnce(t *testing.T) {
	var log strings.Builder
	trouble := trouble{log: slog.New(slog.NewTextHandler(&log, nil))}
	full, broken := errors.New("full"), errors.New("broken")
	for _, err := range []error{nil, full, full, full, broken, full, nil, nil, full, full} {
		trouble.met("the sweep failed", err)
	}
	var got []string
	for line := range strings.Lines(log.String()) {
		got = append(got, strings.TrimSpace(line[strings.LastIndex(line, "=")+1:]))
	}
	if want := "full broken full full"; strings.Join(got, " ") != want {
		t.Errorf("logged %q, want %q", got, want)
	}
}
