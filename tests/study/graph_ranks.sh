#!/usr/bin/env bash
# labels: timing once
# Plain MPI and Cleave run each pattern over two ranks.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/mpi/launchers.bash"
source "$CLEAVE_SOURCE_DIR/tests/study/graphs.bash"
export CLEAVE_WORKERS=1

for mpi in "${mpis[@]}"; do
  for program in "$mpi" cleave; do
    launch "$mpi" 2 "$bin/graphs/$program"
    each_grid expect 2 "${command[@]}"
  done
done

exit "$((failures > 0))"
