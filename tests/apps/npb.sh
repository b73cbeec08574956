#!/usr/bin/env bash
# labels: slow once
# cg and ft find the official values, with every MPI and several numbers of ranks, bsp its messages; bad input is refused.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/cosched/jobs.bash"

solves() {  # MPI RANKS PROGRAM CLASS
  local said
  said=$(mpi_run "$1" "$2" "$bin/$3-$1" "$4" --json 2>"$work/err") ||
    fail "$*: exit status $?: $said $(cat "$work/err")"
  [[ $said == *'"verified":true'* ]] || fail "$*: $said"
}

for mpi in "${mpis[@]}"; do
  most="1 2 4 8"
  [[ $mpi != mpich ]] || most="1 2 4"  # it spins: more ranks than CPUs take long
  for ranks in $most; do
    solves "$mpi" "$ranks" cg S
    solves "$mpi" "$ranks" ft S
  done
  solves "$mpi" 2 cg W
  solves "$mpi" 4 ft W
  for pattern in ring barrier; do
    said=$(mpi_run "$mpi" 2 "$bin/bsp-$mpi" 50 --imbalance 50 --steps 100 --marks 3 --pattern "$pattern" --json)
    [[ $said == *'"marks":['*'"verified":true'* ]] || fail "bsp-$mpi, $pattern: $said"
  done
  # It waits for the time that the file says.
  at=$(date -d "now + 2 seconds" +%s)
  printf '%s' "$at" >"$work/start"
  said=$(mpi_run "$mpi" 2 "$bin/cg-$mpi" S --times 2 --start "$work/start" --json)
  began=$(grep -oP '"begin":\K[0-9]+' <<<"$said")
  [[ $said == ready* && $began -ge $at ]] || fail "cg-$mpi --start: $said, expected to begin at $at"
  refuses "bsp: GRAIN: expected a whole number from 1 to 1000000, got '0'" "bsp-$mpi" 0
  refuses "cg: CLASS: expected one of S, W, A, B, got 'X'" "cg-$mpi" X
  mpi_run "$mpi" 3 "$bin/ft-$mpi" S >"$work/out" 2>"$work/err"
  (($? == 2)) || fail "ft-$mpi with 3 ranks: exit status"
  (($(grep -c "ft: expected a power of two of ranks, up to 64, got 3" "$work/err") == 1)) ||
    fail "ft-$mpi with 3 ranks: $(cat "$work/err")"
done
exit "$((failures > 0))"
