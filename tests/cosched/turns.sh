#!/usr/bin/env bash
# labels: slow once timing
# Two jobs with a rank for each of two CPUs: they take turns and end with right results, and if one is killed, the other does.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/cosched/jobs.bash"

cpus=$(taskset -cp $$ | grep -oP ': \K.*' | tr ',' '\n' | awk -F- '{for (i = $1; i <= ($2 == "" ? $1 : $2); ++i) print i}' | head -2 | paste -sd,)
[[ $cpus == *,* ]] || { echo "skipped: one CPU"; exit 77; }

# job MPI NUMBER [GRAIN STEPS]: balanced, communicates each 300 us, for a second; its report is $work/report.NUMBER.
job() {
  launch "$1" 2 "$bin/bsp-$1" "${3:-300}" --steps "${4:-300$2}" --json
  CLEAVE_COSCHED_REPORT=$work/report.$2 taskset -c "$cpus" timeout 120 \
    env LD_PRELOAD="$CLEAVE_BINARY_DIR/lib/libcleave-cosched-$1.so" "${command[@]}" >"$work/out.$2" 2>"$work/err.$2"
}
verified() { grep -q '"verified":true' "$work/out.$2" || fail "$1, job $2: $(cat "$work/out.$2" "$work/err.$2")"; }
stops() { cat "$work"/report.? | grep -oP '"stops":\K[0-9]+' | awk '{n += $1} END {print n + 0}'; }

kill_job() {  # ARGUMENTS: all processes that have them, ranks and launchers
  local process victims=()
  for process in /proc/[0-9]*; do
    tr '\0' ' ' 2>/dev/null <"$process/cmdline" | grep -qF -- "$1" && victims+=("${process#/proc/}")
  done 2>/dev/null
  local killed=1  # some end by themselves when their launcher is gone
  for process in "${victims[@]}"; do kill -KILL "$process" 2>/dev/null && killed=0; done
  return "$killed"
}

both() {  # MPI
  rm -f "$work"/report.?
  job "$1" 1 &
  job "$1" 2 &
  wait
  verified "$1" 1
  verified "$1" 2
}

for mpi in "${mpis[@]}"; do
  both "$mpi"
  (($(stops) > 0)) || fail "$mpi: no turns"
  CLEAVE_COSCHED_TURN=0 both "$mpi"
  (($(stops) == 0)) || fail "$mpi: turns though there should be none"

  # Who communicates each 50 ms is interrupted.
  job "$mpi" 1 &
  job "$mpi" 3 50000 20 &
  wait
  verified "$mpi" 1
  verified "$mpi" 3
  grep -qP '"stops":[1-9]' "$work/report.3" || fail "$mpi: a job that communicates seldom takes no turns"
  rm -f "$work"/report.3

  # Who is killed in the middle leaves nobody waiting.
  job "$mpi" 2 2>/dev/null &
  job "$mpi" 1 &
  sleep 1
  kill_job "300 --steps 3002" || fail "$mpi: nobody to kill"
  wait
  verified "$mpi" 1
  left_behind >"$work/left" && fail "$mpi: left behind: $(cat "$work/left")"
done
exit "$((failures > 0))"
