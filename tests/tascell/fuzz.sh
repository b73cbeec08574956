#!/usr/bin/env bash
# labels: once slow
# The translator of Tascell programs under libFuzzer, beginning with the programs of apps/tascell.
set -euo pipefail
source "$CLEAVE_SOURCE_DIR/tests/fuzz.bash"
show() { cat -A; }
build_fuzzer -DFMT_HEADER_ONLY -Itools -Itools/cleave tests/tascell/fuzz/translate.cpp \
  tools/cleave/tascell/{bodies,edits,tasks,tokens,translate,variables}.cpp
printf '%s\n' '"task"' '"task_exec"' '"worker"' '"handles"' '"do_two"' '"dynamic_wind"' '"in:"' '"out:"' '"inout:"' '"for (int i : 0, n)"' \
  '"this."' '"(int i1, int i2)"' '"{ }"' '"continue;"' '"struct"' '"const"' '"int"' '"+="' '"++"' >"$fuzz/words"
run_fuzzer apps/tascell -rss_limit_mb=1024 -max_len=4096 -dict="$fuzz/words"
