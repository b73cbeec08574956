#!/usr/bin/env bash
# Who is not invited to a relay is refused and logged once, with who and why, while others talk on: without a key, with
# one that nobody has, with a revoked one, with the wrong half of one, without TLS, garbage, silence, another authority,
# with a forged sender; a relay that speaks for another site. A revoked key's user is cut off.
# labels: once slow
set -u
. "$CLEAVE_SOURCE_DIR/tests/checks.bash"
. "$CLEAVE_SOURCE_DIR/tests/nats/speakers.bash"
cleave=$bin/cleave

new_relay chiba || exit 1
for name in m1 m2 m3 gone; do "$cleave" invite "$name" --folder chiba >/dev/null || fail "invite $name"; done
"$cleave" invite kobe --relay --folder chiba >/dev/null || fail "invite kobe"
new_relay other || exit 1
"$cleave" invite m1 --folder other --output other.cleave >/dev/null || fail "invite at the other"
url=$(sed -n 's|.*"tls://127.0.0.1:\([0-9]*\)".*|\1|p' m1.cleave)

# Two who talk all the time: nothing of it may be lost.
background ear "$speak" m1.cleave hear "$(letter chiba.m2 chiba.m1)"
wait_for listening ear.log
background mouth "$speak" m2.cleave talk "$(letter chiba.m2 chiba.m1)" enough

public_of() { sed -n 's/.*"public": "\(.*\)",*/\1/p' "$1"; }
seed_of() { sed -n 's/.*"seed": "\(.*\)".*/\1/p' "$1"; }
changed() {  # changed FILE SCRIPT: a key file, changed
  sed "$2" "$1" >changed.cleave
  chmod 600 changed.cleave
  echo changed.cleave
}
let_in="publish $(news chiba.m3) x"
again() { says "$@"; says "$@"; }  # twice: is logged once

echo "# somebody in the relay's place who falls silent in the middle of TLS (looked at in the end)"
background mute "$speak" m3.cleave mute
wait_for "mute at" mute.log
cp "$(changed m3.cleave "s|tls://[^\"]*|tls://127.0.0.1:$(sed 's/.* //' mute.log)|")" silent.cleave
background silent_nodes "$cleave" nodes silent.cleave
background silent_submit "$cleave" submit silent.cleave queens 4
background silent_serve "$bin/queens" --serve silent.cleave
echo "# who is told to end there does not try again"
background told_nodes "$cleave" nodes silent.cleave
background told_serve "$bin/queens" --serve silent.cleave
connects() { grep -q '^SigBlk:.*[1-9a-f]' "/proc/${of[$1]}/status"; }  # no signal ends it at once
patiently connects told_nodes && patiently connects told_serve || fail "they do not begin: $(cat told_*.log)"
began=$SECONDS
ends told_nodes TERM 143
ends told_serve TERM 0
((SECONDS - began < 8)) || fail "it took $((SECONDS - began)) s"

echo "# no key, an unknown one, half of one"
again 3 "Authorization Violation" "$speak" m3.cleave without-key $let_in
logged 1 "refused 127.0.0.1: it has no key" chiba.log
key="$(changed other.cleave "s|tls://[^\"]*|tls://127.0.0.1:$url|; s|\"authority.*|$(grep '"authority"' m1.cleave | sed 's/\\/\\\\/g')|")"
again 3 "Authorization Violation" "$speak" "$key" $let_in
logged 1 "refused 127.0.0.1: nobody here has the key $(public_of other.cleave)" chiba.log
again 3 "Authorization Violation" "$speak" "$(changed m3.cleave "s/$(seed_of m3.cleave)/$(seed_of other.cleave)/")" $let_in
logged 1 "refused 127.0.0.1: it has the name of chiba.m3, not its key" chiba.log

