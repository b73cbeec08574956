#!/usr/bin/env bash
# labels: slow once
# `cleave study cosched --quick` runs jobs in each way, and its page shows them. What ends it early keeps what there is, and
# nothing is left running.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/cosched/jobs.bash"

export TMPDIR=$work/scratch  # names the processes of these studies, and no others
mkdir "$TMPDIR"
study() { timeout 200 "$bin/cleave" study cosched --quick --ranks 2 "$@" >"$work/out" 2>"$work/err"; }
# shows MPI WHAT: the page of that study has it. False where no Chromium is.
shows() {
  opens "$work/$1/cosched.html" "$1" || return
  grep -q -- "$2" "$work/dom" || fail "$1: no '$2' on the page"
}

for mpi in "${mpis[@]}"; do
  [[ $mpi == openmpi || $mpi == mpich ]] || continue
  parts=mixed ways=two-phase timelines=0  # each run takes a second, and under load several
  [[ $mpi != openmpi ]] || parts=outsider,bsp,timeline ways=gang,two-phase timelines=3
  study --mpi "$mpi" --parts "$parts" --ways "$ways" -o "$work/$mpi" || fail "$mpi: exit status $?: $(cat "$work/err")"
  cat "$work/out"
  grep -q ' runs in each of 1 pass, with ' "$work/err" || fail "$mpi: no plan: $(head -c 300 "$work/err")"
  grep -q "failed" "$work/out" && fail "$mpi: something failed"
  json=$work/$mpi/cosched.json
  grep -q '"whole_passes": 1' "$json" || fail "$mpi: the pass is not whole"
  for part in alone ${parts//,/ }; do
    [[ $part == timeline ]] || grep -q "\"part\": \"$part\"" "$json" || fail "$mpi: no $part"
  done
  for mode in plain ${ways//,/ }; do
    grep -q "\"mode\": \"$mode\"" "$json" || fail "$mpi: no $mode"
  done
  # Under cosched ranks sleep, and hardly any wakes late. One may: on a busy machine who rings can be off its CPU for long.
  ((sleeps = $(grep -oP '"sleeps": \K[0-9]+' "$json" | paste -sd+)))
  ((late = $(grep -oP '"ended_late": \K[0-9]+' "$json" | paste -sd+)))
  ((sleeps > 0 && late <= 1 + sleeps / 1000)) || fail "$mpi: $late of $sleeps sleeps ended late"
  grep -q '"goal": ' "$json" || fail "$mpi: no goals"
  # Six ranks in each timeline; those of bsp say when they communicated.
  (($(grep -c '"ran": \[' "$json") == 6 * timelines)) || fail "$mpi: not six ranks in each timeline"
  ((timelines == 0)) || grep -A1 '"marks": \[$' "$json" | grep -q '[0-9]' || fail "$mpi: no communication in the timelines"
  ! shows "$mpi" '<h2>Goals</h2>' || (($(grep -o '<canvas class="timeline"' "$work/dom" | wc -l) == timelines)) ||
    fail "$mpi: not all timelines on the page"
done

# A signal, and the time that is over, end it with what there is by then.
mpi=${mpis[0]}
for signal in INT TERM; do
  "$bin/cleave" study cosched --quick --mpi "$mpi" --parts mixed --passes 1000 -o "$work/$signal" >"$work/out" 2>&1 &
  study=$!
  for ((k = 0; k < 600; ++k)); do
    [[ ! -e $work/$signal/cosched.json ]] || break
    sleep 0.1
  done
  kill -"$signal" "$study"
  wait "$study"
  status=$?
  [[ $status == $((128 + $(kill -l "$signal"))) ]] || fail "SIG$signal: exit status $status: $(cat "$work/out")"
  grep -q '"interrupted": true' "$work/$signal/cosched.json" || fail "SIG$signal: it does not say so"
  grep -q '"part": "alone"' "$work/$signal/cosched.json" || fail "SIG$signal: nothing is kept"
done
shows TERM 'Interrupted: no pass of 1000 is whole'
for limit in 20 60 120; do  # on a busy machine nothing may be measured within 20 s: then it says so, and keeps nothing
  study --mpi "$mpi" --parts mixed --passes 1000 --time-limit $limit -o "$work/limit"
  status=$?
  ((status != 0)) && grep -q '^cleave: the time was over before anything was measured$' "$work/err" || break
done
((status == 0)) || fail "--time-limit: exit status $status: $(cat "$work/err")"
grep -q '"out_of_time": true' "$work/limit/cosched.json" || fail "--time-limit: it does not say so: $(cat "$work/out")"
pgrep -f -- "$bin/(cg|ft|bsp)-.*$TMPDIR/cleave-study-" >"$work/left" && fail "left behind: $(cat "$work/left")"

refuses "cleave: --parts: expected some of copies, spin, mixed, staggered, outsider, bsp, idle, timeline, got 'gangs'" \
  cleave study cosched --parts gangs
refuses "cleave: --ranks: expected a power of two, got '3'" cleave study cosched --ranks 3
refuses "cleave: --ways: expected some of plain, yield, gang, block, two-phase, logp, adaptive, got 'gangs'" \
  cleave study cosched --ways gangs
refuses "cleave: unexpected argument 'quick' (see --help)" cleave study quick
[[ $("$bin/cleave" study cosched --help) == *"Usage: cleave study cosched "* ]] || fail "cleave study cosched --help"
exit "$((failures > 0))"
