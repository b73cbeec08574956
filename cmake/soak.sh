#!/usr/bin/env bash
# The tests again and again, shuffled and with a fresh seed each time, until the time is up or one
# fails. What is random in them reads CLEAVE_TEST_SEED, and does more when CLEAVE_SOAK=1.
# usage: cmake/soak.sh [MINUTES]   (10)
set -euo pipefail
cd "$(dirname "$0")/.."
minutes=${1:-10}
[[ $minutes =~ ^[1-9][0-9]*$ ]] || { echo "soak: MINUTES is \"$minutes\"; expected a whole number above 0" >&2; exit 2; }
presets=(release asan tsan)
for preset in "${presets[@]}"; do bash cmake/build.sh "$preset" all slow_tests; done
CLEAVE_RUNS=50 ctest --preset slow -R '^mpi/killed' || exit 1  # tests/README.md
# Not by ctest: it may take longer than a test may.
if [[ -e build/release/lib/libcleave-nats.so ]]; then
  CLEAVE_RUNS=5 CLEAVE_SOURCE_DIR=$PWD CLEAVE_BINARY_DIR=$PWD/build/release CLEAVE_BIN_DIR=$PWD/build/release/bin \
    bash tests/nats/churn.sh || (($? == 77)) || exit 1
  CLEAVE_RUNS=3 CLEAVE_QUEENS=16 CLEAVE_SOURCE_DIR=$PWD CLEAVE_BINARY_DIR=$PWD/build/release CLEAVE_BIN_DIR=$PWD/build/release/bin \
    bash tests/nats/sites.sh || (($? == 77)) || exit 1
fi
export CLEAVE_SOAK=1 GTEST_SHUFFLE=1
mkdir -p build/logs
round=0
while ((SECONDS < minutes * 60)); do
  ((++round))
  export CLEAVE_TEST_SEED=$((RANDOM * 32768 + RANDOM))
  export GTEST_RANDOM_SEED=$((CLEAVE_TEST_SEED % 99999 + 1))
  for preset in "${presets[@]}"; do
    run=()
    if [[ $preset != release ]] && setarch "$(uname -m)" -R true 2>/dev/null; then run=(setarch "$(uname -m)" -R); fi
    if ! "${run[@]}" ctest --preset "$preset" -LE 'once|timing|deep' >build/logs/soak.log 2>&1 </dev/null; then
      tail -n 200 build/logs/soak.log
      echo "soak: round $round failed in preset $preset; CLEAVE_TEST_SEED=$CLEAVE_TEST_SEED repeats it"
      exit 1
    fi
  done
  echo "soak: round $round passed after $SECONDS s"
done
