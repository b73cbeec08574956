#!/usr/bin/env bash
# labels: timing once
# The third paper's networks: sixteen hosts in network namespaces, on a switch whose ports carry 10 Mbit/s each way, and on a
# medium of 10 Mbit/s that all share. `cleave study net` runs on both, and says whether the paper's findings hold here: a
# broadcast by a tree is before a flat one from 8 nodes at 256 KB and from 4 at 1 MB, and nearly 4 times as fast with 16; pairs
# that send at once do not disturb each other on the switch, and share the medium. Needs root.
#
# CLEAVE_MBIT: of a port, and of the medium (20; the paper: 10), CLEAVE_NETWORKS: over what (openmpi, else mpich; not
# cleave-nats, whose relay is on neither network), CLEAVE_RUNS: passes (1), CLEAVE_SWITCH_OUT: where the pages and the JSON go
# (nowhere).
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/nodes.bash"
hosts=16 mbit=${CLEAVE_MBIT:-20} runs=${CLEAVE_RUNS:-1} out=${CLEAVE_SWITCH_OUT:-$work}
networks=${CLEAVE_NETWORKS:-}
for mpi in openmpi mpich; do
  [[ -n $networks || ! -x $bin/net-$mpi ]] || ! command -v "mpirun.$mpi" >/dev/null || networks=$mpi
done
[[ -n $networks ]] || { echo "skipped: no MPI (Debian: libopenmpi-dev, openmpi-bin)"; exit 77; }
PATH=$PATH:/usr/sbin
command -v tc >/dev/null || { echo "skipped: no tc (Debian: iproute2)"; exit 77; }
nodes_start "$hosts"
names=$(seq -s, -f 'node%.0f' "$hosts")
# Ranks that wait leave the CPUs to others: there are more than CPUs, which Open MPI does not see from a host.
export OMPI_MCA_mpi_yield_when_idle=1
export CLEAVE_PLUGINS=$CLEAVE_BINARY_DIR/lib OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# A queue of a fifth of a second, as switches have.
limit() { "$@" root tbf rate "${mbit}mbit" burst 3000 limit $((mbit * 25000)) || nodes_skip "no tc tbf here"; }
make_switch() {
  for ((i = 1; i <= hosts; ++i)); do
    limit on_head tc qdisc replace dev "port$i"
    limit on_node "$i" tc qdisc replace dev eth0
  done
}
# Ports are cut off from each other; a host beyond one more port, which answers for all of them, sends on what comes.
share_medium() {
  nodes_hold medium
  medium=$held
  ip link add name uplink netns "$nodes_head" type veth peer name wire netns "$medium" || nodes_skip "no veth here"
  on_head ip link set uplink master switch up
  on_medium() { nsenter --target "$medium" --net -- "$@"; }
  on_medium ip addr add 10.77.0.253/24 dev wire
  on_medium ip link set wire up
  on_medium bash -c 'cd /proc/sys/net/ipv4 && echo 0 >conf/all/send_redirects && echo 0 >conf/wire/send_redirects &&
    echo 1 >conf/wire/proxy_arp_pvlan && echo 1 >ip_forward' || nodes_skip "no proxy ARP here"
  limit on_medium tc qdisc replace dev wire
  for ((i = 1; i <= hosts; ++i)); do
    on_head tc qdisc del dev "port$i" root
    on_node "$i" tc qdisc del dev eth0 root
    on_head ip link set "port$i" type bridge_slave isolated on || nodes_skip "no isolated ports of bridges here"
    on_node "$i" ip neigh flush dev eth0
  done
}

# study SET-UP: its tables are in $work/SET-UP.txt.
study() {
  on_head "$bin/cleave" study net --networks "$networks" --hosts "$names" --agent "$nodes_agent" \
    --ranks 2,4,8,16 --bytes 1,1024,16384,262144,1048576 --barriers 100 --milliseconds 50 --passes "$runs" -o "$out/$1" \
    >"$work/$1.txt" 2>"$work/$1.err" || fail "$1: exit status $?: $(tail -3 "$work/$1.err")"
  ! grep '^failed' "$work/$1.txt" || fail "$1: a run failed"
}
make_switch
study switch
share_medium
study shared

# here SET-UP NETWORK PAPER: what the finding that begins with these words is here, and whether it holds.
here() {
  awk -v network="$2" -v paper="$3" '
    { sub(/^ */, ""); sub(/,$/, ""); at = index($0, ": "); value = substr($0, at + 3); sub(/"$/, "", value) }
    /^"paper"/ { of = index(value, paper) == 1 } /^"network"/ { n = value } /^"here"/ { text = value }
    /^"holds"/ && of && n == network { print text "|" value; exit }' "$out/$1/net.json"
}
# times TEXT N: what a text like "1.00 with 2, 1.52 with 4" has for N.
times() { sed -nE "s/.*[ :]([0-9.]+) (with|by) $2(,.*)?$/\1/p" <<<"$1"; }
# judge WHAT FIGURES CONDITION: the condition is one of awk.
judge() {
  local holds=holds
  awk "BEGIN { exit !($3) }" || { holds="does not hold"; failures=$((failures + 1)); }
  printf 'switch: %-15s %-52s %s: %s\n' "$network" "$1" "$2" "$holds"
}
tree="a broadcast of" with16="with 16 nodes and 1 MB" pairs="on a switch pairs"
for network in ${networks//,/ }; do
  for finding in "$tree 256 KB" "$tree 1 MB" "$with16"; do
    IFS='|' read -r text holds < <(here switch "$network" "$finding")
    judge "$finding: a tree is before flat" "$text" "\"$holds\" == \"yes\""
  done
  IFS='|' read -r text _ < <(here shared "$network" "$with16")
  judge "on the shared medium, 16 nodes and 1 MB" "$text" "${text% times} + 0 > 0.75 && ${text% times} + 0 < 1.33"
  IFS='|' read -r text _ < <(here switch "$network" "$pairs")
  judge "pairs on the switch" "$text" "$(times "$text" 8) + 0 > 5"
  IFS='|' read -r text _ < <(here shared "$network" "$pairs")
  judge "pairs on the shared medium" "$text" "$(times "$text" 8) + 0 > 0.5 && $(times "$text" 8) + 0 < 1.5 * ($(times "$text" 2) + 0)"
done
exit "$((failures > 0))"
