#!/usr/bin/env bash
# labels: slow once
# Under every policy MPI's calls give the same results bit for bit as without cosched; hardly a wait ends late.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/cosched/jobs.bash"

programs=$CLEAVE_BINARY_DIR/tests/programs
for mpi in "${mpis[@]}"; do
  most="2 4"
  [[ $mpi != mpich ]] || most="2 3"  # without cosched it spins: more ranks than CPUs take long
  for ranks in $most; do
    expected=$(mpi_run "$mpi" "$ranks" "$programs/cosched-calls-$mpi" 2>"$work/err") ||
      fail "$mpi, $ranks ranks, without cosched: $(cat "$work/err")"
    for policy in block two-phase adaptive spin; do
      [[ $policy != spin || $ranks == 2 ]] || continue
      got=$(CLEAVE_COSCHED_POLICY=$policy CLEAVE_COSCHED_FREE_SPIN=0 CLEAVE_COSCHED_REPORT=$work/report \
        cosched_run "$mpi" "$ranks" "$programs/cosched-calls-$mpi" 2>"$work/err") ||
        fail "$mpi, $ranks ranks, $policy: exit status: $(cat "$work/err")"
      [[ $got == "$expected" ]] || fail "$mpi, $ranks ranks, $policy: '$got', expected '$expected'"
      [[ ! -s $work/err ]] || fail "$mpi, $ranks ranks, $policy: $(cat "$work/err")"
      late=$(counted ended_late) waits=$(counted waits) sleeps=$(counted sleeps)
      # One may: on a busy machine who rings can be off its CPU for as long as the net waits.
      ((late <= 1 + waits / 1000)) || fail "$mpi, $ranks ranks, $policy: $late of $waits waits ended late"
      case $policy in
        spin) ((sleeps == 0)) || fail "$mpi, $ranks ranks, spin: $sleeps sleeps" ;;
        *) ((sleeps > 0)) || fail "$mpi, $ranks ranks, $policy: no sleep" ;;
      esac
      echo "$mpi, $ranks ranks, $policy: $(cat "$work/report")"
    done
  done

  if [[ $mpi == mpich ]]; then  # a thread of MPI's own looks for messages, too
    expected=$(mpi_run "$mpi" 2 "$programs/cosched-calls-$mpi" 1 2>"$work/err") || fail "$mpi: $(cat "$work/err")"
    got=$(MPICH_ASYNC_PROGRESS=1 cosched_run "$mpi" 2 "$programs/cosched-calls-$mpi" 1 2>"$work/err") ||
      fail "$mpi, a thread of its own: exit status: $(cat "$work/err")"
    [[ $got == "$expected" ]] || fail "$mpi, a thread of its own: '$got', expected '$expected'"
    (($(grep -c "^cosched: a thread of MPI's own looks for messages; " "$work/err") == 2)) ||
      fail "$mpi, a thread of its own: $(cat "$work/err")"
  fi
done
exit "$((failures > 0))"
