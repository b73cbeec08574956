#!/usr/bin/env bash
# labels: once
# Two ranks over each MPI: the right answer; --help and bad arguments are printed once; separate ranks each do their work.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/mpi/launchers.bash"
export CLEAVE_WORKERS=1

# lines N REGEX: so many of what the last command printed.
lines() {
  local found
  found=$(cat "$work/out" "$work/err" | grep -cE -- "$2")
  [[ $found == "$1" ]] || fail "$mpi: ${command[*]}: $found lines '$2': $(cat "$work/out" "$work/err")"
}
# ends STATUS [NAME=VALUE…]: the command, with that exit status.
ends() {
  env "${@:2}" timeout 60 "${command[@]}" >"$work/out" 2>"$work/err"
  local status=$?
  [[ $status == "$1" ]] || fail "$mpi: ${command[*]}: exit status $status: $(cat "$work/out" "$work/err")"
}

# once LINE [NAME=VALUE…]: the command says that, once, and nothing else of Cleave is printed; status 2.
once() {
  ends 2 "${@:2}"
  lines 1 "^queens: $1$"
  lines 1 '^(queens|cleave): '
  lines 0 '^answer '
}

for mpi in "${mpis[@]}"; do
  launch "$mpi" 2 "$bin/queens" 11
  ends 0
  lines 1 '^answer +2680 solutions$'
  lines 1 '^nodes +2;'
  launch "$mpi" 2 "$bin/queens" 14 --json --trace "$work/of-all.json"
  ends 0
  lines 1 '"workers":2,.*"nodes":2,"silent":0,"tasks_crossed":[1-9][0-9]*,"messages":[1-9][0-9]*,"bytes":[1-9][0-9]*,"asks":"near-first"'
  cp "$work/of-all.json" "$work/out"
  lines 1 '"name": "queens node 0"'
  lines 1 '"name": "queens node 1"'
  grep -q '"from_node": 0,' "$work/out" || fail "$mpi: no task of node 0 ran elsewhere"
  launch "$mpi" 2 "$bin/queens" 12 --json
  ends 0 CLEAVE_ASK=relay-random,3
  lines 1 '"answer":14200,.*"nodes":2,.*"asks":"relay-random,3"'
  launch "$mpi" 2 "$bin/queens" --help
  ends 0
  lines 1 '^Usage: queens '
  launch "$mpi" 2 "$bin/queens" 99
  ends 2
  lines 1 "^queens: N: expected a whole number from 1 to 32, got '99'$"
  launch "$mpi" 3 "$bin/queens" 9 --transport nonsense
  once "--transport: expected mpi, openmpi, openmpi5, mpich, nats or none, got 'nonsense'"
  launch "$mpi" 3 "$bin/queens" 9
  once "CLEAVE_WORKERS: expected a whole number from 1 to 1024, got 'x'" CLEAVE_WORKERS=x
  once "CLEAVE_ASK: expected near-first, random, two-choices, least-split or relay-random\\[,N\\], got 'relay'" CLEAVE_ASK=relay
  once "CLEAVE_BROADCAST: expected auto\\[,L,o,G\\] \\(microseconds; G of a byte\\), flat, binomial, chain or binary, got 'tree'" CLEAVE_BROADCAST=tree
  once "CLEAVE_MPI_PART: expected a whole number from 1 to 1073741824, got '0'" CLEAVE_MPI_PART=0
  once "none/t.json: cannot be written: No such file or directory" CLEAVE_TRACE=none/t.json
  printf 'cleave plan 1\n' >"$work/cut.plan"
  launch "$mpi" 2 "$bin/md" 3 --plan "$work/cut.plan"
  ends 2
  lines 1 '^md: --plan: .*cut\.plan: at byte 14 of 14: .*expected'
  launch "$mpi" 2 "$bin/queens" 9 --profile --transport none --trace "$work/trace-$mpi.json"
  ends 0
  lines 2 '^answer +352 solutions$'
  lines 2 '^span '
  [[ -s $work/trace-$mpi.json && -s $work/trace-$mpi.json.1 ]] || fail "$mpi: not a trace of each separate rank"
done
exit "$((failures > 0))"
