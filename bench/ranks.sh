#!/usr/bin/env bash
# Ranks beside threads: the same programs with as many workers, in turn, so that a slow minute hits all. Prints medians (least to
# most) of wall time and of the CPU time of all processes, and their ratios to threads.
# usage: bench/ranks.sh [ROUNDS] [FOLDER OF THE PROGRAMS]   (7, build/release/bin)
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-7} bin=${2:-build/release/bin}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

declare -A start=([threads]="env CLEAVE_WORKERS=2" [threads4]="env CLEAVE_WORKERS=4")
ways=(threads)
for mpi in openmpi mpich; do
  mpirun=$(command -v "mpirun.$mpi") || continue
  [[ $mpi == openmpi ]] && mpirun+=" --oversubscribe --bind-to none"
  start[$mpi]="env CLEAVE_WORKERS=1 $mpirun -n 2" start[${mpi}4]="env CLEAVE_WORKERS=1 $mpirun -n 4"
  ways+=("$mpi")
done
programs=("queens 15" pentomino "uts T1")

# once WAY PROGRAM…: a line with wall and CPU seconds, added to that way's file.
once() {
  local file="$work/$1-${*:2}"
  # shellcheck disable=SC2086
  ${start[$1]} "$bin/$2" "${@:3}" --json 2>/dev/null |
    sed -n 's/.*"seconds":\([0-9.e-]*\),.*"cpu_seconds":\([0-9.e-]*\),.*/\1 \2/p' >>"$file"
}
# column FILE N: median, least and most.
column() {
  cut -d' ' -f"$2" "$1" | sort -g | awk '{ v[NR] = $1 } END { printf "%.3f %.3f %.3f", v[int((NR + 1) / 2)], v[1], v[NR] }'
}
row() {  # WAY BASE PROGRAM…
  local mine="$work/$1-${*:3}" base="$work/$2-${*:3}"
  read -r m a b < <(column "$mine" 1; echo)
  read -r cpu _ < <(column "$mine" 2; echo)
  read -r of _ < <(column "$base" 1; echo)
  read -r of_cpu _ < <(column "$base" 2; echo)
  awk -v n="${*:3}" -v w="$1" -v m="$m" -v a="$a" -v b="$b" -v c="$cpu" -v o="$of" -v oc="$of_cpu" \
    'BEGIN { printf "| %s | %s | %s (%s–%s) | %.2f | %s | %.2f |\n", n, w, m, a, b, m / o, c, c / oc }'
}

for ((round = 0; round < rounds; ++round)); do
  for program in "${programs[@]}"; do
    for way in "${ways[@]}"; do once "$way" $program; done
  done
  for way in "${ways[@]}"; do once "${way}4" queens 15; done
done
echo "| program | on | seconds | ratio | CPU seconds | ratio |"
echo "| --- | --- | --- | --- | --- | --- |"
for program in "${programs[@]}"; do
  for way in "${ways[@]}"; do row "$way" threads $program; done
done
for way in "${ways[@]}"; do row "${way}4" "$way" queens 15; done
