#!/usr/bin/env bash
# A tree of relays, three deep: each machine hears each other one, once; nothing goes where nobody is meant; a relay speaks for
# its site and those below it, and for nobody beside or above; a revoked one is cut off with all that is below it.
# labels: once slow
set -u
. "$CLEAVE_SOURCE_DIR/tests/checks.bash"
. "$CLEAVE_SOURCE_DIR/tests/nats/speakers.bash"
. "$CLEAVE_SOURCE_DIR/tests/nats/tree.bash"
cleave=$bin/cleave
invite() {  # SITE NAME FILE [OPTION]
  "$cleave" invite "$2" --folder "$1" --output "$3" "${@:4}" >invited || fail "invite $*"
}

echo "# seven relays; two sites of one name in two branches"
new_relay chiba || exit 1
for site in "${sites[@]:1}"; do
  invite "$(above "$site")" "${site##*.}" "$site.key" --relay
  grep -qx "$site.key: the key of the relay of $site; whoever has this file is that relay" invited || fail "$(cat invited)"
  relay "$site" --site "${site##*.}" --listen 127.0.0.1 --port 0 --upstream "$site.key" || exit 1
  wait_for "joined tls://" "$site.log"
done
for site in "${sites[@]}"; do
  invite "$site" m1 "$site.m1"
  invite "$site" m2 "$site.m2"
  background "ear-$site" "$speak" "$site.m1" listen "$(to "$site.m1")" listen "cleave.all.>" hold
  logged 2 listening "ear-$site.log"
done

echo "# what is wrong with a tree"
new_relay nagoya || exit 1
invite nagoya gifu gifu.key --relay
ends nagoya TERM 0
invite chiba nagoya nagoya.key --relay
refuses "cleave: --upstream: 'nagoya': expected no relay below this, which joins the one above first; has invited: gifu (cleave revoke)" \
  cleave relay --folder nagoya --upstream nagoya.key
invite kobe nagoya nagoya2.key --relay
refuses "cleave: 'nagoya': expected site kobe.nagoya, got nagoya's relay" cleave relay --folder nagoya --upstream nagoya2.key
refuses "cleave: --upstream: 'nagoya2.key': expected the key of site gifu, got kobe.nagoya's" \
  cleave relay --folder x --site gifu --upstream nagoya2.key
refuses "cleave: NAME: 'kobe': is this relay's own site" cleave invite kobe --relay --folder kobe

echo "# everybody hears everybody"
hears() {  # SITE: all that it should have
  local from
  for from in "${sites[@]}"; do
    [[ $from == "$1" ]] || { grep -qxF "$(news "$from.m2") all" "ear-$1.log" &&
      grep -qxF "$(letter "$from.m2" "$1.m1") direct" "ear-$1.log"; } || return
  done
}
all_hear() {  # what is not heard now is said again
  local site to words
  for site in "${sites[@]}"; do "$speak" "$site.m1" publish "$(news "$site.m1")" all; done >said
  for site in "${sites[@]}"; do
    words=(publish "$(news "$site.m2")" all)
    for to in "${sites[@]}"; do words+=(publish "$(letter "$site.m2" "$to.m1")" direct); done
    "$speak" "$site.m2" "${words[@]}" >said
  done
  for site in "${sites[@]}"; do hears "$site" || return; done
}
patiently all_hear || fail "somebody does not hear all: $(tail -n 30 ear-*.log)"

echo "# once, from one leaf of the tree to another"
for what in "$(letter kobe.tokyo.m2 osaka.tokyo.m1)" "$(news kobe.tokyo.m2)"; do
  filter=$(to osaka.tokyo.m1)
  [[ $what == cleave.to.* ]] || filter=$(all_by kobe.tokyo)
  rm -f enough
  background ear "$speak" osaka.tokyo.m1 hear "$filter"
  wait_for listening ear.log
  background mouth "$speak" kobe.tokyo.m2 talk "$what" enough
  wait_for "^$what 100$" ear-osaka.tokyo.log
  touch enough
  wait "${of[mouth]}" || fail "the mouth: $(cat mouth.log)"
  wait "${of[ear]}" || fail "the ear: $(cat ear.log)"
  grep -qE '^heard ([1-9][0-9]*) of \1, 0 twice$' ear.log || fail "some is lost or doubled: $(cat ear.log)"
done

echo "# a relay in the middle is killed and comes back; that below knows who was there"
ends kobe KILL 137
relay kobe || exit 1
wait_for "joined tls://" kobe.log
background ear-kobe "$speak" kobe.m1 listen "$(to kobe.m1)" listen "cleave.all.>" hold
logged 2 listening ear-kobe.log
for site in kobe.tokyo kobe.nara; do logged 2 "joined tls://" "$site.log"; done
says 0 "" "$speak" kobe.tokyo.m2 publish "$(letter kobe.tokyo.m2 kobe.m1)" remembered
wait_for "^$(letter kobe.tokyo.m2 kobe.m1) remembered" ear-kobe.log
patiently all_hear || fail "somebody does not hear all: $(tail -n 30 ear-*.log)"

echo "# what is said within a branch stays there; spies hear all that is said at kobe's server, and at chiba's"
for site in kobe chiba; do
  invite "$site" spy "$site.spy"
  sed -i "s/\(\.$site\.\*\.spy\..*subscribe: {\"allow\":\[\)[^]]*/\1\">\"/" "$site/nats-server.conf"
  kill -HUP "$(child "$site")"
  spies() {
    background "spy-$site" "$speak" "$site.spy" listen ">" hold
    patiently grep -qE "listening|error|refused|cut off" "spy-$site.log"
    sleep 0.2
    ! grep -qE "error|refused|cut off" "spy-$site.log"
  }
  patiently spies || fail "no spy: $(cat "spy-$site.log")"
