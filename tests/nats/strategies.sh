#!/usr/bin/env bash
# labels: once slow
# Whom nodes ask (CLEAVE_ASK), at four sites in network namespaces: kobe, keio and kyushu are joined to chiba by the links of
# Table 2 of Hiraishi et al.: 570 Mbit/s and 17.7 ms for a round trip, 94.5 and 7.77, 113 and 26.7. Each site has a relay and
# a machine of eight workers. Their work is a tree whose nodes take 1 ms each, in which a worker sleeps: so 32 workers, each as
# fast as if it had a CPU, fit on two CPUs. Every node of the tree is visited once; prints, for each strategy, the efficiency
# (time of one worker / (workers × time)), what part of the time each site's workers computed, and the simulator's figures
# for the same tree, workers and links. Needs root.
#
# CLEAVE_RUNS: of each (1; in turns), CLEAVE_STRATEGIES: which (all), CLEAVE_DEPTH: of the tree (7; 8 is four times as much),
# CLEAVE_MACHINES: of each site (1), CLEAVE_SITE_WORKERS: of each machine (8), CLEAVE_COST, CLEAVE_SLICE: microseconds for a
# node of the tree (1000), and between two looks for requests (500), CLEAVE_GAIN: percent of its time that the fourth site
# computes more by near-first than by relay-random, at least; then relay-random must also be the slowest, and near-first at
# most 5 % behind the best (none).
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/nats/machines.bash"
source "$CLEAVE_SOURCE_DIR/tests/nats/spaces.bash"
sites=(chiba kobe keio kyushu)
# Who sleeps is to be woken in time, however busy the machine is: compilers beside this one cost a third of the efficiency.
chrt --rr --pid 1 $$ 2>/dev/null || echo "strategies: without real-time priority, other processes delay what is measured"
declare -A mbit=([kobe]=570 [keio]=94.5 [kyushu]=113)
declare -A one_way=([kobe]=8850 [keio]=3885 [kyushu]=13350)  # microseconds
depth=${CLEAVE_DEPTH:-7} machines=${CLEAVE_MACHINES:-1} each=${CLEAVE_SITE_WORKERS:-8} runs=${CLEAVE_RUNS:-1}
declare -A nodes_of=([6]=16000 [7]=63914 [8]=257042)
read -ra strategies <<<"${CLEAVE_STRATEGIES:-near-first random two-choices least-split relay-random}"
cost=${CLEAVE_COST:-1000} slice=${CLEAVE_SLICE:-500}  # microseconds: for each node of the tree; between two looks for requests
workers=$((4 * machines * each))
program=$bin/wait_tree
[[ -x $program && -x $bin/sim ]] || { echo "skipped: built without wait_tree or sim"; exit 77; }

trap 'end_all; end_spaces; rm -rf "$work"' EXIT
need_spaces chiba
for site in "${sites[@]:1}"; do
  join_space "$site" "${mbit[$site]}"
  delay_link "$site" "${one_way[$site]}"
done
relays_at "${sites[@]}"
serve_at() {  # NUMBER SITE MACHINE: the number is what wait_tree calls the site
  invite "$2" "$3"
  : >"$work/$3.err"
  SITE_NUMBER=$1 become "$2" "$program" --serve "$work/$3.cleave" --workers "$each" 2>"$work/$3.err" &
  until_said "$3.err" 'cleave: .* offers .*'
}
for number in 0 1 2 3; do
  for ((k = 1; k <= machines; ++k)); do serve_at "$number" "${sites[number]}" "${sites[number]}-m$k"; done
done
invite chiba me
all_there() { within chiba "$cleave" nodes "$work/me.cleave" >"$work/nodes" && [[ $(grep -c wait_tree "$work/nodes") == $((4 * machines)) ]]; }
patiently all_there || fail "not all sites are there: $(cat "$work/nodes" "$work"/*.err)"

