#!/usr/bin/env bash
# labels: once slow
# Three sites, each with its relay and a machine of one worker, in network namespaces: kobe and kyushu are joined to chiba by
# links of 100 Mbit/s with round trips of 17.7 and 26.7 ms. Answers are right; prints the efficiency against the same
# without delays, in turns; and one site is cut off for a while. Needs root. CLEAVE_RUNS: of each (1), CLEAVE_QUEENS: the size (15), CLEAVE_EFFICIENCY: percent
# that it must reach (none).
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/nats/machines.bash"
sites=(chiba kobe kyushu)
declare -A one_way=([kobe]=8850 [kyushu]=13350)  # microseconds
mbit=100 n=${CLEAVE_QUEENS:-15}
answers=([14]=365596 [15]=2279184 [16]=14772512 [17]=95815104)
space=cleave-$$

if ((EUID != 0)) || [[ ! -c /dev/net/tun ]] || ! ip netns add "$space-chiba" 2>/dev/null; then
  echo "skipped: needs root, /dev/net/tun and network namespaces"
  exit 77
fi
trap 'end_all; end_spaces; rm -rf "$work"' EXIT
end_spaces() { for site in "${sites[@]}"; do ip netns del "$space-$site" 2>/dev/null; done; }
within() { ip netns exec "$space-$1" "${@:2}"; }
become() { exec ip netns exec "$space-$1" "${@:2}"; }  # in the background: its process is the command's
"${CXX:-g++}" -std=c++20 -O2 -o "$work/delayed_link" "$CLEAVE_SOURCE_DIR/tests/nats/programs/delayed_link.cpp" || exit 1

within chiba ip link set lo up
within chiba ip address add 10.77.0.1/32 dev lo
net=0
for site in kobe kyushu; do
  net=$((net + 1)) here=c$net.$$ there=s$net.$$
  ip netns add "$space-$site"
  mkfifo "$work/$site.delay"
  "$work/delayed_link" "$here" "$there" "$mbit" <"$work/$site.delay" >"$work/$site.link" &
  exec {delay}>"$work/$site.delay"
  declare "delay_of_$site=$delay"
  until_said "$site.link" ready
  ip link set "$here" netns "$space-chiba"
  ip link set "$there" netns "$space-$site"
  within chiba ip address add "10.77.$net.1/24" dev "$here"
  within chiba ip link set "$here" up
  within "$site" ip address add "10.77.$net.2/24" dev "$there"
  within "$site" ip link set "$there" up
  within "$site" ip link set lo up
  within "$site" ip route add 10.77.0.1 via "10.77.$net.1"
done
set_delays() {  # with | without
  local site fd
  for site in kobe kyushu; do
    fd=delay_of_$site
    if [[ $1 == with ]]; then echo "${one_way[$site]}" >&"${!fd}"; else echo 0 >&"${!fd}"; fi
  done
}

relay_at() {  # SITE HOST ARGUMENT…
  : >"$work/$1.err"
  become "$1" "$cleave" relay --folder "$work/$1" --site "$1" --host "$2" "${@:3}" 2>>"$work/$1.err" &
  until_said "$1.err" 'cleave relay: ready: .*'
}
serve_at() {  # SITE
  invite "$1" "$1-m"
  : >"$work/$1-m.err"
  become "$1" "$bin/queens" --serve "$work/$1-m.cleave" --workers 1 2>"$work/$1-m.err" &
  until_said "$1-m.err" 'cleave: .* offers .*'
}
set_delays with
relay_at chiba 10.77.0.1
for site in kobe kyushu; do
  "$cleave" invite "$site" --relay --folder "$work/chiba" --output "$work/$site.cleave" >/dev/null
  relay_at "$site" 127.0.0.1 --upstream "$work/$site.cleave"
  until_said "$site.err" 'cleave relay: joined .*'
done
# The delays are there: a connection takes a round trip.
for site in kobe kyushu; do
  took=$(within "$site" bash -c 'begin=$EPOCHREALTIME; exec 3<>/dev/tcp/10.77.0.1/4222; end=$EPOCHREALTIME; echo $((${end/./} - ${begin/./}))')
  ((took >= 2 * one_way[$site])) || fail "a connection from $site took $took us"
done
for site in "${sites[@]}"; do serve_at "$site"; done
invite chiba me
all_there() { within chiba "$cleave" nodes "$work/me.cleave" >"$work/nodes" && [[ $(grep -c queens "$work/nodes") == 3 ]]; }
patiently all_there || fail "not all sites are there: $(cat "$work/nodes" "$work"/*.err)"

# run with|without: appends its time to $work/with or $work/without
run() {
  set_delays "$1"
  within chiba timeout 550 "$cleave" submit --root chiba.chiba-m "$work/me.cleave" queens "$n" --json >"$work/out" 2>"$work/err"
  local status=$?
  grep -q "\"answer\":${answers[$n]},.*\"workers\":3,.*\"nodes\":3,\"silent\":0," "$work/out" ||
    fail "$1 delays: status $status: $(cat "$work/out" "$work/err" "$work"/*-m.err)"
  sed -n 's/.*"seconds":\([0-9.e+-]*\),.*/\1/p' "$work/out" >>"$work/$1"
  echo "sites: queens $n $1 delays: $(sed -n 's/.*"seconds":\([0-9.e+-]*\),.*"tasks_crossed":\([0-9]*\),"messages":\([0-9]*\),"bytes":\([0-9]*\).*/\1 s, \2 tasks crossed, \3 messages, \4 bytes/p' "$work/out")"
}
for ((k = 1; k <= ${CLEAVE_RUNS:-1}; ++k)); do
  run with
  run without
done
# A site is cut off for five seconds in the middle of a job, and comes back.
set_delays with
become chiba "$cleave" submit --root chiba.chiba-m "$work/me.cleave" queens 16 >"$work/cut" 2>"$work/cut.err" &
job=$!
kobe_computes() { within chiba "$cleave" nodes --json "$work/me.cleave" >"$work/nodes" 2>&1 && grep -qE '"machine":"kobe.kobe-m"[^}]*"computing":1' "$work/nodes"; }
patiently kobe_computes || fail "kobe does not help: $(cat "$work/nodes")"
within chiba ip link set "c1.$$" down
sleep 5
kill -0 "$job" 2>/dev/null || fail "the job was over before the site came back"
within chiba ip link set "c1.$$" up
ended "$job" 0 "with a site that was cut off"
says cut '^answer +14772512 solutions$'

efficiency=$(paste "$work/with" "$work/without" | awk '{ r[NR] = 100 * $2 / $1 } END {
  for (i = 1; i <= NR; i++) for (j = i + 1; j <= NR; j++) if (r[j] < r[i]) { t = r[i]; r[i] = r[j]; r[j] = t }
  printf "%.1f %.1f %.1f", r[int((NR + 1) / 2)], r[1], r[NR] }')
read -r median least most <<<"$efficiency"
(($(nproc) >= 3)) || echo "sites: $(nproc) CPUs for three workers: while one is idle the others get its share, so delays cost less than they would"
echo "sites: efficiency $median % (median of ${CLEAVE_RUNS:-1}; $least to $most)"
[[ -z ${CLEAVE_EFFICIENCY:-} ]] || awk "BEGIN { exit !($median >= $CLEAVE_EFFICIENCY) }" || fail "less than $CLEAVE_EFFICIENCY %"
exit "$((failures > 0))"
