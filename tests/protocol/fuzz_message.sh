#!/usr/bin/env bash
# labels: once slow
# The decoder of messages under libFuzzer, from the corpus in tests/protocol/fuzz/corpus.
set -euo pipefail
source "$CLEAVE_SOURCE_DIR/tests/fuzz.bash"
show() { od -An -tx1 | tr -d '\n'; }
build_fuzzer -Isrc tests/protocol/fuzz/message.cpp src/protocol/message.cpp
run_fuzzer tests/protocol/fuzz/corpus -rss_limit_mb=512
