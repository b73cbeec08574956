#!/usr/bin/env bash
# labels: once
# LU and Cholesky decompositions over ranks have the bits of the sequential programs, also where a plan says who does what.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/mpi/launchers.bash"
export CLEAVE_WORKERS=1

digest() { sed -n 's/.*"digest":"\([0-9a-f]*\)".*/\1/p' "$work/out"; }
declare -A known
# same MPI N PROGRAM [ARGUMENT…]
same() {
  local words=("${@:3}") of="$3 $4"
  if [[ ! ${known[$of]:-} ]]; then
    "$bin/$3" "$4" --sequential --json >"$work/out" || fail "$of --sequential"
    known[$of]=$(digest)
  fi
  launch "$1" "$2" "$bin/$3" "${words[@]:1}" --json
  timeout 60 "${command[@]}" >"$work/out" 2>"$work/err" || fail "${command[*]}: exit status $?: $(cat "$work/err")"
  [[ $(digest) && $(digest) == "${known[$of]}" ]] || fail "${command[*]}: expected ${known[$of]}: $(cat "$work/out")"
  grep -q "\"nodes\":$2[,}]" "$work/out" || fail "${command[*]}: $(cat "$work/out")"
}

"$bin/lu" 300 --graph --block 64 --plan "$work/lu.plan" >"$work/out" || fail "no plan of lu"
same "${mpis[0]}" 2 lu 300 --graph --block 64 --plan "$work/lu.plan"
ranks=(2 7 4 1)
for ((i = 0; i < 4; ++i)); do
  for ((m = 0; m < ${#mpis[@]}; ++m)); do
    if ((i % 2 == m % 2)); then same "${mpis[m]}" "${ranks[i]}" lu 333 --graph --block 64
    else same "${mpis[m]}" "${ranks[i]}" cholesky 333 --block 64
    fi
  done
done
exit "$((failures > 0))"
