#!/usr/bin/env bash
# labels: slow once
# `cleave study cosched --quick` runs jobs in each way, and its page shows them; nothing is left running.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/cosched/jobs.bash"

for mpi in "${mpis[@]}"; do
  [[ $mpi == openmpi || $mpi == mpich ]] || continue
  parts=mixed,bsp timelines=0  # more takes long where plain MPI spins
  [[ $mpi != openmpi ]] || parts=spin,mixed,staggered,outsider,bsp,timeline timelines=6
  timeout 300 "$bin/cleave" study cosched --quick --mpi "$mpi" --parts "$parts" -o "$work/$mpi" >"$work/out" 2>"$work/err" ||
    fail "$mpi: exit status $?: $(cat "$work/err")"
  cat "$work/out"
  [[ ! -s $work/err ]] || fail "$mpi: on standard error: $(head -c 300 "$work/err")"
  grep -q "failed" "$work/out" && fail "$mpi: something failed"
  for part in alone ${parts//,/ }; do
    [[ $part == timeline ]] || grep -q "\"part\": \"$part\"" "$work/$mpi/cosched.json" || fail "$mpi: no $part"
  done
  # Gang gives turns; under two-phase ranks sleep, and hardly any is woken by the net.
  for mode in plain gang block two-phase adaptive; do
    grep -q "\"mode\": \"$mode\"" "$work/$mpi/cosched.json" || fail "$mpi: no $mode"
  done
  ((sleeps = $(grep -oP '"sleeps": \K[0-9]+' "$work/$mpi/cosched.json" | paste -sd+)))
  ((late = $(grep -oP '"ended_late": \K[0-9]+' "$work/$mpi/cosched.json" | paste -sd+)))
  ((sleeps > 0 && late * 1000 <= sleeps)) || fail "$mpi: $late of $sleeps sleeps ended by the net"
  # Six ranks in each timeline; those of bsp say when they communicated.
  (($(grep -c '"ran": \[' "$work/$mpi/cosched.json") == 6 * timelines)) || fail "$mpi: not six ranks in each timeline"
  ((timelines == 0)) || grep -A1 '"marks": \[$' "$work/$mpi/cosched.json" | grep -q '[0-9]' ||
    fail "$mpi: no communication in the timelines"

  browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
  if [[ -z $browser ]]; then
    echo "skipped: no Chromium here to open the page in"
  else
    HOME=$work timeout 60 "$browser" --headless --no-sandbox --disable-gpu --dump-dom "file://$work/$mpi/cosched.html" >"$work/dom" 2>/dev/null ||
      fail "$mpi: Chromium cannot open the page"
    grep -o '<html[^>]*data-error=[^>]*>' "$work/dom" && fail "$mpi: an error on the page"
    (($(grep -o '<canvas class="timeline"' "$work/dom" | wc -l) == timelines)) || fail "$mpi: not all timelines on the page"
    grep -q '<h2>Grain, imbalance, ranks</h2>' "$work/dom" || fail "$mpi: no table of bsp"
  fi
done

# Ctrl-C ends it with what there is by then, and its jobs.
mpi=${mpis[0]}
"$bin/cleave" study cosched --quick --mpi "$mpi" --parts spin --passes 1000 -o "$work/cut" >"$work/out" 2>&1 &
study=$!
for ((k = 0; k < 600; ++k)); do  # until jobs run; the folder is its own
  pids=$(pgrep -P "$study" -f "cg-$mpi" | head -n 1)
  [[ -z $pids ]] || break
  sleep 0.1
done
sleep 5  # some are measured by then, or nothing is, and it says so
kill -INT "$study"
wait "$study"
status=$?
if [[ $status == 130 ]]; then
  grep -q '"interrupted": true' "$work/cut/cosched.json" || fail "interrupted: it does not say so"
else
  [[ $status == 1 ]] && grep -q "interrupted before anything was measured" "$work/out" || fail "interrupted: $status: $(cat "$work/out")"
fi
pgrep -f -- "$bin/(cg|ft|bsp)-.*cleave-study-" >"$work/left" && fail "left behind: $(cat "$work/left")"

refuses "cleave: --parts: expected some of copies, spin, mixed, staggered, outsider, bsp, timeline, got 'gangs'" \
  cleave study cosched --parts gangs
refuses "cleave: unexpected argument 'quick' (see --help)" cleave study quick
[[ $("$bin/cleave" study cosched --help) == *"Usage: cleave study cosched "* ]] || fail "cleave study cosched --help"
exit "$((failures > 0))"
