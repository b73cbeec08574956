#!/usr/bin/env bash
# Runs clang-tidy on the library, the applications and a file that includes every public header.
# usage: cmake/tidy.sh BUILD_FOLDER   (one that has compile_commands.json)
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
mapfile -t files < <(sed -n 's/^ *"file": "\(.*\)",\?$/\1/p' "$build/compile_commands.json" |
  grep -E "^$PWD/(src|apps|bench|tools|sim)/|/all_headers_1\.cpp$" | sort -u)
((${#files[@]})) || { echo "tidy: no files found in $build/compile_commands.json" >&2; exit 1; }
# The commands are GCC's, whose warnings clang need not know. The analyzer's deep mode takes two thirds of the time.
printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$(nproc)" \
  clang-tidy-19 -p "$build" --quiet --extra-arg=-Wno-unknown-warning-option \
  --extra-arg=-Wno-ignored-optimization-argument \
  --extra-arg=-Xclang --extra-arg=-analyzer-config --extra-arg=-Xclang --extra-arg=mode=shallow 2> >(grep -v " warnings\? generated\.$" >&2)
