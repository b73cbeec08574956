#!/usr/bin/env bash
# Files that are legal are read, however they are written; of any other, the line is named that is wrong.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
cd "$work" || exit 1

cat >two.data <<'END'
two atoms

2 atoms
1 atom types

0 7 xlo xhi
0 7 ylo yhi
0 7 zlo zhi

Masses

1 1

Atoms # atomic

1 1 1 1 1
2 1 2.2 2.2 2.2

Velocities

1 0 0 0
2 0.5 0 0
END
# edited SED-SCRIPT [BASE] [FILE]
edited() { sed "$1" "${2:-two.data}" >"${3:-edited.data}"; }

# two_atoms WHAT: edited.data is read, as the same two atoms.
two_atoms() {
  "$bin/md" edited.data --steps 0 --sequential --json >out 2>err || fail "md, $1: exit status $?: $(cat err)"
  [[ $(<out) == *'"temperature":[0.0833333'*'"potential":[-0.02449955'*'"total":[0.03800044'*'"pressure":[-3.91664'* ]] ||
    fail "md, $1: $(cat out)"
}
# At a distance of 1.2 √3, the energy of an atom is 2 (r⁻¹² − r⁻⁶); LAMMPS prints these figures, too.
edited '' && two_atoms "as it is"
edited 's/$/\r/' && two_atoms "CRLF"
edited 's/ # atomic//' && two_atoms "no atom style"
edited '/^[12] 1 [12]/s/$/ 0 -1 +2/' && two_atoms "image flags"
edited '/^[12] 1 [12]/s/ / +/g' && two_atoms "+"
edited 's/^0 7 zlo zhi/&\n0.0 0 -0 xy xz yz/' && two_atoms "a tilt of 0"
edited 's/^1 atom types/&\n0 bonds\n0 bond types/' && two_atoms "no bonds"
edited 's/$/ # a comment/; s/atomic # a comment/atomic/; 1s/.*//' && two_atoms "comments"
edited 's/ /\t /g; 4,$s/$/\n\n/' && two_atoms "tabs and empty lines"
edited 's/^1 1$/&\n\nPair Coeffs # lj\/cut\n\n1 1 1/' && two_atoms "coefficients"
edited 's/^1 1 1 1 1$/1 1 15 -6 701/' && two_atoms "an atom outside of the box"
edited 's/^1 0 0 0$/1 1e-400 0 -1e-400/' && two_atoms "numbers that are too small"
{ sed -n '1,15p;17p' two.data && sed -n '16p;18,$p' two.data | head -c -1; } >edited.data && two_atoms "another order, no newline at the end"
# One atom has no temperature; LAMMPS says so, too.
edited 's/^2 atoms/1 atoms/; /^2 1 2/d; /^1 0 0 0/d; s/^2 0.5/1 0.5/'
"$bin/md" edited.data --steps 10 --every 10 --workers 2 --json >out 2>err || fail "md, one atom: $(cat err)"
[[ $(<out) == *'"temperature":[0.0,0.0],"potential":[0.0,0.0],"total":[0.0,0.0],"pressure":[0.0,0.0]'* ]] || fail "md, one atom: $(cat out)"
edited 's/^2 1 .*/2 1 1 1 1/'
"$bin/md" edited.data --steps 1 --sequential >out 2>err
[[ $? == 1 && $(wc -l <err) != 0 && $(<err) == *"right is energies that are finite: two atoms are at one place"* ]] ||
  fail "md, two atoms at one place: $(cat err)"

