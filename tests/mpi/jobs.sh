#!/usr/bin/env bash
# labels: once slow
# A job and its ends: a rank is killed, the job interrupted, a rank runs another program, several runtimes in one process.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/mpi/launchers.bash"
jobs=$CLEAVE_BINARY_DIR/tests/programs/mpi_jobs
export CLEAVE_WORKERS=1

for mpi in "${mpis[@]}"; do
  launch "$mpi" 2 "$jobs" runtimes
  must_print 'first: 6765, nodes 2' "${command[@]}"
  grep -qx 'second: 6765, nodes 1' "$work/out" || fail "$mpi: a second runtime: $(cat "$work/out")"
  grep -qx 'third: 6765, nodes 1' "$work/out" || fail "$mpi: a third runtime: $(cat "$work/out")"
  launch "$mpi" 2 "$jobs" profile
  must_print 'after it: 6765, nodes 1' "${command[@]}"
  launch "$mpi" 3 "$jobs" published
  must_print 'sum 12497500' "${command[@]}"
  for rank in 1 2; do
    grep -qx "published: rank $rank made them 1 times, wrote them 0 times" "$work/out" || fail "$mpi: $(cat "$work/out")"
  done
  grep -qx "published: rank 0 made them 0 times, wrote them 1 times" "$work/out" || fail "$mpi: $(cat "$work/out")"
  # 8 MB, which go in parts, from rank to rank where several ask at once.
  launch "$mpi" 5 "$jobs" published 2000000
  must_print 'sum 12497500' "${command[@]}"
  grep -qx "published: rank 0 made them 0 times, wrote them 1 times" "$work/out" || fail "$mpi: $(cat "$work/out")"
  [[ $(grep -cE "published: rank [1-4] made them [01] times, wrote them 0 times" "$work/out") == 4 ]] || fail "$mpi: $(cat "$work/out")"
  (($(grep -c "made them 1 times" "$work/out") >= 2)) || fail "$mpi: $(cat "$work/out")"

  # Another program is refused, and the job does without it.
  launch "$mpi" 1 "$bin/queens" 10 : -n 1 "$bin/fib" 20
  must_print 'answer +724 solutions' "${command[@]}"
  grep -q 'runs another program' "$work/err" || fail "$mpi: nothing is said of another program: $(cat "$work/err")"

  launch "$mpi" 1 "$jobs" team : -n 1 "$bin/fib" 20
  must_print 'team of 1' timeout 60 "${command[@]}"

  count=2
  launch "$mpi" $count "$jobs" search
  begin "${command[@]}"
  kill -9 "${pids[1]}"
  ended 10
  [[ $status != 0 ]] || fail "$mpi: a rank was killed, and the job's status is 0"
  grep -qiE 'signal 9|killed' "$work/out" "$work/err" || fail "$mpi: nothing is said of a killed rank"
  begin "${command[@]}"
  kill -INT "$job"
  ended 10
  # MPICH's launcher itself ends with 0 now and then when it is interrupted, whatever its ranks do.
  [[ $status != 0 || $mpi == mpich ]] || fail "$mpi: interrupted, and the job's status is 0"
  begin "${command[@]}"
  kill -INT -- "-$job"  # as a terminal does it: all processes of the group
  ended 10
  [[ $status != 0 || $mpi == mpich ]] || fail "$mpi: interrupted by a terminal, and the job's status is 0"
  (($(wc -l <"$work/err") < 15)) || fail "$mpi: interrupted: $(cat "$work/err")"
  ok "$mpi"
done
exit "$((failures > 0))"
