#!/usr/bin/env bash
# labels: once slow
# kill -9 of some rank other than the first in the middle of queens 16 on four ranks, when MPI has started: the answer is right all the same. Needs an
# Open MPI that survives it (docs/mpi.md). CLEAVE_RUNS says how often (3).
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/mpi/launchers.bash"
export CLEAVE_WORKERS=1
if [[ " ${mpis[*]} " != *" openmpi5 "* ]]; then
  echo "skipped: no Open MPI 5 (docs/mpi.md: What is survived)"
  exit 77
fi

# rank_of N: the process of that rank, as `pid`; status 1 if there is none.
rank_of() {
  local environment
  for environment in /proc/[0-9]*/environ; do
    if grep -qzx "CLEAVE_MARK=$mark" "$environment" 2>/dev/null && grep -qzx "OMPI_COMM_WORLD_RANK=$1" "$environment"; then
      pid=${environment//[!0-9]/}
      return 0
    fi
  done
  return 1
}

runs=${CLEAVE_RUNS:-3} right=0 slowest=0
for ((run = 1; run <= runs; ++run)); do
  mark=$$-$run
  export CLEAVE_MARK=$mark
  launch openmpi5 4 "$bin/queens" 16 --json
  SECONDS=0
  timeout 120 "${command[0]}" --with-ft ulfm --mca coll ^han "${command[@]:1}" >"$work/out" 2>"$work/err" &
  job=$!
  victim=$((1 + RANDOM % 3))
  until rank_of "$victim" || ! kill -0 "$job" 2>/dev/null; do sleep 0.1; done
  sleep "$(awk "BEGIN { print 2 + $RANDOM / 16384 }")"
  kill -9 "$pid"
  wait "$job"
  ((SECONDS <= slowest)) || slowest=$SECONDS
  if grep -q '"answer":14772512,' "$work/out" && grep -q '"nodes":4,"silent":1,' "$work/out"; then
    right=$((right + 1))
  else
    fail "run $run, rank $victim killed: $(cat "$work/out" "$work/err")"
  fi
done
echo "killed: $right of $runs right, the slowest took $slowest s"
exit "$((failures > 0))"