# bad_data LINE EXPECTED SED-SCRIPT: md refuses the file that this makes, and names the line (0: the file).
bad_data() {
  edited "$3"
  "$bin/md" edited.data --steps 0 --sequential >out 2>err
  local status=$? where=edited.data:$1:
  [[ $1 != 0 ]] || where=edited.data:
  [[ $status == 2 && ! -s out && $(wc -l <err) == 1 && $(<err) == "$where expected $2"* ]] ||
    fail "md, $3: status $status, $(cat err); expected $where expected $2"
}
bad_data 3 "a number of atoms from 1 to 100000000, got 'x'" 's/^2 atoms/x atoms/'
bad_data 3 "a number of atoms" 's/^2 atoms/0 atoms/'
bad_data 3 "a number of atoms" 's/^2 atoms/99999999999999999999 atoms/'
bad_data 3 "atoms, atom types" 's/^2 atoms/2 atomz/'
bad_data 9 "the number of atoms before" '3d'
bad_data 4 "one type of atoms: from 1 to 1, got '2'" 's/^1 atom types/2 atom types/'
bad_data 5 "no bonds: a number from 0 to 0, got '1'" '5s/^/1 bonds/'
bad_data 9 "a box at right angles" '9s/^/0 0 0.5 xy xz yz/'
bad_data 9 "a number" '9s/^/0 0 nan xy xz yz/'
bad_data 9 "atoms, atom types" '9s/^/1 0 0 avec/'
bad_data 6 "a number, got 'inf'" 's/^0 7 xlo/0 inf xlo/'
bad_data 6 "a number, got '1e999'" 's/^0 7 xlo/0 1e999 xlo/'
bad_data 6 "a box at least 2.8 long" 's/^0 7 xlo/7 0 xlo/'
bad_data 6 "xlo xhi, ylo yhi or zlo zhi" 's/xlo xhi/xlo yhi/'
bad_data 9 "the box (xlo xhi and so on) before" '/ylo/d'
bad_data 10 "a box of at most 5e8" 's/^0 7 xlo/-1e10 7 xlo/'
bad_data 12 "1 1: the mass of the only type" 's/^1 1$/1 2/'
bad_data 12 "1 1: the mass" 's/^1 1$/1/'
bad_data 14 "the atom style atomic, got 'charge'" 's/# atomic/# charge/'
bad_data 14 "the atom style atomic, got 'hybrid sphere bond'" 's/# atomic/# hybrid sphere bond/'
bad_data 16 "the line of an atom of style atomic" '/^[12] 1 [12]/s/ 1 / 1 0.5 /' # charge, without saying so
bad_data 16 "the line of an atom of style atomic" '/^[12] 1 [12]/s/$/ 0/'
bad_data 17 "the line of an atom of style atomic" '/^2 1 2/s/$/ 0 0 0/'
bad_data 16 "a whole number from" '/^[12] 1 [12]/s/$/ 0.5 0.5 0.5/'               # style line, without saying so
bad_data 17 "the only type of atoms, from 1 to 1, got '2'" 's/^2 1 2/2 2 2/'
bad_data 17 "the number of an atom from 1 to 2, got '3'" 's/^2 1 2/3 1 2/'
bad_data 17 "each atom once, got '1'" 's/^2 1 2/1 1 2/'
bad_data 16 "a number, got '1,0'" 's/^1 1 1 1 1/1 1 1,0 1 1/'
bad_data 16 "a number, got '+-1'" 's/^1 1 1 1 1/1 1 +-1 1 1/'
bad_data 16 "a number, got '0x1'" 's/^1 1 1 1 1/1 1 0x1 1 1/'
bad_data 16 "a number, got 'nan'" 's/^1 1 1 1 1/1 1 nan 1 1/'
bad_data 16 "an atom at most 1000 boxes away from the box" 's/^1 1 1 1 1/1 1 1e17 1 1/'
bad_data 16 "an atom at most 1000 boxes away" 's/^1 1 1 1 1/1 1 1 1 -7100/'
bad_data 16 "2 atoms, a line for each, got the end of the file" '17,$d'
bad_data 18 "the number of an atom" '17d'
bad_data 17 "the name of a section, got '2 1 2.2 2.2 2.2'" 's/^2 atoms/1 atoms/'
bad_data 21 "the velocity of an atom" 's/^1 0 0 0/1 0 0/'
bad_data 19 "Atoms, Velocities, Masses or Pair Coeffs # lj/cut, got 'Bonds'" 's/^Velocities/Bonds/'
bad_data 10 "Atoms, Velocities, Masses or Pair Coeffs # lj/cut, got 'Pair Coeffs # buck'" '10s/^/Pair Coeffs # buck\n\n1 1 1 1\n/'
bad_data 12 "1 1 1 2.5: depth and width" '10s/^/Pair Coeffs # lj\/cut\n\n1 1 1 3\n/'
bad_data 23 "each section once" '$s/$/\nAtoms\n/'
bad_data 17 "a section Velocities, got the end of the file" '18,$d'
bad_data 21 "2 atoms, a line for each, got the end of the file" '22,$d'
bad_data 1 "the number of atoms, got the end of the file" '2,$d'
bad_data 0 "a readable file that is not empty, got an empty file" 'd'

