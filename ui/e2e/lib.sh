# What a scenario can use: a terminal of a given size in a tmux server of its
# own, keys into it, frames out of it. Sourced by ./run, once per scenario.
#
#   open 80 24 tollgate demo     start a program in a terminal of that size
#   want "outcome unknown"       wait until the screen shows the text
#   gone "outcome unknown"       wait until it no longer does
#   keys j Enter C-s             press keys, by tmux's names
#   type "looked it up"          type text
#   resize 120 36                change the size of the terminal
#   signal TERM                  send the program a signal
#   close 0                      wait for the program to exit with that status;
#                                the terminal has to be as it was before
#   background tollgate serve    start a program beside it, stopped at the end
#   frame                        print the screen; frame -e keeps the colours
#   fail "what is wrong"         print the screen and fail the scenario
#
# Nothing here sleeps for a result: it looks again, up to $tries times.
# HOME and the XDG directories are inside $scratch, which goes at the end.

tries=${E2E_TRIES:-400} # 20 s
scratch=$(mktemp -d)
export HOME=$scratch/home XDG_CONFIG_HOME=$scratch/home/.config XDG_DATA_HOME=$scratch/home/.local/share
export XDG_STATE_HOME=$scratch/home/.local/state XDG_CACHE_HOME=$scratch/home/.cache XDG_RUNTIME_DIR=$scratch/run
mkdir -p "$HOME" && mkdir -m 700 "$XDG_RUNTIME_DIR"
export LC_ALL=C.UTF-8
unset TMUX TMUX_PANE NO_COLOR COLORTERM
echo 'set -g default-terminal tmux-256color' >"$scratch/tmux.conf"
beside=()

e2e_tmux() { tmux -u -f "$scratch/tmux.conf" -S "$scratch/tmux" "$@"; }

e2e_cleanup() {
	local pid
	for pid in "${beside[@]}"; do kill "$pid" 2>>"$scratch/cleanup" || true; done
	for pid in "${beside[@]}"; do wait "$pid" || true; done
	e2e_tmux kill-server 2>>"$scratch/cleanup" || true
	rm -rf "$scratch"
}
trap e2e_cleanup EXIT

# again runs a command up to $tries times, until it succeeds.
again() {
	local n
	for ((n = 0; n < tries; n++)); do
		if "$@"; then return 0; fi
		sleep 0.05
	done
	return 1
}

open() {
	local columns=$1 rows=$2
	shift 2
	rm -f "$scratch"/{pid,status,before,after}
	if e2e_tmux has-session -t e2e 2>>"$scratch/cleanup"; then e2e_tmux kill-session -t e2e; fi
	# The pane outlives the program, so that what it leaves behind can be seen.
	e2e_tmux new-session -d -s e2e -x "$columns" -y "$rows" sh -c '
		cd "$1" && shift
		stty -a >before
		sh -c "echo \$\$ >pid; exec \"\$@\"" sh "$@"
		echo $? >status.new
		stty -a >after
		mv status.new status
		exec sleep 1000000' sh "$scratch" "$@"
}

frame() { e2e_tmux capture-pane -p "$@" -t e2e; }
keys() { e2e_tmux send-keys -t e2e "$@"; }
type() { e2e_tmux send-keys -t e2e -l -- "$1"; }
resize() { e2e_tmux resize-window -t e2e -x "$1" -y "$2"; }
signal() {
	again test -s "$scratch/pid" || fail "the program has not started"
	kill -s "$1" "$(cat "$scratch/pid")"
}

background() {
	"$@" >"$scratch/background.out" 2>&1 &
	beside+=($!)
}

fail() {
	{
		echo "$*"
		echo "--- screen"
		frame || true
		echo "---"
		if [ -s "$scratch/background.out" ]; then cat "$scratch/background.out"; fi
	} >&2
	exit 1
}

e2e_shows() { frame | grep -qF -- "$1"; }
e2e_hides() { ! e2e_shows "$1"; }

want() { again e2e_shows "$1" || fail "the screen does not show: $1"; }
gone() { again e2e_hides "$1" || fail "the screen still shows: $1"; }

close() {
	local status
	again test -e "$scratch/status" || fail "the program has not exited"
	status=$(cat "$scratch/status")
	[ "$status" = "$1" ] || fail "exit status = $status, want $1"
	# The size is the terminal's, not the program's.
	diff <(sed 's/rows [0-9]*; columns [0-9]*;//' "$scratch/before") \
		<(sed 's/rows [0-9]*; columns [0-9]*;//' "$scratch/after") >&2 || fail "the program changed the terminal's settings"
	again e2e_plain || fail "the program left the terminal in a mode: $(e2e_modes)"
}

e2e_modes() {
	e2e_tmux display-message -p -t e2e \
		'alternate screen #{alternate_on}, cursor #{cursor_flag}, mouse #{mouse_any_flag}, keypad #{keypad_flag}, cursor keys #{keypad_cursor_flag}'
}
e2e_plain() { [ "$(e2e_modes)" = 'alternate screen 0, cursor 1, mouse 0, keypad 0, cursor keys 0' ]; }
