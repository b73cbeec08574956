#!/usr/bin/env bash
# labels: once
# md with settings: what it reads of LAMMPS's data files and commands, and what it says of those that it cannot use.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
cd "$work" || exit 1

cp "$CLEAVE_SOURCE_DIR"/tests/apps/water.{data,settings} .
# same WHAT DATA-SCRIPT SETTINGS-SCRIPT: of the files that these make, energies of pairs, charges, bonds, angles, pressure are
# LAMMPS's, after ten steps.
same() {
  sed "$2" water.data >edited.data
  sed "$3" water.settings >edited.settings
  "$bin/md" edited.data --settings edited.settings --steps 10 --sequential >out 2>err || fail "$1: exit status $?: $(cat err)"
  [[ $(awk '$1 == 10 { print $3, $4, $5, $6, $11 }' out) == "0.148650259 -0.08273464568 0.2770498081 0.185234475 -183.6578983" ]] || fail "$1: $(cat out)"
}
same "as they are" "" ""
same "CRLF and comments" 's/$/\r/' 's/$/ # a comment\r/'
same "image flags" '/^[1-6] [12] [12] [-0]/s/$/ 0 -2 +1/' ""
same "no style" 's/ # full//' ""
same "counts that are 0, and room" '/^2 angles/a 0 dihedrals\n0 improper types\n0 crossterms\n2 extra bond per atom' ""
same "coefficients in the data file" '$a \\nPair Coeffs # lj/cut/coul/cut\n\n2 0.046 0.4\n1 0.1521 3.1507\n\nBond Coeffs # harmonic\n\n1 450 0.9572\n\nAngle Coeffs\n\n1 55 104.52' '/_coeff/d'
same "PairIJ Coeffs" '$a \\nPairIJ Coeffs\n\n1 1 0.1521 3.1507\n1 2 0.08364568129915614 1.77535\n2 2 0.046 0.4' '/pair_coeff/d; s/pair_modify.*/pair_modify mix geometric/'
same "the last coefficients count" "" 's/^bond_coeff.*/bond_coeff * 1 1\nbond_coeff 1* 450 0.9572/'
same "a long line" "" 's/^pair_style.*/pair_style lj\/cut\/coul\/cut \&\n  6.0 6.0/'
same "masses in the settings" '/^Masses/,/^2 1.008/d' '$a mass 1 15.9994\nmass 2 1.008'
same "labels of types" 's/^Masses/Atom Type Labels\n\n1 OW\n2 HW\n\nBond Type Labels\n\n1 O-H\n\nMasses/; s/^\([1-6] [12]\) 1 -0.8/\1 OW -0.8/; s/^\([1-6] [12]\) 2 0.4/\1 HW 0.4/; s/^3 1 4 5/3 O-H 4 5/' ""
same "commands that change nothing" "" '$a boundary p p p\nfix 1 all nve\nneighbor 2.0 bin\nneigh_modify delay 5 every 1 check yes\nspecial_bonds charmm\ndielectric 1'
same "velocities" '$a \\nVelocities\n\n1 0 0 0\n3 0 0 0\n2 0 0 0\n4 0 0 0\n5 0 0 0\n6 0 0 0' ""

