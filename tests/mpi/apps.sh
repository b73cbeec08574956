#!/usr/bin/env bash
# labels: once slow
# The applications on the ranks of a job: the right answer, printed once, whichever option; bad arguments reported once.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/mpi/launchers.bash"
export CLEAVE_WORKERS=1
"$bin/clique" --generate keller4 -o "$work/keller4.clq" || fail "clique --generate"
water=$CLEAVE_SOURCE_DIR/tests/apps/water
programs=(
  "fib 27" "queens 11" "pentomino --board $CLEAVE_SOURCE_DIR/apps/pentomino/boards/8x8-hole.txt" "uts T1"
  "clique $work/keller4.clq" "connect4 46556234273742455213 --table 0" "connect4 44 --depth 14"
  "sudoku $CLEAVE_SOURCE_DIR/apps/sudoku/puzzles/late.txt" "sudoku $CLEAVE_SOURCE_DIR/apps/sudoku/puzzles/many.txt --all"
  "sudoku $CLEAVE_SOURCE_DIR/apps/sudoku/puzzles/hard.txt --unique" "tsp --random 50,13 --start-from 63000" "tsp --grid 6 --tours 300 --send one"
  "tsp --grid 6 --tours 300 --master --send remaining" "tsp --grid 6 --tours 60 --apart"
  "gravity 50" "compare 3000" "cholesky 256" "lu 256 --graph" "sort 100000 --dealt 3" "sort 100000 --samples 3" "md 6 --steps 30" "md 6 --steps 60 --replan 3" "md 6 --drop --blocks 12,1,2 --steps 60 --replan 3"
  "md $water.data --settings $water.settings --replicate 2,2,2 --steps 30"
)
stay=("lu 256" "matmul 256" "sort 100000")

value() { sed -n "s/.*\"$1\":\(\"[^\"]*\"\|[^,}]*\).*/\1/p" "$work/out"; }
# answers N PROGRAM [ARGUMENT…]: as one process does, in one JSON object that names as many nodes.
declare -A known
answers() {
  local n=$1 words=("${@:2}")
  if [[ ! ${known[${words[*]}]:-} ]]; then
    "$bin/${words[0]}" "${words[@]:1}" --json >"$work/out" || fail "${words[*]}"
    known[${words[*]}]=$(value answer)
  fi
  launch "$mpi" "$n" "$bin/${words[0]}" "${words[@]:1}" --json
  timeout 60 "${command[@]}" >"$work/out" 2>"$work/err" || fail "${command[*]}: exit status $?: $(cat "$work/err")"
  [[ $(wc -l <"$work/out") == 1 ]] || fail "${command[*]}: $(wc -l <"$work/out") lines"
  local answer=$(value answer)  # of a sum of doubles the last digits depend on the order
  [[ ${answer:0:11} == "${known[${words[*]}]:0:11}" ]] || fail "${command[*]}: $(cat "$work/out")"
  [[ $(value nodes) == "$n" ]] || fail "${command[*]}: nodes $(value nodes)"
}
# once N REGEX COMMAND…: ends well and prints one such line.
once() {
  launch "$mpi" "$1" "$bin/$3" "${@:4}"
  timeout 60 "${command[@]}" >"$work/out" 2>"$work/err" || fail "${command[*]}: exit status $?: $(cat "$work/err")"
  [[ $(grep -cE -- "$2" "$work/out") == 1 ]] || fail "${command[*]}: $(cat "$work/out" "$work/err")"
}

for mpi in "${mpis[@]}"; do
  for program in "${programs[@]}"; do answers 2 $program; done
  for n in 1 4; do
    answers "$n" queens 11
    answers "$n" md 6 --steps 60 --replan 3
    answers "$n" md 6 --drop --blocks 12,1,2 --steps 60 --replan 3
  done
  once 2 '^answer +2680' queens 11 --repeat 3
  once 2 '^nodes +2; [0-9]+ tasks crossed, [0-9]+ messages, [0-9]+ bytes$' queens 11
  once 2 '^workers +2$' queens 11
  once 2 '^workers +none' queens 11 --sequential
  once 2 '^span +' queens 9 --profile
  once 2 '^trace +' queens 11 --trace "$work/trace.json"
  [[ -s $work/trace.json ]] || fail "$mpi: no trace"
  for program in "${stay[@]}"; do once 2 '^answer ' $program; done
  # Translated programs, of which lu stays with its matrix.
  once 2 '^r = 196418$' tascell-fib 27
  once 2 '^s = 14200$' tascell-queens 12
  once 2 '^s = 9356$' tascell-pentomino
  once 2 '^r = 11$' tascell-comp 3000
  once 2 '^error = [0-9.]+e-1[5-9]$' tascell-lu 256
  once 2 '^x = -0.43000053339694' tascell-grav 30
  launch "$mpi" 2 "$bin/queens" abc
  timeout 60 "${command[@]}" >"$work/out" 2>"$work/err"
  status=$?
  [[ $status == 2 ]] || fail "${command[*]}: exit status $status"
  [[ $(cat "$work/out" "$work/err" | grep -c "queens: N: expected") == 1 ]] || fail "${command[*]}: $(cat "$work/out" "$work/err")"
  # The processes visit the nodes that one does, if the bound is the same from the beginning.
  once 2 '^answer +no tour is shorter than 62025; bound of the root 61117, gap 1.46 %; 301 nodes$' \
    tsp --random 50,13 --start-from 62025
  CLEAVE_CHECK=1 once 2 '^answer +352' queens 9
  ok "$mpi"
done
exit "$((failures > 0))"
