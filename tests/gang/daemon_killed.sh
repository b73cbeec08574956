#!/usr/bin/env bash
# labels: slow once
# Jobs of the gang stop and continue as a whole. Nothing stays stopped when their daemon is killed or ends; under the next
# daemon they have their names and turns again.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/gang/jobs.bash"

pauses() {
  local a b c job
  queue "$work/a"; a=$client
  job=$(first_job)
  queue "$work/b"; b=$client
  runs "$work/a" "first of two" && runs "$work/b" "second of two"
  "${gang[@]}" pause "$job" || fail "$kind: pause"
  stopped "$work/a" paused
  runs "$work/b" "the other one"
  "${gang[@]}" resume "$job" || fail "$kind: resume"
  runs "$work/a" resumed
  "${gang[@]}" pause "$job"
  stopped "$work/a" "paused again"
  kill -9 "$daemon"
  wait "$daemon" 2>/dev/null
  runs "$work/a" "paused, and the daemon killed" && runs "$work/b" "and the daemon killed"
  serve  # they come back, under their names, and take turns; a new job has another name
  patiently both_say '^cleave: a daemon is there again' || fail "$kind: jobs do not come back to a daemon: $(cat "$work/a.err" "$work/b.err")"
  queue "$work/c"; c=$client
  [[ $(numbers | sort -u | wc -l) == 3 ]] || fail "$kind: not three jobs: $("${gang[@]}" ps)"
  "${gang[@]}" kill "$(last_job)"
  wait "$c"; (($? == 143)) || fail "$kind: the last one's exit status"
  runs "$work/a" "returned" && runs "$work/b" "returned"
  "${gang[@]}" pause "$job" || fail "$kind: pause, after the daemon was killed"
  stopped "$work/a" "paused by another daemon"
  runs "$work/b" "the other one, returned"
  kill "$daemon"
  wait "$daemon"
  runs "$work/a" "paused, and the daemon ended"
  kill "$a" "$b"
  wait "$a"; (($? == 143)) || fail "$kind: ended by SIGTERM: exit status"
  wait "$b"
  gone "$work/a" "client ended" && gone "$work/b" "client ended"

  serve
  queue "$work/a"; a=$client
  (($(first_job) > job + 2)) || fail "$kind: a number is given again: $(first_job)"
  kill "$a"
  wait "$a"
  gone "$work/a" "client ended, under another daemon"
  kill "$daemon"
  wait "$daemon" || fail "$kind: the daemon's exit status"
  [[ ! -e $socket ]] || fail "$kind: a socket is left"
}
in_each_way pauses
exit "$((failures > 0))"
