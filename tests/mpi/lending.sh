#!/usr/bin/env bash
# labels: once
# A graph whose idle ranks are lent subtasks, over one to four ranks of each MPI: the values are those of the program by calls, and
# the first exception is thrown. Four ranks may have two CPUs.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/mpi/launchers.bash"
export CLEAVE_WORKERS=1

for mpi in "${mpis[@]}"; do
  for count in 1 2 4; do
    launch "$mpi" $count "$CLEAVE_BINARY_DIR/tests/programs/mpi_lending"
    must_print "nodes $count" "${command[@]}"
    grep -qx 'wrong 0' "$work/out" || fail "$mpi, $count ranks: $(cat "$work/out")"
    ran=some
    ((count > 1)) || ran=none
    grep -qx "elsewhere $ran" "$work/out" || fail "$mpi, $count ranks: not $ran ran elsewhere: $(cat "$work/out")"
  done
done
exit "$((failures > 0))"
