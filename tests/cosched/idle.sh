#!/usr/bin/env bash
# labels: timing slow once
# Who waits for a rank that computes takes no CPU time, and returns as soon as it can.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/cosched/jobs.bash"

for mpi in "${mpis[@]}"; do
  for ranks in 2 4; do
    read -r cpu wall < <(CLEAVE_COSCHED_POLICY=two-phase cosched_run "$mpi" "$ranks" \
      "$CLEAVE_BINARY_DIR/tests/programs/cosched-imbalance-$mpi" 1500)
    echo "$mpi, $ranks ranks: $cpu s of CPU time in $wall s"
    awk "BEGIN { exit !($cpu < 0.05 * $wall) }" || fail "$mpi, $ranks ranks: waiting took $cpu s of CPU time"
  done
done
exit "$((failures > 0))"
