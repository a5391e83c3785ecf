# The console that owns the store: however it ends, the terminal is as it was,
# and the store can be opened again at once.

tollgate init >"$scratch/answer"
for how in TERM HUP INT; do
	open 80 24 tollgate
	want "LIVE"
	signal "$how"
	close 0
done

open 80 24 tollgate
want "No run has started yet."
tollgate runs start r1 --agent planner --attempts 6 --deadline 10m --side-effects 1 >"$scratch/answer" # through its socket
want "r1"
for size in "1 1" "39 9" "300 100" "40 10" "80 24"; do
	read -r columns rows <<<"$size"
	resize "$columns" "$rows"
done
want "0/6"
keys '?'
want "keys"
keys q
gone "suspend to the shell"
keys q
close 0
tollgate verify --quick >"$scratch/answer" || fail "the store does not verify: $(cat "$scratch/answer")"
