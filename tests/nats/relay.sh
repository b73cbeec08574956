#!/usr/bin/env bash
# `cleave relay`, `invite`, `revoke`: files and their modes, bad input, machines of one site and of two speak to each
# other, a relay's end and return, nothing left behind.
# labels: once slow
set -u
. "$CLEAVE_SOURCE_DIR/tests/checks.bash"
. "$CLEAVE_SOURCE_DIR/tests/nats/speakers.bash"
cleave=$bin/cleave
invite() { "$cleave" invite "$2" --folder "$1" "${@:3}" >/dev/null || fail "invite $*"; }
gone() {  # PID of a relay's server
  for ((i = 0; i < 3000; i++)); do
    kill -0 "$1" 2>/dev/null || return 0
    sleep 0.02
  done
  fail "nats-server outlives its relay"
  kill -9 "$1"
}

echo "# bad input"
word="expected letters, digits, _ and -, at most 64"
refuses "cleave: --site: 'a.b': $word" cleave relay --folder x --site a.b
refuses "cleave: --listen: 'foo': expected an address" cleave relay --folder x --listen foo
refuses "cleave: --host: 'a b': expected a name or an address" cleave relay --folder x --host 'a b'
refuses "cleave: --plain: expected nothing but loopback addresses with it" cleave relay --folder x --plain --host foo
refuses "cleave: --plain: expected nothing but loopback addresses with it" cleave relay --folder x --plain --listen 0.0.0.0
refuses "cleave: /nonexistent: expected a key file: No such file or directory" cleave relay --folder x --upstream /nonexistent
[[ ! -e x ]] || fail "bad input made a folder"
refuses "cleave: 'x': no relay's folder (made by: cleave relay --folder x)" cleave invite m1 --folder x
refuses "cleave: 'x': no relay's folder (made by: cleave relay --folder x)" cleave revoke m1 --folder x
mkdir full && touch full/file
refuses "cleave: 'full': expected a relay's folder, an empty one or none" cleave relay --folder full

echo "# a relay, its files"
new_relay chiba || exit 1
[[ $(stat -c %a chiba) == 700 ]] || fail "the folder has mode $(stat -c %a chiba)"
[[ -z $(find chiba -type f ! -perm 600) ]] || fail "not 600: $(find chiba -type f ! -perm 600)"
invite chiba m1
invite chiba m2 --output second
invite chiba late
[[ $(stat -c %a m1.cleave second | uniq) == 600 ]] || fail "keys have mode $(stat -c %a m1.cleave second)"
refuses "cleave: NAME: 'm1': is invited already (cleave revoke takes that back)" cleave invite m1 --folder chiba
refuses "cleave: NAME: 'relay': is what relays are called" cleave invite relay --folder chiba
refuses "cleave: NAME: 'chiba': is this relay's own site" cleave invite chiba --relay --folder chiba
refuses "cleave: NAME: 'a*': $word" cleave invite 'a*' --folder chiba
refuses "cleave: NAME: 'm9': is not invited; invited: m1, m2, late" cleave revoke m9 --folder chiba
touch there
says 2 "there: cannot be written: File exists" "$cleave" invite m3 --folder chiba --output there
[[ ! -s there ]] || fail "a file was overwritten"
grep -q '"m3"' chiba/relay.json && fail "m3 is invited without a key"
says 2 "another relay runs in it" "$cleave" relay --folder chiba
refuses "cleave: 'chiba': expected site tokyo, got chiba's relay" cleave relay --folder chiba --site tokyo
refuses "cleave: 'chiba': was made without --plain" cleave relay --folder chiba --plain
seed=$(sed -n 's/.*"seed": "\(.*\)".*/\1/p' m1.cleave)
grep -rq "$seed" chiba && fail "the relay keeps a machine's key"
grep -aq -e "$seed" -e PRIVATE "/proc/${of[chiba]}/cmdline" "/proc/$(child chiba)/cmdline" &&
  fail "a key on a command line"

echo "# a running relay that cannot be told says so; one that does not run is told by its folder"
mv chiba/control away
says 1 "revoked, but the running relay: cannot be reached; stop it to be sure" "$cleave" revoke late --folder chiba
mv away chiba/control

echo "# two machines"
background ear "$speak" m1.cleave listen "$(to chiba.m1)" listen "cleave.all.>" await 2
logged 2 listening ear.log
says 0 "" "$speak" second publish "$(letter chiba.m2 chiba.m1)" direct publish "$(news chiba.m2)" all
wait "${of[ear]}" || fail "the ear: $(cat ear.log)"
logged 1 "^$(letter chiba.m2 chiba.m1) direct" ear.log
logged 1 "^$(news chiba.m2) all" ear.log

echo "# another site's relay joins it; messages both ways"
invite chiba kobe --relay
refuses "cleave: --upstream: 'second': expected a relay's key (cleave invite --relay), got that of chiba.m2" \
  cleave relay --folder kobe --upstream second
refuses "cleave: --upstream: 'kobe.cleave': expected the key of site osaka, got kobe's" \
  cleave relay --folder kobe --upstream kobe.cleave --site osaka
