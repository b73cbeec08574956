# For scripts whose machines are far from each other, after machines.bash: network namespaces, each joined by a link with a
# delay to one in the middle, which has the address 10.77.0.1. `end_spaces` is for the script's trap, after `end_all`.
#   need_spaces MIDDLE       that one; where more rights are needed the script ends as skipped
#   join_space NAME MBIT     one more, by a link of that many Mbit/s, without a delay to begin with
#   delay_link NAME MICROS   from now on, each way
#   within NAME COMMAND…     runs it there
#   become NAME COMMAND…     the same in the background: its process is the command's
#   relays_at NAME…          a relay of that site in each, joined to the first one's, which is in the middle
# The middle's end of a link is the device ${link_of[NAME]}, in the network 10.77.N.0/24, N from 1 on.
space=cleave-$$
spaces=()
declare -A link_of=() delay_of=()

within() { ip netns exec "$space-$1" "${@:2}"; }
become() { exec ip netns exec "$space-$1" "${@:2}"; }
add_space() {
  ip netns add "$space-$1" || return
  spaces+=("$1")
  within "$1" ip link set lo up
}
why_no_spaces() {  # what is missing
  if ((EUID != 0)); then echo "this is not root"
  elif [[ ! -c /dev/net/tun ]]; then echo "there is no /dev/net/tun"
  elif ! command -v ip >/dev/null; then echo "there is no ip"
  else echo "no namespace can be made: $(ip netns add "$space-try" 2>&1)"; fi
}
begin_spaces() {  # MIDDLE: false where more rights are needed
  ((EUID == 0)) && [[ -c /dev/net/tun ]] && add_space "$1" 2>/dev/null || return
  within "$1" ip address add 10.77.0.1/32 dev lo
  "${CXX:-g++}" -std=c++20 -O2 -o "$work/delayed_link" "$CLEAVE_SOURCE_DIR/tests/nats/programs/delayed_link.cpp" || exit 1
}
need_spaces() {
  begin_spaces "$1" && return
  echo "skipped: needs root, /dev/net/tun and network namespaces (ip netns, of iproute2): $(why_no_spaces)"
  exit 77
}
join_space() {
  local net=${#spaces[@]} middle=${spaces[0]} here there delay
  here=c$net.$$ there=s$net.$$
  add_space "$1"
  mkfifo "$work/$1.delay"
  "$work/delayed_link" "$here" "$there" "$2" <"$work/$1.delay" >"$work/$1.link" &
  exec {delay}>"$work/$1.delay"
  link_of[$1]=$here delay_of[$1]=$delay
  until_said "$1.link" ready
  ip link set "$here" netns "$space-$middle"
  ip link set "$there" netns "$space-$1"
  within "$middle" ip address add "10.77.$net.1/24" dev "$here"
  within "$middle" ip link set "$here" up
  within "$1" ip address add "10.77.$net.2/24" dev "$there"
  within "$1" ip link set "$there" up
  within "$1" ip route add 10.77.0.1 via "10.77.$net.1"
}
delay_link() { echo "$2" >&"${delay_of[$1]}"; }
relay_at() {  # NAME HOST ARGUMENT…
  : >"$work/$1.err"
  become "$1" "$cleave" relay --folder "$work/$1" --site "$1" --host "$2" "${@:3}" 2>>"$work/$1.err" &
  until_said "$1.err" 'cleave relay: ready: .*'
}
relays_at() {
  local name
  relay_at "$1" 10.77.0.1
  for name in "${@:2}"; do
    "$cleave" invite "$name" --relay --folder "$work/$1" --output "$work/$name.cleave" >/dev/null
    relay_at "$name" 127.0.0.1 --upstream "$work/$name.cleave"
    until_said "$name.err" 'cleave relay: joined .*'
  done
}
end_spaces() {
  local name
  for name in "${spaces[@]}"; do ip netns del "$space-$name" 2>/dev/null; done
}
