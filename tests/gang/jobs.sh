#!/usr/bin/env bash
# labels: slow once
# Jobs of the gang stop and continue as a whole, and whoever of daemon, keeper and client is killed, nothing stays stopped.
set -uo pipefail
source "$CLEAVE_SOURCE_DIR/tests/checks.bash"
[[ -x $bin/cleave ]] || exit 77
socket=$work/gang
gang=("$bin/cleave" gang --socket "$socket")
spin='for i in 1 2; do (while :; do :; done) & echo $! >>"$0"; done; wait'

started() {  # FILE: both processes of a job run
  for ((k = 0; k < 200; ++k)); do
    [[ -e $1 && $(wc -l <"$1") == 2 ]] && {
      cgroups+=" $(grep -oh 'cleave-gang-[0-9]*' "/proc/$(head -1 "$1")/cgroup")"
      return
    }
    sleep 0.05
  done
  fail "a job did not start: $("${gang[@]}" ps 2>&1)"
}
ticks() {  # FILE: CPU time of a job's processes so far
  local sum=0 pid stat
  while read -r pid; do
    stat=$(cat "/proc/$pid/stat" 2>/dev/null) || continue
    stat=(${stat##*) })
    sum=$((sum + stat[11] + stat[12]))
  done <"$1"
  echo "$sum"
}
runs() {  # FILE WHAT: it makes progress
  local before
  before=$(ticks "$1")
  for ((k = 0; k < 200; ++k)); do
    (($(ticks "$1") > before)) && return
    sleep 0.05
  done
  fail "$kind: $2: does not run"
}
stopped() {  # FILE WHAT
  sleep 0.3
  local before
  before=$(ticks "$1")
  sleep 0.3
  (($(ticks "$1") == before)) || fail "$kind: $2: not stopped"
}
gone() {  # FILE WHAT: no process of it is left
  local pid
  for ((k = 0; k < 200; ++k)); do
    while read -r pid; do
      [[ $(sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null) == [^Z]* ]] && { sleep 0.05; continue 2; }
    done <"$1"
    return
  done
  fail "$kind: $2: process $pid is left"
}
serve() {  # a socket may be left by a daemon that was killed
  rm -f "$work/log"
  "${gang[@]}" serve --slice 50 >"$work/log" 2>&1 &
  daemon=$!
  for ((k = 0; k < 100; ++k)); do grep -q serves "$work/log" 2>/dev/null && return; sleep 0.05; done
  fail "no daemon: $(cat "$work/log")"
}
queue() {  # FILE: a job; sets `client`
  rm -f "$1"
  "${gang[@]}" run --stop-by "$kind" -- bash -c "$spin" "$1" 2>"$1.err" &
  client=$!
  started "$1"
}
first_job() { "${gang[@]}" ps --json | grep -oP '"job":"\K[0-9]+' | head -1; }

refuses "cleave: --socket: '$socket': no daemon there: No such file or directory (start one: cleave gang serve)" \
  cleave gang --socket "$socket" ps
for kind in cgroup2 cgroup1 signals; do
  cgroups=  # of this test's jobs: another test's may be there too
  serve
  "${gang[@]}" run --stop-by "$kind" true 2>"$work/err" ||
    { echo "skipped: $(cat "$work/err")"; kill "$daemon"; wait "$daemon"; continue; }
  queue "$work/a"; a=$client
  job=$(first_job)
  queue "$work/b"; b=$client
  runs "$work/a" "first of two" && runs "$work/b" "second of two"
  "${gang[@]}" pause "$job" || fail "$kind: pause"
  stopped "$work/a" paused
  runs "$work/b" "the other one"
  "${gang[@]}" resume "$job" || fail "$kind: resume"
  runs "$work/a" resumed
  "${gang[@]}" pause "$job"
  stopped "$work/a" "paused again"
  kill -9 "$daemon"
  wait "$daemon" 2>/dev/null
  runs "$work/a" "paused, and the daemon killed" && runs "$work/b" "and the daemon killed"
  serve  # they come back, under their names, and take turns; a new job has another name
  returned() { grep -q '^cleave: a daemon is there again' "$work/a.err" && grep -q '^cleave: a daemon is there again' "$work/b.err"; }
  patiently returned || fail "$kind: jobs do not come back to a daemon: $(cat "$work/a.err" "$work/b.err")"
  queue "$work/c"; c=$client
  [[ $("${gang[@]}" ps --json | grep -oP '"job":"\K[0-9]+' | sort -u | wc -l) == 3 ]] || fail "$kind: not three jobs: $("${gang[@]}" ps)"
  "${gang[@]}" kill "$("${gang[@]}" ps --json | grep -oP '"job":"\K[0-9]+' | sort -n | tail -1)"
  wait "$c"; (($? == 143)) || fail "$kind: the last one's exit status"
  runs "$work/a" "returned" && runs "$work/b" "returned"
  "${gang[@]}" pause "$job" || fail "$kind: pause, after the daemon was killed"
  stopped "$work/a" "paused by another daemon"
  runs "$work/b" "the other one, returned"
  kill "$daemon"
  wait "$daemon"
  runs "$work/a" "paused, and the daemon ended"
  kill "$a" "$b"
  wait "$a"; (($? == 143)) || fail "$kind: ended by SIGTERM: exit status"
  wait "$b"
  gone "$work/a" "client ended" && gone "$work/b" "client ended"

  serve
  queue "$work/a"; a=$client
  (($(first_job) > job + 2)) || fail "$kind: a number is given again: $(first_job)"
  "${gang[@]}" pause "$(first_job)"
  stopped "$work/a" "paused, before its keeper is killed"
  kill -9 "$(pgrep -P "$a" -x gang-keeper)"
  wait "$a"; (($? == 137)) || fail "$kind: keeper killed: exit status"
  gone "$work/a" "keeper killed"
  queue "$work/a"; a=$client
  "${gang[@]}" pause "$(first_job)"
  stopped "$work/a" "paused, before its client is killed"
  kill -9 "$a"
  wait "$a" 2>/dev/null
  gone "$work/a" "client killed"
  queue "$work/a"; a=$client
  "${gang[@]}" pause "$(first_job)"
  "${gang[@]}" kill "$(first_job)"
  wait "$a"; (($? == 143)) || fail "$kind: kill: exit status"
  gone "$work/a" "killed"
  queue "$work/a"; a=$client
  "${gang[@]}" pause "$(first_job)"
  stopped "$work/a" "paused, before a signal to all"
  kill -USR1 "$a" "$(pgrep -P "$a" -x gang-keeper)"  # as batch systems send it
  stopped "$work/a" "paused, after a signal to its keeper"
  "${gang[@]}" resume "$(first_job)" || fail "$kind: resume, after a signal"
  runs "$work/a" "resumed, after a signal to its keeper"
  kill "$a"
  wait "$a"
  gone "$work/a" "ended after a signal"
  rm -f "$work/a"
  "${gang[@]}" run --stop-by "$kind" -- bash -c "$spin" "$work/a" 2>/dev/full &
  a=$!
  started "$work/a"
  "${gang[@]}" pause "$(first_job)"
  stopped "$work/a" "paused, and nothing can be said"
  kill -9 "$daemon"
  wait "$daemon" 2>/dev/null
  runs "$work/a" "the daemon killed, and nothing can be said"
  kill "$a"
  wait "$a"
  gone "$work/a" "ended, and nothing can be said"
  serve
  kill "$daemon"
  wait "$daemon" || fail "$kind: the daemon's exit status"
  [[ ! -e $socket ]] || fail "$kind: a socket is left"
  [[ $kind == signals || $cgroups == *cleave-gang-* ]] || fail "$kind: its jobs are in no cgroup of their own"
  for name in $cgroups; do
    [[ -z $(find /sys/fs/cgroup -type d -name "$name" 2>/dev/null) ]] || fail "$kind: a cgroup is left: $name"
  done
  echo "ok: $kind"
done

kind=any
serve
"${gang[@]}" run sh -c 'exit 7'; (($? == 7)) || fail "a job's exit status"
asked=$(nice -n 5 nice)
[[ $(nice -n 5 "${gang[@]}" run nice) == "$asked" ]] || fail "a job's nice value is not $asked"
policy=$(chrt --batch 0 "${gang[@]}" run sh -c 'chrt -p $$' | head -1)
[[ $policy == *SCHED_BATCH ]] || fail "a job's policy: $policy"
"${gang[@]}" run no-such-program 2>"$work/err"; (($? == 2)) || fail "no such program: exit status"
[[ $(cat "$work/err") == "cleave: COMMAND: 'no-such-program': No such file or directory" ]] || fail "$(cat "$work/err")"
[[ -z $(timeout 20 env --ignore-signal=CHLD "${gang[@]}" run true 2>&1) ]] || fail "with SIGCHLD ignored"
refuses "cleave: --socket: '$socket': another daemon serves it" cleave gang --socket "$socket" serve
refuses "cleave: JOB: 77: no such job" cleave gang --socket "$socket" pause 77
refuses "cleave: -- mpirun ...: expected a program, got nothing" cleave gang --socket "$socket" run
[[ $(stat -c %a "$socket") == 600 ]] || fail "the socket's mode: $(stat -c %a "$socket")"
touch "$work/data"
refuses "cleave: --socket: '$work/data': expected a socket or nothing there" cleave gang --socket "$work/data" serve
[[ -f $work/data ]] || fail "a file at --socket was removed"

# What its user ignores, `run` ignores.
rm -f "$work/a"
env --ignore-signal=HUP "${gang[@]}" run -- bash -c "$spin" "$work/a" 2>"$work/a.err" &
a=$!
started "$work/a"
kill -HUP "$a" "$(pgrep -P "$a" -x gang-keeper)"
sleep 4  # a job that has to end is killed after three
runs "$work/a" "after a SIGHUP that it ignores"
kill "$a"
wait "$a"
# Who is only asked to end has all the time that it needs.
"${gang[@]}" run -- bash -c 'trap "sleep 4; exit 5" TERM; echo >"$0"; while :; do sleep 0.1; done' "$work/asked" &
a=$!
asked() { [[ -e $work/asked ]]; }
patiently asked
kill "$a"
wait "$a"; (($? == 5)) || fail "asked to end: exit status"

# A job in a job is a part of it.
kind=signals
queue "$work/b"; b=$client
rm -f "$work/a"
"${gang[@]}" run --stop-by signals -- "${gang[@]}" run --stop-by signals -- bash -c "$spin" "$work/a" 2>"$work/a.err" &
a=$!
started "$work/a"
[[ $("${gang[@]}" ps --json | grep -oP '"job":' | wc -l) == 2 ]] || fail "a job in a job: $("${gang[@]}" ps)"
runs "$work/a" "a job in a job" && runs "$work/b" "beside it"
within=$("${gang[@]}" ps --json | grep -oP '"job":"\K[0-9]+' | sort -n | tail -1)
"${gang[@]}" pause "$within"
stopped "$work/a" "a job in a job, paused"
sleep 6  # the keeper within hears nothing for so long
"${gang[@]}" resume "$within"
runs "$work/a" "a job in a job, resumed"
kill "$a"
wait "$a"
gone "$work/a" "a job in a job"

# Ctrl-Z: ranks of mpirun are in other process groups.
rm -f "$work/a"
set -m
"${gang[@]}" run --stop-by signals -- bash -c 'for i in 1 2; do setsid bash -c "while :; do :; done" & echo $! >>"$0"; done; wait' "$work/a" \
  2>"$work/a.err" &
a=$!
set +m
started "$work/a"
kill -TSTP -- -"$a"
stopped "$work/a" "by the terminal"
runs "$work/b" "beside one that its terminal stopped"
[[ $("${gang[@]}" ps) == *paused* ]] || fail "stopped by its terminal: $("${gang[@]}" ps)"
kill -CONT -- -"$a"
runs "$work/a" "continued by its terminal"

# Ctrl-Z in a script, which is in the job's process group; and once more before anybody has seen it.
rm -f "$work/c"
set -m
bash -c '"$@"; exit' script "${gang[@]}" run --stop-by signals -- bash -c 'for i in 1 2; do setsid bash -c "while :; do :; done" & echo $! >>"$0"; done; wait' "$work/c" &
c=$!
set +m
started "$work/c"
kill -TSTP -- -"$c"
stopped "$work/c" "in a script, by the terminal"
runs "$work/b" "beside a script that its terminal stopped"
stopped "$work/c" "in a script, by the terminal, for more than a turn"
kill -TSTP -- -"$c"
sleep 0.3
kill -CONT -- -"$c"
runs "$work/c" "in a script, continued by its terminal"
kill -- -"$c"
wait "$c"

# Ctrl-C ends a script, not only the job that it waits for.
set -m
bash -c '"${@:2}"; echo "went on" >"$1"' script "$work/next" "${gang[@]}" run -- sleep 654 &
c=$!
set +m
in_it() { [[ $("${gang[@]}" ps) == *"sleep 654"* ]]; }
patiently in_it || fail "a script's job: $("${gang[@]}" ps)"
kill -INT -- -"$c"
wait "$c"
[[ $? == 130 && ! -e $work/next ]] || fail "Ctrl-C in a script: $(cat "$work/next")"

# A daemon that does not run.
kill -STOP "$daemon"
both_say() { grep -q "$1" "$work/a.err" && grep -q "$1" "$work/b.err"; }
patiently both_say 'does not answer: the job goes on by itself' || fail "a daemon that is stopped: $(cat "$work/a.err" "$work/b.err")"
stood_still() { local a b; a=$(ticks "$work/a") b=$(ticks "$work/b"); sleep 1; (($(ticks "$work/a") == a || $(ticks "$work/b") == b)); }
stood_still && fail "a daemon that is stopped: a job stands still"
kill -CONT "$daemon"
patiently both_say 'a daemon is there again' || fail "a daemon that goes on: $(cat "$work/a.err" "$work/b.err")"

# What a terminal has stopped goes on for the terminal only.
kill -TSTP -- -"$a"
stopped "$work/a" "by the terminal again"
kill -9 "$daemon"
wait "$daemon" 2>/dev/null
runs "$work/b" "beside one that its terminal stopped, and the daemon killed"
stopped "$work/a" "by the terminal, and the daemon killed"
serve
both_back() { [[ $("${gang[@]}" ps --json | grep -oP '"state":"\K[a-z]+' | sort | tr '\n' ' ') == "paused running " ]]; }
patiently both_back || fail "jobs do not come back as they were: $("${gang[@]}" ps)"
stopped "$work/a" "by the terminal, and a daemon is there again"
kill -CONT -- -"$a"
runs "$work/a" "continued by its terminal, after all" && runs "$work/b" "beside it, after all"
kill "$a" "$b"
wait "$a" "$b"

# More jobs than one answer holds.
if command -v python3 >/dev/null; then
  python3 - "$socket" <<'END' &
import json, socket, sys, time
asked = []
for n in range(400):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(sys.argv[1])
    s.send(json.dumps({"do": "run", "command": "x" * 80}).encode())
    asked.append(s)
time.sleep(600)
END
  many=$!
  all_there() { [[ $("${gang[@]}" ps | grep -c xxx) == 400 ]]; }
  patiently all_there || fail "$("${gang[@]}" ps | wc -l) lines for 400 jobs"
  kill "$many"
  wait "$many" 2>/dev/null
fi

if ((EUID == 0)); then
  chmod 711 "$work"
  setpriv --reuid 65534 --clear-groups "$bin/cleave" gang --socket "$socket" ps 2>"$work/err" && fail "another user may ask"
  grep -q "Permission denied" "$work/err" || fail "another user: $(cat "$work/err")"
  chmod 666 "$socket"  # whoever opened it: the daemon asks the kernel who it is
  setpriv --reuid 65534 --clear-groups "$bin/cleave" gang --socket "$socket" ps 2>"$work/err" && fail "another user is answered"
fi
kill "$daemon"
exit "$((failures > 0))"
