#!/usr/bin/env bash
# labels: slow once
# A job in a job is a part of it.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/gang/jobs.bash"

serve
queue "$work/b"; b=$client
rm -f "$work/a"
"${gang[@]}" run --stop-by signals -- "${gang[@]}" run --stop-by signals -- bash -c "$spin" "$work/a" 2>"$work/a.err" &
a=$!
started "$work/a"
[[ $(numbers | wc -l) == 2 ]] || fail "a job in a job: $("${gang[@]}" ps)"
runs "$work/a" "a job in a job" && runs "$work/b" "beside it"
within=$(last_job)
"${gang[@]}" pause "$within"
stopped "$work/a" "a job in a job, paused"
sleep 6  # the keeper within hears nothing for so long
"${gang[@]}" resume "$within"
runs "$work/a" "a job in a job, resumed"
kill "$a"
wait "$a"
gone "$work/a" "a job in a job"
kill "$b"
wait "$b"
kill "$daemon"
exit "$((failures > 0))"
