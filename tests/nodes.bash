# For scripts that need several nodes, after checks.bash: this machine as N of them and a head, joined by a switch. A node has a host name,
# a network, processes, IPC and /dev/shm of its own, all other files are shared. Everything ends with the script, however that ends.
#   nodes_start N                 nodes node1 … nodeN; ends the script as skipped, saying why, where that needs more rights
#   on_node I COMMAND…            runs it there, with this environment; in the background it ends with the node
#   on_head COMMAND…              runs it where the nodes' network begins, with the files and processes of this machine
#   launch_on_nodes MPI RANKS …   a job's command, in `command`, to be run by on_head: as many ranks on each node. Nodes get the environment
#                                 that ssh would give them, and what mpirun adds to it
nodes=()  # their first processes
nodes_head=

nodes_skip() {
  echo "skipped: $*"
  exit 77
}

# nodes_hold NAME OPTION…: namespaces that a process holds until the script ends; sets `held`, its id.
nodes_hold() {
  local name=$1 hosts=$work/nodes/hosts ready=$work/nodes/$1 k
  mkfifo "$ready"
  # A node's first process is Bash, which waits for whatever is left without a parent there.
  setpriv --pdeathsig KILL unshare --net --uts --mount "${@:2}" bash -c '
    hostname "$0" && mount --bind "$1" /etc/hosts && ip link set lo up || exit 1
    [[ $$ != 1 ]] || mount -t tmpfs -o mode=1777 tmpfs /dev/shm || exit 1
    echo ready >"$2"
    [[ $$ == 1 ]] || exec sleep infinity
    exec 2>/dev/null
    while :; do sleep infinity & wait; done' "$name" "$hosts" "$ready" <>"$ready" >"$work/nodes/$1.out" 2>&1 &
  held=$!
  nodes_held+=("$held")
  for ((k = 0; k < 60; ++k)); do
    ! read -r -t 1 <>"$ready" || return 0
    kill -0 "$held" 2>/dev/null || nodes_skip "no namespaces for a node here: $(tr '\n' ' ' <"$work/nodes/$1.out")"
  done
  echo "FAILED: $name is not ready after a minute: $(cat "$work/nodes/$1.out")"
  exit 1
}
nodes_held=()

nodes_start() {
  local i tool
  PATH=$PATH:/usr/sbin
  ((EUID == 0)) || nodes_skip "nodes on one machine are namespaces, which need root"
  for tool in ip unshare nsenter setpriv; do
    command -v "$tool" >/dev/null || nodes_skip "nodes on one machine need $tool (Debian: iproute2, util-linux)"
  done
  unshare --net --uts --ipc --mount --pid --fork true 2>"$work/err" || nodes_skip "no namespaces here: $(cat "$work/err")"
  mkdir "$work/nodes"
  trap 'nodes_stop; rm -rf "$work"' EXIT
  {
    echo "127.0.0.1 localhost"
    echo "10.77.0.254 head"
    for ((i = 1; i <= $1; ++i)); do echo "10.77.0.$i node$i"; done
  } >"$work/nodes/hosts"
  nodes_hold head
  nodes_head=$held
  on_head ip link add name switch type bridge || nodes_skip "no bridge between namespaces here"
  on_head ip addr add 10.77.0.254/24 dev switch
  on_head ip link set switch up
  for ((i = 1; i <= $1; ++i)); do
    nodes_hold "node$i" --ipc --pid --fork --kill-child --mount-proc
    nodes[i]=$(pgrep -P "$held")
    ip link add name "port$i" netns "$nodes_head" type veth peer name eth0 netns "${nodes[i]}" || nodes_skip "no veth here"
    on_head ip link set "port$i" master switch up
    on_node "$i" ip addr add "10.77.0.$i/24" dev eth0
    on_node "$i" ip link set eth0 up
    printf 'node%d %d\n' "$i" "${nodes[i]}" >>"$work/nodes/ids"
  done
  # As ssh: HOST COMMAND…, after options.
  nodes_agent=$work/nodes/agent
  cat >"$nodes_agent" <<END2
#!/bin/bash
while [[ \$1 == -* ]]; do shift; done
id=\$(sed -n "s/^\$1 //p" "$work/nodes/ids")
[[ -n \$id ]] || { echo "agent: no node \$1" >&2; exit 1; }
exec env -i HOME="\$HOME" PATH="\$PATH" nsenter --target "\$id" --net --uts --ipc --mount --pid bash -c "\${*:2}"
END2
  chmod +x "$nodes_agent"
}

on_node() { nsenter --target "${nodes[$1]}" --net --uts --ipc --mount --pid env -C "$PWD" -- "${@:2}"; }
on_head() { nsenter --target "$nodes_head" --net --uts --mount env -C "$PWD" -- "$@"; }

launch_on_nodes() {
  local mpi=$1 ranks=$2 hosts each
  shift 2
  ((each = ranks / (${#nodes[@]})))
  launcher "$mpi"
  hosts=$(sed "s/ .*/:$each/" "$work/nodes/ids" | paste -sd,)
  case $mpi in
    openmpi*) command=("$mpirun" --host "$hosts" --mca plm_rsh_agent "$nodes_agent" --mca plm_rsh_no_tree_spawn 1 --bind-to none) ;;
    mpich) command=("$mpirun" -launcher ssh -launcher-exec "$nodes_agent" -hosts "$hosts" -genv UCX_TLS tcp,self) ;;
  esac
  command+=(-n "$ranks" "$@")
}

nodes_stop() {
  ((${#nodes_held[@]} == 0)) || kill -9 "${nodes_held[@]}" 2>/dev/null
  wait "${nodes_held[@]}" 2>/dev/null
  nodes_held=()
}
