#!/usr/bin/env bash
# labels: once
# `cleave study md` measures both ways, with workers and with each MPI, and simulates them; all rows are there and make sense.
# Nothing here judges a time.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
export CLEAVE_PLUGINS=$CLEAVE_BINARY_DIR/lib
export TMPDIR=$work/scratch
mkdir "$TMPDIR"

# rows FILE: what was measured, one a line: by, nodes, way, how many passes.
rows() {
  awk -F'[:,] *' '/^ "cells"/ { take = 1 } /^ "timelines"/ { take = 0 } !take { next }
    /^   "by"/ { by = $2 } /^   "nodes"/ { nodes = $2 } /^   "way"/ { way = $2 }
    /^   "seconds"/ { counts = 1; passes = 0; next } counts && /]/ { counts = 0; print by, nodes, way, passes } counts { ++passes }' "$1" |
    tr -d '"' | sort
}
# expected PASSES BY…
expected() {
  local by n how
  for n in 1 3 27; do printf '%s\n' "simulated $n dependences $1" "simulated $n synchronous $1" "simulated $n without barrier $1"; done
  for how in dynamic "initial plan" "improved plan"; do
    for n in 3 27; do echo "simulated $n $how $1"; done
    for by in "${@:2}"; do [[ $by == workers ]] || echo "$by 2 $how $1"; done
  done
  printf '%s\n' "workers 1 dependences $1" "workers 1 synchronous $1"
  for by in "${@:2}"; do printf '%s\n' "$by 2 dependences $1" "$by 2 synchronous $1"; done
}
# measures NAME PASSES BY…: the data are whole.
measures() {
  local json=$work/$1/md.json
  grep -q "\"whole_passes\": $2," "$json" || fail "$1: not $2 whole passes"
  diff <(rows "$json") <(expected "${@:2}" | sort) >"$work/diff" || fail "$1: not the rows that are expected: $(cat "$work/diff")"
  grep -qE '^ +(-[0-9.]+|null),?$' "$json" && fail "$1: a value that is below 0, or none"
  grep -q '"blocks": 27,' "$json" || fail "$1: not 27 blocks"
  [[ -s $work/$1/md.html ]] || fail "$1: no page"
}
"$bin/cleave" study md --quick --nodes 1,3,27,99 --passes 2 --mpi none -o "$work/workers" >"$work/out" 2>"$work/err" </dev/null ||
  fail "workers: exit status $?: $(cat "$work/err")"
measures workers 2 workers
grep -q '^failed' "$work/out" && fail "$(grep '^failed' "$work/out")"
grep -q '^2 of 2 passes whole' "$work/out" || fail "workers: $(tail -1 "$work/out")"

"$bin/cleave" study md --quick --nodes 1,3,27 -o "$work/ranks" >"$work/out" 2>"$work/err" </dev/null ||
  fail "ranks: exit status $?: $(cat "$work/err")"
mapfile -t mpis < <(sed -n '/^  "mpis"/,/]/s/^   "\(.*\)",*$/\1/p' "$work/ranks/md.json")
measures ranks 1 workers "${mpis[@]}"
grep -q '^failed' "$work/out" && fail "$(grep '^failed' "$work/out")"
[[ -z $(ls "$TMPDIR") ]] || fail "left behind: $(ls "$TMPDIR")"

# A run that fails is told of, and the others count; so does one with another answer.
mkdir "$work/broken"
cp "$bin/cleave" "$work/broken"
printf '#!/bin/sh\ncase "$*" in *"workers 2"*synchronous*) echo no atoms here >&2; exit 3;;\n*"workers 2"*) exec %q 6 --steps 3 --workers 2 --json;; esac\nexec %q "$@"\n' "$bin/md" "$bin/md" >"$work/broken/md"
chmod +x "$work/broken/md"
"$work/broken/cleave" study md --quick --nodes 1 --mpi none -o "$work/broken" >"$work/out" 2>"$work/err" ||
  fail "a broken run: exit status $?: $(cat "$work/err")"
grep -q '^failed: melt, 2 workers, synchronous: status 768: no atoms here' "$work/out" || fail "a broken run: $(cat "$work/out")"
grep -q '^failed: melt, 2 workers, dependences: another answer: ' "$work/out" || fail "another answer: $(cat "$work/out")"

# Ctrl-C ends it with the whole passes, and it goes on from there.
"$bin/cleave" study md --quick --nodes 1 --ranks 1 --mpi none --passes 1000 -o "$work/cut" >"$work/out" 2>&1 &
study=$!
patiently grep -q '"whole_passes": [1-9]' "$work/cut/md.json" 2>/dev/null || fail "no pass: $(cat "$work/out")"
kill -INT "$study"
wait "$study"
status=$?
[[ $status == 130 ]] || fail "interrupted: exit status $status: $(cat "$work/out")"
grep -q '"interrupted": true' "$work/cut/md.json" || fail "interrupted, it does not say so"
whole=$(sed -n 's/.*"whole_passes": \([0-9]*\),/\1/p' "$work/cut/md.json")
sed -i "s/\"passes\": 1000/\"passes\": $((whole + 1))/" "$work/cut/md.json"
"$bin/cleave" study md --resume -o "$work/cut" >"$work/out" 2>&1 || fail "--resume: exit status $?: $(cat "$work/out")"
grep -q "^$((whole + 1)) of $((whole + 1)) passes whole" "$work/out" || fail "--resume: $(tail -1 "$work/out")"
[[ -z $(compgen -G "$work/*/*.part*") ]] || fail "a half-written file"

refuses "cleave: --systems: expected some of bpti, lysozyme, peptide, peptides, melt, got 'water'" cleave study md --systems water -o "$work/no"
refuses "cleave: --systems: bpti: no --proteins" cleave study md --systems bpti -o "$work/no"
refuses "cleave: --systems: peptide: no $work/none" cleave study md --systems peptide --peptide "$work/none" -o "$work/no"
refuses "cleave: --mpi: expected some of openmpi, mpich, none, got 'mine'" cleave study md --mpi mine -o "$work/no"
refuses "cleave: --nodes: expected a whole number from 1 to 4096, got '0'" cleave study md --nodes 0 -o "$work/no"
refuses "cleave: --transport: expected --network too" cleave study md --quick --transport mpich -o "$work/no"
refuses "$work/none: expected a readable file that is not empty, got No such file or directory" cleave study md --quick --network "$work/none" -o "$work/no"
refuses "$work/no/md.json: expected a readable file that is not empty, got No such file or directory" cleave study md --resume -o "$work/no"
echo '{"study": "net"}' >"$work/no/md.json"
refuses "$work/no/md.json: expected the md.json of \`cleave study md\`, got no \"study\": \"md\"" cleave study md --resume -o "$work/no"
exit "$((failures > 0))"
