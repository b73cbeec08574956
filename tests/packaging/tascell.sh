#!/usr/bin/env bash
# labels: once slow
# A project outside the tree has a Tascell program translated by the installed command (cleave_tascell), and again when it has
# changed; without the command CMake says what is missing.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
here=$CLEAVE_SOURCE_DIR/tests/packaging/tascell
unset DESTDIR CMAKE_PREFIX_PATH
must() { "$@" >"$work/log" 2>&1 || { cat "$work/log"; echo "FAILED: $*"; exit 1; }; }

must cmake --install "$CLEAVE_BINARY_DIR" --prefix "$work/prefix"
cp "$CLEAVE_SOURCE_DIR/apps/tascell/queens.tc" "$work/program.tc"
must cmake -G Ninja -S "$here" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/prefix" -DPROGRAM="$work/program.tc"
must cmake --build "$work/build"
[[ $("$work/build/translated" 8) == "s = 92" ]] || fail "queens 8: $("$work/build/translated" 8 2>&1)"
sed -i 's/return 1;/return 2;/' "$work/program.tc"
must cmake --build "$work/build"
[[ $("$work/build/translated" 8) == "s = 184" ]] || fail "a change: $("$work/build/translated" 8 2>&1)"
echo 'task' >>"$work/program.tc"
cmake --build "$work/build" >"$work/log" 2>&1 && fail "a mistake is built"
rm -r "$work/build"
find "$work/prefix" -name cleaveTargets\*.cmake -exec sed -i 's/cleave::command/cleave::other/g' {} +
cmake -G Ninja -S "$here" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/prefix" -DPROGRAM="$work/program.tc" >"$work/log" 2>&1 &&
  fail "without the command it is configured"
grep -q 'cleave_tascell: expected the command cleave' "$work/log" || fail "without the command: $(cat "$work/log")"
exit "$((failures > 0))"
