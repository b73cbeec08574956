#!/usr/bin/env bash
# labels: once slow
# kill -9 of a rank: the job ends at once and says why; or, where MPI survives it, the others go on. Ctrl-C ends all ranks.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/mpi/launchers.bash"

count=4
for mpi in "${mpis[@]}"; do
  launch "$mpi" $count "$ranks" hang
  begin "${command[@]}"
  kill -9 "${pids[2]}"
  ended 10
  [[ $status != 0 ]] || fail "$mpi: a rank was killed, and the job's status is 0"
  grep -qiE 'signal 9|killed' "$work/out" "$work/err" ||
    fail "$mpi: nothing is said of a killed rank: $(cat "$work/out" "$work/err")"

  begin "${command[@]}"
  kill -INT "$job"
  ended 10
  # MPICH's launcher sometimes says 0 of anything that was interrupted, `sleep` too.
  [[ $status != 0 || $mpi == mpich ]] || fail "$mpi: interrupted, and the job's status is 0"
  ok "$mpi: one killed, all interrupted"

  [[ $mpi == openmpi5 ]] || continue
  for victim in 1 2 3; do
    launch "$mpi" $count "$ranks" survive
    begin "${command[0]}" --with-ft ulfm --mca coll ^han "${command[@]:1}"
    sleep "0.$RANDOM"
    kill -9 "${pids[victim]}"
    ended 30
    [[ $(grep -c "rank $victim is gone" "$work/out") == 3 ]] || fail "not told of rank $victim: $(cat "$work/out" "$work/err")"
    [[ $(grep -c "went on" "$work/out") == 3 ]] || fail "not all went on without rank $victim: $(cat "$work/out" "$work/err")"
  done
  ok "$mpi: a killed rank is survived"
done
exit "$((failures > 0))"
