#!/usr/bin/env bash
# Bad input gets one line and exit status 2; --json prints one object.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"

refuses "queens: N: expected a whole number from 1 to 32, got 'abc'" queens abc
refuses "queens: N: expected a whole number from 1 to 32, got '33'" queens 33
refuses "queens: N: expected a whole number from 1 to 32, got '-1'" queens -1
refuses "queens: N: expected a whole number from 1 to 32, got '8.5'" queens 8.5
refuses "queens: N: expected a whole number from 1 to 32, got '99999999999'" queens 99999999999
refuses "queens: N: expected a whole number from 1 to 32, got nothing" queens
refuses "queens: unexpected argument '9' (see --help)" queens 8 9
refuses "lu: --block: expected with --graph, got without" lu 8 --block 64
refuses "lu: --plan: expected with --graph, got without" lu 8 --plan lu.plan
refuses "lu: --block: expected a multiple of 32, got '65'" lu 8 --graph --block 65
refuses "cholesky: --block: expected a whole number from 32 to 32000, got '0'" cholesky 8 --block 0
refuses "cholesky: --plan: cleave::team_graph: $work: cannot be written: Is a directory" cholesky 8 --plan "$work"
refuses "sort: --dealt: expected a whole number from 1 to 1000, got '1001'" sort 8 --dealt 1001
refuses "sort: --samples: expected a whole number from 1 to 64, got '65'" sort 8 --samples 65
refuses "sort: --samples: expected without --dealt, got both" sort 8 --dealt 2 --samples 2
refuses "queens: --dealt: expected a whole number from 1 to 1000, got '0'" queens 8 --dealt 0
refuses "queens: unknown option '--fast' (--help lists them)" queens 8 --fast
refuses "queens: --workers: expected a whole number from 1 to 1024, got '0'" queens 8 --workers 0
refuses "queens: --workers: expected a value, got nothing" queens 8 --workers
refuses "queens: --workers: expected once, got 2 times" queens 8 --workers 2 --workers 3
refuses "queens: --sequential: expected without --workers, got both" queens 8 --sequential --workers 2
refuses "queens: --sequential: expected without --trace and --profile" queens 8 --sequential --profile
refuses "queens: --sequential: expected without --check, got both" queens 8 --sequential --check 9
refuses "queens: --check: expected a whole number from 1 to 1000000000, got 'x'" queens 8 --check x
refuses "queens: --trace-size: expected a whole number from 1 to 4096, got '0'" queens 8 --trace-size 0
refuses "queens: none/t.json: cannot be written: No such file or directory" queens 8 --trace none/t.json
CLEAVE_TRACE=none/t.json refuses "fib: none/t.json: cannot be written: No such file or directory" fib 3
CLEAVE_ASK=nearest refuses "fib: CLEAVE_ASK: expected near-first, random, two-choices, least-split or relay-random[,N], got 'nearest'" fib 3
CLEAVE_ASK=relay-random,0 refuses "fib: CLEAVE_ASK: relay-random,N: expected a whole number from 1 to 65536, got '0'" fib 3
CLEAVE_WORKERS=many refuses "fib: CLEAVE_WORKERS: expected a whole number from 1 to 1024, got 'many'" fib 3
refuses "uts: TREE: expected one of T1, T1L, T2, T3, T3L, T5, got 'T9'" uts T9
refuses "demo: unexpected argument '3' (see --help)" demo 3
refuses "clique: FILE: expected the name of a graph file, got nothing" clique
refuses "$work/none: expected a readable file that is not empty, got No such file or directory" \
  pentomino --board "$work/none"
refuses "connect4: POSITION: expected a column from 1 to 7 as move 3, got '8'" connect4 448
refuses "connect4: POSITION: expected a column from 1 to 7 as move 1, got 'x'" connect4 x44
refuses "connect4: POSITION: expected a column that is not full as move 7, got '4'" connect4 4444444
refuses "connect4: POSITION: expected a move that does not end the game as move 7, got '4'" connect4 4545454
refuses "connect4: POSITION: expected at most 41 moves, got 42" connect4 \
  312163142523174576721751344752537423456666
refuses "connect4: --table: expected a whole number from 0 to 16384, got '-1'" connect4 4 --table -1
refuses "connect4: --depth: expected a whole number from 1 to 42, got '0'" connect4 4 --depth 0
refuses "sudoku: FILE: expected a word, got nothing" sudoku
refuses "tsp: FILE: expected a file, --random or --grid, got nothing" tsp
refuses "tsp: FILE: expected a file, --random or --grid, got several of them" tsp none --random 5,1
refuses "tsp: --grid: expected a whole number from 2 to 60, got '1'" tsp --grid 1
refuses "tsp: --apart: expected with --tours, got without" tsp --grid 4 --apart
refuses "tsp: --send: expected without --apart, got both" tsp --grid 4 --tours 6 --apart --send one
refuses "tsp: --master: expected without --apart, got both" tsp --grid 4 --tours 6 --apart --master
refuses "tsp: --master: expected with --tours, got without" tsp --grid 4 --master
refuses "tsp: --send: expected --master with 'remaining', got none" tsp --grid 4 --tours 6 --send remaining
refuses "tsp: --tour: expected without --tours, got both" tsp --grid 4 --tours 6 --tour
refuses "tsp: --length: expected with --tours, but for a grid, got nothing" tsp --random 9,1 --tours 6
for text in 5 5, 5,x x,1 2,1 4001,1 5,-1 5,1,1; do
  refuses "tsp: --random: expected CITIES,SEED with 3 to 4000 cities, got '$text'" tsp --random $text
