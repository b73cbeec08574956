#!/usr/bin/env bash
# labels: once
# `cleave study net` measures each network that is here; all rows are there and make sense. Nothing here judges a time.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
export CLEAVE_PLUGINS=$CLEAVE_BINARY_DIR/lib
export TMPDIR=$work/scratch
mkdir "$TMPDIR"

"$bin/cleave" study net --quick --ranks 2,3 --bytes 8,300000 --barriers 20 --milliseconds 2 -o "$work/net" >"$work/out" 2>"$work/err" </dev/null
status=$?
if ((status == 1)) && grep -q '^cleave: no network to measure' "$work/err"; then
  echo "skipped: $(cat "$work/err")"
  exit 77
fi
((status == 0)) || fail "exit status $status: $(cat "$work/err")"
json=$work/net/net.json
grep -q '^failed' "$work/out" && fail "$(grep '^failed' "$work/out")"
grep -q '"whole_passes": 1,' "$json" || fail "the pass is not whole"
# What was measured over a network, one a line: what, ranks, algorithm, pairs, bytes.
rows() {
  awk -F'[:,] *' -v network="\"$1\"" '
    /^  "network"|^   "network"/ { take = $2 == network; what = ranks = algorithm = pairs = bytes = "-" }
    !take { next }
    /"what"/ { what = $2 } /"ranks"/ { ranks = $2 } /"algorithm"/ { algorithm = $2 } /"pairs"/ { pairs = $2 } /"bytes"/ { bytes = $2 }
    /"counts"/ { print what, ranks, algorithm, pairs, bytes }' "$json" | tr -d '"' | sort
}
expected() {  # NETWORK
  local ranks bytes algorithm algorithms="flat binomial chain"
  [[ $1 == cleave-* ]] || algorithms+=" library"
  for ranks in 2 3; do
    echo "barrier $ranks - - -"
    for bytes in 8 300000; do
      ((ranks == 3)) || printf '%s\n' "send 2 - - $bytes" "half 2 - - $bytes" "stream 2 - - $bytes"
      for algorithm in $algorithms; do echo "broadcast $ranks $algorithm - $bytes"; done
    done
  done
  echo "pairs 3 - 1 65536"
}
networks=$(sed -nE '/^  "networks": \[/,/\]/s/^   "(.*)",?$/\1/p' "$json")
[[ -n $networks ]] || fail "no networks"
for network in $networks; do
  diff <(rows "$network") <(expected "$network" | sort) >"$work/diff" || fail "$network: not the rows that are expected: $(cat "$work/diff")"
  grep -q "\"name\": \"$network\"" "$work/net/network.json" || fail "$network: no parameters"
done
grep -E '^ +(0|-[0-9.]+|null),?$' "$json" && fail "a time that is 0, or below, or none"
[[ -z $(ls "$TMPDIR") ]] || fail "left behind: $(ls "$TMPDIR")"

# Ctrl-C ends it with the whole passes, and it goes on from there.
first=${networks%%$'\n'*}
"$bin/cleave" study net --quick --networks "$first" --ranks 2 --bytes 8 --barriers 5 --milliseconds 1 --passes 1000 -o "$work/cut" >"$work/out" 2>&1 &
study=$!
patiently grep -q '"whole_passes": [1-9]' "$work/cut/net.json" 2>/dev/null || fail "no pass: $(cat "$work/out")"
kill -INT "$study"
wait "$study"
status=$?
[[ $status == 130 ]] || fail "interrupted: exit status $status: $(cat "$work/out")"
grep -q '"interrupted": true' "$work/cut/net.json" || fail "interrupted, it does not say so"
whole=$(sed -n 's/.*"whole_passes": \([0-9]*\),/\1/p' "$work/cut/net.json")
sed -i "s/\"passes\": 1000/\"passes\": $((whole + 1))/" "$work/cut/net.json"
"$bin/cleave" study net --resume -o "$work/cut" >"$work/out" 2>&1 || fail "--resume: exit status $?: $(cat "$work/out")"
grep -q "^$((whole + 1)) of $((whole + 1)) passes whole" "$work/out" || fail "--resume: $(tail -1 "$work/out")"
grep -q '"interrupted"' "$work/cut/net.json" && fail "it is still interrupted"
[[ -z $(compgen -G "$work/*/*.part*") ]] || fail "a half-written file"

refuses "cleave: --networks: expected some of openmpi, mpich, cleave-openmpi, cleave-mpich, cleave-nats, got 'pvm'" cleave study net --networks pvm -o "$work/no"
refuses "cleave: --parts: expected some of barrier, latency, throughput, broadcast, pairs, got 'reduce'" cleave study net --parts reduce -o "$work/no"
refuses "cleave: --ranks: expected a whole number from 2 to 512, got '1'" cleave study net --ranks 1 -o "$work/no"
refuses "$work/no/net.json: expected a readable file that is not empty, got No such file or directory" cleave study net --resume -o "$work/no"
echo '{"study": "cosched"}' >"$work/no/net.json"
refuses "$work/no/net.json: expected the net.json of \`cleave study net\`, got no \"study\": \"net\"" cleave study net --resume -o "$work/no"
refuses "net: expected to be started as one of several ranks" net-transport --barriers 1
exit "$((failures > 0))"
