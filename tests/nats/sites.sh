#!/usr/bin/env bash
# labels: once slow
# Three sites, each with its relay and a machine of one worker, in network namespaces: kobe and kyushu are joined to chiba by
# links of 100 Mbit/s with round trips of 17.7 and 26.7 ms. Answers are right; prints the efficiency against the same
# without delays, in turns, and what the simulator says of the same sites and as much work; and one site is cut off for a
# while. Needs root.
#
# A worker that waits for a far site must not lend its CPU to the others, or delays would cost nothing. So with fewer than
# four CPUs each machine has a fixed share of one, by a cgroup, in the runs with delays and without: on two CPUs 60 %, and
# a fifth of a CPU is left for relays and links. Three slower machines, then, but each its own.
#
# CLEAVE_RUNS: of each (1), CLEAVE_QUEENS: the size (15), CLEAVE_SHARE: percent of a CPU for each machine (as above; 100: no
# limit), CLEAVE_EFFICIENCY: percent that it must reach, and the simulator's figure within 5 of it (none).
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/nats/machines.bash"
source "$CLEAVE_SOURCE_DIR/tests/nats/spaces.bash"
sites=(chiba kobe kyushu)
declare -A one_way=([kobe]=8850 [kyushu]=13350)  # microseconds
mbit=100 n=${CLEAVE_QUEENS:-15}
answers=([14]=365596 [15]=2279184 [16]=14772512 [17]=95815104)

groups=()
end_shares() {
  local group k
  for group in "${groups[@]}"; do
    for ((k = 0; k < 100; ++k)); do rmdir "$group" 2>/dev/null && break; sleep 0.05; done
  done
}
trap 'end_all; end_spaces; end_shares; rm -rf "$work"' EXIT
need_spaces chiba
share=${CLEAVE_SHARE:-$((($(nproc) * 100 - 20) / 3))}
make_share() {  # SITE: sets `group`; nothing if it may use a whole CPU
  group=
  ((share < 100)) || return 0
  local name=cleave-sites-$$-$1
  if [[ -e /sys/fs/cgroup/cpu/cpu.cfs_quota_us || -e /sys/fs/cgroup/cpu/cgroup.procs ]]; then
    group=/sys/fs/cgroup/cpu/$name
    mkdir "$group" && echo 10000 >"$group/cpu.cfs_period_us" && echo "$((share * 100))" >"$group/cpu.cfs_quota_us"
  else
    group=/sys/fs/cgroup/$name
    echo +cpu >/sys/fs/cgroup/cgroup.subtree_control
    mkdir "$group" && echo "$((share * 100)) 10000" >"$group/cpu.max"
  fi 2>"$work/group.err" || return 1
  groups+=("$group")
}
for site in kobe kyushu; do join_space "$site" "$mbit"; done
set_delays() {  # with | without
  local site
  for site in kobe kyushu; do
    if [[ $1 == with ]]; then delay_link "$site" "${one_way[$site]}"; else delay_link "$site" 0; fi
  done
}

serve_at() {  # SITE
  invite "$1" "$1-m"
  : >"$work/$1-m.err"
  make_share "$1" || { echo "skipped: no cgroup may be made here ($(cat "$work/group.err")); CLEAVE_SHARE=100 does without"; exit 77; }
  {
    [[ -z $group ]] || echo "$BASHPID" >"$group/cgroup.procs"
    become "$1" "$bin/queens" --serve "$work/$1-m.cleave" --workers 1 2>"$work/$1-m.err"
  } &
  until_said "$1-m.err" 'cleave: .* offers .*'
}
set_delays with
relays_at "${sites[@]}"
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
within chiba ip link set "${link_of[kobe]}" down
sleep 5
kill -0 "$job" 2>/dev/null || fail "the job was over before the site came back"
within chiba ip link set "${link_of[kobe]}" up
ended "$job" 0 "with a site that was cut off"
says cut '^answer +14772512 solutions$'

efficiency=$(paste "$work/with" "$work/without" | awk '{ r[NR] = 100 * $2 / $1 } END {
  for (i = 1; i <= NR; i++) for (j = i + 1; j <= NR; j++) if (r[j] < r[i]) { t = r[i]; r[i] = r[j]; r[j] = t }
  printf "%.1f %.1f %.1f", r[int((NR + 1) / 2)], r[1], r[NR] }')
read -r median least most <<<"$efficiency"
((share >= 100)) || echo "sites: $(nproc) CPUs, so each machine has $share % of one"
echo "sites: efficiency $median % (median of ${CLEAVE_RUNS:-1}; $least to $most)"

# The simulator: nodes of such a tree that together take as long as this job by one worker.
if [[ -x $bin/sim ]]; then
  simulated() { "$bin/sim" scale --sites three --workers 3 --depth 10 --tree 19 --strategies near-first --json "$@"; }
  work_by_one=$(sort -g "$work/without" | awk '{ t[NR] = $1 } END { print 3 * t[int((NR + 1) / 2)] }')
  tree=$(simulated --cost 6 | sed -n 's/.*"nodes":\([0-9]*\)[,}].*/\1/p')
  cost=$(awk -v w="$work_by_one" -v n="$tree" 'BEGIN { c = 1e6 * w / n; printf "%d", c < 1 ? 1 : c + 0.5 }')
  for seed in 1 2 3 4 5; do
    simulated --cost "$cost" --seed "$seed" | sed -n 's/.*"efficiency":\([0-9.]*\),.*/\1/p'
  done >"$work/simulated"
  predicted=$(sort -g "$work/simulated" | awk '{ e[NR] = $1 } END { printf "%.1f", 100 * e[int((NR + 1) / 2)] }')
  echo "sites: simulated $predicted % (median of 5 seeds; $work_by_one s of work in $tree nodes of $cost us each)"
  [[ -z ${CLEAVE_EFFICIENCY:-} ]] || awk "BEGIN { d = $median - $predicted; exit !(d < 5 && d > -5) }" ||
    fail "the simulator is wrong by more than 5 %"
fi
[[ -z ${CLEAVE_EFFICIENCY:-} ]] || awk "BEGIN { exit !($median >= $CLEAVE_EFFICIENCY) }" || fail "less than $CLEAVE_EFFICIENCY %"
exit "$((failures > 0))"
