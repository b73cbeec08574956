#!/usr/bin/env bash
# labels: once
# Nodes of a job through a relay: the right answer, tasks cross; one is killed, one comes late, one leaves, the relay is
# away for a moment; what is wrong in the environment is said in one line.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/processes.bash"
source "$CLEAVE_SOURCE_DIR/tests/nats/relays.bash"
start_relay
first=$(key here m0) second=$(key here m1) third=$(key there m1)
export CLEAVE_WORKERS=1

# begin ADDRESS KEY [ARGUMENT…]: a node of `program` in the background, its output in out.ADDRESS and err.ADDRESS; sets `pid`.
program=queens
begin() {
  (node "$2" "$1" "$bin/$program" "${@:3}" >"$work/out.$1" 2>"$work/err.$1") &
  pid=$!
}
# ended PID STATUS: waits for it.
ended() {
  local k status
  for ((k = 0; k < 2000; ++k)); do
    alive "$1" || break
    sleep 0.05
  done
  ((k < 2000)) || { fail "a node does not end"; kill -9 "$1"; }
  wait "$1" 2>/dev/null
  status=$?
  [[ $status == "$2" ]] || fail "exit status $status, expected $2: $(tail "$work"/{out,err}.*)"
}
# prints REGEX: a line of the root's output.
prints() { grep -qE -- "$1" "$work/out.0" || fail "no line '$1' in: $(tail "$work"/{out,err}.*)"; }

# works PID: waits until it has computed for a while.
works() {
  local k
  for ((k = 0; k < 1200; ++k)); do  # a machine may be busy
    (($(cpu_ticks "$1") < 20)) || return 0
    sleep 0.05
  done
  fail "a node does not get anything to do: $(tail "$work"/{out,err}.*)"
}
silent() { [[ ! -s $work/out.$1 && ! -s $work/err.$1 ]] || fail "$1 printed: $(cat "$work"/{out,err}."$1")"; }

# Two nodes.
new_job
export CLEAVE_ASK=two-choices
begin 0 "$first" 14 --json; zero=$pid
begin a1 "$second" 14 --json; one=$pid
unset CLEAVE_ASK
ended "$zero" 0
ended "$one" 0
prints '"answer":365596,.*"nodes":2,"silent":0,"tasks_crossed":[1-9][0-9]*,.*"asks":"two-choices"'
silent a1

# Nodes that come late, of another site too; one is killed, one is asked to leave.
new_job
begin 0 "$first" 15 --json; zero=$pid
works "$zero"
begin a1 "$second" 15; one=$pid
begin a2 "$third" 15; two=$pid
works "$one"
kill -9 "$one"
works "$two"
kill "$two"
ended "$one" 137
ended "$two" 0
ended "$zero" 0
prints '"answer":2279184,'
silent a2

# All look at data that the first one has published, those who come late too.
program=clique
"$bin/clique" --generate random:240:80:1 -o "$work/graph" || fail "no graph"
new_job
begin 0 "$first" --json "$work/graph"; zero=$pid
works "$zero"
late=()
for address in a1 a2 a3 a4 a5; do
  begin "$address" "$third" "$work/graph"
  late+=("$pid")
  sleep 0.1
done
works "${late[4]}"
{ kill -9 "${late[0]}"; wait "${late[0]}"; } 2>/dev/null
begin a6 "$second" "$work/graph"; late[0]=$pid
ended "$zero" 0
prints '"answer":27,'
for pid in "${late[@]}"; do ended "$pid" 0; done
program=queens

# The relay is away for a moment.
new_job
begin 0 "$first" 15 --json; zero=$pid
begin a1 "$second" 15; one=$pid
works "$one"
stop_relay
start_relay
ended "$zero" 0
ended "$one" 0
prints '"answer":2279184,.*"nodes":2,"silent":0,"tasks_crossed":[1-9][0-9]*,'
for file in err.0 err.a1; do
  [[ $(sed 's/(.*)/(…)/' "$work/$file") == "cleave: relay nats://127.0.0.1:$port: lost (…); trying again
cleave: relay nats://127.0.0.1:$port: back" ]] || fail "$file: $(cat "$work/$file")"
done

# refused STATUS LINE: a node in this environment.
refused() {
  timeout 60 "$bin/queens" 8 >"$work/out" 2>"$work/err"
  local status=$?
  [[ $status == "$1" && ! -s $work/out ]] || fail "status $status: $(cat "$work/out")"
  [[ $(cat "$work/err") == "$2" ]] || fail "'$(cat "$work/err")', expected '$2'"
}
export CLEAVE_TRANSPORT=nats CLEAVE_NODE=0
by='as a server (--serve) sets it, got'
refused 2 "queens: --transport nats: CLEAVE_JOB: expected letters and digits, $by ''"
export CLEAVE_JOB=7
CLEAVE_NODE=g refused 2 "cleave: --transport nats: CLEAVE_NODE: expected a hexadecimal number below 2^62, $by 'g'"
CLEAVE_ROOT=here refused 2 "queens: --transport nats: CLEAVE_ROOT: expected SITE.NAME, $by 'here'"
export CLEAVE_ROOT=here.m0
refused 2 "queens: --transport nats: CLEAVE_KEY: expected the name of a key file"
CLEAVE_KEY=$second refused 2 "queens: --transport nats: CLEAVE_ROOT: expected this machine, here.m1, where CLEAVE_NODE is 0"
exit "$((failures > 0))"
