# A whole incident, worked in the console by keys alone and a second time by
# the command line alone: the ledger holds the same acts and verdicts of both.
# The console is attached to a gate that runs; what agents do moves on it.

mkdir -p "$XDG_CONFIG_HOME/tollgate"
cat >"$XDG_CONFIG_HOME/tollgate/contract.yaml" <<'YAML'
contract: 1
dependencies:
  payments-api: {runbook: "https://runbooks.example/pay?key={key}"}
tools:
  payments.charge: {effect: write, retry_safety: never, dependency: payments-api, timeout: 2s}
YAML

# stops runs a command whose answer is a stop of the gate.
stops() {
	local status=0
	"$@" >"$scratch/answer" || status=$?
	[ "$status" = 6 ] || fail "exit status of $* = $status, want 6"
}

# lost RUN: a payment whose reply got lost, as its agent reports it.
lost() {
	tollgate runs start "$1" --agent planner --attempts 6 --deadline 10m --side-effects 1 >"$scratch/answer"
	tollgate ask "$1" payments.charge --op "pay-$1" --agent planner/billing --input '{"order":42}' >"$scratch/answer"
	stops tollgate report "$1" "pay-$1" 1 --fail timeout --message 'no answer'
}

# item RUN: the id of its item.
item() { tollgate queue list --json | sed -n "s/.*\"id\":\"\(i-[a-z0-9]*\)\".*\"run\":\"$1\".*/\1/p"; }

# acts RUN: what people did about the run, and what the gate answered.
acts() {
	tollgate ledger tail --run "$1" --json |
		sed -n 's/.*"act":"\(claim\|reconcile\|approve\|new-run\)","verdict":"\([A-Z_]*\)".*/\1 \2/p'
}

# form KEY TITLE: open a form, and let it arm.
form() {
	keys "$1"
	want "$2"
	gone "takes keys in a moment"
}

tollgate init >"$scratch/answer"
background tollgate serve
again tollgate runs list >"$scratch/answer" 2>"$scratch/refused" || fail "the gate does not answer"

open 80 24 tollgate
want "LIVE"
want "No run has started yet."
lost keys
want "1 queue 1" # it has come by itself, and nothing popped up
want "2 runs 1"
keys 1
want "pay-keys"
tail=$(item keys)
tail=${tail: -4}

keys c
want "claimed pay-keys"
want "you 14m"
want "c release"
keys Enter
want "STOP_UNSAFE_TO_REPEAT"
want "claimed by you"

form r "reconcile pay-keys"
keys Right Right Enter
type "ticket 4711: no charge at the provider"
keys Enter
type "asked the provider"
keys C-s
want "RESOLVED, did not happen"

form a "approve pay-keys"
gone "confirm" # the gate will refuse it: there is nothing to confirm
type "try once more"
resize 120 36
want "try once more"
keys C-s
want "STOP_SIDE_EFFECT_BUDGET, side effects 1/1"

form n "new run pay-keys"
keys Enter
for text in 4 10m 1 "" "" "the customer waits" "$tail"; do
	if [ -n "$text" ]; then type "$text"; fi
	keys Enter
done
keys C-s
want "goes on in run keys.2"

# In the new run the agent asks, and the same approve is a yes; what came of it
# is said when the agent has said so.
keys 1
want "Nothing waits for a person."
stops tollgate ask keys.2 payments.charge --op pay-keys --input '{"order":42}'
want "pay-keys"
keys j Enter
want "what each verb would do, as of"
tail=$(item keys.2)
form a "approve pay-keys"
type "the new run has room"
keys Enter
type "${tail: -4}"
keys C-s
want "RETRY_WITH_SHARED_CONTEXT, attempt 2"
want "nobody has reported yet"
tollgate report keys.2 pay-keys 2 --ok --result-ref ch_42 >"$scratch/answer"
want "succeeded"
keys Escape
want "Nothing waits for a person."
keys q
close 0

lost shell
id=$(item shell)
tollgate queue claim "$id" >"$scratch/answer"
tollgate queue reconcile "$id" did-not-happen --version 1 --evidence "ticket 4712: no charge at the provider" --reason "asked the provider" >"$scratch/answer"
stops tollgate queue approve "$id" --version 2 --reason "try once more"
tollgate queue new-run "$id" shell.2 --version 2 --attempts 4 --deadline 10m --side-effects 1 --reason "the customer waits" >"$scratch/answer"

stops tollgate ask shell.2 payments.charge --op pay-shell --input '{"order":42}'
tollgate queue approve "$(item shell.2)" --version 1 --reason "the new run has room" >"$scratch/answer"

printf '%s\n' "claim RECORDED" "reconcile RESOLVED" "approve STOP_SIDE_EFFECT_BUDGET" "new-run RESOLVED" >"$scratch/wanted"
for run in keys shell; do
	acts "$run" | diff - "$scratch/wanted" >&2 || fail "the ledger of $run holds other acts"
	[ "$(acts "$run.2")" = "approve RETRY_WITH_SHARED_CONTEXT" ] || fail "the ledger of $run.2 holds $(acts "$run.2")"
done
