#!/usr/bin/env bash
# labels: once slow
# The decoder of messages under libFuzzer, from the corpus in tests/protocol/fuzz/corpus, which it does not change.
# CLEAVE_FUZZ_SECONDS (5): how long. Needs a clang with libFuzzer; without one there is nothing to run.
set -euo pipefail
seconds=${CLEAVE_FUZZ_SECONDS:-5}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$CLEAVE_SOURCE_DIR"
for clang in clang++-19 clang++-14 clang++; do
  command -v "$clang" >/dev/null || continue
  "$clang" -std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -Isrc \
    -o "$folder/fuzz" tests/protocol/fuzz/message.cpp src/protocol/message.cpp 2>"$folder/log" && break
done
[[ -x $folder/fuzz ]] || { echo "fuzz_message: no clang with libFuzzer; skipped"; exit 0; }
mkdir "$folder/found"
if ! "$folder/fuzz" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=512 -print_final_stats=1 \
  -artifact_prefix="$folder/" "$folder/found" tests/protocol/fuzz/corpus >"$folder/log" 2>&1; then
  tail -n 50 "$folder/log"
  for input in "$folder"/{crash,oom,timeout,leak}-*; do
    [[ ! -e $input ]] || { echo "input: $(od -An -tx1 "$input" | tr -d '\n')"; }
  done
  exit 1
fi
grep 'stat::number_of_executed_units' "$folder/log"
