package ui

import (
	"strings"
	"testing"
	"time"
)

// The dependencies are live, show what waits on the selected one, and lead to
// the queue with that alone.
func TestDependencies(t *testing.T) {
	h, _ := incident(t)
	h.w.run("run-2", 8, 4, 10*time.Minute)
	h.w.ask("run-2", "deploy-1", "planner", "infra.deploy")
	h.poke()
	h.press("4")
	h.wantRow(">", "cluster")
	h.wantRow("payments-api", "closed", "3")
	h.wantRow("waits on cluster")
	h.wantRow("deploy-1")
	h.wantNoRow("charge-1")
	h.press("j")
	h.wantRow(">", "payments-api")
	h.wantRow("waits on payments-api")
	h.wantRow("charge-1")
	h.wantNoRow("deploy-1")
	h.press("y", "Y")
	if len(h.copied) != 2 || h.copied[0] != "payments-api" || !strings.Contains(h.copied[1], `"open_items":3`) {
		t.Errorf("copied %q, want payments-api and its JSON", h.copied)
	}
	h.w.lost("run-2", "charge-9")
	h.poke()
	h.wantRow("payments-api", " 4")
	h.wantRow("charge-9")

	h.press("enter")
	h.wantRow("/dep:payments-api 4 open")
	h.wantNoRow("deploy-1")
	h.press("q")
	h.wantRow("q does nothing now", "esc goes back")
	h.press("esc")
	h.wantRow(">", "payments-api", "closed")
}

// A dependency that is new while the cursor is in the list is held back.
//
// Rules 1 and 2.
func TestDependenciesHoldStill(t *testing.T) {
	h, _ := incident(t)
	h.press("4")
	h.wantRow(">", "payments-api")
	h.w.run("run-2", 8, 4, 10*time.Minute)
	h.w.ask("run-2", "deploy-1", "planner", "infra.deploy")
	h.poke()
	h.wantRow(">", "payments-api")
	h.wantRow("1 new", "R takes them in")
	h.wantNoRow("cluster", "closed")
	h.press("R")
	h.wantRow(">", "payments-api")
	h.wantRow("cluster", "closed")
}
