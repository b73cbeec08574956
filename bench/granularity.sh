#!/usr/bin/env bash
# How short subtasks of a graph may be (METG of Task Bench) with every system that is found, on two workers, and over two ranks
# with Cleave and with plain MPI. In turn, so that a slow minute hits all. Prints medians (least to most), in microseconds; then the
# seconds of md, of lu and of cholesky, whose graphs run over two ranks too.
# usage: bench/granularity.sh [ROUNDS] [FOLDER OF THE PROGRAMS] [FOLDER OF MD, LU, CHOLESKY]
#        (5, build/study/bin/graphs, build/release/bin)
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-5} bin=${2:-build/study/bin/graphs} bin_of_apps=${3:-build/release/bin}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

ways=() apps=(sequential workers) columns_of_apps=("md 20 --steps 200 --blocks 2" "lu 2000 --graph" "cholesky 2000")
declare -A start app_options=([sequential]=--sequential [workers]="--workers 2")
for program in cleave cleave_repeated taskflow onetbb libgomp libomp; do
  [[ -x $bin/$program ]] || continue
  ways+=("$program") start[$program]="$bin/$program --workers 2"
done
for mpi in openmpi mpich; do
  mpirun=$(command -v "mpirun.$mpi") || continue
  [[ $mpi == openmpi ]] && mpirun+=" --oversubscribe --bind-to none"
  apps+=("$mpi") app_options[$mpi]="--workers 1" start[app_$mpi]="env CLEAVE_PLUGINS=$bin_of_apps/../lib $mpirun -n 2"
  [[ -x $bin/$mpi ]] || continue
  ways+=("$mpi" "cleave_$mpi" "repeated_$mpi")
  start[$mpi]="$mpirun -n 2 $bin/$mpi"
  start[cleave_$mpi]="env CLEAVE_PLUGINS=$bin/../../lib CLEAVE_WORKERS=1 $mpirun -n 2 $bin/cleave --longest 100 --steps 500"
  start[repeated_$mpi]="env CLEAVE_PLUGINS=$bin/../../lib CLEAVE_WORKERS=1 $mpirun -n 2 $bin/cleave_repeated --longest 50"
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
  for column in "${columns_of_apps[@]}"; do
    for way in "${apps[@]}"; do
      line=$(timeout 300 ${start[app_$way]:-} "$bin_of_apps/"$column ${app_options[$way]} --json 2>/dev/null || true)
      sed -n 's/.*"seconds":\([0-9.e-]*\),.*/\1/p' <<<"$line" >>"$work/$way-${column%% *}"
    done
  done
done

cell() {  # FILE [DIGITS]
  sort -g "$1" | awk -v f="%.${2:-2}f" \
    '{ v[NR] = $1 } END { if (NR == 0) printf "–"; else printf f " (" f "–" f ")", v[int((NR + 1) / 2)], v[1], v[NR] }'
}
median() { sort -g "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] + 0 }'; }
ratio() {  # FILE OF-FILE: of their medians
  awk -v a="$(median "$1")" -v b="$(median "$2")" 'BEGIN { if (a > 0 && b > 0) printf "%.2f", a / b; else printf "–" }'
}

for part in 50 75; do
  printf '\n| %s %% |' "$part"; printf ' %s |' "${columns[@]}"; printf '\n|---|'; printf '%.0s---|' "${columns[@]}"; echo
  for way in "${ways[@]}"; do
    printf '| %s |' "$way"
    for column in "${columns[@]}"; do printf ' %s |' "$(cell "$work/$way-${column/ /-}-$part")"; done
    echo
  done
  for mpi in openmpi mpich; do
    [[ -n ${start[cleave_$mpi]:-} ]] || continue
    for way in cleave repeated; do
      printf '| %s_%s over %s (goal: at most 3) |' "$way" "$mpi" "$mpi"
      for column in "${columns[@]}"; do
        at=${column/ /-}-$part
        # Where there are no dependences plain MPI has nothing to do.
        if [[ $column == trivial* ]]; then printf ' – |'; else printf ' %s |' "$(ratio "$work/${way}_$mpi-$at" "$work/$mpi-$at")"; fi
      done
      echo
    done
  done
done
printf '\n| seconds |'; printf ' %s |' "${columns_of_apps[@]}"; printf '\n|---|'; printf '%.0s---|' "${columns_of_apps[@]}"; echo
for way in "${apps[@]}"; do
  printf '| %s |' "$way"
  for column in "${columns_of_apps[@]}"; do printf ' %s |' "$(cell "$work/$way-${column%% *}" 4)"; done
  echo
done
for way in "${apps[@]:2}"; do
  printf '| sequential over %s (goals: at least 1.9, 1.7, 1.7) |' "$way"
  for column in "${columns_of_apps[@]}"; do
    printf ' %s |' "$(ratio "$work/sequential-${column%% *}" "$work/$way-${column%% *}")"
  done
  echo
done
