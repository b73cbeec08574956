#!/usr/bin/env bash
# labels: slow once
# Three daemons behind a relay, each in the place of a node's: jobs on two nodes take turns together, users command all of a
# job from anywhere, and whoever is killed (a daemon, the leader, the relay, a keeper), nothing stays stopped.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/nats/machines.bash"
source "$CLEAVE_SOURCE_DIR/tests/gang/daemons.bash"

begin_relay relay --site here --port 0
port=$(grep -o '"port": [0-9]*' "$work/relay/relay.json" | grep -o '[0-9]*')
invite relay a b c
for node in a b c; do serve "$node" --slice 50; done
until_ps c '"leads":true,"node":"here.a"'
until_ps a '"node":"here.c"'

echo "# jobs on two nodes take turns together"
begin_job b x "$spin" c; x=$job x_name=$name
begin_job b y "$spin" c; y=$job y_name=$name
for part in x.b x.c y.b y.c; do goes_on "$part" "two jobs"; done
[[ $(cut -d' ' -f41 <(sed 's/.*) //; s/^/1 2 /' "/proc/$(head -1 "$work/x.c")/stat")) == 0 ]] || fail "a job has its keeper's priority"
until_ps a "\"job\":\"$x_name\",\"nodes\":\\[\"here.b\",\"here.c\"\\]"
# Of each turn: b and c do the same. Whoever comes last into it may be late by what a busy machine makes of it.
both_changed() { [[ $(grep -c "\"job\":\"$x_name\"" "$work/b.log") -ge 40 && $(grep -c "\"job\":\"$x_name\"" "$work/c.log") -ge 40 ]]; }
patiently both_changed || fail "x has no turns: $(tail -3 "$work/b.log")"
turns_of() { grep "\"job\":\"$x_name\"" "$work/$1.log" | grep -o '"did":"[a-z]*"\|"turn":[0-9]*' | paste -d' ' - - | sort -u; }
common=$(comm -12 <(turns_of b) <(turns_of c) | wc -l)
((common >= 30)) || fail "only $common turns of x are those of both nodes"

echo "# pause, resume and kill, from a node that has no part of it"
on a "${gang[@]}" pause "$x_name" || fail "pause"
stays x.b paused && stays x.c paused
goes_on y.b "the other job" && goes_on y.c "the other job"
until_ps c "\"job\":\"$x_name\",[^}]*\"state\":\"paused\""
on c "${gang[@]}" pause "$x_name" 2>"$work/err" && fail "paused twice"
[[ $(cat "$work/err") == "cleave: JOB: $x_name: it is paused" ]] || fail "paused twice: $(cat "$work/err")"
on b "${gang[@]}" resume "${x_name##*.}" || fail "resume by its number"
goes_on x.b resumed && goes_on x.c resumed
on a "${gang[@]}" kill "$x_name" || fail "kill"
ended "$x" 143 "killed"
gone x.b killed && gone x.c killed

echo "# a part that is interrupted, or ends, while its job is paused: the other parts go on, so that they can end"
begin_job b w "$spin" c; w=$job w_name=$name
on a "${gang[@]}" pause "$w_name" || fail "pause w"
stays w.b paused && stays w.c paused
kill -INT "$(pgrep -P "$w" -x gang-keeper)"
goes_on w.c "the other part is interrupted" && goes_on w.b "interrupted"
on a "${gang[@]}" pause "$w_name" || fail "pause w, interrupted"
stays w.c "paused again"
kill "$w"
ended "$w" 143 "w ends where it was begun"
goes_on w.c "the other part has ended"
on a "${gang[@]}" kill "$w_name" || fail "kill what is left of w"
gone w.c "killed"
goes_on y.b "beside w" && goes_on y.c "beside w"

echo "# a job by its name, without a launcher"
parts=()
for node in a b; do
  run_on "$node" named --job named -- bash -c "$spin"
  parts+=("$job")
done
until_ps c '"job":"named","nodes":\["here.a","here.b"\]'
named_runs() { [[ -s $work/named.a && -s $work/named.b ]]; }
patiently named_runs || fail "named does not begin"
goes_on named.a "named" && goes_on named.b "named"

echo "# the relay is killed: each node goes on, and they find each other again"
on a "${gang[@]}" pause named || fail "pause named"
stays named.a "before the relay is killed" && stays named.b "before the relay is killed"
invite relay revoked joined
"$cleave" revoke revoked --folder "$work/relay" >/dev/null 2>&1 || fail "revoke"
"${gang[@]}" --socket "$work/t.socket" serve --join "$work/joined.cleave" >"$work/joined.out" 2>&1 &
joined=$!
until_ps a '"node":"here.joined"'
kill "$relay"; wait "$relay"
"$cleave" revoke joined --folder "$work/relay" >/dev/null 2>&1 || fail "revoke what has joined"
until_ps c '"joined":false'
"${gang[@]}" --socket "$work/s.socket" serve --join "$work/revoked.cleave" >"$work/revoked.out" 2>&1 &
late=$!
until_said revoked.out 'serves .*'
goes_on y.b "no relay" && goes_on y.c "no relay"
stays named.b "still paused"
on a "${gang[@]}" resume named || fail "resume without a relay"
goes_on named.a "resumed without a relay"
begin_relay relay
refused_late() { ! kill -0 "$late" 2>/dev/null; }
patiently refused_late || { fail "a revoked key, known later: its daemon lives"; kill "$late"; }
ended "$late" 2 "a revoked key, known later"
grep -qx "cleave: relay tls://127.0.0.1:$port refuses here.revoked ($work/revoked.cleave): Authorization Violation" "$work/revoked.out" || fail "a revoked key, known later: $(cat "$work/revoked.out")"
refused_joined() { ! kill -0 "$joined" 2>/dev/null; }
patiently refused_joined || { fail "a key revoked after it has joined: its daemon lives"; kill "$joined"; }
ended "$joined" 2 "a key revoked after it has joined"
grep -q "refuses here.joined ($work/joined.cleave): Authorization Violation" "$work/joined.out" || fail "a key revoked after it has joined: $(cat "$work/joined.out")"
until_ps c '"leads":true,"node":"here.a"'
goes_on named.b "the relay is back: it hears of the resume"
goes_on y.b "the relay is back" && goes_on y.c "the relay is back"

