#!/usr/bin/env bash
# labels: once slow
# Jobs in a tree of seven relays, three deep: machines of all sites are listed and work together, wherever a job is submitted;
# answers are right while one relay after the other is killed and started again.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/processes.bash"
source "$CLEAVE_SOURCE_DIR/tests/nats/machines.bash"
source "$CLEAVE_SOURCE_DIR/tests/nats/tree.bash"
runs=${CLEAVE_RUNS:-20}
declare -A relay_of=()

begin_relay chiba --site chiba --port 0; relay_of[chiba]=$relay
for site in "${sites[@]:1}"; do
  "$cleave" invite "${site##*.}" --relay --folder "$work/$(above "$site")" --output "$work/$site.key" >"$work/out" 2>&1 ||
    fail "invite $site: $(cat "$work/out")"
  begin_relay "$site" --port 0 --upstream "$work/$site.key"; relay_of[$site]=$relay
done
for site in "${sites[@]}"; do
  "$cleave" invite m1 --folder "$work/$site" --output "$work/$site.m1.cleave" >"$work/out" 2>&1 || fail "$(cat "$work/out")"
  offer "$site.m1" "$bin/queens" --workers 1
done

all_are_listed() {  # SITE: there
  timeout 60 "$cleave" nodes --json "$work/$1.m1.cleave" >"$work/nodes" 2>&1 || return
  local site
  for site in "${sites[@]}"; do grep -qF "\"machine\":\"$site.m1\"" "$work/nodes" || return; done
}
for site in "${sites[@]}"; do patiently all_are_listed "$site" || fail "nodes at $site: $(cat "$work/nodes")"; done

# A machine is named by the end of its name.
submit --json --root nara.m1 "$work/osaka.kyoto.m1.cleave" queens 12 --json
[[ $status == 0 ]] || fail "--root nara.m1: $status: $(cat "$work/err")"
says out '"server":"kobe.nara.m1",.*"answer":14200,'
submit --json --root osaka.m1 "$work/kobe.tokyo.m1.cleave" queens 12 --json
says out '"server":"osaka.m1",.*"answer":14200,'
refuses "cleave: --root: 'tokyo.m1': expected one machine, there are kobe.tokyo.m1 and osaka.tokyo.m1" \
  cleave submit --root tokyo.m1 "$work/chiba.m1.cleave" queens 12

# All sites help.
submit --json --root kobe.tokyo.m1 "$work/osaka.kyoto.m1.cleave" queens 15 --json
[[ $status == 0 ]] || fail "queens 15: $status: $(cat "$work/err")"
says out '"nodes":7,.*"answer":2279184,'

begun() { (($(cat "$work"/*.queens.err | grep -c ' begins here: ') > before)); }
for ((run = 0; run < runs; run++)); do
  from=${sites[run * 3 % 7]} victim=${sites[run % 7]}
  patiently all_are_listed "$from" || fail "run $run: the tree does not heal: nodes at $from: $(cat "$work/nodes")"
  before=$(cat "$work"/*.queens.err | grep -c ' begins here: ')
  begin_job out --json --patience 60 "$work/$from.m1.cleave" queens 15 --json
  patiently begun || fail "run $run: no job begins: $(cat "$work/out.err")"
  sleep "0.$((run * 3 % 10))"
  alive "$job" || fail "run $run: the job was too short"
  kill -9 "${relay_of[$victim]}"
  wait "${relay_of[$victim]}" 2>/dev/null
  begin_relay "$victim"; relay_of[$victim]=$relay
  ended "$job" 0 "run $run, from $from, $victim killed"
  says out '"answer":2279184,'
done
exit "$((failures > 0))"
