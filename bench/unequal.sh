#!/usr/bin/env bash
# What a rank at half speed costs: the steps of a stencil on two ranks, where subtasks stay and where idle ranks are lent them
# (cleave::dynamic), beside what would be ideal. "sleep": the rank takes twice as long for each subtask, which sleeps, so that a
# busy machine says something, too. "quota": its cgroup has half a CPU (10 ms of 20), and subtasks compute; needs root, version 1
# of cgroups or a writable version 2, and two CPUs that are free. In turn, so that a slow minute hits all. Prints medians (least
# to most) and ratios to the ideal.
# usage: bench/unequal.sh [ROUNDS] [FOLDER OF THE PROGRAM]   (5, build/study/bin)
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-5} bin=${2:-build/study/bin}
work=$(mktemp -d)
group=''
trap 'rm -rf "$work"; [[ -z $group ]] || rmdir "$group"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 CLEAVE_PLUGINS="$bin/../lib" CLEAVE_WORKERS=1

# half_a_cpu: makes the group; false if that cannot be done here.
half_a_cpu() {
  local of=/sys/fs/cgroup/cpu
  [[ -d $of ]] || of=/sys/fs/cgroup
  mkdir "$of/cleave-unequal.$$" 2>/dev/null || return 1
  group=$of/cleave-unequal.$$
  { echo 20000 >"$group/cpu.cfs_period_us" && echo 10000 >"$group/cpu.cfs_quota_us"; } 2>/dev/null ||
    echo "10000 20000" 2>/dev/null >"$group/cpu.max"
}
speeds=(sleep)
if half_a_cpu; then speeds+=(quota); else echo "unequal: no cgroup can be made here, so there is no row \"quota\""; fi

declare -A start
mpis=()
for mpi in openmpi mpich; do
  mpirun=$(command -v "mpirun.$mpi") || continue
  [[ $mpi == openmpi ]] && mpirun+=" --oversubscribe --bind-to none"
  mpis+=("$mpi") start[$mpi]=$mpirun
done
lengths=("1000 --steps 100" "10000 --steps 20")  # microseconds of a subtask

once() {  # WAY COMMAND…: its seconds, added to that way's file
  "${@:2}" 2>/dev/null | sed -n 's/.*"seconds":\([0-9.e-]*\),.*/\1/p' >>"$work/$1"
}
on_two() {  # MPI SPEED OPTION…: the program on two ranks, the second one at half speed
  local one=(-n 1 "$bin/unequal" "${@:3}") other=("$bin/unequal" "${@:3}")
  if [[ $2 == sleep ]]; then
    one+=(--slow 1) other+=(--slow 1)
  else
    other=(bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "${other[@]}")
  fi
  # shellcheck disable=SC2086
  timeout 300 ${start[$1]} "${one[@]}" : -n 1 "${other[@]}"
}
for ((round = 0; round < rounds; ++round)); do
  for speed in "${speeds[@]}"; do
    for length in "${lengths[@]}"; do
      # shellcheck disable=SC2206
      options=(--length $length)
      [[ $speed == sleep ]] && options+=(--sleep)
      once "$speed-one-${length%% *}" timeout 300 "$bin/unequal" "${options[@]}"
      for mpi in "${mpis[@]}"; do
        once "$speed-$mpi-static-${length%% *}" on_two "$mpi" "$speed" "${options[@]}"
        once "$speed-$mpi-dynamic-${length%% *}" on_two "$mpi" "$speed" "${options[@]}" --dynamic
      done
    done
  done
done

column() {  # FILE: median, least and most
  sort -g "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)], v[1], v[NR] }'
}
echo "| half speed | subtask of | on two ranks | seconds | ideal | ratio |"
echo "| --- | --- | --- | --- | --- | --- |"
for speed in "${speeds[@]}"; do
  for length in "${lengths[@]}"; do
    us=${length%% *}
    read -r one _ < <(column "$work/$speed-one-$us")  # one rank does in this time what one and a half do in the ideal
    for mpi in "${mpis[@]}"; do
      for way in static dynamic; do
        read -r m a b < <(column "$work/$speed-$mpi-$way-$us")
        awk -v s="$speed" -v n="$us µs" -v w="$way, $mpi" -v m="$m" -v a="$a" -v b="$b" -v o="$one" \
          'BEGIN { printf "| %s | %s | %s | %.3f (%.3f–%.3f) | %.3f | %.2f |\n", s, n, w, m, a, b, o / 1.5, m / o * 1.5 }'
      done
    done
  done
done