done
refuses "tsp: --start-from: expected a whole number from 1 to 2147483647, got '0'" tsp none --start-from 0
refuses "sudoku: --unique: expected without --all, got both" sudoku none --all --unique

cd "$work"
"$bin/md" 3 --steps 2 --plan whole.plan >/dev/null && head -c 200 whole.plan >cut.plan
[[ $("$bin/md" 3 --plan cut.plan 2>&1) == "md: --plan: cleave::team_graph: cut.plan: at byte "*" of 200: "*": expected "* ]] ||
  fail "md takes a plan that is cut short"
mkdir folder
refuses "md: --plan: cleave::team_graph: folder: cannot be written: Is a directory" md 3 --plan folder
# No room for a plan costs a line and an exit status, and not the answer.
(trap '' XFSZ && ulimit -f 1 && "$bin/md" 6 --steps 2 --plan large.plan) >out 2>err
[[ $? == 1 && $(wc -l <err) == 1 && $(cat err) == *"large.plan: cannot be written"* && ! -e large.plan ]] &&
  grep -q '^answer' out || fail "md with no room for a plan: $(cat out err)"
"$bin/md" 3 --steps 2 --plan /dev/full >out 2>err
[[ $? == 1 && $(<err) == *"/dev/full: cannot be written: No space left on device" ]] && grep -q '^answer' out ||
  fail "md with a plan on a full device: $(cat out err)"
printf 'p edge 3 2\ne 1 2\n' >truncated.clq
refuses "truncated.clq:2: expected 2 edges, as announced, got 1 at the end of the file" clique truncated.clq
printf 'p edge 3 1\ne 1 7\n' >range.clq
refuses "range.clq:2: expected a vertex from 1 to 3, got '7'" clique range.clq
printf 'board\n..x\n' >row.txt
refuses "row.txt:2: expected '.' or '#' in column 3, got 'x'" pentomino --board row.txt

"$bin/clique" --generate keller4 -o keller4.clq || fail "--generate to a file"
"$bin/clique" --generate keller4 | cmp -s - keller4.clq || fail "--generate to standard output"
"$bin/clique" --generate keller4 -o none/keller4.clq 2>err && fail "--generate to no folder"
[[ $(wc -l <err) == 1 ]] || fail "--generate to no folder: $(cat err)"

# prints EXPECTED PROGRAM [ARGUMENT…]: that answer, in one JSON object.
prints() {
  local expected=$1 object
  shift
  object=$("$bin/$1" "${@:2}" --json) || fail "$*: exit status $?"
  [[ $(wc -l <<<"$object") == 1 ]] || fail "$*: more than a line"
  [[ $object == "{\"app\":\"$1\",\"arguments\":{"*"\"answer\":$expected,"*"\"seconds\":"*"\"workers\":"*"\"splits\":"*"\"requests\":"*"\"cpu_seconds\":"*"}" ]] ||
    fail "$*: $object"
  if command -v python3 >/dev/null; then python3 -m json.tool <<<"$object" >/dev/null || fail "$*: not JSON"; fi
}
echo ..34567.9.5678.1.378.12345621.3658.7.6589721.897.1436.5316.297.64.978.31978.316.2 >one.txt
for workers in "--sequential" "--workers 1" "--workers 2" "--workers 4"; do
  prints 6765 fib 20 $workers
  prints 92 queens 8 $workers --repeat 3
  prints 11 clique keller4.clq $workers
  prints 7 connect4 2112211663417344625531 --table 1 $workers
  prints 7 connect4 2112211663417344625531 --table 0 $workers
  prints '["123456789456789123789123456214365897365897214897214365531642978642978531978531642"]' \
    sudoku one.txt $workers
  prints 50730 tsp --random 40,12 $workers
  prints 6 tsp --grid 4 --tours 6 $workers
  prints 6 tsp --grid 4 --tours 6 --apart $workers
  prints 6 tsp --grid 4 --tours 6 --send halving $workers
  prints 6 tsp --grid 4 --tours 6 --master $workers
  prints 6 tsp --grid 4 --tours 6 --master --send remaining $workers
  prints 50730 tsp --random 40,12 --start-from 50800 --tour $workers
  prints '[1]' sudoku one.txt --all $workers
  prints '["unique"]' sudoku one.txt --unique $workers
