# For scripts that run relays; after checks.bash. Ends those that are left when the script ends, however it ends.
speak=$CLEAVE_BINARY_DIR/tests/programs/nats_speak
[[ -x $speak ]] || { echo "skipped: built without nats.c"; exit 77; }
PATH=$PATH:/usr/sbin
command -v nats-server >/dev/null || { echo "skipped: no nats-server"; exit 77; }
"$bin/cleave" relay --folder /dev/null 2>&1 | grep -q "built without" && { echo "skipped: built without OpenSSL"; exit 77; }
umask 022
trap 'kill -KILL $(jobs -p) 2>/dev/null; wait 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 1

# Subjects (src/nats/subjects.hpp); machines are SITE.NAME, and the process of each is p.
#   letter FROM TO [KIND]   from a machine to another
#   news FROM               to all
#   to WHO, all_by WHO      the patterns of what is sent to them, and of what they tell all
in_turn() {  # VERB MISSING TO FROM
  local i first second text=cleave.$1
  IFS=. read -ra first <<<"$3"
  IFS=. read -ra second <<<"$4"
  for ((i = 0; i < ${#first[@]} || i < ${#second[@]}; i++)); do text+=.${first[i]:-$2}.${second[i]:-$2}; done
  echo "$text"
}
letter() { echo "$(in_turn to '~' "$2.p" "$1.p").${3:-hello}"; }
news() { in_turn all '~' news "$1.p"; }
to() { echo "$(in_turn to '*' "$1" '').>"; }
all_by() { echo "$(in_turn all '*' '' "$1").>"; }

# wait_for LINE FILE: until the file has it (a regular expression); fails after 60 s.
wait_for() {
  for ((i = 0; i < 3000; i++)); do
    grep -qE -- "$1" "$2" 2>/dev/null && return
    sleep 0.02
  done
  fail "'$1' did not appear in $(basename "$2"): $(cat "$2")"
  return 1
}
# background NAME COMMAND…: runs it, with NAME.log for what it prints; its process is ${of[NAME]}.
declare -A of
background() {
  local name=$1
  shift
  : >"$name.log"
  setpriv --pdeathsig KILL "$@" >"$name.log" 2>&1 &
  of[$name]=$!
}
# relay NAME [OPTION…]: one in the folder NAME, on a free port of 127.0.0.1; returns when it serves.
relay() {
  local name=$1
  shift
  background "$name" "$bin/cleave" relay --folder "$name" "$@"
  wait_for "ready: " "$name.log"
}
# child NAME: the process that it has started.
child() { tr -d ' ' <"/proc/${of[$1]}/task/${of[$1]}/children"; }
# new_relay SITE [OPTION…]
new_relay() { relay "$1" --site "$1" --listen 127.0.0.1 --port 0 "${@:2}"; }
# ends NAME SIGNAL STATUS
ends() {
  kill "-$2" "${of[$1]}"
  wait "${of[$1]}" 2>/dev/null
  local status=$?
  [[ $status == "$3" ]] || fail "$1 after SIG$2: status $status, expected $3"
}
# says STATUS TEXT COMMAND…: what the command prints has the text (a regular expression).
says() {
  local status expected=$1 text=$2
  shift 2
  "$@" >said 2>&1 </dev/null
  status=$?
  [[ $status == "$expected" ]] || fail "$*: status $status, expected $expected: $(cat said)"
  [[ -z $text ]] || grep -qE -- "$text" said || fail "$*: '$(cat said)', expected '$text'"
}
# logged N LINE FILE: so many lines of it are like that, at the latest after 60 s.
logged() {
  local n
  for ((i = 0; i < 3000; i++)); do
    n=$(grep -cE -- "$2" "$3")
    ((n >= $1)) && break
    sleep 0.02
  done
  [[ $n == "$1" ]] || fail "$3: $n lines are '$2', expected $1: $(cat "$3")"
}