# bad WHERE EXPECTED DATA-SCRIPT SETTINGS-SCRIPT: md refuses the files that these make, in one line, with status 2.
bad() {
  sed "$3" water.data >edited.data
  sed "$4" water.settings >edited.settings
  "$bin/md" edited.data --settings edited.settings --steps 0 --sequential --trajectory none.xyz >out 2>err
  local status=$?
  [[ $status == 2 && ! -s out && ! -e none.xyz && $(wc -l <err) == 1 && $(<err) == "edited.$1: expected $2"* ]] ||
    fail "md, '$3', '$4': status $status, $(cat err); expected edited.$1: expected $2"
}
bad settings:1 "real or lj, got 'metal'" '' '1s/real/metal/'
bad settings:2 "full or molecular or charge or atomic, got 'bond'" '' '2s/full/bond/'
bad settings:3 "lj/charmm/coul/charmm or lj/cut/coul/cut or lj/cut or none, got 'buck'" '' '3s/lj.*/buck 8/'
bad settings:3 "a distance above 0, got the end of the line" '' '3s/ 6.0//'
bad settings:3 "a distance above 0, got '-6.0'" '' '3s/ 6.0/ -6.0/'
bad settings:3 "the end of the line, got '8'" '' '3s/$/ 7 8/'
bad settings:3 "an outer distance above the inner one, got '8'" '' '3s/lj.*/lj\/charmm\/coul\/charmm 8 8/'
bad settings:4 "a type from 1 to 2, got '3'" '' '4s/1 1/3 3/'
bad settings:4 "an energy, got 'x'" '' '4s/0.1521/x/'
bad settings:4 "a distance of at least 0, got '-1'" '' '4s/3.1507/-1/'
bad settings:4 "the distance that pair_style cuts off at, got '5'" '' '4s/$/ 5/'
bad settings:4 "a second type that is not below the first one, got '1'" '' '4s/1 1/2 1/'
bad settings:6 "arithmetic or geometric, got 'sixthpower'" '' '6s/arithmetic/sixthpower/'
bad settings:7 "harmonic or none, got 'fene'" '' '7s/harmonic/fene/'
bad settings:8 "an energy / distance², got the end of the line" '' '8s/450.*//'
bad settings:8 "the end of the line, got '1'" '' '8s/$/ 1/'
bad settings:9 "harmonic or charmm or none, got 'cosine'" '' '9s/harmonic/cosine/'
bad settings:11 "a time above 0, got '0'" '' '11s/0.5/0/'
bad settings:12 "a command that md knows (units, " '' '$a kspace_style pppm 1e-4'
bad settings:12 "a number from 0 to 1, got '2'" '' '$a special_bonds lj 0 0 2'
bad settings:12 "charmm or amber or " '' '$a special_bonds'
bad settings:12 "nve, got 'nvt'" '' '$a fix 1 all nvt temp 300 300 100'
bad settings:12 "p, got 'f'" '' '$a boundary p p f'
bad settings:12 "every or delay or check, got 'one'" '' '$a neigh_modify one 100'
bad settings "a pair_style, got none" '' '3d'
bad settings "a bond_style, got none" '' '7d'
bad settings:10 "a weight of 0, or pair_style lj/charmm/coul/charmm, got '1'" '4s/^/1 dihedrals\n1 dihedral types\n/; $a \\nDihedrals\n\n1 1 1 2 3 4' '9s/.*/dihedral_style charmm/; 10s/.*/dihedral_coeff 1 1 2 180 1/; $a angle_style harmonic\nangle_coeff 1 55 104.52'
bad data "pair coefficients of type 2, got none" '' '5d'
bad data "bond coefficients of type 1, got none" '' '8d'
bad data "a mass of type 1, got none" '/^Masses/,/^2 1.008/d' ''
bad data "a box at least as long as forces reach, with the skin, got a smaller one" 's/^0 12 xlo/0 7 xlo/' ''
bad data:3 "a number of atoms from 1 to" '3s/6/six/' ''
bad data:5 "no crossterms: a number from 0 to 0, got '1'" '4a 1 crossterms' ''
bad data:5 "atoms, bonds, angles, dihedrals, impropers, or their types" '4a 1 springs' ''
bad data:18 "the atom style full of edited.settings, got 'charge'" 's/# full/# charge/' ''
bad data:20 "the line of an atom of style full (number, molecule, type, charge, x, y, z" '/^[1-6] [12] [12] [-0]/s/^\([1-6]\) [12]/\1/' ''
bad data:20 "a type of atoms from 1 to 2, got '3'" '20s/1 1 1/1 1 3/' ''
bad data:20 "a number, got 'x'" '20s/-0.834/x/' ''
bad data:21 "each atom once, got '1'" '21s/^2/1/' ''
bad data:29 "a type of bonds from 1 to 1, got '2'" '29s/1 1/1 2/' ''
bad data:29 "an atom from 1 to 6, got '7'" '29s/2$/7/' ''
bad data:29 "different atoms of one bond, got '1 1 1 1'" '29s/2$/1/' ''
bad data:29 "the line of a bond (number, type, 2 atoms), got '1 1 1'" '29s/ 2$//' ''
bad data:36 "the line of an angle" '36s/ 3$//' ''
bad data:29 "4 bonds, a line for each" '30,$d' ''
bad data:38 "the name of a section, got 'none'" '$a none' ''
# What is found out while it is computed: md ends with status 1.
wrong() {
  sed "$2" water.data >edited.data
  sed "$3" water.settings >edited.settings
  "$bin/md" edited.data --settings edited.settings --steps 400 --sequential >out 2>err
  local status=$?
  [[ $status == 1 && $(<err) == *"$1"* ]] || fail "md, '$2', '$3': status $status, $(cat out err); expected $1"
}
wrong "atoms that come at most half the skin far from one list of neighbours to the next: at step 400 one had come " \
  "" '$a neigh_modify every 1000'
wrong "all bonded atoms near each other: at step 0 2 terms are not" 's/^0 12/0 40/; s/^6 2 2 0.417 3.7/6 2 2 0.417 23.7/' ""
wrong "energies that are finite: two atoms are at one place" 's/^4 2 1 -0.834 4.0 1.0 1.2/4 2 1 -0.834 1.0 1.0 1.0/' ""
# A melt is the same atoms with settings, too.
"$bin/md" 4 --write edited.data || fail "md --write"
printf '%s\n' "pair_style lj/cut 2.5" "pair_coeff 1 1 1 1" "neigh_modify every 20" >edited.settings
for how in "" "--settings edited.settings"; do
  "$bin/md" edited.data $how --steps 8 --sequential --json | grep -oE '"(temperature|potential|total|pressure)":[^]]*' |
    grep -oE '[-a-z]*[0-9]+\.[0-9]{9}' >"melt$how" || fail "md $how"
done
[[ $(wc -l <melt) == 8 && $(<melt) == "$(<"melt--settings edited.settings")" ]] || fail "a melt with settings: $(cat melt*)"
# Steps in which all blocks do the same at once have the same answer; both say what the rank has done.
cp water.data edited.data && cp water.settings edited.settings
for how in "" --synchronous; do
  "$bin/md" edited.data --settings edited.settings --replicate 2,2,2 --steps 10 --workers 1 $how --json >"out$how" || fail "md $how"
  grep -qE '"computing":\[[0-9.e-]+\],"communicating":\[[0-9.e-]+\],"waiting":\[' "out$how" || fail "md $how: $(cat "out$how")"
done
part() { sed 's/.*\("answer".*\),"computing.*/\1/' "$1"; }
[[ $(part out) == "$(part out--synchronous)" ]] || fail "--synchronous: $(cat out--synchronous), expected $(cat out)"
exit "$((failures > 0))"
