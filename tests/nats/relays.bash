# For the scripts here, after checks.bash: a nats-server on a free port of loopback, and nodes of a job through it.
#   start_relay       starts it, waits until it answers; sets `port`, `relay`
#   stop_relay        ends it at once; start_relay starts it again on the same port
#   key SITE NAME     writes the key file of a machine; prints its name
#   node KEY ADDRESS COMMAND…   execs it as that node of job $job, whose root is on machine $root
export CLEAVE_PLUGINS=$CLEAVE_BINARY_DIR/lib
unset CLEAVE_TRANSPORT CLEAVE_KEY CLEAVE_JOB CLEAVE_NODE CLEAVE_ROOT
PATH=$PATH:/usr/sbin
if [[ ! -e $CLEAVE_PLUGINS/libcleave-nats.so ]] || ! command -v nats-server >/dev/null; then
  echo "skipped: no plug-in for NATS or no nats-server (Debian: libnats-dev, nats-server)"
  exit 77
fi
port=-1 relay= job= root=here.m0
trap 'end_all; rm -rf "$work"' EXIT
end_all() {
  [[ -z $relay ]] || kill -9 "$relay" 2>/dev/null
  local left
  left=$(jobs -p)
  [[ -z $left ]] || kill -9 $left 2>/dev/null
}

start_relay() {
  printf 'listen: 127.0.0.1:%s\nports_file_dir: "%s"\n' "$port" "$work" >"$work/relay.conf"
  nats-server -c "$work/relay.conf" -l "$work/relay.log" &
  relay=$!
  disown "$relay"
  local k
  for ((k = 0; k < 500; ++k)); do  # a machine may be busy
    port=$(sed -n 's|.*://127\.0\.0\.1:\([0-9]*\)".*|\1|p' "$work/nats-server_$relay.ports" 2>/dev/null)
    [[ -z $port ]] || return 0
    sleep 0.05
  done
  fail "nats-server does not start: $(cat "$work/relay.log")"
  exit 1
}
stop_relay() {
  kill -9 "$relay"
  while [[ -e /proc/$relay ]]; do sleep 0.02; done
  relay=
}

key() {
  local file=$work/$1.$2.cleave
  (umask 077 && printf '{"cleave": 1, "site": "%s", "name": "%s", "urls": ["nats://127.0.0.1:%s"]}' "$1" "$2" "$port" >"$file")
  echo "$file"
}
new_job() { printf -v job '%04x%04x%04x%04x' $RANDOM $RANDOM $RANDOM $RANDOM; }
node() { CLEAVE_KEY=$1 CLEAVE_JOB=$job CLEAVE_NODE=$2 CLEAVE_ROOT=$root CLEAVE_TRANSPORT=nats exec "${@:3}"; }
