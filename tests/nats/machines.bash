# For the scripts here, after checks.bash: machines that offer programs, behind a relay of `cleave relay`.
#   begin_relay FOLDER ARGUMENT…  starts it in $work/FOLDER, waits until it serves; sets `relay`
#   invite FOLDER NAME…           key files $work/NAME.cleave
#   offer NAME PROGRAM [ARG…]     PROGRAM --serve $work/NAME.cleave, what it says in $work/NAME.PROGRAM.err; waits until it
#                                 serves; sets `server`
#   submit ARG…                   cleave submit; sets `status`; $work/out, $work/err
#   begin_job OUT ARG…            the same in the background, $work/OUT and $work/OUT.err; sets `job`
#   until_nodes REGEX             waits until `cleave nodes --json` says that
#   until_said FILE REGEX         waits until a line of $work/FILE is that
cleave=$bin/cleave
export CLEAVE_PLUGINS=$CLEAVE_BINARY_DIR/lib
unset CLEAVE_TRANSPORT CLEAVE_KEY CLEAVE_JOB CLEAVE_NODE CLEAVE_ROOT CLEAVE_WORKERS
PATH=$PATH:/usr/sbin
if [[ ! -e $CLEAVE_PLUGINS/libcleave-nats.so ]] || ! command -v nats-server >/dev/null || [[ ! -x $cleave ]] ||
  [[ $("$cleave" relay --folder /dev/null 2>&1) == *"built without"* ]]; then
  echo "skipped: no plug-in for NATS, no nats-server or no cleave with relays (Debian: libnats-dev, nats-server, libssl-dev)"
  exit 77
fi
trap 'end_all; rm -rf "$work"' EXIT
end_all() {
  local left
  left=$(jobs -p)
  [[ -z $left ]] || kill -9 $left 2>/dev/null
  wait 2>/dev/null
}

begin_relay() {
  : >"$work/$1.err"
  "$cleave" relay --folder "$work/$1" --host 127.0.0.1 "${@:2}" 2>>"$work/$1.err" &
  relay=$!
  until_said "$1.err" 'cleave relay: ready: .*'
}
invite() {
  local name
  for name in "${@:2}"; do
    "$cleave" invite "$name" --folder "$work/$1" --output "$work/$name.cleave" >"$work/invited" 2>&1 ||
      fail "invite $name: $(cat "$work/invited")"
  done
}
offer() {
  local said=$1.${2##*/}.err
  : >"$work/$said"
  "$2" --serve "$work/$1.cleave" "${@:3}" 2>>"$work/$said" &
  server=$!
  until_said "$said" 'cleave: .* offers .*'
}
until_said() {
  patiently grep -qxE -- "$2" "$work/$1" || fail "$1: no line '$2': $(cat "$work/$1")"
}
nodes_say() {
  timeout 60 "$cleave" nodes --json "$work/me.cleave" >"$work/nodes" 2>&1 && grep -qE -- "$1" "$work/nodes"
}
until_nodes() {
  patiently nodes_say "$1" || fail "nodes: not '$1': $(cat "$work/nodes")"
}
submit() {
  timeout 300 "$cleave" submit "$@" >"$work/out" 2>"$work/err"
  status=$?
}
begin_job() {
  "$cleave" submit "${@:2}" >"$work/$1" 2>"$work/$1.err" &
  job=$!
}
ended() {  # PID STATUS WHAT: waits for it
  wait "$1"
  local got=$?
  [[ $got == "$2" ]] || fail "$3: exit status $got, expected $2: $(cat "$work"/*.err)"
}
says() { grep -qE -- "$2" "$work/$1" || fail "$1: no '$2' in: $(cat "$work/$1")"; }
