#!/usr/bin/env bash
# labels: once slow
# md prints what LAMMPS prints for the same atoms; and what it does with files that are none.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
cd "$work" || exit 1

# refused EXPECTED: md says that of bad.data, and exits with 2.
refused() {
  "$bin/md" bad.data --steps 1 >out 2>err
  [[ $? == 2 && ! -s out && $(<err) == *"$1"* ]] || fail "bad.data: expected '$1', got: $(cat err)"
}
"$bin/md" 4 --write good.data || fail "--write"
sed 's/^7 1 [^ ]*/7 1 x/' good.data >bad.data && refused "bad.data:22: expected a number, got 'x'"
sed '/^Velocities/,$d' good.data >bad.data && refused "expected a section Velocities"
head -100 good.data >bad.data && refused "expected 256 atoms"
sed 's/1 atom types/2 atom types/' good.data >bad.data && refused "one type of atoms"
sed '/xlo/d' good.data >bad.data && refused "the box"
sed 's/^8 1/7 1/' good.data >bad.data && refused "each atom once, got '7'"
: >bad.data && refused "not empty"
"$bin/md" 4 --write none/x.data 2>err && fail "--write to nowhere"
"$bin/md" good.data --steps 20 --json >a && "$bin/md" 4 --steps 20 --json >b || fail "md good.data"
energies() { sed 's/.*"steps"/"steps"/; s/"computing".*//' "$1"; }
[[ $(energies a) == "$(energies b)" ]] || fail "a file that was written and read is not the same"

command -v lmp >/dev/null || {
  echo "skipped: LAMMPS (lmp) is not installed"
  exit $((failures > 0 ? 1 : 77))
}
# like_lammps FILE: temperature, energies and pressure, at steps 0, 50 and 100.
like_lammps() {
  printf '%s\n' "units lj" "atom_style atomic" "read_data $1" "pair_style lj/cut 2.5" "pair_coeff 1 1 1.0 1.0 2.5" \
    "neighbor 0.3 bin" "neigh_modify every 20 delay 0 check no" "fix 1 all nve" "thermo 50" "run 100" >in.melt
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 lmp -in in.melt -log none >lammps || fail "lmp: $(tail -3 lammps)"
  "$bin/md" "$1" --steps 100 --every 50 --workers 2 >ours || fail "md $1"
  # LAMMPS: step, temperature, potential energy, of molecules, total, pressure.
  paste <(awk '/^ *(0|50|100) +[0-9.]+ /{print $1, $2, $3, $5, $6}' lammps) \
    <(awk '/^ *(0|50|100) +[0-9.]+ /{print $1, $2, $3, $4, $5}' ours) >both
  [[ $(wc -l <both) == 3 ]] || fail "$1: expected three lines: $(cat both)"
  awk '{ for (i = 1; i <= 5; i++) { d = $i - $(i + 5); if (d < 0) d = -d; if (d > 1e-7 * (1 + ($i < 0 ? -$i : $i))) bad = 1 } }
    END { exit bad }' both || fail "$1 is not what LAMMPS says: $(cat both)"
}
"$bin/md" 8 --write eight.data && like_lammps eight.data
# Some atoms are outside of the box, far away.
awk '/^Velocities/ {past = 1} /^[0-9]+ 1 / && !past && $1 % 7 == 0 {$3 += 13 * size; $4 -= 5 * size} /xlo/ {size = $2} {print}' \
  OFMT=%.17g CONVFMT=%.17g eight.data >far.data && like_lammps far.data
data=$CLEAVE_SOURCE_DIR/../shared/data/melt.data.gz
if [[ -r $data ]]; then gzip -dc "$data" | sed '/Pair Coeffs/,/^Atoms/{/^Atoms/!d}' >melt.data && like_lammps melt.data; else echo "skipped: $data is not here"; fi
exit $((failures > 0))
