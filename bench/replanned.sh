#!/usr/bin/env bash
# What planning a graph anew while it runs gains where the load moves: a dense drop that travels through a box (md --drop) on two
# ranks, with blocks in equal slabs, by the plan of its first 20 steps, and planned anew every 20 steps or more; and the same of
# a stencil whose load is given (graphs/moving), if it is built: it moves from the first step on, or late. In turn, so that a slow
# minute hits all. Prints medians (least to most) in seconds, and what the first plan takes over what the plans take that are made
# anew.
# usage: bench/replanned.sh [ROUNDS] [FOLDER OF THE PROGRAMS]   (5, build/release/bin)
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-5} bin=${2:-build/release/bin}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 CLEAVE_PLUGINS="$bin/../lib" CLEAVE_WORKERS=1

declare -A start first=() whole=()
mpis=()
for mpi in openmpi mpich; do
  mpirun=$(command -v "mpirun.$mpi") || continue
  [[ $mpi == openmpi ]] && mpirun+=" --oversubscribe --bind-to none"
  mpis+=("$mpi") start[$mpi]="$mpirun -n 2"
done
drop="$bin/md 24 --drop --blocks 36,1,1 --json --every 3000"
first[drop]="$drop --steps 20" whole[drop]="$drop --steps 3000"
if [[ -x $bin/graphs/moving ]]; then
  first[stencil]="$bin/graphs/moving --first 20" whole[stencil]="$bin/graphs/moving"
  whole[late]="$bin/graphs/moving --steps 1200 --still 900" first[late]="${whole[late]} --first 20"
fi

once() {  # WAY COMMAND…: its seconds, added to that way's file
  timeout 300 "${@:2}" 2>"$work/err" | sed -n 's/.*"seconds":\([0-9.e-]*\),.*/\1/p' >>"$work/$1"
}
for ((round = 0; round < rounds; ++round)); do
  for what in "${!first[@]}"; do
    for mpi in "${mpis[@]}"; do
      plan=$work/$what-$mpi.plan
      # shellcheck disable=SC2086
      if ((round == 0)); then ${start[$mpi]} ${first[$what]} --plan "$plan" >/dev/null; fi
      for way in slabs plan anew; do
        case $way in slabs) how="" ;; plan) how="--plan $plan" ;; anew) how="--replan 20" ;; esac
        # shellcheck disable=SC2086
        once "$what-$mpi-$way" ${start[$mpi]} ${whole[$what]} $how
      done
    done
  done
done

median() { sort -g "$work/$1" | awk '{ v[NR] = $1 } END { printf "%.2f (%.2f to %.2f)", v[int((NR + 1) / 2)], v[1], v[NR] }'; }
echo "| load | MPI | slabs | first plan | planned anew | first plan over that |"
echo "|---|---|---:|---:|---:|---:|"
for what in "${!first[@]}"; do
  for mpi in "${mpis[@]}"; do
    plan=$(median "$what-$mpi-plan") anew=$(median "$what-$mpi-anew")
    echo "| $what | $mpi | $(median "$what-$mpi-slabs") | $plan | $anew | $(awk "BEGIN { printf \"%.2f\", ${plan%% *} / ${anew%% *} }") |"
  done
done
