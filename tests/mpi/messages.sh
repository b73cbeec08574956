#!/usr/bin/env bash
# labels: once slow
# Messages over each MPI with 1, 2 and 4 ranks: in order, whole, of any size, both ways at once, in parts, by each doorbell.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/mpi/launchers.bash"

for mpi in "${mpis[@]}"; do
  launch "$mpi" 1 "$ranks" ring 10
  must_print alone "${command[@]}"
  for n in 2 4; do
    launch "$mpi" "$n" "$ranks" ring 500
    must_print "ring: $n ranks, 500 rounds" "${command[@]}"
    for setting in CLEAVE_MPI_DOORBELL=futex CLEAVE_MPI_DOORBELL=udp CLEAVE_MPI_PART=65537; do
      launch "$mpi" "$n" "$ranks" exchange "$((seed = RANDOM * 32768 + RANDOM))" $((16 / n)) $((64 << 20))
      must_print "exchange: seed $seed, .*" env "$setting" "${command[@]}"
    done
  done
  # Nothing but parts, of a few bytes.
  launch "$mpi" 2 "$ranks" exchange 1 50 5000
  must_print "exchange: seed 1, .*" env CLEAVE_MPI_PART=7 "${command[@]}"
  ok "$mpi"
done
exit "$((failures > 0))"