# A graph: DIMACS's queen5_5 has each edge in both directions, and so many lines are announced.
graph() { printf '%s\n' "$@" >edited.clq; }
# a_triangle WHAT: edited.clq is read, as that.
a_triangle() {
  "$bin/clique" edited.clq --sequential --json >out 2>err || fail "clique, $1: exit status $?: $(cat err)"
  grep -q '"answer":3,.*"clique":\[1,2,3\]' out || fail "clique, $1: $(cat out)"
}
graph "p edge 3 6" "e 1 2" "e 1 3" "e 2 1" "e 2 3" "e 3 1" "e 3 2" && a_triangle "both directions, the lines counted"
graph "p col 3 3" "e 1 2" "e 1 3" "e 2 1" "e 2 3" "e 3 1" "e 3 2" && a_triangle "both directions, the edges counted"
graph "p edge 4 4" "e 1 2" "e 1 2" "e 1 3" "e 3 2" && a_triangle "an edge twice"
graph "c" "" "p edge +4 3" $'e\t1 +2\r' "  e 1 3" "c e 1 4" "e 2 3  " && a_triangle "blanks, +, CRLF, comments"
{ graph "p edge 3 3" "e 1 2" "e 1 3" && printf 'e 2 3' >>edited.clq; } && a_triangle "no newline at the end"

# bad_graph LINE EXPECTED TEXT…: clique refuses that graph, and names the line.
bad_graph() {
  graph "${@:3}"
  "$bin/clique" edited.clq --sequential >out 2>err
  local status=$?
  [[ $status == 2 && ! -s out && $(<err) == "edited.clq:$1: expected $2" ]] ||
    fail "clique, ${*:3}: status $status, $(cat err); expected edited.clq:$1: expected $2"
}
bad_graph 1 "a number of edges from 0 to 6, got '7'" "p edge 3 7"
bad_graph 1 "a number of vertices from 1 to 4096, got '0'" "p edge 0 0"
bad_graph 1 "a number of vertices from 1 to 4096, got '99999999999'" "p edge 99999999999 0"
bad_graph 1 "'p edge VERTICES EDGES', got 'p edge 3'" "p edge 3"
bad_graph 1 "'p edge VERTICES EDGES', got 'p cnf 3 3'" "p cnf 3 3"
bad_graph 1 "'p edge VERTICES EDGES' before the first edge, got an edge" "e 1 2"
bad_graph 2 "one 'p' line, got a second one" "p edge 3 3" "p edge 3 3"
bad_graph 2 "a vertex from 1 to 3, got '0'" "p edge 3 1" "e 0 2"
bad_graph 2 "a vertex from 1 to 3, got '-1'" "p edge 3 1" "e 1 -1"
bad_graph 2 "two different vertices, got 'e 2 2'" "p edge 3 1" "e 2 2"
bad_graph 2 "'e VERTEX VERTEX', got 'e 1 2 0.5'" "p edge 3 1" "e 1 2 0.5"
bad_graph 2 "a line that starts with 'c', 'p' or 'e', got 'n 1 7'" "p edge 3 1" "n 1 7" # a weight
bad_graph 3 "1 edges, as announced, got one more" "p edge 3 1" "e 1 2" "e 1 3"
bad_graph 3 "3 edges, as announced, got 2 at the end of the file" "p edge 3 3" "e 1 2" "e 1 3"
bad_graph 4 "4 edges, as announced, got 3 at the end of the file, of which 2 differ" "p edge 3 4" "e 1 2" "e 1 3" "e 3 1"
bad_graph 1 "'p edge VERTICES EDGES', got no such line" "c nothing"

# bad_board LINE EXPECTED TEXT…: the same of pentomino; \n begins a line.
bad_board() {
  printf '%b' "$3" >edited.txt
  "$bin/pentomino" --board edited.txt --sequential >out 2>err
  local status=$? where=edited.txt:$1:
  [[ $1 != 0 ]] || where=edited.txt:
  [[ $status == 2 && ! -s out && $(<err) == "$where expected $2" ]] ||
    fail "pentomino, $3: status $status, $(cat err); expected $where expected $2"
}
row=$(printf '.%.0s' {1..1025})
bad_board 1 "'board', 'piece NAME [xCOUNT]', 'pentominoes' or 'one-sided', got 'bored'" 'bored\n..'
bad_board 2 "a drawing of at most 1024 cells, got more" "board\n$row"
bad_board 1 "a drawing with at least one '.', got none" 'board\n\n'
bad_board 3 "one board, got a second one" 'board\n..\nboard\n..'
bad_board 3 "a piece of at most 17 cells, got 18" 'board\n..\npiece X\nOOOOOOOOOOOOOOOOOO'
bad_board 3 "a piece whose cells hang together, got one in parts" 'board\n..\npiece X\nO.O'
bad_board 3 "a count from 1 to 1000, got '0'" 'board\n..\npiece X x0\nO'
bad_board 3 "a count such as 'x2', got '2'" 'board\n..\npiece X 2\nO'
bad_board 131 "at most 64 kinds of pieces, got one more" "board\n..\n$(printf 'piece X\\nO\\n%.0s' {1..65})"
bad_board 0 "pieces that cover 2 cells, got 0" 'board\r\n..\r\n'
bad_board 0 "a region of at least one cell, got 0" 'pentominoes'
printf 'board\r\n..\r\npiece X x+2\r\nO' >edited.txt
"$bin/pentomino" --board edited.txt --sequential --json >out 2>err && grep -q '"answer":1,' out || fail "pentomino, CRLF: $(cat out err)"

