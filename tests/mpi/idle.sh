#!/usr/bin/env bash
# labels: timing once slow
# Ranks that find nothing to do take under 1 % of a CPU, and so does a root that sleeps. An idle rank's request brings a task
# within a few times what a futex takes.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/mpi/launchers.bash"
export CLEAVE_WORKERS=1
for mpi in "${mpis[@]}"; do
  launch "$mpi" 3 "$CLEAVE_BINARY_DIR/tests/programs/mpi_jobs" idle 3
  must_print 'idle: rank 0 takes .*' "${command[@]}"
  sed "s/^/$mpi: /" "$work/out"
  [[ $(grep -cE 'takes 0\.[0-9]+ %' "$work/out") == 3 ]] || fail "$mpi: an idle rank takes 1 % or more: $(cat "$work/out")"
  launch "$mpi" 2 "$CLEAVE_BINARY_DIR/tests/programs/mpi_jobs" steal
  must_print 'steal: .*' "${command[@]}"
  sed "s/^/$mpi: /" "$work/out"
  # 50 ms of work: who hears of it only by the next heartbeat mostly finds it done.
  crossed=0
  for ((k = 0; k < 7; ++k)); do
    launch "$mpi" 2 "$bin/queens" 13 --json
    must_print '.*"answer":73712,.*' "${command[@]}"
    grep -q '"tasks_crossed":0,' "$work/out" || crossed=$((crossed + 1))
  done
  ((crossed >= 5)) || fail "$mpi: only in $crossed of 7 short runs the other rank found work"
done
exit "$((failures > 0))"