done
prints 65 pentomino --board "$CLEAVE_SOURCE_DIR/apps/pentomino/boards/8x8-hole.txt"
for app in fib queens pentomino lu compare gravity uts clique matmul sort cholesky md connect4 sudoku tsp demo; do
  "$bin/$app" --help | grep -q '^Usage: ' || fail "$app --help"
done
# A region that is not its own mirror image, and the piece that fills it.
printf 'one-sided\nboard\n#..\n..#\npiece S\n.OO\nOO.\n' >one_sided.txt
prints 1 pentomino --board one_sided.txt

# What is no file stays what it is; a link goes on to lead to its file.
mkfifo pipe && ln -s linked.clq link.clq
cat pipe >through &
reader=$!
"$bin/clique" --generate keller4 -o pipe && wait "$reader" && cmp -s through keller4.clq || fail "--generate to a pipe"
kill "$reader" 2>/dev/null
[[ -p pipe ]] || fail "--generate replaces a pipe"
"$bin/clique" --generate keller4 -o link.clq
[[ -L link.clq ]] && cmp -s linked.clq keller4.clq || fail "--generate replaces a link"
compgen -G '*.part*' && fail "something half-written is left"

# Ctrl-C ends a program at once, and it leaves nothing behind.
set -m # or its programs would ignore SIGINT
mkdir interrupted
TMPDIR=$PWD/interrupted "$bin/demo" >demo.out 2>err &
demo=$!
patiently test -s demo.out || fail "demo prints nothing"
kill -INT "$demo"
wait "$demo"
status=$?
[[ $status == 130 && -z $(ls interrupted) ]] || fail "demo, interrupted: status $status, left $(ls interrupted): $(cat err)"
set +m

# The end is told too, and what is odd in a data file.
"$bin/md" 3 --steps 10 --every 4 --json | grep -q '"steps":\[0,4,8,10\]' || fail "md --every does not tell the end"
refuses "md: --blocks: expected one number or three, got 2" md 3 --blocks 2,1
refuses "md: --dynamic: expected without --synchronous, --plan and --replan" md 3 --dynamic --replan 5
refuses "md: --drop: expected a number as START, got 'whole.data'" md whole.data --drop
refuses "md: --drop: expected without --settings, got both" md 3 --drop --settings none
"$bin/md" 3 --write whole.data || fail "md --write"
sed 's/^108 atoms/100 atoms/' whole.data >fewer.data
[[ $("$bin/md" fewer.data 2>&1) == "fewer.data:116: expected the name of a section, got '101 1 "* ]] || fail "md takes atoms beyond the last"
sed 's/^0 [0-9.]* xlo xhi/0 1e10 xlo xhi/' whole.data >empty.data
[[ $("$bin/md" empty.data 2>&1) == "empty.data:"*": expected a box of at most 5e8 (length cubed) before, got 'Masses'" ]] ||
  fail "md takes a box that is too large: $("$bin/md" empty.data 2>&1)"
size=$(sed -n 's/^0 \([0-9.]*\) xlo xhi/\1/p' whole.data)
awk -v size="$size" '/^Velocities/ {past = 1} /^[0-9]+ 1 / && !past {$3 += 2 * size} {print}' OFMT=%.17g CONVFMT=%.17g whole.data >far.data
known() { "$bin/md" "$1" --steps 20 --json | grep -o '"potential":[^]]*' | grep -oE '[0-9]+\.[0-9]{6}' | tr '\n' ' '; }
[[ -n $(known whole.data) && $(known far.data) == "$(known whole.data)" ]] ||
  fail "md: atoms outside of a periodic box: $(known far.data), expected $(known whole.data)"

CLEAVE_CHECK=1 "$bin/queens" 7 >out || fail "CLEAVE_CHECK=1 queens 7"
grep -q '40 solutions' out || fail "CLEAVE_CHECK=1: $(cat out)"
"$bin/queens" 9 --check 100 --check-seed 7 >out 2>err || fail "queens 9 --check 100"
grep -qx 'splits  *[1-9][0-9]\?0\?' out || fail "--check 100: $(cat out)"
grep -q '^cleave: CLEAVE_CHECK=100 CLEAVE_CHECK_SEED=7: each run' err || fail "--check 100: $(cat err)"
"$bin/queens" 9 --workers 2 --trace t.json --profile >out || fail "--trace --profile"
for row in work span "greedy bound" "time went to" trace; do grep -q "^$row " out || fail "--profile prints no $row: $(cat out)"; done
[[ -s t.json && -z $(compgen -G "t.json.*") ]] || fail "--trace wrote nothing, or half of it"
CLEAVE_TRACE=t2.json "$bin/queens" 9 --workers 2 --profile >/dev/null || fail "CLEAVE_TRACE --profile"
[[ $(grep -c thread_name t2.json) == 2 ]] || fail "CLEAVE_TRACE --profile: the trace is not of the run on two workers"
"$bin/queens" 9 --workers 2 --profile --json | grep -q '"profile":{"work":[0-9.e-]*,"span":' || fail "--profile --json"
exit $((failures > 0))
