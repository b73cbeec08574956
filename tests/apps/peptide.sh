#!/usr/bin/env bash
# labels: once
# The peptide in water of LAMMPS's examples: its energies term by term, all forces where LAMMPS is installed, and the same
# digits from workers and ranks.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
cd "$work" || exit 1
data=/usr/share/lammps/examples/peptide/data.peptide
if [[ -r $data ]]; then cp "$data" .
elif [[ -r $data.gz ]]; then gzip -dc "$data.gz" >data.peptide
else
  echo "skipped: $data is not here (Debian: apt-get install lammps-examples)"
  exit 77
fi
cp "$CLEAVE_SOURCE_DIR/apps/md/peptide.settings" settings
peptide() { "$bin/md" data.peptide --settings settings --steps 20 "$@"; }

# energies FILE: those of the terms, from --json, a line for each step.
energies() {
  for name in vdwl coul bond angle dihedral improper; do
    sed -n "s/.*\"$name\":\[\([^]]*\)\].*/\1/p" "$1" | tr ',' ' '
  done | awk '{ first = first " " $1; last = last " " $2 } END { print first; print last }'
}
# What LAMMPS prints.
cat >known <<'END'
692.8944849 -7557.771767 16.55720237 36.37265572 15.51904097 1.942558299
696.2260769 -8124.222859 19.62775078 610.2401211 18.18035108 1.229728136
END
# same_digits WHAT: energies of `out` are LAMMPS's to its ten digits.
same_digits() {
  energies out >ours
  paste -d' ' known ours | awk '{ for (k = 1; k <= 6; k++) { d = $k - $(k + 6); if (d * d > 1e-18 * $k * $k) bad = 1 } n += NF }
    END { exit bad || n != 24 }' || fail "$1: $(cat ours), expected $(cat known)"
}
peptide --sequential --json --trajectory plain.lammpstrj >out || fail "peptide"
same_digits "the plain program"
for blocks in 1 2; do
  peptide --workers 2 --blocks "$blocks" --json --trajectory "workers$blocks.lammpstrj" >out || fail "$blocks blocks"
  same_digits "$blocks blocks on two workers"
done
cmp plain.lammpstrj workers2.lammpstrj || fail "forces on two workers"
cp data.peptide kept
sed '1s/.*/a title/; /^Atoms/!s/$/ # a comment/; s/$/\r/' kept >data.peptide
peptide --sequential --json >out || fail "CRLF and comments"
same_digits "CRLF and comments"
cp kept data.peptide
# Copies of the box have as much energy each; the molecules that cross its border are whole in each.
"$bin/md" data.peptide --settings settings --replicate 1,2,1 --steps 20 --workers 2 --json >out || fail "--replicate 1,2,1"
awk '{ for (k = 1; k <= 6; k++) printf "%.10g ", 2 * $k; print "" }' known >twice && mv twice known
same_digits "--replicate 1,2,1"

command -v lmp >/dev/null || {
  echo "skipped: forces; LAMMPS (lmp) is not installed"
  exit $((failures > 0))
}
{
  sed '/^neighbor/q' settings
  printf '%s\n' "read_data data.peptide" "timestep 0.5" "fix 1 all nve" "dump 1 all custom 20 theirs id fx fy fz" \
    "dump_modify 1 format float %.15g sort id" "run 20"
} >in.peptide
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 lmp -in in.peptide -log none >lammps || fail "lmp: $(tail -3 lammps)"
awk 'NF == 4 && $1 + 0 > 0 { print $2, $3, $4 }' theirs >a
awk 'NF == 11 && $1 + 0 > 0 { print $9, $10, $11 }' plain.lammpstrj >b
paste -d' ' a b | awk '{ e = d = 0; for (k = 1; k <= 3; k++) { e += ($k - $(k + 3)) ^ 2; d += $k ^ 2 } if (e > 1e-14 * d) bad++ }
  END { exit bad > 0 || NR != 2 * 2004 }' || fail "forces are not LAMMPS's within 1e-7"
exit $((failures > 0))
