#!/usr/bin/env bash
# labels: once slow
# A program is the same program however it is compiled, and another one if a task is another; its
# bytes are understood by the other build. Without cereal it compiles and runs, and nothing travels.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
cd "$work"

library=$(ls "$CLEAVE_BINARY_DIR"/src/libcleave.* | head -1)
options=(-std=c++20 -I"$CLEAVE_SOURCE_DIR/include" -I"$CLEAVE_BINARY_DIR/generated/include")
program=$CLEAVE_SOURCE_DIR/tests/travel/two_builds/program.cpp
build() {  # OUTPUT COMPILER OPTION…
  "$2" "${options[@]}" "${@:3}" "$program" -o "$1" "$library" -pthread \
    -Wl,-rpath,"$(dirname "$library")" || fail "$1 does not compile"
}
same() { [[ $1 == "$2" ]] || fail "$3: got '$1', expected '$2'"; }

build plain "$CXX" -O0
build fast "$CXX" -O2 -DNDEBUG
build other "$CXX" -O0 -DOTHER_FIELD
build element "$CXX" -O0 -DOTHER_ELEMENT
build alone "$CXX" -O0 -DCLEAVE_NO_CEREAL

hash=$(./plain hash)
[[ $hash == travels* ]] || fail "hash: '$hash'"
same "$(./plain hash)" "$hash" "the same build again"
same "$(./fast hash)" "$hash" "an optimised build"
[[ $(./other hash) != "$hash" ]] || fail "another field type, and the same hash"
[[ $(./element hash) != "$hash" ]] || fail "another type of field in what a container holds, and the same hash"
same "$(./alone hash | cut -d' ' -f1)" stays "without cereal"

answer="one1two-2a1b27"
same "$(./plain put | ./fast run)" "$answer" "to an optimised build"
same "$(./fast put | ./plain run)" "$answer" "from an optimised build"
same "$(./fast put | ./other run)" unknown "to another program"
for each in plain fast other alone; do
  same "$(./$each here)" "6765 $answer" "$each, in one process"
done
if command -v clang++-14 >/dev/null && [[ $CXX != *clang* ]]; then
  build clang clang++-14 -O1
  same "$(./clang hash)" "$hash" "another compiler"
  same "$(./clang put | ./plain run)" "$answer" "from another compiler"
fi
"$CXX" "${options[@]}" -DCLEAVE_NO_CEREAL -M "$program" | grep -q cereal/ && fail "cereal is not left out"
exit "$((failures > 0))"
