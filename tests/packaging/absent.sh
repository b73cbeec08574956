#!/usr/bin/env bash
# A machine that lacks an optional package, each alone and then all: what is left is configured and built, or one line
# names the package. In an overlay of this system where the package is removed; needs root, dpkg and overlayfs.
# labels: once slow
set -uo pipefail

if [[ ${CLEAVE_ABSENT_INSIDE:-} != 1 ]]; then
  ((EUID == 0)) && command -v dpkg unshare chroot >/dev/null || { echo "skipped: needs root, dpkg and unshare"; exit 77; }
  CLEAVE_ABSENT_INSIDE=1 exec unshare --mount bash "$0"
fi

layers=$(mktemp -d)
mount -t tmpfs layers "$layers" || exit 77
trap 'umount -R "$layers" 2>/dev/null; rmdir "$layers" 2>/dev/null' EXIT
root=$layers/root build=$layers/build failures=0
mkdir "$root" "$build"

# without NAME PACKAGE…: this system without them, under $root, with the build folder of all in it.
without() {
  local name=$1
  shift
  umount -R "$root" 2>/dev/null
  rm -rf "$layers/upper" "$layers/work"
  mkdir "$layers/upper" "$layers/work"
  mount -t overlay overlay -o "lowerdir=/,upperdir=$layers/upper,workdir=$layers/work" "$root" || exit 77
  for folder in proc sys dev; do mount --rbind /$folder "$root/$folder" && mount --make-rslave "$root/$folder"; done
  mkdir -p "$root$build" "$root$CLEAVE_SOURCE_DIR"
  mount --bind "$build" "$root$build"
  mount --bind "$CLEAVE_SOURCE_DIR" "$root$CLEAVE_SOURCE_DIR"
  local installed=()
  for package; do
    if dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q ' installed'; then installed+=("$package"); fi
  done
  if ((${#installed[@]} == 0)); then
    echo "not installed here at all: $name"
    return
  fi
  chroot "$root" dpkg --remove --force-depends "${installed[@]}" >"$layers/log" 2>&1 </dev/null ||
    { cat "$layers/log"; echo "FAILED: removing ${installed[*]}"; exit 1; }
}

# builds TARGET…: configured and built where the packages are not.
builds() {
  if chroot "$root" cmake -G Ninja -S "$CLEAVE_SOURCE_DIR" -B "$build" -DCMAKE_BUILD_TYPE=Release \
      -DCMAKE_CXX_FLAGS_RELEASE=-O0 -DCLEAVE_BUILD_TESTS=OFF >"$layers/log" 2>&1 </dev/null &&
    chroot "$root" cmake --build "$build" --target "$@" >>"$layers/log" 2>&1 </dev/null; then
    echo "ok: $name"
  else
    tail -n 30 "$layers/log"
    echo "FAILED: without $name"
    ((++failures))
  fi
  rm -f "$build/CMakeCache.txt"  # what was found is looked for again
}

# refuses PATTERN [OPTION…]: not configured; one error, whose text names the package.
refuses() {
  local pattern=$1
  shift
  if chroot "$root" cmake -G Ninja -S "$CLEAVE_SOURCE_DIR" -B "$layers/refused" "$@" >"$layers/log" 2>&1 </dev/null; then
    echo "FAILED: configured without $name"
    ((++failures))
  elif [[ $(grep -c '^CMake Error' "$layers/log") != 1 ]] || ! tr -s ' \n' ' ' <"$layers/log" | grep -q "$pattern"; then
    cat "$layers/log"
    echo "FAILED: without $name: expected one error that names \"$pattern\""
    ((++failures))
  else
    echo "ok: $name is named"
  fi
  chroot "$root" rm -rf "$layers/refused"
}

absent() { name=$1; shift; without "$name" "$@"; }  # sets name, for what is said

charts=(libjs-chart.js) mpis=(libopenmpi-dev libmpich-dev openmpi-bin mpich) clients=(libnats-dev) servers=(nats-server)
tls=(libssl-dev) pkgconfig=(pkg-config pkgconf pkgconf-bin)
absent "Chart.js" "${charts[@]}"; builds cleave_command
absent "nats.c" "${clients[@]}"; builds cleave_command plugins
absent "OpenSSL" "${tls[@]}"; builds cleave_command plugins
absent "Open MPI" libopenmpi-dev openmpi-bin; builds plugins
absent "MPICH" libmpich-dev mpich; builds plugins
absent "every MPI" "${mpis[@]}"; builds plugins
absent "nats-server" "${servers[@]}"; builds cleave_command
absent "GoogleTest" libgtest-dev; builds cleave_command; refuses libgtest-dev
absent "all of them" "${charts[@]}" "${mpis[@]}" "${clients[@]}" "${servers[@]}" "${tls[@]}" "${pkgconfig[@]}" libgtest-dev
builds programs plugins
absent "cereal" libcereal-dev; builds programs plugins
absent "fmt" libfmt-dev; refuses libfmt-dev -DCLEAVE_BUILD_TESTS=OFF
absent "CLI11" libcli11-dev; refuses libcli11-dev -DCLEAVE_BUILD_TESTS=OFF
absent "nlohmann_json" nlohmann-json3-dev; refuses nlohmann-json3-dev -DCLEAVE_BUILD_TESTS=OFF
exit $((failures > 0))
