#!/usr/bin/env bash
# Finds which Debian/Ubuntu packages are missing for a job and installs them with apt.
# usage: cmake/install-packages.sh JOB…   build, test, mpi, nats, study, bare, check, or a stage of check
# CLEAVE_NO_INSTALL=1: only say what is missing, and stop with status 2. Silent when nothing is.
set -euo pipefail

required=() optional=()
need() { [[ " ${required[*]} " == *" $1 "* ]] || "$2" "$3" || required+=("$1"); }  # package, probe, its argument
want() { [[ " ${optional[*]} " == *" $1 "* ]] || "$2" "$3" || optional+=("$1"); }  # a distribution may lack it
program() { command -v "$1" >/dev/null 2>&1; }
file() { [[ -e $1 ]]; }
header() { [[ -e /usr/include/$1 || -e /usr/local/include/$1 ]]; }

build() {
  need g++ program g++
  need cmake program cmake
  need ninja-build program ninja
  need libcli11-dev header CLI/CLI.hpp
  need libcereal-dev header cereal/cereal.hpp
  need nlohmann-json3-dev header nlohmann/json.hpp
  need libfmt-dev header fmt/format.h
}
# Sites: relays and the plug-in for them.
sites() {
  want nats-server in_sbin nats-server
  want libnats-dev header nats/nats.h
  want libssl-dev header openssl/evp.h
}
in_sbin() { program "$1" || file "/usr/sbin/$1"; }  # /usr/sbin is not in everybody's PATH
tests() {
  build
  sites
  need libgtest-dev header gtest/gtest.h
  need pkg-config program pkg-config
}
# OpenMP comes with GCC and, in the other way, with Clang.
study() {
  build
  need libtbb-dev header tbb/task_group.h
  need libjs-chart.js file /usr/share/javascript/chart.js
  need python3-matplotlib file /usr/lib/python3/dist-packages/matplotlib
  want clang-19 program clang++-19
  want libomp-19-dev file /usr/lib/llvm-19/lib/libomp.so
}
# MPI programs, over both implementations.
mpi() {
  want libopenmpi-dev file "$(echo /usr/lib/*/openmpi/include/mpi.h)"
  want openmpi-bin program mpirun.openmpi
  want libmpich-dev file "$(echo /usr/include/*/mpich/mpi.h)"
  want mpich program mpirun.mpich
}
format() { need clang-format-14 program clang-format-14; }

# What the scripts among the tests run.
scripts() {
  tests
  mpi
  want iproute2 in_sbin ip
  want lammps program lmp
  want python3-mpi4py file /usr/lib/python3/dist-packages/mpi4py
  want chromium program chromium
  sanitizers  # and libFuzzer
}
clang() { tests; want clang-19 program clang++-19; }
sanitizers() {
  clang
  want libclang-rt-19-dev file "$(echo /usr/lib/llvm-19/lib/clang/19/lib/*/libclang_rt.asan-"$(uname -m)".a)"
  want lld-19 program ld.lld-19
}
oldest() { tests; want g++-11 program g++-11; want clang-14 program clang++-14; }
# Another architecture: Debian's libraries for it, beside those of the system.
aarch64() {
  local folder=/usr/lib/aarch64-linux-gnu
  tests
  need g++-aarch64-linux-gnu program aarch64-linux-gnu-g++
  need qemu-user program qemu-aarch64
  need libfmt-dev:arm64 file $folder/libfmt.so
  need libgtest-dev:arm64 file $folder/libgtest.a
  need libnats-dev:arm64 file $folder/libnats.so
  need libssl-dev:arm64 file $folder/libssl.so
}
tidy() {
  scripts
  study
  want clang-tidy-19 program clang-tidy-19
}

case ${CLEAVE_NO_INSTALL:=0} in
  0 | 1) ;;
  *) echo "CLEAVE_NO_INSTALL: expected 0 or 1, got '$CLEAVE_NO_INSTALL'" >&2; exit 2 ;;
esac
known="build, test, mpi, nats, study, bare, check or a stage of check"
(($#)) || { echo "usage: cmake/install-packages.sh JOB…   $known" >&2; exit 2; }
for job; do
  case $job in
    build | study | format | clang | oldest | tidy | aarch64) $job ;;
    mpi) build; mpi ;;
    nats) build; sites ;;
    test | release | debug) tests ;;
    asan | asan_library | tsan | tsan_library | slow_asan | slow_tsan) sanitizers ;;
    slow | timing) scripts ;;
    bare) want debootstrap in_sbin debootstrap ;;
    check) scripts; study; format; clang; oldest; tidy ;;
    *)
      echo "cmake/install-packages.sh: no job \"$job\"; expected $known" >&2
      exit 2
      ;;
  esac
done
((${#required[@]} + ${#optional[@]})) || exit 0

in_apt() { program apt-cache && [[ $(apt-cache policy "$1" 2>/dev/null) =~ Candidate:\ [^\(] ]]; }
lists_are_empty() { ! compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null; }
split_optional() {  # -> available, unavailable
  available=() unavailable=()
  for package in "${optional[@]}"; do
    if in_apt "$package"; then available+=("$package"); else unavailable+=("$package"); fi
  done
}
say_skipped() {
  for package in "${unavailable[@]}"; do
    echo "cleave: apt has no $package here; the checks that need it are skipped"
  done
}

of_arm64() { [[ "${required[*]}" == *:arm64* ]]; }

split_optional
if [[ $CLEAVE_NO_INSTALL == 1 ]]; then
  missing=("${required[@]}" "${available[@]}")
  ((${#missing[@]})) || { say_skipped; exit 0; }
  of_arm64 && first="dpkg --add-architecture arm64 && apt-get update && "
  echo "cleave: missing packages: ${missing[*]} (not installed because CLEAVE_NO_INSTALL=1);" \
    "to install: ${first:-}apt-get install ${missing[*]}" >&2
  exit 2
fi
# Only packages that this release of the distribution does not have: nothing to do, no update.
if ((${#required[@]} + ${#available[@]} == 0)) && ! lists_are_empty; then
  say_skipped
  exit 0
fi

say_none() {
  echo "cleave: not here, and what needs them is skipped: ${optional[*]} (installing them needs $1)"
  exit 0
}
if ! program apt-get; then
  ((${#required[@]})) || say_none apt-get
  echo "cleave: missing: $(echo "${required[@]}" "${optional[@]}"); there is no apt-get here, install them by hand" >&2
  exit 2
fi
as_root=()
if ((EUID != 0)); then
  program sudo || {
    ((${#required[@]})) || say_none "root or sudo"
    missing=$(echo "${required[@]}" "${optional[@]}")
    echo "cleave: missing packages: $missing; installing them needs root or sudo; to install: apt-get install $missing" >&2
    exit 2
  }
  as_root=(sudo)
fi
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@" </dev/null; }

log=$(mktemp)
trap 'rm -f "$log"' EXIT
attempt() {  # quiet unless it fails
  apt "$@" >"$log" 2>&1 && return
  cat "$log" >&2
  echo "cleave: apt-get $* failed" >&2
  exit 2
}
if of_arm64; then "${as_root[@]}" dpkg --add-architecture arm64; fi
attempt update
split_optional
for package in "${required[@]}"; do
  in_apt "$package" || {
    echo "cleave: apt has no package $package (on Ubuntu, is the \"universe\" component enabled?)" >&2
    exit 2
  }
done
say_skipped
missing=("${required[@]}" "${available[@]}")
((${#missing[@]})) || exit 0
echo "cleave: installing with apt: ${missing[*]}"
attempt install -y --no-install-recommends "${missing[@]}"
