#!/usr/bin/env bash
# labels: once slow
# A rank that has tasks which cannot travel says so once, and which argument is the reason; the job's statistics do too.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/mpi/launchers.bash"
export CLEAVE_WORKERS=1
what='call<.*leaves.*>: argument 1, int const\*, cannot be serialized'
for mpi in "${mpis[@]}"; do
  launch "$mpi" 2 "$CLEAVE_BINARY_DIR/tests/programs/mpi_jobs" stays
  must_print "stayed: $what" "${command[@]}"
  [[ $(grep -cE "^cleave: other nodes ask for work and get none: .*$what" "$work/err") == 1 ]] ||
    fail "$mpi: expected one line on standard error: $(cat "$work/err")"
  launch "$mpi" 2 "$bin/uts" T1 --json
  must_print '.*"tasks_crossed":[1-9].*' "${command[@]}"
  ! grep -q 'get none' "$work/err" || fail "$mpi: a program whose tasks travel is warned of: $(cat "$work/err")"
done
exit "$((failures > 0))"
