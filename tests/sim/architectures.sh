#!/usr/bin/env bash
# labels: once slow
# The simulator prints the same on aarch64 as here, for the same seeds: the protocol depends on no architecture.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/architectures.bash"
needs_aarch64 bin/sim

same() {  # STATUS ARGUMENT…: of sim
  local expected=$1 status
  shift
  "$bin/sim" "$@" >"$work/here" 2>&1
  status=$?
  [[ $status == "$expected" ]] || fail "sim $*: exit status $status: $(tail "$work/here")"
  on_aarch64 "$cross/bin/sim" "$@" >"$work/there" 2>&1
  status=$?
  [[ $status == "$expected" ]] || fail "sim $* on aarch64: exit status $status: $(tail "$work/there")"
  [[ -s $work/here ]] || fail "sim $* prints nothing"
  diff "$work/here" "$work/there" >"$work/difference" || fail "sim $*: $(head -n 20 "$work/difference")"
}
same 0 faults --seeds 20
same 0 faults --first 17 --log
same 1 faults --fault merge-twice --json
same 0 scale --depth 10 --tree 19 --workers 4,32
same 0 scale --depth 10 --tree 19 --cost 10 --workers 8 --strategies near-first --killed-every 300
exit "$((failures > 0))"
