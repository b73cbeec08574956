#!/usr/bin/env bash
# labels: slow once
# While the daemon is stopped all jobs run; they take turns again when it goes on.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/gang/jobs.bash"

serve
queue "$work/a"; a=$client
queue "$work/b"; b=$client
kill -STOP "$daemon"
patiently both_say 'does not answer: the job goes on by itself' || fail "a daemon that is stopped: $(cat "$work/a.err" "$work/b.err")"
stood_still() { local a b; a=$(ticks "$work/a") b=$(ticks "$work/b"); sleep 1; (($(ticks "$work/a") == a || $(ticks "$work/b") == b)); }
stood_still && fail "a daemon that is stopped: a job stands still"
kill -CONT "$daemon"
patiently both_say 'a daemon is there again' || fail "a daemon that goes on: $(cat "$work/a.err" "$work/b.err")"
kill "$a" "$b"
wait "$a" "$b"
kill "$daemon"
exit "$((failures > 0))"
