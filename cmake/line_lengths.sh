#!/usr/bin/env bash
# Lists the lines that are too long, and fails if there are any: 100 columns in C++, comments and
# all, and 120 in Markdown.
set -euo pipefail
cd "$(dirname "$0")/.."
folders=()
for folder in include src apps examples bench tools sim tests docs; do
  [[ ! -d $folder ]] || folders+=("$folder")
done
export LC_ALL=C.UTF-8  # columns, not bytes
found=0
too_long() {  # columns, file…
  local columns=$1
  shift
  if (($#)) && grep -anHE "^.{$((columns + 1))}" "$@" | sed "s/^\([^:]*:[0-9]*\):.*/\1: more than $columns columns/"; then
    found=1
  fi
}
mapfile -d '' sources < <(find "${folders[@]}" -type f -name '*.[hc]pp' -print0)
mapfile -d '' pages < <(find ./*.md "${folders[@]}" -type f -name '*.md' -print0)
too_long 100 "${sources[@]}"
too_long 120 "${pages[@]}"
exit "$found"
