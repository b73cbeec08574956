#!/usr/bin/env bash
# labels: once slow
# What a program says when it is started as a rank: bad arguments and a missing plug-in once; nothing is loaded for one process.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/mpi/launchers.bash"

# says_once REGEX COMMAND…: one rank says it, the job fails.
says_once() {
  local status
  timeout 60 "${@:2}" >"$work/out" 2>"$work/err"
  status=$?
  [[ $status == "${expected:-2}" ]] || fail "${*:2}: exit status $status"
  [[ $(cat "$work/out" "$work/err" | grep -cE -- "^cleave: $1") == 1 ]] || fail "${*:2}: $(cat "$work/out" "$work/err")"
}

for mpi in "${mpis[@]}"; do
  launch "$mpi" 3 "$ranks" fish
  says_once "expected ring, exchange, .*, got 'fish'" "${command[@]}"
  launch "$mpi" 3 "$ranks" ring 10 --transport fish
  says_once "--transport: expected mpi, openmpi, openmpi5, mpich, nats or none, got 'fish'" "${command[@]}"
  launch "$mpi" 3 "$ranks" ring 10
  says_once "no plug-in libcleave-mpi-[a-z0-9]+.so in $work " env CLEAVE_PLUGINS="$work" "${command[@]}"
  says_once "CLEAVE_MPI_DOORBELL: expected futex or udp, got 'bell'" env CLEAVE_MPI_DOORBELL=bell "${command[@]}"
  says_once "CLEAVE_MPI_PART: expected a whole number from 1 to 1073741824, got '0'" env CLEAVE_MPI_PART=0 "${command[@]}"
  for setting in "CLEAVE_TRACE_SIZE=0" "CLEAVE_STACK=0" "CLEAVE_CHECK=x" "CLEAVE_CUTOFF=x" "CLEAVE_TRANSPORT=x" "CLEAVE_WORKERS=0"; do
    launch "$mpi" 3 "$CLEAVE_BINARY_DIR/tests/programs/mpi_jobs" search
    says_once "${setting%=*}: expected .*, got '${setting#*=}'" env "$setting" "${command[@]}"
  done
  launch "$mpi" 2 "$ranks" ring --transport=none
  must_print alone "${command[@]}"
  [[ $(wc -l <"$work/out") == 2 ]] || fail "--transport none: $(cat "$work/out")"
  must_print alone env CLEAVE_TRANSPORT=none "${command[@]:0:${#command[@]}-1}"
done
# Many ranks that are told the same mistake: the launcher ends, whichever ranks it has started by then.
for mpi in "${mpis[@]}"; do
  launch "$mpi" 32 "$ranks" fish
  for ((k = 0; k < 5; ++k)); do says_once "expected ring, exchange, .*, got 'fish'" "${command[@]}"; done
done
# A rank that is alone on its host lets the first one, on another host, end before it.
begun=${EPOCHREALTIME/./}
OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_LOCAL_SIZE=1 "$ranks" fish >"$work/out" 2>&1
((${EPOCHREALTIME/./} - begun >= 500000)) || fail "a rank other than the first one has ended at once: $(cat "$work/out")"
# A start that takes long: what is waited for is said once; here for a rank that is stopped.
said() { grep -qx "$1" "$work/err"; }
for mpi in "${mpis[@]}"; do
  launch "$mpi" 2 bash -c '[[ ${OMPI_COMM_WORLD_RANK-}${PMI_RANK-} != 1 ]] || { echo $$ >"$1"; kill -STOP $$; }; exec "$0" ring 10' \
    "$ranks" "$work/stopped"
  CLEAVE_START_PATIENCE=1 timeout 120 "${command[@]}" >"$work/out" 2>"$work/err" &
  job=$!
  patiently said "cleave: MPI has not started for 1 s: rank 0 waits for all 2 ranks" || fail "$mpi, a rank that is late: $(cat "$work/err")"
  sleep 2
  kill -CONT "$(cat "$work/stopped")"
  wait "$job" || fail "$mpi, a rank that is late: exit status $?: $(cat "$work/out" "$work/err")"
  [[ $(wc -l <"$work/err") == 1 ]] || fail "$mpi, a rank that is late: $(cat "$work/err")"
done
# One that is gone, where that ends the job of itself nowhere but here.
if [[ " ${mpis[*]} " == *" openmpi5 "* ]]; then
  launch openmpi5 3 bash -c '[[ $OMPI_COMM_WORLD_RANK != 1 ]] || kill -9 $$; exec "$0" ring 10' "$ranks"
  CLEAVE_START_PATIENCE=2 timeout 60 "${command[0]}" --with-ft ulfm "${command[@]:1}" >"$work/out" 2>"$work/err"
  status=$?
  [[ $status != 0 && $status != 124 && $(grep '^cleave' "$work/err") == "cleave: MPI has not started for 2 s: rank 0 waits for all 3 ranks; \
of the 3 on this host, counted from 0, gone: 1; the job ends" ]] || fail "a rank that is gone: status $status: $(cat "$work/err")"
fi
# The wrong MPI: each rank would be alone.
if [[ " ${mpis[*]} " == *" openmpi "*" mpich "* ]]; then
  launch openmpi 2 "$ranks" ring 10 --transport mpich
  says_once "the launcher started 2 ranks and MPI knows 1: the plug-in was built for another MPI \(MPICH .*" "${command[@]}"
fi

# Not launched: nothing is loaded, and only a wish for MPI is refused.
LD_DEBUG=files "$ranks" ring >"$work/out" 2>"$work/err" || fail "alone: exit status $?"
! grep -qiE 'mpi-|libmpi' "$work/err" || fail "a process that is alone loads MPI"
"$ranks" ring --transport mpi >"$work/out" 2>"$work/err"
[[ $? == 2 && $(wc -l <"$work/err") == 1 ]] || fail "--transport mpi without a launcher: $(cat "$work/err")"
exit "$((failures > 0))"
