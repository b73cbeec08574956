#!/usr/bin/env bash
# How the applications scale: each on 1, 2, 4, … all CPUs that this process may use, and beside it as many copies of its sequential
# program at once, which is the most that the machine can do. In turn, so that a slow minute hits all. Prints a table of medians;
# writes scale.json, and scale.png where matplotlib is.
# usage: bench/scale.sh [--quick] [ROUNDS] [FOLDER OF THE PROGRAMS] [FOLDER OF THE RESULTS]   (3, build/release/bin, build/scale)
set -euo pipefail
cd "$(dirname "$0")/.."
quick=false
if [[ ${1:-} == --quick ]]; then quick=true; shift; fi
rounds=${1:-3} bin=${2:-build/release/bin} results=${3:-build/scale}
refuse() { echo "scale.sh: $*" >&2; exit 2; }
[[ $rounds =~ ^[1-9][0-9]{0,2}$ ]] || refuse "ROUNDS: expected a number from 1 to 999, got '$rounds'"
(($# <= 3)) || refuse "expected at most three arguments, got $#"
[[ -x $bin/queens ]] || refuse "$bin: expected the folder of the programs (make build)"
[[ -x /usr/bin/python3 ]] || refuse "/usr/bin/python3: it is not installed"
mkdir -p "$results" || exit 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset CLEAVE_WORKERS

boards=apps/pentomino/boards puzzles=apps/sudoku/puzzles
if $quick; then
  graph=random:60:50:1
  programs=("fib 25" "queens 9" "pentomino --board $boards/8x8-hole.txt" "compare 3000" "lu 200" "gravity 20" "uts T3"
    "clique $work/graph" "matmul 100" "cholesky 200" "sort 100000" "connect4 --depth 6" "sudoku $puzzles/hard.txt"
    "md 4 --steps 10" "tsp --random 50,13")
else  # about a second each
  graph=random:200:80:1
  programs=("fib 44" "queens 14" pentomino "compare 60000" "lu 3000" "gravity 350" "uts T1" "uts T3" "clique $work/graph"
    "matmul 1800" "cholesky 3000" "sort 20000000" "connect4 444552617265" "sudoku --all $puzzles/many.txt" "md 12 --steps 400"
    "tsp --random 110,1")
fi
"$bin/clique" --generate "$graph" -o "$work/graph"

cpus=$(nproc)
counts=()
for ((n = 1; n < cpus; n *= 2)); do counts+=("$n"); done
counts+=("$cpus")

# once FILE PROGRAM…: what it prints, as a line of that file.
once() {
  "$bin/$2" "${@:3}" --json >"$1" 2>"$1.err" || { echo "scale.sh: ${*:2}: $(cat "$1.err")" >&2; exit 1; }
}
# measured PROGRAM WORKERS COPIES FILE…: lines for scale.py, one for each copy that ran at the same time.
measured() {
  local file
  for file in "${@:4}"; do printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$(cat "$file")" >>"$work/measured"; done
}
copies() {  # N PROGRAM…: the sequential program so often at once; sets `printed`, their files
  local k pids=()
  printed=()
  for ((k = 0; k < $1; ++k)); do
    printed+=("$work/copy$k")
    once "$work/copy$k" "${@:2}" --sequential &
    pids+=($!)
  done
  for k in "${pids[@]}"; do wait "$k" || exit 1; done
}

for ((round = 0; round < rounds; ++round)); do
  for program in "${programs[@]}"; do
    read -ra words <<<"$program"
    name=${program//$work\//} name=${name//apps\/*\//}
    for n in "${counts[@]}"; do
      once "$work/out" "${words[@]}" --workers "$n"
      measured "$name" "$n" 0 "$work/out"
      copies "$n" "${words[@]}"
      measured "$name" 0 "$n" "${printed[@]}"
    done
  done
done
/usr/bin/python3 bench/scale.py "$work/measured" "$results" "$cpus"
