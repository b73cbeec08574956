#!/usr/bin/env bash
# labels: slow once
# Jobs on two nodes: the same results bit for bit as without cosched, hardly a wait ends by the net, and who waits for another node
# takes no CPU time.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/cosched/jobs.bash"
source "$CLEAVE_SOURCE_DIR/tests/nodes.bash"

programs=$CLEAVE_BINARY_DIR/tests/programs
nodes_start 2

# plain MPI RANKS PROGRAM [ARGUMENT…]: on all nodes; under cosched with the options of that: `options`.
plain() {
  launch_on_nodes "$@"
  on_head timeout 120 "${command[@]}"
}
cosched() {
  launch_on_nodes "$@"
  rm -f "$work/report"
  on_head timeout 120 "$bin/cleave" cosched "${options[@]}" --report "$work/report" "${command[@]}"
}

# few_late WHAT: it waited and slept, and hardly a wait ended by the net.
few_late() {
  local late waits sleeps others
  late=$(counted ended_late) waits=$(counted waits) sleeps=$(counted sleeps) others=$(counted by_other_nodes)
  ((late * 1000 <= waits)) || fail "$1: $late of $waits waits ended by the net"
  ((sleeps > 0)) || fail "$1: no sleep"
  ((others > 0)) || fail "$1: no sleep was ended by another node"
  echo "$1: $(cat "$work/report")"
}

for mpi in "${mpis[@]}"; do
  [[ $mpi == openmpi || $mpi == mpich ]] || continue
  for ranks in 2 4; do
    expected=$(plain "$mpi" "$ranks" "$programs/cosched-calls-$mpi" 2>"$work/err") ||
      fail "$mpi, $ranks ranks, without cosched: $(cat "$work/err")"
    for policy in block two-phase adaptive; do
      options=(--policy "$policy" --free-spin 0)
      got=$(cosched "$mpi" "$ranks" "$programs/cosched-calls-$mpi" 2>"$work/err") ||
        fail "$mpi, $ranks ranks, $policy: exit status: $(cat "$work/err")"
      [[ $got == "$expected" ]] || fail "$mpi, $ranks ranks, $policy: '$got', expected '$expected'"
      [[ ! -s $work/err ]] || fail "$mpi, $ranks ranks, $policy: $(cat "$work/err")"
      few_late "$mpi, $ranks ranks, $policy"
    done
  done

  # Two seconds each in a receive, a barrier and a sum.
  options=()
  read -r cpu wall < <(cosched "$mpi" 2 "$programs/cosched-imbalance-$mpi" 6000 2>"$work/err")
  echo "$mpi: $cpu s of CPU time in $wall s"
  awk "BEGIN { exit !($cpu < 0.05 * $wall && $wall > 5) }" || fail "$mpi: waiting took $cpu s of CPU time in $wall s: $(cat "$work/err")"

  for program in cg ft; do
    cosched "$mpi" 4 "$bin/$program-$mpi" S --json >"$work/out" 2>"$work/err" || fail "$mpi, $program: $(cat "$work/out" "$work/err")"
    grep -q '"verified":true' "$work/out" || fail "$mpi, $program: $(cat "$work/out")"
    few_late "$mpi, $program"
  done

  compiler=mpif90.$mpi
  if command -v "$compiler" >/dev/null &&
    "$compiler" -o "$work/fortran" "$CLEAVE_SOURCE_DIR/tests/cosched/programs/fortran.f90" -J "$work" 2>"$work/err"; then
    options=(--policy block)
    [[ $(cosched "$mpi" 2 "$work/fortran" 2>"$work/err") == 21.000000 ]] || fail "$mpi, Fortran: $(cat "$work/err")"
    few_late "$mpi, Fortran"
  else
    echo "no Fortran for $mpi"
  fi
done
exit "$((failures > 0))"
