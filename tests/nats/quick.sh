#!/usr/bin/env bash
# labels: once
# Nodes of a job through a relay: the right answer, tasks cross; one is killed, one comes late, one leaves, the relay is
# away for a moment; what is wrong in the environment is said in one line.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/nats/relays.bash"
start_relay
first=$(key here m0) second=$(key here m1) third=$(key there m1)
export CLEAVE_WORKERS=1

# begin ADDRESS KEY [ARGUMENT…]: a node of queens in the background, its output in out.ADDRESS and err.ADDRESS; sets `pid`.
begin() {
  (node "$2" "$1" timeout 120 "$bin/queens" "${@:3}" >"$work/out.$1" 2>"$work/err.$1") &
  pid=$!
}
# ended PID STATUS: waits for it.
ended() {
  wait "$1"
  local status=$?
  [[ $status == "$2" ]] || fail "exit status $status, expected $2: $(tail "$work"/{out,err}.*)"
}
# prints REGEX: a line of the root's output.
prints() { grep -qE -- "$1" "$work/out.0" || fail "no line '$1' in: $(tail "$work"/{out,err}.*)"; }

new_job
begin 0 "$first" 14 --json; zero=$pid
begin a1 "$second" 14 --json; one=$pid
ended "$zero" 0
ended "$one" 0
prints '"answer":.*365596'
prints '"nodes":2,"silent":0,"tasks_crossed":[1-9][0-9]*,'
[[ ! -s $work/out.a1 && ! -s $work/err.a1 ]] || fail "a member printed: $(cat "$work"/{out,err}.a1)"
exit "$((failures > 0))"
