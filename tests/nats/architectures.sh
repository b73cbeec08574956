#!/usr/bin/env bash
# labels: once slow
# A machine of this architecture and one of aarch64 do the same jobs, behind one relay: a program is the same program on both, tasks
# and published data cross in either direction, and answers are right.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/nats/machines.bash"
source "$CLEAVE_SOURCE_DIR/tests/architectures.bash"
by_emulator=tests/programs/libnats_exec_by_emulator.so program=tests/programs/nats_crossing
needs_aarch64 "$program" lib/libcleave-nats.so "$by_emulator"
begin_relay relay --site here --port 0
invite relay native arm me
mkdir "$work/aarch64"
printf '#!/bin/sh\nexec env CLEAVE_PLUGINS="%s" QEMU_SET_ENV="LD_PRELOAD=%s" qemu-aarch64 "%s" "$@"\n' \
  "$cross/lib" "$cross/$by_emulator" "$cross/$program" >"$work/aarch64/nats_crossing"
chmod +x "$work/aarch64/nats_crossing"
offer native "$CLEAVE_BINARY_DIR/$program" --workers 1
offer arm "$work/aarch64/nats_crossing" --workers 1

# right ROOT QUEENS PIECES: the job has that root; its output is that of a run alone, two nodes made it, and tasks crossed.
right() {
  local output
  "$CLEAVE_BINARY_DIR/$program" "$2" "$3" >"$work/alone" || fail "alone: exit status $?"
  output=$(sed -z 's/\n/\\n/g' "$work/alone")
  submit --json --root "here.$1" "$work/me.cleave" nats_crossing "$2" "$3"
  [[ $status == 0 && ! -s $work/err ]] || fail "root on $1: status $status, '$(cat "$work/err")'"
  says out "\"server\":\"here.$1\",\"status\":0,"
  says out '"nodes":2,'
  says out '"tasks_crossed":[1-9]'
  [[ $(cat "$work/out") == *"\"output\":\"$output\""* ]] || fail "root on $1: $(head -c 600 "$work/out"), expected '${output::300}'"
}
right native 16 3000  # long enough for the other one, which is slow, to help
right arm 14 300
exit "$((failures > 0))"