# bad_puzzle LINE EXPECTED TEXT: the same of sudoku.
bad_puzzle() {
  printf '%b' "$3" >edited.txt
  "$bin/sudoku" edited.txt --sequential >out 2>err
  local status=$?
  [[ $status == 2 && ! -s out && $(<err) == "edited.txt:$1: expected $2" ]] ||
    fail "sudoku, $3: status $status, $(cat err); expected edited.txt:$1: expected $2"
}
empty=$(printf '.%.0s' {1..81})
rows=$(printf '.........\\n%.0s' {1..4})
bad_puzzle 1 "81 characters, or 9 as a row of a grid, got 80" "${empty:1}\n"
bad_puzzle 3 "81 characters, or 9 as a row of a grid, got 82" "# a comment\n$empty\n$empty.\n"
bad_puzzle 1 "a digit or '.' as character 3, got 'x'" "12x${empty:3}\n"
bad_puzzle 2 "a digit or '.' as character 1, got '-'" "123456789\n-........\n"
bad_puzzle 5 "9 characters, as row 5 of a grid, got 81" "$rows$empty\n"
bad_puzzle 4 "9 rows of a grid, got 4 at the end of the file" "$rows"
bad_puzzle 2 "a puzzle, got none at the end of the file" "# nothing\n\n"
# a_puzzle WHAT TEXT: sudoku reads it, as 123456789 in the first row of one puzzle.
a_puzzle() {
  printf '%b' "$2" >edited.txt
  "$bin/sudoku" edited.txt --sequential --json >out 2>err && grep -q '"answer":\["123456789[1-9]*"\],' out ||
    fail "sudoku, $1: $(cat out err)"
}
a_puzzle "81 characters" "123456789${empty:9}"
zeros=${empty//./0}
a_puzzle "zeros, CRLF, a comment" "# 1\r\n\r\n123456789${zeros:9}\r\n"
a_puzzle "a grid" "123456789\n$rows$rows"

# bad_cities LINE EXPECTED SED-SCRIPT [BASE]: the same of tsp, and of a file that it takes as it is.
cat >four.tsp <<'END'
NAME: four
TYPE: TSP
DIMENSION: 4
EDGE_WEIGHT_TYPE: EXPLICIT
EDGE_WEIGHT_FORMAT: FULL_MATRIX
EDGE_WEIGHT_SECTION
0 1 2 3 1 0 4 5
2 4 0 6
3 5 6 0
EOF
END
cat >three.tsp <<'END'
DIMENSION : 3
EDGE_WEIGHT_TYPE : EUC_2D
NODE_COORD_SECTION
1 0 0
2 3 4
3 0 4
END
[[ $("$bin/tsp" four.tsp --canonical) == 14 && $("$bin/tsp" three.tsp --canonical) == 12 ]] || fail "tsp takes no good file"
bad_cities() {
  edited "$3" "${4:-four.tsp}" edited.tsp
  "$bin/tsp" edited.tsp --sequential >out 2>err
  local status=$? where=edited.tsp:$1:
  [[ $1 != 0 ]] || where=edited.tsp:
  [[ $status == 2 && ! -s out && $(<err) == "$where expected $2" ]] ||
    fail "tsp, $3: status $status, $(cat err); expected $where expected $2"
}
types="EUC_2D, CEIL_2D, GEO, ATT or EXPLICIT"
formats="FULL_MATRIX, UPPER_ROW, LOWER_ROW, UPPER_DIAG_ROW, LOWER_DIAG_ROW, UPPER_COL, LOWER_COL, UPPER_DIAG_COL or LOWER_DIAG_COL"
keywords="NAME, TYPE, COMMENT, DIMENSION, EDGE_WEIGHT_TYPE, EDGE_WEIGHT_FORMAT, NODE_COORD_TYPE, DISPLAY_DATA_TYPE, \
NODE_COORD_SECTION, EDGE_WEIGHT_SECTION, DISPLAY_DATA_SECTION or EOF"
bad_cities 2 "TSP, the symmetric problem, got 'ATSP'" '2s/TSP/ATSP/'
bad_cities 3 "a number of cities from 3 to 4000, got '2'" '3s/4/2/'
bad_cities 3 "a number of cities from 3 to 4000, got ''" '3s/ 4//'
bad_cities 4 "$types, got 'MAN_3D'" '4s/EXPLICIT/MAN_3D/'
bad_cities 5 "$formats, got 'HALF_MATRIX'" '5s/FULL/HALF/'
bad_cities 1 "TWOD_COORDS or NO_COORDS, got 'THREED_COORDS'" '1s/.*/NODE_COORD_TYPE: THREED_COORDS/'
bad_cities 2 "no edges that are fixed, got FIXED_EDGES_SECTION" '2s/.*/FIXED_EDGES_SECTION\n1 2\n-1/'
bad_cities 2 "$keywords, got 'CAPACITY'" '2s/.*/CAPACITY: 7/'
bad_cities 6 "$keywords, got '0'" '6d'
bad_cities 5 "DIMENSION before, got EDGE_WEIGHT_SECTION" '3d'
bad_cities 5 "EDGE_WEIGHT_TYPE before, with $types, got EDGE_WEIGHT_SECTION" '4d'
bad_cities 5 "EDGE_WEIGHT_FORMAT before, with $formats, got EDGE_WEIGHT_SECTION" '5d'
bad_cities 6 "NODE_COORD_SECTION, as the type is GEO, got EDGE_WEIGHT_SECTION" '4s/EXPLICIT/GEO/'
bad_cities 6 "EDGE_WEIGHT_SECTION, as the type is EXPLICIT, got NODE_COORD_SECTION" '6s/.*/NODE_COORD_SECTION/'
bad_cities 7 "length 3 of 16, from 0 to 100000000, got 'x'" '7s/2/x/'
bad_cities 7 "length 3 of 16, from 0 to 100000000, got '-2'" '7s/2/-2/'
bad_cities 7 "length 3 of 16, from 0 to 100000000, got '2.5'" '7s/2/2.5/'
bad_cities 7 "length 8 of 16, from 0 to 100000000, got '100000001'" '7s/5/100000001/'
bad_cities 8 "a symmetric matrix, in which row 3 has 2 in column 1, got 3" '8s/2/3/'
bad_cities 10 "length 16 of 16, from 0 to 100000000, got 'EOF'" '9s/ 0$//'
bad_cities 9 "16 lengths, got one more: '7'" '9s/$/ 7 8/'
bad_cities 10 "$keywords, got '7'" '10s/^/7\n/'
bad_cities 8 "16 lengths, got the end of the file" '9,$d'
bad_cities 5 "EDGE_WEIGHT_SECTION, got the end of the file" '6,$d'
bad_cities 10 "one section of lengths, got a second one" '10s/^/EDGE_WEIGHT_SECTION\n/'
bad_cities 10 "DIMENSION before the section of the lengths, got DIMENSION" '10s/^/DIMENSION: 5\n/'
bad_cities 0 "a readable file that is not empty, got an empty file" 'd'
bad_cities 5 "the line of city 2 of 3: a number, x and y, got '2 3'" '5s/ 4//' three.tsp
bad_cities 5 "the line of city 2 of 3: a number, x and y, got '2 3 4 5'" '5s/$/ 5/' three.tsp
bad_cities 5 "a city's number from 1 to 3, got '4'" '5s/2/4/' three.tsp
bad_cities 5 "each city once, got '1'" '5s/2/1/' three.tsp
bad_cities 5 "a coordinate, got 'nan'" '5s/3/nan/' three.tsp
bad_cities 6 "cities at most 100000000 apart, got 1 and 2" '5s/3/1e9/' three.tsp
bad_cities 5 "3 cities, got the end of the file" '6d' three.tsp
bad_cities 2 "NODE_COORD_SECTION, got the end of the file" '3,$d' three.tsp

# What is no such file at all.
for app in "md" "clique" "pentomino --board" "sudoku" "tsp"; do
  read -ra words <<<"$app"
  refuses "/dev/null: expected a readable file that is not empty, got an empty file" "${words[@]}" /dev/null
  refuses "$work: expected a readable file that is not empty, got Is a directory" "${words[@]}" "$work"
  refuses "/dev/zero:1: expected a line of at most 1048576 characters, got a longer one" "${words[@]}" /dev/zero
done
exit "$((failures > 0))"
