#!/usr/bin/env bash
# labels: timing once
# Each system with dependences runs each pattern (it looks itself whether what a subtask reads was there), on as many workers as
# asked for, and over ranks.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
export CLEAVE_PLUGINS=$bin/../lib OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

expect() {  # WORKERS COMMAND…
  local wanted=$1
  shift
  timeout 60 "$@" --steps 60 --rounds 1 >"$work/out" 2>"$work/err" || fail "$*: $(head -c 300 "$work/err")"
  [[ $(wc -l <"$work/out") == 1 ]] || fail "$*: not one line: $(head -c 300 "$work/out")"
  grep -q "\"workers\":$wanted,.*\"curve\":\[{\"granularity_us\":[0-9.e-]*,\"efficiency\":[0-9]" "$work/out" ||
    fail "$*: $(head -c 300 "$work/out")"
}

for program in "$bin"/graphs/*; do
  name=$(basename "$program")
  for pattern in trivial stencil fft; do
    for width in 1 2 13; do
      case $name in
        openmpi) expect 2 mpirun.openmpi --oversubscribe --bind-to none -n 2 "$program" $pattern --width $width ;;
        mpich) expect 2 mpirun.mpich -n 2 "$program" $pattern --width $width ;;
        serial) expect 1 "$program" $pattern --width $width ;;
        *) expect 2 "$program" $pattern --width $width --workers 2 ;;
      esac
    done
  done
  "$program" stencil --width 0 >"$work/out" 2>"$work/err"
  [[ $? == 2 && $(wc -l <"$work/err") == 1 && ! -s $work/out ]] || fail "$name: a width of 0: $(cat "$work/err")"
done
for mpi in openmpi mpich; do
  [[ -x $bin/graphs/$mpi ]] || continue
  ranks=("mpirun.$mpi" -n 2)
  [[ $mpi == openmpi ]] && ranks+=(--oversubscribe --bind-to none)
  expect 2 env CLEAVE_WORKERS=1 "${ranks[@]}" "$bin/graphs/cleave" fft --width 8
done

exit "$((failures > 0))"
