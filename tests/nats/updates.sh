#!/usr/bin/env bash
# labels: once timing
# Three sites in network namespaces, of which kobe and kyushu are joined to chiba by links with delays of 8.85 and 13.35 ms one
# way. What a node of one of them has found reaches the others, as a shared value, within 1.5 times the longest way, which
# is 22.2 ms, and as a gathered variable within twice that: its home may be on neither side. Needs root.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/nats/machines.bash"
source "$CLEAVE_SOURCE_DIR/tests/nats/spaces.bash"
trap 'end_all; end_spaces; rm -rf "$work"' EXIT
if ! begin_spaces chiba; then
  echo "skipped: needs root, /dev/net/tun and network namespaces (ip netns, of iproute2): $(why_no_spaces)"
  exit 77
fi
[[ -x $bin/net-updates ]] || { echo "skipped: there is no net-updates in this build"; exit 77; }
for site in kobe kyushu; do join_space "$site" 100; done
delay_link kobe 8850
delay_link kyushu 13350
relays_at chiba kobe kyushu
for site in chiba kobe kyushu; do
  invite "$site" "$site-m"
  : >"$work/$site-m.err"
  become "$site" "$bin/net-updates" --serve "$work/$site-m.cleave" --workers 1 2>"$work/$site-m.err" &
  until_said "$site-m.err" 'cleave: .* offers .*'
done
invite chiba me
all_there() { within chiba "$cleave" nodes "$work/me.cleave" >"$work/nodes" && [[ $(grep -c net-updates "$work/nodes") == 3 ]]; }
patiently all_there || fail "not all sites are there: $(cat "$work/nodes" "$work"/*.err)"

reaches() {  # WHAT MOST ARGUMENT…: microseconds at most, in the median
  within chiba timeout 200 "$cleave" submit --root chiba.chiba-m "$work/me.cleave" net-updates "${@:3}" >"$work/out" 2>"$work/err"
  local status=$? us
  grep -q "\"what\":\"$1\",\"nodes\":3," "$work/out" || fail "$1: status $status: $(cat "$work/out" "$work/err" "$work"/*-m.err)"
  us=$(sed -n 's/.*"us":\([0-9]*\).*/\1/p' "$work/out")
  echo "updates: $1 reaches all after $us us, of 22200 on the longest way"
  ((us > 10000 && us < $2)) || fail "$1: $us us, expected less than $2"
}
reaches shared 33300 --shared --changes 30 --updates 5
reaches gathered 44400 --changes 30 --updates 5
exit "$((failures > 0))"
