#!/usr/bin/env bash
# What `make test` and `make check` run, stage by stage. A stage that fails does not stop the others, nothing is
# ever tried twice, and the last line says how many checks passed and failed.
# usage: cmake/test.sh STAGE…   stages: release format slow timing clang oldest asan asan_library tsan tsan_library
#   slow_asan slow_tsan tidy study debug aarch64
set -uo pipefail
cd "$(dirname "$0")/.."
logs=build/logs
mkdir -p "$logs"
passed=0 failed=0 summary=()

record() {  # name, seconds, what happened
  local line
  line=$(printf '  %-16s %5s s  %s' "$1" "$2" "$3")
  summary+=("$line")
}

check() {  # name, command…: one check that passes or fails as a whole; its output only if it fails
  local name=$1 start=$SECONDS
  shift
  echo "== $name"
  if "$@" >"$logs/$name.log" 2>&1 </dev/null; then
    ((++passed))
    record "$name" $((SECONDS - start)) ok
  else
    tail -n 200 "$logs/$name.log"
    ((++failed))
    record "$name" $((SECONDS - start)) "FAILED, see $logs/$name.log"
    return 1
  fi
}

skip() { echo "== $1: skipped, $2"; record "$1" - "skipped, $2"; }

configure_and_build() { bash cmake/build.sh "$@"; }

fixed_addresses() {  # GCC's sanitizers may not start under strong address randomisation
  if setarch "$(uname -m)" -R true 2>/dev/null; then setarch "$(uname -m)" -R "$@"; else "$@"; fi
}

run_tests() {  # preset: every test counts by itself
  local preset=$1 start=$SECONDS log=$logs/$1-tests.log status=0 run=() bad total
  echo "== $preset-tests"
  [[ $preset == *asan* || $preset == *tsan ]] && run=(fixed_addresses)
  # One more than CPUs, as some tests wait; those that judge a time run alone all the same.
  "${run[@]}" ctest --preset "$preset" -j $(($(nproc) + 1)) >"$log" 2>&1 </dev/null || status=$?
  # "97% tests passed, 1 tests failed out of 40"
  read -r bad total < <(sed -n 's/.*tests passed, \([0-9]*\) tests\? failed out of \([0-9]*\)$/\1 \2/p' "$log")
  if [[ -z ${total:-} ]]; then bad=1 total=1; fi
  if ((status != 0 && bad == 0)); then bad=1; fi
  ((passed += total - bad, failed += bad))
  if ((bad)); then
    tail -n 400 "$log"
    record "$preset-tests" $((SECONDS - start)) "$bad of $total FAILED, see $log"
  else
    record "$preset-tests" $((SECONDS - start)) "$total tests"
  fi
}

preset() { check "$1-build" configure_and_build "$@" && run_tests "$1"; }  # PRESET [TARGET…]

build_of_release() {  # what the scripts compare
  cmake --preset release -DCLEAVE_BUILD_TESTS=ON &&
    cmake --build --preset release --target cleave_command sim plugins nats_crossing
}
of_release() {  # SCRIPT: of tests/, with the release build
  local build=$PWD/build/release
  CLEAVE_SOURCE_DIR=$PWD CLEAVE_BINARY_DIR=$build CLEAVE_BIN_DIR=$build/bin bash "tests/$1"
}

stage() {
  case $1 in
    format)
      check line_lengths bash cmake/line_lengths.sh
      if command -v clang-format-14 >/dev/null; then check format bash cmake/format.sh --check
      else skip format "no clang-format-14"; fi ;;
    release | study) preset "$1" ;;
    debug) preset debug all slow_tests ;;
    asan | asan_library | tsan | tsan_library | slow_asan | slow_tsan)
      if ! command -v clang++-19 >/dev/null; then skip "$1" "no clang++-19"
      elif [[ $1 == asan_library ]]; then check "$1-build" configure_and_build asan_library library_tests && run_tests "$1"
      elif [[ $1 == tsan_library ]]; then check "$1-build" configure_and_build tsan library_tests && run_tests "$1"
      elif [[ $1 == slow_* ]]; then check "$1-build" configure_and_build "${1#slow_}" all slow_tests && run_tests "$1"
      else preset "$1"; fi ;;
    slow)  # of the release build
      check slow-build configure_and_build release all slow_tests && run_tests slow ;;
    timing)  # of the release build, one at a time
      check timing-build configure_and_build release all slow_tests && run_tests timing ;;
    clang)
      if command -v clang++-19 >/dev/null; then preset clang all slow_tests
      else skip clang "no clang++-19"; fi ;;
    oldest)
      if command -v g++-11 >/dev/null; then preset gcc11
      else skip gcc11 "no g++-11"; fi
      if command -v clang++-14 >/dev/null; then preset clang14
      else skip clang14 "no clang++-14"; fi ;;
    # QEMU adds a line to what a fault prints: the preset leaves out the test that nothing is printed.
    aarch64)  # its programs beside those of the release build, too
      if ! command -v aarch64-linux-gnu-g++ >/dev/null; then skip aarch64 "no aarch64-linux-gnu-g++"
      elif ! command -v qemu-aarch64 >/dev/null; then skip aarch64 "no qemu-aarch64"
      elif preset aarch64; then
        check aarch64-release build_of_release &&
          check aarch64-sim of_release sim/architectures.sh &&
          check aarch64-nats of_release nats/architectures.sh
      fi ;;
    tidy)
      if ! command -v clang-tidy-19 >/dev/null; then skip tidy "no clang-tidy-19"
      else check tidy bash cmake/tidy.sh; fi ;;
    *) echo "cmake/test.sh: no stage \"$1\"; expected release, slow, timing, format, clang, oldest, asan, asan_library, tsan, tsan_library, slow_asan, slow_tsan, tidy, study, debug, aarch64" >&2; exit 2 ;;
  esac
}

for name in "$@"; do stage "$name"; done

echo
echo "What ran, in $SECONDS s:"
printf '%s\n' "${summary[@]}"
echo "$passed passed, $failed failed" | tee "$logs/result"
((failed == 0 && passed > 0))
