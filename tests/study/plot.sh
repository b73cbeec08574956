#!/usr/bin/env bash
# The pictures come out of a study, the pages' figures are those of docs/study.json, and bad input changes nothing.
# labels: once
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
docs=$CLEAVE_SOURCE_DIR/docs
plot() { /usr/bin/python3 "$docs/plot.py" --docs "$work/docs" "$@"; }
fresh() {
  rm -rf "$work"/{docs,bench,sim} && mkdir "$work"/{docs,bench,sim} &&
    cp "$docs"/study.{json,md} "$docs/performance.md" "$work/docs" &&
    cp "$docs/../bench/coscheduling.md" "$work/bench" && cp "$docs/../sim/README.md" "$work/sim"
  for kept in "$docs"/cosched-*.json; do
    [[ ! -e $kept ]] || cp "$kept" "$work/docs"
  done
}
pictures() {  # all four, as PNG
  for name in compared study performance scale; do
    [[ $(head -c 4 "$work/docs/pictures/$name.png" | tail -c 3) == PNG ]] || fail "$1: no picture $name.png"
  done
}

fresh
plot || fail "exit status $?"
pictures "of docs/study.json"
cmp "$docs/study.md" "$work/docs/study.md" || fail "the table of docs/study.md is not that of docs/study.json: make plot"
cmp "$docs/study.json" "$work/docs/study.json" || fail "docs/study.json was written to"

# What `cleave study` measures now can be drawn, and drawn again from what was kept of it.
"$bin/cleave" study --quick --passes 1 --systems serial,cleave,libgomp \
  --kernels fib,queens,uts,tree-2,skynet,matmul -o "$work" >"$work/out" || fail "no study: $(cat "$work/out")"
fresh
plot "$work/study.json" || fail "a new study: exit status $?"
pictures "of a new study"
grep -q '^| libgomp |' "$work/docs/study.md" || fail "no line of the table for libgomp"
grep -q '^| lace |' "$work/docs/study.md" && fail "Lace's old line is still there"
cp "$work/docs/study.md" "$work/first.md"
plot && cmp "$work/first.md" "$work/docs/study.md" || fail "another table from what was kept"

# The same for jobs that share a machine: two copies of CG took 1.5 and 2.5 of 2 s under gang, and twice that in MPI.
cat >"$work/cosched.json" <<'END'
{"study": "cosched", "date": "2026-01-01", "machine": "M", "cpus": 2, "mpi": "openmpi", "size": "quick", "passes": 2, "whole_passes": 1, "load": [0, 0],
 "figures": [{"goal": "at once, in times of gang", "jobs": "2 x cg W", "mode": "adaptive", "measured": 1.1, "least": 1, "most": 1.25, "at_most": 1.02, "met": false},
  {"goal": "at once, times as fast as plain MPI", "jobs": "2 x cg W", "mode": "two-phase", "measured": 2.5, "least": 2, "most": 3, "at_least": 2, "met": true},
  {"goal": "imbalanced, times as fast as gang", "jobs": "2 x bsp --grain 10000 --imbalance 100, 4 ranks", "mode": "two-phase", "measured": 1.1, "least": 1, "most": 1.25, "at_least": 1.2, "met": false}],
 "cells": [
  {"part": "alone", "mode": "plain", "jobs": [{"name": "cg W", "title": "cg W", "program": "cg", "ranks": 2}], "seconds": [[1.0], [1.0]], "fair": [1.0, 1.0], "cpu_seconds": [2, 2]},
  {"part": "alone", "mode": "block", "jobs": [{"name": "cg W", "title": "cg W", "program": "cg", "ranks": 2}], "seconds": [[1.0], [1.0]], "fair": [1.0, 1.0], "cpu_seconds": [1.6, 1.6]},
  {"part": "copies", "mode": "plain", "jobs": [{"name": "cg W", "title": "cg W", "program": "cg", "ranks": 2}, {"name": "cg W", "title": "cg W", "program": "cg", "ranks": 2}], "stopped": 1, "seconds": [[4, 4], [4, 4]], "fair": [2, 2.5], "cpu_seconds": [8, null]},
  {"part": "copies", "mode": "gang", "jobs": [{"name": "cg W", "title": "cg W", "program": "cg", "ranks": 2}, {"name": "cg W", "title": "cg W", "program": "cg", "ranks": 2}], "seconds": [[1.5, 2.5], [2, 2]], "fair": [1.0, 1.1], "cpu_seconds": [4, 4]},
  {"part": "outsider", "mode": "plain", "jobs": [{"name": "cg W", "title": "cg W", "program": "cg", "ranks": 2}], "seconds": [[3.0], [3.0]], "cpu_seconds": [3, 3], "outsider": true},
  {"part": "copies", "mode": "block", "jobs": [{"name": "cg W", "title": "cg W", "program": "cg", "ranks": 2}, {"name": "cg W", "title": "cg W", "program": "cg", "ranks": 2}], "seconds": [], "cpu_seconds": [], "failed": "status 1"}
 ], "timelines": []}
