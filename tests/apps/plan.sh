#!/usr/bin/env bash
# labels: once
# `cleave plan` takes a network's parameters, which `cleave study net` writes, for those of the run that was recorded.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
cd "$work" || exit 1

"$bin/md" 10 --steps 3 --plan md.plan >/dev/null || fail "md: exit status $?"
network() { printf '{"name": "%s", "L_us": %s, "o_us": %s, "g_us": 1, "G_us_per_byte": %s, "error": 0.1}' "$@"; }
file() { printf '{"cleave_network": 1, "networks": [%s]}' "$(IFS=, && echo "$*")"; }
file "$(network openmpi 1 1 1)" "$(network cleave-fast 0 0 0)" "$(network cleave-slow 1e6 250 0.5)" \
  "$(network cleave-same 9 0.5 0.0001)" >network.json

# forecast ARGUMENT…: seconds on 8 nodes of one worker; $work/out has all.
forecast() {
  "$bin/cleave" plan md.plan --nodes 8 --workers 1 "$@" >out 2>err || fail "plan $*: exit status $?: $(cat err)"
  awk '$1 == 8 && $2 == 1 { print $3 }' out
}
says() { grep -qxF -- "$1" out || fail "no line '$1': $(head -6 out)"; }
recorded=$(forecast)
says "transit      10.0 us, and 0.100 us for each 1000 bytes"
fast=$(forecast --network network.json)
says "transit      0.0 us, and 0.000 us for each 1000 bytes: cleave-fast"
slow=$(forecast --network network.json --transport cleave-slow)
says "transit      1000500.0 us, and 500.000 us for each 1000 bytes: cleave-slow"
# What costs as much as it was recorded gives the same forecast. One that costs nothing can give a longer one than that: where a
# subtask runs is chosen anew, and by lists.
same=$(forecast --network network.json --transport cleave-same)
says "transit      10.0 us, and 0.100 us for each 1000 bytes: cleave-same"
one=$("$bin/cleave" plan md.plan --nodes 1 --workers 1 | awk '$1 == 1 && $2 == 1 { print $3 }')
awk "BEGIN { exit !($same == $recorded && $fast < $slow && $slow == $one) }" ||
  fail "seconds on 8 nodes: $fast where messages cost nothing, $recorded as recorded, $same where they cost as much, $slow over a slow network; on one $one"
"$bin/cleave" plan md.plan --network network.json --json | grep -q '"network":"cleave-fast"' || fail "--json tells no network"

refuses "cleave: --transport: expected one of openmpi, cleave-fast, cleave-slow, cleave-same, as network.json has them, got 'pvm'" \
  cleave plan md.plan --network network.json --transport pvm
refuses "cleave: --transport: expected --network too" cleave plan md.plan --transport openmpi
refuses "none.json: expected a readable file that is not empty, got No such file or directory" cleave plan md.plan --network none.json
file "$(network slow -1 0 0)" >bad.json
refuses "bad.json: expected the network.json of \`cleave study net\`, got \"L_us\": -1" cleave plan md.plan --network bad.json
file >bad.json
refuses "bad.json: expected the network.json of \`cleave study net\`, got no networks" cleave plan md.plan --network bad.json
exit "$((failures > 0))"
