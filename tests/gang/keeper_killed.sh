#!/usr/bin/env bash
# labels: slow once
# Whoever of a paused job's keeper and client is killed, nothing of the job stays; signals to the keeper, and standard error
# that is full, change nothing.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/gang/jobs.bash"

ends() {
  local a
  queue "$work/a"; a=$client
  "${gang[@]}" pause "$(first_job)"
  stopped "$work/a" "paused, before its keeper is killed"
  kill -9 "$(pgrep -P "$a" -x gang-keeper)"
  wait "$a"; (($? == 137)) || fail "$kind: keeper killed: exit status"
  gone "$work/a" "keeper killed"
  queue "$work/a"; a=$client
  "${gang[@]}" pause "$(first_job)"
  stopped "$work/a" "paused, before its client is killed"
  kill -9 "$a"
  wait "$a" 2>/dev/null
  gone "$work/a" "client killed"
  queue "$work/a"; a=$client
  "${gang[@]}" pause "$(first_job)"
  "${gang[@]}" kill "$(first_job)"
  wait "$a"; (($? == 143)) || fail "$kind: kill: exit status"
  gone "$work/a" "killed"
  queue "$work/a"; a=$client
  "${gang[@]}" pause "$(first_job)"
  stopped "$work/a" "paused, before a signal to all"
  kill -USR1 "$a" "$(pgrep -P "$a" -x gang-keeper)"  # as batch systems send it
  stopped "$work/a" "paused, after a signal to its keeper"
  "${gang[@]}" resume "$(first_job)" || fail "$kind: resume, after a signal"
  runs "$work/a" "resumed, after a signal to its keeper"
  kill "$a"
  wait "$a"
  gone "$work/a" "ended after a signal"
  rm -f "$work/a"
  "${gang[@]}" run --stop-by "$kind" -- bash -c "$spin" "$work/a" 2>/dev/full &
  a=$!
  started "$work/a"
  "${gang[@]}" pause "$(first_job)"
  stopped "$work/a" "paused, and nothing can be said"
  kill -9 "$daemon"
  wait "$daemon" 2>/dev/null
  runs "$work/a" "the daemon killed, and nothing can be said"
  kill "$a"
  wait "$a"
  gone "$work/a" "ended, and nothing can be said"
  serve
  kill "$daemon"
  wait "$daemon" || fail "$kind: the daemon's exit status"
  [[ ! -e $socket ]] || fail "$kind: a socket is left"
}
in_each_way ends
exit "$((failures > 0))"