echo "# what a stranger says of himself blames nobody; many keys of one stranger do not fill the log"
before=$(wc -l <chiba.log)
SPEAK_NAME='x\" - Publish Violation - Nkey \"'"$(public_of m1.cleave)"'\", Subject \"y' \
  says 3 "Authorization Violation" "$speak" m3.cleave without-key $let_in
for i in 01 02 03 04 05 06 07 08 09 10 11 12; do
  "$cleave" invite "n$i" --folder other >/dev/null
  sed "s|tls://[^\"]*|tls://127.0.0.1:$url|; s|\"authority.*|$(grep '"authority"' m1.cleave | sed 's/\\/\\\\/g')|" "n$i.cleave" >changed.cleave
  says 3 "Authorization Violation" "$speak" changed.cleave $let_in
done
logged 1 "refused 127.0.0.1: nobody here has the many keys that it tries" chiba.log
(($(wc -l <chiba.log) - before == 10)) || fail "the log fills: $(cat chiba.log)"
grep -q "chiba.m1" chiba.log && fail "somebody else is blamed: $(cat chiba.log)"

echo "# no TLS, garbage, silence; another authority"
again 3 "." "$speak" "$(changed m3.cleave 's|tls://|nats://|; /"authority"/d')" $let_in
for noise in 'CONNECT {"nkey":"U"}\r\nPING\r\n' '\x16\x03\x01\x02\x00garbage' '\0\0\0\0\0\0\0\0'; do
  { printf '%b' "$noise" >&9; timeout 10 cat <&9 >/dev/null; } 9<>"/dev/tcp/127.0.0.1/$url"
done
logged 1 "refused 127.0.0.1: it speaks no TLS" chiba.log
timeout 10 cat <"/dev/tcp/127.0.0.1/$url" >/dev/null
timeout 10 cat <"/dev/tcp/127.0.0.1/$url" >/dev/null
logged 1 "refused 127.0.0.1: it began no TLS, or did not end its beginning" chiba.log
again 3 "SSL|certificate" "$speak" "$(changed m3.cleave "s|\"authority.*|$(grep '"authority"' other.cleave | sed 's/\\/\\\\/g')|")" $let_in

new_relay quiet --plain
plain=$(sed -n 's/.*"port": \([0-9]*\).*/\1/p' quiet/relay.json)
timeout 10 cat <"/dev/tcp/127.0.0.1/$plain" >/dev/null
logged 1 "refused 127.0.0.1: it has no key" quiet.log
# Somebody who speaks no TLS in the relay's place gets nothing, least of all a signature.
impostor="$(changed m3.cleave "s|tls://[^\"]*|tls://127.0.0.1:$plain|")"
says 3 "Secure Connection not available" "$speak" "$impostor" $let_in

echo "# a key file that others may read"
cp m3.cleave loose.cleave
chmod 640 loose.cleave
says 1 "expected a key that its owner alone may read" "$speak" loose.cleave $let_in
says 2 "expected a key that its owner alone may read" "$cleave" relay --folder x --upstream loose.cleave

echo "# forged senders, and listening to what is for others"
background third "$speak" m3.cleave listen "$(to chiba.m3)" listen "cleave.all.>" hold
logged 2 listening third.log
again 0 "Permissions Violation for Publish" "$speak" gone.cleave publish "$(letter chiba.m1 chiba.m3)" forged
again 0 "Permissions Violation for Publish" "$speak" gone.cleave publish "$(news chiba.m1)" forged
logged 1 "refused chiba.gone \(127.0.0.1\): it speaks for another: \"$(letter chiba.m1 chiba.m3)\"" chiba.log
for filter in '>' 'cleave.>' 'cleave.to.>' "$(to chiba.m3)" '_INBOX.>' '$SYS.>'; do
  says 0 "Permissions Violation for Subscription to \"${filter/\$/\\\$}\"" "$speak" gone.cleave listen "$filter"
