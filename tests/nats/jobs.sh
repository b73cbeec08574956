#!/usr/bin/env bash
# labels: once slow
# Jobs for machines that offer programs: answers and exit statuses are right, two jobs at once do not meet, and whatever is
# killed or told to leave (a server, its process, the submitter), the right thing is said and nothing is left running.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
source "$CLEAVE_SOURCE_DIR/tests/processes.bash"
source "$CLEAVE_SOURCE_DIR/tests/nats/machines.bash"
me=$work/me.cleave
begin_relay relay --site here --port 0
invite relay m1 m2 m3 me
offer m1 "$bin/queens" --workers 1; m1=$server
offer m2 "$bin/queens" --workers 1; m2=$server

# children PID…: their children that live
children() { local p; for p; do cat "/proc/$p/task/$p/children" 2>/dev/null; done; }
no_children() { [[ $(children "$@") != *[0-9]* ]]; }
# until_helps SERVER: its process of the job computes.
helps() { local p; for p in $(children "$1"); do (($(cpu_ticks "$p") > 10)) && return; done; return 1; }
until_helps() { patiently helps "$1" || fail "no process of the server computes: $(cat "$work"/*.err)"; }

"$cleave" nodes "$me" >"$work/out"
[[ $(cat "$work/out") == "\
machine  program  workers  does
here.m1  queens         1  -
here.m2  queens         1  -" ]] || fail "nodes: '$(cat "$work/out")'"
submit "$me" queens 13
[[ $status == 0 && ! -s $work/err ]] || fail "queens 13: status $status, '$(cat "$work/err")'"
says out '^answer +73712 solutions$'
submit --json --root here.m2 "$me" queens 12 --json
[[ $status == 0 && $(wc -l <"$work/out") == 1 ]] || fail "--json: status $status: $(cat "$work/out" "$work/err")"
says out '^\{"job":"[0-9a-f]{16}","program":"queens","arguments":\["12","--json"\],"server":"here.m2","status":0,.*"result":\{"app":"queens".*"answer":14200,'
submit "$me" queens a
[[ $status == 2 && $(cat "$work/err") == "queens: N: expected a whole number from 1 to 32, got 'a'" ]] ||
  fail "its own status: $status, '$(cat "$work/err")'"
# What the machines' owners allow is a limit.
submit "$me" queens 14 --workers 8
[[ $status == 0 ]] || fail "--workers 8: status $status, '$(cat "$work/err")'"
says out '^workers +[12]$'
[[ $(sed 's/m[12]/m/' "$work/err") == "cleave: here.m gives a job at most 1 worker; this one asks for 8" ]] ||
  fail "--workers 8: '$(cat "$work/err")'"
# Whom the submitter wants asked, all nodes ask.
CLEAVE_ASK=relay-random,4 begin_job out --root here.m1 "$me" queens 15 --json
until_helps "$m2"
for server in "$m1" "$m2"; do
  for p in $(children "$server"); do tr '\0' '\n' <"/proc/$p/environ" | grep '^CLEAVE_ASK='; done
done >"$work/asks"
[[ $(cat "$work/asks") == $'CLEAVE_ASK=relay-random,4\nCLEAVE_ASK=relay-random,4' ]] || fail "CLEAVE_ASK: $(cat "$work/asks")"
ended "$job" 0 "CLEAVE_ASK=relay-random,4"
says out '"answer":2279184,.*"asks":"relay-random,4"'
expected='expected near-first, random, two-choices, least-split or relay-random[,N], got'
CLEAVE_ASK=any refuses "cleave: CLEAVE_ASK: $expected 'any'" cleave submit "$me" queens 9
CLEAVE_ASK=any refuses "queens: CLEAVE_ASK: $expected 'any'" queens --serve "$me"
# Key files that were altered: another name, a letter of the seed, one of the certificate.
altered() {  # SED
  sed -e "$1" "$me" >"$work/altered.cleave"
  ! cmp -s "$me" "$work/altered.cleave" || fail "nothing is altered by $1"
  chmod 600 "$work/altered.cleave"
  for command in "$cleave nodes" "$cleave submit" "$bin/queens --serve" "$cleave gang --socket $work/gang serve --join"; do
    timeout 60 $command "$work/altered.cleave" $([[ $command != *submit ]] || echo queens 12) >"$work/out" 2>"$work/err"
    [[ $? == 2 && $(wc -l <"$work/err") == 1 && $(cat "$work/err") == *"$work/altered.cleave"* && ! -s $work/out ]] ||
      fail "$command, $1: $(cat "$work/out" "$work/err")"
  done
}
altered 's/"name": "me"/"name": "mf"/'
altered 's/"site": "here"/"site": "herf"/'
altered 's/\("seed": ".\{20\}\)[A-M]/\1Z/; t; s/\("seed": ".\{20\}\)./\1A/'
altered 's/BEGIN CERT/BEGIN CERF/'
submit "$me" quens 13
[[ $status == 2 && $(cat "$work/err") == "cleave: nobody offers quens to site here, but queens" ]] ||
  fail "mistyped: $status, '$(cat "$work/err")'"
refuses "cleave: WHERE: expected a word, got nothing" cleave submit
refuses "cleave: PROGRAM: --serve, --transport and --trace are no options of a job" cleave submit "$me" queens 9 --trace q
refuses "cleave: $work/none.cleave: expected a key file: No such file or directory" cleave submit "$work/none.cleave" queens 13
invite relay gone
"$cleave" revoke gone --folder "$work/relay" >"$work/out" 2>&1 || fail "revoke: $(cat "$work/out")"
"$cleave" nodes "$work/gone.cleave" >"$work/out" 2>"$work/err"
[[ $? == 2 && $(wc -l <"$work/err") == 1 ]] || fail "a key that was taken back: $(cat "$work/out" "$work/err")"
"$cleave" submit "$me" queens 12 >/dev/full 2>"$work/err"
[[ $? == 1 && $(tail -n 1 "$work/err") == "cleave: cannot write to standard output" ]] || fail "/dev/full: $(cat "$work/err")"
"$cleave" submit "$me" queens 12 >&- 2>"$work/err"  # the relay's socket does not take its place
[[ $? == 1 && $(tail -n 1 "$work/err") == "cleave: cannot write to standard output" ]] || fail ">&-: $(cat "$work/err")"
refuses "cleave: here.m9 does not offer queens" cleave submit --root here.m9 "$me" queens 13
refuses "queens: --serve: expected nothing besides --workers N, got \"13\"" queens --serve "$me" 13

# Another program by the same name: it is not used, and does not help.
mkdir "$work/other"
ln -s "$bin/fib" "$work/other/queens"
offer m3 "$work/other/queens" --workers 1
for k in 1 2; do
  submit "$me" queens 12
  [[ $status == 0 ]] || fail "with another build: status $status"
  says out '14200 solutions'
  says err '^cleave: 1 server of queens with another build cannot help$'
done
kill "$server"
ended "$server" 0 "a server that leaves"
! grep -q job "$work/m3.queens.err" || fail "another build: $(cat "$work/m3.queens.err")"

# Two jobs of two programs on the same machines; the second server of a machine has a key of its own name.
url=$(grep -o 'tls://127.0.0.1:[0-9]*' "$work/relay.err" | head -n 1)
CLEAVE_KEY=$work/m3.cleave "$bin/fib" --serve "$url" --workers 1 2>"$work/url.err" &  # a URL, and the key by the environment
until_said url.err 'cleave: m3 offers fib .*'
CLEAVE_KEY=$me "$cleave" nodes "$url" >"$work/out" 2>&1
says out '^here.m3 +fib +1  -$'
begin_job first "$me" queens 14; first=$job
begin_job second --root here.m3 "$me" fib 36; second=$job
ended "$first" 0 "queens 14"
ended "$second" 0 "fib 36"
says first '^answer +365596 solutions$'
says second '^answer +14930352$'

# A member's process dies, then a member leaves, on the way to a right answer.
begin_job out --root here.m1 "$me" queens 15
until_helps "$m2"
first=$(children "$m2")
kill -9 $first
another() { local now; now=$(children "$m2"); [[ $now == *[0-9]* && $now != "$first" ]] || ! kill -0 "$job" 2>/dev/null; }
patiently another || fail "no process instead of the one that died"
kill -INT "$m2"
ended "$m2" 0 "a member's server that leaves"
ended "$job" 0 "queens 15"
says out '^answer +2279184 solutions$'

# The root's server is told to leave, and waits for its job; a member is killed.
offer m2 "$bin/queens" --workers 1; m2=$server
begin_job out --root here.m1 "$me" queens 15
until_helps "$m2"
kill -TERM "$m1"
until_said m1.queens.err 'cleave: waits for job .*, whose root is here; again to give it up'
kill -9 "$m2"
ended "$job" 0 "queens 15 with a server that waits for it"
ended "$m1" 0 "the root's server"
says out '^answer +2279184 solutions$'

# Nobody wants a job any more: the submitter is killed; it is interrupted.
offer m1 "$bin/queens" --workers 1; m1=$server
offer m2 "$bin/queens" --workers 1; m2=$server
begin_job out --patience 2 --root here.m1 "$me" queens 18
until_nodes '"has_root":false,.*"computing":1'
kill -9 "$job"
wait "$job" 2>/dev/null
until_said m1.queens.err 'cleave: job .* is cancelled: its submitter is silent'
patiently no_children "$m1" "$m2" || fail "a job outlives its submitter"
begin_job out --root here.m1 "$me" queens 18
until_helps "$m2"
kill -INT "$job"
ended "$job" 130 "an interrupted submitter"
[[ $(tail -n 1 "$work/out.err") == "cleave: cancelled" ]] || fail "interrupted: '$(cat "$work/out.err")'"
patiently no_children "$m1" "$m2" || fail "a job outlives its cancellation"

# lost_root ROOT COMPUTES LINE OPTION…: ROOT's server (m1, m2) is killed when COMPUTES' computes; the job is lost, which that line
# says at the end, and none of its processes is left there.
gone() { local p; for p in $left; do [[ ! -e /proc/$p ]] || return 1; done; }
lost_root() {
  local left
  begin_job out --root "here.$1" "${@:4}" "$me" queens 18
  until_helps "${!2}"
  left=$(children "${!1}")
  kill -9 "${!1}"
  ended "$job" 3 "a submitter whose job is lost, ${*:4}"
  [[ $(tail -n 1 "$work/out.err") == "cleave: the job is lost: $3" ]] || fail "lost, ${*:4}: '$(cat "$work/out.err")'"
  patiently gone || fail "a job outlives its server"
}
lost_root m1 m2 "here.m1, which had its root, has said nothing for 3 s" --restarts 0
patiently no_children "$m2" || fail "a job outlives the server of its root"
lost_root m2 m2 "nobody else offers queens" --restarts 1 --patience 2

# The root's server is killed: the job begins again on another one.
offer m1 "$bin/queens" --workers 1; m1=$server
offer m2 "$bin/queens" --workers 1; m2=$server
begin_job out --json "$me" queens 15 --json
root=
root_begins() { for k in 1 2; do ! grep -q 'begins here: queens 15 --json' "$work/m$k.queens.err" || root=m$k; done; [[ $root ]]; }
patiently root_begins || fail "no server has the root: $(cat "$work"/m?.queens.err)"
[[ $root == m1 ]] && until_helps "$m2" || until_helps "$m1"
kill -9 "${!root}"
ended "$job" 0 "a job that began again"
[[ $root == m1 ]] && other=m2 || other=m1
[[ $(cat "$work/out.err") == "\
cleave: here.$root, which had its root, has said nothing for 3 s; looking for another server
cleave: the job begins again on here.$other" ]] || fail "a job that began again: $(cat "$work/out.err")"
says out '"status":0,.*"restarts":1,.*"answer":2279184,'

# Whoever reads what the program writes rests for longer than silence may be; and then for ever.
offer m3 "$bin/clique" --workers 1; m3=$server
graph=(clique --generate random:1500:50:7)  # 7 MB
"$cleave" submit --patience 2 "$me" "${graph[@]}" 2>"$work/err" | { sleep 6; cat; } >"$work/out"
[[ ${PIPESTATUS[0]} == 0 && ! -s $work/err ]] || fail "a reader who rests: $(cat "$work/err")"
"$bin/${graph[0]}" "${graph[@]:1}" | cmp -s - "$work/out" || fail "a reader who rests: $(wc -c <"$work/out") bytes"
mkfifo "$work/unread"
exec {unread}<>"$work/unread"
"$cleave" submit "$me" "${graph[@]}" >&"$unread" 2>"$work/err" &
job=$!
until_said m3.clique.err 'cleave: job .* begins here: clique --generate random:1500:50:7'
sleep 2
kill -INT "$job"
ended "$job" 130 "interrupted, and nobody reads"
exec {unread}>&-
kill "$m3"
ended "$m3" 0 "a server of clique"

# The same of what it says on standard error, which need not be written at all.
# Its server's parent has ignored SIGCHLD.
: >"$work/m3.nats_complain.err"
env --ignore-signal=CHLD "$CLEAVE_BINARY_DIR/tests/programs/nats_complain" --serve "$work/m3.cleave" --workers 1 \
  2>>"$work/m3.nats_complain.err" &
m3=$!
until_said m3.nats_complain.err 'cleave: .* offers .*'
{ "$cleave" submit --patience 2 "$me" nats_complain 200000 4 2>&1 >"$work/out"; echo "$?" >"$work/status"; } | { sleep 6; cat; } >"$work/err"
[[ $(cat "$work/status" "$work/out") == $'0\nsaid' ]] || fail "errors whose reader rests: $(cat "$work/status" "$work/out"; tail -c 300 "$work/err")"
[[ $(wc -c <"$work/err") == 200000 ]] || fail "errors whose reader rests: $(wc -c <"$work/err") bytes"
"$cleave" submit "$me" nats_complain 200000 0 >"$work/out" 2>/dev/full
[[ $? == 0 && $(cat "$work/out") == said ]] || fail "errors that cannot be written: $(cat "$work/out")"
kill "$m3"
ended "$m3" 0 "a server of a program that complains"

# Interrupted while it waits for another server.
[[ $root == m1 ]] && root=m2 || root=m1
begin_job out --json --root "here.$root" "$me" queens 18
until_helps "${!root}"
kill -9 "${!root}"
until_said out.err ".*; looking for another server"
kill -INT "$job"
ended "$job" 130 "interrupted between two runs"
[[ $(tail -n 1 "$work/out.err") == "cleave: cancelled" ]] || fail "interrupted between two runs: '$(cat "$work/out.err")'"
says out '"status":130,.*"restarts":0,'
exit "$((failures > 0))"
