#!/usr/bin/env bash
# labels: once slow
# The translator of Tascell programs under libFuzzer, beginning with the programs of apps/tascell.
# CLEAVE_FUZZ_SECONDS (5): how long. Needs a clang with libFuzzer; without one there is nothing to run.
set -euo pipefail
seconds=${CLEAVE_FUZZ_SECONDS:-5}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$CLEAVE_SOURCE_DIR"
for clang in clang++-19 clang++-14 clang++; do
  command -v "$clang" >/dev/null || continue
  "$clang" -std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -DFMT_HEADER_ONLY -Itools -Itools/cleave \
    -o "$folder/fuzz" tests/tascell/fuzz/translate.cpp tools/cleave/tascell/{bodies,edits,tasks,tokens,translate,variables}.cpp \
    2>"$folder/log" && break
done
[[ -x $folder/fuzz ]] || { echo "fuzz: no clang with libFuzzer; skipped"; exit 0; }
mkdir "$folder/found"
printf '%s\n' '"task"' '"task_exec"' '"worker"' '"handles"' '"do_two"' '"dynamic_wind"' '"in:"' '"out:"' '"inout:"' '"for (int i : 0, n)"' \
  '"this."' '"(int i1, int i2)"' '"{ }"' '"continue;"' '"struct"' '"const"' '"int"' '"+="' '"++"' >"$folder/words"
if ! "$folder/fuzz" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=1024 -max_len=4096 -print_final_stats=1 -dict="$folder/words" \
  -artifact_prefix="$folder/" "$folder/found" apps/tascell >"$folder/log" 2>&1; then
  tail -n 50 "$folder/log"
  for input in "$folder"/{crash,oom,timeout,leak}-*; do
    [[ ! -e $input ]] || { echo "input:"; cat -A "$input"; }
  done
  exit 1
fi
grep 'stat::number_of_executed_units' "$folder/log"
