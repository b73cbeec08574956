#!/usr/bin/env bash
# What a rank at half speed costs: the steps of a stencil on two ranks, of which one takes twice as long for each subtask, where
# subtasks stay and where idle ranks are lent them (cleave::dynamic), beside what would be ideal. Subtasks sleep, so that a busy
# machine says something, too. In turn, so that a slow minute hits all. Prints medians (least to most) and ratios to the ideal.
# usage: bench/unequal.sh [ROUNDS] [FOLDER OF THE PROGRAM]   (5, build/study/bin)
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-5} bin=${2:-build/study/bin}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 CLEAVE_PLUGINS="$bin/../lib" CLEAVE_WORKERS=1

declare -A start
mpis=()
for mpi in openmpi mpich; do
  mpirun=$(command -v "mpirun.$mpi") || continue
  [[ $mpi == openmpi ]] && mpirun+=" --oversubscribe --bind-to none"
  mpis+=("$mpi") start[$mpi]="$mpirun -n 2"
done
lengths=("1000 --steps 100" "10000 --steps 20")  # microseconds of a subtask

once() {  # WAY COMMAND…: its seconds, added to that way's file
  timeout 300 "${@:2}" 2>/dev/null | sed -n 's/.*"seconds":\([0-9.e-]*\),.*/\1/p' >>"$work/$1"
}
for ((round = 0; round < rounds; ++round)); do
  for length in "${lengths[@]}"; do
    # shellcheck disable=SC2206
    options=(--sleep --length $length)
    once "one-${length%% *}" "$bin/unequal" "${options[@]}"
    for mpi in "${mpis[@]}"; do
      # shellcheck disable=SC2086
      once "$mpi-static-${length%% *}" ${start[$mpi]} "$bin/unequal" "${options[@]}" --slow 1
      # shellcheck disable=SC2086
      once "$mpi-dynamic-${length%% *}" ${start[$mpi]} "$bin/unequal" "${options[@]}" --slow 1 --dynamic
    done
  done
done

column() {  # FILE: median, least and most
  sort -g "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)], v[1], v[NR] }'
}
echo "| subtask of | on two ranks | seconds | ideal | ratio |"
echo "| --- | --- | --- | --- | --- |"
for length in "${lengths[@]}"; do
  us=${length%% *}
  read -r one _ < <(column "$work/one-$us")  # one rank does in this time what one and a half do in the ideal
  for mpi in "${mpis[@]}"; do
    for way in static dynamic; do
      read -r m a b < <(column "$work/$mpi-$way-$us")
      awk -v n="$us µs" -v w="$way, $mpi" -v m="$m" -v a="$a" -v b="$b" -v o="$one" \
        'BEGIN { printf "| %s | %s | %.3f (%.3f–%.3f) | %.3f | %.2f |\n", n, w, m, a, b, o / 1.5, m / o * 1.5 }'
    done
  done
done
