# For the scripts that need programs of another architecture, after checks.bash: those of the preset aarch64, run by QEMU.
# Skips the script where they are not built.
#   cross                  the build folder of the preset aarch64
#   on_aarch64 COMMAND…    runs it there
cross=$CLEAVE_SOURCE_DIR/build/aarch64
on_aarch64() { qemu-aarch64 "$@"; }
# needs_aarch64 FILE…: these are built for aarch64 and can be run here.
needs_aarch64() {
  local file
  for file; do
    [[ -e $cross/$file ]] && continue
    echo "skipped: no $cross/$file (bash cmake/install-packages.sh aarch64; bash cmake/build.sh aarch64)"
    exit 77
  done
  command -v qemu-aarch64 >/dev/null && return
  echo "skipped: no qemu-aarch64 (Debian: qemu-user)"
  exit 77
}