echo "# the leader is killed while it holds a job"
on a "${gang[@]}" pause y.none 2>/dev/null && fail "no such job"
kill -9 "${daemons[a]}"; wait "${daemons[a]}" 2>/dev/null
goes_on named.a "its daemon is gone"
until_ps c '"leads":true,"node":"here.b"'
for part in y.b y.c named.b; do goes_on "$part" "the leader is killed"; done
serve a --slice 50
until_ps c '"leads":true,"node":"here.a"'
until_ps c '"job":"named","nodes":\["here.a","here.b"\]'  # its part has come to the new daemon
for part in y.b y.c named.a named.b; do goes_on "$part" "a leader is back"; done

echo "# a daemon of a stopped part is killed"
on a "${gang[@]}" pause "$y_name" || fail "pause y"
stays y.b paused && stays y.c paused
kill -9 "${daemons[c]}"; wait "${daemons[c]}" 2>/dev/null
goes_on y.c "paused, and its daemon killed"
stays y.b "the other daemon lives"
serve c --slice 50
stays y.c "paused, and with a daemon again"
on a "${gang[@]}" resume "$y_name"
goes_on y.b "resumed" && goes_on y.c "resumed"

echo "# a keeper is killed: its part ends, not only stops; the others go on"
begin_job b z "$spin" a; z=$job
on b "${gang[@]}" pause "$name" || fail "pause z"
stays z.a paused && stays z.b paused
keeper=$(head -1 "$work/z.a")
while [[ $(cat "/proc/$keeper/comm") != gang-keeper ]]; do keeper=$(awk '/^PPid:/ { print $2 }' "/proc/$keeper/status"); done
kill -9 "$keeper"
gone z.a "its keeper is killed"
goes_on z.b "the other part's keeper is killed"
on b "${gang[@]}" kill "$name"
ended "$z" 143 "killed"
gone z.b "killed"
for part in y.b named.b; do goes_on "$part" "another keeper was killed"; done

echo "# strangers"
invite relay stranger
"$cleave" revoke stranger --folder "$work/relay" >/dev/null 2>&1 || fail "revoke"
refused=$("${gang[@]}" --socket "$work/s.socket" serve --join "$work/stranger.cleave" 2>&1)
(($? == 2)) || fail "a revoked key: $refused"
[[ $refused == "cleave: relay tls://127.0.0.1:$port refuses here.stranger ($work/stranger.cleave): Authorization Violation" ]] || fail "a revoked key: $refused"
refuses "cleave: --join: $work/none: expected a key file: No such file or directory" cleave gang --socket "$work/s.socket" serve --join "$work/none"
[[ ! -e $work/s.socket ]] || fail "a socket is left"

if ((EUID == 0)); then
  echo "# another user's daemon in the same gang"
  chmod 711 "$work"
  mkdir -m 700 "$work/theirs"
  invite relay theirs
  cp "$work/theirs.cleave" "$work/theirs/key" && chown -R 65534 "$work/theirs"
  theirs() { setpriv --reuid 65534 --clear-groups "${gang[@]}" --socket "$work/theirs/socket" "$@"; }
  setpriv --reuid 65534 --clear-groups "${gang[@]}" --socket "$work/theirs/socket" serve --join "$work/theirs/key" >"$work/theirs.out" 2>&1 &
  theirs=$!
  until_said theirs.out 'serves .*'
  they_see() { theirs ps --json | grep -q "\"job\":\"$y_name\""; }
  patiently they_see || fail "another user's daemon does not see $y_name"
  for what in pause kill; do
    theirs "$what" "$y_name" 2>"$work/err" && fail "another user may $what"
    [[ $(cat "$work/err") == "cleave: JOB: $y_name: another user's job" ]] || fail "another user: $what: $(cat "$work/err")"
  done
  # The same name is another job: it can be paused alone.
  setpriv --reuid 65534 --clear-groups "${gang[@]}" --socket "$work/theirs/socket" run --stop-by signals --job named sleep 1000 2>"$work/theirs.err" &
  same=$!
  their_job() { theirs ps --json | grep -q '"job":"named","nodes":\["here.theirs"\]'; }
  patiently their_job || fail "another user's job: $(theirs ps --json; cat "$work/theirs.err")"
  theirs pause named || fail "another user's own job"
  goes_on named.a "another user's job has its name" && goes_on named.b "another user's job has its name"
  theirs kill named
  ended "$same" 143 "another user's job"
  kill "$theirs"
  ended "$theirs" 0 "another user's daemon"
fi

kill "${parts[@]}" "$y"
wait "${parts[@]}" 2>/dev/null
ended "$y" 143 "ended"
end_started  # what ssh has begun elsewhere does not end with it
for part in y.b y.c named.a named.b; do gone "$part" "at the end"; done
for node in a b c; do kill "${daemons[$node]}"; ended "${daemons[$node]}" 0 "daemon $node"; done
exit "$((failures > 0))"
