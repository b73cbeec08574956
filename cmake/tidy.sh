#!/usr/bin/env bash
# Runs clang-tidy on the library, the applications and a file that includes every public header.
# Each once: not as the release preset has them, with applications in two variants.
# usage: cmake/tidy.sh
set -euo pipefail
cd "$(dirname "$0")/.."
build=build/tidy
cmake --preset tidy -DCLEAVE_BUILD_TESTS=ON >/dev/null
mapfile -t files < <(sed -n 's/^ *"file": "\(.*\)",\?$/\1/p' "$build/compile_commands.json" |
  grep -E "^$PWD/(src|apps|examples|bench|tools|sim)/|/all_headers_1\.cpp$" | sort -u)
((${#files[@]})) || { echo "tidy: no files found in $build/compile_commands.json" >&2; exit 1; }
# The analyzer's deep mode takes two thirds of the time.
printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$(nproc)" \
  clang-tidy-19 -p "$build" --quiet --extra-arg=-Xclang --extra-arg=-analyzer-config --extra-arg=-Xclang --extra-arg=mode=shallow 2> >(grep -v " warnings\? generated\.$" >&2)
