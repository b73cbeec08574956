#!/usr/bin/env bash
# labels: slow once
# The pages of all studies say that the machine was busy, and colour nothing then; a table that does not fit says so; "Who ran
# when" has an axis; those of networks and of tours have a plot for each figure of the paper.
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
cell() { printf '{"network": "cleave-nats", "what": "%s", "ranks": %s, %s "counts": [9, 9], "seconds": [1e-5, 2e-5], "low": [1e-5, 1e-5], "high": [2e-5, 2e-5]}' "$@"; }
sized() { printf '%s, %s' "$(cell "$1" "$2" "$3 \"bytes\": 262144,")" "$(cell "$1" "$2" "$3 \"bytes\": 1048576,")"; }
net='"study": "net", "date": "2026-01-01", "machine": "M", "cpus": 2, "whole_passes": 1, "load": [0.1, 0.2], "others": 0.01, "stolen": 0, "missing": [],
 "plan": {"networks": ["cleave-nats"], "passes": 2, "hosts": []}, "failures": [{"network": "cleave-nats", "ranks": 48, "reason": "too many"}],
 "parameters": [{"network": "cleave-nats", "L": 1e-6, "o": 1e-6, "g": 1e-6, "G": 1e-9, "error": 0.1}],
 "findings": [{"paper": "it is fast", "network": "cleave-nats", "here": "5 us", "holds": "yes"}, {"paper": "it is small", "network": "cleave-nats", "here": "9", "holds": "no"}],
 "cells": ['"$(cell barrier 2 ""), $(cell barrier 4 ""), $(sized send 2 ""), $(sized half 2 ""), $(sized stream 2 ""),
 $(sized broadcast 2 '"algorithm": "flat",'), $(sized broadcast 4 '"algorithm": "binomial",'),
 $(cell pairs 4 '"pairs": 1, "bytes": 65536,'), $(cell pairs 4 '"pairs": 2, "bytes": 65536,')]"
