#!/usr/bin/env bash
# labels: once slow
# Ten times the schedules of faults.cpp, and others: none fails, and a planted fault is found.
set -euo pipefail
sim=$CLEAVE_BIN_DIR/sim
"$sim" faults --first 201 --seeds 2000
if "$sim" faults --fault forget-cancel --seeds 50 2>/dev/null; then
  echo "two_thousand_faults: sim does not say by its exit status that schedules fail"
  exit 1
fi
