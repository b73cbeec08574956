#!/usr/bin/env bash
# labels: timing once
# Each system with dependences runs each pattern, on as many workers as asked for.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/study/graphs.bash"

for program in "$bin"/graphs/*; do
  name=$(basename "$program")
  called=$name
  case $name in
    openmpi* | mpich*) called=mpi ;;  # they run in graph_ranks.sh
    serial) each_grid expect 1 "$program" ;;
    *) each_grid expect 2 "$program" --workers 2 ;;
  esac
  refuses "$called: --width: expected a whole number from 1 to 4096, got '0'" "graphs/$name" stencil --width 0
done

exit "$((failures > 0))"
