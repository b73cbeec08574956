#!/usr/bin/env bash
# labels: once
# Applications are called by their path: some have the names of a system's commands (sort, compare). No document has a
# reader put their folder in PATH, and none of them is installed.
set -uo pipefail
failures=0
fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}
cd "$CLEAVE_SOURCE_DIR" || exit 1
found=$(grep -rnE 'PATH=.*(build|bin)' --include='*.md' . | grep -vE '^\./build/|_PATH=')
[[ -z $found ]] || fail "a document changes PATH: $found"

installed() {  # the names of programs that `cmake --install` puts somewhere
  find "$CLEAVE_BINARY_DIR" -name cmake_install.cmake -exec cat {} + |
    grep -oE 'TYPE (EXECUTABLE|PROGRAM) FILES .*' | grep -oE '"[^"]+"' | tr -d '"' | sed 's|.*/||' | sort -u
}
[[ $(installed) == *cleave* ]] || fail "cleave is not installed"
for name in $(installed); do
  [[ $name == cleave || $name == cleave-* ]] || fail "$name is installed: a name that is not Cleave's own"
done
exit "$((failures > 0))"