[[ ! -e kobe ]] || fail "a refused key made a folder"
new_relay kobe --upstream kobe.cleave || exit 1
wait_for "joined tls://127.0.0.1" kobe.log
"$cleave" revoke kobe --folder chiba >/dev/null
invite chiba kobe --relay --output kobe2.cleave
says 2 "another relay runs in it" "$cleave" relay --folder kobe --upstream kobe2.cleave
cmp kobe.cleave kobe/upstream.cleave || fail "a relay that is refused changes the key of the one that runs"
ends kobe TERM 0
relay kobe --upstream kobe2.cleave || exit 1
wait_for "joined tls://127.0.0.1" kobe.log
invite kobe k1
invite kobe k2
for pair in "m1.cleave chiba.m1 k1.cleave kobe.k1" "k1.cleave kobe.k1 m1.cleave chiba.m1"; do
  read -r from_key from to_key to <<<"$pair"
  background ear "$speak" "$to_key" listen "$(to "$to")" listen "$(all_by "${from%.*}")" await 2
  logged 2 listening ear.log
  # Until something comes: that somebody listens takes a moment to be known at the other site.
  while kill -0 "${of[ear]}" 2>/dev/null; do
    says 0 "" "$speak" "$from_key" publish "$(news "$from")" all publish "$(letter "$from" "$to")" direct
    sleep 0.05
  done
  wait "${of[ear]}" || fail "$from to $to: $(cat ear.log)"
  sort -u ear.log >heard
  logged 1 "^$(letter "$from" "$to") direct" heard
  logged 1 "^$(news "$from") all" heard
done

echo "# all that is said arrives once at the other site"
background ear "$speak" m1.cleave hear "$(to chiba.m1)"
wait_for listening ear.log
background mouth "$speak" k1.cleave talk "$(letter kobe.k1 chiba.m1)" enough
sleep 0.5
touch enough
wait "${of[mouth]}" || fail "the mouth: $(cat mouth.log)"
wait "${of[ear]}" || fail "the ear: $(cat ear.log)"
grep -qE '^heard ([1-9][0-9]*) of \1, 0 twice$' ear.log || fail "some is lost or doubled: $(cat ear.log)"

echo "# a relay ends and returns; the other joins it again"
ends chiba TERM 0
logged 1 "the relay above is lost" kobe.log
relay chiba || exit 1
logged 2 "joined tls" kobe.log
says 0 "" "$speak" m1.cleave publish "$(letter chiba.m1 chiba.m2)" hello
server=$(child chiba)
ends chiba KILL 137
invite chiba late --output late2.cleave
gone "$server"
relay chiba || exit 1
says 0 "" "$speak" late2.cleave publish "$(letter chiba.late chiba.m2)" hello
says 3 "Authorization Violation" "$speak" late.cleave publish "$(letter chiba.late chiba.m2)" hello
kill -9 "$(child chiba)"
wait "${of[chiba]}"
[[ $? == 1 ]] || fail "the relay goes on without its server"
logged 1 "nats-server was killed by signal 9" chiba.log
"$speak" m1.cleave publish "$(letter chiba.m1 chiba.m2)" hello | grep -q refused || fail "somebody answers for the relay"
ends kobe INT 0

echo "# a key is made while its server starts"
mkdir slow
printf '#!/bin/sh\nsleep 1\nexec %s "$@"\n' "$(command -v nats-server)" >slow/nats-server
chmod +x slow/nats-server
PATH=$PWD/slow:$PATH background early "$bin/cleave" relay --folder early --site early --listen 127.0.0.1 --port 0
for ((i = 0; i < 3000; i++)); do [[ ! -d /proc/${of[early]} || -n $(child early) ]] && break; sleep 0.02; done
invite early e1
says 0 "" "$speak" e1.cleave publish "$(letter early.e1 early.e2)" hello
ends early TERM 0

echo "# however a relay ends, its server does: of one without clients too, which writes nothing to where nobody reads"
new_relay idle || exit 1
server=$(child idle)
ends idle KILL 137
gone "$server"

echo "# one that does not end is killed"
new_relay stuck || exit 1
server=$(child stuck)
kill -STOP "$server"
began=$SECONDS
ends stuck TERM 0
((SECONDS - began < 9)) || fail "it took $((SECONDS - began)) s"
gone "$server"

echo "# a port that is taken"
port=$(grep -o '"port": [0-9]*' chiba/relay.json | grep -o '[0-9]*')
relay chiba || exit 1
says 1 "nats-server: Error listening on port: 127.0.0.1:$port" "$cleave" relay --folder second_one --listen 127.0.0.1 --port "$port"
ends chiba TERM 0

echo "# plain: loopback only, and with keys all the same"
new_relay plain --plain || exit 1
invite plain p1
grep -q '"nats://127.0.0.1:' p1.cleave || fail "$(cat p1.cleave)"
says 0 "" "$speak" p1.cleave publish "$(letter plain.p1 plain.p2)" hello
says 3 "Authorization Violation" "$speak" p1.cleave without-key
grep -q '^listen: "127.0.0.1:' plain/nats-server.conf || fail "plain listens elsewhere"
ends plain TERM 0
exit "$((failures > 0))"
