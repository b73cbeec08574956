#!/usr/bin/env bash
# labels: slow once
# What is not seen in most programs: tools in front of MPI, error handlers that do not return, files, sockets between ranks of a
# node. Nobody waits for the net, and each sees what it would see without cosched.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/cosched/jobs.bash"

programs=$CLEAVE_BINARY_DIR/tests/programs
export CLEAVE_COSCHED_POLICY=block CLEAVE_COSCHED_FREE_SPIN=0 CLEAVE_COSCHED_REPORT=$work/report
few_late() {  # WHAT
  local late waits
  late=$(counted ended_late) waits=$(counted waits)
  ((late <= 1 + waits / 1000)) || fail "$1: $late of $waits waits ended late"
  echo "$1: $(cat "$work/report")"
}
for mpi in "${mpis[@]}"; do
  [[ $mpi == openmpi || $mpi == mpich ]] || continue
  got=$(cosched_run "$mpi" 2 "$programs/cosched-errors-$mpi" 2>"$work/err")
  [[ $got == "10 thrown, 10 jumped" ]] || fail "$mpi, errors: '$got' $(cat "$work/err")"
  few_late "$mpi, errors"
  (($(counted calls) == 240)) || fail "$mpi, errors: $(counted calls) calls, expected 240: one that was left is not over"

  launch "$mpi" 2 "$programs/cosched-errors-$mpi"
  got=$(LD_PRELOAD=$CLEAVE_BINARY_DIR/tests/programs/libcosched-counts-$mpi.so timeout 60 "$bin/cleave" cosched "${command[@]}" 2>"$work/err")
  [[ $got == $'10 thrown, 10 jumped\ntool: begun 1 times, 70 sends' ]] || fail "$mpi, a tool: '$got' $(cat "$work/err")"
  few_late "$mpi, a tool"

  # A report that only the first rank's environment asks for: the others take part in it.
  rm -f "$work/report"
  # shellcheck disable=SC2016  # the ranks' shells are to expand this
  got=$(cosched_run "$mpi" 2 bash -c '((${OMPI_COMM_WORLD_RANK:-$PMI_RANK} == 0)) || unset CLEAVE_COSCHED_REPORT; exec "$0"' \
    "$programs/cosched-errors-$mpi" 2>"$work/err")
  [[ $got == "10 thrown, 10 jumped" ]] || fail "$mpi, a report of one rank: '$got' $(cat "$work/err")"
  (($(counted calls) == 240)) || fail "$mpi, a report of one rank: $(cat "$work/report")"

  mpi_run "$mpi" 2 "$programs/cosched-files-$mpi" "$work/plain" >/dev/null 2>"$work/err" || fail "$mpi, files: $(cat "$work/err")"
  seconds=$(cosched_run "$mpi" 2 "$programs/cosched-files-$mpi" "$work/under" 2>"$work/err")
  cmp "$work/plain" "$work/under" || fail "$mpi, files: another file: $(cat "$work/err")"
  few_late "$mpi, files in $seconds s"
done
if [[ " ${mpis[*]} " == *" openmpi "* ]]; then
  calls=("$programs/cosched-calls-openmpi" 1 no-windows)  # Open MPI 4.1 has no one-sided calls over TCP
  for ranks in 2 4; do
    expected=$(mpi_run openmpi "$ranks" "${calls[@]}" 2>"$work/err") || fail "$ranks ranks, plain: $(cat "$work/err")"
    got=$(OMPI_MCA_btl=tcp,self cosched_run openmpi "$ranks" "${calls[@]}" 2>"$work/err")
    [[ $got == "$expected" ]] || fail "openmpi, $ranks ranks by sockets: '$got', expected '$expected'"
    few_late "openmpi, $ranks ranks by sockets"
  done
fi
exit "$((failures > 0))"
