#!/usr/bin/env bash
# Formats every source file in place; with --check only says what is not formatted, and fails.
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -d '' files < <(for folder in include src apps examples bench tools sim tests docs; do
  [[ ! -d $folder ]] || find "$folder" -type f \( -name '*.hpp' -o -name '*.cpp' \) -print0
done)
((${#files[@]})) || { echo "format: no source files found" >&2; exit 1; }
if [[ ${1:-} == --check ]]; then
  clang-format-14 --dry-run -Werror "${files[@]}"
else
  clang-format-14 -i "${files[@]}"
fi
