#!/usr/bin/env bash
# labels: slow once timing
# How well nodes keep step: two jobs on two nodes take turns, and their keepers say when they have stopped and continued them.
# First with the relay on this machine, then with both nodes in network namespaces of their own, whose links to the relay take
# 20 ms each way, and clocks that differ (needs root). Prints the median and what 99 of 100 are within, in milliseconds, of the
# differences between the nodes. CLEAVE_SECONDS: of each (20), CLEAVE_STEP: what the median must be below (5).
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/nats/machines.bash"
source "$CLEAVE_SOURCE_DIR/tests/nats/spaces.bash"
source "$CLEAVE_SOURCE_DIR/tests/gang/daemons.bash"

# differences WHAT: of each turn, job, and stop or continue that both nodes have noted
differences() {
  local node
  for node in b c; do
    sed -n 's/.*"at_ns":\([0-9]*\),"did":"\([a-z]*\)","due_ns":[1-9][0-9]*,"job":"\([^"]*\)","leader":"\([^"]*\)",.*"turn":\([1-9][0-9]*\)}.*/\4-\5-\3-\2 \1/p' "$work/$node.log" |
      awk -v OFMT=%.0f -v ahead="${ahead[$node]:-0}" '{ print $1, $2 - ahead * 1e9 }' | sort -k1,1 >"$work/$node.times"
  done
  join "$work/b.times" "$work/c.times" | awk '{ d = ($3 - $2) / 1e6; print d < 0 ? -d : d }' | sort -n >"$work/differences"
  median=$(awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }' "$work/differences")
  most=$(awk '{ all[NR] = $1 } END { print all[int((NR * 99 + 99) / 100)] }' "$work/differences")
  count=$(wc -l <"$work/differences")
  echo "step: $1: median $median ms, 99 % within $most ms, most $(tail -1 "$work/differences") ms, of $count"
  ((count >= 4 * ${CLEAVE_SECONDS:-20})) || fail "$1: only $count are of both nodes"
  awk "BEGIN { exit !($median < ${CLEAVE_STEP:-5}) }" || fail "$1: the median is $median ms"
}
take_turns() {  # WHAT
  local x y x_name y_name
  begin_job b x "$spin" c; x=$job x_name=$name
  begin_job b y "$spin" c; y=$job y_name=$name
  until_ps c '"leads":true,"node":"here.b"'
  for part in x.b x.c y.b y.c; do goes_on "$part" "$1"; done
  sleep "${CLEAVE_SECONDS:-20}"
  on b "${gang[@]}" ps
  on b "${gang[@]}" kill "$x_name" && on b "${gang[@]}" kill "$y_name"
  ended "$x" 143 "$1" && ended "$y" 143 "$1"
  for part in x.b x.c y.b y.c; do gone "$part" "$1"; done
  differences "$1"
}
declare -A ahead=()
kind=${CLEAVE_STOP_BY:-signals}

begin_relay relay --site here --port 0
invite relay b c
for node in b c; do serve "$node"; done
take_turns "relay on this machine"
for node in b c; do kill "${daemons[$node]}"; ended "${daemons[$node]}" 0 "daemon $node"; rm "$work/$node.log"; done
kill "$relay"; wait "$relay"

trap 'end_started; end_all; end_spaces; rm -rf "$work"' EXIT
if ! begin_spaces relay; then
  echo "skipped: delays need root, /dev/net/tun and network namespaces"
  exit "$((failures > 0))"
fi
for node in b c; do
  join_space "$node" 1000
  delay_link "$node" 20000
  rm -f "$work/$node.asked"
done
: >"$work/far.err"
become relay "$cleave" relay --folder "$work/far" --site here --host 10.77.0.1 2>>"$work/far.err" &
until_said far.err 'cleave relay: ready: .*'
rm "$work"/[bc].cleave
invite far b c
kind=signals  # `ip netns exec` hides cgroups
at=(ip netns exec "$space-b") && serve b
at=(ip netns exec "$space-c")
if unshare --time --monotonic 1000 --fork --kill-child true 2>/dev/null; then
  at+=(unshare --time --monotonic 1000 --fork --kill-child)
  ahead[c]=1000
else
  echo "skipped: clocks that differ: no time namespaces here"
fi
serve c
at=(ip netns exec "$space-b")
take_turns "20 ms to the relay from each node"
exit "$((failures > 0))"
