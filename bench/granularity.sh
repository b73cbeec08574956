#!/usr/bin/env bash
# How short subtasks of a graph may be (METG of Task Bench) with every system that is found, on two workers, and over two ranks
# with Cleave and with plain MPI. In turn, so that a slow minute hits all. Prints medians (least to most), in microseconds.
# usage: bench/granularity.sh [ROUNDS] [FOLDER OF THE PROGRAMS]   (5, build/study/bin/graphs)
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-5} bin=${2:-build/study/bin/graphs}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

ways=()
declare -A start
for program in cleave taskflow onetbb libgomp libomp; do
  [[ -x $bin/$program ]] || continue
  ways+=("$program") start[$program]="$bin/$program --workers 2"
done
for mpi in openmpi mpich; do
  mpirun=$(command -v "mpirun.$mpi") && [[ -x $bin/$mpi ]] || continue
  [[ $mpi == openmpi ]] && mpirun+=" --oversubscribe --bind-to none"
  ways+=("$mpi" "cleave_$mpi")
  start[$mpi]="$mpirun -n 2 $bin/$mpi"
  start[cleave_$mpi]="env CLEAVE_PLUGINS=$bin/../../lib CLEAVE_WORKERS=1 $mpirun -n 2 $bin/cleave --longest 100 --steps 500"
done

columns=("trivial 16" "stencil 2" "stencil 16" "fft 16")
for ((round = 0; round < rounds; ++round)); do
  for column in "${columns[@]}"; do
    read -r pattern width <<<"$column"
    for way in "${ways[@]}"; do
      line=$(timeout 300 ${start[$way]} "$pattern" --width "$width" 2>/dev/null || true)
      for part in 50 75; do
        sed -n "s/.*\"metg_${part}_us\":\([0-9.e-]*\),.*/\1/p" <<<"$line" >>"$work/$way-$pattern-$width-$part"
      done
    done
  done
done

cell() {  # FILE
  sort -g "$1" | awk '{ v[NR] = $1 } END { if (NR == 0) printf "–"; else printf "%.2f (%.2f–%.2f)", v[int((NR + 1) / 2)], v[1], v[NR] }'
}
for part in 50 75; do
  printf '\n| %s %% |' "$part"; printf ' %s |' "${columns[@]}"; printf '\n|---|'; printf '%.0s---|' "${columns[@]}"; echo
  for way in "${ways[@]}"; do
    printf '| %s |' "$way"
    for column in "${columns[@]}"; do printf ' %s |' "$(cell "$work/$way-${column/ /-}-$part")"; done
    echo
  done
done
