#!/usr/bin/env bash
# labels: once
# Rounds of a graph that each rank makes once, over one to four ranks of each MPI, with one worker and with two: the values are
# those of the program by calls, and the first exception is thrown. Four ranks may have two CPUs.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/mpi/launchers.bash"

for mpi in "${mpis[@]}"; do
  for count in 1 2 4; do
    for CLEAVE_WORKERS in 1 2; do
      export CLEAVE_WORKERS
      launch "$mpi" $count "$CLEAVE_BINARY_DIR/tests/programs/mpi_repeat"
      must_print "nodes $count" "${command[@]}"
      grep -qx 'wrong 0' "$work/out" || fail "$mpi, $count ranks of $CLEAVE_WORKERS: $(cat "$work/out")"
    done
  done
done
exit "$((failures > 0))"
