#!/usr/bin/env bash
# labels: once slow
# kill -9 of a random server other than the root's each second, with a new one joining, in the middle of queens 16 on four
# servers: the answer is right. In a second series the relay is killed and started again every five seconds, too; in a third
# one the root's server is killed once, after three seconds, and the job begins again.
# CLEAVE_RUNS says how often each (1), CLEAVE_QUEENS the size (16).
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/nats/machines.bash"
n=${CLEAVE_QUEENS:-16}
answers=([14]=365596 [15]=2279184 [16]=14772512 [17]=95815104)
begin_relay relay --site here --port 0
names=(m0 m1 m2 m3)
invite relay "${names[@]}" me
servers=()
add() {  # INDEX
  offer "${names[$1]}" "$bin/queens" --workers 1
  servers[$1]=$server
}
quietly() { { kill -9 "$1"; wait "$1"; } 2>/dev/null; }  # and without a word of the shell

# has_root: the index of the server that has said that the job begins there, as `first`.
has_root() {
  local k
  for k in "${!names[@]}"; do
    if grep -q 'begins here' "$work/${names[$k]}.queens.err"; then
      first=$k
      return 0
    fi
  done
  return 1
}

series() {  # RUNS SECONDS ROOT: relay and root's server live for so long; 0: throughout
  local run k right=0 killed=0 restarted=0 slowest=0 victim since root
  for ((run = 1; run <= $1; ++run)); do
    for k in "${!names[@]}"; do
      [[ -z ${servers[$k]:-} ]] || quietly "${servers[$k]}"
      add "$k"
    done
    SECONDS=0 since=0 root=$3
    begin_job out --patience 30 "$work/me.cleave" queens "$n"
    patiently has_root || fail "no server has the root"
    while kill -0 "$job" 2>/dev/null; do
      sleep 1
      victim=$(((first + 1 + RANDOM % 3) % 4))
      ((root && SECONDS >= root)) && victim=$first
      quietly "${servers[$victim]}"
      killed=$((killed + 1))
      if (($2 && SECONDS - since >= $2)); then
        quietly "$relay"
        begin_relay relay
        since=$SECONDS restarted=$((restarted + 1))
      fi
      add "$victim"
      if [[ $victim == "$first" ]]; then
        root=0
        patiently has_root || fail "the job does not begin again: $(cat "$work/out.err")"
      fi
      ((SECONDS < 600)) || { fail "run $run does not end: $(cat "$work"/*.err)"; quietly "$job"; break; }
    done
    wait "$job"
    status=$?
    ((SECONDS <= slowest)) || slowest=$SECONDS
    if [[ $status == 0 ]] && grep -q "^answer  *${answers[$n]} solutions" "$work/out"; then right=$((right + 1))
    else fail "run $run: status $status: $(cat "$work/out" "$work"/*.err)"
    fi
  done
  echo "churn: $right of $1 right, $killed servers killed, $restarted restarts of the relay, the slowest took $slowest s"
}

series "${CLEAVE_RUNS:-1}" 0 0
series "${CLEAVE_RUNS:-1}" 5 0
series "${CLEAVE_RUNS:-1}" 0 3
exit "$((failures > 0))"
