#!/usr/bin/env bash
# labels: timing
# One worker takes at most 1.1 times the CPU time of the sequential program, in the best of five comparisons.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
for source in "$CLEAVE_SOURCE_DIR"/examples/*.cpp; do
  name=$(basename "$source" .cpp)
  best=$(for k in 1 2 3 4 5; do "$CLEAVE_BINARY_DIR/examples/$name" --compare; done | sed 's/.*ratio //' | sort -n | head -n 1)
  echo "$name: $best"
  awk -v ratio="$best" 'BEGIN { exit !(ratio > 0 && ratio <= 1.10) }' || fail "$name: one worker takes $best times as long"
done
exit "$((failures > 0))"