# run STRATEGY: appends to $work/STRATEGY the efficiency and the part of the time that each site computed, in percent.
run() {
  CLEAVE_ASK=$1 within chiba timeout 300 "$cleave" submit --root chiba.chiba-m1 "$work/me.cleave" wait_tree \
    "$depth" 19 "$cost" "$slice" "$((4 * machines))" >"$work/out" 2>"$work/err"
  local status=$? number='([0-9.e+-]+)'
  sed -nE "s/^.*\"seconds\":$number,\"visited\":\[$number,$number,$number,$number\],\"nodes\":$((4 * machines)),\"workers\":$workers,\"asks\":\"$1\",.*/\1 \2 \3 \4 \5/p" \
    "$work/out" | awk -v cost="$cost" -v w="$workers" -v tree="${nodes_of[$depth]}" '
      $2 + $3 + $4 + $5 == tree {
        p = 1e-4 * cost / $1 / w
        printf "%.2f %.2f %.2f %.2f %.2f\n", p * tree, 4 * p * $2, 4 * p * $3, 4 * p * $4, 4 * p * $5
        right = 1
      }
      END { exit !right }' >>"$work/$1" || fail "$1: status $status: $(cat "$work/out" "$work/err" "$work"/*-m*.err)"
}
for ((k = 1; k <= runs; ++k)); do
  for strategy in "${strategies[@]}"; do run "$strategy"; done
done
chrt --other --pid 0 $$ 2>/dev/null
simulate() {  # STRATEGY: the same columns, in $work/simulated-STRATEGY
  local seed number='([0-9.e+-]+)'
  for seed in 1 2 3 4 5; do
    "$bin/sim" scale --sites four --workers "$workers" --node-workers "$each" --depth "$depth" --tree 19 --cost "$cost" \
      --poll "$slice" --seed "$seed" --strategies "$1" --json
  done | sed -nE "s/.*\"busy\":\[$number,$number,$number,$number\],.*\"efficiency\":$number,.*/\5 \1 \2 \3 \4/p" |
    awk '{ printf "%.2f %.2f %.2f %.2f %.2f\n", 100 * $1, 100 * $2, 100 * $3, 100 * $4, 100 * $5 }' >"$work/simulated-$1"
  [[ $(wc -l <"$work/simulated-$1") == 5 ]] || fail "the simulator: $1"
}
for strategy in "${strategies[@]}" server-random; do simulate "$strategy"; done

# median FILE COLUMN
median() { awk -v c="$2" '{ print $c }' "$work/$1" | sort -g | awk '{ v[NR] = $1 } END { printf "%.1f", v[int((NR + 1) / 2)] }'; }
row() {  # FILE
  printf '%7s' "$(median "$1" 1)"
  printf ' %6s' "$(median "$1" 2)" "$(median "$1" 3)" "$(median "$1" 4)" "$(median "$1" 5)"
}
echo "strategies: $workers workers, $((nodes_of[$depth] * cost / 1000000)) s of work; median of $runs, in percent: efficiency, then how much"
echo "strategies: of the time chiba, kobe, keio and kyushu computed; on the right simulated, median of 5 seeds"
for strategy in "${strategies[@]}"; do
  [[ -s $work/$strategy ]] && printf 'strategies: %-14s %s | %s\n' "$strategy" "$(row "$strategy")" "$(row "simulated-$strategy")"
done
printf 'strategies: %-14s %35s | %s\n' server-random "" "$(row simulated-server-random)"
# holds VALUE OPERATOR VALUE
holds() { awk "BEGIN { exit !($1 $2 $3) }"; }
if [[ -n ${CLEAVE_GAIN:-} && $failures == 0 ]]; then
  for what in "" simulated-; do
    by=${what:-measured-}
    ours=$(median "${what}near-first" 1) theirs=$(median "${what}relay-random" 1)
    holds "$(median "${what}near-first" 5) - $(median "${what}relay-random" 5)" ">=" "$CLEAVE_GAIN" ||
      fail "${by%-}: the fourth site gains less than $CLEAVE_GAIN % by near-first"
    for strategy in "${strategies[@]}"; do
      holds "$(median "$what$strategy" 1)" ">=" "$theirs" || fail "${by%-}: $strategy is slower than relay-random"
      holds "$(median "$what$strategy" 1) - $ours" "<=" 5 || fail "${by%-}: near-first is far behind $strategy"
    done
  done
fi
exit "$((failures > 0))"