searchers() {  # ORGANISATION RULE HOW-MANY
  printf '{"organisation": "%s", "rule": "%s", "searchers": %s, "speedup": 1.5, "speedup_by_work": 1.9, "seconds": [1, 2], "run_seconds": [2, 3],
  "runs": [9, 11], "new": [4, 4], "same": [1, 1], "failed": [4, 6], "told_messages": [4, 6], "told_bytes": [400, 600]}' "$@"
}
tours='"study": "tsp", "date": "2026-01-01", "machine": "M", "cpus": 2, "whole_passes": 1, "load": [0.1, 0.2], "others": 0.01, "stolen": 0, "missing": "",
 "plan": {"mpi": "", "side": 8, "tours": 64, "changes": 1000, "passes": 2, "organisations": ["apart", "together", "master"], "rules": ["one", "part"]},
 "findings": [{"paper": "it is fast", "here": "5 us", "holds": "yes"}, {"paper": "it is small", "here": "9", "holds": "no"}],
 "failures": [{"organisation": "master", "rule": "one", "searchers": 64, "reason": "too many"}],
 "cells": ['"$(searchers "" "" 1), $(searchers apart "" 2), $(searchers apart "" 4), $(searchers together one 2), $(searchers together one 4),
 $(searchers together part 2), $(searchers together part 4), $(searchers master one 2), $(searchers master one 4), $(searchers master part 2),
 $(searchers master part 4)"']'
part() {  # BY NODES WAY
  printf '{"system": "peptide", "by": "%s", "nodes": %s, "way": "%s", "seconds": [1, 2], "computing": [1, 1], "communicating": [0.1, 0.1],
  "waiting": [0.2, 0.4], "of_ranks": {"computing": [[1, 1], [1, 1]], "communicating": [[0, 1], [0, 1]], "waiting": [[0, 1], [0, 1]]}, "gain": 1.25}' "$@"
}
both() { printf '%s, %s' "$(part "$1" "$2" dependences)" "$(part "$1" "$2" synchronous)"; }
spans='"seconds": 0.01, "spans": [[0, 0, 0, 4000], [1, -1, 4000, 100.5]], "of_nodes": [[1, 2, 3], [4, 5, 6]]'
dynamics='"study": "md", "date": "2026-01-01", "machine": "M", "cpus": 2, "whole_passes": 1, "load": [0.1, 0.2], "others": 0.01, "stolen": 0,
 "missing": ["bpti: no --proteins"], "plan": {"mpis": ["mpich"], "ranks": [1, 2], "nodes": [1, 2], "steps": 20, "passes": 2, "recordings": 3, "network": "",
  "messages": {"sending": [2, 0.0002], "transit": [10, 0.0001], "receiving": [2, 0.0002]},
  "systems": [{"name": "peptide", "about": "the peptide", "like": "BPTI", "atoms": 16032, "blocks": 125}]},
 "findings": [{"paper": "it is fast", "system": "peptide", "here": "5 us", "holds": "yes"}, {"paper": "it is small", "system": "peptide", "here": "9", "holds": "no"}],
 "failures": [{"system": "peptide", "by": "mpich", "nodes": 4, "way": "synchronous", "reason": "too many"}],
 "cells": ['"$(both workers 1), $(both workers 2), $(both mpich 2), $(both simulated 1), $(both simulated 2)"'],
 "timelines": [{"system": "peptide", "nodes": 2, "subtasks": ["force"], "parts": [{"way": "dependences", '"$spans"'}, {"way": "synchronous", '"$spans"'}]}]'
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
shows net "$net"
has net 'class="yes"' && has net 'class="no"' && has_no net 'class="disturbed"'
has net '1 of 2 that can be judged hold'
has net 'Not done yet: 1 of 2 passes are whole.'
has net 'Cleave over NATS with TLS failed with 48 ranks: too many'
for figure in 3.3 3.5 3.7 3.9 3.10 3.12 3.13; do has net "(figure $figure)"; done
has net '<td>broadcast, binomial</td><td>4</td><td>1 MiB</td><td>15.00 µs<br><span class="quiet">10.00 µs to 20.00 µs</span></td>'
shows net "$busy, $net"
has "a busy net" 'class="disturbed" role="alert">Disturbed: other processes used 1.93 of 2 CPUs'
has "a busy net" 'Not judged'
shows tsp "$tours"
has tsp 'class="yes"' && has tsp 'class="no"' && has_no tsp 'class="disturbed"'
has tsp 'Not done yet: 1 of 2 passes are whole. master, one by one failed with 64 searchers: too many'
for figures in "4.11 to 4.13" "4.15 to 4.20" "4.22 to 4.27" "4.28 to 4.31"; do has tsp "(figures $figures)"; done
plots=$(grep -o '>No plot: ' "$work/dom" | wc -l)
((plots == 20)) || fail "tsp: $plots plots"
has tsp '<td>master, one by one</td><td>2</td><td>1.50</td><td>1.50</td><td>1.25</td><td>1.90</td><td>10</td>'
has tsp 'more than 2 searchers are not faster here'
shows tsp "$busy, $tours"
has "a busy tsp" 'class="disturbed" role="alert">Disturbed: other processes used 1.93 of 2 CPUs'
has "a busy tsp" 'Not judged'
shows md "$dynamics"
has md 'class="yes"' && has md 'class="no"' && has_no md 'class="disturbed"'
has md '1 of 2 that can be judged hold'
has md 'Not done yet: 1 of 2 passes are whole. Not here: bpti: no --proteins. peptide on 4 by mpich, synchronous, failed: too many'
for figure in 7 12 14; do has md "(figure $figure)"; done
has md 'what 2 nodes do over 10.00 milliseconds, synchronous'
plots=$(grep -o '>No plot: ' "$work/dom" | wc -l)
((plots == 9)) || fail "md: $plots plots"
has md '<td>peptide</td><td>2</td><td>mpich</td><td>dependences</td><td>1500</td><td>1000</td><td>2000</td><td>1000</td><td>100.0</td><td>300.0</td><td>1.250</td>'
shows md "$busy, $dynamics"
has "a busy md" 'class="disturbed" role="alert">Disturbed: other processes used 1.93 of 2 CPUs'
has "a busy md" 'Not judged'
exit "$((failures > 0))"
