#!/usr/bin/env bash
# labels: slow once
# What a job has of `cleave gang run`, and that of it: exit status, nice value, policy, ignored signals, and time to end.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/gang/jobs.bash"

serve
"${gang[@]}" run sh -c 'exit 7'; (($? == 7)) || fail "a job's exit status"
asked=$(nice -n 5 nice)
[[ $(nice -n 5 "${gang[@]}" run nice) == "$asked" ]] || fail "a job's nice value is not $asked"
policy=$(chrt --batch 0 "${gang[@]}" run sh -c 'chrt -p $$' | head -1)
[[ $policy == *SCHED_BATCH ]] || fail "a job's policy: $policy"
"${gang[@]}" run no-such-program 2>"$work/err"; (($? == 2)) || fail "no such program: exit status"
[[ $(cat "$work/err") == "cleave: COMMAND: 'no-such-program': No such file or directory" ]] || fail "$(cat "$work/err")"
[[ -z $(timeout 20 env --ignore-signal=CHLD "${gang[@]}" run true 2>&1) ]] || fail "with SIGCHLD ignored"

# What its user ignores, `run` ignores.
rm -f "$work/a"
env --ignore-signal=HUP "${gang[@]}" run -- bash -c "$spin" "$work/a" 2>"$work/a.err" &
a=$!
started "$work/a"
kill -HUP "$a" "$(pgrep -P "$a" -x gang-keeper)"
sleep 4  # a job that has to end is killed after three
runs "$work/a" "after a SIGHUP that it ignores"
kill "$a"
wait "$a"
# Who is only asked to end has all the time that it needs.
"${gang[@]}" run -- bash -c 'trap "sleep 4; exit 5" TERM; echo >"$0"; while :; do sleep 0.1; done' "$work/asked" &
a=$!
asked() { [[ -e $work/asked ]]; }
patiently asked
kill "$a"
wait "$a"; (($? == 5)) || fail "asked to end: exit status"

kill "$daemon"
exit "$((failures > 0))"
