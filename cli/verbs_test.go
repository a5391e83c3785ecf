package cli

import (
	"strings"
	"testing"

	"tollgate/api"
	"tollgate/escalation"
	"tollgate/gate"
)

// R-P7: who is stopped by a claim is told whose it is, and until when.
func TestStoppedByAClaim(t *testing.T) {
	o, socket := runningOwner(t, worldContract)
	w := &world{t: t, socket: socket, client: api.NewClient(socket), text: "no answer"}
	defer w.client.Close() //nolint:errcheck // idle connections
	w.run("run-1")
	w.ask("run-1", "charge-42", "payments.charge")
	w.report("run-1", "charge-42", w.failed("timeout"))
	lee, item := gate.Actor{ID: "uid:1002", Name: "lee\x1b[2J", Source: "peer-uid"}, gate.ItemIDOf("run-1", "charge-42")
	claim, err := o.desk.Do(t.Context(), lee, item, escalation.Act{Verb: gate.ActClaim, RequestID: "q1", Version: 1})
	if err != nil {
		t.Fatal(err)
	}
	until := instant(claim.At.Add(o.door.Contract().ClaimLease))
	for _, verb := range []string{"release", "reject --version 1 --reason r"} {
		args := append([]string{"queue"}, strings.Fields(verb)...)
		out, _ := shown(t, 0, append(args, string(item), "--socket", socket)...)
		for _, want := range []string{
			"verdict\tSTOP_CLAIMED\n", "claimed by\tlee\\e[2J (uid:1002)\n", "claimed until\t" + until + "\n", "take over\twith --take-over",
		} {
			if !strings.Contains(out, want) {
				t.Errorf("%s: the answer lacks %q:\n%s", verb, want, out)
			}
		}
	}
	out, _ := shown(t, 0, "queue", "reject", string(item), "--version", "1", "--reason", "r", "--take-over", "--socket", socket)
	if !strings.Contains(out, "verdict\tRESOLVED\n") || strings.Contains(out, "claimed") {
		t.Errorf("a take-over answers:\n%s", out)
	}
}
