#!/usr/bin/env bash
# labels: once slow
# How long it takes until a far site has what another one has found: a shared value and a gathered variable, over three sites
# in network namespaces. kobe and kyushu are joined to chiba by links of 100 Mbit/s whose delays are 8.85 and 13.35 ms each
# way. Prints, for each pair of sites, the time until the second one has what the first one has changed (a median), and
# that over the delay of the path between them. Needs root.
#
# CLEAVE_CHANGES: of each value (60), CLEAVE_FAR: what that ratio must be below (none).
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/nats/machines.bash"
source "$CLEAVE_SOURCE_DIR/tests/nats/spaces.bash"
sites=(chiba kobe kyushu)
declare -A one_way=([kobe]=8850 [kyushu]=13350)  # microseconds
program=$bin/net-far-updates
[[ -x $program ]] || { echo "skipped: built without net-far-updates"; exit 77; }

trap 'end_all; end_spaces; rm -rf "$work"' EXIT
need_spaces chiba
for site in "${sites[@]:1}"; do
  join_space "$site" 100
  delay_link "$site" "${one_way[$site]}"
done
relays_at "${sites[@]}"
for number in 0 1 2; do
  site=${sites[number]}
  invite "$site" "$site-m"
  : >"$work/$site-m.err"
  SITE_NUMBER=$number become "$site" "$program" --serve "$work/$site-m.cleave" --workers 1 2>"$work/$site-m.err" &
  until_said "$site-m.err" 'cleave: .* offers .*'
done
invite chiba me
all_there() { within chiba "$cleave" nodes "$work/me.cleave" >"$work/nodes" && [[ $(grep -c net-far-updates "$work/nodes") == 3 ]]; }
patiently all_there || fail "not all sites are there: $(cat "$work/nodes" "$work"/*.err)"

within chiba timeout 300 "$cleave" submit --root chiba.chiba-m "$work/me.cleave" net-far-updates 3 "${CLEAVE_CHANGES:-60}" \
  >"$work/out" 2>"$work/err" || fail "exit status $?: $(cat "$work/out" "$work/err" "$work"/*-m.err)"
# Number of the site that changed it and of the one that has it, microseconds (median, 10 to 90 %), how many never came.
number='([0-9.e+]+)'
for what in shared gathered; do
  grep -oE "\"$what\":\[[^]]*\]" "$work/out" | grep -oE '\{[^}]*\}' |
    sed -nE "s/.*\"from\":$number,\"to\":$number,\"lost\":$number,\"us\":$number,\"us_low\":$number,\"us_high\":$number.*/$what \1 \2 \4 \5 \6 \3/p"
done >"$work/paths"
[[ $(wc -l <"$work/paths") == 12 ]] || fail "no six paths of each: $(cat "$work/out")"
awk -v most="${CLEAVE_FAR:-0}" -v kobe="${one_way[kobe]}" -v kyushu="${one_way[kyushu]}" '
  BEGIN { split("chiba kobe kyushu", name); delay[2] = kobe; delay[3] = kyushu }
  {
    ratio = $4 / (delay[$2 + 1] + delay[$3 + 1])
    printf "far_updates: %s, %s to %s: %.1f ms (%.1f to %.1f), %.2f of the delay\n",
      $1, name[$2 + 1], name[$3 + 1], $4 / 1000, $5 / 1000, $6 / 1000, ratio
    if ($7 > 0 || ratio < 1 || (most > 0 && ratio >= most)) bad = 1
  }
  END { exit bad }' "$work/paths" || fail "a change was lost, came too early or, if CLEAVE_FAR says so, too late"
exit "$((failures > 0))"
