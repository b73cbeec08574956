#!/usr/bin/env bash
# Configures a preset and builds it: all of it, or with targets named, just those (then a machine
# without the tests' packages will do, and what is configured already is not configured again).
# usage: cmake/build.sh PRESET [TARGET…]
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift
# Who types `make` edits nothing, as a rule: the library compiles in half the time. Who does, configures by himself
# (`cmake --preset release`). Core is compiled file by file all the same, as it is in packages: its speed is what is promised.
unity=()
[[ $preset != release || -e build/release/build.ninja ]] || unity=("-DCLEAVE_UNITY=graph;node;protocol;travel")
configure() {
  mkdir -p build/logs
  cmake --preset "$preset" "${unity[@]}" "$@" >"build/logs/$preset-configure.log" 2>&1 </dev/null ||
    { cat "build/logs/$preset-configure.log" >&2; exit 1; }
}
if (($# == 0)) || [[ " $* " =~ \ (slow|library)_tests\  ]]; then
  configure -DCLEAVE_BUILD_TESTS=ON
elif [[ ! -e build/$preset/build.ninja || " $* " == *" plugins "* ]]; then  # an MPI may be there now
  if [[ -e build/$preset/build.ninja ]]; then configure; else configure -DCLEAVE_BUILD_TESTS=OFF; fi
fi
cmake --build --preset "$preset" ${1:+--target "$@"}
