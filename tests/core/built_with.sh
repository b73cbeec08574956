#!/usr/bin/env bash
# labels: once
# A program built with a macro that changes the layout of the standard library's types does not link, and the linker
# names the macro.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
cd "$work"

library=$(ls "$CLEAVE_BINARY_DIR"/src/libcleave.* | head -1)
options=(-std=c++20 -I"$CLEAVE_SOURCE_DIR/include" -I"$CLEAVE_BINARY_DIR/generated/include")
printf '#include <cleave/task_group.hpp>\nint main() {}\n' >program.cpp
build() { "$CXX" "${options[@]}" "$@" program.cpp -o program "$library" -pthread 2>err; }

build && ./program || fail "as the library: $(cat err)"
build -DNDEBUG -D_GLIBCXX_ASSERTIONS && ./program || fail "with macros that change no layout: $(cat err)"
for macro in _GLIBCXX_DEBUG=1 _GLIBCXX_USE_CXX11_ABI=0; do
  build "-D$macro" && fail "-D$macro links"
  name=${macro%=1}
  grep -q "undefined.*built_with${name/=/_}'" err || fail "-D$macro: $(cat err)"
done

for header in runtime published remote_error; do  # by way of task.hpp and bytes.hpp
  echo "#include <cleave/$header.hpp>" | "$CXX" "${options[@]}" -x c++ -M - | grep -c 'cleave/detail/built_with\.hpp' >/dev/null ||
    fail "cleave/$header.hpp does not include built_with.hpp"
done
exit "$((failures > 0))"
