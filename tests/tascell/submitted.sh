#!/usr/bin/env bash
# labels: once slow
# Tascell programs that two machines offer to jobs, by their generated main; and what takes long on one machine.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/processes.bash"
source "$CLEAVE_SOURCE_DIR/tests/nats/machines.bash"
me=$work/me.cleave
begin_relay relay --site here --port 0
invite relay m1 m2 me
while read -r line name arguments; do
  for machine in m1 m2; do offer "$machine" "$bin/tascell-$name" --workers 1; done
  submit "$me" "tascell-$name" $arguments
  [[ $status == 0 && $(head -n 1 "$work/out") =~ ^$line ]] || fail "$name: status $status: $(cat "$work/out" "$work/err")"
done <<'END'
r.=.196418 fib 27
s.=.73712 queens 13
s.=.9356 pentomino
r.=.11 comp 3000
error.=.[0-9.]+e-1[5-9] lu 256
x.=.-0.43000053339694 grav 30
END
for options in "--workers 1" "--workers 8" "--check 3"; do
  [[ $("$bin/tascell-pentomino" $options 2>"$work/err") == "s = 9356" ]] || fail "pentomino $options: $(cat "$work/err")"
done
submit "$me" tascell-fib a
[[ $status == 2 && $(cat "$work/err") == "tascell-fib: n: expected a whole number that it can hold, got 'a'" ]] ||
  fail "a mistake: status $status: $(cat "$work/err")"
exit "$((failures > 0))"
