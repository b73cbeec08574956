#!/usr/bin/env bash
# labels: timing slow once
# 200 strangers at the relay's door at once (no key, one that nobody has, no TLS, silent) beside a job: queens 16 on two
# machines with one worker each, with and without them in turn, the medians of three. It prints the ratio, whose goal on a
# quiet machine is 1.05 (docs/reliability.md); it fails where strangers hold a job up, whatever else this machine does.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/nats/machines.bash"
speak=$CLEAVE_BINARY_DIR/tests/programs/nats_speak
me=$work/me.cleave
begin_relay relay --site here --port 0
invite relay m1 m2 me
offer m1 "$bin/queens" --workers 1
offer m2 "$bin/queens" --workers 1

job_in() {  # FILE: adds the seconds of a job to it
  submit --json --root here.m1 "$me" queens 16 --json
  [[ $status == 0 && $(<"$work/out") == *'"answer":14772512,'* ]] || fail "queens 16: status $status, $(cat "$work/out" "$work/err")"
  grep -o '"result":.*' "$work/out" | sed -n 's/.*"seconds":\([0-9.e+-]*\),.*/\1/p' >>"$work/$1"
}
median() { sort -g "$work/$1" | sed -n 2p; }
for round in 1 2 3; do
  job_in alone
  "$speak" "$me" strangers 50 0 >"$work/knocked" &
  knocking=$!
  job_in beside
  wait "$knocking"
  [[ $(<"$work/knocked") == "200 knocked, 0 let in" ]] || fail "strangers: $(cat "$work/knocked")"
done
ratio=$(awk -v a="$(median alone)" -v b="$(median beside)" 'BEGIN { printf "%.3f", b / a }')
echo "queens 16: $(median alone) s alone, $(median beside) s beside 200 strangers, ratio $ratio"
awk -v r="$ratio" 'BEGIN { exit !(r < 1.6) }' || fail "a job is held up by strangers"
exit "$((failures > 0))"
