#!/usr/bin/env bash
# labels: timing slow once
# 200 strangers at the relay's door (without a key, with one that nobody has, garbage instead of TLS, half of TLS's first
# message, silent: 40 each) beside a job. They come all at once; in a second series they come again, two seconds after they
# were refused, until the job ends, as clients of NATS do. Queens on two machines with one worker each, without them and with
# them in turn. Prints the ratios of the times, whose goal on a quiet machine is 1.05 (tests/README.md), and the CPU time
# of the strangers and of the relay with its server. Fails where they hold a job up, or cost the relay much. CLEAVE_RUNS: of
# each (3), CLEAVE_QUEENS: the size (15).
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/processes.bash"
source "$CLEAVE_SOURCE_DIR/tests/nats/machines.bash"
strangers=$CLEAVE_BINARY_DIR/tests/programs/nats_strangers
me=$work/me.cleave n=${CLEAVE_QUEENS:-15} runs=${CLEAVE_RUNS:-3}
answers=([12]=14200 [14]=365596 [15]=2279184 [16]=14772512)
begin_relay relay --site here --port 0
invite relay m1 m2 me
offer m1 "$bin/queens" --workers 1
offer m2 "$bin/queens" --workers 1

job_in() {  # FILE: adds the seconds of a job to it
  submit --json --root here.m1 "$me" queens "$n" --json
  [[ $status == 0 && $(<"$work/out") == *"\"answer\":${answers[$n]},"* ]] || fail "queens $n: status $status, $(cat "$work/out" "$work/err")"
  grep -o '"result":.*' "$work/out" | sed -n 's/.*"seconds":\([0-9.e+-]*\),.*/\1/p' >>"$work/$1"
}
median() { sort -g "$work/$1" | sed -n "$(((runs + 1) / 2))p"; }
our_ticks() { cpu_ticks "$relay" $(<"/proc/$relay/task/$relay/children"); }  # of the relay and its server
mkfifo "$work/door"
beside() {  # SECONDS NAME: a job beside strangers who come again after so long
  local begin knocking door
  "$strangers" "$me" 40 "$1" <"$work/door" >>"$work/$2.knocked" 2>&1 &
  knocking=$!
  begin=$(our_ticks)
  exec {door}>"$work/door"
  job_in "$2"
  exec {door}>&-
  wait "$knocking" || fail "strangers: $(cat "$work/$2.knocked")"
  echo "$(($(our_ticks) - begin))" >>"$work/$2.ours"
}
for ((round = 1; round <= runs; ++round)); do
  begin=$(our_ticks)
  job_in alone
  echo "$(($(our_ticks) - begin))" >>"$work/alone.ours"
  beside 0 once
  beside 2 again
done
echo "queens $n: $(median alone) s alone (medians of $runs)"
for how in once again; do
  # All have seen the relay's greeting: they were there, each at least once for a start.
  while read -r _ _ _ knocked _ greeted _ refused _ in _; do
    ((knocked >= 200 && greeted >= 200 && refused >= 120 && in == 0)) || fail "strangers: $(cat "$work/$how.knocked")"
    [[ $how == again ]] || ((knocked == 200)) || fail "strangers came again: $(cat "$work/$how.knocked")"
  done <"$work/$how.knocked"
  ratio=$(awk -v a="$(median alone)" -v b="$(median "$how")" 'BEGIN { printf "%.3f", b / a }')
  echo "$how: $(median "$how") s beside 200 strangers, ratio $ratio"
  paste -d' ' "$work/alone.ours" "$work/$how.ours" | awk '{ printf "  relay and server: %.2f CPU s alone, %.2f beside them\n", $1 / 100, $2 / 100 }'
  sed 's/^/  /' "$work/$how.knocked"
  awk -v r="$ratio" 'BEGIN { exit !(r < 1.6) }' || fail "a job is held up by strangers"
  # Each knock costs the relay some 1 ms of a CPU.
  paste -d' ' "$work/alone.ours" "$work/$how.ours" "$work/$how.knocked" |
    awk '{ if (($2 - $1) / 100 > 0.5 + 0.005 * $6) exit 1 }' || fail "strangers cost the relay too much"
done
exit "$((failures > 0))"
