#!/usr/bin/env bash
# labels: slow once
# `cleave cosched mpirun ...` finds the library for the launcher's MPI, and refuses what it cannot start.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/cosched/jobs.bash"

refuses "cleave: mpirun ...: expected a program, got nothing" cleave cosched
refuses "cleave: unknown option '--quiet' (--help lists them)" cleave cosched --quiet mpirun -n 2 true
refuses "cleave: --policy: expected one of spin, block, two-phase, logp, adaptive, got 'lazy'" \
  cleave cosched --policy lazy mpirun -n 2 true
refuses "cleave: --spin: expected a whole number from 0 to 1000000, got '-1'" \
  cleave cosched --spin=-1 mpirun -n 2 true
refuses "cleave: --free-spin: expected a whole number from 0 to 1000000, got 'long'" \
  cleave cosched --free-spin long mpirun -n 2 true
refuses "cleave: --turn: expected a whole number from 0 to 10000, got '-3'" cleave cosched --turn=-3 mpirun -n 2 true
refuses "cleave: COMMAND: expected a program, got 'no-such-launcher'" cleave cosched no-such-launcher
refuses "cleave: COMMAND: 'true' does not tell its MPI: give --mpi openmpi or --mpi mpich" cleave cosched true

for mpi in "${mpis[@]}"; do
  launch "$mpi" 2 "$bin/cg-$mpi" S --json
  "$bin/cleave" cosched --policy adaptive --report "$work/report" "${command[@]}" >"$work/out" 2>"$work/err" || fail "$mpi: $(cat "$work/err")"
  grep -q '"verified":true' "$work/out" || fail "$mpi: $(cat "$work/out")"
  grep -q '"policy":"adaptive"' "$work/report" || fail "$mpi: $(cat "$work/report")"
  (($(counted waits) > 0)) || fail "$mpi: no waits"
  # LogP's time is a round trip more than a wake-up.
  "$bin/cleave" cosched --policy logp --free-spin 0 --report "$work/report" "${command[@]}" >"$work/out" 2>"$work/err" || fail "$mpi: $(cat "$work/err")"
  grep -q '"policy":"logp"' "$work/report" || fail "$mpi: $(cat "$work/report")"
  (($(counted spun_longer) == 0 && $(counted spin_time_us) >= $(counted wake_us))) || fail "$mpi: $(cat "$work/report")"
done
exit "$((failures > 0))"
