#!/usr/bin/env bash
# labels: slow once
# The pages of both studies say that the machine was busy, and colour nothing then; a table that does not fit says so; "Who ran
# when" has an axis.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
pages=$CLEAVE_SOURCE_DIR/tools/cleave/study
systems='"study": 1, "date": "2026-01-01", "machine": "M", "cpus": 2, "size": "quick", "passes": 2, "capacity": [2, 2],
 "systems": [{"name": "serial", "version": "1"}, {"name": "cleave", "version": "1"}],
 "cells": [{"kernel": "fib", "system": "serial", "workers": 1, "arguments": "n = 3", "seconds": [1], "cycles": [1]},
  {"kernel": "fib", "system": "cleave", "workers": 1, "arguments": "n = 3", "seconds": [1], "cycles": [1]}]'
job='{"name": "cg W", "title": "cg W", "program": "cg", "ranks": 2}'
jobs='"study": "cosched", "date": "2026-01-01", "machine": "M", "cpus": 2, "mpi": "openmpi", "size": "quick", "seconds": 1, "passes": 1,
 "whole_passes": 1, "load": [0.1, 0.2], "others": 0.01, "stolen": 0, "figures": [
  {"goal": "at once, in fair shares", "jobs": "2 x cg W", "mode": "adaptive", "measured": 0.27, "least": 0.27, "most": 0.27, "at_most": 1.06, "met": true},
  {"goal": "at once, in fair shares", "jobs": "3 x cg W", "mode": "adaptive", "measured": 1.27, "least": 1, "most": 2, "at_most": 1.06, "met": false}],
 "cells": [{"part": "alone", "mode": "plain", "jobs": ['$job'], "in_passes": [1], "seconds": [[1]], "fair": [1], "cpu_seconds": [2]}],
 "timelines": [{"mode": "gang", "jobs": ["cg W"], "step": 0.001, "ranks": [{"job": 0, "ran": [1, 0.5, 0], "marks": [0.001]}]}]'
busy='"disturbed": "other processes used 1.93 of 2 CPUs"'
# shows TEMPLATE DATA: the page, 400 pixels wide, is in $work/dom.
shows() {
  local page
  page=$(<"$pages/$1.html")
  page=${page/'/*STYLE*/'/"$(<"$pages/page.css")"}
  page=${page/'/*SHARED*/'/"$(<"$pages/page.js")"}
  page=${page/'/*DATA*/null'/"{$2}"}
  echo "${page/<style>/<style>html { width: 400px; \}}" >"$work/page.html"
  opens "$work/page.html" "$1"
}
has() { grep -q -- "$2" "$work/dom" || fail "$1: no $2"; }
has_no() { grep -q -- "$2" "$work/dom" && fail "$1: $2 on it"; }

shows study "$systems" || exit 77
has study 'class="best"' && has_no study 'class="disturbed"'
shows study "$busy, $systems"
has "a busy study" 'class="disturbed" role="alert">Disturbed: other processes used 1.93 of 2 CPUs'
has_no "a busy study" 'class="best"'
shows cosched "$jobs"
has cosched 'class="met"' && has cosched 'class="missed"' && has_no cosched 'class="disturbed"'
has cosched '1 of 2 are met'
has cosched 'class="wide cut"'
has cosched 'who ran when, over 3 milliseconds'
shows cosched "$busy, $jobs"
has "busy cosched" 'class="disturbed" role="alert">Disturbed: other processes used 1.93 of 2 CPUs'
has "busy cosched" 'Not judged'
has_no "busy cosched" 'class="\(met\|missed\|good\)"'
exit "$((failures > 0))"
