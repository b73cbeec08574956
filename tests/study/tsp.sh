#!/usr/bin/env bash
# labels: once
# `cleave study tsp` measures each organisation by each rule, with processes and with threads; all rows are there and make
# sense. Nothing here judges a time.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
export CLEAVE_PLUGINS=$CLEAVE_BINARY_DIR/lib
export TMPDIR=$work/scratch
mkdir "$TMPDIR"
small=(--grid 4 --tours 6 --failures 2000)

# rows FILE: what was measured, one a line: organisation, rule, searchers, how many passes.
rows() {
  awk -F'[:,] *' '/^ "cells"/ { take = 1 } !take { next }
    /"organisation"/ { organisation = $2 } /"rule"/ { rule = $2 } /"searchers"/ { searchers = $2 }
    /"runs"/ { counts = 1; passes = 0; next } counts && /]/ { counts = 0; print organisation, rule, searchers, passes } counts { ++passes }' "$1" |
    tr -d '"' | sort
}
# expected PASSES SEARCHERS…
expected() {
  echo "  1 $1"
  local n rule
  for n in "${@:2}"; do
    echo "apart  $n $1"
    for rule in one part halving doubling; do printf '%s\n' "together $rule $n $1" "master $rule $n $1"; done
    echo "master remaining $n $1"
  done
}
# measures NAME PASSES: the data are whole, and the tours and runs are those that `tsp` tells.
measures() {
  local json=$work/$1/tsp.json
  grep -q "\"whole_passes\": $2," "$json" || fail "$1: not $2 whole passes"
  diff <(rows "$json") <(expected "$2" 2 3 | sort) >"$work/diff" || fail "$1: not the rows that are expected: $(cat "$work/diff")"
  grep -qE '^ +(-[0-9.]+|null),?$' "$json" && fail "$1: a value that is below 0, or none"
  [[ -s $work/$1/tsp.html ]] || fail "$1: no page"
}
"$bin/cleave" study tsp "${small[@]}" --searchers 2,3 --passes 2 --threads -o "$work/threads" >"$work/out" 2>"$work/err" </dev/null ||
  fail "--threads: exit status $?: $(cat "$work/err")"
measures threads 2
grep -q '^failed' "$work/out" && fail "$(grep '^failed' "$work/out")"
grep -q '^2 of 2 passes whole' "$work/out" || fail "--threads: $(tail -1 "$work/out")"
alone=$("$bin/tsp" "${small[@]}" --seed 2 --apart --workers 1 --json | sed 's/.*"runs":\([0-9]*\),.*/\1/')
[[ $(awk '/^ "cells"/ { take = 1 } take && /"runs"/ { of = ++cell == 1 } /]/ { of = 0 } of { last = $1 } END { print last }' "$work/threads/tsp.json") == "$alone.0" ]] ||
  fail "pass 2 has not the $alone runs of seed 2"

"$bin/cleave" study tsp "${small[@]}" --quick --searchers 2,3 -o "$work/processes" >"$work/out" 2>"$work/err" </dev/null ||
  fail "processes: exit status $?: $(cat "$work/err")"
measures processes 1
if grep -q '^searchers are threads of one process: ' "$work/out"; then
  echo "no MPI here: threads only"
else
  grep -q '"messages"' "$work/processes/tsp.json" || fail "processes have sent no messages"
fi
grep -q '^failed' "$work/out" && fail "$(grep '^failed' "$work/out")"
[[ -z $(ls "$TMPDIR") ]] || fail "left behind: $(ls "$TMPDIR")"

# A run that fails is told of, and the others count.
mkdir "$work/broken"
cp "$bin/cleave" "$work/broken"
printf '#!/bin/sh\ncase "$*" in *master*) echo no tours here >&2; exit 3;; esac\nexec %q "$@"\n' "$bin/tsp" >"$work/broken/tsp"
chmod +x "$work/broken/tsp"
"$work/broken/cleave" study tsp "${small[@]}" --searchers 2 --rules one --passes 2 --threads -o "$work/broken" >"$work/out" 2>"$work/err" ||
  fail "a broken run: exit status $?: $(cat "$work/err")"
[[ $(grep -c '^failed: master, one with 2 searchers: status 768: no tours here' "$work/out") == 1 ]] || fail "a broken run: $(cat "$work/out")"
grep -q '^2 of 2 passes whole' "$work/out" || fail "a broken run: $(tail -1 "$work/out")"

# Ctrl-C ends it with the whole passes, and it goes on from there.
"$bin/cleave" study tsp "${small[@]}" --searchers 2 --rules one --threads --passes 1000 -o "$work/cut" >"$work/out" 2>&1 &
study=$!
patiently grep -q '"whole_passes": [1-9]' "$work/cut/tsp.json" 2>/dev/null || fail "no pass: $(cat "$work/out")"
kill -INT "$study"
wait "$study"
status=$?
[[ $status == 130 ]] || fail "interrupted: exit status $status: $(cat "$work/out")"
grep -q '"interrupted": true' "$work/cut/tsp.json" || fail "interrupted, it does not say so"
whole=$(sed -n 's/.*"whole_passes": \([0-9]*\),/\1/p' "$work/cut/tsp.json")
sed -i "s/\"passes\": 1000/\"passes\": $((whole + 1))/" "$work/cut/tsp.json"
"$bin/cleave" study tsp --resume -o "$work/cut" >"$work/out" 2>&1 || fail "--resume: exit status $?: $(cat "$work/out")"
grep -q "^$((whole + 1)) of $((whole + 1)) passes whole" "$work/out" || fail "--resume: $(tail -1 "$work/out")"
grep -q '"interrupted"' "$work/cut/tsp.json" && fail "it is still interrupted"
[[ -z $(compgen -G "$work/*/*.part*") ]] || fail "a half-written file"

refuses "cleave: --organisations: expected some of apart, together, master, got 'alone'" cleave study tsp --organisations alone -o "$work/no"
refuses "cleave: --rules: expected some of one, part, halving, doubling, remaining, got 'all'" cleave study tsp --rules all -o "$work/no"
refuses "cleave: --searchers: expected a whole number from 1 to 256, got '0'" cleave study tsp --searchers 0 -o "$work/no"
refuses "cleave: --threads: expected without --mpi, got both" cleave study tsp --threads --mpi mpich -o "$work/no"
refuses "$work/no/tsp.json: expected a readable file that is not empty, got No such file or directory" cleave study tsp --resume -o "$work/no"
echo '{"study": "net"}' >"$work/no/tsp.json"
refuses "$work/no/tsp.json: expected the tsp.json of \`cleave study tsp\`, got no \"study\": \"tsp\"" cleave study tsp --resume -o "$work/no"
echo '{"study": 1}' >"$work/no/tsp.json"
refuses "$work/no/tsp.json: expected the tsp.json of \`cleave study tsp\`, got no \"study\": \"tsp\"" cleave study tsp --resume -o "$work/no"
exit "$((failures > 0))"
