#!/usr/bin/env bash
# labels: slow once
# The NAS kernels, Fortran and threads under cosched; what cannot be kept is said; bad settings are refused.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/cosched/jobs.bash"

programs=$CLEAVE_BINARY_DIR/tests/programs
export CLEAVE_COSCHED_REPORT=$work/report

kernels() {
  for program in cg ft; do
    cosched_run "$1" 4 "$bin/$program-$1" S --json >"$work/out" 2>"$work/err" ||
      fail "$1, $program: $(cat "$work/out" "$work/err")"
    (($(counted waits) > 0)) || fail "$1, $program: no waits"
  done
}

fortran() {  # its calls pass by the names PMPI_...
  local compiler
  case $1 in
    openmpi) compiler=mpif90.openmpi ;;
    mpich) compiler=mpif90.mpich ;;
  esac
  command -v "$compiler" >/dev/null || return 0
  "$compiler" -o "$work/fortran" "$CLEAVE_SOURCE_DIR/tests/cosched/programs/fortran.f90" -J "$work" 2>"$work/err" ||
    { echo "no Fortran for $1: $(head -1 "$work/err")"; return 0; }
  [[ $(cosched_run "$1" 2 "$work/fortran" 2>"$work/err") == 21.000000 ]] || fail "$1, Fortran: $(cat "$work/err")"
  (($(counted calls) == 600)) || fail "$1, Fortran: $(counted calls) calls, expected 600"
}

threads() {  # MPI [ARGUMENT]
  local got
  got=$(cosched_run "$1" 2 "$programs/cosched-threads-$1" "${@:2}" 2>"$work/err")
  [[ $got == 5050 || $got == "no threads" ]] || fail "$1, threads: '$got' $(cat "$work/err")"
  [[ $got == "no threads" ]] || grep -q "cosched: a second thread calls MPI" "$work/err" ||
    fail "$1, threads: no message: $(cat "$work/err")"
}

forks() {
  local got
  got=$(cosched_run "$1" 2 timeout 30 "$programs/cosched-forks-$1" 2>"$work/err")
  [[ $got == "3 kept" ]] || fail "$1, a child that exits: '$got' $(cat "$work/err")"
}

settings() {
  CLEAVE_COSCHED_POLICY=lazy cosched_run "$1" 2 "$bin/cg-$1" S >"$work/out" 2>"$work/err"
  (($? == 2)) || fail "$1, bad policy: exit status"
  local line="cosched: CLEAVE_COSCHED_POLICY: expected spin, block, two-phase, logp or adaptive, got 'lazy'"
  (($(grep -cF "$line" "$work/err") == 1)) || fail "$1, bad policy: $(cat "$work/err")"

  # Of one rank only.
  second_rank "$1" CLEAVE_COSCHED_SPIN=much "$bin/cg-$1" S >"$work/out" 2>"$work/err"
  (($? == 2)) || fail "$1, bad spin time of one rank: exit status"
  (($(grep -c "^cosched: CLEAVE_COSCHED_SPIN: .*'much'" "$work/err") == 1)) ||
    fail "$1, bad spin time of one rank: $(cat "$work/err")"

  # The job has the first rank's.
  CLEAVE_COSCHED_POLICY=block second_rank "$1" CLEAVE_COSCHED_POLICY=logp "$bin/cg-$1" S >"$work/out" 2>"$work/err" ||
    fail "$1, two policies: exit status, $(cat "$work/err")"
  grep -q '"policy":"block"' "$work/report" || fail "$1, two policies: $(cat "$work/report")"
}
# second_rank MPI NAME=VALUE COMMAND…: two ranks, the second one with another environment.
second_rank() {
  cosched_run "$1" 2 timeout 60 \
    sh -c '[ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}" != 1 ] || export "$0"; exec "$@"' "${@:2}"
}

for mpi in "${mpis[@]}"; do
  kernels "$mpi"
  fortran "$mpi"
  threads "$mpi"
  OMPI_MPI_THREAD_LEVEL=3 MPIR_CVAR_DEFAULT_THREAD_LEVEL=MPI_THREAD_MULTIPLE threads "$mpi" by-init
  forks "$mpi"
  settings "$mpi"
  left_behind >"$work/left" && fail "$mpi: left behind: $(cat "$work/left")"
done
exit "$((failures > 0))"
