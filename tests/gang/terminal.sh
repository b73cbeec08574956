#!/usr/bin/env bash
# labels: slow once
# Ctrl-Z stops a job, and one that runs in a script, until its terminal continues it, whatever happens to the daemon. Ctrl-C
# ends the script too.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/gang/jobs.bash"

serve
queue "$work/b"; b=$client
# Ctrl-Z: ranks of mpirun are in other process groups.
rm -f "$work/a"
set -m
"${gang[@]}" run --stop-by signals -- bash -c 'for i in 1 2; do setsid bash -c "while :; do :; done" & echo $! >>"$0"; done; wait' "$work/a" \
  2>"$work/a.err" &
a=$!
set +m
started "$work/a"
kill -TSTP -- -"$a"
stopped "$work/a" "by the terminal"
runs "$work/b" "beside one that its terminal stopped"
[[ $("${gang[@]}" ps) == *paused* ]] || fail "stopped by its terminal: $("${gang[@]}" ps)"
kill -CONT -- -"$a"
runs "$work/a" "continued by its terminal"

# Ctrl-Z in a script, which is in the job's process group; and once more before anybody has seen it.
rm -f "$work/c"
set -m
bash -c '"$@"; exit' script "${gang[@]}" run --stop-by signals -- bash -c 'for i in 1 2; do setsid bash -c "while :; do :; done" & echo $! >>"$0"; done; wait' "$work/c" &
c=$!
set +m
started "$work/c"
kill -TSTP -- -"$c"
stopped "$work/c" "in a script, by the terminal"
runs "$work/b" "beside a script that its terminal stopped"
stopped "$work/c" "in a script, by the terminal, for more than a turn"
kill -TSTP -- -"$c"
sleep 0.3
kill -CONT -- -"$c"
runs "$work/c" "in a script, continued by its terminal"
kill -- -"$c"
wait "$c"

# Ctrl-C ends a script, not only the job that it waits for.
set -m
bash -c '"${@:2}"; echo "went on" >"$1"' script "$work/next" "${gang[@]}" run -- sleep 654 &
c=$!
set +m
in_it() { [[ $("${gang[@]}" ps) == *"sleep 654"* ]]; }
patiently in_it || fail "a script's job: $("${gang[@]}" ps)"
kill -INT -- -"$c"
wait "$c"
[[ $? == 130 && ! -e $work/next ]] || fail "Ctrl-C in a script: $(cat "$work/next")"

# What a terminal has stopped goes on for the terminal only.
kill -TSTP -- -"$a"
stopped "$work/a" "by the terminal again"
kill -9 "$daemon"
wait "$daemon" 2>/dev/null
runs "$work/b" "beside one that its terminal stopped, and the daemon killed"
stopped "$work/a" "by the terminal, and the daemon killed"
serve
both_back() { [[ $(states) == "paused running " ]]; }
patiently both_back || fail "jobs do not come back as they were: $("${gang[@]}" ps)"
stopped "$work/a" "by the terminal, and a daemon is there again"
kill -CONT -- -"$a"
runs "$work/a" "continued by its terminal, after all" && runs "$work/b" "beside it, after all"
kill "$a" "$b"
wait "$a" "$b"
kill "$daemon"
exit "$((failures > 0))"
