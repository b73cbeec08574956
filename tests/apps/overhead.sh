#!/usr/bin/env bash
# labels: once slow
# `overhead` measures what it is asked for, as often as it is told, and says with which flags.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"

cd "$work"
"$bin/overhead" --only fob 2>err
[[ $? == 2 && $(<err) == "overhead: --only: expected one of fib, queens, "*", got 'fob'" && $(wc -l <err) == 1 ]] || fail "--only fob: $(<err)"
number='[0-9]+\.[0-9]{3}'
times="$number \($number-$number\)"
"$bin/overhead" --quick --only fib >table || fail "exit status $?"
grep -qxE "fib +$times +$times +$times +$number +$number +[0-9]+ +.*-O.*" table || fail "a table without fib: $(cat table)"
[[ $(wc -l <table) == 5 ]] || fail "more than fib: $(cat table)"

"$bin/overhead" --rounds 2 --only fib --workers 2 --json >object || fail "--json: exit status $?"
[[ $(wc -l <object) == 1 ]] || fail "--json: more than a line"
grep -qE '"workers":2,"rounds":2,"programs":\[\{"name":"fib","flags":"[^"]*-O[^"]*"(,"(sequential|one_worker|all_workers)_seconds":\[[0-9.e-]+,[0-9.e-]+\]){3},"T1_over_TS":[0-9.]+,"TS_over_TP":[0-9.]+,"splits":\[[0-9]+,[0-9]+\]\}\]' object ||
  fail "--json: $(cat object)"
"$bin/overhead" --calls >calls || fail "--calls: exit status $?"
grep -qxE 'run, nothing divided +[0-9]+ ns' calls || fail "no run: $(<calls)"
[[ $(grep -cxE ' +(2000|10000|40000|200000)( +[0-9]+\.[0-9]{2}){3}' calls) == 4 ]] || fail "no loops: $(<calls)"
exit $((failures > 0))
