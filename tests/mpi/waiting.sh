#!/usr/bin/env bash
# labels: timing once slow
# An idle rank takes under 1 % of a CPU, and a message wakes it soon.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/mpi/launchers.bash"

number() { sed -n "s/.*$1 \([0-9.]*\).*/\1/p" "$work/out"; }
for mpi in "${mpis[@]}"; do
  for bell in futex udp; do
    export CLEAVE_MPI_DOORBELL=$bell
    launch "$mpi" 4 "$ranks" idle 2
    must_print 'idle: rank 0 takes 0\..*' "${command[@]}"  # each rank fails by itself above 1 %
    sort "$work/out" | sed "s/^/$mpi, $bell: /"
    launch "$mpi" 2 "$ranks" wake 100
    must_print 'wake: .*' "${command[@]}"
    sed "s/^/$mpi, $bell: /" "$work/out"
    # Six is for a request and its task; this is one message of several on that way.
    beside=$([[ $bell == udp ]] && echo datagram || echo futex)
    ratio=$(number "to the $beside")
    awk "BEGIN { exit !($ratio < 6) }" || fail "$mpi: a message takes $ratio times as long as a $beside"
  done
done
exit "$((failures > 0))"
