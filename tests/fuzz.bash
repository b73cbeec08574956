# For scripts among the tests that run something under libFuzzer, from a corpus which is not changed.
#   build_fuzzer OPTION|SOURCE…  compiles it with the first clang that has libFuzzer; without one the script ends, with nothing
#                                to run
#   run_fuzzer CORPUS OPTION…    runs it for CLEAVE_FUZZ_SECONDS (5), prints how many inputs there were; where it fails, what
#                                it said and the inputs as `show` prints them from standard input
# Sets `fuzz`, a folder that is gone at the end.
fuzz=$(mktemp -d)
trap 'rm -rf "$fuzz"' EXIT
cd "$CLEAVE_SOURCE_DIR"

build_fuzzer() {
  local clang
  for clang in clang++-19 clang++-14 clang++; do
    command -v "$clang" >/dev/null || continue
    "$clang" -std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -o "$fuzz/fuzz" "$@" \
      2>"$fuzz/log" && return
  done
  echo "$(basename "$0" .sh): no clang with libFuzzer; skipped"
  exit 0
}
run_fuzzer() {
  local input
  mkdir "$fuzz/found"
  if ! "$fuzz/fuzz" -max_total_time="${CLEAVE_FUZZ_SECONDS:-5}" -timeout=5 -print_final_stats=1 "${@:2}" \
    -artifact_prefix="$fuzz/" "$fuzz/found" "$1" >"$fuzz/log" 2>&1; then
    tail -n 50 "$fuzz/log"
    for input in "$fuzz"/{crash,oom,timeout,leak}-*; do
      [[ ! -e $input ]] || echo "input: $(show <"$input")"
    done
    exit 1
  fi
  grep 'stat::number_of_executed_units' "$fuzz/log"
}