done
within() {  # FROM TO, and a letter after it that goes all the way
  says 0 "" "$speak" "$1.m2" publish "$(letter "$1.m2" "$2.m1")" secret publish "$(letter "$1.m2" osaka.m1)" last
  wait_for "^$(letter "$1.m2" osaka.m1) last" spy-chiba.log
}
within kobe.tokyo kobe.tokyo
within kobe.tokyo kobe.nara
wait_for "^$(letter kobe.tokyo.m2 kobe.nara.m1) secret" ear-kobe.nara.log
says 0 "" "$speak" chiba.m2 publish "$(letter chiba.m2 osaka.tokyo.m1)" secret publish "$(letter chiba.m2 kobe.m1)" last
wait_for "^$(letter chiba.m2 kobe.m1) last" spy-kobe.log
logged 0 "^$(letter kobe.tokyo.m2 kobe.tokyo.m1) secret" spy-kobe.log
logged 1 "^$(letter kobe.tokyo.m2 kobe.nara.m1) secret" spy-kobe.log
logged 0 "^$(letter chiba.m2 osaka.tokyo.m1) secret" spy-kobe.log
logged 0 " secret" <(grep -F "$(letter kobe.tokyo.m2 kobe.nara.m1)" spy-chiba.log)

echo "# a relay speaks for its own site and those below, and listens to them, and to no others"
for whom in kobe.nara.m1 kobe.m1 kobe.any chiba.m1 osaka.tokyo.m1 osaka.m1 tokyo.m1 kobe.tokyos.m1; do
  says 0 "Permissions Violation for Publish" "$speak" kobe.tokyo.key publish "$(letter "$whom" kobe.m1)" forged
  says 0 "Permissions Violation for Publish" "$speak" kobe.tokyo.key publish "$(news "$whom")" forged
done
for whom in osaka.m1 osaka.tokyo.m1 chiba.m1 tokyo.m1; do
  says 0 "Permissions Violation for Publish" "$speak" kobe.key publish "$(letter "$whom" chiba.m1)" forged
  says 0 "Permissions Violation for Publish" "$speak" kobe.key publish "$(news "$whom")" forged
done
for whom in '' kobe kobe.nara kobe.m1 chiba osaka; do
  says 0 "Permissions Violation for Subscription" "$speak" kobe.tokyo.key listen "$(to "$whom")"
done
logged 1 "refused the relay of kobe.tokyo \(127.0.0.1\): it speaks for another: \"$(letter kobe.nara.m1 kobe.m1)\"" kobe.log
says 0 "" "$speak" kobe.tokyo.key publish "$(letter kobe.tokyo.deep.m1 chiba.m1)" honest
wait_for "^$(letter kobe.tokyo.deep.m1 chiba.m1) honest" ear-chiba.log
grep -q forged ear-*.log && fail "a forged message arrives: $(grep forged ear-*.log)"

echo "# a relay above that goes bad cannot speak for a site below, or for those below that"
sed -i 's/"allow":\["cleave.to.\*.chiba.\*.m2.>","cleave.all.\*.chiba.\*.m2.>"\]/"allow":[">"]/' chiba/nats-server.conf
kill -HUP "$(child chiba)"
bad() {
  "$speak" chiba.m2 publish "$(letter kobe.tokyo.m2 kobe.m1)" lie publish "$(letter kobe.tokyo.m2 kobe.nara.m1)" lie \
    publish "$(letter kobe.m2 kobe.tokyo.m1)" lie publish "$(news kobe.tokyo.m2)" lie publish "$(news osaka.any)" bad >/dev/null
  grep -qx "$(news osaka.any) bad" ear-kobe.nara.log
}
patiently bad || fail "the relay above is not bad"
grep -h " lie$" ear-kobe*.log && fail "the relay above speaks for machines of a site below"

echo "# a relay in the middle is revoked: it is cut off, with all below it"
says 0 "^kobe: revoked$" "$cleave" revoke kobe --folder chiba
says 0 "" "$speak" kobe.tokyo.m2 publish "$(letter kobe.tokyo.m2 chiba.m1)" after publish "$(news kobe.tokyo.m2)" after \
  publish "$(letter kobe.tokyo.m2 kobe.nara.m1)" within
wait_for "^$(letter kobe.tokyo.m2 kobe.nara.m1) within" ear-kobe.nara.log
says 0 "" "$speak" osaka.tokyo.m2 publish "$(letter osaka.tokyo.m2 kobe.tokyo.m1)" after \
  publish "$(news osaka.tokyo.m2)" after publish "$(letter osaka.tokyo.m2 chiba.m1)" still
wait_for "^$(letter osaka.tokyo.m2 chiba.m1) still" ear-chiba.log
says 0 "" "$speak" kobe.m2 publish "$(letter kobe.m2 kobe.tokyo.m1)" within
wait_for "^$(letter kobe.m2 kobe.tokyo.m1) within" ear-kobe.tokyo.log
logged 1 "the relay above, tls://.*: it refuses this relay's key \(is it revoked\?\); trying again$" kobe.log
for site in "${sites[@]}"; do
  [[ $site == kobe* ]] && others=osaka || others=kobe
  grep -E "\.$others\..* after" "ear-$site.log" && fail "$site is not cut off"
done
exit "$((failures > 0))"
