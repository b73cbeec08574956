#!/usr/bin/env bash
# labels: once
# Gathered variables over one to seven ranks of each MPI: all updates are there when their tasks have ended.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/mpi/launchers.bash"
export CLEAVE_WORKERS=1

for mpi in "${mpis[@]}"; do
  for count in 1 2 4 7; do
    launch "$mpi" $count "$CLEAVE_BINARY_DIR/tests/programs/mpi_gathered"
    must_print "nodes $count" "${command[@]}"
    ! grep -q WRONG "$work/out" || fail "$mpi, $count ranks: $(cat "$work/out")"
    (($(grep -c '^tasks, .*: right' "$work/out") == 4)) || fail "$mpi, $count ranks: $(cat "$work/out")"
    (($(grep -c '^member .*: right' "$work/out") == count)) || fail "$mpi, $count ranks: $(cat "$work/out")"
    grep -qx 'static: right' "$work/out" || fail "$mpi, $count ranks: $(cat "$work/out")"
    grep -qx 'marks: right' "$work/out" || fail "$mpi, $count ranks: $(cat "$work/out")"
    [[ ! -s $work/err ]] || fail "$mpi, $count ranks: $(cat "$work/err")"
    grep -c 'by several' "$work/out" >>"$work/several"  # which ranks have work is not the same each time
  done
done
grep -q '[1-9]' "$work/several" || fail "no other rank had work in any of the runs"
exit "$((failures > 0))"