END
sed 's/openmpi/mpich/; s/"seconds": \[\[3.0\], \[3.0\]\]/"seconds": [[4.0], [4.0]]/' "$work/cosched.json" >"$work/mpich.json"
has() {
  grep -qxF -- "$1" "$work/bench/coscheduling.md" || fail "no line '$1' in $(sed -n '/make plot/,/end of/p' "$work/bench/coscheduling.md")"
}
fresh
rm -f "$work/docs"/cosched-*.json  # what was measured: the picture and the tables are of the new ones only
plot --cosched "$work/cosched.json" || fail "jobs that share: exit status $?"
has '| 2 × CG | > 2.25 (2.00–2.50) | 1.05 (1.00–1.10) |  |'
has '| CG beside an outsider | 3.00 (3.00–3.00) |  |  |'
has '| cg W | 1.25 |  | 1.00 |'
has 'Of 3 goals 1 are met. These are not:'
has '| *at once, in times of gang* | | | |'
has '| 2 x cg W | adaptive | ≤ 1.02 | 1.100 (1.000–1.250) |'
[[ $(head -c 4 "$work/docs/pictures/coscheduling.png" | tail -c 3) == PNG ]] || fail "no picture of jobs that share"
plot --cosched "$work/mpich.json" || fail "jobs of the other MPI: exit status $?"
has '#### MPICH, M'
has '| CG beside an outsider | 3.00 (3.00–3.00) |  |  |'
has '| CG beside an outsider | 4.00 (4.00–4.00) |  |  |'
sed 's/"machine": "M"/"machine": "N 1"/' "$work/mpich.json" >"$work/other-machine.json"
plot --cosched "$work/other-machine.json" || fail "jobs on another processor: exit status $?"
has '#### MPICH, M'
has '#### MPICH, N 1'
cp "$work/bench/coscheduling.md" "$work/first.md"
plot && cmp "$work/first.md" "$work/bench/coscheduling.md" || fail "another table of jobs that share from what was kept"

# All seven ways are more columns than fit in a line.
sed '/"mode": "gang"/{p; s/"gang"/"yield"/p; s/"yield"/"two-phase"/p; s/"two-phase"/"logp"/p; s/"logp"/"adaptive"/}' \
  "$work/cosched.json" >"$work/wide.json"
plot --cosched "$work/wide.json" || fail "all ways: exit status $?"
has '| jobs | plain | yield | gang |'
has '| jobs | block | two-phase | logp | adaptive |'
LC_ALL=C.UTF-8 grep -nE '^.{121}' "$work/bench/coscheduling.md" && fail "lines of more than 120 columns"

# refused LINE [ARGUMENT…]: that line, exit status 2, and nothing written.
refused() {
  local line=$1 status
  shift
  plot "$@" >"$work/out" 2>"$work/err"
  status=$?
  [[ $status == 2 && ! -s $work/out && $(cat "$work/err") == $line ]] || fail "$*: $status, $(cat "$work/err")"
  [[ ! -e $work/docs/pictures ]] || fail "$*: something was written"
}
fresh
refused "plot.py: $work/none.json: expected the study.json of a study, got *" "$work/none.json"
echo '{"study": 2}' >"$work/other.json"
refused "plot.py: $work/other.json: expected the study.json of a study, got *" "$work/other.json"
refused "plot.py: $work/other.json: expected the cosched.json of a study, got *" --cosched "$work/other.json"
echo "[1]" >"$work/list.json"
refused "plot.py: $work/list.json: expected the study.json of a study, got *" "$work/list.json"
sed -i '/"kernel": "uts"/d' "$work/docs/study.json"
refused "plot.py: $work/docs/study.json: expected serial and cleave, on two workers, in uts"
fresh
sed -i 's/^| fib 40 .*/| fib 40 | fast |/' "$work/docs/performance.md"
refused "plot.py: $work/docs/performance.md: expected two ratios in the line *"
fresh
sed -i '/^<!-- end of the table/d' "$work/docs/study.md"
refused "plot.py: $work/docs/study.md: expected the lines *"
exit "$((failures > 0))"
