#!/usr/bin/env bash
# labels: timing
# One worker takes at most 1.05 times the CPU time of the same program in C++, in the median of nine comparisons, 3 % allowed.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/processes.bash"
cpu_seconds() {  # COMMAND…
  local TIMEFORMAT='%U'
  { time "$@" >/dev/null 2>&1; } 2>&1
}
while read -r name size twin; do
  ratios=''
  for k in 1 2 3 4 5 6 7 8 9; do
    ratios+="$(cpu_seconds "$bin/tascell-$name" ${size#-} --workers 1) $(cpu_seconds "$bin/$twin" ${size#-} --workers 1)"$'\n'
  done
  awk '{ print $1 / $2, $1, $2 }' <<<"${ratios%$'\n'}" | sort -n | sed -n 5p >"$work/median"
  read -r median ours theirs <"$work/median"
  echo "$name ${size#-}: $median ($ours s, $twin $theirs s)"
  awk -v ratio="$median" 'BEGIN { exit !(ratio > 0 && ratio <= 1.05 * 1.03) }' || fail "$name: $median times as long as $twin"
done <<'END'
fib 42 fib
queens 14 queens
pentomino - pentomino
comp 40000 compare
lu 2000 lu
grav 250 gravity
END
exit "$((failures > 0))"
