# The harness itself: what it reports is really on the screen, and it notices
# a program that does not put the terminal back.

open 40 10 sh -c 'echo "● ready on $TERM"; read -r name; echo "hello $name"; exit 3'
want "● ready on tmux-256color"
type "world"
keys Enter
want "hello world"
close 3

open 40 10 sh -c 'trap "echo caught; exit 0" TERM; stty size; while :; do sleep 0.05; done'
want "10 40"
signal TERM
want "caught"
close 0

# Controls: each of these has to fail.
refused() { # refused WHAT COMMAND…: the command fails, and says WHAT
	local what=$1 said
	shift
	said=$( (tries=5 && "$@") 2>&1) && fail "the harness accepts: $*"
	case $said in *"$what"*) ;; *) fail "the harness refuses $* with: $said" ;; esac
}

open 40 10 sh -c 'echo ready; exit 0'
want "ready"
refused "does not show: steady" want "steady"
refused "still shows: ready" gone "ready"
refused "exit status = 0, want 1" close 1

open 40 10 sh -c 'stty raw -echo; exit 0'
again test -e "$scratch/status"
refused "changed the terminal's settings" close 0

for mode in 1049h 25l 1000h 1h; do
	open 40 10 sh -c "printf '\033[?$mode'; exit 0"
	again test -e "$scratch/status"
	refused "left the terminal in a mode" close 0
done

open 40 10 sh -c 'sleep 1000'
refused "has not exited" close 0