done
logged 1 "refused chiba.gone \(127.0.0.1\): it listens to what is not for it: \">\"" chiba.log
says 0 "Permissions Violation for Publish" "$speak" gone.cleave publish '$SYS.REQ.SERVER.PING' x

echo "# a relay may speak for its own site only"
again 0 "Permissions Violation for Publish" "$speak" kobe.cleave publish "$(letter osaka.m1 chiba.m3)" forged
again 0 "Permissions Violation for Publish" "$speak" kobe.cleave publish "$(news chiba.m1)" forged
logged 1 "refused the relay of kobe \(127.0.0.1\): it speaks for another: \"$(letter osaka.m1 chiba.m3)\"" chiba.log
says 0 "" "$speak" kobe.cleave publish "$(letter kobe.any chiba.m3)" honest
wait_for honest third.log
grep -q forged third.log && fail "a forged message arrives: $(cat third.log)"

echo "# a revoked key: cut off at once, refused from then on, others stay"
background gone "$speak" gone.cleave hold
wait_for holding gone.log
says 0 "^gone: revoked$" "$cleave" revoke gone --folder chiba
logged 1 "cut off" gone.log
again 3 "Authorization Violation" "$speak" gone.cleave $let_in
logged 1 "refused 127.0.0.1: the key of chiba.gone is revoked" chiba.log
background relay_of_kobe "$speak" kobe.cleave hold
wait_for holding relay_of_kobe.log
says 0 "^kobe: revoked$" "$cleave" revoke kobe --folder chiba
logged 1 "cut off" relay_of_kobe.log
kill -0 "${of[third]}" || fail "another one was cut off: $(cat third.log)"

echo "# the relay above goes bad: it may speak for other sites, not for this one"
says 0 "" "$cleave" invite kobe --relay --folder chiba --output kobe2.cleave
new_relay kobe --upstream kobe2.cleave
wait_for joined kobe.log
"$cleave" invite k1 --folder kobe >/dev/null || fail "invite k1"
background k1 "$speak" k1.cleave listen "$(to kobe.k1)" listen "cleave.all.>" hold
logged 2 listening k1.log
sed -i 's/"allow":\["cleave.to.\*.chiba.\*.m1.>","cleave.all.\*.chiba.\*.m1.>"\]/"allow":[">"]/' chiba/nats-server.conf
kill -HUP "$(child chiba)"
for ((i = 0; i < 200; i++)); do
  grep -q honest k1.log && break
  "$speak" m1.cleave publish "$(letter kobe.k2 kobe.k1)" forged publish "$(news kobe.k2)" forged \
    publish "$(news osaka.m1)" honest >/dev/null
done
wait_for honest k1.log
grep -q forged k1.log && fail "the relay above speaks for machines of this site: $(cat k1.log)"

echo "# a relay whose key the one above has taken back says so, once"
says 0 "^kobe: revoked$" "$cleave" revoke kobe --folder chiba
logged 1 "^cleave relay: the relay above, tls://.*: it refuses this relay's key \(is it revoked\?\); trying again$" kobe.log

echo "# nobody waits for the silent one"
for name in silent_nodes silent_submit; do
  wait "${of[$name]}"
  [[ $? == 1 && $(cat $name.log) == "cleave: relay tls://127.0.0.1:"*": it does not answer in the middle of TLS" ]] ||
    fail "$name: $(cat $name.log)"
done
logged 1 "^cleave: relay tls://.*: it does not answer in the middle of TLS; trying again$" silent_serve.log
ends silent_serve TERM 0

touch enough
wait "${of[mouth]}" || fail "the mouth: $(cat mouth.log)"
wait "${of[ear]}" || fail "the ear: $(cat ear.log)"
grep -qE '^heard ([1-9][0-9]*) of \1, 0 twice$' ear.log || fail "others were disturbed: $(cat ear.log)"
grep -qE 'SU[A-Z2-7]{56}|PRIVATE' ./*.log && fail "a key in a log"
exit "$((failures > 0))"
