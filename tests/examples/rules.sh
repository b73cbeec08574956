#!/usr/bin/env bash
# labels: once
# The programs of examples/ are short, listed in its README, and take what that says.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
cd "$CLEAVE_SOURCE_DIR/examples"
printed=$(mktemp -d)
trap 'rm -rf "$printed"' EXIT

# Lines of code without the sequential program: its function is named `plain`, and what is no code.
lines_of() {
  awk '/^[a-z].* plain\(.*{/ { inside = 1 }
    !inside && !/^ *(\/\/.*)?$/ { n++ }
    /^}/ { inside = 0 }
    END { print n }' "$1"
}
for file in *.cpp; do
  most=60
  [[ $file == dancing_links.cpp ]] && most=68  # half of them are the links
  (($(lines_of "$file") <= most)) || fail "$file has $(lines_of "$file") lines of code, more than $most"
  grep -q "^- \[${file%.cpp}\]($file)" README.md || fail "README.md does not list $file"
done

program=$CLEAVE_BINARY_DIR/examples/quadrature
[[ $("$program" 5 --compare) =~ ^plain\ [0-9.]+\ s,\ one\ worker\ [0-9.]+\ s,\ ratio\ [0-9.]+$ ]] ||
  fail "--compare prints: $("$program" 5 --compare)"
for arguments in "x" "0" "5 6" "5 --fast" "--compare 5"; do
  "$program" $arguments >"$printed/out" 2>"$printed/err" && fail "quadrature $arguments: status 0"
  [[ $(wc -l <"$printed/err") == 1 && $(<"$printed/err") == *"expected [SIZE] [--workers N] or [SIZE] --compare, got "* ]] ||
    fail "quadrature $arguments: $(<"$printed/err")"
done
exit "$((failures > 0))"
