#!/usr/bin/env bash
# Builds and runs a program outside the tree against Cleave in each way a user can get it:
# find_package (static and shared library, moved after the installation), pkg-config, and
# add_subdirectory. Run by ctest; by hand: CLEAVE_SOURCE_DIR=$PWD bash tests/packaging/run.sh
# labels: once slow
set -euo pipefail
source_dir=$CLEAVE_SOURCE_DIR
here=$source_dir/tests/packaging
export CXX=${CXX:-c++}
unset DESTDIR CXXFLAGS CMAKE_PREFIX_PATH PKG_CONFIG_PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() { echo "FAILED: $*"; exit 1; }
must() {  # runs a command quietly; shows what it said if it fails
  "$@" >"$work/log" 2>&1 || { cat "$work/log"; fail "$*"; }
}
must_print() {  # how it was built, program
  local printed
  printed=$("$2") || fail "$1: the program exited with $?"
  [[ $printed == "fib(25) = 75025 with cleave $version" ]] || fail "$1: the program printed \"$printed\""
  echo "ok: $1"
}
version=$(sed -n 's/^project(cleave VERSION \([0-9.]*\).*/\1/p' "$source_dir/CMakeLists.txt")

bash "$source_dir/cmake/listings.sh" "$source_dir/docs/install.md" "$work/listings"
must "$CXX" -std=c++20 -x c++ "$work/listings/install-1.cpp" -ldl -o "$work/host"

for kind in static shared; do
  shared=$([[ $kind == shared ]] && echo ON || echo OFF)
  must cmake -G Ninja -S "$source_dir" -B "$work/build-$kind" -DCMAKE_BUILD_TYPE=Release \
    -DBUILD_SHARED_LIBS=$shared -DCLEAVE_BUILD_APPS=OFF -DCLEAVE_BUILD_TESTS=OFF \
    -DCMAKE_INSTALL_PREFIX="$work/first-place-$kind"
  must cmake --build "$work/build-$kind"
  must cmake --install "$work/build-$kind"
  prefix=$work/$kind
  mv "$work/first-place-$kind" "$prefix"
  if grep -rIlE -e "$work/(first|build)" -e "$source_dir" "$prefix" >"$work/log"; then
    cat "$work/log"
    fail "installed files name the build or source folder or the first prefix"
  fi

  must cmake -G Ninja -S "$here/find_package" -B "$work/find_package-$kind" \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix"
  must cmake --build "$work/find_package-$kind"
  must_print "find_package, $kind library" "$work/find_package-$kind/consumer"

  pc=$(find "$prefix" -name cleave.pc)
  [[ -n $pc ]] || fail "no cleave.pc was installed"
  export PKG_CONFIG_PATH=${pc%/*}
  [[ $(pkg-config --modversion cleave) == "$version" ]] || fail "pkg-config --modversion is not $version"
  # As a user with warnings on would.
  # shellcheck disable=SC2046
  must "$CXX" -std=c++20 -O2 -Wall -Wextra -Wpedantic -Werror "$here/consumer/consumer.cpp" \
    $(pkg-config --cflags --libs cleave) -Wl,-rpath,"$(pkg-config --variable=libdir cleave)" \
    -o "$work/pkg-config-$kind"
  must_print "pkg-config, $kind library" "$work/pkg-config-$kind"

  # A library of the user's, loaded by a program and by Python; and with the faster thread-locals.
  for model in global-dynamic initial-exec; do
    # shellcheck disable=SC2046
    must "$CXX" -std=c++20 -O2 -fPIC -shared -ftls-model=$model "$work/listings/install-fibonacci.cc" \
      $(pkg-config --cflags --libs cleave) -Wl,-rpath,"$(pkg-config --variable=libdir cleave)" \
      -o "$work/listings/libfibonacci.so"
    for host in "$work/host" "python3 $work/listings/install-2.py"; do
      # shellcheck disable=SC2086
      printed=$(cd "$work/listings" && $host 2>&1) || fail "$kind library, $model, $host: $printed"
      [[ $printed == 75025 ]] || fail "$kind library, $model, $host: printed \"$printed\""
    done
    echo "ok: loaded by dlopen and ctypes, $kind library, $model"
  done
done

# With the command: it finds what it preloads beside itself, wherever the tree is moved to, and its own library.
must cmake -S "$source_dir" -B "$work/build-shared" -DCLEAVE_BUILD_APPS=ON -DCLEAVE_BUILD_TESTS=OFF
must cmake --build "$work/build-shared" --target cleave cleave_command plugins
must cmake --install "$work/build-shared" --prefix "$work/first-place-command"
mv "$work/first-place-command" "$work/command"
mv "$work/build-shared" "$work/build-moved"
command=$work/command/bin/cleave
[[ $("$command" --help) == *"Usage: cleave "* ]] || fail "the installed cleave does not start"
for mpi in openmpi mpich; do
  [[ -n $(find "$work/command" -name "libcleave-cosched-$mpi.so") ]] || continue
  [[ $("$command" cosched --mpi "$mpi" sh -c 'echo "$LD_PRELOAD"') == "$work/command/"*"/libcleave-cosched-$mpi.so" ]] ||
    fail "the installed cleave does not find its library for $mpi"
  echo "ok: cleave cosched, $mpi"
done

# No third party in the library: only the C and C++ runtime.
strangers=$(readelf -d "$work"/shared/lib*/libcleave.so "$work"/shared/lib/*/libcleave.so 2>/dev/null |
  sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE '^(libstdc\+\+|libm|libgcc_s|libc|libpthread|ld-linux.*|libatomic)\.so' || true)
[[ -z $strangers ]] || fail "libcleave.so needs $strangers"

must cmake -G Ninja -S "$here/add_subdirectory" -B "$work/add_subdirectory" \
  -DCMAKE_BUILD_TYPE=Release -DCLEAVE_TREE="$source_dir"
must cmake --build "$work/add_subdirectory"
must_print "add_subdirectory" "$work/add_subdirectory/consumer"
# A user's build gets the library and nothing else: no applications, no tests, no -Werror, no installation.
[[ -z $(find "$work/add_subdirectory" -path '*/bin/*' -o -name 'test-*') ]] || fail "add_subdirectory builds applications or tests"
must cmake --install "$work/add_subdirectory" --prefix "$work/nothing"
[[ -z $(find "$work/nothing" -type f 2>/dev/null) ]] || fail "add_subdirectory installs files"
echo "ok: nothing else comes along"
